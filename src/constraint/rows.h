#pragma once
// The rows that joints are made of, each written once, for any lane type L. For a constraint function C(q) a row is:
//   C        its value,
//   J        its gradient: dC/dt = J_a u_a + J_b u_b,
//   gamma    J-dot u: the part of the second derivative that velocities alone make.
// A row over more than two bodies has a RowSide for each of the others.
// x_a = p_a + rho_a and x_b = p_b + rho_b are the joint's point as each body carries it; e = x_a - x_b.
#include "dynamics/kinematics.h"

namespace rotule {

template <class L>
struct Row {
  L C, gamma;
  Vec3L<L> linear_a, angular_a, linear_b, angular_b;
  L C_t = L(0);  // dC/dt at rest: not zero for time-driven constraints alone
};

/// Linear and angular part of a row's gradient for one more body.
template <class L>
struct RowSide {
  Vec3L<L> linear, angular;
};

/// The joint's point on each body: lever, and its centripetal acceleration omega x (omega x rho).
template <class L>
struct JointPoint {
  Vec3L<L> rho_a, rho_b, e, e_dot, centripetal;

  JointPoint(const BodyLanes<L>& a, const BodyLanes<L>& b, const Vec3L<L>& r_a, const Vec3L<L>& r_b) {
    rho_a.noalias() = a.R * r_a;
    rho_b.noalias() = b.R * r_b;
    e = a.p + rho_a - b.p - rho_b;
    const Vec3L<L> spin_a = a.omega.cross(rho_a), spin_b = b.omega.cross(rho_b);
    e_dot = a.v + spin_a - b.v - spin_b;
    centripetal = a.omega.cross(spin_a) - b.omega.cross(spin_b);
  }
};

/// Coincidence along the k-th world axis: C = e_k. Three of them are a ball joint (A4).
template <class L>
Row<L> point_row(const JointPoint<L>& point, int k) {
  const Vec3L<L> n = Vec3L<L>::Unit(k);
  return {point.e[k], point.centripetal[k], n, point.rho_a.cross(n), -n, -point.rho_b.cross(n)};
}

/// Coincidence along a direction n carried by body a: C = n . e.
template <class L>
Row<L> slide_row(const JointPoint<L>& point, const BodyLanes<L>& a, const Vec3L<L>& n) {
  const Vec3L<L> n_dot = a.omega.cross(n);
  const L gamma = n.dot(point.centripetal) + L(2) * n_dot.dot(point.e_dot) + a.omega.cross(n_dot).dot(point.e);
  return {n.dot(point.e), gamma, n, (point.rho_a - point.e).cross(n), -n, -point.rho_b.cross(n)};
}

/// Directions d_a of body a and d_b of body b stay perpendicular: C = d_a . d_b.
template <class L>
Row<L> align_row(const BodyLanes<L>& a, const BodyLanes<L>& b, const Vec3L<L>& d_a, const Vec3L<L>& d_b) {
  const Vec3L<L> spin_a = a.omega.cross(d_a), spin_b = b.omega.cross(d_b);
  const L gamma = a.omega.cross(spin_a).dot(d_b) + L(2) * spin_a.dot(spin_b) + d_a.dot(b.omega.cross(spin_b));
  const Vec3L<L> n = d_a.cross(d_b);
  return {d_a.dot(d_b), gamma, Vec3L<L>::Zero(), n, Vec3L<L>::Zero(), -n};
}

/// Distance between the points: C = |e| - length.
template <class L>
Row<L> distance_row(const JointPoint<L>& point, L length) {
  const L distance = point.e.norm();
  const Vec3L<L> n = point.e / distance;
  const L along = n.dot(point.e_dot);
  const L gamma = n.dot(point.centripetal) + (point.e_dot.squaredNorm() - along * along) / distance;
  return {distance - length, gamma, n, point.rho_a.cross(n), -n, -point.rho_b.cross(n)};
}

}  // namespace rotule
