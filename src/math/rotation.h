#pragma once
// Rotations as a group. A small motion sigma (a rotation vector in world axes) moves q to exp(sigma) q.
//
// Along q(t) = exp(sigma(t)) q0 with angular velocity omega:  d(sigma)/dt = dexp^-1_sigma(omega)
//   = omega - 1/2 sigma x omega + c(|sigma|) sigma x (sigma x omega),  c(a) = (1 - (a/2) cot(a/2)) / a^2.
// In these coordinates a rotation is integrated like any vector, and no method loses its order (Munthe-Kaas 1999;
// Iserles et al., Acta Numerica 2000). Valid for |sigma| < 2 pi: far more than one step ever turns.
#include <rotule/types.h>

#include <cmath>

namespace rotule {

inline Mat3 skew(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// The rotation by |sigma| about sigma.
inline Quat exp_rotation(const Vec3& sigma) {
  const double angle_squared = sigma.squaredNorm();
  double w, s;  // cos(a/2), sin(a/2)/a
  if (angle_squared < 1e-4) {
    // Series to a^6: exact to rounding below a = 0.01, where sin(a/2)/a would divide by almost nothing.
    const double x = angle_squared / 4;
    w = 1 - x / 2 * (1 - x / 12 * (1 - x / 30));
    s = 0.5 * (1 - x / 6 * (1 - x / 20 * (1 - x / 42)));
  } else {
    const double angle = std::sqrt(angle_squared);
    w = std::cos(angle / 2);
    s = std::sin(angle / 2) / angle;
  }
  return {w, s * sigma.x(), s * sigma.y(), s * sigma.z()};
}

/// The shortest rotation that takes the direction of `from` to that of `to`; where they are opposite, about some perpendicular
/// axis.
inline Quat rotation_between(const Vec3& from, const Vec3& to) {
  const Vec3 a = from.normalized(), b = to.normalized();
  const double cosine = b.dot(a);
  if (cosine < -0.999) {
    // 1 + cosine has lost its digits: half a turn about the same axis, made perpendicular, and the little that is missing.
    Vec3 axis = a.cross(b);
    if (axis.norm() < 1e-15) {
      int least = 0;
      a.cwiseAbs().minCoeff(&least);
      axis = a.cross(Vec3::Unit(least));
    }
    axis.normalize();
    axis = (axis - axis.dot(a) * a).normalized();
    return rotation_between(-a, b) * Quat(0, axis.x(), axis.y(), axis.z());
  }
  const double s = std::sqrt(2 * (1 + cosine));  // 2 cos(angle / 2)
  const Vec3 v = a.cross(b) / s;
  return {0.5 * s, v.x(), v.y(), v.z()};
}

/// The rotation vector of a unit quaternion, of length at most pi.
inline Vec3 log_rotation(const Quat& q) {
  const double sign = q.w() < 0 ? -1.0 : 1.0;
  const Vec3 v = sign * q.vec();
  const double s = v.norm();
  if (s < 1e-8) return 2 * v;
  return 2 * std::atan2(s, sign * q.w()) / s * v;
}

inline Vec3 dexp_inverse(const Vec3& sigma, const Vec3& omega) {
  const double x = sigma.squaredNorm();
  double c;
  if (x < 0.01) {
    // 1/12 + a^2/720 + a^4/30240 + a^6/1209600: the next term is below rounding for a < 0.1.
    c = 1.0 / 12 + x * (1.0 / 720 + x * (1.0 / 30240 + x / 1209600));
  } else {
    const double a = std::sqrt(x);
    c = (1 - 0.5 * a / std::tan(0.5 * a)) / x;
  }
  const Vec3 s = sigma.cross(omega);
  return omega - 0.5 * s + c * sigma.cross(s);
}

/// exp(sigma) q, normalised so that rounding never adds up.
inline Quat turn(const Quat& q, const Vec3& sigma) { return (exp_rotation(sigma) * q).normalized(); }

}  // namespace rotule
