// Poses and sizes that break careless algorithms: the definition must hold all the same.
#include <gtest/gtest.h>

#include "collide/narrow/collide.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

using oracle::Placed;

std::vector<Shape> shapes_of_size(double s) {
  ConvexHull octahedron;
  for (int k = 0; k < 3; ++k) {
    octahedron.points.push_back(s * Vec3::Unit(k));
    octahedron.points.push_back(-s * Vec3::Unit(k));
  }
  return {Sphere{s}, Capsule{0.5 * s, s}, Box{{s, 1.5 * s, 2 * s}}, Cylinder{s, s}, Cone{s, s}, Ellipsoid{{s, 0.7 * s, 0.5 * s}},
          octahedron};
}

Manifold only_contact(const Placed& a, const Placed& b, double margin) {
  const CollisionShape shape_a(a.shape), shape_b(b.shape);
  PairMemory memory;
  CollideScratch scratch;
  std::vector<Manifold> out;
  collide(shape_a, Frame(a.pose), shape_b, Frame(b.pose), margin, memory, scratch, out);
  EXPECT_EQ(out.size(), 1u);
  return out.empty() ? Manifold{} : out[0];
}

/// Finite, unit normal, separation along it equal to the gap; `size` scales the tolerance.
void expect_sound(const Placed& a, const Placed& b, double size, double tolerance = 2e-6) {
  const Manifold m = only_contact(a, b, 100 * size);
  ASSERT_GT(m.count, 0);
  ASSERT_NEAR(m.normal.norm(), 1, 1e-9);
  const double scale = size * tolerance + 1e-15 * a.pose.position.norm();
  EXPECT_NEAR(m.gap(), oracle::separation_along(a, b, m.normal), scale);
  std::mt19937 random(1);
  EXPECT_GE(m.gap(), oracle::signed_distance(a, b, random) - scale);
  for (int i = 0; i < m.count; ++i) {
    ASSERT_TRUE(m.points[i].on_a.allFinite() && m.points[i].on_b.allFinite());
    EXPECT_NEAR(oracle::height_above(a, m.points[i].on_a), 0, 10 * scale);
    EXPECT_NEAR(oracle::height_above(b, m.points[i].on_b), 0, 10 * scale);
  }
}

TEST(Degenerate, CoincidentCentresAndAxes) {
  for (const Shape& a : shapes_of_size(1))
    for (const Shape& b : shapes_of_size(1)) {
      SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()));
      expect_sound({a, {}}, {b, {}}, 1);
    }
}

TEST(Degenerate, StackedAlongEachAxisTouchingOrNearly) {
  for (const Shape& a : shapes_of_size(1))
    for (const Shape& b : shapes_of_size(1))
      for (int k = 0; k < 3; ++k)
        for (const double gap : {-1e-3, -1e-9, 0.0, 1e-12, 1e-9, 1e-3}) {
          SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()) + " axis " + std::to_string(k) + " gap " +
                       std::to_string(gap));
          const Vec3 axis = Vec3::Unit(k);
          const double touching = axis.dot(support(a, axis)) - axis.dot(support(b, -axis));
          expect_sound({a, {}}, {b, {(touching + gap) * axis, Quat::Identity()}}, 1);
        }
}

TEST(Degenerate, SizesFromAMillimetreToTenKilometres) {
  std::mt19937 random(3);
  for (const double s : {1e-3, 1.0, 1e4})
    for (const Shape& a : shapes_of_size(s))
      for (const Shape& b : shapes_of_size(s))
        for (int i = 0; i < 5; ++i) {
          SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()) + " size " + std::to_string(s));
          expect_sound({a, {Vec3::Zero(), oracle::random_orientation(random)}},
                       {b, {1.2 * s * oracle::random_direction(random), oracle::random_orientation(random)}}, s);
        }
}

TEST(Degenerate, LargeMeetsSmall) {
  std::mt19937 random(4);
  for (const Shape& a : shapes_of_size(1000))
    for (const Shape& b : shapes_of_size(1e-2)) {
      SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()));
      const Vec3 d = oracle::random_direction(random);
      expect_sound({a, {}}, {b, {support(a, d), oracle::random_orientation(random)}}, 1000, 1e-7);
    }
}

TEST(Degenerate, NeedlesAndPancakes) {
  std::mt19937 random(5);
  const std::vector<Shape> thin{Box{{1000, 1, 1}}, Box{{1000, 1000, 1}}, Cylinder{0.5, 1000},        Cylinder{500, 1},
                                Cone{0.5, 1000},   Cone{500, 1},         Ellipsoid{{500, 0.5, 0.5}}, Ellipsoid{{500, 500, 0.5}},
                                Capsule{0.5, 1000}};
  for (const Shape& a : thin)
    for (const Shape& b : thin)
      for (int i = 0; i < 10; ++i) {
        SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()) + " pose " + std::to_string(i));
        expect_sound({a, {Vec3::Zero(), oracle::random_orientation(random)}},
                     {b, {10 * oracle::random_direction(random), oracle::random_orientation(random)}}, 1000, 1e-6);
      }
}

TEST(Degenerate, FarFromTheOriginIsLikeAtTheOrigin) {
  std::mt19937 random(6);
  const Vec3 far(1e6, -1e6, 1e6);
  for (const Shape& a : shapes_of_size(1))
    for (const Shape& b : shapes_of_size(1))
      for (int i = 0; i < 5; ++i) {
        SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()));
        const Placed near_a{a, {Vec3::Zero(), oracle::random_orientation(random)}};
        const Placed near_b{b, {1.5 * oracle::random_direction(random), oracle::random_orientation(random)}};
        Placed far_a = near_a, far_b = near_b;
        far_a.pose.position += far;
        far_b.pose.position += far;
        EXPECT_NEAR(only_contact(near_a, near_b, 10).gap(), only_contact(far_a, far_b, 10).gap(), 1e-8);
      }
}

