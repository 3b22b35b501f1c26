#include "dynamics/forces/pair_forces.h"

#include <rotule/error.h>

#include <cmath>

#include "dynamics/jet_body.h"

namespace rotule {

namespace {

BodyLanes<double> lanes_of(const ForceEnd& end, const State& s) {
  BodyLanes<double> out;
  if (end.kind == ForceEnd::Kind::body) {
    out.p = s.p[end.index];
    out.R = s.theta[end.index].toRotationMatrix();
    out.v = s.v(end.index);
    out.omega = s.omega(end.index);
  } else if (end.kind == ForceEnd::Kind::particle) {
    out.p = s.particle_position(end.index);
    out.v = s.particle_velocity(end.index);
  }
  return out;
}

Vec12 velocities_of(const BodyLanes<double>& a, const BodyLanes<double>& b) {
  Vec12 u;
  u << a.v, a.omega, b.v, b.omega;
  return u;
}

Mat12 hessian_of(const Jet& jet) {
  Mat12 H;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) H(i, j) = jet.hessian[Jet::pair(i, j)];
  return H;
}

/// World axes do not turn with the chart.
void add_torque_turning(const Vec12& force, Mat12& position) {
  for (int first : {3, 9}) position.block<3, 3>(first, first) -= 0.5 * skew(force.segment<3>(first));
}

std::array<const Jet*, 12> components(const JetForces& f) {
  std::array<const Jet*, 12> out{};
  const std::array<const JetVec3*, 4> vectors{&f.force_a, &f.torque_a, &f.force_b, &f.torque_b};
  for (std::size_t n = 0; n < 12; ++n) out[n] = &vectors[n / 3]->e[n % 3];
  return out;
}

JetVec3 varying(const Vec3& value, int first) {
  return {Jet::variable(first, value.x()), Jet::variable(first + 1, value.y()), Jet::variable(first + 2, value.z())};
}

/// The pose without its derivatives.
JetBody frozen(JetBody body) {
  for (int k = 0; k < 3; ++k) {
    body.position.e[k] = Jet(body.position.e[k].value);
    for (int j = 0; j < 3; ++j) body.rotation.columns[k].e[j] = Jet(body.rotation.columns[k].e[j].value);
  }
  return body;
}

Motion motion_of(const ForceEnd& end, const BodyLanes<double>& body) {
  return {{body.p + body.R * end.r, Quat(body.R)}, body.v, body.omega};
}

}  // namespace

TorsionTorque torsion_torque(const TorsionSpringForce& spring, const State& s) {
  const auto turned = [&](const ForceEnd& end, const Vec3& v) -> Vec3 {
    return end.kind == ForceEnd::Kind::body ? s.theta[end.index] * v : v;
  };
  const auto spin = [&](const ForceEnd& end) -> Vec3 {
    return end.kind == ForceEnd::Kind::body ? Vec3(s.omega(end.index)) : Vec3::Zero();
  };
  const Vec3 x = turned(spring.a, spring.reference_a), y = turned(spring.a, spring.axis).cross(x);
  const Vec3 z = turned(spring.b, spring.reference_b);
  const double along = x.dot(z), across = y.dot(z), phi = std::atan2(across, along);
  const Vec3 g = (along * y.cross(z) - across * x.cross(z)) / (along * along + across * across);
  const double pull = spring.stiffness * phi + spring.damping * g.dot(spin(spring.a) - spin(spring.b));
  return {0.5 * spring.stiffness * phi * phi, -pull * g};
}

PairForce torsion_force(const TorsionSpringForce& spring, const State& s) {
  const BodyLanes<double> a = lanes_of(spring.a, s), b = lanes_of(spring.b, s);
  const JetBody A = jet_body(a, Vec3::Zero(), 0), B = jet_body(b, Vec3::Zero(), 6);
  const JetVec3 x = A.direction(spring.reference_a), y = A.direction(spring.axis).cross(x), z = B.direction(spring.reference_b);
  const Jet phi = atan2(y.dot(z), x.dot(z));
  const Vec12 g = phi.gradient.head<12>().matrix();
  const double pull = spring.stiffness * phi.value + spring.damping * g.dot(velocities_of(a, b));
  PairForce out;
  out.energy = 0.5 * spring.stiffness * phi.value * phi.value;
  out.value = -pull * g;
  out.position = -spring.stiffness * g * g.transpose() - pull * hessian_of(phi);
  out.velocity = -spring.damping * g * g.transpose();
  // The angle's rate g . u changes with the pose too.
  Vec12 rate_gradient = hessian_of(phi) * velocities_of(a, b);
  rate_gradient.segment<3>(3) -= 0.5 * a.omega.cross(Vec3(g.segment<3>(3)));
  rate_gradient.segment<3>(9) -= 0.5 * b.omega.cross(Vec3(g.segment<3>(9)));
  out.position -= spring.damping * g * rate_gradient.transpose();
  add_torque_turning(out.value, out.position);
  return out;
}

