// The real-time stepper against what mechanics says of simple motions, and what it refuses.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/allocation_counter.h"
#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

Recipe fast(double dt = 1.0 / 60, int substeps = 4) {
  Recipe recipe = recipes::fastest();
  recipe.dt = dt;
  recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
  return recipe;
}

Scene on_ground(double friction = 0.5, double restitution = 0) {
  Scene scene;
  scene.materials.push_back({.name = "all", .friction = friction, .restitution = restitution});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "all"});
  return scene;
}

void run(World& world, double seconds) {
  const auto steps = static_cast<int>(std::lround(seconds / world.recipe().dt));
  for (int i = 0; i < steps; ++i) world.step();
}

// More of what is fixed than a row of lanes has room for, before the first body that moves.
TEST(Realtime, FixedTilesBearWhatLandsOnThem) {
  Scene scene;
  constexpr int tiles = 40;
  for (int i = 0; i < tiles; ++i)
    scene.add({.name = "tile" + std::to_string(i), .fixed = true, .position = {1.0 * i, 0, 5}, .shape = Box{{0.9, 0.9, 0.2}}});
  for (int i = 0; i < tiles; ++i)
    scene.add({.name = "box" + std::to_string(i), .mass = 1.0, .position = {1.0 * i, 0, 5.8}, .shape = Box{{0.3, 0.3, 0.3}}});
  World world(scene, recipes::fastest());
  run_for(world, 1.5);
  for (int i = 0; i < tiles; ++i) EXPECT_NEAR(world.position("box" + std::to_string(i)).z(), 5.25, 0.005) << i;
}

TEST(RealtimeStepper, FallsAsGalileoSays) {
  Scene scene;
  scene.add({.name = "ball", .mass = 2.0, .velocity = {3, 0, 4}, .shape = Sphere{.radius = 0.1}});
  World world(scene, fast());
  run(world, 1);
  // Semi-implicit over substeps of h/4: g t h/8 too low, and no more.
  EXPECT_NEAR(world.position("ball").x(), 3, 1e-5);
  EXPECT_NEAR(world.position("ball").z(), 4 - g / 2 - g / 480, 1e-4);
}

TEST(RealtimeStepper, SpinningKeepsAngularMomentumAndGainsNoEnergy) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "racket", .mass = 1.0, .angular_velocity = {0.01, 6, 0.02}, .shape = Box{.size = {0.1, 0.3, 0.6}}});
  World world(scene, fast(1.0 / 240));
  const Diagnostics start = world.diagnostics();
  double most = 0, turned = 0;
  for (int i = 0; i < 2400; ++i) {
    world.step();
    const Diagnostics now = world.diagnostics();
    most = std::max(most, now.kinetic_energy / start.kinetic_energy);
    turned = std::max(turned, (now.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm());
  }
  EXPECT_LT(most, 1 + 1e-3);
  EXPECT_LT(turned, 0.02);
}

TEST(RealtimeStepper, WhatLiesStillWeighsWhatItWeighs) {
  Scene scene = on_ground();
  scene.add({.name = "crate", .mass = 3.0, .position = {0, 0, 0.5}, .shape = Box{}, .material = "all"});
  scene.add({.name = "lid", .mass = 2.0, .position = {0.1, 0, 1.25}, .shape = Box{.size = {1, 1, 0.5}}, .material = "all"});
  World world(scene, fast());
  run(world, 3);
  double on_floor = 0, on_crate = 0;
  for (const ContactResult& c : world.contacts()) (c.body_b == world.body("lid") ? on_crate : on_floor) += std::abs(c.force.z());
  EXPECT_NEAR(on_floor, 5 * g, 0.02 * 5 * g);
  EXPECT_NEAR(on_crate, 2 * g, 0.02 * 2 * g);
  EXPECT_LT(world.diagnostics().penetration, 2e-3);
  EXPECT_LT(world.diagnostics().kinetic_energy, 1e-9);
}

