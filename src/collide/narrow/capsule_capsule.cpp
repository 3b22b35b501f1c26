#include "collide/narrow/capsule_capsule.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/closed_forms.h"

namespace rotule {
namespace {

constexpr double alongside = 0.05 * 0.05;  // sine squared of the angle up to which two points are given

Point3<double> as_point(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

/// Where the cores meet no distance tells the direction: normal to both, or to the one that has a direction, towards B.
Vec3 crossing_normal(const Convex& a, const Vec3& d, const Convex& b, const Vec3& e, const Vec3& towards) {
  const Vec3 both = d.cross(e);
  const bool crossing = a.kind == Convex::Kind::capsule && b.kind == Convex::Kind::capsule && both.norm() > 1e-9;
  const Vec3 normal = crossing ? Vec3(both.normalized()) : any_normal_to(a.kind == Convex::Kind::capsule ? d : e);
  return normal.dot(towards) < 0 ? Vec3(-normal) : normal;
}

void add(const Vec3& on_a, const Vec3& on_b, std::uint32_t feature, Manifold& out) {
  out.points[out.count++] = {on_a, on_b, out.normal.dot(on_b - on_a), feature};
}

}  // namespace

void capsule_capsule(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                     std::vector<Manifold>& found) {
  const Vec3 d = X_WA.R.col(2), e = X_WB.R.col(2), between = X_WB.p - X_WA.p;
  const double l = a.size.z(), m = b.size.z(), radii = a.radius + b.radius;
  double s = 0, t = 0;
  if (l > 0 && m > 0) {
    const NearestOnSegments<double> nearest = nearest_on_segments<double>(as_point(-between), as_point(d), l, as_point(e), m);
    s = nearest.s, t = nearest.t;
  } else if (l > 0) {
    s = clamped(d.dot(between), -l, l);
  } else if (m > 0) {
    t = clamped(-e.dot(between), -m, m);
  }
  const Vec3 apart = between + t * e - s * d;
  const double square = apart.squaredNorm(), limit = margin + radii;
  if (square > limit * limit) return;
  Manifold& out = found.emplace_back();
  const double distance = std::sqrt(square);
  out.normal = distance > 1e-12 * (l + m + radii) ? Vec3(apart / distance) : crossing_normal(a, d, b, e, between);
  out.count = 0;
  const Vec3& n = out.normal;
  const Vec3 rim_a = a.radius * n, rim_b = b.radius * n;

  // Side by side: the ends of the stretch of A's axis that B lies along.
  const double c = d.dot(e);
  if (l > 0 && m > 0 && 1 - c * c < alongside && std::abs(n.dot(d)) < 0.05) {
    const double middle = d.dot(between), half = m * std::abs(c), side = std::copysign(1.0, c);
    const double low = std::max(-l, middle - half), high = std::min(l, middle + half);
    if (high - low > 1e-3 * std::min(l, m)) {
      // Straight out from each axis, so that the points are on the sides.
      const Vec3 out_a = a.radius * (n - n.dot(d) * d).normalized(), out_b = b.radius * (n - n.dot(e) * e).normalized();
      const Vec3 q = X_WB.p - out_b;
      double least = infinity;
      for (int end = 0; end < 2; ++end) {
        const double along = end == 0 ? low : high, other = std::clamp((along - middle) / c, -m, m);
        // Named by whose end it is.
        const bool ends_a = std::abs(along) >= l;
        const bool upper = ends_a ? end == 1 : (end == 1) == (side > 0);
        add(X_WA.p + out_a + along * d, q + other * e, (ends_a ? 2u : 4u) + (upper ? 1u : 0u), out);
        least = std::min(least, out.points[out.count - 1].gap);
        if (out.points[out.count - 1].gap > margin) --out.count;
      }
      // Bent towards each other by less than can be told: these two are the contact.
      if (out.count > 0 && least <= distance - radii + 1e-7 * (l + m)) return;
      if (out.count == 2) {
        // The deepest point takes the place of the nearer end.
        const Vec3 on_a = X_WA.p + s * d + rim_a;
        const int k = (out.points[0].on_a - on_a).squaredNorm() < (out.points[1].on_a - on_a).squaredNorm() ? 0 : 1;
        if (k == 0) out.points[0] = out.points[1];
        out.count = 1;
      }
    }
  }
  // The gap itself, not that of rounded points far from the origin.
  add(X_WA.p + s * d + rim_a, X_WB.p + t * e - rim_b, 1, out);
  out.points[out.count - 1].gap = distance - radii;
}

}  // namespace rotule
