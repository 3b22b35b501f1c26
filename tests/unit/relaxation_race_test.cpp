// Relaxation "auto" of pgs: runners side by side, of which one is plain Gauss-Seidel.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/recipe.h>
#include <rotule/scene.h>
#include <rotule/solvers/pgs.h>

#include <cmath>

#include "solve/solve.h"
#include "support/allocation_counter.h"
#include "support/contact_problems.h"

namespace rotule {
namespace {

double left_after(const ConstraintProblem& p, const PgsSettings& settings, VecX* answer = nullptr) {
  VecX x(p.rows());
  Workspace workspace;
  SolveReport report;
  solve(p, settings, workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
  const double left = residual(p, {x.data(), static_cast<std::size_t>(x.size())}).scale_free;
  EXPECT_NEAR(left, report.residual, 1e-9 * left);
  if (answer != nullptr) *answer = x;
  return left;
}

PgsSettings automatic(int sweeps) { return {.relaxation = automatic_relaxation, .tolerance = 1e-12, .max_iterations = sweeps}; }
PgsSettings constant(double relaxation, int sweeps) {
  return {.relaxation = relaxation, .tolerance = 1e-12, .max_iterations = sweeps};
}

// The safeguard: whatever the other runners do, plain Gauss-Seidel's answer is among those that are judged.
TEST(RelaxationRace, IsNeverBehindPlainGaussSeidel) {
  double logarithms = 0;
  int count = 0;
  for (const testing::ContactCase& one : testing::contact_cases())
    for (const int sweeps : {1, 5, 20, 60}) {
      const double plain = left_after(one.problem, constant(1, sweeps)), raced = left_after(one.problem, automatic(sweeps));
      EXPECT_LE(raced, 1.05 * plain + 1e-12) << one.name << ", " << sweeps << " sweeps";
      if (sweeps < 20) continue;
      logarithms += std::log(std::max(raced, 1e-12) / std::max(plain, 1e-12));
      ++count;
    }
  EXPECT_LT(std::exp(logarithms / count), 0.5);
}

// A sweep of the race takes about half as long again as one of a constant: with two thirds of the sweeps it still leaves less.
TEST(RelaxationRace, LeavesLessThanConstantsInTheSameTime) {
  double to_one = 0, to_constant = 0;
  int count = 0;
  for (const ConstraintProblem& p : {testing::box_stack(6), testing::brick_wall(5, 6), testing::sphere_pile(60),
                                     testing::chain_on_floor(20), testing::heavy_on_light(3, 50)}) {
    const double raced = left_after(p, automatic(40));
    EXPECT_LT(raced, left_after(p, constant(1, 60)));
    to_one += std::log(raced / left_after(p, constant(1, 60)));
    to_constant += std::log(raced / left_after(p, constant(1.4, 60)));
    ++count;
  }
  EXPECT_LT(std::exp(to_one / count), 0.5);
  EXPECT_LT(std::exp(to_constant / count), 0.8);
}

TEST(RelaxationRace, EndsAtTheSameMotionInAllStoragesAndOrders) {
  const ConstraintProblem p = testing::sphere_pile(30, {.mu = 0.4, .cone = false});
  VecX first;
  for (const RowStorage& storage : {RowStorage(MatrixFreeStorage{}), RowStorage(SparseStorage{}), RowStorage(DenseStorage{})})
    for (const SweepOrder& order : {SweepOrder(NaturalOrder{}), SweepOrder(ReverseOrder{}), SweepOrder(SymmetricOrder{}),
                                    SweepOrder(StaggeredOrder{}), SweepOrder(RandomOrder{5})}) {
      PgsSettings settings = automatic(3000);
      settings.tolerance = 1e-10;
      settings.storage = storage;
      settings.order = order;
      VecX x;
      EXPECT_LE(left_after(p, settings, &x), 1e-10);
      VecX velocities = VecX::Zero(6 * p.bodies());
      apply_impulses(p, {x.data(), static_cast<std::size_t>(x.size())},
                     {velocities.data(), static_cast<std::size_t>(velocities.size())});
      if (first.size() == 0) first = velocities;
      EXPECT_LT((velocities - first).norm(), 1e-6 * first.norm());
    }
}

TEST(RelaxationRace, HeedsItsOtherSettings) {
  const ConstraintProblem p = testing::sphere_pile(20, {.mu = 0.3});
  PgsSettings settings = automatic(10000);
  settings.error_tolerance = 1e-4;  // D4's own criterion
  VecX x;
  left_after(p, settings, &x);
  EXPECT_LE(residual(p, {x.data(), static_cast<std::size_t>(x.size())}).sum, 1e-4);
  settings = automatic(10);
  settings.adaptive_relaxation = true;
  EXPECT_THROW(left_after(p, settings), Error);
  // Regularisation solves a softer problem: the given one keeps a residual.
  settings = automatic(3000);
  settings.regularisation = 0.1;
  EXPECT_GT(left_after(p, settings), 1e-6);
}

TEST(RelaxationRace, AllocatesNothingAfterTheFirstSolve) {
  if (!testing::counts_allocations()) GTEST_SKIP();
  const ConstraintProblem p = testing::sphere_pile(30);
  VecX x(p.rows());
  const std::span<double> answer(x.data(), static_cast<std::size_t>(x.size()));
  Workspace workspace;
  SolveReport report;
  solve(p, automatic(30), workspace, answer, report);
  const std::size_t before = testing::allocations();
  solve(p, automatic(30), workspace, answer, report);
  EXPECT_EQ(testing::allocations(), before);
}

TEST(RelaxationRace, IsAWordInFilesAndOnTheCommandLine) {
  Recipe recipe;
  set(recipe, "solver", "pgs");
  set(recipe, "solver.relaxation", "auto");
  EXPECT_EQ(recipe.solver.get_if<PgsSettings>()->relaxation, automatic_relaxation);
  EXPECT_THROW(set(recipe, "solver.relaxation", "often"), Error);
  const std::string text =
      R"({"rotule": 1, "recipe": {"formulation": "velocity", "solver": {"name": "pgs", "relaxation": "auto"}}})";
  const Scene scene = parse_scene(text);
  EXPECT_EQ(scene.recipe.solver.get_if<PgsSettings>()->relaxation, automatic_relaxation);
  EXPECT_NE(to_json(scene).find(R"("relaxation": "auto")"), std::string::npos) << to_json(scene);
  EXPECT_THROW(parse_scene(R"({"rotule": 1, "recipe": {"solver": {"name": "pgs", "relaxation": "often"}}})"), Error);
  EXPECT_THROW(parse_scene(R"({"rotule": 1, "recipe": {"solver": {"name": "sor", "relaxation": "auto"}}})"), Error);
}

}  // namespace
}  // namespace rotule
