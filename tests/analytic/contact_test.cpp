// Contact against what a textbook answers (B2, D1 to D3).
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "math/rotation.h"
#include "model/solver_list.h"
#include "scenes/builders.h"
#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;
constexpr double degree = std::numbers::pi / 180;

/// A block on a plane that slopes by `angle`, with gravity turned instead of the plane, towards `heading`.
Scene block_on_slope(double angle, double heading, double mu_static, double mu_dynamic) {
  Scene scene;
  scene.gravity = g * Vec3(std::sin(angle) * std::cos(heading), std::sin(angle) * std::sin(heading), -std::cos(angle));
  scene.materials = {{.name = "rough", .friction = mu_dynamic, .static_friction = mu_static}};
  scene.add({.name = "plane", .fixed = true, .shape = Plane{}, .material = "rough"});
  scene.add({.name = "block", .mass = 2.0, .position = {0, 0, 0.05}, .shape = Box{{0.6, 0.6, 0.1}}, .material = "rough"});
  scene.recipe = recipes::realtime();
  return scene;
}

TEST(Slope, SticksUpToTheStaticAngleAndSlidesWithTheDynamicOne) {
  constexpr double mu_static = 0.5, mu_dynamic = 0.4;
  const double limit = std::atan(mu_static);
  {
    World world(block_on_slope(limit - 0.2 * degree, 0.3, mu_static, mu_dynamic));
    run_for(world, 2);
    EXPECT_LT(world.velocity("block").norm(), 1e-9);
  }
  const double angle = limit + 0.2 * degree;
  World world(block_on_slope(angle, 0.3, mu_static, mu_dynamic));
  run_for(world, 2);
  const double expected = g * (std::sin(angle) - mu_dynamic * std::cos(angle)) * 2;
  EXPECT_NEAR(world.velocity("block").head<2>().norm(), expected, 1e-6 * expected);
}

TEST(Slope, TheConeKnowsNoDirectionAndTheBoxDoes) {
  constexpr double mu = 0.4, angle = 30 * degree, time = 1;
  const double expected = g * (std::sin(angle) - mu * std::cos(angle)) * time;
  for (int k = 0; k < 16; ++k) {
    const double heading = 2 * std::numbers::pi * (k + 0.25) / 16;
    Scene scene = block_on_slope(angle, heading, mu, mu);
    World world(scene);
    run_for(world, time);
    const Vec3 v = world.velocity("block");
    EXPECT_NEAR(v.head<2>().norm(), expected, 1e-6 * expected) << k;
    EXPECT_NEAR(std::atan2(v.y(), v.x()), std::remainder(heading, 2 * std::numbers::pi), 1e-6) << k;

    // A box bounds each tangent for itself: between them friction is up to sqrt(2) too strong, so nothing slides faster.
    scene.recipe.contacts = BoxContactSettings{};
    World boxed(scene);
    run_for(boxed, time);
    EXPECT_LT(boxed.velocity("block").norm(), expected * (1 + 1e-6)) << k;
  }
  // Straight between the two tangents the error is the whole sqrt(2).
  Scene scene = block_on_slope(angle, std::numbers::pi / 4, mu, mu);
  scene.recipe.contacts = BoxContactSettings{};
  World boxed(scene);
  run_for(boxed, time);
  const double slowed = g * (std::sin(angle) - std::sqrt(2) * mu * std::cos(angle)) * time;
  EXPECT_NEAR(boxed.velocity("block").norm(), std::max(slowed, 0.0), 1e-4 * expected);
}

TEST(Slope, NothingCreeps) {
  World world(scenes::incline());
  run_for(world, 1);
  const Vec3 before = world.position("crate");
  run_for(world, 59);
  EXPECT_LT((world.position("crate") - before).norm(), 1e-9);
}

TEST(SlidingBlock, StopsAfterTheDistanceOfItsEnergy) {
  Scene scene = scenes::sliding_block();
  const double expected = 16 / (2 * 0.5 * g);
  double last_error = 1;
  for (const double h : {2e-3, 1e-3, 5e-4}) {
    scene.recipe.dt = h;
    World world(scene);
    run_for(world, 1.2);
    const double error = std::abs(world.position("block").x() - expected);
    EXPECT_LT(error, 2.2 * h) << h;  // half a step at 4 m/s: the friction of a step acts before it moves
    EXPECT_LT(error, 0.6 * last_error) << h;
    last_error = error;
    EXPECT_LT(world.velocity("block").norm(), 1e-9);
  }
}

TEST(SlideToRoll, EndsAtFiveSeventhsOfTheSpeed) {
  World world(scenes::slide_to_roll());
  run_for(world, 2);
  EXPECT_NEAR(world.velocity("ball").x(), 5.0, 1e-3);
  EXPECT_NEAR(world.angular_velocity("ball").y() * 0.1, world.velocity("ball").x(), 1e-6);
}

