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

/// Spheres and capsules.
Separation segments(const Convex& a, const Convex& b, const Frame& X, double margin) {
  const Vec3 d = Vec3::UnitZ(), e = X.R.col(2), r = -X.p;
  const auto as_point = [](const Vec3& v) { return Point3<double>{v.x(), v.y(), v.z()}; };
  const auto [s, t] = nearest_on_segments<double>(as_point(r), as_point(d), a.size.z(), as_point(e), b.size.z());
  const Vec3 on_a = s * d, on_b = X.p + t * e, apart = on_b - on_a;
  const double distance = apart.norm(), size = a.size.z() + b.size.z() + X.p.norm();
  if (distance - a.radius - b.radius > margin) return {false, apart / distance, distance - a.radius - b.radius};
  if (distance > 1e-12 * size && distance > 0) return rounded(on_a, on_b, apart / distance, distance, a, b);
  // Cores that cross: out along what is normal to both; along any normal where they are parallel or points.
  Vec3 normal = d.cross(e);
  if (a.kind == Kind::capsule && b.kind == Kind::capsule && normal.norm() > 1e-9) {
    normal.normalize();
  } else {
    normal = any_normal_to(a.kind == Kind::capsule ? d : e);
  }
  if (normal.dot(X.p) < 0) normal = -normal;
  return rounded(on_a, on_b, normal, 0, a, b);
}

/// A is a sphere, B a box.
Separation sphere_box(const Convex& a, const Convex& b, const Frame& X, double margin) {
  const Vec3 c = X.R.transpose() * -X.p;  // the sphere's centre, seen from the box
  const Vec3 q = c.cwiseMax(-b.size).cwiseMin(b.size), apart = q - c;
  const double distance = apart.norm();
  if (distance > 0) {
    const Vec3 normal = X.R * (apart / distance);
    if (distance - a.radius - b.radius > margin) return {false, normal, distance - a.radius - b.radius};
    return rounded(Vec3::Zero(), X * q, normal, distance, a, b);
  }
  // The centre is inside: out through the nearest face.
  int k = 0;
  const double depth = (b.size - c.cwiseAbs()).minCoeff(&k);
  const double side = std::copysign(1.0, c[k]);
  Vec3 face = c;
  face[k] = side * b.size[k];
  return rounded(Vec3::Zero(), X * face, -side * X.R.col(k), -depth, a, b);
}

Separation swapped(const Separation& s, const Frame& X_AB) {
  return {s.near, -(X_AB.R * s.normal), s.gap, X_AB * s.on_b, X_AB * s.on_a};
}

}  // namespace

Separation general_separation(const Convex& a, const Convex& b, const Frame& X, double margin, PairMemory& memory) {
  const double radii = a.radius + b.radius;
  Vec3 axis = memory.axis;
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
      break;
  }
  CoreDepth deep = core_depth(a, b, X, d.simplex);
  // Chords of curved surfaces end a little inside: out to the planes that bound the cores along the normal.
  deep.on_a += deep.normal * deep.normal.dot(core_support(a, deep.normal) - deep.on_a);
  deep.on_b += deep.normal * deep.normal.dot(X * core_support(b, -(X.R.transpose() * deep.normal)) - deep.on_b);
  memory.axis = deep.normal;
  return rounded(deep.on_a, deep.on_b, deep.normal, -deep.depth, a, b);
}

Separation separation(const Convex& a, const Convex& b, const Frame& X, double margin, PairMemory& memory) {
  if (is_segment(a) && is_segment(b)) return segments(a, b, X, margin);
  if (a.kind == Kind::sphere && b.kind == Kind::box) return sphere_box(a, b, X, margin);
  if (a.kind == Kind::box && b.kind == Kind::sphere) return swapped(sphere_box(b, a, X.inverse(), margin), X);
  return general_separation(a, b, X, margin, memory);
}

}  // namespace rotule
