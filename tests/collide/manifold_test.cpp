// What a manifold must be, whatever the pair: its points are on both surfaces, straight above each other; its smallest gap is the
// signed distance; no point comes twice; and the points span the patch in which the shapes touch. The patch is found by rays
// against the shapes' own definitions (oracle.h): the places of the view along n where the gap is at most a millionth of the size
// above the smallest. Shapes lie on each other at random and on faces, sides, edges and corners, exactly, nearly and crossing.
//
// ROTULE_MANIFOLD_POSES: poses per pair (60).
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "collide/collision_world.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

using oracle::Placed;
using oracle::uniform;

struct Kind {
  const char* name;
  std::function<Shape(std::mt19937&)> make;
};

const std::vector<Kind>& manifold_kinds() {
  static const std::vector<Kind> all{
      {"plane", [](std::mt19937&) { return Plane{}; }},
      {"sphere", [](std::mt19937& r) { return Sphere{uniform(r, 0.3, 1)}; }},
      {"capsule",
       [](std::mt19937& r) {
         return Capsule{uniform(r, 0.1, 0.6), uniform(r, 0.3, 2)};
       }},
      {"box",
       [](std::mt19937& r) {
         return Box{{uniform(r, 0.3, 2), uniform(r, 0.3, 2), uniform(r, 0.3, 2)}};
       }},
      {"cylinder",
       [](std::mt19937& r) {
         return Cylinder{uniform(r, 0.2, 1), uniform(r, 0.3, 2)};
       }},
      {"cone",
       [](std::mt19937& r) {
         return Cone{uniform(r, 0.3, 1), uniform(r, 0.3, 2)};
       }},
      {"ellipsoid",
       [](std::mt19937& r) {
         return Ellipsoid{{uniform(r, 0.3, 1), uniform(r, 0.3, 1), uniform(r, 0.3, 1)}};
       }},
      {"hull",
       [](std::mt19937& r) {
         // A roof or a stone.
         ConvexHull hull;
         if (r() % 2 == 0) {
           const double half = uniform(r, 0.3, 1.5), width = uniform(r, 0.2, 1), height = uniform(r, 0.2, 1);
           for (const double x : {-half, half})
             for (const Vec3& p : {Vec3(x, -width, -height), Vec3(x, width, -height), Vec3(x, 0, height)})
               hull.points.push_back(p);
         } else {
           for (int i = 0; i < 12; ++i) hull.points.push_back(oracle::random_direction(r) * uniform(r, 0.5, 1));
         }
         return hull;
       }},
  };
  return all;
}

/// A shape by its height function alone, and where rays against n first meet it.
class Solid {
 public:
  explicit Solid(const Placed& placed) : placed_(placed) {
    if (const auto* hull = std::get_if<ConvexHull>(&placed.shape)) {
      const TriangleMesh mesh = hull_mesh(*hull);
      for (const auto& [i, j, k] : mesh.triangles) {
        const Vec3 n = (mesh.vertices[j] - mesh.vertices[i]).cross(mesh.vertices[k] - mesh.vertices[i]).normalized();
        planes_.emplace_back(n, n.dot(mesh.vertices[i]));
      }
    }
  }
  [[nodiscard]] double height(const Vec3& x) const {
    if (planes_.empty()) return oracle::height_above(placed_, x);
    const Vec3 p = placed_.pose.orientation.conjugate() * (x - placed_.pose.position);
    double most = -infinity;
    for (const auto& [n, offset] : planes_) most = std::max(most, n.dot(p) - offset);
    return most;
  }
  /// How far out along n the surface is at a place; minus infinity where there is nothing.
  [[nodiscard]] double top(const Vec3& place, const Vec3& n, double far) const {
    // The height along the ray falls, then rises: to its bottom, then up to where it is zero.
    double low = -far, high = far;
    for (int i = 0; i < 80 && height(place + low * n) > 0; ++i) {
      const double p = low + (high - low) / 3, q = high - (high - low) / 3;
      const double at_p = height(place + p * n), at_q = height(place + q * n);
      if (at_p <= 0) {
        low = p;
      } else if (at_q <= 0) {
        low = q;
      } else {
        (at_p < at_q ? high : low) = at_p < at_q ? q : p;
      }
    }
    if (height(place + low * n) > 0) return -infinity;
    high = far;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (height(place + middle * n) <= 0 ? low : high) = middle;
    }
    return low;
  }

 private:
  Placed placed_;
  std::vector<std::pair<Vec3, double>> planes_;
};

std::vector<Manifold> manifolds(const Placed& a, const Placed& b, double margin) {
  PairMemory memory;
  CollideScratch scratch;
  std::vector<Manifold> out;
  collide(CollisionShape(a.shape), Frame(a.pose), CollisionShape(b.shape), Frame(b.pose), margin, memory, scratch, out);
  return out;
}

