// Bodies that joints hold in each other: joints come first, the overlap stays and is said, and all else moves as if it were not.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace rotule {
namespace {

enum class Held { weld, hinge_along_floor, hinge_upright };

/// A block that stands in the floor by `depth`, held to the world, with an arm that swings from it.
Scene held_block(Held how, double depth, double size, bool floor) {
  Scene scene;
  if (floor) scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "block", .density = 500, .position = {0, 0, 0.5 * size - depth}, .shape = Box{{size, size, size}}});
  scene.add({.name = "arm", .density = 300, .position = {size, 0, 1.5 * size}, .shape = Box{{2 * size, 0.2 * size, 0.2 * size}}});
  const Vec3 middle(0, 0, 0.5 * size);
  if (how == Held::weld)
    scene.add(Weld{.between = {"world", "block"}, .at = middle});
  else
    scene.add(
        Hinge{.between = {"world", "block"}, .at = middle, .axis = how == Held::hinge_upright ? Vec3::UnitZ() : Vec3::UnitY()});
  scene.add(Hinge{.between = {"block", "arm"}, .at = {0, 0, 1.5 * size}, .axis = Vec3::UnitY()});
  return scene;
}

TEST(HeldOverlap, JointsHoldAndTheArmSwingsAsWithoutAFloor) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-5, -1.3), length(-2, 1);
  for (const Held how : {Held::weld, Held::hinge_upright})
    for (int k = 0; k < 8; ++k) {
      const double size = std::pow(10.0, length(random)), depth = size * std::pow(10.0, exponent(random));
      World held(held_block(how, depth, size, true)), alone(held_block(how, depth, size, false));
      alone.set_recipe(held.recipe());  // without a floor it would get another
      const double dt = 1e-3 * std::sqrt(size);
      double overlap = 0;
      for (int step = 0; step < 200; ++step) {
        const StepReport& report = held.step(dt);
        EXPECT_TRUE(report.converged);
        EXPECT_EQ(report.joints_open, 0);
        overlap = std::max(overlap, report.held_overlap);
        alone.step(dt);
      }
      EXPECT_NEAR(overlap, depth, 1e-6 * size);
      // Joints that touch nothing have their velocities closed too, which is of the second order in the step.
      EXPECT_LT((held.position("arm") - alone.position("arm")).norm(), 1e-4 * size) << k;
      EXPECT_LT((held.position("block") - Vec3(0, 0, 0.5 * size - depth)).norm(), 1e-9 * size) << k;
    }
}

/// On a hinge along the floor the face has contacts on both sides of the axis: none of them can open but by closing another.
TEST(HeldOverlap, ContactsOnBothSidesOfAHingeDoNotTearIt) {
  for (const double depth : {1e-5, 1e-4, 1e-3, 5e-3}) {
    World world(held_block(Held::hinge_along_floor, depth, 0.2, true));
    for (int step = 0; step < 200; ++step) {
      const StepReport& report = world.step(1e-3);
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(report.joints_open, 0);
    }
    EXPECT_LT((world.position("block") - Vec3(0, 0, 0.1 - depth)).norm(), 1e-9);
    const std::vector<std::string> warnings = world.warnings();
    EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& w) { return w.find("where joints hold them") != w.npos; }));
  }
}

}  // namespace
}  // namespace rotule
