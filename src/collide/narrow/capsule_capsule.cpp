#include "collide/narrow/capsule_capsule.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/closed_forms.h"

namespace rotule {
namespace {

constexpr double alongside = 0.1;  // sine squared of the angle up to which the ends of a shared stretch are given

Point3<double> as_point(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

/// Where the cores meet no distance tells the direction: normal to both, or to the one that has a direction, towards B.
Vec3 crossing_normal(const Convex& a, const Vec3& d, const Convex& b, const Vec3& e, const Vec3& towards) {
  const Vec3 both = d.cross(e);
  const bool crossing = a.kind == Convex::Kind::capsule && b.kind == Convex::Kind::capsule && both.norm() > 1e-9;
  const Vec3 normal = crossing ? Vec3(both.normalized()) : any_normal_to(a.kind == Convex::Kind::capsule ? d : e);
  return normal.dot(towards) < 0 ? Vec3(-normal) : normal;
}

/// From a place near the axis c + t d, |t| <= l, along the unit vector n to the surface at a distance r of it: on the side, or on
/// the ball at an end. False where n passes beside.
bool on_capsule(const Vec3& c, const Vec3& d, double l, double r, const Vec3& place, const Vec3& n, Vec3& out) {
  const Vec3 from = place - c, across = from - d.dot(from) * d, up = n - d.dot(n) * d;
  const auto root = [&](double a, double b, double rest) {
    const double square = b * b - a * rest;
    if (!(a > 0.5) || square < 0) return false;
    out = place + (std::sqrt(square) - b) / a * n;
    return true;
  };
  if (!root(up.squaredNorm(), up.dot(across), across.squaredNorm() - r * r)) return false;
  const double along = d.dot(out - c);
  if (std::abs(along) <= l) return true;
  const Vec3 from_end = from - std::copysign(l, along) * d;
  return root(1, n.dot(from_end), from_end.squaredNorm() - r * r);
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

  // Side by side: the ends of the stretch of A's axis that B lies along. Axes that cross in the view along n leave room between
  // the sides there, so both points are on one line along n: between the axes, nearer to the thinner one.
  const double c = d.dot(e);
  if (l > 0 && m > 0 && 1 - c * c < alongside && std::abs(n.dot(d)) < 0.3) {
    const double middle = d.dot(between), half = m * std::abs(c), side = std::copysign(1.0, c);
    const double low = std::max(-l, middle - half), high = std::min(l, middle + half);
    if (high - low > 1e-3 * std::min(l, m)) {
      double least = infinity;
      for (int end = 0; end < 2; ++end) {
        const double along = end == 0 ? low : high, other = std::clamp((along - middle) / c, -m, m);
        const Vec3 p = X_WA.p + along * d, q = X_WB.p + other * e, offset = q - p, across = offset - n.dot(offset) * n;
        const Vec3 place = p + a.radius / radii * across;
        Vec3 on_a, on_b;
        if (!on_capsule(X_WA.p, d, l, a.radius, place, n, on_a) || !on_capsule(X_WB.p, e, m, b.radius, place, -n, on_b)) continue;
        // Named by whose end it is.
        const bool ends_a = std::abs(along) >= l;
        const bool upper = ends_a ? end == 1 : (end == 1) == (side > 0);
        add(on_a, on_b, (ends_a ? 2u : 4u) + (upper ? 1u : 0u), out);
        least = std::min(least, out.points[out.count - 1].gap);
        if (out.points[out.count - 1].gap > margin) --out.count;
      }
      // Bent towards each other by less than can be told: these two are the contact.
      if (out.count > 0 && least <= distance - radii + 1e-9 * (l + m)) return;
      // Of an end and the deepest point at the same place the latter stays.
      const Vec3 on_a = X_WA.p + s * d + rim_a;
      for (int k = out.count - 1; k >= 0; --k)
        if ((out.points[k].on_a - on_a).squaredNorm() < 1e-6 * (high - low) * (high - low))
          out.points[k] = out.points[--out.count];
    }
  }
  // The gap itself, not that of rounded points far from the origin.
  add(X_WA.p + s * d + rim_a, X_WB.p + t * e - rim_b, 1, out);
  out.points[out.count - 1].gap = distance - radii;
}

}  // namespace rotule
