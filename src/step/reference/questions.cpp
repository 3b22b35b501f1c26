// What can be asked of the reference stepper between steps, and what can be done to its state by hand.
#include <algorithm>

#include "step/reference/reference_stepper.h"

namespace rotule {

IslandParts ReferenceStepper::parts() {
  return {
      mechanism.linkages, mechanism.now.drives, mechanism.now.contacts, static_cast<int>(mechanism.model.joints.size()), cone_,
      mechanism.trees};
}

std::span<const Island> ReferenceStepper::islands() const {
  if (island_count_ == 0) return mechanism.islands;
  return {islands_.data(), static_cast<std::size_t>(island_count_)};
}

std::span<const Contact> ReferenceStepper::contacts(const State& s, double h) {
  finder.refresh(s, h, mechanism.now.contacts);
  return mechanism.now.contacts;
}

Diagnostics ReferenceStepper::diagnose(const State& s, double t, double h) {
  Diagnostics out = ledger.diagnose(mechanism, s, t);
  const std::span<const Contact> touching = contacts(s, h);
  out.contacts = static_cast<int>(touching.size());
  out.penetration = penetration(touching);
  out.shock_energy = totals.shock_energy;
  out.push_energy = totals.push_energy;
  if (mechanism.books) {
    if (totals.books.opened == 0) ledger.look_at_hands(mechanism, s, t, totals);
    Ledger::read(totals, mechanism.model, s, out);
  }
  out.kinematic_work = totals.given_work;
  for (int i = 0; i < island_count_; ++i) out.residual = std::max(out.residual, islands_[i].residual);
  return out;
}

JointForce ReferenceStepper::joint_force(const State& s, double t, int joint) {
  mechanism.refresh_forces(t, s);
  return last_joint_force(joint);
}

JointForce ReferenceStepper::last_joint_force(int joint) const {
  JointForce out = ledger.force(mechanism, joint);
  mechanism.drives.exerted(mechanism, joint, out.drive);
  for (const DriveRow& row : mechanism.now.drives)
    if (row.joint == joint) out.drive[row.axis] += (row.kind == DriveRow::Kind::upper ? -1 : 1) * row.x * per_second();
  return out;
}

std::vector<std::pair<int, int>> ReferenceStepper::redundant(const State& s, double t) {
  mechanism.refresh_forces(t, s);
  return ledger.redundant(mechanism);
}

void ReferenceStepper::strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at) {
  mechanism.kinematics.update(mechanism.model, s);
  if (mechanism.model.has_added_mass()) {
    VecX blow = VecX::Zero(s.u.size());
    blow.segment<6>(6 * body) << impulse, (at - s.p[body]).cross(impulse);
    mechanism.kinematics.divide_by_mass(mechanism.model, blow, blow);
    s.u += blow;
  } else {
    s.v(body) += mechanism.model.inverse_mass[body] * impulse;
    s.omega(body) += mechanism.kinematics.inverse_inertia[body] * (at - s.p[body]).cross(impulse);
  }
  mechanism.project_velocities(s, t);
  forget();
}

double ReferenceStepper::shock(State& s, double t, const ShockPoint& point) {
  points_.assign(1, point);
  const double lost = shocks.apply(mechanism, s, t, points_, false);
  totals.shock_energy += lost;
  forget();
  return lost;
}

int ReferenceStepper::project(const ProjectionSettings& settings, State& s, double t) {
  // Stops that held where it was before need not hold here; those that it is beyond draw it back.
  mechanism.drives.decide(mechanism, s, t);
  mechanism.drives.hold_crossed(mechanism, s, t);
  const int iterations = mechanism.project(settings, s, t);
  mechanism.drives.leave_crossed(mechanism);
  mechanism.begin_step(s, t);  // rows that are redundant where it has come to
  forget();
  return iterations;
}

}  // namespace rotule
