// Limits, motors, springs and friction on joints with several free axes (A3).
#include <gtest/gtest.h>
#include <rotule/contacts.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;

/// One body of 2 kg with moments of inertia (0.1, 0.2, 0.3) kg m^2 at `position`, joined to the world.
Scene one_body(const Vec3& position, JointDef joint, double gravity = 0) {
  Scene scene;
  scene.gravity = {0, 0, -gravity};
  BodyDef body{.name = "arm", .mass = 2.0, .position = position};
  body.inertia = Vec3(0.1, 0.2, 0.3).asDiagonal();
  scene.add(body);
  std::visit([](auto& j) { j.name = "joint", j.between = {"world", "arm"}; }, joint);
  scene.add(joint);
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 1e-3;
  return scene;
}

void run_on(World& world, double duration) {
  for (const double end = world.time() + duration; world.time() < end - 1e-9;) world.step();
}

TEST(Drives, ACylindricalJointSlidesToItsLimitWhileItsMotorTurns) {
  World world(one_body(Vec3::Zero(),
                       Cylindrical{.drives = {{"z", {.lower = -0.5}}, {"rz", {.motor_speed = 3, .motor_strength = 100}}}}, g));
  run_on(world, 0.2);
  EXPECT_NEAR(world.position("arm").z(), -0.5 * g * 0.04, 2e-3);  // falls freely: the motor does not hold it
  EXPECT_NEAR(world.angular_velocity("arm").z(), 3, 1e-9);
  run_on(world, 1);
  EXPECT_NEAR(world.position("arm").z(), -0.5, 1e-6);
  EXPECT_NEAR(world.velocity("arm").z(), 0, 1e-9);
  EXPECT_NEAR(world.angular_velocity("arm").z(), 3, 1e-9);
}

/// Both of Cardan's angles driven to their limits: the body has turned about axis_a of the world, then about its own axis_b.
TEST(Drives, AUniversalJointStopsAtItsTwoAngles) {
  for (const auto& [a, b] : {std::pair(0.5, 0.4), std::pair(-0.9, 1.1), std::pair(1.2, -0.7)}) {
    const auto towards = [](double angle) {
      Drive drive{.motor_speed = angle > 0 ? 2.0 : -2.0, .motor_strength = 5};
      (angle > 0 ? drive.upper : drive.lower) = angle;
      return drive;
    };
    World world(one_body(Vec3::Zero(), Universal{.drives = {{"rx", towards(a)}, {"ry", towards(b)}}}));
    run_on(world, 2);
    const Quat expected = Eigen::AngleAxisd(a, Vec3::UnitX()) * Eigen::AngleAxisd(b, Vec3::UnitY());
    EXPECT_LT(world.orientation("arm").angularDistance(expected), 1e-6) << a << " " << b;
    EXPECT_LT(world.angular_velocity("arm").norm(), 1e-9);
  }
}

/// k q = m g L cos q at rest, about the second axis, the first being held by a stiff spring.
TEST(Drives, ASpringOnAUniversalJointCarriesTheWeight) {
  constexpr double L = 0.5, k = 30;
  World world(one_body(
      {L, 0, 0}, Universal{.drives = {{"rx", {.stiffness = 1e4, .damping = 100}}, {"ry", {.stiffness = k, .damping = 5}}}}, g));
  run_on(world, 8);
  double q = 0.3;  // positive about y: down
  for (int i = 0; i < 50; ++i) q -= (k * q - 2 * g * L * std::cos(q)) / (k + 2 * g * L * std::sin(q));
  EXPECT_NEAR(world.position("arm").z(), -L * std::sin(q), 1e-6);
  EXPECT_NEAR(world.position("arm").x(), L * std::cos(q), 1e-6);
}

/// A force F against the motion: v^2 m / (2 F), within half a step's way.
TEST(Drives, FrictionInAPlaneStopsASlidingBody) {
  Scene scene = one_body(Vec3::Zero(), Planar{.drives = {{"x", {.friction = 6}}, {"rz", {.friction = 0.9}}}});
  scene.bodies.front().velocity = {1.5, 0, 0};
  scene.bodies.front().angular_velocity = {0, 0, 4};
  World world(scene);
  run_on(world, 0.45);
  EXPECT_GT(world.velocity("arm").x(), 0.1);  // stops at m v / F = 0.5 s
  run_on(world, 0.1);
  EXPECT_NEAR(world.velocity("arm").x(), 0, 1e-9);
  EXPECT_NEAR(world.position("arm").x(), 2 * 1.5 * 1.5 / (2 * 6), 0.5 * 1.5 * 1e-3 + 1e-9);
  EXPECT_GT(world.angular_velocity("arm").z(), 1);  // I w / T = 1.33 s
  run_on(world, 1);
  EXPECT_NEAR(world.angular_velocity("arm").z(), 0, 1e-9);
}

TEST(Drives, ABallJointRubs) {
  Scene scene =
      one_body(Vec3::Zero(), Ball{.drives = {{"rx", {.friction = 0.2}}, {"ry", {.friction = 0.2}}, {"rz", {.friction = 0.2}}}});
  scene.bodies.front().angular_velocity = {0, 0, 2};
  World world(scene);
  run_on(world, 2);
  EXPECT_NEAR(world.angular_velocity("arm").z(), 2 - 0.2 * 2 / 0.3, 1e-9);
  run_on(world, 1.5);  // at rest after I w / T = 3 s
  EXPECT_LT(world.angular_velocity("arm").norm(), 1e-9);
}

TEST(Drives, WhatCannotBeDrivenIsSaid) {
  const auto message = [](const JointDef& joint) -> std::string {
    try {
      World world(one_body(Vec3::Zero(), joint));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const auto expect = [&](const JointDef& joint, const std::string& part) {
    EXPECT_NE(message(joint).find(part), std::string::npos) << message(joint);
  };
  expect(Cylindrical{.drives = {{"x", {.friction = 1}}}}, "drives/0/axis: x is locked");
  expect(Cylindrical{.drives = {{"along", {.friction = 1}}}}, "unknown axis \"along\"");
  expect(Cylindrical{.drives = {{"z", {.friction = 1}}, {"z", {.damping = 1}}}}, "driven twice");
  expect(Ball{.drives = {{"rx", {.lower = -1}}}}, "no angle to limit");
  expect(Planar{.drives = {{"rz", {.lower = 1, .upper = -1}}}}, "must not exceed upper");
  expect(Universal{.drives = {{"rx", {.friction = -1}}}}, "friction");
  EXPECT_EQ(message(Ball{.drives = {{"rx", {.damping = 1}}}}), "");
}

/// What is written is what is read.
TEST(Drives, SurviveAFile) {
  const Scene scene = one_body(
      {1, 0, 0}, Universal{.drives = {{"rx", {.lower = -0.5, .upper = 0.5}}, {"ry", {.motor_speed = 2, .motor_strength = 7}}}});
  const Scene back = parse_scene(to_json(scene));
  EXPECT_EQ(std::get<Universal>(back.joints.front()).drives, std::get<Universal>(scene.joints.front()).drives);
}

}  // namespace
}  // namespace rotule
