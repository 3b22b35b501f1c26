// Surfaces of triangles: no ghost hits, the same contacts as the solid that they enclose, trees against brute force, files.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/meshes.h>

#include <cstring>

#include "collide/narrow/collide.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

HeightField flat_floor(int cells) { return {cells + 1, 0.25, std::vector<double>(std::size_t((cells + 1) * (cells + 1)), 0.0)}; }

TriangleMesh box_mesh(const Vec3& size) {
  ConvexHull corners;
  for (int i = 0; i < 8; ++i)
    corners.points.push_back(0.5 * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(size));
  return hull_mesh(corners);
}

std::vector<Manifold> contacts(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double margin) {
  const CollisionShape shape_a(a), shape_b(b);
  PairMemory memory;
  CollideScratch scratch;
  std::vector<Manifold> out;
  collide(shape_a, Frame(pose_a), shape_b, Frame(pose_b), margin, memory, scratch, out);
  return out;
}

TEST(Surface, SlidingShapesFeelOnlyVerticalNormals) {
  // 100 m over triangles of 0.25 m, a little inside and a little above.
  const CollisionShape floor(flat_floor(420));
  const std::vector<Shape> sliders{Box{{0.6, 0.4, 0.3}}, Sphere{0.15}, Cylinder{0.2, 0.3}, Capsule{0.15, 0.4}};
  std::mt19937 random(1);
  for (const Shape& slider : sliders)
    for (const double gap : {-1e-3, 1e-3}) {
      const CollisionShape shape(slider);
      const double height = -support(slider, -Vec3::UnitZ()).z();
      PairMemory memory;
      CollideScratch scratch;
      std::vector<Manifold> out;
      for (double x = 1; x < 101; x += 0.0137) {
        out.clear();
        const Quat turned(Eigen::AngleAxisd(0.01 * x, Vec3::UnitZ()));
        collide(floor, Frame{}, shape, Frame(Pose{{x, 1 + 0.5 * x, height + gap}, turned}), 0.01, memory, scratch, out);
        ASSERT_EQ(out.size(), 1u) << "at " << x << " shape " << slider.index();
        ASSERT_NEAR((out[0].normal - Vec3::UnitZ()).norm(), 0, 1e-12);
        ASSERT_NEAR(out[0].gap(), gap, 1e-9);
        for (int i = 0; i < out[0].count; ++i) ASSERT_NEAR(out[0].points[i].gap, gap, 1e-6);
        if (std::holds_alternative<Box>(slider)) {
          ASSERT_EQ(out[0].count, 4);
        }
      }
    }
}

TEST(Surface, WhatHangsOverAnEdgeIsNotDeepBelowTheFaceBehindIt) {
  // A board against the side of a box, a millimetre inside and sticking out over the top: it is a millimetre inside, though its
  // lower end is a metre below the top.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 200; ++i) {
    const double over = 0.1 * unit(random), turn = 0.02 * (unit(random) - 0.5), inside = 1e-3;
    const Quat turned(Eigen::AngleAxisd(turn, Vec3::UnitX()));
    const Pose board{{-0.25 - 0.1 + inside, unit(random) - 0.5, 0.25 + over - 0.5}, turned};
    const auto found = contacts(box_mesh({0.5, 6, 0.5}), Pose{}, Box{{0.2, 0.4, 1}}, board, 1e-3);
    double deepest = 0;
    for (const Manifold& m : found) deepest = std::max(deepest, -m.gap());
    EXPECT_NEAR(deepest, inside, 1e-9) << i;
  }
}

