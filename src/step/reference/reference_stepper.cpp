// The table of contents of a step.
#include "step/reference/reference_stepper.h"

#include <rotule/error.h>

#include <algorithm>
#include <utility>

#include "base/budget.h"
#include "mechanism/soft/soft_motion.h"
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
  const JointedMechanism::Awake awake(mechanism);
  mechanism.now.report = {};
  mechanism.now.push_energy = 0;
  mechanism.now.flow = {};
  mechanism.now.struck.clear();
  mechanism.h = h;
  mechanism.look_at_drives();
  if (mechanism.books) ledger.look_at_hands(mechanism, s, t, totals);
  end_ = t + h;
  touches_.begin_step();

  if (by_impulses())
    step_by_impulses(s, t, h);
  else
    step_by_method(s, t, h);

  // Then bounce off walls; methods with error control have met them on the way.
  if (!mechanism.model.walls.empty() && !locates_events(mechanism.recipe)) bounce_off_walls(s, t + h);
  require_finite(mechanism.model, s);
  if (mechanism.books) ledger.close_step(mechanism, s, t + h, totals);
  log_touches();
  mechanism.now.report.cut = Budget::current() && Budget::current()->cut();
  return mechanism.now.report;
}

double ReferenceStepper::attempt(double t, double h, bool may_stop) {
  Attempt& now = mechanism.now;
  State& s = now.state;

  // Rows: what forces alone would make of the motion, and how drives and contacts stand.
  mechanism.free_velocities(*impulses_, s, t, h, free_);
  evaluate_drives(mechanism.model, mechanism.kinematics, h, now.drives);
  begin_soft(h);
  constexpr int most_rounds = 4;
  for (int round = 1;; ++round) {
    for (Contact& c : now.contacts) look_at_start(rules_, mechanism.kinematics, s.u, free_, h, c);

    // Islands: what joints and contacts tie together; each by itself: formulate, solve, bounce.
    solve_with_soft(t, h);

    // Collide on the way: up to the first blow, if it is to have its own time; what meets besides, in the pose in which it does.
    plan(h);
    {
      const StageClock::Scope stage(mechanism.clock, Stage::collide);
      finder.sweep(s, passages_, h, now.contacts, meetings_);
      if (const double blow = may_stop ? first_blow(h) : h; blow < h) return blow;
      if (round == most_rounds || meetings_.empty() || Budget::spent()) break;
      add_meetings();
    }
  }
  count_islands(h);

  // Move: positions go with the first solution, velocities with the bounce.
  before_ = s.u;
  keep_bounces();
  if (mechanism.books) book_impulses(t, h);
  mechanism.move(move_, after_, s);
  hold_spin(s);
  // Prescribed motions come in at the step's end exactly; until then they went straight for it.
  constexpr double rounding = 1e-9;
  if (t + h > end_ - rounding * mechanism.h) follow_given_motions(mechanism.model, end_, s);
  require_finite(mechanism.model, s);

  // Close joints and overlaps.
  close(s, t + h, h);
  require_finite(mechanism.model, s);
  return h;
}

void ReferenceStepper::step_by_impulses(State& s, double t, double h) {
  Attempt& now = mechanism.now;
  const Lent lent(now.state, s);

  // From one blow to the next, as many as the recipe allows.
  mechanism.begin_trees(now.state, t);
  start_u_ = now.state.u;
  closing_.begin(mechanism.model, now.state);
  last_h_ = h;
  double done = 0;
  for (int blows = 0; done < h; ++blows) {
    if (done > 0) finder.forget();
    const bool may_stop = bouncy_ && blows < rules_.settings.max_blows && !Budget::spent();
    const double left = h - done, part = pass(t + done, left, may_stop);
    if (part < left) keep_contacts();
    done = part < left ? done + part : h;
  }

  // The contacts of the step's end, and the books.
  look_at_end(now.state, t + h, h);
  require_joined(mechanism.model, mechanism.linkages,
                 joints_are_closed() ? std::span<const Island>(mechanism.islands) : islands());
  totals.push_energy += now.push_energy;
}

}  // namespace rotule
