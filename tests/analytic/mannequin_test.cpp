// The mannequin: orders of convergence (A6), momenta, and the bounce (A8).
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <map>
#include <string>

#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

struct Turn {
  VecX state;  // empty where the numbers overflowed
  double energy_change = 0;
};

/// One turn in `steps` steps.
Turn turn(const char* integrator, int steps) {
  Scene scene = scenes::mannequin();
  set(scene.recipe, "integrator", integrator);
  Turn out;
  try {
    World world(scene);
    const double energy = world.diagnostics().energy();
    for (int i = 0; i < steps; ++i) world.step(scene.recipe.duration / steps);
    out.energy_change = world.diagnostics().energy() / energy - 1;
    const std::vector<BodyId> bodies = world.bodies();
    VecX state(13 * bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      Quat q = world.orientation(bodies[i]);
      if (q.w() < 0) q.coeffs() *= -1;  // q and -q are the same rotation
      state.segment<13>(13 * i) << world.position(bodies[i]), q.coeffs(), world.velocity(bodies[i]),
          world.angular_velocity(bodies[i]);
    }
    out.state = state;
  } catch (const Error&) {
  }
  return out;
}

TEST(Mannequin, ShowsTheOrderOfEveryMethod) {
  const Turn reference = turn("rk4", 5120);
  const std::map<std::string, int> orders{{"explicit_euler", 1}, {"rk2", 2}, {"rk4", 4}, {"ab4", 4}};
  for (const auto& [method, order] : orders) {
    double last = infinity, last_energy = infinity;
    int pairs = 0;
    for (int steps = 20; steps <= 640; steps *= 2) {
      const Turn run = turn(method.c_str(), steps);
      const double error = run.state.size() ? (run.state - reference.state).cwiseAbs().maxCoeff() : infinity;
      const double energy = run.state.size() ? std::abs(run.energy_change) : infinity;
      if (last < 1e-2 && error > 1e-11) {
        EXPECT_NEAR(std::log2(last / error), order, 0.3) << method << " at " << steps;
        ++pairs;
      }
      if (last_energy < 1e-2 && energy > 1e-11) {
        EXPECT_GT(std::log2(last_energy / energy), order - 0.3) << method << " at " << steps;
      }
      last = error;
      last_energy = energy;
    }
    if (order > 1) {
      EXPECT_GT(pairs, 0) << method;
    }
  }
}

TEST(Mannequin, Rk4LosesEnergyWhileEulerAndRk2GainIt) {
  EXPECT_TRUE(turn("explicit_euler", 20).state.size() == 0 || turn("explicit_euler", 20).energy_change > 10);
  EXPECT_GT(turn("explicit_euler", 640).energy_change, 0);
  EXPECT_GT(turn("rk2", 160).energy_change, 0);
  EXPECT_LT(turn("rk4", 80).energy_change, 0);
}

TEST(Mannequin, KeepsItsMomenta) {
  World world(scenes::mannequin());
  const Diagnostics start = world.diagnostics();
  run_for(world, 20);
  const Diagnostics end = world.diagnostics();
  EXPECT_LT((end.angular_momentum - start.angular_momentum).norm(), 1e-8 * start.angular_momentum.norm());
  EXPECT_LT(end.linear_momentum.norm(), 1e-12);
  EXPECT_LT(end.joint_error.position, 1e-12);
}

TEST(MannequinBounce, IsThrownBackWithItsJointsWholeAndItsEnergyAccountedFor) {
  const Scene scene = scenes::mannequin_bounce();
  World world(scene);
  const Diagnostics start = world.diagnostics();
  int shocks = 0;
  double worst = 0, worst_balance = 0;
  const int steps = int(std::lround(scene.recipe.duration / scene.recipe.dt));
  for (int i = 0; i < steps; ++i) {
    shocks += world.step().shocks;
    const Diagnostics now = world.diagnostics();
    worst = std::max(worst, now.joint_error.velocity);
    worst_balance = std::max(worst_balance, std::abs(now.energy() + now.shock_energy - start.energy()));
  }
  const Diagnostics end = world.diagnostics();
  EXPECT_GE(shocks, 3);
  EXPECT_LT(worst, 1e-11);
  EXPECT_GT(end.shock_energy, 0);
  EXPECT_LT(worst_balance, 1e-6 * start.energy());
  EXPECT_LT(end.linear_momentum.x(), 0);  // away from the wall at x = 1.2
}

}  // namespace
}  // namespace rotule