TEST(BouncingBall, EachBounceKeepsRestitutionSquaredOfTheHeight) {
  World world(scenes::bouncing_ball());
  const double e2 = 0.8 * 0.8;
  double height = 1, highest = 0;
  int bounces = 0;
  bool falling = true;
  run_for(world, 4, [&] {
    const double z = world.position("ball").z() - 0.1, v = world.velocity("ball").z();
    if (falling && v > 0) {
      falling = false;
      highest = 0;
    }
    highest = std::max(highest, z + std::max(v, 0.0) * v / (2 * g));
    if (!falling && v <= 0) {
      falling = true;
      ++bounces;
      height *= e2;
      if (bounces <= 6) {
        EXPECT_NEAR(highest, height, 1e-3 * height) << bounces;
      }
    }
  });
  EXPECT_GE(bounces, 6);
}

TEST(TallBox, TipsWhereItIsTallAndSlidesWhereItIsRough) {
  // Pushed by the slope of gravity: a box of height H and width B tips where tan(angle) > B/H, if friction holds it that long.
  const auto run = [](double width, double mu) {
    const double angle = 30 * degree;
    Scene scene;
    scene.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
    scene.materials = {{.name = "rough", .friction = mu}};
    scene.add({.name = "plane", .fixed = true, .shape = Plane{}, .material = "rough"});
    scene.add({.name = "box", .mass = 1.0, .position = {0, 0, 0.5}, .shape = Box{{width, 0.5, 1}}, .material = "rough"});
    scene.recipe = recipes::realtime();
    World world(scene);
    run_for(world, 0.3);
    return std::pair(world.velocity("box").x() > 1e-3, (world.orientation("box") * Vec3::UnitZ()).z() < 1 - 1e-4);
  };
  EXPECT_EQ(run(0.7, 1.0), std::pair(false, false));  // tan(30) = 0.577: stands
  EXPECT_EQ(run(0.7, 0.3), std::pair(true, false));   // slides upright
  EXPECT_EQ(run(0.4, 1.0), std::pair(true, true));    // tips
  EXPECT_EQ(run(0.4, 0.3), std::pair(true, false));   // slides before it could tip: 0.3 < 0.4
}

TEST(PainleveRod, DoesNotHangTheSolver) {
  // A rod dragged along a rough floor at a steep angle: rigid-body accelerations have no answer, impulses always do.
  for (const double mu : {0.5, 1.5, 3.0}) {
    const double lean = 35 * degree;
    Scene scene;
    scene.materials = {{.name = "rough", .friction = mu}};
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rough"});
    const Vec3 along(std::sin(lean), 0, std::cos(lean));
    scene.add({.name = "rod",
               .mass = 1.0,
               .position = 0.5 * along + Vec3(0, 0, 0.01),
               .orientation = rotation_between(Vec3::UnitZ(), along),
               .velocity = {-3, 0, 0},
               .shape = Capsule{0.01, 1.0},
               .material = "rough"});
    scene.recipe = recipes::realtime();
    scene.recipe.dt = 1e-3;
    World world(scene);
    const double before = world.diagnostics().energy();
    run_for(world, 2);
    EXPECT_LE(world.diagnostics().energy(), before) << mu;
    EXPECT_GT(world.position("rod").z(), 0.0) << mu;
    EXPECT_LT(world.position("rod").z(), 0.3) << mu;  // it has fallen over
  }
}

TEST(RollingFriction, StopsABallAsItsLeverSays) {
  // On the level, rolling friction f decelerates a solid ball by g (f/r) / (7/5).
  constexpr double lever = 0.004, radius = 0.1, speed = 2;
  Scene scene;
  scene.materials = {{.name = "felt", .friction = 0.8, .rolling_friction = lever}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "felt"});
  scene.add({.name = "ball",
             .mass = 1.0,
             .position = {0, 0, radius},
             .velocity = {speed, 0, 0},
             .angular_velocity = {0, speed / radius, 0},
             .shape = Sphere{radius},
             .material = "felt"});
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 1e-3;
  World world(scene);
  run_for(world, 2);
  EXPECT_NEAR(world.velocity("ball").x(), speed - 2 * g * lever / radius / 1.4, 1e-4);
}

TEST(TorsionalFriction, StopsASpinningBallAsItsLeverSays) {
  constexpr double lever = 0.005, radius = 0.1, spin = 20;
  Scene scene;
  scene.materials = {{.name = "felt", .friction = 0.5, .torsional_friction = lever}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "felt"});
  scene.add({.name = "ball",
             .mass = 1.0,
             .position = {0, 0, radius},
             .angular_velocity = {0, 0, spin},
             .shape = Sphere{radius},
             .material = "felt"});
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 1e-3;
  World world(scene);
  run_for(world, 0.5);
  EXPECT_NEAR(world.angular_velocity("ball").z(), spin - 0.5 * g * lever / (0.4 * radius * radius), 1e-3);
}