PairForce user_force(const UserForceEntry& user, const State& s, double t, bool derivatives) {
  const BodyLanes<double> a = lanes_of(user.a, s), b = lanes_of(user.b, s);
  PairForce out;
  if (user.def.potential) {
    const Jet V = user.def.potential(jet_body(a, user.a.r, 0), jet_body(b, user.b.r, 6), Jet(t));
    out.energy = V.value;
    out.value = -V.gradient.head<12>().matrix();
    if (derivatives) {
      out.position = -hessian_of(V);
      add_torque_turning(out.value, out.position);
    }
  } else if (user.def.force) {
    JetMotion A{jet_body(a, user.a.r, 0), JetVec3(a.v), JetVec3(a.omega)};
    JetMotion B{jet_body(b, user.b.r, 6), JetVec3(b.v), JetVec3(b.omega)};
    const JetForces by_pose = user.def.force(A, B, Jet(t));
    const auto values = components(by_pose);
    for (int n = 0; n < 12; ++n) {
      out.value[n] = values[n]->value;
      out.position.row(n) = values[n]->gradient.head<12>().matrix().transpose();
    }
    if (derivatives) {
      // Jets have room for the six motions of two bodies once: velocities take their turn.
      A = {frozen(A.pose), varying(a.v, 0), varying(a.omega, 3)};
      B = {frozen(B.pose), varying(b.v, 6), varying(b.omega, 9)};
      const JetForces by_velocity = user.def.force(A, B, Jet(t));
      const auto rates = components(by_velocity);
      for (int n = 0; n < 12; ++n) out.velocity.row(n) = rates[n]->gradient.head<12>().matrix().transpose();
    }
  } else {
    const Motion A = motion_of(user.a, a), B = motion_of(user.b, b);
    out.value = user.def.values(A, B, t);
    if (derivatives && user.def.jacobian) {
      const ForceJacobian jacobian = user.def.jacobian(A, B, t);
      out.position = jacobian.position;
      out.velocity = jacobian.velocity;
    }
  }
  if (!out.value.allFinite())
    throw Error("force \"" + user.name + "\"", "its function gives what is not a number; look where it divides or takes a root");
  return out;
}

double potential_rate(const UserForceEntry& user, const State& s, double t) {
  const JetBody A = jet_body(lanes_of(user.a, s), user.a.r, 0), B = jet_body(lanes_of(user.b, s), user.b.r, 6);
  return user.def.potential(A, B, Jet::variable(12, t)).gradient[12];
}

void add_pair_forces(const Model& model, const State& s, double t, VecX& f) {
  const auto put = [&](const ForceEnd& end, const Vec6& value) {
    const auto triple = triples_of(end, s);
    for (int half = 0; half < 2; ++half)
      if (triple[half] >= 0) f.segment<3>(3 * triple[half]) += value.segment<3>(3 * half);
  };
  const auto put_both = [&](const auto& force, const PairForce& pair) {
    put(force.a, pair.value.head<6>());
    put(force.b, pair.value.tail<6>());
  };
  for (const TorsionSpringForce& spring : model.forces.torsions) {
    const Vec3 torque = torsion_torque(spring, s).on_a;
    if (spring.a.kind == ForceEnd::Kind::body) f.segment<3>(6 * spring.a.index + 3) += torque;
    if (spring.b.kind == ForceEnd::Kind::body) f.segment<3>(6 * spring.b.index + 3) -= torque;
  }
  for (const UserForceEntry& user : model.forces.users) put_both(user, user_force(user, s, t, false));
}

double torsion_potential(const Model& model, const State& s) {
  double sum = 0;
  for (const TorsionSpringForce& spring : model.forces.torsions) sum += torsion_torque(spring, s).energy;
  return sum;
}

double user_potential(const Model& model, const State& s, double t) {
  double sum = 0;
  for (const UserForceEntry& user : model.forces.users)
    if (user.def.potential) sum += user_force(user, s, t, false).energy;
  return sum;
}

double pair_potential(const Model& model, const State& s, double t) {
  return torsion_potential(model, s) + user_potential(model, s, t);
}

}  // namespace rotule
