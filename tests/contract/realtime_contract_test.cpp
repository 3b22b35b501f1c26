// As substeps grow and softness goes, the real-time stepper comes to what the reference says.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

namespace rotule {
namespace {

/// A crate that slides down a slope and across it until it stops, and a ball that slides before it rolls. (A patch that slides
/// and spins at once has another law of friction here, docs/realtime.md.)
Scene thrown() {
  Scene scene;
  scene.gravity = 9.81 * Vec3(std::sin(0.2), 0, -std::cos(0.2));
  scene.materials.push_back({.name = "all", .friction = 0.5});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "all"});
  scene.add({.name = "crate",
             .mass = 2.0,
             .position = {0, 0, 0.15},
             .velocity = {2, 0.5, 0},

             .shape = Box{.size = {0.5, 0.4, 0.3}},
             .material = "all"});
  scene.add({.name = "ball",
             .mass = 1.0,
             .position = {-1, 3, 0.2},
             .velocity = {1, 0, 0},

             .shape = Sphere{.radius = 0.2},
             .material = "all"});
  return scene;
}

std::vector<Vec3> places(World& world, double seconds) {
  const auto steps = static_cast<int>(std::lround(seconds / world.recipe().dt));
  for (int i = 0; i < steps; ++i) world.step();
  return {world.position("crate"), world.position("ball")};
}

TEST(RealtimeContract, ConvergesToTheReference) {
  const double seconds = 0.6;
  Recipe exact = recipes::balanced();
  exact.dt = 1e-4;
  World reference(thrown(), exact);
  const std::vector<Vec3> truth = places(reference, seconds);
  const auto error = [&](int substeps) {
    Recipe recipe = recipes::fastest();
    recipe.dt = 1.0 / 200;
    recipe.stepper = RealtimeStepperSettings{.substeps = substeps, .contact_frequency = 1e6};
    World world(thrown(), recipe);
    const std::vector<Vec3> now = places(world, seconds);
    return std::max((now[0] - truth[0]).norm(), (now[1] - truth[1]).norm());
  };
  const double coarse = error(1), fine = error(32);
  EXPECT_LT(fine, 4e-3);
  EXPECT_LT(fine, 0.5 * coarse + 1e-4);
}

Recipe exactly() {
  Recipe recipe = recipes::balanced();
  recipe.dt = 1e-4;
  return recipe;
}

/// Where all that move have come to.
std::vector<Vec3> ends(const Scene& scene, const Recipe& recipe, double seconds) {
  World world(scene, recipe);
  const auto steps = static_cast<int>(std::lround(seconds / recipe.dt));
  for (int i = 0; i < steps; ++i) world.step();
  std::vector<Vec3> out;
  for (const BodyDef& body : scene.bodies)
    if (!body.fixed) out.push_back(world.position(body.name));
  return out;
}

double farthest(const std::vector<Vec3>& p, const std::vector<Vec3>& q) {
  double out = 0;
  for (std::size_t i = 0; i < p.size(); ++i) out = std::max(out, (p[i] - q[i]).norm());
  return out;
}

/// Three crates of different weights on a slope: the lowest sticks, and carries those that slide on it.
TEST(RealtimeContract, AStackWithFrictionConvergesToTheReference) {
  Scene scene;
  scene.gravity = 9.81 * Vec3(std::sin(0.25), 0, -std::cos(0.25));
  scene.materials.push_back({.name = "rough", .friction = 0.6});
  scene.materials.push_back({.name = "smooth", .friction = 0.05});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "rough"});
  scene.add({.name = "low", .mass = 5.0, .position = {0, 0, 0.2}, .shape = Box{.size = {1, 1, 0.4}}, .material = "rough"});
  scene.add(
      {.name = "middle", .mass = 1.0, .position = {0, 0, 0.5}, .shape = Box{.size = {0.4, 0.4, 0.2}}, .material = "smooth"});
  scene.add({.name = "top", .mass = 3.0, .position = {0, 0, 0.7}, .shape = Box{.size = {0.3, 0.3, 0.2}}, .material = "rough"});
  const double seconds = 0.4;
  const std::vector<Vec3> truth = ends(scene, exactly(), seconds);
  const auto error = [&](int substeps) {
    Recipe recipe = recipes::fastest();
    recipe.dt = 1.0 / 200;
    recipe.stepper = RealtimeStepperSettings{.substeps = substeps, .contact_frequency = 1e6, .load_inertia = 0};
    return farthest(ends(scene, recipe, seconds), truth);
  };
  const double coarse = error(1), fine = error(32);
  EXPECT_GT(truth[1].x(), 0.05);  // it does slide
  EXPECT_LT(fine, 4e-3);
  EXPECT_LT(fine, 0.5 * coarse + 1e-4);
}

/// Blows are at the ends of steps: what bounces converges with them.
TEST(RealtimeContract, RestitutionConvergesToTheReference) {
  Scene scene;
  scene.materials.push_back({.name = "rubber", .friction = 0.4, .restitution = 0.7});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add({.name = "ball",
             .mass = 1.0,
             .position = {0, 0, 0.6},
             .velocity = {1, 0, 0},
             .shape = Sphere{.radius = 0.1},
             .material = "rubber"});
  const double seconds = 0.5;
  const std::vector<Vec3> truth = ends(scene, exactly(), seconds);
  const auto error = [&](double dt) {
    Recipe recipe = recipes::fastest();
    recipe.dt = dt;
    return farthest(ends(scene, recipe, seconds), truth);
  };
  const double coarse = error(1.0 / 100), fine = error(1.0 / 2000);
  EXPECT_GT(truth[0].z(), 0.15);  // it is on its way up or down again
  EXPECT_LT(fine, 4e-3);
  EXPECT_LT(fine, 0.3 * coarse);
}

/// Links on ball joints that swing down and lie against a wall: joints and contacts at once.
TEST(RealtimeContract, AChainAgainstAWallConvergesToTheReference) {
  Scene scene;
  scene.materials.push_back({.name = "m", .friction = 0.3});
  scene.add({.name = "wall", .fixed = true, .position = {-0.62, 0, 0}, .shape = Box{.size = {1, 4, 6}}, .material = "m"});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "link" + std::to_string(i);
    scene.add({.name = name, .mass = 1.0, .position = {0.2 + 0.4 * i, 0, 0}, .shape = Sphere{.radius = 0.1}, .material = "m"});
    scene.add(Ball{.between = {i == 0 ? "world" : "link" + std::to_string(i - 1), name}, .at = Vec3(0.4 * i, 0, 0)});
  }
  const double seconds = 0.3;
  const std::vector<Vec3> truth = ends(scene, exactly(), seconds);
  const auto error = [&](double dt) {
    Recipe recipe = recipes::fastest();
    recipe.dt = dt;
    recipe.stepper = RealtimeStepperSettings{.substeps = 8, .contact_frequency = 1e6, .load_inertia = 0};
    return farthest(ends(scene, recipe, seconds), truth);
  };
  const double coarse = error(1.0 / 60), fine = error(1.0 / 600);
  EXPECT_LT(fine, 5e-3);
  EXPECT_LT(fine, 0.5 * coarse + 1e-4);
}

}  // namespace
}  // namespace rotule
