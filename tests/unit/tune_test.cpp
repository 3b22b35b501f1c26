// Tuning: candidates as lanes give what the plain solver gives, whoever their neighbours are; the best relaxation of a chain is
// Young's.
#include <gtest/gtest.h>
#include <rotule/solvers/pgs.h>

#include <cmath>
#include <numbers>
#include <random>

#include "problem/operators.h"
#include "solve/solve.h"
#include "support/contact_problems.h"
#include "tune/frame.h"
#include "tune/tuner.h"

namespace rotule::tune {
namespace {

std::span<double> span_of(VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// Boxes piled askew, some tied by joints, with friction of the kind asked for.
ConstraintProblem pile(unsigned seed, bool cone, bool rolling, double compliance = 0) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  testing::ContactScene scene;
  scene.law = {.mu = 0.6, .cone = cone, .torsional = rolling ? 0.02 : 0, .rolling = rolling ? 0.01 : 0};
  scene.compliance = compliance;
  constexpr int count = 7;
  for (int i = 0; i < count; ++i)
    scene.add_box(1 + i % 3, {0.5, 0.4, 0.25}, {0.1 * any(random), 0.1 * any(random), 0.25 + 0.5 * i},
                  {any(random), any(random), 0});
  for (int i = 0; i < count; ++i)
    for (const double sx : {-0.4, 0.4})
      for (const double sy : {-0.3, 0.3})
        scene.add_contact(i - 1, i, {sx, sy, 0.5 * i}, {0.05 * any(random), 0.05 * any(random), 1});
  scene.add_ball_joint(2, 3, {0.1, 0, 1.5});
  ConstraintProblem problem = scene.problem();
  for (double& x : problem.x0) x = 0.1 * any(random);
  return problem;
}

/// x after so many sweeps of the plain solver.
VecX plain_sweeps(ConstraintProblem problem, const SweepParameters& p, int sweeps) {
  problem.x0 *= p.warm;
  PgsSettings settings;
  settings.relaxation = p.relaxation;
  settings.regularisation = p.regularisation;
  settings.tolerance = 0;
  settings.max_iterations = sweeps;
  if (p.staggered) settings.order = StaggeredOrder{};
  if (p.direction == Direction::reverse) settings.order = ReverseOrder{};
  if (p.direction == Direction::to_and_fro) settings.order = SymmetricOrder{};
  Workspace workspace;
  SolveReport report;
  VecX x(problem.rows());
  solve(problem, settings, workspace, span_of(x), report);
  return x;
}

TEST(SweepLanes, AreThePlainSolver) {
  const SweepParameters settings[] = {{.relaxation = 1, .friction_relaxation = 1},
                                      {.relaxation = 1.3, .friction_relaxation = 1.3, .warm = 1},
                                      {.relaxation = 0.8, .friction_relaxation = 0.8, .regularisation = 1e-2, .warm = 0.5},
                                      {.relaxation = 1.2, .friction_relaxation = 1.2, .staggered = true},
                                      {.relaxation = 1.1, .friction_relaxation = 1.1, .direction = Direction::reverse},
                                      {.relaxation = 1.1, .friction_relaxation = 1.1, .direction = Direction::to_and_fro}};
  for (const bool cone : {false, true})
    for (const bool rolling : {false, true})
      for (const double compliance : {0.0, 1e-3}) {
        const ConstraintProblem problem = pile(3, cone, rolling, compliance);
        for (const MatrixForm form : {MatrixForm::blocks, MatrixForm::bodies})
          for (const SweepParameters& p : settings) {
            SweepLanes lanes(problem, form);
            EXPECT_EQ(lanes.form(), form);
            VecX x(problem.rows());
            // The plain solver gives the best answer that it judged; from an early one it is the last.
            const SweepOutcome outcome = lanes.run(p, {.max_sweeps = 30, .error = 0, .change = 0}, span_of(x));
            const VecX y = plain_sweeps(problem, p, 30);
            EXPECT_EQ(outcome.sweeps, 30);
            EXPECT_LT((x - y).norm(), 1e-11 * y.norm()) << "cone " << cone << " rolling " << rolling << " form " << int(form);
            EXPECT_NEAR(outcome.error, residual(problem, span_of(x)).sum, 1e-10 * (1 + problem.b.norm()));
          }
      }
}

TEST(SweepLanes, DoNotMeet) {
  const ConstraintProblem problem = pile(5, false, false);
  std::vector<SweepParameters> candidates(61);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].relaxation = 0.3 + 0.02 * static_cast<double>(i);
    candidates[i].friction_relaxation = 1.5 - 0.01 * static_cast<double>(i);
    candidates[i].staggered = i % 3 == 0;
    candidates[i].direction = static_cast<Direction>(i % 2);
  }
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    SweepLanes lanes(problem);
    std::vector<SweepOutcome> together(candidates.size());
    lanes.run(candidates, {}, precision, together);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      SweepOutcome alone;
      lanes.run({&candidates[i], 1}, {}, precision, {&alone, 1});
      EXPECT_EQ(alone.sweeps, together[i].sweeps);
      EXPECT_EQ(alone.error, together[i].error);
      EXPECT_EQ(alone.least_error, together[i].least_error);
    }
  }
}

