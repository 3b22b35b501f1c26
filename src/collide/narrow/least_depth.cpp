#include "collide/narrow/least_depth.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rotule {

bool is_least(Difference& difference, const StationaryDirection& minimum) {
  const Vec3 &t = minimum.first, &u = minimum.second, &n = minimum.normal;
  const double depth = minimum.height;
  if (t.isZero()) return false;
  const Vec3 top = minimum.on_a - minimum.on_b, bottom = difference.support(-n);
  const double scale = std::max(top.cwiseAbs().maxCoeff(), bottom.cwiseAbs().maxCoeff());
  const double least = depth - slack_below(depth, scale), angle = near_angle(depth, scale);
  if (!(least > 0)) return false;
  const double turn = n.dot(t.cross(u)) > 0 ? 1 : -1;
  const std::array<Vec3, 4> tangent{t, turn * u, -t, -turn * u};
  std::array<Vec3, 4> inner, outer;
  for (int k = 0; k < 4; ++k) {
    inner[k] = difference.support(n + angle * tangent[k]);
    outer[k] = difference.support(n + 0.3 * tangent[k]);
  }
  bool any = false;
  const auto far = [&](const Vec3& p, const Vec3& q, const Vec3& r) {
    if (p == q || q == r || r == p) return true;  // no triangle
    any = true;
    const Vec3 normal = (q - p).cross(r - p);
    const double offset = normal.dot(p);
    return offset > 0 && offset * offset >= least * least * normal.squaredNorm();
  };
  for (int k = 0; k < 4; ++k) {
    const int next = (k + 1) % 4;
    const Vec3 &p = inner[k], &q = inner[next], &r = outer[k], &s = outer[next];
    if (!far(top, p, q) || !far(r, bottom, s)) return false;
    // Either diagonal will do.
    if (!(far(p, r, s) && far(p, s, q)) && !(far(p, r, q) && far(q, r, s))) return false;
  }
  return any;
}

DepthNear depth_near(Difference& difference, const Vec3& hint) {
  // Three support points around tell what the surface is like.
  constexpr double apart = 0.02;
  const Vec3 t = any_normal_to(hint), u = hint.cross(t);
  Simplex around;
  for (const auto& [x, y] : {std::pair{1.0, 0.0}, std::pair{-0.5, 0.866}, std::pair{-0.5, -0.866}}) {
    difference.support(hint + apart * (x * t + y * u));
    around.add(difference.on_a, difference.on_b);
  }
  DepthNear out;
  out.found = stationary_direction(difference.a, difference.b, difference.X_AB, around, hint, infinity, out.minimum) &&
              out.minimum.height > 0;
  out.proven = out.found && is_least(difference, out.minimum);
  return out;
}

}  // namespace rotule
