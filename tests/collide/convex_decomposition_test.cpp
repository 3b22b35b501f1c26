// Convex decomposition: covers the solid, stands out no more than asked for, few hulls. Held against the definition: solid angles
// tell inside from outside, all triangles are compared for the distance.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/meshes.h>

#include <Eigen/LU>
#include <numbers>
#include <random>

#include "collide/narrow/collide.h"
#include "collide/shape/collision_shape.h"
#include "collide/shape/solid_distance.h"
#include "model/convex_hull.h"

namespace rotule {
namespace {

using std::numbers::pi;

using Outline = std::vector<std::array<double, 2>>;

/// A polygon (counter-clockwise, with its triangles) drawn out along z.
TriangleMesh prism(const Outline& outline, const std::vector<std::array<int, 3>>& floor, double height) {
  TriangleMesh mesh;
  const int n = int(outline.size());
  for (const double z : {0.0, height})
    for (const auto& p : outline) mesh.vertices.emplace_back(p[0], p[1], z);
  for (const auto& [a, b, c] : floor) {
    mesh.triangles.push_back({a, c, b});
    mesh.triangles.push_back({n + a, n + b, n + c});
  }
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    mesh.triangles.push_back({i, j, n + j});
    mesh.triangles.push_back({i, n + j, n + i});
  }
  return mesh;
}

TriangleMesh letter_l() {
  return prism({{1, 1}, {1, 3}, {0, 3}, {0, 0}, {4, 0}, {4, 1}}, {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}, 0.7);
}

/// Two prongs 1.5 apart and 2 deep.
TriangleMesh letter_u() {
  return prism({{0, 0}, {3.5, 0}, {3.5, 3}, {2.5, 3}, {2.5, 1}, {1, 1}, {1, 3}, {0, 3}},
               {{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}}, 1);
}

TriangleMesh torus(int around, int across, double radius = 1, double tube = 0.3) {
  TriangleMesh mesh;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / across, r = radius + tube * std::cos(v);
      mesh.vertices.emplace_back(r * std::cos(u), r * std::sin(u), tube * std::sin(v));
    }
  const auto at = [&](int i, int j) { return (i % around) * across + j % across; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  return mesh;
}

/// Rings about z from a lower to an upper pole; `point(ring, turn)`, ring from 0 (pole) to `rings` (pole).
template <class Point>
TriangleMesh rings(int count, int around, Point&& point) {
  TriangleMesh mesh;
  mesh.vertices.push_back(point(0, 0.0));
  for (int i = 1; i < count; ++i)
    for (int j = 0; j < around; ++j) mesh.vertices.push_back(point(i, 2 * pi * j / around));
  mesh.vertices.push_back(point(count, 0.0));
  const auto at = [&](int i, int j) { return 1 + (i - 1) * around + j % around; };
  const int last = int(mesh.vertices.size()) - 1;
  for (int j = 0; j < around; ++j) {
    mesh.triangles.push_back({0, at(1, j + 1), at(1, j)});
    for (int i = 1; i + 1 < count; ++i) {
      mesh.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
    }
    mesh.triangles.push_back({at(count - 1, j), at(count - 1, j + 1), last});
  }
  return mesh;
}

TriangleMesh ball(int count, int around) {
  return rings(count, around, [&](int i, double turn) {
    const double polar = pi * i / count;
    return Vec3(std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), -std::cos(polar));
  });
}

/// The lower half of the shell between the radii 0.8 and 1.
TriangleMesh bowl() {
  return rings(13, 24, [](int i, double turn) {
    const bool outer = i <= 6;
    const double radius = outer ? 1 : 0.8, polar = pi / 2 * (outer ? i : 13 - i) / 6.0;
    return Vec3(radius * std::sin(polar) * std::cos(turn), radius * std::sin(polar) * std::sin(turn), -radius * std::cos(polar));
  });
}