TEST(Surface, MeshOfABoxActsLikeTheBox) {
  std::mt19937 random(2);
  const Vec3 size(2, 3, 1.5);
  const TriangleMesh mesh = box_mesh(size);
  int touching = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 d = oracle::random_direction(random);
    const Shape other = i % 2 ? Shape(Sphere{0.3}) : Shape(Box{{0.4, 0.5, 0.6}});
    const Pose pose{support(Box{size}, d) * 1.05 + 0.3 * oracle::random_direction(random), oracle::random_orientation(random)};
    const std::vector<Manifold> solid = contacts(Box{size}, {}, other, pose, 0.05),
                                surface = contacts(mesh, {}, other, pose, 0.05);
    if (solid.empty()) continue;
    if (solid[0].gap() < -0.1) continue;  // deeper, the ways out differ
    ++touching;
    ASSERT_FALSE(surface.empty()) << i;
    // At the least, the deepest contact stops the shape as the solid does: same gap where a face or an edge is struck.
    double least = infinity;
    for (const Manifold& m : surface) least = std::min(least, m.gap());
    if (solid[0].gap() > 0) {
      EXPECT_NEAR(least, solid[0].gap(), 1e-6) << i;
    }
    EXPECT_LE(least, solid[0].gap() + 1e-6) << i;
  }
  EXPECT_GT(touching, 200);
}

TEST(Surface, BackSidesAndShapesThatPassedAreLetGo) {
  const HeightField floor = flat_floor(8);
  EXPECT_TRUE(contacts(floor, {}, Sphere{0.2}, {{1, 1, -0.1}, Quat::Identity()}, 0.01).empty());
  EXPECT_EQ(contacts(floor, {}, Sphere{0.2}, {{1, 1, 0.1}, Quat::Identity()}, 0.01).size(), 1u);
  EXPECT_TRUE(contacts(floor, {}, Sphere{0.2}, {{10, 1, 0.1}, Quat::Identity()}, 0.01).empty());
}

TEST(Surface, RidgesMayPushSideways) {
  // A ridge along y: on its crest the normal may point anywhere between those of its two sides.
  HeightField ridge{3, 1, {0, 1, 0, 0, 1, 0, 0, 1, 0}};
  for (const double x : {0.99, 1.0, 1.01}) {
    const std::vector<Manifold> found = contacts(ridge, {}, Sphere{0.2}, {{x, 1.1, 1.199}, Quat::Identity()}, 0.0);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found[0].normal.x(), (x - 1) / std::hypot(x - 1, 0.199), 1e-6);
  }
}

TEST(Surface, TreeFindsWhatBruteForceFinds) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  TriangleMesh soup;
  for (int i = 0; i < 900; ++i) {
    const Vec3 at(u(random), u(random), u(random));
    for (int k = 0; k < 3; ++k) soup.vertices.push_back(at + 0.1 * Vec3(u(random), u(random), u(random)));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const Surface surface(soup);
  int hits = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 origin = 3 * oracle::random_direction(random), target(u(random), u(random), u(random)), d = target - origin;
    double expected = infinity;
    for (const auto& t : soup.triangles) {
      // Cramer's rule on origin + s d = a + v (b - a) + w (c - a).
      Mat3 m;
      m << -d, soup.vertices[t[1]] - soup.vertices[t[0]], soup.vertices[t[2]] - soup.vertices[t[0]];
      const Vec3 x = m.fullPivLu().solve(origin - soup.vertices[t[0]]);
      if (x[0] >= 0 && x[1] >= 0 && x[2] >= 0 && x[1] + x[2] <= 1) expected = std::min(expected, x[0]);
    }
    double found = 100;
    const int triangle = surface.ray(origin, d, found);
    ASSERT_EQ(triangle >= 0, std::isfinite(expected));
    if (triangle < 0) continue;
    ++hits;
    ASSERT_NEAR(found, expected, 1e-9);

    Aabb box{target - Vec3::Constant(0.2), target + Vec3::Constant(0.2)};
    std::vector<bool> seen(soup.triangles.size(), false);
    surface.tree().overlapping(box, [&](int t) {
      seen[surface.source(t)] = true;
      return true;
    });
    for (std::size_t t = 0; t < soup.triangles.size(); ++t) {
      Aabb own;
      for (const int v : soup.triangles[t]) own.add(soup.vertices[v]);
      if (own.overlaps(box)) {
        ASSERT_TRUE(seen[t]);
      }
    }
  }
  EXPECT_GT(hits, 200);
}

