// Two boxes: what the lanes of their kernel must not change, and faces that lie on each other almost exactly.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>

#include "collide/narrow/collide.h"
#include "collide/oracle.h"

namespace rotule {
namespace {

/// Everything that a manifold says, bit by bit.
std::vector<std::uint64_t> bits_of(const std::vector<Manifold>& manifolds) {
  std::vector<std::uint64_t> out;
  const auto add = [&](const Vec3& v) {
    for (int k = 0; k < 3; ++k) out.push_back(std::bit_cast<std::uint64_t>(v[k]));
  };
  for (const Manifold& m : manifolds) {
    add(m.normal);
    for (int i = 0; i < m.count; ++i) {
      add(m.points[i].on_a);
      add(m.points[i].on_b);
      out.push_back(std::bit_cast<std::uint64_t>(m.points[i].gap));
      out.push_back(m.points[i].feature);
    }
  }
  return out;
}

std::vector<std::uint64_t> random_contacts() {
  std::mt19937 random(21);
  std::uniform_real_distribution<double> size(0.3, 1.5), tilt(-0.02, 0.02), gap(-0.05, 0.05);
  CollideScratch scratch;
  std::vector<Manifold> found;
  for (int i = 0; i < 5000; ++i) {
    const CollisionShape a(Box{{size(random), size(random), size(random)}}), b(Box{{size(random), size(random), 1}});
    // Every other pair lies flat.
    const Pose at{{0, 0, 0}, Quat::Identity()};
    const Quat turned = i % 2 ? oracle::random_orientation(random) : Quat(Eigen::AngleAxisd(tilt(random), Vec3::UnitX()));
    const Pose to{i % 2 ? Vec3(oracle::random_direction(random))
                        : Vec3(tilt(random), gap(random), a.parts()[0].convex.size.z() + 0.5 + gap(random)),
                  turned};
    PairMemory memory;
    collide(a, Frame(at), b, Frame(to), 0.02, memory, scratch, found);
    collide(a, Frame(at), b, Frame(to), 0.02, memory, scratch, found);  // once more, with what it remembers
  }
  EXPECT_GT(found.size(), 4000u);
  return bits_of(found);
}

TEST(BoxBox, LanesDoNotChangeABit) {
  const std::vector<std::uint64_t> widest = random_contacts();
  hwy::SetSupportedTargetsForTest(HWY_SCALAR);
  hwy::GetChosenTarget().DeInit();
  const std::vector<std::uint64_t> narrowest = random_contacts();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  EXPECT_EQ(widest, narrowest);
}

TEST(BoxBox, NearlyAlignedFacesHoldEachOther) {
  // Equal boxes on each other: corners, edges and sides fall on each other up to anything between rounding and 1e-5. What they
  // share has up to eight corners; of four that span the most of it none may be lost.
  std::mt19937 random(22);
  std::uniform_real_distribution<double> unit(-1, 1);
  const CollisionShape box(Box{{1, 0.8, 0.6}});
  CollideScratch scratch;
  for (int i = 0; i < 20000; ++i) {
    const double noise = std::pow(10.0, -18 + 13.0 * (i % 1000) / 1000);
    const auto shake = [&] { return i % 3 == 0 ? noise * std::copysign(1.0, unit(random)) : noise * unit(random); };
    const Pose low{{0, 0, 0}, Quat(1, shake(), shake(), shake()).normalized()};
    const Pose high{{shake(), shake(), 0.6 + shake()}, Quat(1, shake(), shake(), shake()).normalized()};
    std::vector<Manifold> found;
    PairMemory memory;
    collide(box, Frame(low), box, Frame(high), 1e-3, memory, scratch, found);
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(found[0].count, 4) << noise;
    double area = 0;
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) {
        // The quadrangle's area is the largest that half the product of two diagonals makes, in any order of its corners.
        const int l = (j + 1) % 4 == k ? (k + 1) % 4 : (j + 1) % 4, m = 6 - j - k - l;
        if (j == k) continue;
        const Vec3 d = found[0].points[k].on_a - found[0].points[j].on_a, e = found[0].points[m].on_a - found[0].points[l].on_a;
        area = std::max(area, 0.5 * std::abs(d.x() * e.y() - d.y() * e.x()));
      }
    EXPECT_GT(area, 0.5 * 0.8) << noise;
    for (const ContactPoint& p : found[0].points) {
      // On the rim of the face.
      EXPECT_LT(std::abs(p.on_a.x()), 0.5 + 1e-4);
      EXPECT_LT(std::abs(p.on_a.y()), 0.4 + 1e-4);
      EXPECT_NEAR(std::max(std::abs(p.on_a.x()) / 0.5, std::abs(p.on_a.y()) / 0.4), 1, 1e-3);
    }
  }
}

}  // namespace
}  // namespace rotule
