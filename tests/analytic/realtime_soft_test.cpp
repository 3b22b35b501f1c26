// Particles in the real-time stepper: as stiff as their springs say, however many they are; momentum kept, energy never grown;
// nobody inside anything; friction up to its angle; beside the exact path.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>

#include "collide/collision_world.h"
#include "support/constants.h"
#include "support/soft_scenes.h"

namespace rotule {
namespace {

using testing::all_shapes;
using testing::fast;
using testing::follow;
using testing::g;
using testing::lowest;
using testing::napkin;
using testing::woollen;

TEST(RealtimeSoft, ARopeStretchesByItsStiffnessWhateverItsNumberOfParticles) {
  // A rope of 1 kg and 2000 N that hangs from its end: m g/(2 EA) of its length. So many particles have so many springs in line.
  for (const int count : {11, 41, 161, 641}) {
    const double EA = 2000;
    Scene scene;
    scene.add(Rope{.name = "rope",
                   .from = {0, 0, 0},
                   .to = {0, 0, -1},
                   .count = count,
                   .mass = 1,
                   .stiffness = EA * (count - 1),
                   .damping = 0.02 * EA * (count - 1),
                   .pinned = {"x0"}});
    World world(scene, fast(4));
    follow(world, 3);
    // The j-th spring of n carries n - j + 1 of n + 1 particles: the sum is half the weight over EA, whatever n.
    const double expected = 0.5 * g / EA;
    const double stretch = -world.particle_position(count - 1).z() - 1;
    EXPECT_NEAR(stretch, expected, 0.01 * expected) << count;
  }
}

TEST(RealtimeSoft, AHungClothSagsAsTheExactPathHasIt) {
  for (const int side : {9, 17, 33}) {
    Scene scene;
    Cloth cloth = napkin(side, 1, Vec3(0, 0, 0));
    cloth.contact.reset();
    cloth.stiffness = 200;
    cloth.shear_stiffness = 100;
    cloth.damping = 0.2;
    cloth.mass = 1;
    cloth.pinned = {"x0y0", "x1y0"};
    scene.add(cloth);
    scene.add(Drag{.on = {"cloth"}, .viscous = 1.0 / (side * side)});
    Recipe exact = recipes::exact();
    exact.integrator = ImplicitEulerSettings{};
    exact.dt = 1.0 / 60;
    World reference(scene, exact), world(scene, fast());
    follow(reference, 8);
    follow(world, 8);
    EXPECT_NEAR(lowest(world), lowest(reference), 0.02) << side;
  }
}

TEST(RealtimeSoft, MomentumIsKeptAndEnergyNeverGrowsWhereAStoneFliesIntoCloth) {
  for (const Shape& shape : {Shape(Sphere{0.1}), Shape(Box{Vec3(0.2, 0.15, 0.1)})}) {
    Scene scene = woollen();
    scene.gravity = Vec3::Zero();
    scene.add({.name = "stone",
               .mass = 0.5,
               .position = {0.05, 0.03, 0},
               .velocity = {0, 0, 3},
               .angular_velocity = {2, 1, 3},
               .shape = shape,
               .material = "wool"});
    scene.add(napkin(24, 0.6, Vec3(0, 0, 0.2)));
    World world(scene, fast());
    const Vec3 start = world.diagnostics().linear_momentum, spin = world.diagnostics().angular_momentum;
    const double start_energy = world.diagnostics().energy();
    double before = start_energy;
    for (int i = 0; i < 60; ++i) {
      world.step(1.0 / 60);
      const Diagnostics now = world.diagnostics();
      EXPECT_LT((now.linear_momentum - start).norm(), 2e-5 * start.norm()) << i;
      EXPECT_LT((now.angular_momentum - spin).norm(), 0.02 * spin.norm()) << i;
      EXPECT_LT(now.energy() - before, 5e-3 * start_energy) << i;
      EXPECT_LT(now.energy(), start_energy * (1 + 1e-5)) << i;
      before = now.energy();
    }
    EXPECT_LT(world.velocity("stone").z(), 2.9);
  }
}

TEST(RealtimeSoft, ASpinningClothKeepsItsSpin) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  Cloth cloth = napkin(15, 1, Vec3(0, 0, 0));
  cloth.contact.reset();
  scene.add(cloth);
  World world(scene, fast());
  for (int k = 0; k < world.particles(); ++k)
    world.set_particle(k, world.particle_position(k), Vec3(0, 0, 4).cross(world.particle_position(k)) + Vec3(1, 2, 3));
  const Vec3 linear = world.diagnostics().linear_momentum, angular = world.diagnostics().angular_momentum;
  const double start = world.diagnostics().energy();
  for (int i = 0; i < 120; ++i) {
    world.step(1.0 / 60);
    EXPECT_LT(world.diagnostics().energy() - start, 1e-4 * start) << i;
  }
  EXPECT_LT((world.diagnostics().linear_momentum - linear).norm(), 1e-5 * linear.norm());
  EXPECT_LT((world.diagnostics().angular_momentum - angular).norm(), 0.01 * angular.norm());
}

/// Follows a fall: nobody may be inside the body after any step, and energy only falls.
void expect_clean(const Scene& scene, int steps, double least, const std::string& what) {
  World world(scene, fast());
  const CollisionShape shape(scene.bodies[0].shape);
  const Frame X(Pose{scene.bodies[0].position, scene.bodies[0].orientation});
  const CollisionShape point = CollisionShape::point();
  double before = world.diagnostics().energy();
  const double scale = std::abs(before) + world.particle_mass(0) * world.particles() * g;
  for (int i = 0; i < steps; ++i) {
    world.step(1.0 / 60);
    for (int k = 0; k < world.particles(); ++k) {
      const Vec3 x = world.particle_position(k);
      if (!contains_point(shape, X, x)) continue;
      const auto depth = distance_of(point, {Mat3::Identity(), x}, shape, X, 1.0);
      ASSERT_TRUE(depth && depth->gap > -least)
          << what << " step " << i << " particle " << k << " depth " << (depth ? depth->gap : 0);
    }
    const double now = world.diagnostics().energy();
    ASSERT_LT(now - before, 5e-3 * scale) << what << " step " << i;
    before = now;
  }
}

TEST(RealtimeSoft, NoClothAndNoBlockEndsInsideAnyShape) {
  const char* text = std::getenv("ROTULE_SOFT_DROPS");
  const int drops = text != nullptr ? std::max(std::atoi(text), 1) : 3;
  for (int drop = 0; drop < drops; ++drop)
    for (const auto& [name, shape] : all_shapes())
      for (const bool block : {false, true}) {
        std::mt19937 random(17 + drop);
        std::uniform_real_distribution<double> any(-1, 1);
        Scene scene = woollen();
        scene.add({.name = "ground", .fixed = true, .shape = shape, .material = "wool"});
        if (name == "hills") scene.bodies[0].position = {-0.6, -0.6, 0};
        if (name != "plane" && name != "hills")
          scene.bodies[0].orientation = Quat(1, 0.3 * any(random), 0.3 * any(random), 0.3 * any(random)).normalized();
        const Vec3 at(0.1 * any(random), 0.1 * any(random), 0.5), v(any(random), any(random), -4 + 3 * any(random));
        if (block) {
          scene.add(Block{.name = "block",
                          .at = at - Vec3(0.1, 0.1, 0),
                          .size = {0.2, 0.2, 0.2},
                          .counts = {5, 5, 5},
                          .mass = 1,
                          .stiffness = 500,
                          .shear_stiffness = 250,
                          .damping = 0.2,
                          .velocity = v,
                          .contact = ParticleContact{.material = "wool"}});
        } else {
          Cloth cloth = napkin(15, 0.5, at);
          cloth.velocity = v;
          scene.add(cloth);
        }
        expect_clean(scene, 60, 2e-4, name + (block ? " block " : " cloth ") + std::to_string(drop));
      }
}

TEST(RealtimeSoft, NothingPassesAThinPlateAtAnySpeed) {
  for (const double speed : {10.0, 100.0, 300.0}) {
    Scene scene = woollen();
    scene.add({.name = "plate", .fixed = true, .shape = Box{Vec3(40, 40, 1e-3)}, .material = "ice"});
    Cloth cloth = napkin(5, 0.4, Vec3(0, 0, 0.8));
    cloth.velocity = {0, 0, -speed};
    scene.add(cloth);
    World world(scene, fast());
    for (int i = 0; i < 30; ++i) {
      world.step(1.0 / 60);
      ASSERT_GT(lowest(world), 4e-4) << speed << " " << i;
    }
  }
}

/// How far a scarf on a slope goes in a second, along it.
double slid(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  Scene scene = woollen();
  scene.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.add({.name = "slope", .fixed = true, .position = {0, 0, -0.05}, .shape = Box{Vec3(20, 4, 0.1)}, .material = "wool"});
  Cloth scarf = napkin(6, 0.4, Vec3(0, 0, 0.004));
  scarf.contact->thickness = 0.008;
  scene.add(scarf);
  World world(scene, fast());
  follow(world, 1);
  double mean = 0;
  for (int k = 0; k < world.particles(); ++k) mean += world.particle_position(k).x() / world.particles();
  return mean;
}

TEST(RealtimeSoft, AScarfHoldsOnASlopeUpToItsAngleAndSlidesBeyond) {
  const double limit = std::atan(0.5) * 180 / std::numbers::pi;
  EXPECT_LT(std::abs(slid(limit - 0.5)), 1e-4);
  const double angle = (limit + 3) * std::numbers::pi / 180;
  const double expected = 0.5 * g * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR(slid(limit + 3), expected, 0.02 * expected);
}

TEST(RealtimeSoft, AHammockHoldsBodiesThatAJointTies) {
  World world(testing::hammock(33, 13, 60), fast());
  double weight = 0;
  for (int i = 0; i < 300; ++i) {
    world.step(1.0 / 60);
    ASSERT_LT(world.diagnostics().joint_error.position, 1e-3) << i;
    for (int k = 0; k < world.particles(); ++k)
      ASSERT_GT((world.particle_position(k) - world.position("head")).norm(), 0.08 - 2e-4) << i;
    weight = world.position("chest").z();
  }
  EXPECT_GT(weight, -0.5);
  for (const char* name : {"chest", "head"}) EXPECT_LT(world.velocity(name).norm(), 0.05) << name;
}

TEST(RealtimeSoft, ALightBodyOnATautClothComesToRestAtItsWeight) {
  // The books of supports say who bears it: what the pinned edge gives is the weight of both.
  Scene scene = woollen();
  scene.add({.name = "ball", .mass = 0.3, .position = {0, 0, 0.2}, .shape = Sphere{0.08}, .material = "wool"});
  Cloth cloth = napkin(17, 0.8, Vec3(0, 0, 0));
  cloth.pinned = {"x0", "x1", "y0", "y1"};
  cloth.stiffness = 1000;
  cloth.damping = 0.2;
  scene.add(cloth);
  World world(scene, fast());
  follow(world, 6);
  EXPECT_LT(world.velocity("ball").norm(), 0.02);
  EXPECT_GT(world.position("ball").z(), -0.2);
  EXPECT_LT(world.position("ball").z(), 0.08);
}

TEST(RealtimeSoft, OneClothLiesOnAnotherAndOnItself) {
  Scene scene = woollen();
  scene.add({.name = "ground", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{Vec3(4, 4, 1)}, .material = "wool"});
  Cloth below = napkin(17, 0.8, Vec3(0, 0, 0.003));
  below.name = "below";
  scene.add(below);
  Cloth above = napkin(9, 0.37, Vec3(0.021, 0.013, 0.2));
  above.name = "above";
  above.velocity = {0, 0, -2};
  scene.add(above);
  World world(scene, fast());
  follow(world, 2);
  const int first = world.particle("above/0");
  for (int k = 0; k < first; ++k) EXPECT_GT(world.particle_position(k).z(), 0);
  // Not one has come through the sheet below: it lies on its balls, half a spacing up or more.
  for (int k = first; k < world.particles(); ++k) EXPECT_GT(world.particle_position(k).z(), 0.015) << k;
}

TEST(RealtimeSoft, DragBringsClothToItsSpeedOfFallHoweverStrongItIs) {
  for (const double speed : {2.0, 0.02}) {  // the slow one decays within a thirtieth of a substep
    Scene scene;
    Cloth cloth = napkin(9, 0.5, Vec3(0, 0, 0));
    cloth.contact.reset();
    cloth.mass = 0.05;
    scene.add(cloth);
    scene.add(Drag{.on = {"cloth"}, .viscous = 0.05 / 81 * g / speed});
    World world(scene, fast());
    follow(world, 3);
    EXPECT_NEAR(-world.diagnostics().linear_momentum.z() / 0.05, speed, 0.01 * speed);
  }
}

TEST(RealtimeSoft, AirSlowsClothByItsArea) {
  // While it is flat: m v' = m g - 1/2 rho A across v^2.
  Scene scene;
  Cloth cloth = napkin(9, 0.5, Vec3(0, 0, 0));
  cloth.contact.reset();
  cloth.mass = 0.05;
  scene.add(cloth);
  scene.add(Air{.on = {"cloth"}});
  World world(scene, fast());
  follow(world, 0.2);
  const double last = std::sqrt(2 * 0.05 * g / (1.2 * 1.2 * 0.25)), expected = last * std::tanh(g * 0.2 / last);
  EXPECT_NEAR(-world.diagnostics().linear_momentum.z() / 0.05, expected, 0.03 * expected);
}

TEST(RealtimeSoft, BooksSayWhoTookTheEnergy) {
  Scene scene = woollen();
  scene.add({.name = "slope", .fixed = true, .position = {0, 0, -0.05}, .shape = Box{Vec3(20, 4, 0.1)}, .material = "wool"});
  scene.gravity = g * Vec3(0.6, 0, -0.8);
  Cloth scarf = napkin(6, 0.4, Vec3(0, 0, 0.004));
  scarf.contact->thickness = 0.008;
  scene.add(scarf);
  World world(scene, fast());
  world.keep_books(true);
  const double start = world.diagnostics().energy();
  follow(world, 1);
  const Diagnostics end = world.diagnostics();
  // It slides by s, and friction takes mu m g cos s.
  double s = 0;
  for (int k = 0; k < world.particles(); ++k) s += world.particle_position(k).x() / world.particles();
  const double taken = 0.5 * 0.032 * g * 0.8 * s;
  EXPECT_NEAR(end.energy_balance.contact_friction, taken, 0.02 * taken);
  EXPECT_NEAR(end.energy() - start, -taken, 0.03 * taken);
}

TEST(RealtimeSoft, ASnapshotGoesOnBitForBit) {
  Scene scene = woollen();
  scene.add({.name = "ball", .mass = 2, .position = {0, 0, 0.2}, .shape = Sphere{0.15}, .material = "wool"});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wool"});
  scene.add(napkin(15, 0.6, Vec3(0.01, 0.02, 0.4)));
  World world(scene, fast());
  follow(world, 0.5);
  const Snapshot saved = world.save();
  follow(world, 0.5);
  World other(scene, fast());
  other.load(saved);
  follow(other, 0.5);
  EXPECT_EQ(world.state_hash(), other.state_hash());
}

TEST(RealtimeSoft, WhatItDoesNotKnowIsRefusedByName) {
  const auto expect = [](const Scene& scene, const std::string& what) {
    try {
      World world(scene, fast());
      ADD_FAILURE() << "taken: " << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  Scene tied;
  tied.add({.name = "stone", .mass = 1, .position = {0, 0, 1}});
  tied.add(Rope{.name = "rope"});
  Scene held = tied;
  tied.add(Spring{.between = {"stone", "rope/0"}, .to = {}, .stiffness = 10});
  expect(tied, "springs and forces between particles and others");
  held.add(Ball{.name = "knot", .between = {"stone", "rope/0"}, .at = {0, 0, 0}});
  expect(held, "joints that hold particles (\"knot\")");
}

}  // namespace
}  // namespace rotule