/// A ball with bumps and dents of a quarter of its radius.
TriangleMesh bumpy() {
  return rings(24, 32, [](int i, double turn) {
    const double polar = pi * i / 24, s = std::sin(polar);
    const double radius = 1 + 0.25 * s * s * std::sin(3 * turn) * std::cos(3 * polar);
    return Vec3(radius * s * std::cos(turn), radius * s * std::sin(turn), -radius * std::cos(polar));
  });
}

TriangleMesh box(const Vec3& size, const Vec3& center = Vec3::Zero()) {
  ConvexHull corners;
  for (int i = 0; i < 8; ++i)
    corners.points.push_back(center + 0.5 * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(size));
  return hull_mesh(corners);
}

/// Winding number by the triangles' solid angles (A. van Oosterom and J. Strackee, 1983).
bool inside(const TriangleMesh& mesh, const Vec3& x) {
  double angle = 0;
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 a = mesh.vertices[i] - x, b = mesh.vertices[j] - x, c = mesh.vertices[k] - x;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return angle > 2 * pi;
}

double distance_to_surface(const TriangleMesh& mesh, const Vec3& x) {
  double least = infinity;
  for (const auto& t : mesh.triangles) {
    const Vec3 a = mesh.vertices[t[0]], u = mesh.vertices[t[1]] - a, v = mesh.vertices[t[2]] - a;
    // x = a + s u + t v + w n: the foot is inside where s, t >= 0 and s + t <= 1.
    Mat3 axes;
    axes << u, v, u.cross(v);
    const Vec3 s = axes.inverse() * (x - a);
    if (s.x() >= 0 && s.y() >= 0 && s.x() + s.y() <= 1) least = std::min(least, std::abs(s.z()) * axes.col(2).norm());
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = mesh.vertices[t[k]], e = mesh.vertices[t[(k + 1) % 3]] - p;
      least = std::min(least, (x - p - std::clamp(e.dot(x - p) / e.squaredNorm(), 0.0, 1.0) * e).norm());
    }
  }
  return least;
}

struct Faces {
  std::vector<std::pair<Vec3, double>> planes;
  explicit Faces(const ConvexHull& hull) {
    const TriangleMesh mesh = hull_mesh(hull);
    for (const auto& [a, b, c] : mesh.triangles) {
      const Vec3 n = (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]).normalized();
      double offset = -infinity;
      for (const Vec3& p : hull.points) offset = std::max(offset, n.dot(p));
      planes.emplace_back(n, offset);
    }
  }
  [[nodiscard]] bool hold(const Vec3& x, double tolerance) const {
    return std::all_of(planes.begin(), planes.end(), [&](const auto& f) { return f.first.dot(x) <= f.second + tolerance; });
  }
};

bool covered(const std::vector<Faces>& hulls, const Vec3& x, double tolerance) {
  return std::any_of(hulls.begin(), hulls.end(), [&](const Faces& f) { return f.hold(x, tolerance); });
}

std::vector<Faces> faces(const std::vector<ConvexHull>& hulls) { return {hulls.begin(), hulls.end()}; }