TEST(RealtimeStepper, FrictionIsAConeAndStopsWhereCoulombSays) {
  for (const double angle : {0.0, 0.3, std::numbers::pi / 4}) {
    Scene scene = on_ground(0.4);
    const Vec3 v = 3 * Vec3(std::cos(angle), std::sin(angle), 0);
    scene.add({.name = "puck",
               .mass = 1.0,
               .position = {0, 0, 0.05},
               .velocity = v,
               .shape = Box{.size = {0.4, 0.4, 0.1}},
               .material = "all"});
    World world(scene, fast());
    run(world, 2);
    const Vec3 went = world.position("puck") - Vec3(0, 0, world.position("puck").z());
    const double expected = 9 / (2 * 0.4 * g);
    EXPECT_NEAR(went.norm(), expected, 0.03 * expected) << angle;
    EXPECT_NEAR(went.normalized().dot(v.normalized()), 1, 1e-4) << angle;
    EXPECT_LT(world.velocity("puck").norm(), 1e-4);
  }
}

TEST(RealtimeStepper, HoldsOnASlopeUpToTheAngleOfFriction) {
  for (const double slope : {0.3, 0.5}) {
    Scene scene = on_ground(0.4);  // atan 0.4 = 0.38 rad
    scene.gravity = g * Vec3(std::sin(slope), 0, -std::cos(slope));
    scene.add({.name = "crate", .mass = 1.0, .position = {0, 0, 0.25}, .shape = Box{.size = {0.5, 0.5, 0.5}}, .material = "all"});
    World world(scene, fast());
    run(world, 1);
    const double slides = std::max(0.0, std::sin(slope) - 0.4 * std::cos(slope)) * g / 2;
    EXPECT_NEAR(world.position("crate").x(), slides, 0.02 * slides + 2e-3) << slope;
  }
}

TEST(RealtimeStepper, ABallRollsWithoutSliding) {
  Scene scene = on_ground(0.5);
  scene.add({.name = "ball",
             .mass = 1.0,
             .position = {0, 0, 0.2},
             .velocity = {2, 0, 0},
             .shape = Sphere{.radius = 0.2},
             .material = "all"});
  World world(scene, fast());
  run(world, 2);
  // Five sevenths of the speed are left once it rolls.
  EXPECT_NEAR(world.velocity("ball").x(), 2 * 5.0 / 7, 0.02);
  EXPECT_NEAR(world.angular_velocity("ball").y() * 0.2, world.velocity("ball").x(), 0.01);
}

TEST(RealtimeStepper, BouncesByItsRestitution) {
  for (const double e : {0.0, 0.5, 0.9}) {
    Scene scene = on_ground(0.5, e);
    scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 1.1}, .shape = Sphere{.radius = 0.1}, .material = "all"});
    World world(scene, fast(1.0 / 240));
    double highest = 0;
    bool hit = false;
    for (int i = 0; i < 480; ++i) {
      world.step();
      hit = hit || world.velocity("ball").z() > 0.01 || world.position("ball").z() < 0.101;
      if (hit) highest = std::max(highest, world.position("ball").z() - 0.1);
    }
    EXPECT_TRUE(hit);
    EXPECT_NEAR(highest, e * e, 0.04 * e * e + 5e-3) << e;
  }
}

TEST(RealtimeStepper, FastBodiesDoNotPassThroughFloors) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.05}, .shape = Box{.size = {20, 20, 0.1}}});
  for (int i = 0; i < 4; ++i)
    scene.add({.name = "shot" + std::to_string(i),
               .mass = 0.1,
               .position = {2.0 * i, 0, 3},
               .velocity = {0, 0, -50.0 * (i + 1)},
               .shape = Sphere{.radius = 0.05}});
  World world(scene, fast());
  run(world, 1);
  for (int i = 0; i < 4; ++i) EXPECT_GT(world.position("shot" + std::to_string(i)).z(), 0) << i;
}

