// The parts of the sweeps: the exact solution of one block, storages and orders of pgs, its stopping rules (D4), colours.
#include <gtest/gtest.h>
#include <rotule/solvers/block_gauss_seidel.h>
#include <rotule/solvers/coloured_gauss_seidel.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/pgs.h>
#include <rotule/solvers/shock_propagation.h>

#include <Eigen/LU>
#include <cmath>
#include <random>
#include <vector>

#include "solve/solve.h"
#include "solve/sweep/colouring.h"
#include "solve/sweep/local_solver.h"
#include "support/contact_problems.h"

namespace rotule {
namespace {

/// One contact given by its matrix; rows beyond the third are torsion and rolling.
ConstraintProblem one_contact(const MatX& A, const VecX& b, double mu, bool cone, bool further) {
  ConstraintProblem p;
  const auto n = static_cast<int>(b.size());
  p.resize(0, n);
  p.J_a.resize(0, 6);
  p.J_b.resize(0, 6);
  p.b = b;
  p.lower[0] = 0;
  p.blocks.push_back({0, n, -1, -1, 0});
  p.friction.push_back({1, 2, 0, cone, mu});
  if (further) {
    p.friction.push_back({3, 1, 0, cone, 0.3 * mu});
    p.friction.push_back({4, 2, 0, cone, 0.1 * mu});
  }
  p.matrix.start.push_back(0);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      p.matrix.column.push_back(c);
      p.matrix.value.push_back(A(r, c));
    }
    p.matrix.start.push_back(static_cast<std::int32_t>(p.matrix.column.size()));
  }
  return p;
}

struct Given {
  MatX A;
  void diagonal(int, double* D) const {
    for (int r = 0; r < A.rows(); ++r)
      for (int c = 0; c < A.cols(); ++c) *D++ = A(r, c);
  }
};

/// The residual, by the judge, of what the local solver makes of `start`.
double local_residual(const ConstraintProblem& p, const MatX& A, VecX x) {
  LocalSolver local;
  local.prepare(p, Given{A});
  const VecX w = A * x - p.b;
  local.solve(0, w.data(), x.data());
  return residual(p, {x.data(), static_cast<std::size_t>(x.size())}).scale_free;
}

TEST(LocalSolver, SolvesOneContactExactly) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int slipping = 0, sticking = 0, apart = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    MatX R(3, 3);
    for (double& value : R.reshaped()) value = normal(random);
    // Little coupling between normal and tangents, as real contacts have, keeps the problem uniquely solvable for all mu.
    MatX A = R * R.transpose() + 0.1 * MatX::Identity(3, 3);
    A.row(0).tail(2) *= 0.3;
    A.col(0).tail(2) *= 0.3;
    const VecX b = VecX::NullaryExpr(3, [&] { return normal(random); });
    const VecX start = VecX::NullaryExpr(3, [&] { return normal(random); });
    const double mu = std::array{0.0, 0.1, 0.5, 1.0, 3.0}[trial % 5];
    const ConstraintProblem p = one_contact(A, b, mu, true, false);
    EXPECT_LT(local_residual(p, A, start), 1e-9) << trial << " mu " << mu;
    const Vec3 stick = Mat3(A).inverse() * b;
    if (b[0] <= 0)
      ++apart;
    else if (stick.tail(2).norm() <= mu * stick[0])
      ++sticking;
    else
      ++slipping;
  }
  EXPECT_GT(std::min({slipping, sticking, apart}), 200);  // all three laws were met
}

TEST(LocalSolver, SolvesBoxesAndFurtherGroupsExactly) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 2000; ++trial) {
    const bool further = trial % 2, cone = trial % 3 == 0;
    const int n = further ? 6 : 3;
    MatX R(n, n);
    for (double& value : R.reshaped()) value = normal(random);
    MatX A = 0.3 * R * R.transpose() + MatX::Identity(n, n);
    A.row(0).tail(n - 1) *= 0.2;
    A.col(0).tail(n - 1) *= 0.2;
    const VecX b = VecX::NullaryExpr(n, [&] { return normal(random); });
    const ConstraintProblem p = one_contact(A, b, 0.4, cone, further);
    EXPECT_LT(local_residual(p, A, VecX::Zero(n)), 1e-10) << trial;
  }
}

