// The way from one blow to the next: one attempt, or as many as it takes not to gain energy nor to tear a joint.
#include <rotule/error.h>

#include <algorithm>

#include "base/budget.h"
#include "step/checks.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

void ReferenceStepper::count_islands(double h) {
  Attempt& now = mechanism.now;
  now.report.residual = 0;
  now.given_work = h * mechanism.force_power;
  for (int i = 0; i < island_count_; ++i) {
    count(islands_[i].report, now.report);
    now.given_work += islands_[i].given_work;
    now.report.residual = std::max(now.report.residual, islands_[i].residual);
  }
  if (impulses_->forces_first) now.report.solves += island_count_;
  if (soft_) count_soft(now.report);
}

double ReferenceStepper::pass(double t, double left, bool may_stop) {
  Attempt& now = mechanism.now;
  mechanism.begin_step(now.state, t);
  head_for_given_motions(mechanism.model, t, left, now.state);
  {
    const StageClock::Scope stage(mechanism.clock, Stage::collide);
    finder.refresh(now.state, left, now.contacts);
    refresh_given();
    for (const Contact& c : now.contacts)
      if (finder.touching(c)) touches_.touch(c.a, c.b);
  }
  strike_contacts(t);

  // Left to itself, no mechanism gains energy. The stiffness comes from the last step's forces; where a blow has just changed
  // them beyond recognition it is too small, and the step would gain, or tear the joints. It is then made again with the forces
  // of the motion as it is, and, if need be, with more: too much stiffness only damps.
  const bool repeatable = impulses_->geometric_stiffness && mechanism.is_passive() && !mechanism.linkages.empty();
  if (repeatable || may_stop) start_ = now;
  const StepAudit audit(mechanism, repeatable);
  constexpr int most_attempts = 4;
  // Arms that turn are followed in straight parts, but no speed cuts a step without end.
  constexpr double most_parts = 256;
  double h = std::min(left, std::max(finder.straight_part(now.state, mechanism.linkages, left), last_h_ / most_parts));
  for (int tries = 1;; ++tries) {
    const bool last = !repeatable || tries == most_attempts;
    try {
      if (const double blow = attempt(t, h, may_stop); blow < h) {
        now = start_;
        h = blow;
        attempt(t, h, may_stop = false);
      }
      now.report.attempts = std::max(now.report.attempts, tries);
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
  for (const Contact& c : now.contacts)
    if (c.x[0] > 0) touches_.touch(c.a, c.b);
  totals.push_energy += now.push_energy;
  totals.given_work += now.given_work;
  now.push_energy = 0;
  part_h_ = h;
  return h;
}

}  // namespace rotule
