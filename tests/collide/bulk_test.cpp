// Bulk kernels: in double they give what the general search (gjk.h, epa.h) gives, which shares no code with them; in float lanes
// the same up to the rounding of floats.
#include <gtest/gtest.h>

#include "collide/narrow/bulk.h"
#include "collide/narrow/collide.h"
#include "collide/narrow/separation.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

constexpr int pair_count = 1001;  // not a multiple of the lanes

Frame random_frame(std::mt19937& random, double reach) {
  return Frame(Pose{reach * oracle::random_direction(random), oracle::random_orientation(random)});
}

template <class Scalar>
void put(Array3<Scalar>& array, int i, const Vec3& v) {
  array.x[i] = Scalar(v.x()), array.y[i] = Scalar(v.y()), array.z[i] = Scalar(v.z());
}
template <class Scalar>
Vec3 get(const Array3<Scalar>& array, int i) {
  return {double(array.x[i]), double(array.y[i]), double(array.z[i])};
}

struct RoundCase {
  std::vector<Convex> a, b;
  std::vector<Frame> X;  // A stands at the origin, along z

  RoundCase(bool capsule_a, bool capsule_b) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> size(0.1, 0.6), reach(0.2, 2);
    for (int i = 0; i < pair_count; ++i) {
      a.push_back(capsule_a ? Convex::capsule(size(random), 2 * size(random)) : Convex::sphere(size(random)));
      b.push_back(capsule_b ? Convex::capsule(size(random), 2 * size(random)) : Convex::sphere(size(random)));
      X.push_back(random_frame(random, reach(random)));
    }
  }

  template <class Scalar>
  [[nodiscard]] RoundPairs<Scalar> pairs() const {
    RoundPairs<Scalar> out;
    out.resize(pair_count);
    for (int i = 0; i < pair_count; ++i) {
      put(out.between, i, X[i].p);
      put(out.axis_a, i, Vec3::UnitZ());
      put(out.axis_b, i, X[i].R.col(2));
      out.half_a[i] = Scalar(a[i].size.z());
      out.half_b[i] = Scalar(b[i].size.z());
      out.radii[i] = Scalar(a[i].radius + b[i].radius);
    }
    return out;
  }

  template <class Scalar>
  void expect_same(const BulkGaps<Scalar>& found, double tolerance) const {
    for (int i = 0; i < pair_count; ++i) {
      PairMemory memory;
      const Separation s = general_separation(a[i], b[i], X[i], infinity, memory);
      EXPECT_NEAR(double(found.gap[i]), s.gap, tolerance) << i;
      // Near where cores meet the normal turns fast.
      const double core = s.gap + a[i].radius + b[i].radius;
      if (core > 0.05) {
        EXPECT_LT((get(found.normal, i) - s.normal).norm(), 100 * tolerance) << i;
      }
    }
  }
};

TEST(Bulk, SpheresAndCapsules) {
  const RoundCase spheres(false, false), mixed(false, true), capsules(true, true);
  BulkGaps<double> exact;
  BulkGaps<float> lanes;
  sphere_sphere_gaps<double>(spheres.pairs<double>(), exact);
  spheres.expect_same(exact, 1e-9);
  sphere_sphere_gaps<FloatLanes>(spheres.pairs<float>(), lanes);
  spheres.expect_same(lanes, 2e-6);
  sphere_capsule_gaps<double>(mixed.pairs<double>(), exact);
  mixed.expect_same(exact, 1e-9);
  sphere_capsule_gaps<FloatLanes>(mixed.pairs<float>(), lanes);
  mixed.expect_same(lanes, 2e-6);
  capsule_capsule_gaps<double>(capsules.pairs<double>(), exact);
  capsules.expect_same(exact, 1e-9);
  capsule_capsule_gaps<FloatLanes>(capsules.pairs<float>(), lanes);
  capsules.expect_same(lanes, 5e-6);
}

