#include "model/support.h"

#include <rotule/error.h>

#include <cmath>

namespace rotule {
namespace {

Vec3 farthest(const std::vector<Vec3>& points, const Vec3& d, const char* shape) {
  if (points.empty()) throw Error(shape, "has no points");
  const Vec3* best = &points.front();
  for (const Vec3& p : points)
    if (d.dot(p) > d.dot(*best)) best = &p;
  return *best;
}

/// The point of the circle of radius r about z, in the plane z, that is farthest along d.
Vec3 on_circle(double r, double z, const Vec3& d) {
  const double length = std::hypot(d.x(), d.y());
  return length > 0 ? Vec3(r * d.x() / length, r * d.y() / length, z) : Vec3(0, 0, z);
}

struct Support {
  const Vec3& d;

  Vec3 operator()(std::monostate) const { return Vec3::Zero(); }
  Vec3 operator()(const Plane&) const {
    throw Error("plane", "has no farthest point; only bodies of finite size can meet a wall");
  }
  Vec3 operator()(const Sphere& s) const { return s.radius * d.normalized(); }
  Vec3 operator()(const Box& s) const {
    return 0.5 * Vec3(std::copysign(s.size.x(), d.x()), std::copysign(s.size.y(), d.y()), std::copysign(s.size.z(), d.z()));
  }
  Vec3 operator()(const Cylinder& s) const { return on_circle(s.radius, std::copysign(s.height / 2, d.z()), d); }
  Vec3 operator()(const Capsule& s) const { return Vec3(0, 0, std::copysign(s.length / 2, d.z())) + s.radius * d.normalized(); }
  Vec3 operator()(const Cone& s) const {
    const Vec3 rim = on_circle(s.radius, 0, d), apex(0, 0, s.height);
    return d.dot(apex) > d.dot(rim) ? apex : rim;
  }
  Vec3 operator()(const Ellipsoid& s) const {
    const Vec3 scaled = s.radii.cwiseProduct(d);
    return s.radii.cwiseProduct(scaled) / scaled.norm();
  }
  Vec3 operator()(const HeightField&) const {
    throw Error("height field", "has no farthest point; only bodies of finite size can meet a wall");
  }
  Vec3 operator()(const ConvexHull& s) const { return farthest(s.points, d, "convex hull"); }
  Vec3 operator()(const TriangleMesh& s) const { return farthest(s.vertices, d, "triangle mesh"); }
  Vec3 operator()(const Compound& s) const {
    if (s.parts.empty()) throw Error("compound", "has no parts");
    Vec3 best = Vec3::Zero();
    double distance = -infinity;
    for (const CompoundPart& part : s.parts) {
      const Vec3 x = part.position + part.orientation * support(part.shape, part.orientation.conjugate() * d);
      if (d.dot(x) > distance) {
        distance = d.dot(x);
        best = x;
      }
    }
    return best;
  }
};

}  // namespace

Vec3 support(const Shape& shape, const Vec3& direction) { return std::visit(Support{direction}, shape); }

}  // namespace rotule
