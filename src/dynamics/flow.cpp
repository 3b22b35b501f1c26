#include "dynamics/flow.h"

#include <algorithm>

#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/gas.h"
#include "dynamics/forces/line_drag.h"
#include "dynamics/forces/loads.h"
#include "dynamics/forces/pair_forces.h"
#include "dynamics/forces/springs.h"
#include "dynamics/forces/weight.h"

namespace rotule {

namespace {

void add_to(MomentumRate& out, const Vec3& linear, const Vec3& angular) {
  Eigen::Map<Vec3>(out.data()) += linear;
  Eigen::Map<Vec3>(out.data() + 3) += angular;
}

/// The sum of generalised forces on what can be moved.
void add_sum(const Model& model, const State& s, const VecX& f, MomentumRate& out) {
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    const Vec3 F = f.segment<3>(6 * i), torque = f.segment<3>(6 * i + 3);
    add_to(out, F, s.p[i].cross(F) + torque);
  }
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    const Vec3 F = f.segment<3>(s.first(k));
    add_to(out, F, s.particle_position(k).cross(F));
  }
}

/// The power of forces on what is moved by others: pinned particles, fixed bodies.
double power_on_led(const Model& model, const State& s, const VecX& f, const VecX& u) {
  double sum = 0;
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.movable(i)) sum += f.segment<6>(6 * i).dot(u.segment<6>(6 * i));
  for (int k = 0; k < model.particle_count(); ++k)
    if (!model.particles.movable(k)) sum += f.segment<3>(s.first(k)).dot(u.segment<3>(s.first(k)));
  return sum;
}

bool is_led(const Model& model, const State& s, const VecX& u) {
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.movable(i) && !u.segment<6>(6 * i).isZero(0)) return true;
  for (int k = 0; k < model.particle_count(); ++k)
    if (!model.particles.movable(k) && !u.segment<3>(s.first(k)).isZero(0)) return true;
  return false;
}

bool has_dampers(const Forces& forces) {
  const auto damped = [](const auto& spring) { return spring.damping > 0; };
  return std::any_of(forces.springs.begin(), forces.springs.end(), damped) ||
         std::any_of(forces.torsions.begin(), forces.torsions.end(), damped) ||
         std::any_of(forces.particle_springs.damping.begin(), forces.particle_springs.damping.end(),
                     [](double damping) { return damping > 0; }) ||
         has_viscosity(forces.elements);
}

void put_pair(const ForceEnd& a, const ForceEnd& b, const State& s, const Vec12& value, VecX& f) {
  const auto of_a = triples_of(a, s), of_b = triples_of(b, s);
  const std::array<int, 4> triple{of_a[0], of_a[1], of_b[0], of_b[1]};
  for (int i = 0; i < 4; ++i)
    if (triple[i] >= 0) f.segment<3>(3 * triple[i]) += value.segment<3>(3 * i);
}

void add_all_springs(const Model& model, const State& s, VecX& f) {
  add_springs(model, s, f);
  add_elasticity(model, s, f);
  for (const TorsionSpringForce& spring : model.forces.torsions) {
    Vec12 value = Vec12::Zero();
    value.segment<3>(3) = torsion_torque(spring, s).on_a;
    value.tail<3>() = -value.segment<3>(3);
    put_pair(spring.a, spring.b, s, value, f);
  }
}

}  // namespace

void add_inertia(const Model& model, const State& s, const VecX& udot, double times, MomentumRate& out) {
  if (model.has_added_mass()) {
    // Fluid that is moved along counts as the bodies' own: (P, p x P + L), and P runs along with the body's place.
    VecX rate = VecX::Zero(s.u.size());
    add_added_gyroscopic(model, motion_of(s), rate);
    rate = -rate;
    add_added_momentum(model, motion_of(s), udot, 1, rate);
    rate *= times;
    add_sum(model, s, rate, out);
    add_to(out, Vec3::Zero(), times * torque_on_still_axes(model, s));
  }
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    const Quat& q = s.theta[i];
    const Vec3 F = times * model.bodies[i].mass * udot.segment<3>(6 * i), omega = s.omega(i);
    const auto inertia = [&](const Vec3& v) -> Vec3 { return q * (model.inertia[i] * (q.conjugate() * v)); };
    add_to(out, F, s.p[i].cross(F) + times * (inertia(udot.segment<3>(6 * i + 3)) + omega.cross(inertia(omega))));
  }
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    const Vec3 F = times * model.particles.mass[k] * udot.segment<3>(s.first(k));
    add_to(out, F, s.particle_position(k).cross(F));
  }
}

