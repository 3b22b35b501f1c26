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

}  // namespace
}  // namespace rotule
