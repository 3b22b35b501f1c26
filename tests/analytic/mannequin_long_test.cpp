// The mannequin for 100,000 steps: what projection keeps, and what it leaves to the method.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "scenes/builders.h"

namespace rotule {
namespace {

TEST(MannequinLong, KeepsJointsAndMomentaOverAHundredThousandSteps) {
  Scene scene = scenes::mannequin();
  const double dt = scene.recipe.duration / 640;  // one turn in 640 steps
  scene.recipe.dt = dt;
  ASSERT_EQ(name_of(scene.recipe.integrator), "rk4");
  ASSERT_EQ(name_of(scene.recipe.correction), "projection");
  World world(scene);
  const Diagnostics start = world.diagnostics();
  double open = 0;
  for (int i = 0; i < 100'000; ++i) {
    world.step();
    if (i % 1000 == 999) open = std::max(open, world.diagnostics().joint_error.position);
  }
  const Diagnostics end = world.diagnostics();
  const double spin = (end.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm();
  const double energy = end.energy() / start.energy() - 1;
  EXPECT_NEAR(world.time(), 100'000 * dt, 1e-6);
  EXPECT_LT(end.joint_error.position, 1e-11);
  EXPECT_LT(open, 1e-11);
  EXPECT_LT(end.joint_error.velocity, 1e-11);
  EXPECT_LT(spin, 1e-7);
  EXPECT_LT(end.linear_momentum.norm(), 1e-10);
  // Nothing but the method's own error moves the energy: of order 4, and RK4 loses.
  EXPECT_LE(energy, 0);
  EXPECT_GT(energy, -1e-6);
  RecordProperty("figures", fmt::format("joint error {:.2e} m, angular momentum drift {:.2e}, energy drift {:.2e}",
                                        end.joint_error.position, spin, energy));
}

}  // namespace
}  // namespace rotule
