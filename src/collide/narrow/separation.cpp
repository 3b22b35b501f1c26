#include "collide/narrow/separation.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/closed_forms.h"
#include "collide/narrow/epa.h"
#include "collide/narrow/gjk.h"

namespace rotule {
namespace {

using Kind = Convex::Kind;

bool is_segment(const Convex& s) { return s.kind == Kind::sphere || s.kind == Kind::capsule; }

/// From the nearest points of two cores at a distance that is not zero.
Separation rounded(const Vec3& on_a, const Vec3& on_b, const Vec3& normal, double distance, const Convex& a, const Convex& b) {
  return {true, normal, distance - a.radius - b.radius, on_a + a.radius * normal, on_b - b.radius * normal};
}

/// Spheres and capsules, whose cores lie about `between` apart along d and e.
Separation segments(const Convex& a, const Vec3& p, const Vec3& d, const Convex& b, const Vec3& q, const Vec3& e, double margin) {
  const double l = a.size.z(), m = b.size.z(), radii = a.radius + b.radius;
  const Vec3 between = q - p;
  double s = 0, t = 0;
  if (l > 0 && m > 0) {
    const auto as_point = [](const Vec3& v) { return Point3<double>{v.x(), v.y(), v.z()}; };
    const auto nearest = nearest_on_segments<double>(as_point(-between), as_point(d), l, as_point(e), m);
    s = nearest.s, t = nearest.t;
  } else if (l > 0) {
    s = clamped(d.dot(between), -l, l);
  } else if (m > 0) {
    t = clamped(-e.dot(between), -m, m);
  }
  const Vec3 apart = between + t * e - s * d;
  const double distance = apart.norm();
  if (distance - radii > margin) return {false, apart / distance, distance - radii};
  if (distance > 1e-12 * (l + m + radii)) return rounded(p + s * d, q + t * e, apart / distance, distance, a, b);
  // Cores that cross: out along what is normal to both; along any normal where they are parallel or points.
  Vec3 normal = d.cross(e);
  if (l > 0 && m > 0 && normal.norm() > 1e-9) {
    normal.normalize();
  } else {
    normal = any_normal_to(l > 0 ? d : e);
  }
  if (normal.dot(between) < 0) normal = -normal;
  return rounded(p + s * d, q + t * e, normal, 0, a, b);
}

/// The point of a core's surface nearest to a point c of its frame.
struct NearestOnCore {
  Vec3 point, outward;
  double distance;  // negative inside
};

NearestOnCore nearest_on_box(const Vec3& size, const Vec3& c) {
  const Vec3 q = c.cwiseMax(-size).cwiseMin(size), apart = c - q;
  const double distance = apart.norm();
  if (distance > 0) return {q, apart / distance, distance};
  // Inside: out through the nearest face.
  int k = 0;
  const double depth = (size - c.cwiseAbs()).minCoeff(&k), side = std::copysign(1.0, c[k]);
  Vec3 face = c;
  face[k] = side * size[k];
  return {face, side * Vec3::Unit(k), -depth};
}

NearestOnCore nearest_on_cylinder(const Vec3& size, const Vec3& c) {
  const double r = size.x(), h = size.z(), across = std::sqrt(c.x() * c.x() + c.y() * c.y());
  const Vec3 radial = across > 0 ? Vec3(c.x() / across, c.y() / across, 0) : Vec3::UnitX();
  const double beyond_side = across - r, beyond_end = std::abs(c.z()) - h, side = std::copysign(1.0, c.z());
  if (beyond_side > 0 && beyond_end > 0) {
    const double distance = std::sqrt(beyond_side * beyond_side + beyond_end * beyond_end);
    return {r * radial + Vec3(0, 0, side * h), (beyond_side * radial + Vec3(0, 0, side * beyond_end)) / distance, distance};
  }
  if (beyond_side > beyond_end) return {r * radial + Vec3(0, 0, c.z()), radial, beyond_side};
  return {{c.x(), c.y(), side * h}, {0, 0, side}, beyond_end};
}

bool has_nearest(const Convex& s) { return s.kind == Kind::box || s.kind == Kind::cylinder; }

/// A is a sphere about `at`, B a shape with a nearest point; X places it where the results are wanted.
Separation sphere_to(const Convex& a, const Vec3& at, const Convex& b, const Frame& X, double margin) {
  const Vec3 c = X.to_local(at);
  const NearestOnCore q = b.kind == Kind::box ? nearest_on_box(b.size, c) : nearest_on_cylinder(b.size, c);
  const Vec3 normal = -(X.R * q.outward);
  const double gap = q.distance - a.radius - b.radius;
  if (gap > margin) return {false, normal, gap};
  return rounded(at, at + q.distance * normal, normal, q.distance, a, b);
}

Separation swapped(const Separation& s) { return {s.near, -s.normal, s.gap, s.on_b, s.on_a}; }

/// Where there is a closed form, in any frame that both are placed in.
bool closed_form(const Convex& a, const Frame& X_A, const Convex& b, const Frame& X_B, double margin, Separation& out) {
  if (is_segment(a) && is_segment(b)) {
    out = segments(a, X_A.p, X_A.R.col(2), b, X_B.p, X_B.R.col(2), margin);
    return true;
  }
  if (a.kind == Kind::sphere && has_nearest(b)) {
    out = sphere_to(a, X_A.p, b, X_B, margin);
    return true;
  }
  if (b.kind == Kind::sphere && has_nearest(a)) {
    out = swapped(sphere_to(b, X_B.p, a, X_A, margin));
    return true;
  }
  return false;
}

}  // namespace

Separation general_separation(const Convex& a, const Convex& b, const Frame& X, double margin, PairMemory& memory) {
  const double radii = a.radius + b.radius;
  Vec3 axis = memory.axis;
  DepthNear near;
  if (!axis.isZero() && has_curvature(a, b)) {
    // Where they were parted last time they may be again; else the depth may be found without a search.
    Difference difference{a, b, X};
    const double depth = axis.dot(difference.support(axis));
    if (-depth > margin + radii) return {false, axis, -depth - radii};
    if (depth > 0) near = depth_near(difference, axis);
  }
  CoreDepth deep{near.minimum.normal, near.minimum.height, near.minimum.on_a, near.minimum.on_b};
  if (!near.proven) {
    if (axis.isZero()) axis = X * center(b) - center(a);
    if (!(axis.squaredNorm() > 1e-200)) axis = Vec3::UnitZ();
    const CoreDistance d = core_distance(a, b, X, axis, margin + radii);
    memory.axis = d.normal;
    switch (d.status) {
      case CoreDistance::Status::beyond:
        return {false, d.normal, d.distance - radii};
      case CoreDistance::Status::apart:
        return rounded(d.on_a, d.on_b, d.normal, d.distance, a, b);
      case CoreDistance::Status::overlapping:
        deep = core_depth(a, b, X, d.simplex, near);
    }
  }
  // Chords of curved surfaces end a little inside: out to the planes that bound the cores along the normal.
  deep.on_a += deep.normal * deep.normal.dot(core_support(a, deep.normal) - deep.on_a);
  deep.on_b += deep.normal * deep.normal.dot(X * core_support(b, -(X.R.transpose() * deep.normal)) - deep.on_b);
  memory.axis = deep.normal;
  return rounded(deep.on_a, deep.on_b, deep.normal, -deep.depth, a, b);
}

Separation separation(const Convex& a, const Convex& b, const Frame& X, double margin, PairMemory& memory) {
  Separation out;
  if (closed_form(a, Frame{}, b, X, margin, out)) return out;
  return general_separation(a, b, X, margin, memory);
}

Separation separation_in_world(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                               PairMemory& memory) {
  Separation s;
  if (closed_form(a, X_WA, b, X_WB, margin, s)) return s;
  s = general_separation(a, b, relative(X_WA, X_WB), margin, memory);
  s.normal = X_WA.R * s.normal;
  if (s.near) s.on_a = X_WA * s.on_a, s.on_b = X_WA * s.on_b;
  return s;
}

}  // namespace rotule