TEST(Surface, RaysAlongAxesAndFromInsideFindWhatBruteForceFinds) {
  // Terrain of every size: rays straight down, nearly so, level, and from points above it; the tree's boxes are rounded to
  // 255ths.
  std::mt19937 random(8);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const double size : {1e-100, 1e-3, 1.0, 1e6, 1e100}) {
    HeightField field{24, size, {}};
    for (int i = 0; i < 24 * 24; ++i) field.heights.push_back(2 * size * u(random));
    const Surface surface(field);
    int hits = 0;
    for (int i = 0; i < 1000; ++i) {
      const Vec3 at = size * Vec3(12 + 13 * u(random), 12 + 13 * u(random), 3 * u(random));
      Vec3 d = i % 4 == 0   ? Vec3(0, 0, -1)
               : i % 4 == 1 ? Vec3(1e-13 * u(random), 1e-7 * u(random), -1)
               : i % 4 == 2 ? Vec3(u(random), u(random), 0)
                            : oracle::random_direction(random);
      d *= size;
      double expected = infinity;
      for (int t = 0; t < 2 * 23 * 23; ++t) {
        // The cell's lower or upper triangle.
        const int cell = t / 2, low = cell / 23 * 24 + cell % 23, high = low + 25, third = t % 2 ? low + 24 : low + 1;
        const auto corner = [&](int v) { return Vec3(size * (v % 24), size * (v / 24), field.heights[v]); };
        const std::array<Vec3, 3> c{corner(low), corner(high), corner(third)};
        Mat3 m;
        m << -d, c[1] - c[0], c[2] - c[0];
        const Vec3 x = (m / size).fullPivLu().solve((at - c[0]) / size);
        if (x[0] >= 0 && x[1] >= 0 && x[2] >= 0 && x[1] + x[2] <= 1) expected = std::min(expected, x[0]);
      }
      double found = 100;
      const bool hit = surface.ray(at, d, found) >= 0;
      ASSERT_EQ(hit, std::isfinite(expected)) << "size " << size << ", ray " << i;
      if (!hit) continue;
      ++hits;
      ASSERT_NEAR(found, expected, 1e-9);
    }
    EXPECT_GT(hits, 300);
  }
}

TEST(Surface, FarFromItsOwnOriginRaysAndBoxesStillFindIt) {
  // A mesh whose coordinates leave a float no digits for its size.
  const Vec3 far(3e6, -2e6, 1e6);
  TriangleMesh mesh = box_mesh({1, 1, 1});
  for (Vec3& v : mesh.vertices) v += far;
  const Surface surface(mesh);
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    const Vec3 direction = oracle::random_direction(random);
    double t = 100;
    ASSERT_GE(surface.ray(far - 5 * direction, direction, t), 0);
    EXPECT_NEAR((t - 5) * direction.cwiseAbs().maxCoeff(), -0.5, 1e-8);  // where the largest coordinate reaches the side
    int seen = 0;
    const Vec3 at = far + 0.5 * direction / direction.cwiseAbs().maxCoeff();
    surface.tree().overlapping({at - Vec3::Constant(1e-3), at + Vec3::Constant(1e-3)}, [&](int) {
      ++seen;
      return true;
    });
    EXPECT_GT(seen, 0);
  }
}

