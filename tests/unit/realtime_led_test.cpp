// Kinematic bodies, sensors and joints that break, in the real-time stepper.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/runs.h"

namespace rotule {
namespace {

TEST(RealtimeLed, ALiftCarriesAndATableTakesAlong) {
  Scene scene;
  scene.add({.name = "lift", .velocity = {0.5, 0, 0.3}, .shape = Box{.size = {4, 4, 0.2}}, .kinematic = true});
  scene.add({.name = "crate", .mass = 50.0, .position = {0, 0, 0.35}, .shape = Box{.size = {0.5, 0.5, 0.5}}});
  World world(scene, recipes::fastest());
  run_for(world, 4);
  // Exactly as told, and the crate with it.
  EXPECT_NEAR((world.position("lift") - Vec3(2, 0, 1.2)).norm(), 0, 1e-12);
  EXPECT_NEAR(world.position("crate").z(), 1.2 + 0.35, 2e-3);
  EXPECT_NEAR(world.velocity("crate").x(), 0.5, 1e-3);
  EXPECT_NEAR(world.velocity("crate").z(), 0.3, 1e-3);
  // It had to be brought up to speed by friction, mu = 0.5: of the first blow, by mu 0.3 m/s at once, then of its weight.
  EXPECT_NEAR(world.position("crate").x(), 2 - 0.35 * 0.35 / (2 * 0.5 * 9.81), 3e-3);
  world.set_velocity(world.body("lift"), Vec3::Zero(), Vec3::Zero());
  run_for(world, 1);
  EXPECT_LT(world.velocity("crate").norm(), 1e-3);
}

TEST(RealtimeLed, WhatRidesATurntableGoesRound) {
  // v^2/r = 0.25 m/s^2, less than friction gives.
  Scene scene;
  scene.add({.name = "table",
             .position = {0, 0, -0.1},
             .angular_velocity = {0, 0, 0.5},
             .shape = Cylinder{.radius = 2, .height = 0.2},
             .kinematic = true});
  scene.add({.name = "crate",
             .mass = 1.0,
             .position = {1, 0, 0.1},
             .velocity = {0, 0.5, 0},
             .angular_velocity = {0, 0, 0.5},
             .shape = Box{.size = {0.3, 0.3, 0.2}}});
  World world(scene, recipes::fastest());
  run_for(world, 4);
  const Vec3 at = world.position("crate");
  EXPECT_NEAR(std::hypot(at.x(), at.y()), 1, 0.01);
  EXPECT_NEAR(std::atan2(at.y(), at.x()), 2, 0.02);
}

TEST(RealtimeLed, ManyRidersOfOneLiftAreTheSameBitsOnAllWidths) {
  // More of them than lanes: the lift is in all of them at once and must not feel any.
  Scene scene;
  scene.add({.name = "lift", .velocity = {0, 0, 0.2}, .shape = Box{.size = {20, 20, 0.2}}, .kinematic = true});
  for (int i = 0; i < 40; ++i)
    scene.add({.name = "crate" + std::to_string(i),
               .mass = 1.0 + i,
               .position = {-4 + 0.8 * (i % 8), -2 + 0.8 * (i / 8), 0.35},
               .shape = Box{.size = {0.5, 0.5, 0.5}}});
  World world(scene, recipes::fastest());
  run_for(world, 2);
  EXPECT_EQ(world.velocity("lift"), Vec3(0, 0, 0.2));
  for (int i = 0; i < 40; ++i) EXPECT_NEAR(world.position("crate" + std::to_string(i)).z(), 0.75, 3e-3) << i;
}

TEST(RealtimeLed, AMotionOfTimeDrivesAJointedArm) {
  // The pivot goes up and down by a known law; the bob hangs on it, nearly at rest below.
  Scene scene;
  BodyDef pivot{.name = "pivot"};
  pivot.motion = PrescribedMotion{.displacement = {"0.3 * sin(2 * t)", "0", "0"}};
  scene.add(pivot);
  scene.add({.name = "bob", .mass = 1.0, .position = {0, 0, -0.5}, .shape = Sphere{0.1}});
  scene.add({.name = "ground", .fixed = true, .position = {0, 0, -5}, .shape = Plane{}});
  scene.add(Ball{.between = {"pivot", "bob"}, .at = Vec3(0, 0, 0)});
  Recipe fine = recipes::balanced();
  fine.dt = 5e-4;
  World reference(scene, fine), world(scene, recipes::fastest());
  double widest = 0, apart = 0;
  for (int i = 0; i < 120; ++i) {
    world.step();
    while (reference.time() < world.time() - 1e-9) reference.step();
    widest = std::max(widest, world.diagnostics().joint_error.position);
    apart = std::max(apart, (world.position("bob") - reference.position("bob")).norm());
  }
  EXPECT_NEAR(world.position("pivot").x(), 0.3 * std::sin(4.0), 1e-9);
  EXPECT_LT(widest, 1e-3);
  EXPECT_LT(apart, 0.03);
}

TEST(RealtimeLed, SensorsTellWhoComesAndGoes) {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .position = {0, 0, -3}, .shape = Plane{}});
  scene.add({.name = "gate", .fixed = true, .shape = Box{.size = {1, 1, 0.4}}, .sensor = true});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 2}, .shape = Sphere{0.1}});
  World world(scene, recipes::fastest());
  Recipe fine = recipes::balanced();
  World reference(scene, fine);
  const auto when = [](World& of, bool begins) {
    while (of.time() < 3) {
      of.step();
      for (const ContactEvent& event : of.events())
        if (event.sensor && event.begins == begins) return of.time();
    }
    return -1.0;
  };
  // Where the ball's surface comes to the box's top; and leaves its bottom.
  EXPECT_NEAR(when(world, true), std::sqrt(2 * 1.7 / 9.81), 2.0 / 60);
  EXPECT_NEAR(when(world, false), std::sqrt(2 * 2.3 / 9.81), 2.0 / 60);
  EXPECT_NEAR(when(reference, true), std::sqrt(2 * 1.7 / 9.81), 0.01);
  run_for(world, 3);
  EXPECT_NEAR(world.position("ball").z(), -2.9, 2e-3);  // it went through
}

TEST(RealtimeLed, JointsBreakWhereTheyBearNoMore) {
  // 2 kg at rest: 19.6 N. One bears it, the other does not.
  Scene scene;
  for (const auto& [name, most] : {std::pair("strong", 25.0), std::pair("weak", 15.0)}) {
    const double x = most > 20 ? 0 : 5;
    scene.add({.name = name, .mass = 2.0, .position = {x, 0, 1}, .shape = Sphere{0.1}});
    scene.add(
        Ball{.name = std::string(name) + "_hook", .between = {"world", name}, .at = Vec3(x, 0, 1.5), .breaks = {.force = most}});
  }
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  World world(scene, recipes::fastest());
  int broken = 0;
  for (int i = 0; i < 120; ++i) broken += world.step().broken;
  EXPECT_EQ(broken, 1);
  EXPECT_NEAR(world.position("weak").z(), 0.1, 2e-3);
  EXPECT_NEAR(world.position("strong").z(), 1, 1e-3);
}

}  // namespace
}  // namespace rotule
