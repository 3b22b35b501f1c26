// Surfaces of the real-time stepper: belts, friction against rolling and turning, and the forces that contacts tell of.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

TEST(RealtimeSurfaces, ABeltBringsACrateToItsSpeedInTheTimeThatFrictionGives) {
  constexpr double mu = 0.3, v = 1.2, mass = 3;
  for (const double turned : {0.0, 0.7}) {
    Scene scene;
    scene.materials.push_back({.name = "m", .friction = mu});
    // The belt runs along the body's own x.
    const Quat q(Eigen::AngleAxisd(turned, Vec3::UnitZ()));
    scene.add({.name = "belt",
               .fixed = true,
               .position = {0, 0, -0.5},
               .orientation = q,
               .shape = Box{.size = {50, 50, 1}},
               .material = "m",
               .surface_velocity = {v, 0, 0}});
    scene.add({.name = "crate", .mass = mass, .position = {0, 0, 0.2}, .shape = Box{.size = {0.4, 0.4, 0.4}}, .material = "m"});
    World world(scene, recipes::fastest());
    const Vec3 along = q * Vec3::UnitX();
    const double slip_time = v / (mu * g);
    run_for(world, 0.5 * slip_time);
    EXPECT_NEAR(world.velocity("crate").dot(along), mu * g * world.time(), 0.03 * v);
    run_for(world, slip_time);
    EXPECT_LT((world.velocity("crate") - v * along).norm(), 1e-3);
    EXPECT_LT(world.angular_velocity("crate").norm(), 1e-2);
    // The belt gave kinetic energy, and as much again went into heat.
    EXPECT_NEAR(world.diagnostics().kinematic_work, mass * v * v, 0.05 * mass * v * v);
  }
}

TEST(RealtimeSurfaces, ACrateOnABeltDoesNotSleep) {
  Scene scene;
  scene.add({.name = "belt", .fixed = true, .shape = Plane{}, .surface_velocity = {0.001, 0, 0}});
  scene.add({.name = "crate", .mass = 1.0, .position = {0, 0, 0.25}, .shape = Box{.size = {0.5, 0.5, 0.5}}});
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = 0.2};
  World world(scene, recipe);
  run_for(world, 4);
  EXPECT_NEAR(world.position("crate").x(), 0.004, 2e-4);
}

Scene felt(double rolling, double torsional) {
  Scene scene;
  scene.materials.push_back({.name = "felt", .friction = 0.8, .rolling_friction = rolling, .torsional_friction = torsional});
  scene.add({.name = "table", .fixed = true, .shape = Plane{}, .material = "felt"});
  return scene;
}

TEST(RealtimeSurfaces, ABallRollsOutAsFarAsItsLeverSays) {
  constexpr double lever = 0.004, radius = 0.1, v = 1;
  Scene scene = felt(lever, 0);
  scene.add({.name = "ball",
             .mass = 2.0,
             .position = {0, 0, radius},
             .velocity = {v, 0, 0},
             .angular_velocity = {0, v / radius, 0},
             .shape = Sphere{.radius = radius},
             .material = "felt"});
  World world(scene, recipes::fastest());
  world.keep_books(true);
  // m a = F, (2/5) m r^2 a/r = lever m g - F r while it rolls.
  const double slows = 5.0 / 7 * g * lever / radius;
  run_for(world, 0.5 * v / slows);
  EXPECT_NEAR(world.velocity("ball").x(), v - slows * world.time(), 0.01);
  EXPECT_NEAR(world.angular_velocity("ball").y() * radius, world.velocity("ball").x(), 2e-3);
  run_for(world, 0.8 * v / slows);
  EXPECT_NEAR(world.position("ball").x(), v * v / (2 * slows), 0.02 * v * v / (2 * slows));
  EXPECT_LT(world.velocity("ball").norm(), 1e-4);
  EXPECT_LT(world.angular_velocity("ball").norm(), 1e-3);
  // All its energy went into friction.
  const double energy = 0.5 * 2 * v * v * 7 / 5;
  EXPECT_NEAR(std::abs(world.diagnostics().energy_balance.contact_friction), energy, 0.03 * energy);
}

TEST(RealtimeSurfaces, ABallStandsOnASlopeUpToItsLever) {
  constexpr double lever = 0.01, radius = 0.1;
  for (const double share : {0.8, 1.25}) {
    Scene scene = felt(lever, 0);
    const double angle = std::atan(share * lever / radius);
    scene.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
    scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, radius}, .shape = Sphere{.radius = radius}, .material = "felt"});
    World world(scene, recipes::fastest());
    run_for(world, 2);
    if (share < 1)
      EXPECT_LT(world.position("ball").x(), 1e-3);
    else
      EXPECT_GT(world.position("ball").x(), 0.1);
  }
}

TEST(RealtimeSurfaces, ASpinningBallStopsAsItsTorsionSays) {
  constexpr double lever = 0.002, radius = 0.1, spin = 20;
  Scene scene = felt(0, lever);
  scene.add({.name = "ball",
             .mass = 2.0,
             .position = {0, 0, radius},
             .angular_velocity = {0, 0, spin},
             .shape = Sphere{.radius = radius},
             .material = "felt"});
  World world(scene, recipes::fastest());
  const double slows = lever * g / (0.4 * radius * radius);
  run_for(world, 0.5);
  EXPECT_NEAR(world.angular_velocity("ball").z(), spin - slows * 0.5, 0.02 * spin);
  run_for(world, 1.2 * spin / slows);
  EXPECT_LT(world.angular_velocity("ball").norm(), 1e-3);
}

TEST(RealtimeSurfaces, ForcesOfContactsHoldWhoeverCameFirst) {
  for (const bool ground_first : {true, false}) {
    Scene scene;
    scene.materials.push_back({.name = "m", .friction = 0.4});
    const BodyDef ground{.name = "ground", .fixed = true, .shape = Plane{}, .material = "m"};
    if (ground_first) scene.add(ground);
    scene.add({.name = "crate",
               .mass = 2.0,
               .position = {0, 0, 0.2},
               .velocity = {1.5, 2, 0},
               .shape = Box{.size = {0.4, 0.4, 0.4}},
               .material = "m"});
    if (!ground_first) scene.add(ground);
    World world(scene, recipes::fastest());
    for (int k = 0; k < 6; ++k) world.step();
    const Vec3 before = world.velocity("crate");
    world.step();
    const Vec3 expected = 2.0 * (world.velocity("crate") - before) / world.recipe().dt + Vec3(0, 0, 2 * g);
    Vec3 on_crate = Vec3::Zero();
    for (const ContactResult& c : world.contacts()) on_crate += (c.body_b == world.body("crate") ? 1 : -1) * c.force;
    EXPECT_LT((on_crate - expected).norm(), 0.05 * expected.norm()) << ground_first;
    EXPECT_LT(on_crate.head<2>().dot(before.head<2>()), 0);
  }
}

}  // namespace
}  // namespace rotule
