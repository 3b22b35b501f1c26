#pragma once
// A convex shape as a small value for the narrow phase: a core and a rounding radius; the shape is all points within `radius` of
// the core (their Minkowski sum with a ball). A sphere is a rounded point, a capsule a rounded segment; the others may be rounded
// too. Distances are found between cores, so that shallow contact of rounded shapes never needs a penetration query.
#include <rotule/shapes.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "collide/aabb.h"
#include "collide/frame.h"
#include "collide/shape/hull.h"

namespace rotule {

struct Convex {
  enum class Kind : std::uint8_t { sphere, capsule, box, cylinder, cone, ellipsoid, hull, triangle };
  Kind kind = Kind::sphere;
  double radius = 0;              // of the rounding
  Vec3 size = Vec3::Zero();       // half extents along x, y, z; a cone: (base radius, base radius, height)
  const Hull* hull = nullptr;     // not owned
  const Vec3* corners = nullptr;  // three of a triangle, not owned

  static Convex sphere(double radius) { return {Kind::sphere, radius}; }
  static Convex capsule(double radius, double length) { return {Kind::capsule, radius, {0, 0, length / 2}}; }
  static Convex box(const Vec3& edges, double rounding = 0) { return {Kind::box, rounding, edges / 2}; }
  static Convex cylinder(double radius, double height) { return {Kind::cylinder, 0, {radius, radius, height / 2}}; }
  static Convex cone(double radius, double height) { return {Kind::cone, 0, {radius, radius, height}}; }
  static Convex ellipsoid(const Vec3& radii) { return {Kind::ellipsoid, 0, radii}; }
  static Convex polyhedron(const Hull& hull, double rounding = 0) { return {Kind::hull, rounding, Vec3::Zero(), &hull}; }
  static Convex triangle(const Vec3* corners) { return {Kind::triangle, 0, Vec3::Zero(), nullptr, corners}; }
};

/// The point of the core farthest along d, whose length does not matter.
inline Vec3 core_support(const Convex& s, const Vec3& d) {
  switch (s.kind) {
    case Convex::Kind::sphere:
      return Vec3::Zero();
    case Convex::Kind::capsule:
      return {0, 0, std::copysign(s.size.z(), d.z())};
    case Convex::Kind::box:
      return {std::copysign(s.size.x(), d.x()), std::copysign(s.size.y(), d.y()), std::copysign(s.size.z(), d.z())};
    case Convex::Kind::cylinder: {
      const double across = std::sqrt(d.x() * d.x() + d.y() * d.y()), k = across > 0 ? s.size.x() / across : 0;
      return {k * d.x(), k * d.y(), std::copysign(s.size.z(), d.z())};
    }
    case Convex::Kind::cone: {
      const double across = std::sqrt(d.x() * d.x() + d.y() * d.y());
      if (d.z() * s.size.z() > s.size.x() * across) return {0, 0, s.size.z()};
      const double k = across > 0 ? s.size.x() / across : 0;
      return {k * d.x(), k * d.y(), 0};
    }
    case Convex::Kind::ellipsoid: {
      const Vec3 scaled = s.size.cwiseProduct(d);
      const double length = scaled.norm();
      return length > 0 ? Vec3(s.size.cwiseProduct(scaled) / length) : Vec3(0, 0, s.size.z());
    }
    case Convex::Kind::hull:
      return s.hull->vertices[s.hull->support_vertex(d)];
    case Convex::Kind::triangle: {
      const double a = d.dot(s.corners[0]), b = d.dot(s.corners[1]), c = d.dot(s.corners[2]);
      return a >= b ? (a >= c ? s.corners[0] : s.corners[2]) : (b >= c ? s.corners[1] : s.corners[2]);
    }
  }
  return Vec3::Zero();
}

/// The point of the shape farthest along the unit vector d.
inline Vec3 support(const Convex& s, const Vec3& d) { return core_support(s, d) + s.radius * d; }

/// Calls visit(corner) for the corners of the core; false, and nothing done, where it is curved or has very many.
template <class Visit>
bool for_each_corner(const Convex& s, Visit&& visit) {
  constexpr std::size_t very_many = 64;
  switch (s.kind) {
    case Convex::Kind::sphere:
      visit(Vec3(Vec3::Zero()));
      return true;
    case Convex::Kind::capsule:
      for (const double end : {-1.0, 1.0}) visit(Vec3(0, 0, end * s.size.z()));
      return true;
    case Convex::Kind::box:
      for (int k = 0; k < 8; ++k)
        visit(Vec3((k & 1) != 0 ? s.size.x() : -s.size.x(), (k & 2) != 0 ? s.size.y() : -s.size.y(),
                   (k & 4) != 0 ? s.size.z() : -s.size.z()));
      return true;
    case Convex::Kind::hull:
      if (s.hull->vertices.size() > very_many) return false;
      for (const Vec3& vertex : s.hull->vertices) visit(vertex);
      return true;
    default:
      return false;
  }
}

/// A point well inside.
Vec3 center(const Convex& s);

/// The largest distance of a point of the shape from `from`, or a little more.
double reach(const Convex& s, const Vec3& from);

Aabb bounds(const Convex& s, const Frame& X);

/// The part of the surface that faces along n: a point, a straight line or a plane polygon, all of it on the surface. Curved
/// caps come as polygons inscribed in their rim.
struct SurfacePatch {
  static constexpr int capacity = 32;
  int count = 0;
  std::array<Vec3, capacity> points;           // a polygon runs counter-clockwise about `normal`
  std::array<std::uint16_t, capacity> labels;  // which corner: the same from step to step
  Vec3 normal = Vec3::Zero();                  // outward, of a polygon

  void add(const Vec3& x, int label) {
    points[count] = x;
    labels[count++] = std::uint16_t(label);
  }
};

void surface_patch(const Convex& s, const Vec3& n, SurfacePatch& out);

/// The edge of a polyhedron that n is most nearly normal to, at the corner farthest along n: where n points between two faces the
/// shape may lie on it, whichever face is nearer to n. None where a face looks along n, as that one has all there is.
struct SurfaceEdge {
  bool found = false;
  Vec3 from, to;
  int label_from = 0, label_to = 0;  // of the corners, as those of a patch
};

SurfaceEdge surface_edge(const Convex& s, const Vec3& n);

}  // namespace rotule