TEST(MeshFile, ObjAndStlGiveTheSameSolid) {
  const TriangleMesh mesh = box_mesh({1, 2, 3});
  std::string obj = "# a box\no box\n", text = "solid box\n", binary(80, ' ');
  for (const Vec3& v : mesh.vertices)
    obj += "v " + std::to_string(v.x()) + " " + std::to_string(v.y()) + " " + std::to_string(v.z()) + "\n";
  const auto count = std::uint32_t(mesh.triangles.size());
  binary.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& t : mesh.triangles) {
    obj += "f " + std::to_string(t[0] + 1) + "/1/2 " + std::to_string(t[1] + 1) + "//7 " +
           std::to_string(t[2] - int(mesh.vertices.size())) + "\n";
    text += "facet normal 0 0 0\n outer loop\n";
    std::array<float, 12> numbers{};
    for (int k = 0; k < 3; ++k) {
      const Vec3& v = mesh.vertices[t[k]];
      text += "  vertex " + std::to_string(v.x()) + " " + std::to_string(v.y()) + " " + std::to_string(v.z()) + "\r\n";
      for (int c = 0; c < 3; ++c) numbers[3 + 3 * k + c] = float(v[c]);
    }
    text += " endloop\nendfacet\n";
    binary.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    binary.append(2, '\0');
  }
  text += "endsolid box\n";
  for (const TriangleMesh& read : {read_obj(obj, "x.obj"), read_stl(text, "x.stl"), read_stl(binary, "x.stl")}) {
    EXPECT_EQ(read.vertices.size(), 8u);
    EXPECT_NEAR(mass_properties(read, 1).mass, 6, 1e-12);
  }
  const TriangleMesh quads = read_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", "x.obj");
  EXPECT_EQ(quads.triangles.size(), 2u);

  // Cut short or changed anywhere: a mesh or an Error, never anything else.
  std::mt19937 random(5);
  int refused = 0;
  for (const std::string& whole : {obj, text, binary})
    for (int i = 0; i < 3000; ++i) {
      std::string bad = whole.substr(0, random() % 3 ? whole.size() : random() % whole.size());
      for (unsigned k = 0; k < random() % 4 && !bad.empty(); ++k) bad[random() % bad.size()] = char(random());
      try {
        const TriangleMesh read = whole == obj ? read_obj(bad, "bad.obj") : read_stl(bad, "bad.stl");
        const CollisionShape shape(read);
        for (const auto& t : read.triangles)
          for (const int v : t) ASSERT_LT(std::size_t(v), read.vertices.size());
      } catch (const Error& e) {
        ++refused;
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      }
    }
  EXPECT_GT(refused, 1000);
}

TEST(MeshFile, ErrorsNameThePlace) {
  const auto message = [](auto&& read) -> std::string {
    try {
      read();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([] { read_obj("v 0 0 0\nf 1 2 3\n", "x.obj"); }),
            "x.obj: line 2: a face names vertex \"2\"; there are 1 before it");
  EXPECT_EQ(message([] { read_obj("v 0 nan 0\n", "x.obj"); }), "x.obj: line 1: must be a finite number, is \"nan\"");
  EXPECT_EQ(message([] { read_mesh("none.obj"); }), "none.obj: cannot be opened");
  EXPECT_EQ(message([] { read_mesh("none.ply"); }), "none.ply: is no mesh file; its name must end in .obj or .stl");
}

TEST(CollisionShapes, RefuseWhatHasNoExtent) {
  const double nan = std::nan("");
  const std::vector<Shape> bad{std::monostate{},
                               Sphere{0},
                               Sphere{-1},
                               Sphere{nan},
                               Sphere{infinity},
                               Box{{1, 0, 1}},
                               Box{{1, nan, 1}},
                               Cylinder{1, -1},
                               Capsule{0, 1},
                               Cone{1, infinity},
                               Ellipsoid{{1, 1, 0}},
                               ConvexHull{},
                               ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}},
                               ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, nan, 1}}},
                               TriangleMesh{},
                               TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}},
                               TriangleMesh{{{0, 0, 0}, {1, 0, nan}, {0, 1, 0}}, {{0, 1, 2}}},
                               HeightField{1, 1, {0, 0}},
                               HeightField{2, 1, {0, 0, 0}},
                               HeightField{2, 0, {0, 0, 0, 0}},
                               HeightField{2, 1, {0, 0, 0, nan}},
                               Compound{},
                               Compound{{CompoundPart{Sphere{0}}}},
                               Compound{{CompoundPart{Sphere{1}, {0, nan, 0}}}}};
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_THROW(CollisionShape{bad[i]}, Error) << i;
}

