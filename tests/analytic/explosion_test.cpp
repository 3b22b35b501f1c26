// The step at which an explicit method explodes (E4), against the prediction from the largest frequency (B5).
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

namespace rotule {
namespace {

Scene sheet(int side) {
  Scene scene;
  scene.gravity.setZero();
  scene.add(Cloth{.columns = side,
                  .rows = side,
                  .mass = 0.2,
                  .stiffness = 100,
                  .shear_stiffness = 50,
                  .bending_stiffness = 5,
                  .pinned = {"x0y0", "x1y0"}});
  return scene;
}

/// Whether a small disturbance grows beyond all bounds within so many steps.
bool explodes(Scene scene, double h, int steps) {
  scene.recipe.dt = h;
  World world(scene);
  for (int k = 0; k < world.particles(); ++k)
    if (world.particle_mass(k) > 0 && k % 7 == 3) world.set_particle(k, world.particle_position(k), 1e-6 * Vec3(1, -1, 0.5));
  const double start = world.diagnostics().kinetic_energy;
  try {
    for (int i = 0; i < steps; ++i) world.step();
  } catch (const Error&) {
    return true;
  }
  return world.diagnostics().kinetic_energy > 1e4 * start;
}

TEST(LargestFrequency, OfARowOfMassesIsKnown) {
  // n masses on n + 1 springs between walls: omega_max = 2 sqrt(k/m) sin(n pi / (2 (n + 1))).
  constexpr int n = 12;
  Scene scene;
  scene.add(Rope{.name = "row", .count = n + 2, .mass = 0.7 * (n + 2), .stiffness = 300, .pinned = {"x0", "x1"}});
  World world(scene);
  const LargestFrequency found = largest_frequency(world, 1e-12);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.frequency, 2 * std::sqrt(300 / 0.7) * std::sin(n * std::numbers::pi / (2 * (n + 1))), 1e-8);
}

TEST(LargestFrequency, OfTwoBodiesOnASpring) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "a", .mass = 2.0, .shape = Sphere{0.1}});
  scene.add({.name = "b", .mass = 3.0, .position = {1, 0, 0}, .shape = Sphere{0.1}});
  scene.add(Spring{.between = {"a", "b"}, .stiffness = 50});
  EXPECT_NEAR(largest_frequency(World(scene)).frequency, std::sqrt(50 * (1 / 2.0 + 1 / 3.0)), 1e-9);
}

TEST(Explosion, OfSemiImplicitEulerAndRk4IsWhereItIsPredicted) {
  Scene scene = sheet(8);
  const double omega = largest_frequency(World(scene)).frequency;
  struct Method {
    IntegratorSettings settings;
    double limit;
  };
  for (const Method& method :
       {Method{SemiImplicitEulerSettings{}, 2.0}, Method{LeapfrogSettings{}, 2.0}, Method{Rk4Settings{}, 2.8284}}) {
    scene.recipe.integrator = method.settings;
    EXPECT_FALSE(explodes(scene, 0.97 * method.limit / omega, 2000)) << name_of(method.settings);
    EXPECT_TRUE(explodes(scene, 1.05 * method.limit / omega, 2000)) << name_of(method.settings);
  }
}

}  // namespace
}  // namespace rotule
