// Joints of the real-time stepper against statics, pendulums, and the reference.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "support/allocation_counter.h"
#include "support/runs.h"

namespace rotule {
namespace {

constexpr double gravity = 9.81;

Recipe quick(double dt = 1.0 / 60, int substeps = 4) {
  Recipe recipe = recipes::fastest();
  recipe.dt = dt;
  recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
  return recipe;
}

/// Links of 1 kg and 0.2 m straight down from the world's (0, 0, 10), the last one bearing a weight.
Scene hanging_chain(int links, double weight) {
  Scene scene;
  for (int i = 0; i < links; ++i) {
    const double top = 10 - 0.2 * i;
    scene.add({.name = "link" + std::to_string(i),
               .mass = 1.0,
               .position = {0, 0, top - 0.1},
               .shape = Capsule{.radius = 0.03, .length = 0.14}});
    scene.add(Ball{.name = "joint" + std::to_string(i),
                   .between = {i == 0 ? "world" : "link" + std::to_string(i - 1), "link" + std::to_string(i)},
                   .at = Vec3(0, 0, top)});
  }
  scene.add(
      {.name = "weight", .mass = weight, .position = {0, 0, 10 - 0.2 * links - 0.25}, .shape = Box{.size = {0.5, 0.5, 0.5}}});
  scene.add(Ball{.name = "hook", .between = {"link" + std::to_string(links - 1), "weight"}, .at = Vec3(0, 0, 10 - 0.2 * links)});
  return scene;
}

TEST(RealtimeJoints, AChainBearsAThousandTimesItsLinks) {
  World world(hanging_chain(20, 1000), quick());
  double widest = 0;
  for (int i = 0; i < 300; ++i) {
    world.step();
    widest = std::max(widest, world.diagnostics().joint_error.position);
  }
  EXPECT_LT(widest, 1e-4);
  EXPECT_NEAR(world.joint_force("joint0").force.z(), 1020 * gravity, 1);
  EXPECT_LT(world.velocity("weight").norm(), 1e-3);
}

TEST(RealtimeJoints, AHeavilyLoadedChainSwingsWithoutShaking) {
  // Pushed aside at its middle, the light links under 10 kN are far stiffer than a substep can follow explicitly.
  World world(hanging_chain(20, 1000), quick());
  run_for(world, 0.5);
  world.apply_impulse(world.body("link10"), {2, 1, 0}, world.position("link10"));
  double widest = 0, fastest = 0;
  const double before = world.diagnostics().energy();
  for (int i = 0; i < 300; ++i) {
    world.step();
    widest = std::max(widest, world.diagnostics().joint_error.position);
    fastest = std::max(fastest, world.velocity("link10").norm());
  }
  EXPECT_LT(widest, 1e-3);
  EXPECT_LT(fastest, 5);
  EXPECT_LT(world.diagnostics().energy(), before + 10);
}

TEST(RealtimeJoints, APendulumKeepsTimeAndEnergy) {
  // A rod of 1 m, hung at its end: for small angles T = 2 pi sqrt(2 l/(3 g)).
  Scene scene;
  scene.add({.name = "rod",
             .mass = 1.0,
             .position = {0.5 * std::sin(0.1), 0, -0.5 * std::cos(0.1)},
             .orientation = Quat(Eigen::AngleAxisd(-0.1, Vec3::UnitY())),
             .shape = Box{.size = {0.02, 0.02, 1.0}}});
  scene.add(Hinge{.between = {"world", "rod"}, .at = Vec3(0, 0, 0), .axis = Vec3(0, 1, 0)});
  World world(scene, quick());
  const double start = world.diagnostics().energy(), period = 2 * std::numbers::pi * std::sqrt(2.0 / (3 * gravity));
  const double lowest = -0.5 * gravity;
  int crossings = 0;
  double last = world.position("rod").x(), first_time = 0, time = 0;
  for (int i = 0; i < 1200; ++i) {
    world.step();
    const double now = world.position("rod").x();
    if (last > 0 && now <= 0) {
      time = world.time() - world.recipe().dt * now / (now - last);
      if (++crossings == 1) first_time = time;
    }
    last = now;
  }
  EXPECT_NEAR((time - first_time) / (crossings - 1), period, 0.004 * period);
  // Of what it had above its lowest point, most is there after 12 swings.
  const double left = (world.diagnostics().energy() - lowest) / (start - lowest);
  EXPECT_GT(left, 0.8);
  EXPECT_LT(left, 1.05);
}

Scene double_pendulum() {
  Scene scene;
  scene.add({.name = "upper", .mass = 1.0, .position = {0.5, 0, 0}, .shape = Box{.size = {1, 0.1, 0.1}}});
  scene.add({.name = "lower", .mass = 0.5, .position = {1.4, 0, 0}, .shape = Box{.size = {0.8, 0.1, 0.1}}});
  scene.add(Ball{.between = {"world", "upper"}, .at = Vec3(0, 0, 0)});
  scene.add(Ball{.between = {"upper", "lower"}, .at = Vec3(1, 0, 0)});
  return scene;
}

TEST(RealtimeJoints, ComesToTheReferenceAsStepsShrink) {
  Recipe exact = recipes::exact();
  exact.dt = 1e-3;
  World reference(double_pendulum(), exact);
  run_for(reference, 0.8);
  const auto error = [&](double dt) {
    World world(double_pendulum(), quick(dt));
    run_for(world, 0.8);
    return (world.position("lower") - reference.position("lower")).norm();
  };
  const double coarse = error(1.0 / 60), fine = error(1.0 / 480);
  EXPECT_LT(coarse, 0.15);
  EXPECT_LT(fine, 0.3 * coarse);
}

TEST(RealtimeJoints, AClosedLoopMovesAsTheReferenceSays) {
  // A parallelogram of hinges: the fourth closes a loop, and most of its rows are redundant.
  Scene scene;
  const Vec3 y(0, 1, 0);
  scene.add({.name = "left", .mass = 1.0, .position = {0, 0, -0.5}, .shape = Box{.size = {0.05, 0.05, 1}}});
  scene.add({.name = "right", .mass = 1.0, .position = {1, 0, -0.5}, .shape = Box{.size = {0.05, 0.05, 1}}});
  scene.add({.name = "bar", .mass = 2.0, .position = {0.5, 0, -1}, .velocity = {2, 0, 0}, .shape = Box{.size = {1, 0.05, 0.05}}});
  scene.add(Hinge{.between = {"world", "left"}, .at = Vec3(0, 0, 0), .axis = y});
  scene.add(Hinge{.between = {"world", "right"}, .at = Vec3(1, 0, 0), .axis = y});
  scene.add(Hinge{.between = {"left", "bar"}, .at = Vec3(0, 0, -1), .axis = y});
  scene.add(Hinge{.between = {"right", "bar"}, .at = Vec3(1, 0, -1), .axis = y});
  Recipe exact = recipes::balanced();
  exact.dt = 1e-3;
  World reference(scene, exact);
  World world(scene, quick(1.0 / 240));
  double apart = 0, widest = 0;
  for (int i = 0; i < 120; ++i) {
    for (int k = 0; k < 4; ++k) reference.step();
    world.step(0.004);
    apart = std::max(apart, (world.position("bar") - reference.position("bar")).norm());
    widest = std::max(widest, world.diagnostics().joint_error.position);
  }
  EXPECT_LT(apart, 0.02);
  EXPECT_LT(widest, 1e-3);
}

TEST(RealtimeJoints, MotorsLimitsAndSpringsDoWhatTheySay) {
  Scene scene;
  scene.gravity.setZero();
  const auto arm = [&](const std::string& name, double y, Drive drive) {
    scene.add({.name = name, .mass = 1.0, .position = {0.5, y, 0}, .shape = Box{.size = {1, 0.1, 0.1}}});
    scene.add(
        Hinge{.name = name + "_hinge", .between = {"world", name}, .at = Vec3(0, y, 0), .axis = Vec3(0, 0, 1), .drive = drive});
  };
  arm("fast", 0, {.motor_speed = 3, .motor_strength = 100});
  arm("weak", 5, {.motor_speed = 100, .motor_strength = 0.5});
  arm("stopped", 10, {.upper = 0.5, .motor_speed = 2, .motor_strength = 5});
  arm("sprung", 15, {.stiffness = 10, .rest = 0.2});
  World world(scene, quick());
  run_for(world, 1);
  const double inertia = 1.0 / 12 * (1 + 0.01) + 0.25;
  EXPECT_NEAR(world.angular_velocity("fast").z(), 3, 1e-3);
  EXPECT_NEAR(world.angular_velocity("weak").z(), 0.5 / inertia, 0.02 * 0.5 / inertia);
  EXPECT_NEAR(world.joint_motion("stopped_hinge").angle.z(), 0.5, 0.01);
  EXPECT_NEAR(world.angular_velocity("stopped").z(), 0, 1e-2);
  // A spring from rest: q = rest (1 - cos(omega t)), between 0 and twice its rest.
  double most = 0;
  for (int i = 0; i < 120; ++i) {
    world.step();
    most = std::max(most, world.joint_motion("sprung_hinge").angle.z());
  }
  EXPECT_LT(most, 0.42);
  EXPECT_GT(most, 0.2);
}

/// Capsules of 2 kg end to end along x, thrown.
Scene thrown_limbs(const Vec3& velocity, const Vec3& spin, double height) {
  Scene scene;
  for (int i = 0; i < 5; ++i) {
    const Vec3 from_middle(0.4 * (i - 2), 0, 0);
    scene.add({.name = "limb" + std::to_string(i),
               .mass = 2.0,
               .position = from_middle + Vec3(0, 0, height),
               .orientation = Quat(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY())),
               .velocity = velocity + spin.cross(from_middle),
               .angular_velocity = spin,
               .shape = Capsule{.radius = 0.07, .length = 0.24}});
    if (i > 0)
      scene.add(Ball{.between = {"limb" + std::to_string(i - 1), "limb" + std::to_string(i)},
                     .at = from_middle + Vec3(-0.2, 0, height)});
  }
  return scene;
}

TEST(RealtimeJoints, WhatTurnsFastStaysTogether) {
  // Half a radian per step: rows made once per step would let the ends fly off by a lever times the square of it.
  Scene scene = thrown_limbs(Vec3::Zero(), {0, 3, 30}, 0);
  scene.gravity.setZero();
  World world(scene, quick());
  const Diagnostics start = world.diagnostics();
  double widest = 0, most = 0, turned = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    const Diagnostics now = world.diagnostics();
    widest = std::max(widest, now.joint_error.position);
    most = std::max(most, now.energy() / start.energy());
    turned = std::max(turned, (now.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm());
  }
  EXPECT_LT(widest, 1e-4);
  EXPECT_LT(most, 1.02);
  EXPECT_LT(turned, 0.03);  // as one, it turns on
}

TEST(RealtimeJoints, LimbsThatHitTheGroundStayTogether) {
  for (const double speed : {5.0, 20.0}) {
    Scene scene = thrown_limbs({1, 0.5, -speed}, {2, 6, 1}, 1.2);
    scene.add({.name = "ground", .fixed = true, .position = {0, 0, -1}, .shape = Box{.size = {40, 40, 2}}});
    World world(scene, quick());
    const double start = world.diagnostics().energy();
    double widest = 0, most = 0;
    for (int i = 0; i < 300; ++i) {
      world.step();
      const Diagnostics now = world.diagnostics();
      widest = std::max(widest, now.joint_error.position);
      most = std::max(most, now.energy());
    }
    EXPECT_LT(widest, 5e-3) << speed;
    EXPECT_LT(most, 1.02 * start) << speed;
  }
}

TEST(RealtimeJoints, SnapshotsGoOnWithTheSameBits) {
  Scene scene = hanging_chain(6, 3);
  scene.add({.name = "ground", .fixed = true, .position = {0, 0, 8}, .shape = Plane{}});
  World world(scene, quick());
  world.apply_impulse(world.body("link3"), {1, 0.3, 0}, world.position("link3"));
  run_for(world, 0.5);
  const Snapshot saved = world.save();
  run_for(world, 0.5);
  const auto hash = world.state_hash();
  world.load(saved);
  run_for(world, 0.5);
  EXPECT_EQ(world.state_hash(), hash);
}

TEST(RealtimeJoints, AllocatesNothingOnceItRuns) {
  World world(hanging_chain(6, 3), quick());
  world.apply_impulse(world.body("link3"), {1, 0.3, 0}, world.position("link3"));
  run_for(world, 0.5);
  const std::size_t before = testing::allocations();
  run_for(world, 0.5);
  EXPECT_EQ(testing::allocations(), before);
}

}  // namespace
}  // namespace rotule