TEST(Degenerate, BoxOnBoxHasFourCornersThatKeepTheirNames) {
  // Face on face, equal and aligned; then slid a little: the same four features, each where its corner went.
  const Placed low{Box{}, {}};
  Placed high{Box{}, {{0, 0, 0.999}, Quat::Identity()}};
  const Manifold before = only_contact(low, high, 0.01);
  ASSERT_EQ(before.count, 4);
  EXPECT_NEAR((before.normal - Vec3::UnitZ()).norm(), 0, 1e-12);
  high.pose.position += Vec3(1e-3, 2e-3, 0);
  const Manifold start = only_contact(low, high, 0.01);
  high.pose.position += Vec3(1e-3, 1e-3, 0);
  const Manifold end = only_contact(low, high, 0.01);
  ASSERT_EQ(start.count, 4);
  ASSERT_EQ(end.count, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(std::abs(before.points[i].on_a.x()), 0.5, 1e-9);
    EXPECT_NEAR(std::abs(before.points[i].on_a.y()), 0.5, 1e-9);
    int found = 0;
    for (int k = 0; k < 4; ++k)
      if (end.points[k].feature == start.points[i].feature) {
        ++found;
        EXPECT_LT((end.points[k].on_a - start.points[i].on_a).norm(), 2e-3);
      }
    EXPECT_EQ(found, 1);
  }
}

TEST(Degenerate, ParallelCapsulesAndCylindersLieOnTwoPoints) {
  const Quat lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  for (const Shape& s : {Shape(Capsule{0.5, 2}), Shape(Cylinder{0.5, 2})}) {
    const Manifold pair = only_contact({s, {Vec3::Zero(), lying}}, {s, {{0, 0, 0.99}, lying}}, 0.01);
    EXPECT_EQ(pair.count, 2);
    EXPECT_NEAR(std::abs(pair.points[0].on_a.y()), 1, 1e-6);
    const Manifold ground = only_contact({Plane{}, {}}, {s, {{0, 0, 0.49}, lying}}, 0.01);
    EXPECT_EQ(ground.count, 2);
  }
  // Standing on its end a cylinder rests on four points.
  EXPECT_EQ(only_contact({Plane{}, {}}, {Cylinder{0.5, 2}, {{0, 0, 0.99}, Quat::Identity()}}, 0.01).count, 4);
  EXPECT_EQ(only_contact({Box{{4, 4, 1}}, {}}, {Cylinder{0.5, 2}, {{0, 0, 1.49}, Quat::Identity()}}, 0.01).count, 4);
}

TEST(Degenerate, WarmStartChangesNothing) {
  std::mt19937 random(8);
  for (const Shape& a : shapes_of_size(1))
    for (const Shape& b : shapes_of_size(1)) {
      SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()));
      const CollisionShape shape_a(a), shape_b(b);
      PairMemory kept;
      CollideScratch scratch;
      Pose pose{1.3 * oracle::random_direction(random), oracle::random_orientation(random)};
      for (int i = 0; i < 50; ++i) {
        pose.position += 0.05 * oracle::random_direction(random);
        pose.orientation = (Quat(Eigen::AngleAxisd(0.1, oracle::random_direction(random))) * pose.orientation).normalized();
        PairMemory fresh;
        std::vector<Manifold> warm, cold;
        collide(shape_a, Frame{}, shape_b, Frame(pose), 0.1, kept, scratch, warm);
        collide(shape_a, Frame{}, shape_b, Frame(pose), 0.1, fresh, scratch, cold);
        ASSERT_EQ(warm.size(), cold.size());
        if (!warm.empty()) {
          ASSERT_NEAR(warm[0].gap(), cold[0].gap(), 2e-6);
        }
      }
    }
}

TEST(Degenerate, AWrongMemoryMisleadsNobody) {
  // Any direction at all as the last normal, shallow to deep: other minima of the support function are not taken for the least.
  std::mt19937 random(9);
  std::uniform_real_distribution<double> reach(0.1, 1.6);
  for (const Shape& a : shapes_of_size(1))
    for (const Shape& b : shapes_of_size(1)) {
      SCOPED_TRACE(std::to_string(a.index()) + " " + std::to_string(b.index()));
      const CollisionShape shape_a(a), shape_b(b);
      CollideScratch scratch;
      for (int i = 0; i < 50; ++i) {
        const Pose pose{reach(random) * oracle::random_direction(random), oracle::random_orientation(random)};
        PairMemory fresh;
        std::vector<Manifold> cold;
        collide(shape_a, Frame{}, shape_b, Frame(pose), 0.1, fresh, scratch, cold);
        for (int k = 0; k < 8; ++k) {
          PairMemory wrong{oracle::random_direction(random)};
          std::vector<Manifold> misled;
          collide(shape_a, Frame{}, shape_b, Frame(pose), 0.1, wrong, scratch, misled);
          ASSERT_EQ(misled.size(), cold.size());
          if (!cold.empty()) {
            ASSERT_NEAR(misled[0].gap(), cold[0].gap(), 4e-6);
          }
        }
      }
    }
}

}  // namespace
}  // namespace rotule