TEST(Compound, PartsCollideWhereTheyStand) {
  // A dumbbell over the ground: one manifold per ball, named by its part.
  const Compound dumbbell{
      {CompoundPart{Sphere{0.5}, {-2, 0, 0}}, CompoundPart{Box{{3, 0.1, 0.1}}}, CompoundPart{Sphere{0.5}, {2, 0, 0}}}};
  const std::vector<Manifold> found = contacts(Plane{}, {}, dumbbell, {{0, 0, 0.49}, Quat::Identity()}, 0.02);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].part_b, 0);
  EXPECT_EQ(found[1].part_b, 2);
  for (const Manifold& m : found) EXPECT_NEAR(m.gap(), -0.01, 1e-12);
  EXPECT_NEAR(found[0].points[0].on_b.x(), -2, 1e-12);
}

TEST(Ellipsoids, HaveTheMassOfAScaledBall) {
  // The second moments of a ball, int x^2 dV = V r^2 / 5, stretch with the square of each axis; support points lie on it.
  const Ellipsoid e{{0.5, 1.5, 2.5}};
  const MassProperties m = mass_properties(e, 3);
  EXPECT_NEAR(m.mass, 3 * 4.0 / 3 * std::numbers::pi * e.radii.prod(), 1e-12);
  const Vec3 square = m.mass / 5 * e.radii.cwiseAbs2();
  EXPECT_NEAR(m.inertia(0, 0), square.y() + square.z(), 1e-12);
  EXPECT_NEAR(m.inertia(1, 1), square.z() + square.x(), 1e-12);
  EXPECT_NEAR(m.inertia(2, 2), square.x() + square.y(), 1e-12);
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const Vec3 d = oracle::random_direction(random), x = support(e, d);
    EXPECT_NEAR(x.cwiseQuotient(e.radii).norm(), 1, 1e-12);
    EXPECT_NEAR(x.cwiseQuotient(e.radii.cwiseAbs2()).normalized().dot(d), 1, 1e-12);  // its normal there is d
  }
  EXPECT_THROW(mass_properties(HeightField{2, 1, {0, 0, 0, 0}}, 1), Error);
}

TEST(Hulls, SimplifiedHullsAreInsideAndKeepTheLimit) {
  std::mt19937 random(9);
  ConvexHull ball;
  for (int i = 0; i < 500; ++i) ball.points.push_back(oracle::random_direction(random));
  const Hull whole = make_hull(ball);
  EXPECT_EQ(whole.vertices.size(), 500u);
  EXPECT_EQ(int(whole.vertices.size()) - int(whole.edges.size()) + int(whole.faces.size()), 2);  // Euler
  const ConvexHull small = simplified(ball, 32);
  EXPECT_EQ(small.points.size(), 32u);
  EXPECT_GT(volume(small), 0.6 * volume(ball));
  for (int i = 0; i < 300; ++i) {
    const Vec3 d = oracle::random_direction(random);
    EXPECT_NEAR(d.dot(whole.vertices[whole.support_vertex(d)]), d.dot(support(ball, d)), 1e-12);
    EXPECT_LE(d.dot(support(small, d)), d.dot(support(ball, d)) + 1e-12);
  }
}

TEST(Hulls, FacesOfManyPointsAreMerged) {
  ConvexHull grid;
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 4; ++y)
      for (int z = 0; z < 4; ++z) grid.points.emplace_back(x, y, z);
  const Hull cube = make_hull(grid);
  EXPECT_EQ(cube.faces.size(), 6u);
  EXPECT_EQ(cube.vertices.size(), 8u);
  EXPECT_EQ(cube.edges.size(), 12u);
}

}  // namespace
}  // namespace rotule
