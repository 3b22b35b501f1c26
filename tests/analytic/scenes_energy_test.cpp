// What every shipped scene owes: closed joints throughout, and energy that RK4 keeps.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

TEST(Scenes, StartClosedAndStayClosed) {
  for (const std::string& name : scenes::names()) {
    const Scene scene = *scenes::build(name);
    if (!std::holds_alternative<NoContactSettings>(scene.recipe.contacts)) continue;  // contact_scenes_test.cpp has those
    World world(scene);
    const JointError start = world.diagnostics().joint_error;
    EXPECT_LT(start.position, 1e-12) << name;
    EXPECT_LT(start.velocity, 1e-11) << name;
    for (int i = 0; i < 100; ++i) world.step();
    EXPECT_LT(world.diagnostics().joint_error.position, 2e-12) << name;
    EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-9) << name;
  }
}

TEST(Scenes, KeepTheirEnergyWithRk4) {
  for (const std::string& name : scenes::names()) {
    const Scene scene = *scenes::build(name);
    if (scene.recipe.integrator.index() != IntegratorSettings(Rk4Settings{}).index()) continue;
    if (!scene.solids.empty()) continue;  // mass-spring solids have dampers, which are there to lose energy
    World world(scene);
    const Diagnostics start = world.diagnostics();
    double liveliest = start.kinetic_energy;
    run_for(world, std::min(scene.recipe.duration, 2.0),
            [&] { liveliest = std::max(liveliest, world.diagnostics().kinetic_energy); });
    const Diagnostics end = world.diagnostics();
    EXPECT_NEAR(end.energy() + end.shock_energy, start.energy(), 1e-7 * std::max(liveliest, 1e-3)) << name;
  }
}

}  // namespace
}  // namespace rotule
