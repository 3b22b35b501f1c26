// Equilibrium without the motion that leads there, against statics.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/relaxation.h>

#include <cmath>

#include "scenes/builders.h"

using namespace rotule;

namespace {

TEST(Relaxation, AWeightHangsOnItsSpringByMgOverK) {
  Scene scene;
  scene.add_particles({.name = "weight", .positions = {{0.3, 0.1, 0.5}}, .mass = 2});
  scene.add(Spring{.between = {"world", "weight"}, .from = Vec3(0, 0, 0), .stiffness = 400, .rest_length = 0.25});
  World world(scene);
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-10});
  EXPECT_TRUE(report.reached);
  EXPECT_LT((world.particle_position(0) - Vec3(0, 0, -0.25 - 2 * scene.gravity.norm() / 400)).norm(), 1e-11);
  EXPECT_EQ(world.particle_velocity(0).norm(), 0);
  EXPECT_EQ(world.time(), 0);
}

TEST(Relaxation, ARopePullsEvenlySidewaysAndCarriesItsWeight) {
  Scene scene;
  constexpr int count = 60;
  scene.add(Rope{
      .name = "rope", .from = {0, 0, 0}, .to = {1, 0, 0}, .count = count, .mass = 0.6, .stiffness = 5e4, .pinned = {"x0", "x1"}});
  // Slack: it must hang far below the straight line that it was drawn as.
  World loose(scene);
  for (int k = 1; k + 1 < count; ++k)
    loose.set_particle(k, loose.particle_position(k) - Vec3(0, 0, 0.3 * std::sin(M_PI * k / (count - 1.0))), Vec3::Zero());
  const double gravity = scene.gravity.norm(), m = loose.particle_mass(1), rest = 1.0 / (count - 1);
  const RelaxationReport report = relax(loose, {.force_tolerance = 1e-9 * m * gravity});
  EXPECT_TRUE(report.reached) << report.force;
  const auto tension = [&](int k) -> Vec3 {
    const Vec3 e = loose.particle_position(k + 1) - loose.particle_position(k);
    return 5e4 * (e.norm() - rest) * e.normalized();
  };
  const double sideways = tension(0).x();
  EXPECT_GT(sideways, 0);
  for (int k = 1; k + 1 < count; ++k) {
    EXPECT_NEAR(tension(k).x(), sideways, 1e-6 * sideways);
    EXPECT_NEAR(tension(k).z() - tension(k - 1).z(), m * gravity, 1e-6 * m * gravity);
  }
}

TEST(Relaxation, ADoublePendulumHangsDown) {
  Scene scene = scenes::double_pendulum();
  World world(scene);
  const RelaxationReport report = relax(world);
  EXPECT_TRUE(report.reached) << report.force;
  // Straight down: no torque about any joint, every centre of mass below the pivot.
  const Balance left = world.balance(1e-3, 1e-9);
  EXPECT_TRUE(left.reached());
  double x = 0, y = 0, lowest = infinity;
  bool first = true;
  for (const BodyId body : world.bodies()) {
    if (world.name(body) == "world" || world.mass(body) == 0) continue;
    const Vec3 c = world.center_of_mass(body);
    if (first) {
      x = c.x();
      y = c.y();
      first = false;
    }
    EXPECT_NEAR(c.x(), x, 1e-4);
    EXPECT_NEAR(c.y(), y, 1e-4);
    lowest = std::min(lowest, c.z());
  }
  EXPECT_LT(lowest, 0);
  EXPECT_LT(world.joint_error(world.joints().front()).position, 1e-12);
}

TEST(Relaxation, RigidChainsHangDownWhole) {
  for (const int links : {5, 8, 12, 13, 20, 50}) {
    const Scene scene = scenes::chain(links);
    World world(scene);
    const double energy = world.diagnostics().energy();
    const RelaxationReport report = relax(world);
    EXPECT_TRUE(report.reached) << links << ": " << report.force;
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-9) << links;
    EXPECT_LT(world.diagnostics().energy(), energy) << links;
  }
}

TEST(Relaxation, AStiffClothReachesTheSagThatItsWeightAsksFor) {
  // Hung by its whole upper edge, every column is a chain of its own: it sags by the sum of the weights below over k.
  Scene scene;
  constexpr int side = 24;
  scene.add(Cloth{.name = "curtain",
                  .along_x = {1, 0, 0},
                  .along_y = {0, 1, 0},
                  .columns = side,
                  .rows = side,
                  .mass = 0.2,
                  .stiffness = 2e4,
                  .shear_stiffness = 0,
                  .bending_stiffness = 0,
                  .pinned = {"y0"}});
  World world(scene);
  const double m = world.particle_mass(side), gravity = scene.gravity.norm();
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-6 * m * gravity});
  EXPECT_TRUE(report.reached) << report.force;
  const double sag = -world.particle_position(side * (side - 1)).z();
  EXPECT_NEAR(sag - 1, m * gravity / 2e4 * (side - 1) * side / 2, 1e-8);
}

/// A bar of 2 kg and 1 m on a hinge at its end, level; down is the way of positive angles.
Scene bar_on_a_hinge(const Drive& drive) {
  Scene scene;
  scene.add({.name = "bar", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}, .contacts = false});
  scene.add(Hinge{.name = "pin", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = drive});
  return scene;
}

