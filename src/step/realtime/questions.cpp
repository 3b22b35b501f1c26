// What can be asked of the real-time stepper between steps, and what can be done to its state by hand.
#include <algorithm>

#include "constraint/joint_coordinates.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/springs.h"
#include "dynamics/forces/weight.h"
#include "mechanism/jointed_mechanism.h"
#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"

namespace rotule {

using namespace realtime;

std::span<const Contact> RealtimeStepper::contacts(const State& s, double h) {
  if (found_)
    load(s);
  else
    find(s, h);
  touches_.list(s, settings_.substeps, contacts_);
  listed_ = true;
  return contacts_;
}

const VecX& RealtimeStepper::accelerations(const State& s, double) {
  if (last_h_ > 0 && start_u_.size() == s.u.size())
    accelerations_ = (s.u - start_u_) / last_h_;
  else
    accelerations_.setZero(s.u.size());
  return accelerations_;
}

Diagnostics RealtimeStepper::diagnose(const State& s, double t, double h) {
  Diagnostics out;
  out.time = t;
  out.kinetic_energy = kinetic_energy(model_, s);
  out.gravity_energy = weight_potential(model_, s);
  out.spring_energy = joint_spring_potential(model_, s) + spring_potential(model_, s) + elastic_potential(model_, s);
  out.potential_energy =
      out.gravity_energy + joint_spring_potential(model_, s) + force_potential(model_, s, t, recipe_.threads, scratch_);
  for (int i = 0; i < s.bodies(); ++i) {
    const Body& body = model_.bodies[i];
    if (body.fixed) continue;
    const Vec3 momentum = body.mass * s.v(i);
    const Quat& q = s.theta[i];
    out.linear_momentum += momentum;
    out.angular_momentum += s.p[i].cross(momentum) + q * (body.inertia * (q.conjugate() * Vec3(s.omega(i))));
  }
  for (int k = 0; k < s.particles(); ++k) {
    const Vec3 momentum = model_.particles.mass[k] * s.particle_velocity(k);
    out.linear_momentum += momentum;
    out.angular_momentum += s.particle_position(k).cross(momentum);
  }
  if (!joints_->empty()) {
    joints_->measure(s, t);
    out.joint_error = joints_->largest_error();
  }
  out.residual = report_.residual;
  const std::span<const Contact> touching = contacts(s, h);
  out.contacts = static_cast<int>(touching.size());
  out.penetration = penetration(touching);
  out.shock_energy = totals.shock_energy;
  out.kinematic_work = totals.given_work;
  if (records_->books) {
    if (totals.books.opened == 0) Ledger::look_at_hands(energy_of(s, t), momentum_of(model_, s), totals);
    Ledger::read(totals, model_, s, out);
  }
  return out;
}

JointError RealtimeStepper::joint_error(int joint) const { return joints_->error(joint); }

JointForce RealtimeStepper::last_joint_force(int joint) const { return joints_->force(joint); }

std::vector<std::pair<int, int>> RealtimeStepper::redundant(const State&, double) { return joints_->redundant(); }

JointMotion RealtimeStepper::joint_motion(const State& s, int number) const {
  return rotule::joint_motion(model_, model_.joints[number], s, drive_forces(joints_->drives(), number, joints_->per_second()));
}

const TouchLog& RealtimeStepper::touches() const { return records_->log; }

void RealtimeStepper::log_touches(const State& s) {
  Records& records = *records_;
  records.log.begin_step();
  records.pressing.clear();
  stages_.find_pressing(touches_.slots, records.pressing);
  for (const auto& [a, b] : touches_.ended) records.counts.change(a, b, -1);
  touches_.ended.clear();
  for (const Pressing& change : records.pressing) {
    const auto [a, b] = touches_.bodies_of(change.touch);
    records.counts.change(a, b, change.begins ? 1 : -1);
  }
  const bool sensed = look_at_sensors(s);
  if (!records.counts.changed() && !sensed) return;
  records.counts.settle(records.touching);
  records.touching.insert(records.touching.end(), records.sensed.begin(), records.sensed.end());
  records.log.end_step(records.touching);
}

bool RealtimeStepper::look_at_sensors(const State& s) {
  if (model_.sensor_count == 0 && records_->sensed.empty()) return false;
  std::vector<std::pair<int, int>>& now = records_->overlapping;
  now.clear();
  touches_.sense(s, bodies_, now);
  std::sort(now.begin(), now.end());
  now.erase(std::unique(now.begin(), now.end()), now.end());
  const auto same = [](const std::pair<int, int>& p, const TouchPair& q) { return p.first == q.a && p.second == q.b; };
  if (std::equal(now.begin(), now.end(), records_->sensed.begin(), records_->sensed.end(), same)) return false;
  records_->sensed.clear();
  for (const auto& [a, b] : now) records_->sensed.push_back({a, b, 1, 0});
  return true;
}

void RealtimeStepper::keep_problems(bool keep) {
  records_->problems = keep;
  if (!keep) records_->island_count = 0;
}

std::span<const Island> RealtimeStepper::islands() const {
  return {records_->islands.data(), static_cast<std::size_t>(records_->island_count)};
}

int RealtimeStepper::project(const ProjectionSettings& settings, State& s, double t) {
  JointedMechanism mechanism(model_, recipe_);
  const int iterations = mechanism.project(settings, s, t);
  forget();
  return iterations;
}

void RealtimeStepper::strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at) {
  const Quat& q = s.theta[body];
  s.v(body) += model_.inverse_mass[body] * impulse;
  s.omega(body) += q * (model_.inverse_inertia[body] * (q.conjugate() * Vec3((at - s.p[body]).cross(impulse))));
  if (joints_->empty()) return body_changed(body);
  JointedMechanism(model_, recipe_).project_velocities(s, t);
  forget();
}

double RealtimeStepper::shock(State& s, double t, const ShockPoint& point) {
  // Rare, and the reference's own: a mechanism is made for it and goes again.
  JointedMechanism mechanism(model_, recipe_);
  ShockSolver shocks;
  std::vector<ShockPoint> points{point};
  const double lost = shocks.apply(mechanism, s, t, points, false);
  totals.shock_energy += lost;
  forget();
  return lost;
}

}  // namespace rotule