Vec3 random_in_box(const TriangleMesh& mesh, std::mt19937& random) {
  Vec3 low = mesh.vertices[0], high = low, at;
  for (const Vec3& v : mesh.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  for (int k = 0; k < 3; ++k) at[k] = std::uniform_real_distribution<double>(low[k], high[k])(random);
  return at;
}

double size_of(const TriangleMesh& mesh) {
  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& v : mesh.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  return (high - low).norm();
}

struct Case {
  const char* name;
  TriangleMesh mesh;
  std::array<int, 3> most;  // hulls at the concavities below
};
constexpr std::array<double, 3> concavities{0.1, 0.05, 0.02};

std::vector<Case> cases() {
  return {{"L", letter_l(), {2, 2, 2}},
          {"U", letter_u(), {3, 3, 3}},
          {"torus", torus(32, 12), {4, 8, 12}},
          {"bowl", bowl(), {8, 16, 40}},
          {"bumpy", bumpy(), {1, 1, 8}}};
}

TEST(ConvexDecomposition, ConvexMeshIsOneHull) {
  const DecompositionSettings fine{.max_vertices = 4096};
  TriangleMesh far = box({1, 2, 3}, {1e6, -1e6, 1e6}), small = ball(12, 16), large = small;
  for (Vec3& v : small.vertices) v *= 1e-3;
  for (Vec3& v : large.vertices) v *= 1e4;
  for (const TriangleMesh& mesh : {box({1, 2, 3}), box({1000, 1, 1}), box({1000, 1000, 1}), ball(24, 32), small, large, far}) {
    const auto hulls = convex_decomposition(mesh, fine);
    ASSERT_EQ(hulls.size(), 1u);
    EXPECT_NEAR(volume(hulls[0]) / volume(mesh), 1, 1e-9);
    EXPECT_LE(hulls[0].points.size(), mesh.vertices.size());
  }
}

TEST(ConvexDecomposition, NotchesAreCutExactly) {
  for (const auto& [mesh, count] : {std::pair(letter_l(), 2u), std::pair(letter_u(), 3u)}) {
    const auto hulls = convex_decomposition(mesh, {.max_concavity = 0.01});
    ASSERT_EQ(hulls.size(), count);
    double sum = 0;
    for (const ConvexHull& hull : hulls) {
      EXPECT_EQ(hull.points.size(), 8u);
      sum += volume(hull);
    }
    EXPECT_NEAR(sum, volume(mesh), 1e-9);
  }
}

TEST(ConvexDecomposition, CoversAndStandsOutNoMoreThanAskedFor) {
  std::mt19937 random(3);
  for (const Case& c : cases())
    for (std::size_t level = 0; level < concavities.size(); ++level) {
      SCOPED_TRACE(fmt::format("{} at {}", c.name, concavities[level]));
      const double size = size_of(c.mesh), limit = concavities[level] * size;
      const auto hulls =
          convex_decomposition(c.mesh, {.max_hulls = 256, .max_concavity = concavities[level], .max_vertices = 4096});
      EXPECT_LE(int(hulls.size()), c.most[level]);
      const std::vector<Faces> solids = faces(hulls);
      for (const Vec3& v : c.mesh.vertices) EXPECT_TRUE(covered(solids, v, 1e-8 * size));
      for (int i = 0; i < 600; ++i) {
        const Vec3 x = random_in_box(c.mesh, random);
        const bool in = inside(c.mesh, x);
        if (in) {
          EXPECT_TRUE(covered(solids, x, 1e-8 * size)) << x.transpose();
        } else if (covered(solids, x, 0)) {
          EXPECT_LE(distance_to_surface(c.mesh, x), limit) << x.transpose();
        }
      }
      // The hulls' own edges and faces, where they stand out most.
      for (const ConvexHull& hull : hulls) {
        double farthest = 0;
        const TriangleMesh surface = hull_mesh(hull);
        for (int i = 0; i < 24; ++i) {
          const auto& t = surface.triangles[random() % surface.triangles.size()];
          const double u = 0.5 * double(i % 3), v = i % 2 ? 0 : 0.5 - 0.5 * u;
          const Vec3 x = (1 - u - v) * surface.vertices[t[0]] + u * surface.vertices[t[1]] + v * surface.vertices[t[2]];
          if (!inside(c.mesh, x)) farthest = std::max(farthest, distance_to_surface(c.mesh, x));
        }
        EXPECT_LE(farthest, limit);
        const double bound = protrusion(hull, c.mesh, 0.2 * limit);
        EXPECT_LE(farthest, bound);
        EXPECT_LE(bound, 1.2 * limit);
      }
      RecordProperty(fmt::format("{}_{}_hulls", c.name, concavities[level]), int(hulls.size()));
    }
}

TEST(ConvexDecomposition, VolumeOfTheUnionTendsToTheMeshs) {
  for (const TriangleMesh& mesh : {torus(32, 12), bowl(), bumpy()}) {
    std::vector<double> excess;  // volume that only the hulls hold, over that of the mesh
    for (const double concavity : {0.1, 0.03, 0.01}) {
      const auto solids = faces(convex_decomposition(mesh, {.max_hulls = 512, .max_concavity = concavity, .max_vertices = 4096}));
      std::mt19937 random(4);
      int in_mesh = 0, in_hulls = 0;
      for (int i = 0; i < 5000; ++i) {
        const Vec3 x = random_in_box(mesh, random);
        const bool in = inside(mesh, x);
        in_mesh += in;
        in_hulls += in || covered(solids, x, 0);
      }
      excess.push_back(double(in_hulls) / in_mesh - 1);
    }
    EXPECT_LE(excess[1], excess[0]);
    EXPECT_LT(excess[2], 0.7 * excess[1]);
    EXPECT_LT(excess[2], 0.05);
  }
}

TEST(ConvexDecomposition, ProtrusionIsTheDistanceFromTheSolid) {
  // Half way between the prongs, 0.75 from each.
  const TriangleMesh u = letter_u();
  EXPECT_NEAR(protrusion({u.vertices}, u, 1e-3), 0.75, 0.05 * 0.75);
  EXPECT_GE(protrusion({u.vertices}, u, 1e-3), 0.75);
  // A hollow box: the middle of the hollow is 0.3 from it, though nothing stands out of its surface.
  TriangleMesh hollow = box({2, 2, 2});
  const TriangleMesh hole = box({0.6, 0.7, 0.8});
  for (const auto& [a, b, c] : hole.triangles) hollow.triangles.push_back({8 + a, 8 + c, 8 + b});
  hollow.vertices.insert(hollow.vertices.end(), hole.vertices.begin(), hole.vertices.end());
  EXPECT_NEAR(protrusion({hollow.vertices}, hollow, 1e-3), 0.3, 0.05 * 0.3);
  const auto hulls = convex_decomposition(hollow, {.max_concavity = 0.03});
  EXPECT_LE(hulls.size(), 6u);
  EXPECT_FALSE(covered(faces(hulls), Vec3::Zero(), 0));
  EXPECT_LE(protrusion({box({1, 1, 1}).vertices}, box({1, 1, 1}), 1e-2), 1e-2);
}

TEST(ConvexDecomposition, SignedDistanceIsTheDefinition) {
  std::mt19937 random(5);
  for (const Case& c : cases()) {
    const SolidDistance distance(c.mesh);
    for (int i = 0; i < 500; ++i) {
      const Vec3 x = 1.3 * random_in_box(c.mesh, random);
      EXPECT_NEAR(distance(x), (inside(c.mesh, x) ? -1 : 1) * distance_to_surface(c.mesh, x), 1e-9) << c.name;
    }
  }
}

TEST(ConvexDecomposition, LimitsOnNumbersHold) {
  std::size_t before = 0;
  for (const int most : {1, 2, 4, 7}) {
    const auto hulls = convex_decomposition(torus(24, 10), {.max_hulls = most, .max_concavity = 0.01, .max_vertices = 12});
    EXPECT_LE(int(hulls.size()), most);
    EXPECT_GE(hulls.size(), before);
    before = hulls.size();
    for (const ConvexHull& hull : hulls) EXPECT_LE(hull.points.size(), 12u);
  }
  EXPECT_EQ(before, 7u);
}

TEST(ConvexDecomposition, SameInputSameHulls) {
  const auto once = convex_decomposition(torus(24, 10)), again = convex_decomposition(torus(24, 10));
  ASSERT_GT(once.size(), 1u);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].points, again[i].points);
}

