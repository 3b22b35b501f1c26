// What can be asked of the real-time stepper between steps, and what can be done to its state by hand.
#include "dynamics/forces/weight.h"
#include "mechanism/jointed_mechanism.h"
#include "step/realtime/realtime_stepper.h"

namespace rotule {

std::span<const Contact> RealtimeStepper::contacts(const State& s, double h) {
  load(s);
  if (!found_) touches_.find(s, bodies_, h);
  found_ = true;
  touches_.list(s, settings_.substeps, contacts_);
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
  out.potential_energy = weight_potential(model_, s) + force_potential(model_, s, t, recipe_.threads, scratch_);
  for (int i = 0; i < s.bodies(); ++i) {
    const Body& body = model_.bodies[i];
    if (body.fixed) continue;
    const Vec3 momentum = body.mass * s.v(i);
    const Quat& q = s.theta[i];
    out.linear_momentum += momentum;
    out.angular_momentum += s.p[i].cross(momentum) + q * (body.inertia * (q.conjugate() * Vec3(s.omega(i))));
  }
  const std::span<const Contact> touching = contacts(s, h);
  out.contacts = static_cast<int>(touching.size());
  out.penetration = penetration(touching);
  out.shock_energy = totals.shock_energy;
  return out;
}

void RealtimeStepper::strike(State& s, double, int body, const Vec3& impulse, const Vec3& at) {
  const Quat& q = s.theta[body];
  s.v(body) += model_.inverse_mass[body] * impulse;
  s.omega(body) += q * (model_.inverse_inertia[body] * (q.conjugate() * Vec3((at - s.p[body]).cross(impulse))));
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