TEST(SoftContact, SinksByWeightOverStiffness) {
  Scene scene;
  scene.materials = {{.name = "rubber", .friction = 0.5, .contact_stiffness = 2e4, .contact_damping = 100}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 0.1}, .shape = Sphere{0.1}, .material = "rubber"});
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 1e-3;
  World world(scene);
  run_for(world, 3);
  // Two equal springs in series.
  EXPECT_NEAR(world.position("ball").z(), 0.1 - g / 1e4, 1e-9);
}

TEST(Gripper, HoldsItsCubeWithoutCreeping) {
  World world(scenes::gripper_pinch());
  run_for(world, 1);
  const Vec3 before = world.position("cube");
  run_for(world, 59);
  EXPECT_LT((world.position("cube") - before).norm(), 1e-9);
  EXPECT_LT((before - Vec3(0, 0, 0.5)).norm(), 1e-3);
}

TEST(Drives, LimitsMotorsSpringsAndFriction) {
  Scene scene;
  const auto arm = [&](const std::string& name, double y, const Drive& drive) {
    scene.add({.name = name, .mass = 1.0, .position = {0.5, y, 0}, .shape = Box{{1, 0.1, 0.1}}});
    scene.add(Hinge{.name = name + "_hinge", .between = {"world", name}, .at = {0, y, 0}, .axis = {0, 1, 0}, .drive = drive});
  };
  arm("stopped", 0, {.lower = -0.5, .upper = 0.5});
  arm("driven", 1, {.motor_speed = -1, .motor_strength = 50});
  arm("held", 2, {.friction = 6});  // its weight turns with 4.905 N m
  arm("sprung", 3, {.stiffness = 100, .damping = 10});
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 2e-3;
  World world(scene);
  run_for(world, 3);
  const auto angle = [&](const char* name) {
    const Vec3 x = world.orientation(name) * Vec3::UnitX();
    return std::atan2(-x.z(), x.x());
  };
  EXPECT_NEAR(angle("stopped"), 0.5, 1e-6);
  EXPECT_NEAR(world.angular_velocity("driven").y(), -1, 1e-5);
  EXPECT_NEAR(angle("held"), 0, 1e-9);
  // The spring balances the weight: 100 q = 4.905 cos q.
  const double q = angle("sprung");
  EXPECT_NEAR(100 * q, 0.5 * g * std::cos(q), 1e-4);
}

TEST(Overlap, IsResolvedWithoutExplosionAndWarnedOf) {
  Scene scene;
  scene.materials = {{.name = "wood", .friction = 0.5}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "wood"});
  scene.add({.name = "lower", .mass = 1.0, .position = {0, 0, 0.3}, .shape = Box{{1, 1, 1}}, .material = "wood"});
  scene.add({.name = "upper", .mass = 1.0, .position = {0.1, 0, 1.0}, .shape = Box{{1, 1, 1}}, .material = "wood"});
  scene.recipe = recipes::realtime();
  World world(scene);
  ASSERT_EQ(world.warnings().size(), 1u);
  EXPECT_NE(world.warnings()[0].find("in each other"), std::string::npos);
  double fastest = 0;
  run_for(world, 2, [&] { fastest = std::max(fastest, world.velocity("upper").norm()); });
  EXPECT_LT(fastest, 0.5);
  EXPECT_LT(world.diagnostics().penetration, 1e-4);
  EXPECT_NEAR(world.position("upper").z(), 1.5, 1e-3);
}

TEST(Contacts, AreReportedWithTheirForces) {
  World world(scenes::incline());
  run_for(world, 0.5);
  Vec3 total = Vec3::Zero();
  for (const ContactResult& c : world.contacts()) total += c.force;
  // On the crate, which is the second body: all of its weight.
  EXPECT_LT((total - Vec3(0, 0, 2 * g)).norm(), 1e-6);
}

TEST(Contacts, NeedAMethodAndASolverThatKnowThem) {
  Scene scene = scenes::incline();
  set(scene.recipe, "integrator", "ab4");
  EXPECT_THROW(World(scene, scene.recipe), Error);
  scene = scenes::incline();
  scene.recipe.solver = solver_named("ldlt");
  EXPECT_THROW(World(scene, scene.recipe), Error);
}

TEST(Snapshot, GoesOnWithTheSameBitsThroughContacts) {
  Scene scene = scenes::tripods();
  scene.bodies.resize(9);
  scene.recipe.solver = solver_named("block_gauss_seidel");
  World world(scene);
  run_for(world, 0.7);
  const Snapshot middle = world.save();
  run_for(world, 0.5);
  const std::uint64_t end = world.state_hash();
  World other(scene);
  other.load(middle);
  run_for(other, 0.5);
  EXPECT_EQ(other.state_hash(), end);
}

}  // namespace
}  // namespace rotule