TEST(ConvexDecomposition, JaggedAndFlatStarsAreCovered) {
  // Spikes at random, seen from the origin without overlap; every other one pressed to a hundredth.
  std::mt19937 random(6);
  for (int i = 0; i < 20; ++i) {
    TriangleMesh star = ball(6, 9);
    for (Vec3& v : star.vertices) {
      v *= std::uniform_real_distribution<double>(0.3, 1)(random);
      if (i % 2) v.z() *= 0.01;
    }
    const auto hulls = convex_decomposition(star, {.max_hulls = 24, .max_vertices = 4096, .resolution = 3});
    EXPECT_LE(hulls.size(), 24u);
    EXPECT_NO_THROW(CollisionShape(decompose(star, {.max_hulls = 24, .max_vertices = 16, .resolution = 3})));
    const std::vector<Faces> solids = faces(hulls);
    for (const Vec3& v : star.vertices) EXPECT_TRUE(covered(solids, v, 1e-8)) << i;
    for (int k = 0; k < 300; ++k) {
      const Vec3 x = random_in_box(star, random);
      EXPECT_TRUE(!inside(star, x) || covered(solids, x, 1e-8)) << i;
    }
  }
}

TEST(ConvexDecomposition, SizeAndPlaceDoNotMatter) {
  const auto here = convex_decomposition(letter_u());
  for (const double scale : {1e-3, 1.0, 1e4}) {
    TriangleMesh moved = letter_u();
    const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
    for (Vec3& v : moved.vertices) v = scale * (turn * v + Vec3(100, -200, 300));
    const auto there = convex_decomposition(moved);
    ASSERT_EQ(there.size(), here.size());
    double sum = 0;
    for (const ConvexHull& hull : there) sum += volume(hull);
    EXPECT_NEAR(sum / volume(moved), 1, 1e-7);
  }
}