TEST(LocalSolver, StandsRowsThatNothingMoves) {
  // No tangential motion at all, and none along one tangent.
  for (const double second : {0.0, 1.0}) {
    MatX A = MatX::Zero(3, 3);
    A(0, 0) = 2;
    A(2, 2) = second;
    const ConstraintProblem p = one_contact(A, Vec3(1, 0, 0.2), 0.5, true, false);
    VecX x = VecX::Zero(3);
    LocalSolver local;
    local.prepare(p, Given{A});
    const VecX w = -p.b;
    local.solve(0, w.data(), x.data());
    EXPECT_TRUE(x.allFinite());
    EXPECT_LE(x.tail(2).norm(), 0.5 * x[0] * (1 + 1e-12));
    EXPECT_GT(x[0], 0);
  }
}

VecX answer(const ConstraintProblem& p, const SolverChoice& settings, SolveReport* report = nullptr) {
  VecX x(p.rows());
  Workspace workspace;
  SolveReport own;
  solve(p, settings, workspace, {x.data(), static_cast<std::size_t>(x.size())}, report ? *report : own);
  return x;
}

TEST(Pgs, TakesTheSameStepsInAllStorages) {
  for (const bool cone : {false, true}) {
    const ConstraintProblem p = testing::chain_on_floor(6, {.mu = 0.4, .cone = cone});
    PgsSettings settings;
    settings.max_iterations = 7;
    settings.relaxation = 1.2;
    settings.storage = SparseStorage{};
    const VecX sparse = answer(p, settings);
    for (const RowStorage& storage : {RowStorage(DenseStorage{}), RowStorage(MatrixFreeStorage{}), PgsSettings{}.storage}) {
      settings.storage = storage;
      EXPECT_LT((answer(p, settings) - sparse).norm(), 1e-12 * sparse.norm());
    }
    // Without bodies there are no velocities to keep: the default reads the matrix.
    settings.storage = PgsSettings{}.storage;
    EXPECT_LT((answer(testing::by_matrix(p), settings) - sparse).norm(), 1e-12 * sparse.norm());
  }
}

TEST(Pgs, EndsAtTheSameMotionInAllOrders) {
  const ConstraintProblem p = testing::sphere_pile(12, {.mu = 0.4, .cone = false});
  PgsSettings settings;
  settings.tolerance = 1e-11;
  VecX first;
  for (const SweepOrder& order : {SweepOrder(NaturalOrder{}), SweepOrder(ReverseOrder{}), SweepOrder(SymmetricOrder{}),
                                  SweepOrder(StaggeredOrder{}), SweepOrder(RandomOrder{5})}) {
    settings.order = order;
    SolveReport report;
    const VecX x = answer(p, settings, &report);
    EXPECT_TRUE(report.converged);
    VecX u = VecX::Zero(6 * p.bodies());
    apply_impulses(p, {x.data(), static_cast<std::size_t>(x.size())}, {u.data(), static_cast<std::size_t>(u.size())});
    if (first.size() == 0) first = u;
    EXPECT_LT((u - first).norm(), 1e-8 * first.norm());
  }
}

TEST(Pgs, RegularisationSolvesTheSofterProblem) {
  // kappa on the diagonal is C + kappa: the answer must be that of the problem with this compliance.
  ConstraintProblem p = testing::sphere_pile(12, {.mu = 0.4, .cone = false});
  PgsSettings settings;
  settings.regularisation = 0.05;
  settings.tolerance = 0;
  settings.max_iterations = 3000;
  SolveReport report;
  answer(p, settings, &report);
  EXPECT_FALSE(report.converged);
  // The best x by the judge is not the end of the iteration: stop it by the change instead, where the two are the same.
  ConstraintProblem soft = p;
  soft.C.array() += 0.05;
  settings.regularisation = 0;
  settings.tolerance = 1e-12;
  const VecX expected = answer(soft, settings);
  p.x0 = expected;
  settings.regularisation = 0.05;
  settings.max_iterations = 1;
  settings.tolerance = 0;
  const VecX once = answer(p, settings);  // a sweep of the regularised iteration must leave it where it is
  EXPECT_LT((once - expected).norm(), 1e-9 * expected.norm());
}