TEST(RealtimeStepper, AllShapesComeToRestOnTheGround) {
  Scene scene = on_ground(0.6);
  const std::vector<Shape> shapes{Sphere{.radius = 0.2},
                                  Box{.size = {0.4, 0.3, 0.2}},
                                  Cylinder{.radius = 0.2, .height = 0.4},
                                  Capsule{.radius = 0.1, .length = 0.3},
                                  Cone{.radius = 0.2, .height = 0.4},
                                  Ellipsoid{.radii = {0.3, 0.2, 0.1}},
                                  Compound{.parts = {{.shape = Box{.size = {0.5, 0.1, 0.1}}},
                                                     {.shape = Box{.size = {0.1, 0.1, 0.4}}, .position = {0.2, 0, 0.2}}}}};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    scene.add({.name = "b" + std::to_string(i),
               .mass = 1.0,
               .position = {1.0 * double(i), 0, 0.6},
               .shape = shapes[i],
               .material = "all"});
  World world(scene, fast());
  run(world, 4);
  EXPECT_LT(world.diagnostics().penetration, 3e-3);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Vec3 p = world.position("b" + std::to_string(i));
    EXPECT_GT(p.z(), -0.01) << i;
    EXPECT_LT(p.z(), 0.35) << i;
    EXPECT_LT(world.velocity("b" + std::to_string(i)).norm(), 0.3) << i;
  }
}

Scene pyramid(int rows) {
  Scene scene = on_ground(0.6);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < rows - r; ++c)
      scene.add({.mass = 10.0, .position = {1.02 * (c - 0.5 * (rows - 1 - r)), 0, 0.5 + r}, .shape = Box{}, .material = "all"});
  return scene;
}

TEST(RealtimeStepper, APyramidStandsStill) {
  World world(pyramid(10), fast());
  run(world, 5);
  std::vector<Vec3> before;
  for (const BodyId id : world.bodies()) before.push_back(world.position(id));
  run(world, 5);
  double crept = 0;
  for (std::size_t i = 0; i < before.size(); ++i) crept = std::max(crept, (world.position(world.bodies()[i]) - before[i]).norm());
  EXPECT_LT(crept, 1e-3);
  EXPECT_LT(world.diagnostics().penetration, 5e-3);
}

TEST(RealtimeStepper, AllocatesNothingAfterWarmUp) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  World world(pyramid(6), fast());
  run(world, 1);
  const std::size_t before = testing::allocations();
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_EQ(testing::allocations() - before, 0u);
}

TEST(RealtimeStepper, GoesOnFromASnapshotWithTheSameBits) {
  World world(pyramid(5), fast());
  world.apply_impulse(world.bodies()[3], {5, 60, 0}, world.position(world.bodies()[3]) + Vec3(0, 0, 0.3));
  run(world, 0.5);
  const Snapshot snapshot = world.save();
  run(world, 0.5);
  const std::uint64_t straight = world.state_hash();
  world.load(snapshot);
  run(world, 0.5);
  EXPECT_EQ(world.state_hash(), straight);
  World other(pyramid(5), fast());
  other.load(snapshot);
  run(other, 0.5);
  EXPECT_EQ(other.state_hash(), straight);
}

TEST(RealtimeStepper, AskingChangesNoBit) {
  World asked(pyramid(4), fast()), left_alone(pyramid(4), fast());
  for (int i = 0; i < 60; ++i) {
    asked.step();
    static_cast<void>(asked.diagnostics());
    static_cast<void>(asked.contacts());
    left_alone.step();
  }
  EXPECT_EQ(asked.state_hash(), left_alone.state_hash());
}

TEST(RealtimeStepper, BodiesComeAndGo) {
  World world(pyramid(4), fast());
  run(world, 0.5);
  const BodyId gone = world.bodies()[2];  // of the lowest row: what it bore comes down
  world.remove(gone);
  const BodyId added =
      world.add(BodyDef{.name = "late", .mass = 5.0, .position = {0, 0, 7}, .shape = Sphere{.radius = 0.4}, .material = "all"});
  run(world, 3);
  EXPECT_LT(world.diagnostics().penetration, 2e-2);
  EXPECT_LT(world.position(added).z(), 6);
  for (const BodyId id : world.bodies()) EXPECT_GT(world.position(id).z(), -0.1);
}

TEST(RealtimeStepper, PlacingABodyElsewhereIsSeen) {
  Scene scene = on_ground();
  scene.add({.name = "a", .mass = 1.0, .position = {0, 0, 0.5}, .shape = Box{}, .material = "all"});
  scene.add({.name = "b", .mass = 1.0, .position = {50, 0, 0.5}, .shape = Box{}, .material = "all"});
  World world(scene, fast());
  run(world, 0.5);
  world.set_pose(world.body("b"), {{0, 0, 1.51}, Quat::Identity()});
  run(world, 1);
  EXPECT_NEAR(world.position("b").z(), 1.5, 5e-3);
}

