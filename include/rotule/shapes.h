#pragma once
// Shapes as values. Lengths in metres, in the body's frame; `Box` is given by its full edge lengths.
#include <rotule/types.h>

#include <array>
#include <variant>
#include <vector>

namespace rotule {

/// The half-space below z = 0 of its frame. Only for fixed bodies: it has no mass.
struct Plane {};

struct Sphere {
  double radius = 0.5;
};

struct Box {
  Vec3 size{1, 1, 1};
};

/// Round about z, centred: z runs from -height/2 to +height/2.
struct Cylinder {
  double radius = 0.5;
  double height = 1;
};

/// A cylinder of `length` along z with two half balls on its ends: the whole is length + 2 radius long.
struct Capsule {
  double radius = 0.5;
  double length = 1;
};

/// Base of `radius` in the plane z = 0, apex at z = height. Its centre of mass is at height / 4.
struct Cone {
  double radius = 0.5;
  double height = 1;
};

/// Half axes along x, y and z.
struct Ellipsoid {
  Vec3 radii{0.5, 0.5, 0.5};
};

/// The convex hull of the points.
struct ConvexHull {
  std::vector<Vec3> points = {};
};

/// A closed surface; triangles counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vec3> vertices = {};
  std::vector<std::array<int, 3>> triangles = {};
};

/// The ground below z = heights[row * columns + column] over x = column * spacing, y = row * spacing. Every cell is two triangles
/// that share the diagonal from its lowest corner (x, y) to its highest. Only for fixed bodies: it has no mass.
struct HeightField {
  int columns = 2;
  double spacing = 1;
  std::vector<double> heights = {};
};

struct CompoundPart;

/// Several shapes moving as one. Parts that overlap count twice in the mass.
struct Compound {
  std::vector<CompoundPart> parts;
};

/// `std::monostate` is a body without extent: a point mass.
using Shape = std::variant<std::monostate, Plane, Sphere, Box, Cylinder, Capsule, Cone, ConvexHull, TriangleMesh, Compound,
                           Ellipsoid, HeightField>;

/// One shape of a compound and where it sits in the body's frame. Its density relative to the others is `density`.
struct CompoundPart {
  Shape shape = {};
  Vec3 position = Vec3::Zero();
  Quat orientation = Quat::Identity();
  double density = 1;
};

}  // namespace rotule
