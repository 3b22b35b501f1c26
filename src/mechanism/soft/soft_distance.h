#pragma once
// Nearest points of a point and a triangle, and of two segments, by their weights (C. Ericson, "Real-time collision detection",
// 2005, chapter 5). Elements without extent are taken as what is left of them.
#include <rotule/types.h>

#include <algorithm>
#include <array>

namespace rotule {

/// Weights of the point of a segment nearest to x.
inline std::array<double, 2> nearest_on_segment(const Vec3& x, const Vec3& a, const Vec3& b) {
  const Vec3 d = b - a;
  const double length = d.squaredNorm();
  const double t = length > 0 ? std::clamp(d.dot(x - a) / length, 0.0, 1.0) : 0.0;
  return {1 - t, t};
}

/// Weights of the point of a triangle nearest to x.
inline std::array<double, 3> nearest_on_triangle(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, normal = ab.cross(ac);
  const double area = normal.squaredNorm();
  if (area > 0) {
    const double v = normal.dot(ab.cross(x - a)), w = normal.dot((x - a).cross(ac));
    // v and w are areas beside ab and ac: the weights of c and b.
    const double of_c = v / area, of_b = w / area, of_a = 1 - of_b - of_c;
    if (of_a >= 0 && of_b >= 0 && of_c >= 0) return {of_a, of_b, of_c};
  }
  const auto on_ab = nearest_on_segment(x, a, b), on_bc = nearest_on_segment(x, b, c), on_ca = nearest_on_segment(x, c, a);
  const double d_ab = (on_ab[0] * a + on_ab[1] * b - x).squaredNorm(), d_bc = (on_bc[0] * b + on_bc[1] * c - x).squaredNorm(),
               d_ca = (on_ca[0] * c + on_ca[1] * a - x).squaredNorm();
  if (d_ab <= d_bc && d_ab <= d_ca) return {on_ab[0], on_ab[1], 0};
  if (d_bc <= d_ca) return {0, on_bc[0], on_bc[1]};
  return {on_ca[1], 0, on_ca[0]};
}

/// Weights of the nearest points of segments ab and cd.
inline std::array<double, 4> nearest_on_segments(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = d - c, r = a - c;
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), ur = u.dot(r), vr = v.dot(r);
  const double det = uu * vv - uv * uv;
  double s = det > 1e-12 * uu * vv ? std::clamp((uv * vr - ur * vv) / det, 0.0, 1.0) : 0.0;
  double t = vv > 0 ? (uv * s + vr) / vv : 0.0;
  if (t < 0 || t > 1) {
    t = std::clamp(t, 0.0, 1.0);
    s = uu > 0 ? std::clamp((uv * t - ur) / uu, 0.0, 1.0) : 0.0;
  }
  return {1 - s, s, 1 - t, t};
}

}  // namespace rotule
