// Every method on constrained mechanisms, through World: the order that it has without joints, it has with them.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "scenes/builders.h"
#include "support/mechanisms.h"
#include "support/runs.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::alternatives;
using testing::traits_of;

World run_by(Scene scene, const IntegratorSettings& integrator, double duration, int steps) {
  scene.recipe = {.dt = duration / steps, .integrator = integrator};
  World world(scene);
  for (int i = 0; i < steps; ++i) world.step();
  return world;
}

void expect_mechanism_orders(const Scene& scene, double duration) {
  const World exact = run_by(scene, Rk4Settings{}, duration, 6000);
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const int order = traits_of(settings).order;
    const bool multistep =
        std::holds_alternative<Ab4Settings>(settings);  // has a small region of stability, and a large constant
    const int steps = multistep ? 800 : order == 1 ? 1000 : order == 2 ? 200 : order == 6 ? 8 : 50;
    double before = 0, seen = 0;
    std::string errors;
    for (int n = steps; n <= 4 * steps; n *= 2) {
      const double error = difference(run_by(scene, settings, duration, n), exact);
      errors += ::testing::PrintToString(error) + " ";
      if (before > 0 && error > 1e-11) seen = std::log2(before / error);
      before = error;
    }
    EXPECT_NEAR(seen, order, 0.3) << scene.name << ": " << name_of(settings) << ", errors " << errors;
  }
}

TEST(IntegratorsOnMechanisms, OrderOnADoublePendulum) { expect_mechanism_orders(scenes::double_pendulum(), 0.3); }
TEST(IntegratorsOnMechanisms, OrderOnALoop) { expect_mechanism_orders(scenes::four_bar(), 0.3); }

TEST(IntegratorsOnMechanisms, NothingIsHalvedAtAReasonableStep) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    Scene scene = scenes::mannequin();
    scene.recipe = {.dt = 0.02, .integrator = settings};
    World world(scene);
    for (int i = 0; i < 20; ++i) {
      const StepReport& report = world.step();
      EXPECT_EQ(report.halvings, 0) << name_of(settings);
      EXPECT_TRUE(report.converged) << name_of(settings);
      EXPECT_EQ(report.newton_iterations > 0, traits_of(settings).implicit && name_of(settings) != "linear_implicit_euler");
    }
  }
}

TEST(IntegratorsOnMechanisms, TautChainsAreNotHalved) {
  // 20 light links with a tonne below them, plucked: their waves are far too fast for a sixtieth of a second. Implicit methods
  // that hold joints at the stage itself take such steps whole, and gain no energy.
  for (const IntegratorSettings& settings :
       {IntegratorSettings(ImplicitEulerSettings{}), IntegratorSettings(ImplicitMidpointSettings{})}) {
    Scene scene = scenes::hanging_chain(1000);
    scene.recipe = {.dt = 1.0 / 60, .integrator = settings};
    World world(scene);
    const Diagnostics start = world.diagnostics();
    for (int i = 0; i < 60; ++i) {
      const StepReport& report = world.step();
      ASSERT_EQ(report.halvings, 0) << name_of(settings) << ", step " << i;
      ASSERT_TRUE(report.converged) << name_of(settings) << ", step " << i;
    }
    const Diagnostics end = world.diagnostics();
    EXPECT_LT(end.kinetic_energy + end.potential_energy, start.kinetic_energy + start.potential_energy) << name_of(settings);
    EXPECT_LT(end.joint_error.position, 1e-10) << name_of(settings);
  }
}

TEST(IntegratorsOnMechanisms, ImpulsesWantSemiImplicitEuler) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const Recipe recipe{.integrator = settings, .formulation = VelocitySettings{}};
    if (std::holds_alternative<SemiImplicitEulerSettings>(settings))
      EXPECT_NO_THROW(check_combination(recipe));
    else
      EXPECT_THROW(check_combination(recipe), Error) << name_of(settings);
  }
}

}  // namespace
}  // namespace rotule
