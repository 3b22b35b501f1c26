// Bodies that go further in a step than they are thick, or turn by a radian and more in it, in the real-time stepper.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>

namespace rotule {
namespace {

constexpr double weight_of_one_kg = 9.81;

int cases(int usual) {
  const char* given = std::getenv("ROTULE_CASES");
  return given ? std::atoi(given) : usual;
}

// Balls, boxes and rods, thrown and spun at random at a plate of 2 cm: nobody comes out behind it.
TEST(RealtimeFast, NobodyPassesAThinPlate) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> unit(-1, 1);
  int held = 0, passed = 0;
  for (int k = 0; k < cases(60); ++k) {
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "plate", .fixed = true, .shape = Box{.size = {40, 40, 0.02}}});
    BodyDef def{.name = "bullet", .mass = 1.0};
    if (k % 3 == 0) def.shape = Sphere{.radius = 0.05};
    if (k % 3 == 1) def.shape = Box{.size = {0.1, 0.2, 0.06}};
    if (k % 3 == 2) def.shape = Capsule{.radius = 0.03, .length = 0.8};
    def.position = {unit(random), unit(random), 1 + unit(random) * 0.4};
    def.orientation = Quat(unit(random), unit(random), unit(random), unit(random)).normalized();
    def.velocity = {20 * unit(random), 20 * unit(random), -100 - 90 * unit(random)};
    def.angular_velocity = 60 * Vec3(unit(random), unit(random), unit(random));
    scene.add(def);
    World world(scene, recipes::fastest());
    double lowest = infinity, fastest = 0;
    for (int i = 0; i < 40; ++i) {
      held += world.step().held_back;
      lowest = std::min(lowest, world.position("bullet").z());
      fastest = std::max(fastest, world.diagnostics().energy());
    }
    passed += lowest <= 0;
    EXPECT_GT(lowest, 0) << k;
    EXPECT_LT(fastest, 0.51 * def.velocity.squaredNorm() + 0.5 * 0.1 * def.angular_velocity.squaredNorm()) << k;
  }
  EXPECT_GT(held, 0);
  EXPECT_EQ(passed, 0);
}

TEST(RealtimeFast, WhatPassesBesideAnEdgeIsNotPushedAside) {
  // By a hand's breadth from the edge of a box, in one step from before it to behind it.
  for (const double offset : {0.12, 0.2, 0.4}) {
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "block", .fixed = true, .shape = Box{.size = {1, 1, 1}}});
    scene.add({.name = "bullet",
               .mass = 0.01,
               .position = {-3, 0.5 + offset, 0.1},
               .velocity = {170, 0, 0},
               .shape = Sphere{.radius = 0.1}});
    World world(scene, recipes::fastest());
    for (int i = 0; i < 6; ++i) world.step();
    EXPECT_NEAR(world.position("bullet").y(), 0.5 + offset, 1e-6) << offset;
    EXPECT_NEAR(world.velocity("bullet").x(), 170, 1e-3) << offset;
    EXPECT_NEAR(world.position("bullet").x(), -3 + 17, 1e-3) << offset;
  }
}

TEST(RealtimeFast, ARodThatTurnsFastStopsAtAWall) {
  // Hinged at its middle: 0.8 rad per step, and a thin post in the way of its ends.
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "rod", .mass = 1.0, .angular_velocity = {0, 0, 48}, .shape = Box{.size = {2, 0.04, 0.04}}});
  scene.add({.name = "post", .fixed = true, .position = {0, 0.8, 0}, .shape = Box{.size = {0.02, 0.5, 1}}});
  scene.add(Hinge{.between = {"world", "rod"}, .at = Vec3(0, 0, 0), .axis = Vec3(0, 0, 1)});
  World world(scene, recipes::fastest());
  double furthest = 0, angle = 0;
  for (int i = 0; i < 30; ++i) {
    world.step();
    const Vec3 along = world.orientation("rod") * Vec3::UnitX();
    angle = std::atan2(along.y(), along.x());
    furthest = std::max(furthest, angle);
    EXPECT_LT(world.diagnostics().joint_error.position, 5e-3);
  }
  EXPECT_LT(furthest, 1.56);  // a right angle less the half thicknesses
  EXPECT_GT(furthest, 1.3);
}