TEST(SweepLanes, StopAsD4Says) {
  const ConstraintProblem problem = pile(9, false, false);
  SweepLanes lanes(problem);
  VecX x(problem.rows());
  const SweepOutcome full = lanes.run({}, {.max_sweeps = 3000, .error = 1e-3, .change = 0}, span_of(x));
  EXPECT_LE(full.error, 1e-3);
  const SweepOutcome shorter = lanes.run({}, {.max_sweeps = full.sweeps - 1, .error = 1e-3, .change = 0}, span_of(x));
  EXPECT_GT(shorter.error, 1e-3);
  const SweepOutcome still = lanes.run({}, {.max_sweeps = 3000, .error = 0, .change = 1e-3}, span_of(x));
  EXPECT_LT(still.sweeps, full.sweeps);
}

TEST(Frames, IslandsJoinedAreSolvedAsBefore) {
  std::vector<ConstraintProblem> islands{pile(1, true, false), pile(2, true, true), pile(3, false, false)};
  const ConstraintProblem all = joined(islands);
  validate(all);
  EXPECT_EQ(contacts_of(all), 3 * 28);
  EXPECT_EQ(joints_of(all), 3);
  const SweepLimits limits{.max_sweeps = 40, .error = 0, .change = 0};
  VecX x(all.rows());
  const double error = SweepLanes(all).run({}, limits, span_of(x)).error;
  double sum = 0;
  int row = 0;
  for (const ConstraintProblem& island : islands) {
    VecX y(island.rows());
    sum += SweepLanes(island).run({}, limits, span_of(y)).error;
    EXPECT_LT((x.segment(row, island.rows()) - y).norm(), 1e-13 * (1 + y.norm()));
    row += island.rows();
  }
  EXPECT_NEAR(error, sum, 1e-12 * (1 + sum));
}

TEST(Frames, ConditioningIsThatOfTheEigenvaluesThatAreNotZero) {
  // Four points under one box: 12 rows on 6 coordinates.
  testing::ContactScene scene;
  scene.add_box(2, {0.5, 0.5, 0.5}, {0, 0, 0.5});
  for (const double sx : {-0.5, 0.5})
    for (const double sy : {-0.5, 0.5}) scene.add_contact(-1, 0, {sx, sy, 0}, {0, 0, 1});
  const ConstraintProblem problem = scene.problem();
  const Conditioning found = conditioning_of(problem);
  EXPECT_EQ(found.rank, 6);
  EXPECT_EQ(found.rows, 12);
  // The same with a little compliance, by the full matrix: its smallest eigenvalue is C itself.
  ConstraintProblem soft = problem;
  soft.C.setConstant(1e-6);
  const Conditioning full = conditioning_of(soft);
  EXPECT_EQ(full.rank, 12);
  EXPECT_GT(full.condition, 1e5);
  EXPECT_LT(found.condition, 1e3);
}

