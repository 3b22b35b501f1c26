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
    EXPECT_TRUE(std::ranges::any_of(warnings,
                                    [](const std::string& w) { return w.find("joints or given motions hold them") != w.npos; }));
  }
}

/// An arm on a hinge that is told to turn sweeps through the floor and out of it again: it is where it is told to be, the hinge
/// holds, and the books of energy close, whatever lies in the way.
TEST(HeldOverlap, GivenMotionsGoThroughWhatCannotMove) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> speed(0.5, 4), longer(1.05, 1.4), size(-1, 1);
  for (int k = 0; k < 6; ++k) {
    const double l = std::pow(10.0, size(random)), omega = speed(random) / std::sqrt(l), reach = longer(random) * l;
    Scene scene;
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
    scene.add({.name = "arm",
               .density = 500,
               .position = {0.5 * reach, 0, l},
               .velocity = {0, 0, -0.5 * reach * omega},
               .angular_velocity = {0, omega, 0},
               .shape = Box{{reach, 0.1 * l, 0.1 * l}}});
    scene.add(Hinge{
        .between = {"world", "arm"}, .at = {0, 0, l}, .axis = Vec3::UnitY(), .drive = {.motion = GivenMotion{.speed = omega}}});
    World world(std::move(scene));
    world.keep_books(true);
    const double dt = 1e-3 * std::sqrt(l);
    double overlap = 0;
    const int steps = static_cast<int>(3 / (omega * dt));
    for (int step = 1; step <= steps; ++step) {
      const StepReport& report = world.step(dt);
      EXPECT_TRUE(report.converged) << k << ", step " << step;
      overlap = std::max(overlap, report.held_overlap);
      const double angle = omega * dt * step;
      const Vec3 told(0.5 * reach * std::cos(angle), 0, l - 0.5 * reach * std::sin(angle));
      ASSERT_LT((world.position("arm") - told).norm(), 1e-8 * l) << k << ", step " << step;
    }
    EXPECT_GT(overlap, 0.04 * l);
    const EnergyBalance books = world.diagnostics().energy_balance;
    EXPECT_LT(std::abs(books.left_over), 0.03 * books.motors) << k;
  }
}

/// What lies in a press is squeezed by what it is told to do: it stays between the two, at rest when they are.
TEST(HeldOverlap, APressHoldsWhatLiesInIt) {
  for (const double mass : {1e-3, 5.0, 1e4}) {
    Scene scene;
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
    scene.add({.name = "crate", .mass = mass, .position = {0, 0, 0.5}, .shape = Box{{1, 1, 1}}});
    scene.add({.name = "ram", .position = {0, 0, 1.15}, .shape = Box{{2, 2, 0.2}}, .kinematic = true});
    World world(std::move(scene));
    world.set_velocity(world.body("ram"), {0, 0, -0.2}, Vec3::Zero());
    double fastest = 0;
    for (int step = 0; step < 1000; ++step) {
      if (step == 500) world.set_velocity(world.body("ram"), Vec3::Zero(), Vec3::Zero());
      EXPECT_TRUE(world.step(1e-3).converged) << mass << ", step " << step;
      fastest = std::max(fastest, world.velocity("crate").norm());
    }
    EXPECT_LT(fastest, 0.5);
    EXPECT_LT(std::hypot(world.position("crate").x(), world.position("crate").y()), 0.01);
    EXPECT_LT(world.velocity("crate").norm(), 1e-3);
  }
}

}  // namespace
}  // namespace rotule