TEST(Bulk, CoincidentCentresHaveANormal) {
  RoundPairs<float> pairs;
  pairs.resize(1);
  pairs.radii[0] = 3;
  BulkGaps<float> out;
  sphere_sphere_gaps<FloatLanes>(pairs, out);
  EXPECT_EQ(out.gap[0], -3);
  EXPECT_EQ(get(out.normal, 0), Vec3::UnitZ());
}

template <class L>
void check_sphere_box(double tolerance) {
  using Scalar = ScalarOf<L>;
  std::mt19937 random(12);
  std::uniform_real_distribution<double> size(0.2, 1), reach(0, 1.5);
  SphereBoxPairs<Scalar> pairs;
  pairs.resize(pair_count);
  std::vector<Convex> spheres, boxes;
  std::vector<Vec3> centers;
  for (int i = 0; i < pair_count; ++i) {
    spheres.push_back(Convex::sphere(size(random)));
    boxes.push_back(Convex::box({size(random), size(random), size(random)}));
    centers.push_back(reach(random) * oracle::random_direction(random));
    put(pairs.center, i, centers[i]);
    put(pairs.size, i, boxes[i].size);
    pairs.radius[i] = Scalar(spheres[i].radius);
  }
  BulkGaps<Scalar> found;
  sphere_box_gaps<L>(pairs, found);
  for (int i = 0; i < pair_count; ++i) {
    // The sphere is A: seen from it the box stands at minus the centre.
    PairMemory memory;
    const Separation s = general_separation(spheres[i], boxes[i], Frame(Mat3::Identity(), -centers[i]), infinity, memory);
    EXPECT_NEAR(double(found.gap[i]), s.gap, tolerance) << i;
    const double along = s.normal.dot(get(found.normal, i));
    if (std::abs(s.gap + spheres[i].radius) > 0.02) {
      EXPECT_GT(along, 0.99) << i;
    }
  }
}

TEST(Bulk, SphereAndBox) {
  check_sphere_box<double>(1e-9);
  check_sphere_box<FloatLanes>(5e-6);
}

template <class L>
void check_boxes(double tolerance) {
  using Scalar = ScalarOf<L>;
  std::mt19937 random(13);
  std::uniform_real_distribution<double> size(0.3, 1), reach(0.2, 1.6);
  BoxPairs<Scalar> pairs;
  pairs.resize(pair_count);
  std::vector<Convex> a, b;
  std::vector<Frame> X;
  for (int i = 0; i < pair_count; ++i) {
    a.push_back(Convex::box({size(random), size(random), size(random)}));
    b.push_back(Convex::box({size(random), size(random), size(random)}));
    X.push_back(random_frame(random, reach(random)));
    if (i % 10 == 0) X[i].R = Mat3::Identity();  // edges in parallel
    put(pairs.between, i, X[i].p);
    for (int m = 0; m < 3; ++m) put(pairs.axis[m], i, X[i].R.col(m));
    put(pairs.size_a, i, a[i].size);
    put(pairs.size_b, i, b[i].size);
  }
  std::vector<Scalar> found;
  box_box_separations<L>(pairs, found);
  int apart = 0;
  for (int i = 0; i < pair_count; ++i) {
    PairMemory memory;
    const double gap = general_separation(a[i], b[i], X[i], infinity, memory).gap;
    // Overlapping: the depth. Apart: a bound, and apart along some axis.
    if (gap < 0) {
      EXPECT_NEAR(double(found[i]), gap, tolerance) << i;
    }
    if (gap > tolerance) {
      EXPECT_GT(found[i], 0) << i;
      EXPECT_LT(double(found[i]), gap + tolerance) << i;
      ++apart;
    }
  }
  EXPECT_GT(apart, 100);
  EXPECT_LT(apart, pair_count - 100);
}

TEST(Bulk, Boxes) {
  check_boxes<double>(1e-9);
  check_boxes<FloatLanes>(1e-5);
}

}  // namespace
}  // namespace rotule