TEST(ConvexDecomposition, BallPassesThroughARing) {
  // A ball of 0.5 in the hole of radius 0.7 touches nothing; one of 0.75 touches all around.
  const TriangleMesh ring = torus(32, 12);
  const CollisionShape body{decompose(ring, {.max_concavity = 0.02})};
  for (const auto& [radius, touches] : {std::pair(0.5, false), std::pair(0.75, true)}) {
    PairMemory memory;
    CollideScratch scratch;
    std::vector<Manifold> out;
    collide(body, Frame{}, CollisionShape(Sphere{radius}), Frame{}, 0, memory, scratch, out);
    EXPECT_EQ(!out.empty(), touches);
  }
  // Overlaps and what stands out would count in the compound's mass: the mesh's own is the one to use.
  EXPECT_GT(mass_properties(decompose(ring), 1).mass, 1.02 * mass_properties(ring, 1).mass);
}

TEST(ConvexDecomposition, RefusesWhatMakesNoSense) {
  const TriangleMesh good = letter_l();
  TriangleMesh open = good, nan = good, flat = good, turned = good, range = good;
  open.triangles.pop_back();
  nan.vertices[2].y() = std::nan("");
  for (Vec3& v : flat.vertices) v.z() = 0;
  for (auto& t : turned.triangles) std::swap(t[0], t[1]);
  range.triangles[0][1] = 99;
  for (const TriangleMesh& mesh : {open, nan, flat, turned, range, TriangleMesh{}}) {
    EXPECT_THROW(convex_decomposition(mesh), Error);
    EXPECT_THROW(decompose(mesh), Error);
  }
  TriangleMesh paper = good, huge = good;
  for (Vec3& v : paper.vertices) v.z() *= 1e-13;
  for (Vec3& v : huge.vertices) v *= 1e200;
  EXPECT_THROW(convex_decomposition(paper), Error);
  EXPECT_THROW(convex_decomposition(huge), Error);
  for (const DecompositionSettings& bad :
       {DecompositionSettings{.max_hulls = 0}, DecompositionSettings{.max_hulls = 1 << 30},
        DecompositionSettings{.max_concavity = 0}, DecompositionSettings{.max_concavity = -1},
        DecompositionSettings{.max_concavity = std::nan("")}, DecompositionSettings{.max_vertices = 3},
        DecompositionSettings{.resolution = 0}, DecompositionSettings{.resolution = -5}})
    EXPECT_THROW(convex_decomposition(good, bad), Error);
  EXPECT_THROW(protrusion({good.vertices}, good, 0), Error);
}

}  // namespace
}  // namespace rotule
