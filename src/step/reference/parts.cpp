// The parts of a step by impulses, from one blow to the next: how each begins, how its attempts go, and how it ends.
#include <algorithm>
#include <cstdint>

#include "base/budget.h"
#include "step/checks.h"
#include "step/island_pieces.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

namespace {

/// Rows whose solves spent all of their work without meeting the tolerance, in one step, after which blows are no more taken
/// each at its own time: what hits a jam costs a few solves then, and not a hundred.
constexpr std::int64_t most_exhausted_rows = 1500;

}  // namespace

void ReferenceStepper::begin_parts(double t, double h) {
  mechanism.begin_trees(mechanism.now.state, t);
  start_u_ = mechanism.now.state.u;
  closing_.begin(mechanism.model, mechanism.now.state, mechanism.helpers());
  last_h_ = h;
  exhausted_rows_ = 0;
}

void ReferenceStepper::collide(Part& part) {
  Attempt& now = mechanism.now;
  part.may_stop = bouncy_ && part.blows < rules_.settings.max_blows && exhausted_rows_ < most_exhausted_rows &&
                  !Budget::spent() && !SharedWork::current()->spent(share_of_impulses);
  mechanism.begin_step(now.state, part.t);
  head_for_given_motions(mechanism.model, part.t, part.left, now.state);
  {
    const StageClock::Scope stage(mechanism.clock, Stage::collide);
    finder.refresh(now.state, part.left, now.contacts, mechanism.helpers());
    refresh_given();
    for (const Contact& c : now.contacts)
      if (finder.touching(c)) touches_.touch(c.a, c.b);
  }
  strike_contacts(part.t);

  // Left to itself, no mechanism gains energy. The stiffness comes from the last step's forces; where a blow has just changed
  // them beyond recognition it is too small, and the step would gain, or tear the joints. It is then made again with the forces
  // of the motion as it is, and, if need be, with more: too much stiffness only damps.
  part.repeatable = impulses_->geometric_stiffness && mechanism.is_passive() && !mechanism.linkages.empty();
  if (part.repeatable || part.may_stop) start_ = now;
  part.audit = StepAudit(mechanism, part.repeatable);
  // Arms that turn are followed in straight parts, but no speed cuts a step without end.
  constexpr double most_parts = 256;
  part.h = std::min(part.left, std::max(finder.straight_part(now.state, mechanism.linkages, part.left), last_h_ / most_parts));
  part.blow = part.h;
}

void ReferenceStepper::write_rows(Part& part) {
  // What forces alone would make of the motion, and how drives and contacts stand.
  Attempt& now = mechanism.now;
  mechanism.free_velocities(*impulses_, now.state, part.t, part.h, free_);
  evaluate_drives(mechanism.model, mechanism.kinematics, part.h, now.drives);
  begin_soft(part.h);
  part.round = 1;
  look_at_contacts(part.h);
}

void ReferenceStepper::look_at_contacts(double h) {
  for (Contact& c : mechanism.now.contacts) look_at_start(rules_, mechanism.kinematics, mechanism.now.state.u, free_, h, c);
  if (soft_) free_ = alone_;
  exchanges_ = 0;
}

void ReferenceStepper::find_islands() {
  island_count_ = split_into_islands(mechanism.model, parts(), islands_, search_);
  if (bouncing_.size() < islands_.size()) bouncing_.resize(islands_.size());
  bounce_shares_.resize(islands_.size());
  first_ = after_ = free_;
  // One island alone, such as a large mechanism, has all threads to itself.
  Gang* const helpers = island_count_ == 1 ? mechanism.helpers() : nullptr;
  for (int i = 0; i < island_count_; ++i)
    if (islands_[i].gang != helpers) islands_[i].lend(helpers);
}

void ReferenceStepper::keep(const ImpulseStep& step, int i) {
  islands_[i].scatter(first_);
  islands_[i].scatter(after_);
  islands_[i].given_work = given_work(step.parts, islands_[i]);
}

void ReferenceStepper::keep_bounce(const ImpulseStep& step, int i, std::optional<double> bounced) {
  bounce_shares_[i] = bounced.value_or(0);
  if (!bounced) return;
  // What it leaves alone has its velocity from its way already.
  const Island& end = bouncing_[i];
  for (std::size_t k = 0; k < end.bodies.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(6 * k);
    if (pushes(end.local, islands_[i].local, at)) end.slots[k].write(end.local.segment<6>(at), after_);
  }
  islands_[i].given_work = given_work(step.parts, end);
}

bool ReferenceStepper::meet(Part& part) {
  for (int i = 0; i < island_count_; ++i)
    if (!islands_[i].report.converged) exhausted_rows_ += islands_[i].problem.rows();
  plan(part.h);
  {
    const StageClock::Scope stage(mechanism.clock, Stage::collide);
    finder.sweep(mechanism.now.state, passages_, part.h, mechanism.now.contacts, meetings_);
    if (part.may_stop) part.blow = first_blow(part.h);
    constexpr int most_rounds = 4;
    if (part.blow < part.h || part.round == most_rounds || meetings_.empty() || Budget::spent()) return false;
    add_meetings();
  }
  ++part.round;
  look_at_contacts(part.h);
  return true;
}

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

void ReferenceStepper::move(const Part& part) {
  count_islands(part.h);
  // Positions go with the first solution, velocities with the bounce.
  State& s = mechanism.now.state;
  before_ = s.u;
  keep_bounces();
  if (mechanism.books) book_impulses(part.t, part.h);
  mechanism.move(move_, after_, s);
  hold_spin(s);
  // Prescribed motions come in at the step's end exactly; until then they went straight for it.
  constexpr double rounding = 1e-9;
  if (part.t + part.h > end_ - rounding * mechanism.h) follow_given_motions(mechanism.model, end_, s);
  require_finite(mechanism.model, s, mechanism.helpers());
}

bool ReferenceStepper::again(Part& part) {
  Attempt& now = mechanism.now;
  if (part.blow < part.h) {
    now = start_;
    part.h = part.blow;
    part.may_stop = false;
    return true;
  }
  if (!part.failed) {
    now.report.attempts = std::max(now.report.attempts, part.tries);
    part.audit.look_at(mechanism, now.report);
    if (part.last_attempt() || now.report.sound() || Budget::spent()) return false;
  }
  // What it found the joints to give is all that is kept of it: the next attempt is stiffer than that.
  found_.swap(now.joints);
  now = start_;
  mechanism.stiffen(now.state, part.t, part.tries == 1 ? std::span<const JointAnswer>() : found_);
  part.failed = false;
  ++part.tries;
  return true;
}

void ReferenceStepper::end_part(Part& part) {
  Attempt& now = mechanism.now;
  for (const Contact& c : now.contacts)
    if (c.x[0] > 0) touches_.touch(c.a, c.b);
  totals.push_energy += now.push_energy;
  totals.given_work += now.given_work;
  now.push_energy = 0;
  part_h_ = part.h;
  if (part.h < part.left) {
    keep_contacts();
    finder.forget();
  }
  part.end();
}

void ReferenceStepper::end_parts(double t, double h) {
  look_at_end(mechanism.now.state, t, h);
  require_joined(mechanism.model, mechanism.linkages,
                 joints_are_closed() ? std::span<const Island>(mechanism.islands) : islands());
  totals.push_energy += mechanism.now.push_energy;
}

}  // namespace rotule