TEST(Pgs, StopsByTheRulesOfD4) {
  const ConstraintProblem p = testing::box_stack(3, {.mu = 0.5, .cone = false});
  PgsSettings settings;
  settings.tolerance = 0;
  settings.error_tolerance = 1e-3;
  SolveReport report;
  const VecX x = answer(p, settings, &report);
  EXPECT_TRUE(report.converged);
  EXPECT_LE(residual(p, {x.data(), static_cast<std::size_t>(x.size())}).sum, 1e-3);
  const int sweeps = report.iterations;
  settings.error_tolerance = 0;
  settings.change_tolerance = 1e-3;
  answer(p, settings, &report);
  EXPECT_FALSE(report.converged);  // it gave up; the residual was not what it stopped by
  EXPECT_LT(report.iterations, 10 * sweeps);
  settings.change_tolerance = 0;
  settings.max_iterations = 4;
  answer(p, settings, &report);
  EXPECT_EQ(report.iterations, 4);
}

TEST(Pgs, EstimatesItsRelaxation) {
  const ConstraintProblem p = testing::box_stack(4, {.mu = 0.5, .cone = false});
  PgsSettings settings;
  settings.max_iterations = 100000;
  SolveReport plain, adaptive;
  answer(p, settings, &plain);
  settings.adaptive_relaxation = true;
  answer(p, settings, &adaptive);
  EXPECT_TRUE(plain.converged);
  EXPECT_TRUE(adaptive.converged);
  EXPECT_LT(adaptive.iterations, 0.7 * plain.iterations);
}

TEST(ColouredGaussSeidel, ColoursShareNoBodyAndThreadsDoNotShow) {
  for (const bool matrix : {false, true}) {
    ConstraintProblem p = testing::sphere_pile(60, {.mu = 0.5});
    const std::vector<ConstraintBlock> with_bodies = p.blocks;
    if (matrix) p = testing::by_matrix(p);
    Colouring colouring;
    colouring.assign(p);
    std::size_t blocks = 0;
    for (int colour = 0; colour < colouring.colours(); ++colour) {
      std::vector<bool> taken(60, false);
      for (const int i : colouring.blocks(colour)) {
        ++blocks;
        for (const int body : {with_bodies[i].body_a, with_bodies[i].body_b}) {
          if (body < 0) continue;
          EXPECT_FALSE(taken[body]);
          taken[body] = true;
        }
      }
    }
    EXPECT_EQ(blocks, p.blocks.size());
    ColouredGaussSeidelSettings settings;
    settings.max_iterations = 30;
    settings.tolerance = 0;
    const VecX one = answer(p, settings);
    for (const int threads : {2, 4, 0}) {
      settings.threads = threads;
      EXPECT_EQ((answer(p, settings) - one).norm(), 0.0);
    }
  }
}

TEST(ShockPropagation, CarriesLoadsDownAStackOfLightBoxes) {
  // What block Gauss-Seidel needs thousands of sweeps for.
  const ConstraintProblem p = testing::heavy_on_light(5, 1000, {.mu = 0.5});
  SolveReport shock;
  answer(p, ShockPropagationSettings{}, &shock);
  BlockGaussSeidelSettings settings;
  settings.max_iterations = 1000;
  SolveReport plain;
  answer(p, settings, &plain);
  EXPECT_LT(shock.residual, 0.01 * plain.residual);
}

/// Two contacts that squeeze each other the more, the more they push: sweeps grow ninefold each time, until they are no numbers.
TEST(Sweeps, WhatGrowsWithoutEndGivesTheBestThatItPassed) {
  ConstraintProblem p;
  p.resize(0, 2);
  p.J_a.resize(0, 6);
  p.J_b.resize(0, 6);
  p.b << 1, 1;
  p.lower.setZero();
  p.blocks = {{0, 1, -1, -1, 0}, {1, 1, -1, -1, 1}};
  p.matrix.start = {0, 2, 4};
  p.matrix.column = {0, 1, 0, 1};
  p.matrix.value = {1, -3, -3, 1};
  const auto finite = [&](const auto& settings) {
    Workspace workspace;
    SolveReport report;
    std::vector<double> x(2);
    solve(p, settings, workspace, x, report);
    EXPECT_FALSE(report.converged);
    EXPECT_TRUE(std::isfinite(report.residual));
    EXPECT_EQ(report.residual, residual(p, x).scale_free);
  };
  finite(NncgSettings{.max_iterations = 1000});
  finite(BlockGaussSeidelSettings{.max_iterations = 1000});
}

}  // namespace
}  // namespace rotule