/// The matrix of a chain of equal links, which SOR's theory knows: tridiagonal (-1, 2, -1).
ConstraintProblem chain_matrix(int n) {
  ConstraintProblem p;
  p.resize(0, n);
  p.J_a.resize(0, 6);
  p.J_b.resize(0, 6);
  for (int i = 0; i < n; ++i) p.b[i] = std::sin(1.0 + 3 * i);
  p.matrix.start.push_back(0);
  for (int i = 0; i < n; ++i) {
    p.blocks.push_back({.first_row = i, .rows = 1});
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      p.matrix.column.push_back(j);
      p.matrix.value.push_back(i == j ? 2 : -1);
    }
    p.matrix.start.push_back(static_cast<std::int32_t>(p.matrix.column.size()));
  }
  return p;
}

TEST(Tuner, FindsYoungsRelaxationOfAChain) {
  for (const int n : {10, 20, 40}) {
    TuneSettings settings;
    settings.objective = Objective::time;
    settings.limits = {.max_sweeps = 2000, .error = 1e-8, .change = 0};
    const TunedFrame tuned = tune_frame(chain_matrix(n), settings, 0);
    const double young = 2 / (1 + std::sin(std::numbers::pi / (n + 1)));  // Young 1971
    EXPECT_NEAR(tuned.parameters.relaxation, young, 0.06) << n;
    EXPECT_EQ(tuned.parameters.friction_relaxation, tuned.parameters.relaxation);
    EXPECT_LT(tuned.after.sweeps, tuned.before.sweeps / 3) << n;
    EXPECT_NEAR(tuned.judged_after, tuned.after.error, 1e-12);
  }
}

TEST(Tuner, NeverDoesWorseThanBeforeAndRepeatsItself) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const ConstraintProblem problem = pile(20 + seed, seed % 2 == 0, seed % 3 == 0);
    TuneSettings settings;
    settings.seed = seed + 1;
    settings.limits.max_sweeps = 60;
    if (seed % 2) settings.parameters = {0, 1, 2, 3, 4, 5};
    if (seed % 3 == 1) settings.precision = Precision::single_precision;
    const TunedFrame tuned = tune_frame(problem, settings, 3, true), again = tune_frame(problem, settings, 3);
    EXPECT_LE(tuned.fitness_after, tuned.fitness_before);
    EXPECT_EQ(tuned.parameters, again.parameters);
    EXPECT_EQ(tuned.after.error, again.after.error);
    EXPECT_EQ(tuned.course.size(), static_cast<std::size_t>(tuned.generations));
    EXPECT_LE(tuned.solved, tuned.asked);
    EXPECT_NEAR(tuned.judged_after, tuned.after.error, 1e-10 * (1 + problem.b.norm()));
  }
}

TEST(Tuner, FitnessIsThatOfD8) {
  const TuneSettings settings;
  // Half of the sweeps, kappa 1e-1, error reached: 0.5 of the first, all of the second term, none of the third.
  EXPECT_NEAR(fitness(settings, {.sweeps = 1, .error = 0, .least_error = 1e-5}, -16), 0, 1e-15);
  EXPECT_NEAR(fitness(settings, {.sweeps = 200, .error = 0, .least_error = 1e-5}, -1), 1.5, 1e-14);
  EXPECT_NEAR(fitness(settings, {.sweeps = 200, .error = 1, .least_error = 1e-2}, -16), 1 + 1.2 * 2, 1e-13);
}

TEST(Tuner, ChoicesAreChosen) {
  // Ten boxes in a tower listed from the floor up: with gravity the order of the sweep matters, and reverse must be found where
  // it wins.
  const ConstraintProblem problem = pile(40, false, false);
  TuneSettings settings;
  settings.parameters = {4, 5};
  settings.limits = {.max_sweeps = 40, .error = 0, .change = 0};
  const TunedFrame tuned = tune_frame(problem, settings, 1);
  double best = infinity;
  SweepLanes lanes(problem);
  VecX x(problem.rows());
  for (const bool staggered : {false, true})
    for (const Direction direction : {Direction::forward, Direction::reverse, Direction::to_and_fro}) {
      const SweepParameters p{.staggered = staggered, .direction = direction};
      best = std::min(best, fitness(settings, lanes.run(p, settings.limits, span_of(x)), -16));
    }
  EXPECT_EQ(tuned.fitness_after, best);
  EXPECT_LE(tuned.solved, 7);  // six choices in all, and none tried twice
}

}  // namespace
}  // namespace rotule::tune