// Bodies under a load count for more while they are slow; one that is struck must not, or the striker's momentum is lost. What
// the ground takes by friction is all that may go.
TEST(RealtimeStepper, AWallThatIsStruckTakesTheStrikersMomentum) {
  const double friction = 0.6, thrown = 5, speed = 10, h = 1.0 / 60;
  Scene scene = on_ground(friction);
  std::vector<BodyId> bricks;
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < 3; ++k)
      bricks.push_back(scene.add({.mass = 1.0,
                                  .position = {0.5 * k + 0.25 * (row % 2), 0, 0.1 + 0.2 * row},
                                  .shape = Box{.size = {0.5, 0.25, 0.2}},
                                  .material = "all"}));
  scene.add({.fixed = true, .position = {0.6, -1.5, 0.5}, .shape = Box{.size = {0.5, 0.7, 0.2}}, .material = "all"});
  const BodyId ball =
      scene.add({.mass = thrown, .position = {0.6, -1.5, 0.9}, .shape = Sphere{.radius = 0.3}, .material = "all"});
  World world(scene, fast(h));
  run(world, 1);
  world.apply_impulse(ball, {0, thrown * speed, 0}, world.position(ball));
  const auto momentum = [&] {
    double sum = thrown * world.velocity(ball).y();
    for (const BodyId brick : bricks) sum += world.velocity(brick).y();
    return sum;
  };
  double before = momentum();
  int steps = 0;
  for (; steps < 30 && world.velocity(ball).y() > 0.7 * speed; ++steps) {
    before = momentum();
    world.step();
  }
  ASSERT_LT(steps, 30);
  const double mass = thrown + static_cast<double>(bricks.size());
  EXPECT_GT(momentum(), before - h * friction * mass * g);
}

TEST(RealtimeStepper, AThousandKilogramsStandOnNineBoxesOfOne) {
  Scene scene = on_ground(0.6);
  for (int i = 0; i < 10; ++i)
    scene.add({.name = "b" + std::to_string(i),
               .mass = i < 9 ? 1.0 : 1000.0,
               .position = {0, 0, 0.5 + i},
               .shape = Box{},
               .material = "all"});
  World world(scene, fast());
  double deepest = 0, farthest = 0;
  for (int i = 0; i < 600; ++i) {
    world.step();
    deepest = std::max(deepest, world.diagnostics().penetration);
    farthest = std::max(farthest, (world.position("b9") - Vec3(0, 0, 9.5)).norm());
  }
  EXPECT_LT(deepest, 0.01);
  EXPECT_LT(farthest, 0.05);
  // Its weight is what it is: inertia alone is scaled.
  double force = 0;
  for (const ContactResult& c : world.contacts())
    if (c.body_a == world.body("ground") || c.body_b == world.body("ground")) force += c.force.norm();
  EXPECT_NEAR(force, 1009 * g, 0.02 * 1009 * g);
}

TEST(RealtimeStepper, TellsWhoBeginsAndCeasesToTouch) {
  Scene scene = on_ground();
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 0.6}, .shape = Sphere{.radius = 0.1}, .material = "all"});
  World world(scene, fast());
  int begun = 0, ended = 0;
  const auto run_counting = [&](double seconds) {
    for (int i = 0; i < std::lround(seconds * 60); ++i) {
      world.step();
      for (const ContactEvent& event : world.events()) ++(event.begins ? begun : ended);
    }
  };
  run_counting(1);
  EXPECT_GE(begun, 1);
  EXPECT_EQ(begun, ended + 1);
  EXPECT_TRUE(world.touching(world.body("ball"), world.body("ground")));
  world.set_velocity(world.body("ball"), {0, 0, 3}, Vec3::Zero());
  run_counting(0.2);
  EXPECT_EQ(begun, ended);
  EXPECT_FALSE(world.touching(world.body("ball"), world.body("ground")));
}