double gap_of(const Placed& a, const Placed& b) {
  return distance_of(CollisionShape(a.shape), Frame(a.pose), CollisionShape(b.shape), Frame(b.pose), 100)->gap;
}

/// Flat, on a side, on an edge or anyhow; exactly, or off by an angle of any order.
Quat telling_orientation(std::mt19937& random) {
  if (random() % 4 == 0) return oracle::random_orientation(random);
  const auto turn = [](const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis)); };
  const double eighth = std::numbers::pi / 4;
  const double yaw = random() % 3 == 0 ? uniform(random, -3, 3) : eighth * double(random() % 8);
  Quat out = turn(Vec3::UnitZ(), yaw) * turn(Vec3::Unit(int(random() % 2)), eighth * double(random() % 8));
  if (random() % 3 != 0) out = turn(oracle::random_direction(random), std::pow(10, uniform(random, -10, -1))) * out;
  return out.normalized();
}

class ManifoldPair : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  std::mt19937 random{std::mt19937::result_type(std::get<0>(GetParam()) * 16 + std::get<1>(GetParam()) + 1)};
  static constexpr double size = 1;

  static int poses() {
    const char* count = std::getenv("ROTULE_MANIFOLD_POSES");
    return count != nullptr ? std::atoi(count) : 60;
  }
  /// B is let down onto A until they all but touch or overlap by a little.
  void place(Placed& a, Placed& b) {
    const auto [kind_a, kind_b] = GetParam();
    a = {manifold_kinds()[kind_a].make(random), {}};
    b = {manifold_kinds()[kind_b].make(random), {}};
    if (kind_a > 0) a.pose.orientation = telling_orientation(random);
    b.pose.orientation = telling_orientation(random);
    b.pose.position = {uniform(random, -0.3, 0.3), uniform(random, -0.3, 0.3), 6};
    for (int i = 0; i < 200; ++i) {
      const double gap = gap_of(a, b);
      if (gap < 1e-9 || b.pose.position.z() < -6) break;
      b.pose.position.z() -= gap;
    }
    if (random() % 2 == 0) b.pose.position.z() += uniform(random, -1e-3, 1e-3);
  }
};

/// The widest reach of the points along a direction of the view.
double reach_of(const Manifold& m, const Vec3& direction, double most_gap) {
  double out = -infinity;
  for (int i = 0; i < m.count; ++i)
    if (m.points[i].gap <= most_gap) out = std::max(out, direction.dot(m.points[i].on_b));
  return out;
}

/// How far points may stay behind the patch: rims are given by few of their points, and where a rim is lowest may move fast.
double slack_of(const Manifold& m) {
  double across = 0;
  for (int i = 0; i < m.count; ++i) across = std::max(across, (m.points[i].on_b - m.points[0].on_b).norm());
  return 6e-3 + 0.15 * across;
}

TEST_P(ManifoldPair, PointsAreOnBothSurfacesAndSpanThePatch) {
  const bool cones = std::get<0>(GetParam()) == 5 || std::get<1>(GetParam()) == 5;
  for (int pose = 0; pose < poses(); ++pose) {
    SCOPED_TRACE(pose);
    Placed a, b;
    place(a, b);
    const std::vector<Manifold> found = manifolds(a, b, 0.05);
    if (found.empty()) continue;
    ASSERT_EQ(found.size(), 1u);
    const Manifold& m = found[0];
    const Solid solid_a(a), solid_b(b);
    const double on_surface = (cones ? 1e-6 : 1e-8) * size;
    for (int i = 0; i < m.count; ++i) {
      const ContactPoint& p = m.points[i];
      EXPECT_NEAR(solid_a.height(p.on_a), 0, on_surface) << i << " of " << m.count;
      EXPECT_NEAR(solid_b.height(p.on_b), 0, on_surface) << i << " of " << m.count;
      const Vec3 apart = p.on_b - p.on_a;
      EXPECT_NEAR(m.normal.dot(apart), p.gap, 1e-10);
      EXPECT_LT((apart - p.gap * m.normal).norm(), 1e-5) << i << " of " << m.count;
      for (int k = 0; k < i; ++k) {
        EXPECT_NE(p.feature, m.points[k].feature);
        EXPECT_GT((p.on_b - m.points[k].on_b).norm(), 1e-7 * size) << i << " and " << k << " of " << m.count;
      }
    }
    const double tolerance = (cones ? 2e-6 : 1e-8) * size;
    EXPECT_NEAR(m.gap(), oracle::separation_along(a, b, m.normal), tolerance);
    EXPECT_GE(m.gap(), oracle::signed_distance(a, b, random) - tolerance);

    // From a point of least gap outwards: how far does the patch go, and do the points?
    const Vec3 n = m.normal, t = any_normal_to(n), u = n.cross(t);
    int first = 0;
    for (int i = 1; i < m.count; ++i)
      if (m.points[i].gap < m.points[first].gap) first = i;
    const Vec3 from = m.points[first].on_b;
    const auto gap_at = [&](const Vec3& place) { return -solid_b.top(place, -n, 8) - solid_a.top(place, n, 8); };
    const double deep = m.gap() + 1e-6 * size, slack = slack_of(m);
    for (int k = 0; k < 12; ++k) {
      const double angle = 2 * std::numbers::pi * k / 12 + 0.1;
      const Vec3 direction = std::cos(angle) * t + std::sin(angle) * u;
      double low = 0, high = 4;
      for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (low + high);
        (gap_at(from + middle * direction) <= deep ? low : high) = middle;
      }
      const double reached = reach_of(m, direction, infinity) - direction.dot(from);
      EXPECT_GE(reached, 0.6 * low - slack) << "the patch goes on for " << low << ", the " << m.count << " points for "
                                            << reached;
    }
    if (HasFailure()) FAIL() << "gap " << m.gap();
  }
}

