// Implicit stages of particles as minima: the answers of Newton's method where that gets there, equations solved where it does
// not, no step halved, whatever stiffness and step.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "dynamics/forces/weight.h"
#include "scenes/builders.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

Scene with(Scene scene, const char* method, double dt, double stiffer = 1) {
  auto& cloth = std::get<Cloth>(scene.solids[0]);
  cloth.stiffness *= stiffer;
  cloth.shear_stiffness *= stiffer;
  cloth.bending_stiffness *= stiffer;
  set(scene.recipe, "integrator", method);
  scene.recipe.dt = dt;
  return scene;
}

/// Largest |M a - f| of implicit Euler's equations over a step, relative to the largest weight.
double unbalanced(const World& world, const State& before, double h) {
  const Model& model = implementation_of(world).model;
  const State& s = implementation_of(world).state;
  VecX f = VecX::Zero(s.u.size());
  ForceScratch scratch;
  add_weight(model, f);
  add_forces(model, s, world.time(), 1, scratch, f);
  double left = 0, weight = 0;
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    const double m = model.particles.mass[k];
    left = std::max(left, (m * (s.particle_velocity(k) - before.particle_velocity(k)) / h - f.segment<3>(s.first(k))).norm());
    weight = std::max(weight, m * model.gravity.norm());
  }
  return left / weight;
}

TEST(StageMinimiser, FindsWhatNewtonFinds) {
  for (const char* method : {"implicit_euler", "implicit_midpoint", "trapezoid", "bdf2", "sdirk"}) {
    Scene scene = with(scenes::cloth(8), method, 1e-3);
    World minimised(scene);
    set(scene.recipe, "integrator.minimise", "false");
    World solved(scene);
    for (int i = 0; i < 20; ++i) {
      minimised.step();
      solved.step();
    }
    for (int k = 0; k < minimised.particles(); ++k)
      EXPECT_LT((minimised.particle_position(k) - solved.particle_position(k)).norm(), 1e-8) << method << " " << k;
  }
}

TEST(StageMinimiser, SolvesTheEquationsAtAnyStiffnessAndStep) {
  for (const double stiffer : {1.0, 100.0, 1e4})
    for (const double h : {1.0 / 60, 0.1}) {
      World world(with(scenes::cloth(12), "implicit_euler", h, stiffer));
      for (int i = 0; i < 10; ++i) {
        const State before = implementation_of(world).state;
        const StepReport report = world.step();
        EXPECT_TRUE(report.converged) << stiffer << " " << h << " step " << i;
        EXPECT_EQ(report.halvings, 0);
        // Of the weight: the stiffest springs pull thousands of times as much.
        EXPECT_LT(unbalanced(world, before, h), 1e-3) << stiffer << " " << h << " step " << i;
      }
    }
}

TEST(StageMinimiser, ByFactorsAndByMultigridAlike) {
  Scene scene = with(scenes::cloth(60), "implicit_euler", 1.0 / 60);
  World by_gradients(scene);
  set(scene.recipe, "implicit_solver", "ldlt");
  World by_factors(scene);
  for (int i = 0; i < 3; ++i) {
    by_gradients.step();
    by_factors.step();
  }
  double worst = 0;
  for (int k = 0; k < by_factors.particles(); ++k)
    worst = std::max(worst, (by_factors.particle_position(k) - by_gradients.particle_position(k)).norm());
  EXPECT_LT(worst, 1e-6);
}

TEST(StageMinimiser, ByLocalAndGlobalStepsAlike) {
  for (const char* memory : {"8", "0"}) {
    Scene scene = with(scenes::cloth(10), "implicit_euler", 1.0 / 60);
    World by_newton(scene);
    set(scene.recipe, "implicit_solver", "local_global");
    set(scene.recipe, "implicit_solver.memory", memory);
    set(scene.recipe, "integrator.minimum_iterations", "100000");
    World by_parts(scene);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(by_newton.step().converged);
      EXPECT_TRUE(by_parts.step().converged) << memory << " step " << i;
    }
    double worst = 0;
    for (int k = 0; k < by_parts.particles(); ++k)
      worst = std::max(worst, (by_parts.particle_position(k) - by_newton.particle_position(k)).norm());
    EXPECT_LT(worst, 1e-5) << memory;
  }
}

TEST(StageMinimiser, LocalAndGlobalStepsAreRefusedWhereBodiesMove) {
  Scene scene = with(scenes::cloth(5), "implicit_euler", 1.0 / 60);
  scene.add({.name = "bell", .mass = 1, .shape = Sphere{0.1}});
  set(scene.recipe, "implicit_solver", "local_global");
  EXPECT_THROW(World(scene).step(), Error);
}

TEST(StageMinimiser, AnImplicitStepNeverGainsEnergy) {
  Scene scene = with(scenes::cloth(12), "implicit_euler", 1.0 / 30, 100);
  World world(scene);
  double energy = world.diagnostics().energy();
  for (int i = 0; i < 60; ++i) {
    world.step();
    const double now = world.diagnostics().energy();
    EXPECT_LT(now, energy + 1e-9) << i;
    energy = now;
  }
}

TEST(StageMinimiser, GoesOnFromASnapshotWithTheSameBits) {
  World world(with(scenes::cloth(10), "implicit_euler", 1.0 / 60, 100));
  for (int i = 0; i < 5; ++i) world.step();
  const Snapshot snapshot = world.save();
  for (int i = 0; i < 5; ++i) world.step();
  const VecX first = implementation_of(world).state.x;
  world.load(snapshot);
  for (int i = 0; i < 5; ++i) world.step();
  EXPECT_EQ(first, implementation_of(world).state.x);
}

}  // namespace
}  // namespace rotule