TEST(RealtimeStepper, TheReferencesJudgeGradesIt) {
  Scene scene = on_ground();
  for (int i = 0; i < 3; ++i)
    scene.add({.name = "b" + std::to_string(i), .mass = 1.0, .position = {0, 0, 0.5 + i}, .shape = Box{}, .material = "all"});
  World world(scene, fast());
  world.keep_problems(true);
  EXPECT_EQ(world.step().residual > 0, true);
  run(world, 2);
  const double resting = world.step().residual;
  EXPECT_GT(resting, 0);
  EXPECT_LT(resting, 0.05);  // of the velocity that is at stake in a step
  EXPECT_EQ(world.diagnostics().residual, resting);
}

TEST(RealtimeStepper, EveryStepIsJudged) {
  Scene scene = on_ground();
  for (int i = 0; i < 3; ++i)
    scene.add({.name = "b" + std::to_string(i), .mass = 1.0, .position = {0, 0, 0.5 + i}, .shape = Box{}, .material = "all"});
  const auto worst = [&](bool kept, int substeps) {
    World world(scene, fast(1.0 / 60, substeps));
    world.keep_problems(kept);
    run(world, 2);
    const double resting = world.step().residual;
    // Struck from the side: what slides and tips is not as good.
    world.apply_impulse(world.body("b2"), {2, 0.5, 0}, world.center_of_mass("b2") + Vec3(0, 0.2, 0.3));
    double struck = 0;
    for (int k = 0; k < 10; ++k) struck = std::max(struck, world.step().residual);
    const double last = world.step().residual;
    EXPECT_EQ(world.diagnostics().residual, last);
    return std::pair(resting, struck);
  };
  const auto [resting, struck] = worst(false, 4);
  const auto [resting_kept, struck_kept] = worst(true, 4);
  EXPECT_GT(resting, 0);
  EXPECT_LT(resting, 0.05);
  EXPECT_GT(struck, 3 * resting);
  EXPECT_LE(struck, 1.5);
  // The same scale as the reference's judge of the whole step.
  EXPECT_LT(std::abs(std::log10(struck / struck_kept)), 1);
  EXPECT_LT(resting_kept, 0.05);
}

TEST(RealtimeStepper, ATorqueThatIsTakenBackIsGone) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "crate", .mass = 1.0, .shape = Box{}});
  World world(scene, fast());
  world.set_force(world.body("crate"), Vec3::Zero(), {0, 0, 1});
  run(world, 0.5);
  world.set_force(world.body("crate"), Vec3::Zero(), Vec3::Zero());
  const double spin = world.angular_velocity("crate").z();
  EXPECT_NEAR(spin, 0.5 * 6, 0.01);  // I = m a^2/6
  run(world, 1);
  EXPECT_NEAR(world.angular_velocity("crate").z(), spin, 1e-3);
}

TEST(RealtimeStepper, SaysWhatItCannotRun) {
  const auto refusal = [](const Scene& scene, const Recipe& recipe) -> std::string {
    try {
      World world(scene, recipe);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  Scene soft = on_ground();
  soft.materials.push_back({.name = "rubber", .contact_stiffness = 1e4});
  soft.add({.name = "ball", .mass = 1.0, .shape = Sphere{}, .material = "rubber"});
  EXPECT_NE(refusal(soft, fast()).find("soft surfaces"), std::string::npos);
  Recipe other = fast();
  other.integrator = Rk4Settings{};
  EXPECT_NE(refusal(on_ground(), other).find("semi_implicit_euler"), std::string::npos);
}

TEST(Realtime, WhatItDoesNotKnowLeavesTheWorldAsItWas) {
  Scene scene;
  scene.materials.push_back({.name = "rubber", .contact_stiffness = 1e4});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  scene.add({.name = "crate", .mass = 2.0, .position = {0, 0, 0.5}, .shape = Box{}});
  World world(scene, recipes::fastest());
  world.step();
  EXPECT_THROW(world.add(BodyDef{.name = "mat", .fixed = true, .shape = Box{}, .material = "rubber"}), Error);
  EXPECT_EQ(world.bodies().size(), 2u);
  EXPECT_NO_THROW(world.step());
  EXPECT_NO_THROW(world.add(BodyDef{.name = "second", .mass = 1.0, .position = {0, 0, 3}, .shape = Box{}}));
  EXPECT_NO_THROW(world.step());
}

}  // namespace
}  // namespace rotule
