// Sleeping in the real-time stepper: who may, what it costs, what wakes, and that nothing is lost by it.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "support/allocation_counter.h"
#include "support/runs.h"

namespace rotule {
namespace {

Recipe dozing(double after = 0.3) {
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = after};
  return recipe;
}

/// Columns of boxes on the ground, far enough apart to be islands of their own.
Scene columns(int count, int height) {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < height; ++k)
      scene.add({.name = "box" + std::to_string(i) + "_" + std::to_string(k),
                 .mass = 1.0,
                 .position = {3.0 * (i % 40), 3.0 * (i / 40), 0.25 + 0.5 * k},
                 .shape = Box{.size = {0.5, 0.5, 0.5}}});
  return scene;
}

TEST(RealtimeSleep, WhatLiesStillSleepsAndStaysWhereItLies) {
  World world(columns(4, 3), dozing());
  run_for(world, 2);
  EXPECT_EQ(world.step().asleep, 12);
  const std::uint64_t hash = world.state_hash();
  run_for(world, 2);
  EXPECT_EQ(world.state_hash(), hash);
  EXPECT_EQ(world.diagnostics().kinetic_energy, 0);
  // Contacts are there, with what they bear, and so is who touches whom.
  double borne = 0;
  for (const ContactResult& c : world.contacts())
    if (c.body_a == world.body("ground") || c.body_b == world.body("ground")) borne += c.force.z();
  EXPECT_NEAR(std::abs(borne), 12 * 9.81, 0.05 * 12 * 9.81);
  EXPECT_TRUE(world.touching(world.body("box0_0"), world.body("box0_1")));
  EXPECT_FALSE(world.touching(world.body("box0_0"), world.body("box1_0")));
}

TEST(RealtimeSleep, BallsSleepUnlessTheySpin) {
  Scene scene;
  scene.materials.push_back({.name = "ice", .friction = 0});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "ice"});
  scene.add({.name = "still", .mass = 1.0, .position = {0, 0, 0.1}, .shape = Sphere{0.1}, .material = "ice"});
  scene.add({.name = "top",
             .mass = 1.0,
             .position = {3, 0, 0.1},
             .angular_velocity = {0, 0, 5},
             .shape = Sphere{0.1},
             .material = "ice"});
  World world(scene, dozing());
  run_for(world, 2);
  EXPECT_EQ(world.step().asleep, 1);
  EXPECT_NEAR(world.angular_velocity("top").z(), 5, 0.01);
}

TEST(RealtimeSleep, NobodySleepsUnlessAsked) {
  World world(columns(1, 2), recipes::fastest());
  run_for(world, 3);
  EXPECT_EQ(world.step().asleep, 0);
}

TEST(RealtimeSleep, WakesTogetherWithWhatItIsHitBy) {
  World world(columns(3, 3), dozing());
  run_for(world, 2);
  ASSERT_EQ(world.step().asleep, 9);
  std::vector<ContactEvent> events;
  const Vec3 other = world.position("box1_1");
  world.add(BodyDef{.name = "ball", .mass = 5.0, .position = {-2, 0, 0.75}, .velocity = {12, 0, 0}, .shape = Sphere{0.2}});
  EXPECT_EQ(world.step().asleep, 9);  // a new body wakes nobody by itself
  int least = 9;
  for (int i = 0; i < 14; ++i) {
    least = std::min(least, world.step().asleep);
    for (const ContactEvent& event : world.events()) events.push_back(event);
  }
  EXPECT_EQ(least, 6);  // the column that it hits, and no other
  EXPECT_GT(world.position("box0_1").x(), 0.2);
  EXPECT_EQ(world.position("box1_1"), other);
  // The ball's touch is told, and no touch that went on all the while.
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [&](const ContactEvent& e) {
    return e.begins && (e.body_a == world.body("ball") || e.body_b == world.body("ball"));
  }));
  EXPECT_TRUE(std::none_of(events.begin(), events.end(), [&](const ContactEvent& e) {
    return e.body_a == world.body("box1_0") || e.body_b == world.body("box1_0");
  }));
}

TEST(RealtimeSleep, HandsWake) {
  const auto asleep = [] {
    World world(columns(2, 2), dozing());
    run_for(world, 2);
    EXPECT_EQ(world.step().asleep, 4);
    return world;
  };
  {  // a force
    World world = asleep();
    world.set_force(world.body("box0_1"), {30, 0, 0});
    EXPECT_EQ(world.step().asleep, 2);
    run_for(world, 0.3);
    EXPECT_GT(world.position("box0_1").x(), 0.1);
  }
  {  // a blow
    World world = asleep();
    world.apply_impulse(world.body("box0_1"), {4, 0, 0}, world.position("box0_1"));
    EXPECT_EQ(world.step().asleep, 2);
    EXPECT_GT(world.velocity("box0_1").x(), 1);
  }
  {  // the support taken away
    World world = asleep();
    world.remove(world.body("box0_0"));
    run_for(world, 1);
    EXPECT_NEAR(world.position("box0_1").z(), 0.25, 0.01);
    EXPECT_NEAR(world.position("box1_1").z(), 0.75, 0.01);
  }
  {  // and moved: the ground falls away under all
    World world = asleep();
    world.set_pose(world.body("ground"), {{0, 0, -1}, Quat::Identity()});
    EXPECT_EQ(world.step().asleep, 0);
    run_for(world, 1.5);
    EXPECT_NEAR(world.position("box0_0").z(), -0.75, 0.01);
    EXPECT_NEAR(world.position("box1_1").z(), -0.25, 0.02);
  }
}

