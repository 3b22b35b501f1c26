// After warm-up a step allocates nothing, whatever the recipe.
#include "support/allocation_counter.h"

#include <gtest/gtest.h>
#include <rotule/solvers/schur.h>
#include <rotule/world.h>

#include "model/choices.h"
#include "model/solver_list.h"
#include "scenes/builders.h"
#include "solve/solve.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::allocations;
using testing::counts_allocations;
using testing::describe;

/// Allocations of `steps` steps after a warm-up of ten, each followed by a question to the ledger.
std::size_t allocations_of_steps(World& world, int steps) {
  for (int i = 0; i < 10; ++i) world.step();
  static_cast<void>(world.diagnostics());
  const std::size_t before = allocations();
  for (int i = 0; i < steps; ++i) {
    world.step();
    static_cast<void>(world.diagnostics());
  }
  return allocations() - before;
}

void expect_no_allocations(Scene scene, bool loops, double dt = 1e-3) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const Recipe& recipe : testing::sensible_recipes(
           dt, {solver_named("ldlt"), solver_named("dense_ldlt"), solver_named("articulated_body"), solver_named("schur")})) {
    if (loops &&
        (std::holds_alternative<TreePlacementSettings>(recipe.correction) || recipe.solver.holds<ArticulatedBodySettings>()))
      continue;
    scene.recipe = recipe;
    SCOPED_TRACE(scene.name + ": " + describe(recipe));
    World world(scene);
    EXPECT_EQ(allocations_of_steps(world, 20), 0u);
  }
}

TEST(Allocation, NonePerStepOnAMannequin) { expect_no_allocations(scenes::mannequin(), false); }
TEST(Allocation, NonePerStepOnATautChain) { expect_no_allocations(scenes::hanging_chain(1000), false, 1e-5); }
TEST(Allocation, NonePerStepOnARedundantLoop) { expect_no_allocations(scenes::four_bar(), true); }

TEST(Allocation, NonePerStepOfIterativeSolvers) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (Scene scene : {scenes::double_pendulum(), scenes::four_bar()})
    for (const SolverChoice& solver : {solver_named("cg"), solver_named("sor"), solver_named("gauss_seidel"),
                                       SolverChoice(SchurSettings{.conjugate_gradients = true})}) {
      scene.recipe.solver = solver;
      World world(scene);
      EXPECT_EQ(allocations_of_steps(world, 20), 0u) << scene.name << ": " << describe(scene.recipe);
    }
}

TEST(Allocation, NonePerStepOfImplicitMethodsOnParticles) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const ImplicitSolverSettings& solver :
       {ImplicitSolverSettings(ImplicitLdltSettings{}), ImplicitSolverSettings(ImplicitCgSettings{})})
    for_each_alternative<IntegratorSettings>([&]<class S>(const S& method) {
      if (!S::traits.implicit) return;
      Scene scene = scenes::cloth(8);
      scene.recipe.integrator = method;
      scene.recipe.implicit_solver = solver;
      scene.recipe.dt = 2e-3;
      World world(scene);
      EXPECT_EQ(allocations_of_steps(world, 10), 0u) << S::name << (solver.index() == 1 ? ", ldlt" : ", cg");
    });
}

TEST(Allocation, NonePerStepOfWhatRests) {
  // A stack, and a row of boxes, each an island of its own.
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  Scene row = scenes::tower(1);
  for (int i = 1; i < 6; ++i) {
    BodyDef box = row.bodies.back();
    box.name = "box " + std::to_string(i);
    box.position.x() += 3.0 * i;
    row.add(box);
  }
  row.name = "row";
  for (Scene scene : {scenes::tower(5), scenes::pyramid(4), row})
    for (const SolverChoice& solver :
         {solver_named("pgs"), solver_named("nncg"), solver_named("prox_newton"), solver_named("auto")}) {
      scene.recipe.solver = solver;
      World world(scene);
      EXPECT_EQ(allocations_of_steps(world, 20), 0u) << scene.name << ": " << describe(scene.recipe);
      EXPECT_GT(world.diagnostics().contacts, 0) << scene.name;
    }
}

TEST(Allocation, NonePerStepOfMotorsAndLimits) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (Scene scene : {scenes::rolling_mill(), scenes::gripper_pinch()})
    for (const SolverChoice& solver : {solver_named("nncg"), solver_named("auto")}) {
      scene.recipe.solver = solver;
      World world(scene);
      for (int i = 0; i < 50; ++i) world.step();
      EXPECT_EQ(allocations_of_steps(world, 20), 0u) << scene.name << ": " << describe(scene.recipe);
    }
}

TEST(Allocation, NoneBetweenShocks) {
  // A shock changes the structure of the equations, and may allocate to analyse it; the steps before and after it may not.
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  World world(scenes::mannequin_bounce());
  int shocks = 0;
  for (int i = 0; world.time() < world.recipe().duration; ++i) {
    const std::size_t before = allocations();
    const int here = world.step().shocks;
    shocks += here;
    if (i < 10) continue;
    ASSERT_EQ(here > 0 ? 0 : allocations() - before, 0u) << "step " << i;
  }
  EXPECT_GT(shocks, 3);
}

}  // namespace
}  // namespace rotule
