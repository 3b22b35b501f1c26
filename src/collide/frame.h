#pragma once
// A rigid frame with its rotation as a matrix, for the many points that one pair of shapes turns: x_outer = p + R x_inner.
#include <rotule/types.h>

namespace rotule {

struct Frame {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();

  Frame() = default;
  Frame(const Mat3& rotation, const Vec3& position) : R(rotation), p(position) {}
  explicit Frame(const Pose& pose) : R(pose.orientation.toRotationMatrix()), p(pose.position) {}

  Vec3 operator*(const Vec3& x) const { return p + R * x; }
  [[nodiscard]] Vec3 to_local(const Vec3& x) const { return R.transpose() * (x - p); }
  [[nodiscard]] Frame inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
};

inline Frame operator*(const Frame& a, const Frame& b) { return {a.R * b.R, a * b.p}; }

/// B as seen from A. The positions are subtracted first: nothing is lost far from the origin.
inline Frame relative(const Frame& a, const Frame& b) { return {a.R.transpose() * b.R, a.R.transpose() * (b.p - a.p)}; }

/// A unit vector at right angles to the unit vector n, without a jump except where n passes a coordinate plane's diagonal.
inline Vec3 any_normal_to(const Vec3& n) {
  int least = 0;
  n.cwiseAbs().minCoeff(&least);
  return n.cross(Vec3::Unit(least)).normalized();
}

}  // namespace rotule
