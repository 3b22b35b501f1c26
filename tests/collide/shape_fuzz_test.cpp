// Shapes from numbers that nobody should give, and from damaged scene and mesh files: an Error in one line, or contacts that are
// numbers.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/meshes.h>
#include <rotule/scene.h>

#include <cmath>
#include <limits>
#include <memory>

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

const std::string scene_with_every_shape =
    R"({"rotule": 1, "bodies": [{"fixed": true, "shape": {"height_field": {"columns": 2, "spacing": 1.5, "heights": [0, 0.5, 1, 0]}}},
 {"mass": 1, "shape": {"ellipsoid": {"radii": [0.3, 0.4, 0.5]}}}, {"mass": 2, "shape": {"cone": {"radius": 0.5, "height": 1}}},
 {"mass": 1, "shape": {"convex_hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}},
 {"mass": 1, "shape": {"compound": {"parts": [{"shape": {"capsule": {"radius": 0.2, "length": 1}}, "position": [0, 0, 1]}]}}},
 {"mass": 1, "shape": {"triangle_mesh": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}}}]})";

TEST(ShapeFuzz, ScenesCutShortAtEachByte) {
  ASSERT_NO_THROW(parse_scene(scene_with_every_shape));
  for (std::size_t length = 0; length < scene_with_every_shape.size(); ++length) {
    try {
      parse_scene(scene_with_every_shape.substr(0, length));
      ADD_FAILURE() << "was taken: the first " << length << " bytes";
    } catch (const Error& error) {
      expect_one_line(error.what());
    }
  }
}

TEST(ShapeFuzz, MeshFilesCutShortAtEachByte) {
  const std::vector<Vec3> corners{{0, 0, 0}, {1.25, 0, 0}, {0, 1, 0}, {0, 0, 10}};
  const std::vector<std::array<int, 3>> faces{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  std::string obj = "o tetrahedron\n", text = "solid tetrahedron\n", binary(80, 'x');
  for (const Vec3& v : corners)
    obj += "v " + std::to_string(v.x()) + " " + std::to_string(v.y()) + " " + std::to_string(v.z()) + "\n";
  const auto count = std::uint32_t(faces.size());
  binary.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const auto& face : faces) {
    obj += "f";
    text += "facet normal 0 0 1\nouter loop\n";
    binary.append(12, '\0');
    for (const int v : face) {
      obj += " " + std::to_string(v + 1) + "//" + std::to_string(v - 4);
      text += "vertex";
      for (int k = 0; k < 3; ++k) {
        const auto number = float(corners[v][k]);
        text += " " + std::to_string(number);
        binary.append(reinterpret_cast<const char*>(&number), sizeof number);
      }
      text += "\n";
    }
    obj += "\n";
    text += "endloop\nendfacet\n";
    binary.append(2, '\0');
  }
  text += "endsolid";
  // A buffer of just the length, so that a sanitizer sees every byte read behind it. Text of an OBJ file has no end: what is
  // left of it may be a smaller mesh.
  const auto read = [](const std::string& whole, std::size_t length, bool is_obj) {
    const std::unique_ptr<char[]> bytes(new char[length]);
    std::copy_n(whole.begin(), length, bytes.get());
    const std::string_view cut(bytes.get(), length);
    return is_obj ? read_obj(cut, "cut.obj") : read_stl(cut, "cut.stl");
  };
  for (const std::string& whole : {obj, text, binary}) {
    const bool is_obj = whole == obj;
    ASSERT_EQ(read(whole, whole.size(), is_obj).triangles.size(), faces.size());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      try {
        const TriangleMesh mesh = read(whole, length, is_obj);
        EXPECT_TRUE(is_obj) << "was taken: the first " << length << " bytes";
        takes(mesh);
      } catch (const Error& error) {
        expect_one_line(error.what());
      }
    }
  }
}

TEST(ShapeFuzz, DamagedScenesWithEveryShape) {
  const std::string& good = scene_with_every_shape;
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