TEST(Relaxation, ABarSagsToWhereTheSpringOfItsHingeBearsIt) {
  const double k = 30, rest = -0.2;
  World world(bar_on_a_hinge({.friction = 0.5, .stiffness = k, .damping = 3, .rest = rest, .motor_torque = 1.5}));
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-10});
  EXPECT_TRUE(report.reached) << report.force;
  const double q = world.joint_position(world.joint("pin"));
  EXPECT_GT(q, 0.01);
  EXPECT_NEAR(k * (q - rest), 2 * 9.81 * 0.5 * std::cos(q) + 1.5, 1e-9);
}

TEST(Relaxation, AServoAtTheEndOfItsStrengthGivesWay) {
  World world(bar_on_a_hinge({.stiffness = 1000, .rest = 0, .spring_strength = 4}));
  EXPECT_TRUE(relax(world, {.force_tolerance = 1e-9}).reached);
  EXPECT_NEAR(2 * 9.81 * 0.5 * std::cos(world.joint_position(world.joint("pin"))), 4, 1e-7);
}

TEST(Relaxation, AStopIsRestedOnAndOneThatIsNotInTheWayIsNot) {
  for (const bool near : {true, false}) {
    const double stop = near ? 0.7 : 2.5;
    World world(bar_on_a_hinge({.lower = -1, .upper = stop}));
    const RelaxationReport report = relax(world, {.force_tolerance = 1e-10});
    EXPECT_TRUE(report.reached) << report.force;
    EXPECT_NEAR(world.joint_position(world.joint("pin")), near ? stop : M_PI / 2, 1e-9);
    // On the stop it stays when time goes on.
    for (int i = 0; i < 10; ++i) world.step(0.01);
    EXPECT_NEAR(world.joint_position(world.joint("pin")), near ? stop : M_PI / 2, 1e-6);
  }
}

TEST(Relaxation, ABallFallsIntoItsSlackRope) {
  Scene scene;
  scene.add({.name = "ball", .mass = 2, .position = {0.3, 0.1, -0.5}, .shape = Sphere{0.05}, .contacts = false});
  scene.add_constraint({"ball"}, [](auto q, auto) { return q[0].point().norm(); }, {.at_most = 1});
  World world(scene);
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-9});
  EXPECT_TRUE(report.reached) << report.force;
  EXPECT_LT((world.position("ball") - Vec3(0, 0, -1)).norm(), 1e-9);
}

TEST(Relaxation, AWeightPullsALighterOneUpToItsStop) {
  Scene scene;
  scene.add({.name = "heavy", .mass = 2, .position = {0.2, 0, -0.6}, .shape = Sphere{0.05}, .contacts = false});
  scene.add({.name = "light", .mass = 1, .position = {2, 0, -0.9}, .shape = Sphere{0.05}, .contacts = false});
  scene.add(
      Slider{.name = "guide", .between = {"world", "light"}, .at = {2, 0, -0.9}, .axis = {0, 0, 1}, .drive = {.upper = 0.25}});
  scene.add(Pulley{.between = {"heavy", "light"}, .over_a = {0, 0, 0}, .over_b = {2, 0, 0}, .slack = true});
  World world(scene);
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-9});
  EXPECT_TRUE(report.reached) << report.force;
  EXPECT_NEAR(world.joint_position(world.joint("guide")), 0.25, 1e-9);
  EXPECT_LT((world.position("heavy") - Vec3(0, 0, -std::hypot(0.2, 0.6) - 0.25)).norm(), 1e-8);
}

TEST(Relaxation, WhatIsDrivenStandsWhereTimeHasBroughtIt) {
  Scene scene = bar_on_a_hinge({.motion = GivenMotion{.offset = 0, .speed = 2, .amplitude = 0.5, .frequency = 7}});
  scene.add({.name = "tail", .mass = 1, .position = {1.25, 0, 0}, .shape = Box{Vec3(0.5, 0.05, 0.05)}, .contacts = false});
  scene.add(Hinge{.between = {"bar", "tail"}, .at = {1, 0, 0}, .axis = {0, 1, 0}});
  World world(scene);
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-9});
  EXPECT_TRUE(report.reached) << report.force;
  EXPECT_NEAR(world.joint_position(world.joint("pin")), 0, 1e-9);
  EXPECT_LT((world.position("tail") - Vec3(1, 0, -0.25)).norm(), 1e-8);
}

TEST(Relaxation, RefusesWhatItKnowsNothingOf) {
  Scene scene = scenes::mannequin_bounce();
  World world(scene);
  EXPECT_THROW(relax(world), Error);
  Scene fine = scenes::double_pendulum();
  World pendulum(fine);
  EXPECT_THROW(relax(pendulum, {.step = 0}), Error);
  EXPECT_THROW(relax(pendulum, {.linear_tolerance = 2}), Error);
  Scene ratchet = bar_on_a_hinge({});
  ratchet.add_constraint({"bar"}, [](auto q, auto) { return q[0].spin().y(); }, {.at_least = 0});
  World one_way(ratchet);
  EXPECT_THROW(relax(one_way), Error);
}

TEST(Relaxation, SaysWhereThereIsNoEquilibrium) {
  Scene scene;
  scene.add_particles({.name = "falling", .positions = {{0, 0, 0}}, .mass = 1});
  World world(scene);
  const RelaxationReport report = relax(world, {.max_iterations = 20});
  EXPECT_FALSE(report.reached);
  EXPECT_NEAR(report.force, scene.gravity.norm(), 1e-12);
}

}  // namespace
