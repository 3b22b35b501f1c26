// The real-time stepper gives the same bits whatever the width of lanes.
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rotule/world.h>

#include <array>
#include <string>

namespace rotule {
namespace {

/// Boxes, balls and compounds that fall onto each other.
Scene heap() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{.size = {20, 20, 1}}});
  for (int i = 0; i < 60; ++i) {
    BodyDef def;
    def.name = "b" + std::to_string(i);
    def.mass = 1 + i % 3;
    def.position = {0.3 * (i % 4), 0.31 * (i / 4 % 4), 0.3 + 0.45 * (i / 16)};
    def.orientation = Quat(1, 0.1 * (i % 5), 0.07 * (i % 3), 0.2).normalized();
    if (i % 3 == 0) def.shape = Box{.size = {0.3, 0.25, 0.2}};
    if (i % 3 == 1) def.shape = Sphere{.radius = 0.15};
    if (i % 3 == 2)
      def.shape = Compound{.parts = {{.shape = Capsule{.radius = 0.06, .length = 0.2}},
                                     {.shape = Sphere{.radius = 0.1}, .position = {0, 0, 0.15}}}};
    scene.add(def);
  }
  return scene;
}

std::uint64_t hash_after(int steps) {
  World world(heap(), recipes::fastest());
  for (int i = 0; i < steps; ++i) world.step();
  return world.state_hash();
}

TEST(RealtimeLanes, OneHashForAllWidths) {
  constexpr int steps = 120;
  const std::uint64_t widest = hash_after(steps);
  for (const std::int64_t target : std::array<std::int64_t, 3>{HWY_AVX2, HWY_SSE4, HWY_SCALAR}) {
    hwy::SetSupportedTargetsForTest(target | HWY_SCALAR);
    hwy::GetChosenTarget().DeInit();
    EXPECT_EQ(hash_after(steps), widest) << hwy::TargetName(target);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
}

}  // namespace
}  // namespace rotule
