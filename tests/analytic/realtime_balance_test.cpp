// The books of the real-time stepper, against what mechanics says was done.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <random>

namespace rotule {
namespace {

Recipe realtime_recipe(int substeps = 4, int threads = 1) {
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
  recipe.threads = threads;
  return recipe;
}

Scene with_floor(double friction = 0.5) {
  Scene scene;
  scene.materials.push_back({.name = "all", .friction = friction});
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "all"});
  return scene;
}

/// What is left over is what closes the sum.
void expect_sum(const Diagnostics& d) {
  const EnergyBalance& e = d.energy_balance;
  ASSERT_TRUE(e.kept);
  const double scale = std::abs(e.start) + std::abs(e.brought_in()) + std::abs(e.taken_out()) + 1;
  EXPECT_NEAR(d.energy(), e.start + e.brought_in() - e.taken_out() + e.left_over, 1e-9 * scale);
}

TEST(RealtimeBalance, ASledThatSlidesToRestGivesItsEnergyToFriction) {
  for (const int threads : {1, 2}) {
    Scene scene = with_floor(0.3);
    scene.add({.name = "sled",
               .mass = 5.0,
               .position = {0, 0, 0.1},
               .velocity = {4, 0, 0},
               .shape = Box{.size = {0.6, 0.4, 0.2}},
               .material = "all"});
    World world(scene, realtime_recipe(4, threads));
    world.keep_books(true);
    for (int i = 0; i < 180; ++i) world.step();
    const Diagnostics d = world.diagnostics();
    expect_sum(d);
    const double moved = 0.5 * 5 * 16;
    EXPECT_NEAR(d.energy_balance.contact_friction, moved, 0.02 * moved);
    EXPECT_NEAR(d.energy_balance.left_over, 0, 0.02 * moved);
    // It lost its momentum to the floor.
    EXPECT_NEAR(d.momentum_balance.supports.x(), -20, 0.1);
    EXPECT_NEAR(d.momentum_balance.left_over.norm(), 0, 0.1);
  }
}

TEST(RealtimeBalance, ABallThatBouncesLosesWhatRestitutionTakes) {
  Scene scene = with_floor();
  scene.materials.front().restitution = 0.6;
  scene.add({.name = "ball", .mass = 2.0, .position = {0, 0, 2.1}, .shape = Sphere{.radius = 0.1}, .material = "all"});
  World world(scene, realtime_recipe(8));
  world.keep_books(true);
  double fastest = 0;
  bool up = false;
  for (int i = 0; i < 120 && !up; ++i) {
    fastest = std::max(fastest, -world.velocity("ball").z());
    world.step();
    up = world.velocity("ball").z() > 0;
  }
  ASSERT_TRUE(up);
  const Diagnostics d = world.diagnostics();
  expect_sum(d);
  // Of the blow (1 - e^2) of its energy; the impulses' own account agrees with what the motion lost.
  const double blow = (1 - 0.36) * 0.5 * 2 * fastest * fastest;
  EXPECT_NEAR(d.energy_balance.impacts, blow, 0.05 * blow);
  EXPECT_NEAR(d.energy_balance.left_over, 0, 0.05 * blow);
}

TEST(RealtimeBalance, ALiftDoesTheWorkThatRaisesItsLoad) {
  Scene scene = with_floor(0.8);
  scene.add({.name = "lift",
             .position = {0, 0, 0.5},
             .velocity = {0, 0, 1},
             .shape = Box{.size = {2, 2, 0.2}},
             .material = "all",
             .kinematic = true});
  scene.add({.name = "crate",
             .mass = 10.0,
             .position = {0, 0, 0.85},
             .velocity = {0, 0, 1},
             .shape = Box{.size = {0.5, 0.5, 0.5}},
             .material = "all"});
  World world(scene, realtime_recipe());
  world.keep_books(true);
  const double before = world.position("crate").z();
  for (int i = 0; i < 60; ++i) world.step();
  const Diagnostics d = world.diagnostics();
  expect_sum(d);
  const double raised = 10 * 9.81 * (world.position("crate").z() - before);
  EXPECT_GT(raised, 90);
  EXPECT_NEAR(d.energy_balance.guides, raised, 0.02 * raised);
  EXPECT_NEAR(d.kinematic_work, raised, 0.02 * raised);
  EXPECT_NEAR(d.energy_balance.left_over, 0, 0.02 * raised);
}

TEST(RealtimeBalance, AMotorsWorkIsTorqueTimesAngle) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "wheel", .mass = 3.0, .position = {0, 0, 1}, .shape = Cylinder{.radius = 0.3, .height = 0.1}});
  scene.add(Hinge{.name = "axle",
                  .between = {"world", "wheel"},
                  .at = Vec3(0, 0, 1),
                  .axis = Vec3(0, 0, 1),
                  .drive = {.motor_speed = 50.0, .motor_strength = 0.5}});
  World world(scene, realtime_recipe());
  world.keep_books(true);
  for (int i = 0; i < 120; ++i) world.step();
  const Diagnostics d = world.diagnostics();
  expect_sum(d);
  EXPECT_GT(d.kinetic_energy, 1);
  EXPECT_NEAR(d.energy_balance.motors, d.kinetic_energy, 0.01 * d.kinetic_energy);
}

TEST(RealtimeBalance, HeapsOfBodiesLeaveLittleOverAndBooksChangeNothing) {
  std::mt19937 random(3);
  const auto number = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
  for (int trial = 0; trial < 3; ++trial) {
    Scene scene = with_floor(0.4);
    for (int i = 0; i < 40; ++i) {
      BodyDef def{.mass = number(0.5, 3), .position = {number(-0.6, 0.6), number(-0.6, 0.6), 0.4 + 0.25 * i}, .material = "all"};
      def.velocity = {number(-2, 2), number(-2, 2), 0};
      def.angular_velocity = {number(-3, 3), number(-3, 3), number(-3, 3)};
      if (i % 2 == 0)
        def.shape = Box{.size = {0.3, 0.25, 0.2}};
      else
        def.shape = Sphere{.radius = 0.14};
      scene.add(def);
    }
    World booked(scene, realtime_recipe(8)), plain(scene, realtime_recipe(8));
    booked.keep_books(true);
    for (int i = 0; i < 240; ++i) {
      booked.step();
      plain.step();
    }
    EXPECT_EQ(booked.state_hash(), plain.state_hash());
    const Diagnostics d = booked.diagnostics();
    expect_sum(d);
    const EnergyBalance& e = d.energy_balance;
    EXPECT_GT(e.impacts, 0);
    EXPECT_GT(e.contact_friction, 0);
    EXPECT_LT(std::abs(e.left_over), 0.15 * e.taken_out()) << trial;
  }
}

}  // namespace
}  // namespace rotule