TEST_P(ManifoldPair, NoEndComesOrGoesBetweenNeighbouringPoses) {
  for (int pose = 0; pose < poses(); ++pose) {
    SCOPED_TRACE(pose);
    Placed a, b;
    place(a, b);
    const std::vector<Manifold> before = manifolds(a, b, 0.05);
    if (before.empty()) continue;
    const Vec3 n = before[0].normal, t = any_normal_to(n), u = n.cross(t);
    for (int other = 0; other < 4; ++other) {
      Placed moved = b;
      moved.pose.position += 1e-6 * oracle::random_direction(random);
      moved.pose.orientation =
          (Quat(Eigen::AngleAxisd(1e-6, oracle::random_direction(random))) * b.pose.orientation).normalized();
      const std::vector<Manifold> after = manifolds(a, moved, 0.05);
      ASSERT_EQ(after.size(), 1u);
      EXPECT_NEAR(after[0].gap(), before[0].gap(), 1e-5);
      // Overlaps may have two ways out that are equally short.
      if (after[0].normal.dot(n) < 0.99) continue;
      for (int k = 0; k < 12; ++k) {
        const double angle = 2 * std::numbers::pi * k / 12;
        const Vec3 direction = std::cos(angle) * t + std::sin(angle) * u;
        const double near = before[0].gap() + 1e-4, first = reach_of(before[0], direction, near);
        const double width = first + reach_of(before[0], -direction, near);
        EXPECT_GE(reach_of(after[0], direction, near + 3e-5), first - 0.45 * width - slack_of(before[0]))
            << "an end is gone: " << before[0].count << " points, then " << after[0].count;
      }
      if (HasFailure()) FAIL() << "gap " << before[0].gap();
    }
  }
}

TEST(Manifold, SurfaceOnAPlaneTouchesWithItsVertices) {
  TriangleMesh tent;
  tent.vertices = {{-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0.3, -0.5}, {9, 9, -9}};  // the last one is of no triangle
  tent.triangles = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  const Placed plane{Plane{}, {}};
  const std::vector<Manifold> on_tip = manifolds(plane, {tent, {{0, 0, 0.49}, Quat::Identity()}}, 0.05);
  ASSERT_EQ(on_tip.size(), 1u);
  ASSERT_EQ(on_tip[0].count, 1);
  EXPECT_NEAR(on_tip[0].gap(), -0.01, 1e-15);
  const std::vector<Manifold> on_face = manifolds({tent, {{0, 0, 0.02}, Quat(0, 1, 0, 0)}}, plane, 0.05);
  ASSERT_EQ(on_face.size(), 1u);
  EXPECT_EQ(on_face[0].count, 3);
  EXPECT_NEAR(on_face[0].gap(), 0.02, 1e-15);
  EXPECT_NEAR(on_face[0].normal.z(), -1, 1e-15);
}

std::vector<std::tuple<int, int>> pairs_of_kinds() {
  std::vector<std::tuple<int, int>> out;
  for (int i = 0; i < int(manifold_kinds().size()); ++i)
    for (int j = 1; j < int(manifold_kinds().size()); ++j) out.emplace_back(i, j);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ManifoldPair, ::testing::ValuesIn(pairs_of_kinds()), [](const auto& p) {
  return std::string(manifold_kinds()[std::get<0>(p.param)].name) + "_" + manifold_kinds()[std::get<1>(p.param)].name;
});

}  // namespace
}  // namespace rotule
