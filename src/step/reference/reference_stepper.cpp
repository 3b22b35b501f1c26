// The table of contents of a step.
#include "step/reference/reference_stepper.h"

#include <rotule/error.h>
#include <rotule/solvers/auto.h>

#include <utility>

#include "base/budget.h"
#include "mechanism/reduced/reduced_motion.h"
#include "mechanism/soft/soft_motion.h"
#include "mechanism/touching/touching_motion.h"
#include "step/checks.h"
#include "step/island_pieces.h"

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

template <class Do>
void ReferenceStepper::for_each_island(const Part& part, const Do& act) {
  const StageClock::Scope stage(mechanism.clock, Stage::solve);
  const TimeShare share(share_of_impulses);
  const ImpulseStep step{mechanism, *impulses_, rules_, search_, part.t, part.h, parts()};
  const std::span<const Island> islands{islands_.data(), static_cast<std::size_t>(island_count_)};
  for_each_piece(islands, mechanism.recipe.threads, share_of_impulses, [&](int i) { act(step, i); });
}

const StepReport& ReferenceStepper::step(State& s, double t, double h) {
  const StageClock::Run timed(mechanism.clock);
  const JointedMechanism::Awake awake(mechanism);
  const auto* solver = mechanism.recipe.solver.get_if<AutoSettings>();
  SharedWork work(solver ? solver->step_rows : 0);
  open_step(s, t, h);
  if (!by_impulses()) {
    step_by_method(s, t, h);
  } else {
    const Lent lent(mechanism.now.state, s);
    begin_parts(t, h);
    // From one blow to the next, as many as the recipe allows.
    for (Part part{t, h}; part.left > 0; end_part(part)) {
      collide(part);
      // Attempts, each stiffer than the last, until one neither gains energy nor leaves joints open.
      do {
        try {
          write_rows(part);
          do {
            find_islands();
            for_each_island(part, [&](const ImpulseStep& impulses, int i) {
              formulate(impulses, free_, islands_[i]);
              solve(impulses, islands_[i]);
              keep(impulses, i);
            });
          } while (exchange(part) || meet(part));
          if (part.blow < part.h) continue;
          // Once it is known whom everything meets.
          for_each_island(part, [&](const ImpulseStep& impulses, int i) {
            keep_bounce(impulses, i, bounce(impulses, free_, islands_[i], bouncing_[i]));
          });
          move(part);
          close(part);
        } catch (const Error&) {
          if (part.last_attempt()) throw;
          part.failed = true;
        }
      } while (again(part));
    }
    end_parts(t + h, h);
  }
  close_step(s, t + h);
  return mechanism.now.report;
}

void ReferenceStepper::open_step(const State& s, double t, double h) {
  Budget::listen();
  Attempt& now = mechanism.now;
  now.report = {};
  now.push_energy = 0;
  now.flow = {};
  now.struck.clear();
  mechanism.h = h;
  mechanism.look_at_drives();
  if (mechanism.books) ledger.look_at_hands(mechanism, s, t, totals);
  end_ = t + h;
  touches_.begin_step();
}

void ReferenceStepper::close_step(State& s, double t) {
  // Bounce off walls; methods with error control have met them on the way.
  if (!mechanism.model.walls.empty() && !locates_events(mechanism.recipe)) bounce_off_walls(s, t);
  require_finite(mechanism.model, s, mechanism.helpers());
  if (mechanism.books) ledger.close_step(mechanism, s, t, totals);
  log_touches();
  mechanism.now.report.cut = (Budget::current() && Budget::current()->cut()) || SharedWork::current()->cut();
}

}  // namespace rotule
