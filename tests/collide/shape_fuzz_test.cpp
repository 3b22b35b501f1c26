// Shapes from numbers that nobody should give, and from damaged scene files: an Error in one line, or contacts that are numbers.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/scene.h>

#include <cmath>
#include <limits>

#include "collide/collision_world.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

void expect_one_line(const std::string& message) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_FALSE(message.empty());
}

/// True if the shape was taken; then what it meets must give numbers.
bool takes(const Shape& shape) {
  try {
    const CollisionShape made(shape);
    const CollisionShape others[] = {CollisionShape(Sphere{}), CollisionShape(Box{}), CollisionShape(Cylinder{}),
                                     CollisionShape(Plane{})};
    CollideScratch scratch;
    for (const CollisionShape& other : others)
      for (const double z : {0.0, 0.3, 0.9}) {
        PairMemory memory;
        std::vector<Manifold> out;
        const Frame at(Pose{{0.1, 0.2, z}, Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 3).normalized()))});
        collide(made, Frame{}, other, at, 0.01, memory, scratch, out);
        for (const Manifold& m : out) {
          EXPECT_NEAR(m.normal.norm(), 1, 1e-6);
          for (int i = 0; i < m.count; ++i) {
            EXPECT_TRUE(m.points[i].on_a.allFinite() && m.points[i].on_b.allFinite());
            EXPECT_TRUE(std::isfinite(m.points[i].gap));
          }
        }
      }
    return true;
  } catch (const Error& error) {
    expect_one_line(error.what());
    return false;
  }
}

TEST(ShapeFuzz, ParametersThatAreNoSizes) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double bad : {nan, inf, -inf, 0.0, -0.0, -1.0}) {
    EXPECT_FALSE(takes(Sphere{bad})) << bad;
    EXPECT_FALSE(takes(Box{{1, bad, 1}})) << bad;
    EXPECT_FALSE(takes(Cylinder{bad, 1})) << bad;
    EXPECT_FALSE(takes(Cylinder{1, bad})) << bad;
    EXPECT_FALSE(takes(Capsule{bad, 1})) << bad;
    EXPECT_FALSE(takes(Capsule{1, bad})) << bad;
    EXPECT_FALSE(takes(Cone{bad, 1})) << bad;
    EXPECT_FALSE(takes(Cone{1, bad})) << bad;
    EXPECT_FALSE(takes(Ellipsoid{{1, 1, bad}})) << bad;
    EXPECT_FALSE(takes(HeightField{2, bad, {0, 0, 0, 0}})) << bad;
    if (!std::isfinite(bad)) {
      EXPECT_FALSE(takes(HeightField{2, 1, {0, bad, 0, 0}})) << bad;
      EXPECT_FALSE(takes(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, bad}}})) << bad;
      EXPECT_FALSE(takes(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, bad, 0}}, {{0, 1, 2}}})) << bad;
      Compound compound;
      compound.parts.push_back({Sphere{}, {0, bad, 0}});
      EXPECT_FALSE(takes(compound)) << bad;
    }
  }
  EXPECT_TRUE(takes(Ellipsoid{}));
  EXPECT_TRUE(takes(HeightField{2, 1, {0, 0, 0, 0}}));
}

TEST(ShapeFuzz, HullsWithoutVolumeAndIndicesOutOfRange) {
  EXPECT_FALSE(takes(ConvexHull{}));
  EXPECT_FALSE(takes(ConvexHull{{{0, 0, 0}}}));
  EXPECT_FALSE(takes(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}));
  EXPECT_FALSE(takes(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}}}));
  EXPECT_FALSE(takes(ConvexHull{std::vector<Vec3>(20, Vec3(1, 2, 3))}));
  EXPECT_FALSE(takes(TriangleMesh{}));
  for (const int bad : {-1, 3, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()})
    EXPECT_FALSE(takes(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, bad}}})) << bad;
  EXPECT_FALSE(takes(HeightField{1, 1, {0, 0}}));
  EXPECT_FALSE(takes(HeightField{3, 1, {0, 0, 0, 0}}));
  EXPECT_FALSE(takes(HeightField{-2, 1, {0, 0, 0, 0}}));
  EXPECT_FALSE(takes(Compound{}));
  // A triangle without area is taken and never touched.
  EXPECT_TRUE(takes(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}}));
}

TEST(ShapeFuzz, DamagedScenesWithEveryShape) {
  const std::string good =
      R"({"rotule": 1, "bodies": [{"fixed": true, "shape": {"height_field": {"columns": 2, "spacing": 1.5, "heights": [0, 0.5, 1, 0]}}},
 {"mass": 1, "shape": {"ellipsoid": {"radii": [0.3, 0.4, 0.5]}}}, {"mass": 2, "shape": {"cone": {"radius": 0.5, "height": 1}}},
 {"mass": 1, "shape": {"convex_hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}},
 {"mass": 1, "shape": {"compound": {"parts": [{"shape": {"capsule": {"radius": 0.2, "length": 1}}, "position": [0, 0, 1]}]}}},
 {"mass": 1, "shape": {"triangle_mesh": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}}}]})";
  const auto taken = [](const std::string& text) {
    int count = 0;
    const Scene scene = parse_scene(text);
    for (const BodyDef& body : scene.bodies)
      if (!std::holds_alternative<std::monostate>(body.shape)) count += takes(body.shape);
    return count;
  };
  ASSERT_EQ(taken(good), 6);
  std::mt19937 random(77);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string alphabet = "[]{},-0123456789.e";
  int refused = 0, accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string text = good;
    if (i % 5 == 0) text.resize(below(text.size()));
    for (std::size_t edits = 1 + below(2); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      if (below(2) == 0) {
        text[at] = alphabet[below(alphabet.size())];
      } else {
        text.insert(at, 1, alphabet[below(alphabet.size())]);
      }
    }
    try {
      accepted += taken(text) > 0;
    } catch (const Error& error) {
      ++refused;
      expect_one_line(error.what());
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace rotule