TEST(RealtimeSleep, JointsSleepAndWake) {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  for (int i = 0; i < 6; ++i) {
    scene.add({.name = "link" + std::to_string(i),
               .mass = 1.0,
               .position = {0.4 * i, 0, 0.1},
               .orientation = Quat(Eigen::AngleAxisd(1.5707963267948966, Vec3::UnitY())),
               .shape = Capsule{.radius = 0.1, .length = 0.2}});
    if (i > 0)
      scene.add(Ball{.between = {"link" + std::to_string(i - 1), "link" + std::to_string(i)}, .at = Vec3(0.4 * i - 0.2, 0, 0.1)});
  }
  World world(scene, dozing());
  run_for(world, 3);
  ASSERT_EQ(world.step().asleep, 6);
  world.apply_impulse(world.body("link0"), {0, 0, 3}, world.position("link0"));
  EXPECT_EQ(world.step().asleep, 0);
  double widest = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    widest = std::max(widest, world.diagnostics().joint_error.position);
  }
  EXPECT_LT(widest, 1e-3);
  run_for(world, 4);
  EXPECT_EQ(world.step().asleep, 6);
}

TEST(RealtimeSleep, SnapshotsOfSleepersGoOnWithTheSameBits) {
  World world(columns(3, 3), dozing());
  run_for(world, 2);
  world.add(BodyDef{.name = "ball", .mass = 5.0, .position = {-4, 0, 0.75}, .velocity = {12, 0, 0}, .shape = Sphere{0.2}});
  const Snapshot saved = world.save();
  run_for(world, 2);
  const std::uint64_t hash = world.state_hash();
  world.load(saved);
  run_for(world, 2);
  EXPECT_EQ(world.state_hash(), hash);
}

// Who was changed by hand is all that is looked at; after a snapshot everybody is: the same bits.
TEST(RealtimeSleep, OneChangedByHandGoesOnAsIfAllHadBeenLookedAt) {
  Scene scene = columns(3, 3);
  scene.add({.name = "lift", .position = {-0.54, 0, 1}, .shape = Box{.size = {0.5, 0.5, 0.1}}, .kinematic = true});
  World world(scene, dozing());
  run_for(world, 2);
  ASSERT_EQ(world.step().asleep, 9);
  const Snapshot saved = world.save();
  const std::vector<std::function<void()>> deeds{
      [&] {
        world.set_velocity(world.body("box0_1"), {2, 0, 1}, {0, 0, 3});
      },
      [&] {
        world.set_velocity(world.body("lift"), {3, 0, 0}, Vec3::Zero());
      },
      [&] {
        world.set_pose(world.body("box1_2"), {{5.8, 0.1, 2}, Quat::Identity()});
      },
      [&] {
        world.set_pose(world.body("ground"), {{0, 0, -0.1}, Quat::Identity()});
      },
      [&] {
        world.apply_impulse(world.body("box2_0"), {4, 0, 0}, world.position("box2_0"));
      },
      [&] {
        world.set_force(world.body("box1_1"), {30, 0, 0});
        world.set_force(world.body("box0_2"), {0, 0, 12});
      },
  };
  for (std::size_t k = 0; k < deeds.size(); ++k) {
    std::uint64_t hash[2];
    for (const bool all : {false, true}) {
      world.load(saved);
      deeds[k]();
      if (all) world.load(world.save());
      EXPECT_LT(world.step().asleep, 9) << k;
      run_for(world, 0.5);
      deeds[(k + 1) % deeds.size()]();
      if (all) world.load(world.save());
      run_for(world, 0.5);
      hash[all] = world.state_hash();
    }
    EXPECT_EQ(hash[0], hash[1]) << k;
  }
}

TEST(RealtimeSleep, AHeavyLoadOnLightBoxesSleepsAndWakesStanding) {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  for (int k = 0; k < 5; ++k)
    scene.add({.name = "light" + std::to_string(k),
               .mass = 1.0,
               .position = {0, 0, 0.25 + 0.5 * k},
               .shape = Box{.size = {0.5, 0.5, 0.5}}});
  scene.add({.name = "heavy", .mass = 1000.0, .position = {0, 0, 2.75}, .shape = Box{.size = {0.5, 0.5, 0.5}}});
  World world(scene, dozing());
  for (int i = 0; i < 600 && world.step().asleep == 0; ++i) {
  }
  ASSERT_EQ(world.step().asleep, 6);
  world.apply_impulse(world.body("heavy"), {1, 0, 0}, world.position("heavy"));
  EXPECT_EQ(world.step().asleep, 0);
  run_for(world, 3);
  EXPECT_NEAR(world.position("heavy").z(), 2.75, 0.02);
}

// So many as ROTULE_SLEEPERS says: by default few enough for a suite of seconds.
TEST(RealtimeSleep, SleepersCostNextToNothing) {
  const char* given = std::getenv("ROTULE_SLEEPERS");
  const int count = given ? std::atoi(given) : 8000;
  World world(columns(count / 2, 2), dozing(0.1));
  run_for(world, 1);
  ASSERT_EQ(world.step().asleep, 2 * (count / 2));
  if (testing::counts_allocations()) {
    const std::size_t before = testing::allocations();
    world.step();
    EXPECT_EQ(testing::allocations(), before);
  }
  double best = infinity;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    world.step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  RecordProperty("microseconds_per_step", static_cast<int>(1e6 * best));
  EXPECT_LT(best, 1e-4);
  // One column wakes: of all others nothing is looked at.
  const BodyId top = world.body("box3_1");
  world.apply_impulse(top, {3, 0, 0}, world.position(top));
  EXPECT_EQ(world.step().asleep, 2 * (count / 2) - 2);
  best = infinity;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    world.step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(best, 1e-4);
}

}  // namespace
}  // namespace rotule
