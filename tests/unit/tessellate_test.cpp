// Triangles of shapes: closed, outward, on the surface, and enclosing the exact volume in the limit.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <map>
#include <random>

#include "model/support.h"
#include "model/tessellate.h"

namespace rotule {
namespace {

struct Named {
  std::string name;
  Shape shape;
  bool round = false;
};

TriangleMesh tetrahedron() {
  return {.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, .triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
}

std::vector<Named> solids() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  ConvexHull hull;
  for (int i = 0; i < 40; ++i) hull.points.push_back(Vec3(normal(random), normal(random), normal(random)));
  Compound compound;
  compound.parts.push_back({.shape = Capsule{0.2, 0.7}, .position = {1, 2, 3}, .orientation = Quat(0.5, 0.5, 0.5, 0.5)});
  compound.parts.push_back({.shape = Box{{0.3, 0.4, 0.5}}, .position = {-1, 0, 0}});
  compound.parts.push_back({.shape = tetrahedron(), .position = {0, 0, -4}});
  return {{"sphere", Sphere{0.7}, true},
          {"box", Box{{1, 2, 3}}},
          {"cylinder", Cylinder{0.4, 2}, true},
          {"capsule", Capsule{0.3, 1.5}, true},
          {"cone", Cone{0.6, 1.1}, true},
          {"ellipsoid", Ellipsoid{{0.3, 0.8, 1.4}}, true},
          {"hull", hull},
          {"mesh", tetrahedron()},
          {"compound", compound, true}};
}

using Key = std::array<double, 3>;
Key key(const Vec3& v) { return {v.x() + 0.0, v.y() + 0.0, v.z() + 0.0}; }  // -0 is 0

TEST(Tessellate, EverySolidIsClosed) {
  for (const auto& [name, shape, round] : solids()) {
    const TriangleSurface surface = tessellate(shape);
    ASSERT_EQ(surface.vertices.size(), surface.normals.size()) << name;
    // Every edge is walked once in each direction.
    std::map<std::pair<Key, Key>, int> edges;
    for (const auto& triangle : surface.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const Key a = key(surface.vertices.at(static_cast<std::size_t>(triangle[k])));
        const Key b = key(surface.vertices.at(static_cast<std::size_t>(triangle[(k + 1) % 3])));
        EXPECT_NE(a, b) << name << " has a triangle without area";
        ++edges[{a, b}];
      }
    EXPECT_FALSE(edges.empty()) << name;
    for (const auto& [edge, count] : edges) {
      ASSERT_EQ(count, 1) << name;
      ASSERT_TRUE(edges.contains({edge.second, edge.first})) << name << " is open";
    }
  }
}

TEST(Tessellate, NormalsAreUnitAndPointOutward) {
  for (const auto& [name, shape, round] : solids()) {
    const TriangleSurface surface = tessellate(shape);
    for (const Vec3& normal : surface.normals) ASSERT_NEAR(normal.norm(), 1, 1e-12) << name;
    for (const auto& triangle : surface.triangles) {
      const auto at = [&](std::size_t k) { return static_cast<std::size_t>(triangle[k]); };
      const Vec3& a = surface.vertices[at(0)];
      const Vec3 face = (surface.vertices[at(1)] - a).cross(surface.vertices[at(2)] - a).normalized();
      for (std::size_t k = 0; k < 3; ++k) ASSERT_GT(face.dot(surface.normals[at(k)]), 0.9) << name;
    }
  }
}

// Of second order in the number of segments where the shape is round, exact where it is not; from below for convex shapes.
TEST(Tessellate, VolumeConvergesToTheExactOne) {
  for (const Named& solid : solids()) {
    const double exact = volume(solid.shape);
    const auto error = [&](int segments) { return exact - enclosed_volume(tessellate(solid.shape, {.segments = segments})); };
    if (!solid.round) {
      EXPECT_NEAR(error(8), 0, 1e-12 * exact) << solid.name;
      continue;
    }
    EXPECT_GT(error(32), 0) << solid.name;
    EXPECT_NEAR(error(32) / error(64), 4, 0.1) << solid.name;
    EXPECT_LT(error(256), 1e-3 * exact) << solid.name;
  }
}

// Vertices are on the surface: none is beyond the support function, and some vertex comes near to it in every direction.
TEST(Tessellate, AgreesWithTheSupportFunction) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (const auto& [name, shape, round] : solids()) {
    if (name == "compound" || name == "mesh") continue;
    const TriangleSurface surface = tessellate(shape, {.segments = 64});
    for (int trial = 0; trial < 50; ++trial) {
      const Vec3 d = Vec3(normal(random), normal(random), normal(random)).normalized();
      const double reach = d.dot(support(shape, d));
      double found = -infinity;
      for (const Vec3& v : surface.vertices) found = std::max(found, d.dot(v));
      EXPECT_LE(found, reach + 1e-12) << name;
      EXPECT_GT(found, reach - 0.01) << name;
    }
  }
}

TEST(Tessellate, OpenSurfacesLookUp) {
  const TriangleSurface plane = tessellate(Plane{}, {.plane_size = 8});
  EXPECT_EQ(plane.triangles.size(), 2u);
  for (const Vec3& v : plane.vertices) EXPECT_EQ(v.cwiseAbs(), Vec3(4, 4, 0));
  // The plane z = 1 + x / 2 - y as a height field: two triangles a cell, all with that plane's normal.
  HeightField field{.columns = 4, .spacing = 0.5, .heights = {}};
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) field.heights.push_back(1 + 0.25 * column - 0.5 * row);
  const TriangleSurface ground = tessellate(field);
  EXPECT_EQ(ground.triangles.size(), 12u);
  for (const Vec3& normal : ground.normals) EXPECT_LT((normal - Vec3(-0.5, 1, 1).normalized()).norm(), 1e-14);
  for (const auto& [a, b, c] : ground.triangles) {
    const auto at = [&](int i) { return ground.vertices[static_cast<std::size_t>(i)]; };
    EXPECT_LT(((at(b) - at(a)).cross(at(c) - at(a)).normalized() - Vec3(-0.5, 1, 1).normalized()).norm(), 1e-14);
  }
  EXPECT_TRUE(tessellate(std::monostate{}).triangles.empty());
  EXPECT_THROW(tessellate(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}), Error);
}

}  // namespace
}  // namespace rotule
