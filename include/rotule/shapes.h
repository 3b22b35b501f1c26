#pragma once
// Shapes as values. Lengths in metres, in the body's frame; `Box` is given by its full edge lengths.
#include <rotule/fields.h>
#include <rotule/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
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

/// How a closed mesh is cut into convex hulls (meshes.h).
struct DecompositionSettings {
  static constexpr std::string_view name = "convex_parts";
  static constexpr std::string_view summary = "a closed mesh as convex hulls, by cuts that leave the least volume of hulls";
  int max_hulls = 32;
  double max_concavity = 0.03;
  int max_vertices = 64;
  int resolution = 9;  // odd: the middle is tried

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"max_hulls", "", "most hulls; goes before max_concavity", 1, 1024}, s.max_hulls);
    visit(Field{"max_concavity", "", "how far a hull may stand out of the mesh, over the diagonal of the mesh's box", 0.002, 1},
          s.max_concavity);
    visit(Field{"max_vertices", "", "most vertices of a hull", 4, 4096}, s.max_vertices);
    visit(Field{"resolution", "", "planes tried per axis, and notches tried, for each cut", 1, 256}, s.resolution);
  }
};

/// A closed surface; triangles counter-clockwise seen from outside. Fixed and as it is, it touches convex shapes from its front.
/// With `convex_parts` it touches everything, as convex hulls that cover it; a mesh that moves is cut so in any case, where
/// contacts are on. Mass, centre, inertia and pictures are those of the mesh itself either way.
struct TriangleMesh {
  std::vector<Vec3> vertices = {};
  std::vector<std::array<int, 3>> triangles = {};
  std::string file = {};  // where they came from (`read_mesh`); scene files name it then instead of listing them
  double scale = 1;       // metres per unit of that file; `vertices` are in metres already
  std::optional<DecompositionSettings> convex_parts = {};
  std::vector<ConvexHull> hulls = {};  // what `convex_parts` came to; where there are none yet, a world finds them
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
