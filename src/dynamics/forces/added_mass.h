#pragma once
// Added mass (Kirchhoff's equations): fluid that a body sets in motion has the energy 1/2 u . M_a u with u = (v, omega), M_a
// constant in body axes, and the momenta (P, L) = M_a u in world axes. From P' and L' + v x P, which are what the body exerts on
// it,
//   force on the body = -M_a u' + (M_a (omega x v, 0) - (omega x P, omega x L + v x P)):
// the first part is added to the mass, the second is gyroscopic. Both together do no work but on that energy.
#include "dynamics/kinematics.h"

namespace rotule {

inline Mat6 added_mass_in_world(const Model& model, int body, const Mat3& R) {
  Mat6 turn = Mat6::Zero();
  turn.topLeftCorner<3, 3>() = turn.bottomRightCorner<3, 3>() = R;
  return turn * model.added_mass[body] * turn.transpose();
}

/// What the fluid's momentum does to a body that moves by u, beyond -M_a u'.
inline Vec6 gyroscopic_of(const Mat6& mass, const Vec3& v, const Vec3& omega) {
  Vec6 u, out;
  u << v, omega;
  const Vec6 momentum = mass * u;
  const Vec3 P = momentum.head<3>(), L = momentum.tail<3>();
  out << -omega.cross(P), -omega.cross(L) - v.cross(P);
  out += mass.leftCols<3>() * omega.cross(v);
  return out;
}

inline Vec6 added_gyroscopic(const Model& model, int body, const Mat3& R, const Vec6& u) {
  return gyroscopic_of(added_mass_in_world(model, body, R), u.head<3>(), u.tail<3>());
}

/// a df/du + b df/dq of the gyroscopic part, for the body's six motions; v and omega stay while it turns.
Mat6 added_gyroscopic_derivative(const Mat6& mass, const Vec6& u, double a, double b);

/// d(M_a x)/dq for a fixed x: columns of translations are zero.
inline Mat6 turning_of(const Mat6& mass, const Vec6& x) {
  Mat6 out = Mat6::Zero();
  const Vec6 y = mass * x;
  // M_a turns as R M R^T: d(M x) = phi x (M x) - M (phi x x), on both halves.
  out.topRightCorner<3, 3>() =
      -skew(y.head<3>()) + mass.topLeftCorner<3, 3>() * skew(x.head<3>()) + mass.topRightCorner<3, 3>() * skew(x.tail<3>());
  out.bottomRightCorner<3, 3>() =
      -skew(y.tail<3>()) + mass.bottomLeftCorner<3, 3>() * skew(x.head<3>()) + mass.bottomRightCorner<3, 3>() * skew(x.tail<3>());
  return out;
}

/// Twice the kinetic energy of the fluid that the body moves.
inline double twice_added_energy(const Model& model, int body, const Quat& theta, const Vec6& u) {
  Vec6 in_body;
  in_body << theta.conjugate() * Vec3(u.head<3>()), theta.conjugate() * Vec3(u.tail<3>());
  return in_body.dot(model.added_mass[body] * in_body);
}

}  // namespace rotule
