#include "dynamics/tree/derivatives.h"

namespace rotule {

/// A link's motion, and all that it carries.
struct alignas(32) NewtonEulerDerivatives::Carried {
  Spatial v = {}, a = {};
  Spatial F = {};
  SpatialInertia I = {};
  Matrix3Lanes P = {};
  Lanes3 p = {};

  /// B s, and of B^T s the angular part: the other is zero.
  ROTULE_LANES3_INLINE Spatial B(const Spatial& s) const { return {P * s.w, 2.0 * cross3(s.w, p)}; }
  ROTULE_LANES3_INLINE Lanes3 B_transposed(const Spatial& s) const { return transposed_times(P, s.w) + 2.0 * cross3(p, s.v); }
};

struct alignas(32) NewtonEulerDerivatives::Column {
  Spatial S = {};
  Spatial psi = {}, alpha = {}, kappa = {};
};

NewtonEulerDerivatives::NewtonEulerDerivatives() = default;
NewtonEulerDerivatives::NewtonEulerDerivatives(NewtonEulerDerivatives&&) noexcept = default;
NewtonEulerDerivatives& NewtonEulerDerivatives::operator=(NewtonEulerDerivatives&&) noexcept = default;
NewtonEulerDerivatives::~NewtonEulerDerivatives() = default;

/// From the ground: axes, motions, and of each link its own inertia and force.
ROTULE_WIDE void NewtonEulerDerivatives::move(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u,
                                              const double* udot) {
  const std::size_t count = tree.links.size();
  links_.resize(count);
  columns_.resize(static_cast<std::size_t>(tree.velocities));
  // A tree's vectors refer to the origin of its first body, so that nothing is lost far from the world's.
  roots_.resize(count);
  first_body_.assign(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const int parent = tree.links[i].parent;
    roots_[i] = parent < 0 ? static_cast<int>(i) : roots_[parent];
    if (int& first = first_body_[roots_[i]]; first < 0 && tree.links[i].mass > 0) first = static_cast<int>(i);
  }
  Carried ground;
  ground.a.v = -lanes3(gravity);
  for (std::size_t i = 0; i < count; ++i) {
    const TreeLink& link = tree.links[i];
    const LinkPose& at = poses[i];
    const Carried& parent = link.parent < 0 ? ground : links_[link.parent];
    Carried& own = links_[i];
    const int first = first_body_[roots_[i]];
    const Lanes3 o = first < 0 ? at.o : at.o - poses[first].o;
    own = {};
    own.v = parent.v;
    own.a = parent.a;
    Column* const columns = columns_.data() + link.velocity;
    for (int k = 0; k < link.rates(); ++k) {
      const bool slides = link.kind == TreeLink::Kind::slider, ball = link.kind == TreeLink::Kind::ball;
      const Lanes3 z = !ball ? at.z : k == 0 ? at.B.x : k == 1 ? at.B.y : at.B.z;
      columns[k].S = slides ? Spatial{Lanes3{}, z} : Spatial{z, cross3(o, z)};
      own.v = own.v + u[link.velocity + k] * columns[k].S;
      own.a = own.a + udot[link.velocity + k] * columns[k].S;
    }
    // Axes turn with one side of the joint; moving along them turns what lies beyond the other.
    const Carried& holds = link.reversed ? own : parent;
    for (int k = 0; k < link.rates(); ++k) own.a = own.a + u[link.velocity + k] * cross(holds.v, columns[k].S);
    const Carried& stays = link.reversed ? parent : own;
    for (int k = 0; k < link.rates(); ++k) {
      Column& column = columns[k];
      column.psi = cross(stays.v, column.S);
      column.alpha = cross(stays.a, column.S) + cross(stays.v, column.psi);
      column.kappa = cross(holds.v, column.S) + column.psi;
    }
    if (link.mass == 0) continue;
    const Lanes3 c = o + at.c;
    own.I.m = link.mass;
    own.I.h = link.mass * c;
    own.I.J = times(at.R, link.I) * transposed(at.R);
    own.I.J -= outer(own.I.h, c);
    add_diagonal(own.I.J, dot3(own.I.h, c));
    const Spatial momentum = own.I * own.v;
    own.F = own.I * own.a + cross_force(own.v, momentum);
    own.p = momentum.v;
    Matrix3Lanes J = own.I.J;
    add_diagonal(J, -0.5 * (J.x[0] + J.y[1] + J.z[2]));
    own.P = cross3(own.v.w, J);
    add_diagonal(own.P, dot3(own.I.h, own.v.v));
    own.P -= outer(own.v.v, own.I.h);
    own.P += own.P;
  }
}

ROTULE_WIDE void NewtonEulerDerivatives::differentiate(const Tree& tree, const LinkPoses& poses, const Vec3& gravity,
                                                       const double* u, const double* udot, MatX& by_position,
                                                       MatX& by_velocity) {
  move(tree, poses, gravity, u, udot);
  const std::ptrdiff_t n = tree.velocities;
  by_position.setZero(n, n);
  by_velocity.setZero(n, n);
  double* const dq = by_position.data();
  double* const du = by_velocity.data();
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const Carried& all = links_[i];
    for (int k = 0; k < link.rates(); ++k) {
      const std::ptrdiff_t j = link.velocity + k;
      const Column& column = columns_[j];
      // What this coordinate and this rate change of the force through the joint, as seen from beyond it and from before.
      const Spatial beyond = all.I * column.alpha + all.B(column.psi);
      const Spatial before = beyond + cross_force(column.S, all.F);
      const Spatial of_rate = all.I * column.kappa + all.B(column.S);
      for (int l = 0; l < link.rates(); ++l) {
        const std::ptrdiff_t row = link.velocity + l;
        dq[j * n + row] = dot(columns_[row].S, link.reversed ? beyond : before);
        du[j * n + row] = dot(columns_[row].S, of_rate);
      }
      // And what coordinates before it change of this torque.
      const Spatial needs = all.I * column.S;
      const Lanes3 turns = all.B_transposed(column.S);
      for (int a = link.parent; a >= 0; a = tree.links[a].parent) {
        const TreeLink& above = tree.links[a];
        for (int l = 0; l < above.rates(); ++l) {
          const std::ptrdiff_t row = above.velocity + l;
          const Column& other = columns_[row];
          dq[j * n + row] = dot(other.S, before);
          du[j * n + row] = dot(other.S, of_rate);
          dq[row * n + j] = dot3(needs.w * other.alpha.w + needs.v * other.alpha.v + turns * other.psi.w, all_lanes(1));
          du[row * n + j] = dot3(needs.w * other.kappa.w + needs.v * other.kappa.v + turns * other.S.w, all_lanes(1));
        }
      }
    }
    if (link.parent < 0) continue;
    Carried& p = links_[link.parent];
    p.F = p.F + all.F;
    p.I.m += all.I.m;
    p.I.h += all.I.h;
    p.I.J += all.I.J;
    p.P += all.P;
    p.p += all.p;
  }
}

}  // namespace rotule
