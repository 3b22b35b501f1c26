// Right-hand sides compared (C7): what can be proved of them, and what is measured.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/formulation_study.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>

#include "model/solver_list.h"
#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

const FormulationTrial& trial_of(const std::vector<FormulationTrial>& trials, const std::string& name, bool stabilised,
                                 double dt) {
  return *std::find_if(trials.begin(), trials.end(), [&](const FormulationTrial& t) {
    return t.formulation == name && t.stabilised == stabilised && t.dt == dt;
  });
}

TEST(FormulationStudy, TheHybridIsTheVelocityLevelForTwiceTheSolves) {
  // The correction projects along M^-1 J^T, along which the forces of accelerations lie.
  for (const char* name : {"pendulum", "double_pendulum", "n_four_bar_3"}) {
    const double dt = 4e-3;
    const auto trials = compare_formulations(*scenes::build(name), {.dt = dt, .duration = 1});
    ASSERT_EQ(trials.size(), 14u);
    for (const bool stabilised : {false, true}) {
      const FormulationTrial &velocity = trial_of(trials, "velocity", stabilised, dt),
                             &hybrid = trial_of(trials, "hybrid", stabilised, dt);
      EXPECT_NEAR(hybrid.energy_error, velocity.energy_error, 1e-6 * velocity.energy_error) << name;
      EXPECT_NEAR(hybrid.joint_error, velocity.joint_error, 1e-6 * velocity.joint_error) << name;
      EXPECT_EQ(hybrid.solves, 2 * velocity.solves) << name;
      // At equal cost half the step is better.
      EXPECT_LT(trial_of(trials, "velocity", stabilised, dt / 2).energy_error, 0.7 * hybrid.energy_error) << name;
      EXPECT_LT(trial_of(trials, "velocity", stabilised, dt / 2).joint_error, 0.7 * hybrid.joint_error) << name;
    }
  }
}

TEST(FormulationStudy, TheTaylorTermMakesAnOrder) {
  const double dt = 4e-3;
  for (const char* name : {"pendulum", "double_pendulum"}) {
    const auto trials = compare_formulations(*scenes::build(name), {.dt = dt, .duration = 1});
    const FormulationTrial &taylor = trial_of(trials, "taylor", false, dt), &half = trial_of(trials, "taylor", false, dt / 2);
    EXPECT_LT(taylor.joint_error, 0.05 * trial_of(trials, "velocity", false, dt).joint_error) << name;
    EXPECT_NEAR(std::log2(taylor.joint_error / half.joint_error), 2, 0.4) << name;
  }
}

TEST(FormulationStudy, WorkOfWindIsNoError) {
  // Wind that brings in more than the weight holds; a bead on a spring moves by the same steps.
  Scene scene = *scenes::build("double_pendulum");
  scene.add(FlowDef(UniformFlow{.velocity = {6, 0, 0}}));
  scene.add(Drag{.viscous = 0.5, .quadratic = 0.4});
  scene.add_particles({.name = "bead", .positions = {Vec3(2, 0, 0)}, .mass = 0.2});
  scene.add(Spring{.between = {"bead", scene.bodies.back().name}, .stiffness = 30, .damping = 0.1});
  const double dt = 2e-3;
  const auto trials = compare_formulations(scene, {.dt = dt, .duration = 2});
  const FormulationTrial &taylor = trial_of(trials, "taylor", false, dt), &half = trial_of(trials, "taylor", false, dt / 2);
  EXPECT_LT(taylor.energy_error, 0.02);
  EXPECT_LT(half.energy_error, 0.6 * taylor.energy_error);
  EXPECT_LT(taylor.joint_error, 0.05 * trial_of(trials, "velocity", false, dt).joint_error);
}