MomentumRate momentum_of(const Model& model, const State& s) {
  MomentumRate out{};
  if (model.has_added_mass()) {
    VecX added = VecX::Zero(s.u.size());
    add_added_momentum(model, motion_of(s), s.u, 1, added);
    add_sum(model, s, added, out);
  }
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    const Quat& q = s.theta[i];
    const Vec3 p = model.bodies[i].mass * s.v(i);
    add_to(out, p, s.p[i].cross(p) + q * (model.inertia[i] * (q.conjugate() * Vec3(s.omega(i)))));
  }
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    const Vec3 p = model.particles.mass[k] * s.particle_velocity(k);
    add_to(out, p, s.particle_position(k).cross(p));
  }
  return out;
}

void add_force_flow(const Model& model, const VecX& external, const State& s, double t, const VecX& u, int threads,
                    FlowScratch& scratch, Flow& out) {
  VecX& f = scratch.f;
  f.setZero(s.u.size());
  add_weight(model, f);
  add_sum(model, s, f, out.weight);
  if (!external.isZero(0)) {
    out[Agent::forces] += external.dot(u) - power_on_led(model, s, external, u);
    add_sum(model, s, external, out.applied);
  }
  const Forces& forces = model.forces;
  if (forces.empty()) return;
  if (!forces.loads.empty()) {
    f.setZero();
    add_loads(model, s, t, f);
    out[Agent::forces] += f.dot(u) - power_on_led(model, s, f, u);
    add_sum(model, s, f, out.applied);
  }
  // A medium at rest takes; one that moves may give.
  for (const DragForce& drag : forces.drags) {
    f.setZero();
    add_drag(model, drag, s, t, f);
    out[drag.flows.empty() ? Agent::drag : Agent::fluid] += f.dot(u);
    add_sum(model, s, f, out.applied);
  }
  for (const AirForce& air : forces.airs) {
    f.setZero();
    add_air(model, air, s, t, f);
    out[air.flows.empty() ? Agent::drag : Agent::fluid] += f.dot(u);
    add_sum(model, s, f, out.applied);
  }
  for (const LineDragForce& line : forces.lines) {
    f.setZero();
    add_line_drag(model, line, s, t, f);
    out[line.flows.empty() ? Agent::drag : Agent::fluid] += f.dot(u);
    add_sum(model, s, f, out.applied);
  }
  if (has_fluid(forces)) {
    f.setZero();
    add_fluid(model, s, t, f);
    f.tail(3 * static_cast<Eigen::Index>(forces.wakes)).setZero();  // no forces
    out[Agent::fluid] += f.dot(u) - power_on_led(model, s, f, u);
    add_sum(model, s, f, out.applied);
  }
  for (const UserForceEntry& user : forces.users) {
    f.setZero();
    put_pair(user.a, user.b, s, user_force(user, s, t, false).value, f);
    add_sum(model, s, f, out.applied);
    // A potential is on the books already, but for its change in time.
    out[Agent::fields] += user.def.potential ? potential_rate(user, s, t) : f.dot(u);
  }
  // Dampers are what springs exert beyond what they would at rest.
  if (has_dampers(forces)) {
    f.setZero();
    add_all_springs(model, s, f);
    scratch.still = s;
    scratch.still.u.setZero();
    scratch.still_f.setZero(s.u.size());
    add_all_springs(model, scratch.still, scratch.still_f);
    f -= scratch.still_f;
    out[Agent::dampers] += f.dot(u);
  }
  for (const PlaneForce& plane : forces.planes)
    visit_below(plane, s, [&](int k, double) {
      if (model.particles.movable(k)) out[Agent::dampers] -= plane.damping * s.particle_velocity(k).dot(u.segment<3>(s.first(k)));
    });
  // Who leads a particle by hand works against all that pulls at it; planes do not feel those.
  if (is_led(model, s, u)) {
    f.setZero();
    add_springs(model, s, f);
    add_elasticity(model, s, f);
    add_pair_forces(model, s, t, f);
    add_drag(model, s, t, f);
    add_air(model, s, t, f);
    add_line_drag(model, s, t, f);
    add_gas(model, s, f);
    add_gravitation(model, s, threads, scratch.forces.attractors, f);
    out[Agent::guides] -= power_on_led(model, s, f, u);
  }
}

}  // namespace rotule
