// Every pair of convex shapes and half-spaces: a manifold must satisfy its definition.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "collide/narrow/collide.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

using oracle::Placed;
using oracle::uniform;

struct Maker {
  const char* name;
  std::function<Shape(std::mt19937&)> make;
};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> all{
      {"plane", [](std::mt19937&) { return Plane{}; }},
      {"sphere", [](std::mt19937& r) { return Sphere{uniform(r, 0.2, 1)}; }},
      {"capsule",
       [](std::mt19937& r) {
         return Capsule{uniform(r, 0.1, 0.6), uniform(r, 0.1, 2)};
       }},
      {"box",
       [](std::mt19937& r) {
         return Box{{uniform(r, 0.2, 2), uniform(r, 0.2, 2), uniform(r, 0.2, 2)}};
       }},
      {"cylinder",
       [](std::mt19937& r) {
         return Cylinder{uniform(r, 0.2, 1), uniform(r, 0.2, 2)};
       }},
      {"cone",
       [](std::mt19937& r) {
         return Cone{uniform(r, 0.2, 1), uniform(r, 0.2, 2)};
       }},
      {"ellipsoid",
       [](std::mt19937& r) {
         return Ellipsoid{{uniform(r, 0.2, 1), uniform(r, 0.2, 1), uniform(r, 0.2, 1)}};
       }},
      {"hull",
       [](std::mt19937& r) {
         ConvexHull hull;
         for (int i = 0; i < 14; ++i) hull.points.push_back(oracle::random_direction(r) * uniform(r, 0.4, 1));
         return hull;
       }},
  };
  return all;
}

std::vector<Manifold> contacts(const Placed& a, const Placed& b, double margin) {
  const CollisionShape shape_a(a.shape), shape_b(b.shape);
  PairMemory memory;
  CollideScratch scratch;
  std::vector<Manifold> out;
  collide(shape_a, Frame(a.pose), shape_b, Frame(b.pose), margin, memory, scratch, out);
  return out;
}

using Pair = std::tuple<int, int>;

class ConvexPair : public ::testing::TestWithParam<Pair> {
 protected:
  std::mt19937 random{std::mt19937::result_type(std::get<0>(GetParam()) * 16 + std::get<1>(GetParam()))};

  Placed place(int kind, double spread) {
    Placed p{makers()[kind].make(random), {}};
    p.pose.orientation = oracle::random_orientation(random);
    p.pose.position = Vec3(uniform(random, -spread, spread), uniform(random, -spread, spread), uniform(random, -spread, spread));
    return p;
  }
};

TEST_P(ConvexPair, ManifoldSatisfiesItsDefinition) {
  const auto [kind_a, kind_b] = GetParam();
  constexpr double margin = 0.3, tolerance = 2e-6;
  int near = 0;
  for (int pose = 0; pose < 1000; ++pose) {
    const Placed a = place(kind_a, 0.7), b = place(kind_b, 0.7);
    SCOPED_TRACE(pose);
    const double expected = oracle::signed_distance(a, b, random);
    const std::vector<Manifold> found = contacts(a, b, margin);
    if (found.empty()) {
      // They are farther apart than the margin, and a direction proves it.
      const std::vector<Manifold> apart = contacts(a, b, 100);
      ASSERT_EQ(apart.size(), 1u);
      EXPECT_GT(oracle::separation_along(a, b, apart[0].normal), margin - tolerance);
      continue;
    }
    ++near;
    ASSERT_EQ(found.size(), 1u);
    const Manifold& m = found[0];
    ASSERT_NEAR(m.normal.norm(), 1, 1e-12);
    // Separation along the normal equals the depth, and no direction is better.
    EXPECT_NEAR(m.gap(), oracle::separation_along(a, b, m.normal), tolerance);
    EXPECT_GE(m.gap(), expected - tolerance);
    for (int i = 0; i < m.count; ++i) {
      const ContactPoint& p = m.points[i];
      EXPECT_NEAR(oracle::height_above(a, p.on_a), 0, 2e-5) << i << " of " << m.count;
      EXPECT_NEAR(oracle::height_above(b, p.on_b), 0, 2e-5) << i << " of " << m.count;
      EXPECT_NEAR(m.normal.dot(p.on_b - p.on_a), p.gap, 1e-9);
      EXPECT_LE(p.gap, margin);
      for (int k = 0; k < i; ++k) EXPECT_NE(p.feature, m.points[k].feature);
    }
    if (HasFailure()) FAIL() << "gap " << m.gap() << " oracle " << expected;
  }
  EXPECT_GT(near, 300);
}

TEST_P(ConvexPair, SwapAndRigidMotionChangeNothing) {
  const auto [kind_a, kind_b] = GetParam();
  constexpr double margin = 0.3, tolerance = 2e-6;
  for (int pose = 0; pose < 200; ++pose) {
    SCOPED_TRACE(pose);
    const Placed a = place(kind_a, 0.9), b = place(kind_b, 0.9);
    const Pose motion{Vec3(uniform(random, -5, 5), uniform(random, -5, 5), uniform(random, -5, 5)),
                      oracle::random_orientation(random)};
    const auto moved = [&](const Placed& s) {
      return Placed{s.shape, {motion.position + motion.orientation * s.pose.position, motion.orientation * s.pose.orientation}};
    };
    const std::vector<Manifold> plain = contacts(a, b, margin), swapped = contacts(b, a, margin),
                                far = contacts(moved(a), moved(b), margin);
    if (!plain.empty() && plain[0].gap() > margin - 1e-5) continue;
    ASSERT_EQ(plain.size(), swapped.size());
    ASSERT_EQ(plain.size(), far.size());
    if (plain.empty()) continue;
    EXPECT_NEAR(plain[0].gap(), swapped[0].gap(), tolerance);
    EXPECT_NEAR(plain[0].gap(), far[0].gap(), tolerance);
    // The direction of a distance is unique; that of a depth need not be.
    if (plain[0].gap() > 1e-3) {
      EXPECT_NEAR((plain[0].normal + swapped[0].normal).norm(), 0, 1e-3);
      EXPECT_NEAR((motion.orientation * plain[0].normal - far[0].normal).norm(), 0, 1e-3);
    }
    if (HasFailure()) FAIL();
  }
}

TEST_P(ConvexPair, GapChangesNoFasterThanPoses) {
  const auto [kind_a, kind_b] = GetParam();
  for (int pose = 0; pose < 100; ++pose) {
    SCOPED_TRACE(pose);
    const Placed a = place(kind_a, 0.7);
    Placed b = place(kind_b, 0.7);
    double last = 0;
    const Vec3 direction = oracle::random_direction(random);
    constexpr double step = 1e-3;
    for (int i = 0; i < 10; ++i) {
      b.pose.position += step * direction;
      const std::vector<Manifold> found = contacts(a, b, 10);
      ASSERT_EQ(found.size(), 1u);
      if (i > 0) {
        ASSERT_LE(std::abs(found[0].gap() - last), step + 1e-5);
      }
      last = found[0].gap();
    }
  }
}

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (int i = 0; i < int(makers().size()); ++i)
    for (int j = std::max(i, 1); j < int(makers().size()); ++j) pairs.emplace_back(i, j);
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(All, ConvexPair, ::testing::ValuesIn(all_pairs()), [](const auto& p) {
  return std::string(makers()[std::get<0>(p.param)].name) + "_" + makers()[std::get<1>(p.param)].name;
});

}  // namespace
}  // namespace rotule