TEST(FormulationStudy, WorkOfDrivesIsNoError) {
  // A crank that is led to and fro carries an arm with a spring, a damper and a torque; a bead is led by an equation of time.
  Scene scene;
  scene.add({.name = "crank", .mass = 1, .position = {0.25, 0, 0}, .shape = Box{Vec3(0.5, 0.1, 0.1)}, .contacts = false});
  scene.add({.name = "arm", .mass = 2, .position = {1, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}, .contacts = false});
  scene.add({.name = "bead", .mass = 0.5, .position = {0, 2, 0}, .contacts = false});
  scene.add(Hinge{
      .between = {"world", "crank"}, .axis = {0, 1, 0}, .drive = {.motion = GivenMotion{.amplitude = 0.8, .frequency = 5}}});
  scene.add(Hinge{.between = {"crank", "arm"},
                  .at = {0.5, 0, 0},
                  .axis = {0, 1, 0},
                  .drive = {.stiffness = 40, .damping = 0.5, .rest = 0.3, .motor_torque = -3}});
  scene.add_constraint({"bead"},
                       [](auto q, auto t) { return q[0].point() - MovingVec3(sin(3.0 * t), Moving(2.0), 0.3 * t * t); });
  const double dt = 2e-3;
  const auto trials = compare_formulations(scene, {.dt = dt, .duration = 2});
  for (const char* name : {"velocity", "taylor", "acceleration"}) {
    const FormulationTrial &whole = trial_of(trials, name, false, dt), &half = trial_of(trials, name, false, dt / 2);
    EXPECT_LT(whole.energy_error, 0.1) << name;
    EXPECT_LT(half.energy_error, 0.6 * whole.energy_error) << name;
  }
}

TEST(FormulationStudy, AStructureAtRestStaysAtRest) {
  for (const FormulationTrial& trial : compare_formulations(scenes::bridge_truss(), {.dt = 1e-3, .duration = 0.05})) {
    EXPECT_FALSE(trial.blew_up);
    EXPECT_LT(trial.joint_error, 1e-12) << trial.formulation;
    EXPECT_LT(trial.energy_error, 1e-3) << trial.formulation;
  }
}

/// A scene run by a formulation that its recipe names, nothing else closing its joints.
double recipe_joint_error(const Scene& scene, const char* formulation, double beta, double dt, double duration) {
  Recipe recipe = recipes::balanced();
  recipe.dt = dt;
  recipe.solver = solver_named("ldlt");
  recipe.correction = NoCorrectionSettings{};
  recipe.contacts = NoContactSettings{};
  set(recipe, "formulation", formulation);
  set(recipe, "formulation.baumgarte", std::to_string(beta));
  if (recipe.formulation.index() == FormulationSettings(VelocitySettings{}).index())
    set(recipe, "formulation.geometric_stiffness", "false");
  World world(scene, recipe);
  world.project();
  double worst = 0;
  run_for(world, duration, [&] { worst = std::max(worst, world.diagnostics().joint_error.position); });
  return worst;
}

TEST(FormulationStudy, RecipesRunTheSameFormulations) {
  const double dt = 4e-3, duration = 1;
  for (const char* scene : {"pendulum", "double_pendulum"}) {
    const auto trials = compare_formulations(*scenes::build(scene), {.dt = dt, .duration = duration});
    for (const char* name : {"velocity", "taylor", "hybrid"})
      for (const bool stabilised : {false, true}) {
        const double studied = trial_of(trials, name, stabilised, dt).joint_error;
        const double run = recipe_joint_error(*scenes::build(scene), name, stabilised ? 0.2 : 0, dt, duration);
        // The study looks at the start of each step, a run at its end; a double pendulum's last step may be its worst.
        EXPECT_NEAR(run, studied, 0.02 * studied) << scene << " " << name << " " << stabilised;
      }
  }
}

TEST(FormulationStudy, TaylorTakesContactsAndMotorsAndTheHybridRefusesThem) {
  Recipe recipe = recipes::balanced();
  recipe.formulation = TaylorSettings{};
  recipe.contacts = ConeContactSettings{};
  World tower(scenes::tower(5), recipe);
  run_for(tower, 0.5);
  EXPECT_LT(tower.diagnostics().joint_error.position, 1e-9);
  for (const BodyId body : tower.bodies()) EXPECT_LT(tower.velocity(body).norm(), 1e-3);
  recipe.formulation = HybridFormulationSettings{};
  EXPECT_THROW(World(scenes::tower(5), recipe), Error);
}

TEST(FormulationStudy, WhatItDoesNotKnowIsRefused) {
  EXPECT_THROW(compare_formulations(scenes::brick_wall()), Error);
  EXPECT_THROW(compare_formulations(scenes::mannequin_bounce()), Error);
  EXPECT_THROW(compare_formulations(scenes::cloth(4)), Error);
  EXPECT_THROW(compare_formulations(scenes::pendulum(), {.dt = -1}), Error);
  Scene wet = scenes::pendulum();
  wet.fluid = FluidDef{.grid = {8, 8, 8}, .box = {Vec3::Constant(-20), Vec3::Constant(20)}};
  EXPECT_THROW(compare_formulations(wet), Error);
}

}  // namespace
}  // namespace rotule
