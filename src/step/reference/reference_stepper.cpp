// The table of contents of a step.
#include "step/reference/reference_stepper.h"

#include <rotule/error.h>

#include <utility>

#include "base/budget.h"
#include "step/checks.h"

namespace rotule {

namespace {

/// A state lent to another place, and given back whatever happens.
struct Lent {
  Lent(State& here, State& there) : a(here), b(there) { std::swap(a, b); }
  ~Lent() { std::swap(a, b); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  State &a, &b;
};

}  // namespace

const StepReport& ReferenceStepper::step(State& s, double t, double h) {
  Budget::listen();
  const StageClock::Run timed(mechanism.clock);
  mechanism.now.report = {};
  mechanism.now.push_energy = mechanism.now.bounce_energy = 0;
  mechanism.h = h;

  if (by_impulses())
    step_by_impulses(s, t, h);
  else
    step_by_method(s, t, h);

  // Then bounce off walls; methods with error control have met them on the way.
  if (!mechanism.model.walls.empty() && !locates_events(mechanism.recipe)) bounce_off_walls(s, t + h);
  require_finite(mechanism.model, s);
  mechanism.now.report.cut = Budget::current() && Budget::current()->cut();
  return mechanism.now.report;
}

void ReferenceStepper::attempt(double t, double h) {
  Attempt& now = mechanism.now;
  State& s = now.state;

  // Rows: what forces alone would make of the motion, and how drives and contacts stand.
  mechanism.free_velocities(*velocity_, s, t, h, free_);
  for (Contact& c : now.contacts) look_at_start(rules_, mechanism.kinematics, s.u, free_, h, c);
  evaluate_drives(mechanism.model, mechanism.kinematics, h, now.drives);

  // Islands: what joints and contacts tie together.
  island_count_ = split_into_islands(mechanism.model, parts(), islands_, search_);
  if (bouncing_.size() < islands_.size()) bouncing_.resize(islands_.size());

  // Each by itself: formulate, solve, bounce.
  first_ = after_ = free_;
  {
    const StageClock::Scope stage(mechanism.clock, Stage::solve);
    const TimeShare share(0.7);  // what is not closed afterwards adds up from step to step
    const ImpulseStep step{mechanism, *velocity_, rules_, search_, t, h, parts()};
    parallel_for(island_count_, mechanism.recipe.threads, [&](int i) {
      Island& island = islands_[i];
      formulate(step, free_, island);
      solve(step, island);
      island.scatter(first_);
      if (bounce(step, island, bouncing_[i]))
        bouncing_[i].scatter(after_);
      else
        island.scatter(after_);
    });
  }
  now.report.residual = 0;
  for (int i = 0; i < island_count_; ++i) {
    count(islands_[i].report, now.report);
    now.report.residual = std::max(now.report.residual, islands_[i].residual);
  }

  // Move: positions go with the first solution, velocities with the bounce.
  move(s, h);
  require_finite(mechanism.model, s);

  // Close joints and overlaps.
  close(s, t + h, h);
  require_finite(mechanism.model, s);
}

void ReferenceStepper::step_by_impulses(State& s, double t, double h) {
  Attempt& now = mechanism.now;
  const Lent lent(now.state, s);
  mechanism.begin_step(now.state, t);
  {
    const StageClock::Scope stage(mechanism.clock, Stage::collide);
    finder.refresh(now.state, h, now.contacts);
  }

  // Left to itself, no mechanism gains energy. The stiffness comes from the last step's forces; where a blow has just changed
  // them beyond recognition it is too small, and the step would gain, or tear the joints. It is then made again with the forces
  // of the motion as it is, and, if need be, with more: too much stiffness only damps.
  const bool repeatable = velocity_->geometric_stiffness && mechanism.is_passive() && !mechanism.linkages.empty();
  if (repeatable) start_ = now;
  const StepAudit audit(mechanism, repeatable);
  constexpr int most_attempts = 4;
  for (int tries = 1;; ++tries) {
    const bool last = !repeatable || tries == most_attempts;
    try {
      attempt(t, h);
      now.report.attempts = tries;
      audit.look_at(mechanism, now.report);
      if (last || now.report.sound() || Budget::spent()) break;
    } catch (const Error&) {
      if (last) throw;
    }
    // What it found the joints to give is all that is kept of it: the next attempt is stiffer than that.
    found_.swap(now.joints);
    now = start_;
    mechanism.stiffen(now.state, t, tries == 1 ? std::span<const JointAnswer>() : found_);
  }

  // The contacts of the step's end, and the books.
  look_at_end(now.state, t + h, h);
  require_joined(mechanism.model, mechanism.linkages,
                 joints_are_closed() ? std::span<const Island>(mechanism.islands) : islands());
  totals.push_energy += now.push_energy;
  totals.bounce_energy += now.bounce_energy;
  last_h_ = h;
}

}  // namespace rotule