TEST(RealtimeFast, ABallThatFallsFarBouncesToItsHeight) {
  // e^2 of the height; 1.4 m per step is far more than it is thick.
  Scene scene;
  scene.materials.push_back({.name = "rubber", .restitution = 0.5});
  scene.add(
      {.name = "ground", .fixed = true, .position = {0, 0, -0.01}, .shape = Box{.size = {50, 50, 0.02}}, .material = "rubber"});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 360}, .shape = Sphere{0.1}, .material = "rubber"});
  World world(scene, recipes::fastest());
  while (world.velocity("ball").z() <= 0 && world.time() < 12) world.step();
  double highest = 0;
  for (int i = 0; i < 400; ++i) {
    world.step();
    highest = std::max(highest, world.position("ball").z());
  }
  EXPECT_NEAR(highest, 0.1 + 0.25 * 359.9, 3);
}

/// A disc on an axle, its tip at the origin, in regular precession under its weight: its tilt stays.
struct Top {
  double mass = 1, length = 0.1, spin = 0, tilt = 0.4;
  double along = 0.005, across = 0.0026;  // kg m^2, about its centre of mass

  [[nodiscard]] double precession() const {
    const double a = (across + mass * length * length) * std::cos(tilt), L = along * spin;
    return (L - std::sqrt(L * L - 4 * a * mass * weight_of_one_kg * length)) / (2 * a);
  }
  [[nodiscard]] Scene scene() const {
    const Quat q(Eigen::AngleAxisd(tilt, Vec3::UnitY()));
    const Vec3 axis = q * Vec3::UnitZ(), omega = precession() * Vec3::UnitZ() + (spin - precession() * std::cos(tilt)) * axis;
    Scene scene;
    scene.gravity = {0, 0, -weight_of_one_kg};
    scene.add({.name = "top",
               .mass = mass,
               .inertia = Mat3(Vec3(across, across, along).asDiagonal()),
               .position = length * axis,
               .orientation = q,
               .velocity = omega.cross(length * axis),
               .angular_velocity = omega});
    scene.add(Ball{.between = {"world", "top"}, .at = Vec3(0, 0, 0)});
    return scene;
  }
};

TEST(RealtimeFast, ATopPrecessesAtTheRateOfTheory) {
  for (const double spin : {60.0, 90.0, 150.0}) {
    const Top top{.spin = spin};
    World world(top.scene(), recipes::fastest());
    const double energy = world.diagnostics().energy();
    double angle = 0, last = 0, nods = 0, most = energy;
    const int steps = 180;
    for (int i = 0; i < steps; ++i) {
      world.step();
      const Vec3 axis = world.orientation("top") * Vec3::UnitZ();
      const double now = std::atan2(axis.y(), axis.x());
      angle += std::remainder(now - last, 2 * std::numbers::pi);
      last = now;
      nods = std::max(nods, std::abs(std::acos(axis.z()) - top.tilt));
      most = std::max(most, world.diagnostics().energy());
    }
    const double expected = top.precession() * steps / 60.0;
    EXPECT_NEAR(angle, expected, 0.06 * expected) << spin;
    EXPECT_LT(nods, 0.05) << spin;
    EXPECT_LT(most, energy + 0.01 * weight_of_one_kg * top.length) << spin;
    EXPECT_NEAR(world.angular_velocity("top").dot(world.orientation("top") * Vec3::UnitZ()), spin, 0.02 * spin) << spin;
  }
}

TEST(RealtimeFast, ATopStandsOnTheFloor) {
  for (const double spin : {90.0, 150.0}) {
    Scene scene;
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
    scene.add({.name = "top",
               .mass = 1.0,
               .inertia = Mat3(Vec3(0.0026, 0.0026, 0.005).asDiagonal()),
               .center_of_mass = Vec3::Zero(),
               .position = {0, 0, 0.105},
               .orientation = Quat(Eigen::AngleAxisd(0.1, Vec3::UnitX())),
               .angular_velocity = Eigen::AngleAxisd(0.1, Vec3::UnitX()) * Vec3(0, 0, spin),
               .shape = Compound{.parts = {{.shape = Cylinder{.radius = 0.1, .height = 0.02}},
                                           {.shape = Sphere{.radius = 0.005}, .position = {0, 0, -0.1}}}}});
    World world(scene, recipes::fastest());
    double most = 0;
    for (int i = 0; i < 300; ++i) {
      world.step();
      most = std::max(most, std::acos((world.orientation("top") * Vec3::UnitZ()).z()));
    }
    EXPECT_LT(most, 0.3) << spin;
  }
}

}  // namespace
}  // namespace rotule
