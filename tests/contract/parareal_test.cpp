// Parareal: rounds, exactness after as many rounds as slices, and the same bits whatever the number of threads.
#include <gtest/gtest.h>
#include <rotule/analyse.h>

#include <cmath>

#include "integrate/parareal.h"
#include "scenes/builders.h"

namespace rotule {
namespace {

/// y' = -y over slices of 1 s: G by one step of Euler's backward method, F exactly.
TEST(Parareal, FirstSlicesAreExactAndTheRestContracts) {
  const double slice = 0.5;
  const auto run = [&](double tolerance, std::vector<double>& at) {
    return parareal(
        at, 1, tolerance, [&](int, double from, double& to) { to = from / (1 + slice); },
        [&](int, double from, double& to) { to = from * std::exp(-slice); },
        [](int, double g, double f, double g_before, double& out) { out = g + f - g_before; },
        [](double a, double b) { return std::abs(a - b); });
  };
  std::vector<double> at(9, 1.0);
  const PararealReport all = run(0, at);
  EXPECT_EQ(all.rounds, 8);
  EXPECT_EQ(all.fine_slices, 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1);
  for (int n = 0; n <= 8; ++n) EXPECT_NEAR(at[n], std::exp(-slice * n), 1e-15);

  std::vector<double> few(9, 1.0);
  const PararealReport some = run(1e-5, few);
  EXPECT_TRUE(some.converged);
  EXPECT_LT(some.rounds, 8);
  for (int n = 0; n <= 8; ++n) EXPECT_NEAR(few[n], std::exp(-slice * n), 1e-5) << some.rounds;
}

double apart(const World& a, const World& b) {
  double out = 0;
  for (const BodyId body : a.bodies()) out = std::max(out, (a.center_of_mass(body) - b.center_of_mass(body)).norm());
  return out;
}

TEST(Parareal, AMannequinEndsWhereTheFineRunDoes) {
  const Scene scene = scenes::mannequin();
  Recipe recipe = scene.recipe;
  recipe.dt = 20.0 / 1280;
  World serial(scene, recipe);
  for (int i = 0; i < 1280; ++i) serial.step();
  PararealSettings settings{.slices = 8, .threads = 2, .tolerance = 1e-7, .coarse = coarser(recipe)};
  World parallel(scene, recipe);
  const PararealReport report = run_parareal(parallel, 20, settings);
  EXPECT_TRUE(report.converged);
  EXPECT_LT(report.rounds, 4);
  EXPECT_LT(apart(serial, parallel), 1e-7) << report.rounds << " rounds, " << report.estimate;
  EXPECT_DOUBLE_EQ(parallel.time(), 20);
  EXPECT_LT(parallel.diagnostics().joint_error.position, 1e-12);

  // Whatever the number of threads.
  for (const int threads : {1, 3}) {
    settings.threads = threads;
    World again(scene, recipe);
    run_parareal(again, 20, settings);
    EXPECT_EQ(again.state_hash(), parallel.state_hash()) << threads;
  }
}

TEST(Parareal, WhatIsLeftIsNotMoreThanEstimated) {
  // One round with an adaptive coarse run: the error against the fine run falls with the square of the jump, and the estimate
  // tells.
  const Scene scene = scenes::mannequin();
  Recipe recipe = scene.recipe;
  recipe.dt = 20.0 / 2500;
  World serial(scene, recipe);
  for (int i = 0; i < 7500; ++i) serial.step();
  constexpr double rounding = 1e-10;
  for (const int slices : {2, 6})
    for (const double tolerance : {1e-4, 1e-5, 1e-6}) {
      DormandPrince8Settings method;
      method.relative_tolerance = tolerance;
      method.absolute_tolerance = 1e-3 * tolerance;
      Recipe coarse = recipe;
      coarse.integrator = method;
      World world(scene, recipe);
      const PararealReport report = run_parareal(world, 60, {.slices = slices, .threads = 1, .tolerance = 1, .coarse = coarse});
      EXPECT_EQ(report.rounds, 1);
      EXPECT_LT(apart(serial, world), 3 * report.estimate + rounding) << slices << " slices, coarse " << tolerance;
    }
}

TEST(Parareal, RefusesWhatItCannotDo) {
  const Scene walls = scenes::mannequin_bounce();
  World world(walls);
  EXPECT_THROW(run_parareal(world, 1, {.coarse = coarser(walls.recipe)}), std::exception);
  World free(scenes::mannequin());
  EXPECT_THROW(run_parareal(free, 1, {.slices = 0, .coarse = coarser(scenes::mannequin().recipe)}), std::exception);
  EXPECT_THROW(run_parareal(free, -1, {.coarse = coarser(scenes::mannequin().recipe)}), std::exception);
}

}  // namespace
}  // namespace rotule
