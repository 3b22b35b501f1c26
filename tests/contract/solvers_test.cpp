// What every solver of bilateral systems must do: give the x of (J M^-1 J^T + C) x = b where it is unique, the motion M^-1 J^T x
// where it is not, say which it was, and allocate nothing the second time. Compared with a dense rank-revealing solve by Eigen.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solvers/cg.h>
#include <rotule/solvers/schur.h>
#include <rotule/solvers/sor.h>

#include <Eigen/QR>
#include <functional>
#include <string>

#include "model/solver_list.h"
#include "problem/operators.h"
#include "solve/solve.h"
#include "support/allocation_counter.h"
#include "support/impulses.h"
#include "support/problem_builders.h"

namespace rotule {
namespace {

using testing::motion;
using testing::ProblemBuilder;

/// The matrix as its definition says, entry by entry, with none of the library's operators.
MatX dense_matrix(const ConstraintProblem& p) {
  MatX J = MatX::Zero(p.rows(), 6 * p.bodies()), W = MatX::Zero(6 * p.bodies(), 6 * p.bodies());
  for (const ConstraintBlock& block : p.blocks) {
    if (block.body_a >= 0)
      J.block(block.first_row, 6 * block.body_a, block.rows, 6) = p.J_a.middleRows(block.first_row, block.rows);
    if (block.body_b >= 0)
      J.block(block.first_row, 6 * block.body_b, block.rows, 6) = p.J_b.middleRows(block.first_row, block.rows);
  }
  for (int body = 0; body < p.bodies(); ++body) W.block<6, 6>(6 * body, 6 * body) = p.inverse_mass[body];
  MatX A = J * W * J.transpose();
  A.diagonal() += p.C;
  return A;
}

struct Reference {
  VecX x, u;
  int deficiency = 0;
};

/// Scaled to a unit diagonal, so that the rank does not depend on units and masses.
Reference reference(const ConstraintProblem& p) {
  const MatX A = dense_matrix(p);
  const VecX scale = A.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  Eigen::CompleteOrthogonalDecomposition<MatX> decomposition;
  decomposition.setThreshold(1e-11);
  const MatX scaled = scale.asDiagonal() * A * scale.asDiagonal();
  decomposition.compute(scaled);
  Reference out;
  out.deficiency = p.rows() - static_cast<int>(decomposition.rank());
  VecX y = decomposition.solve(scale.cwiseProduct(p.b));
  y += decomposition.solve(scale.cwiseProduct(p.b) - scaled * y);
  out.x = scale.cwiseProduct(y);
  out.u = motion(p, out.x);
  return out;
}

struct Case {
  std::string name;
  std::function<void(ProblemBuilder&)> build;
  bool loops = false;
  bool hard = false;  // ill-conditioned: for direct methods
};

void close_loops(ProblemBuilder& b, int count, int rows) {
  for (int i = 0; i < count; ++i) {
    const int a = b.integer(b.bodies()), c = (a + 1 + b.integer(b.bodies() - 1)) % b.bodies();
    b.add_joint(a, c, rows);
  }
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      {"chain", [](auto& b) { add_chain(b, 12); }},
      {"mixed_chain", [](auto& b) { add_chain(b, 12, 0); }},
      {"tree", [](auto& b) { add_tree(b, 16); }},
      {"hinge_tree", [](auto& b) { add_tree(b, 10, 5); }},
      {"welded_tree", [](auto& b) { add_tree(b, 8, 6); }},
      {"mixed_forest", [](auto& b) { add_tree(b, 9, 0), add_tree(b, 7, 0); }},
      {"hub", [](auto& b) { add_tree(b, 40, 3, 0.9); }},
      {"mixed_hub", [](auto& b) { add_tree(b, 45, 0, 0.8); }},
      {"grounded_hub", [](auto& b) { add_tree(b, 40, 3, 0.9), b.add_joint(-1, 0, 3); }},
      {"coupled_tree", [](auto& b) { b.coupled = true, add_tree(b, 12, 0); }},
      {"coupled_balls", [](auto& b) { b.coupled = true, add_tree(b, 12); }},
      {"compliant_tree", [](auto& b) { b.compliance = 0.3, add_tree(b, 14, 0); }},
      {"mannequin", [](auto& b) { add_mannequin(b); }},
      {"loops", [](auto& b) { add_tree(b, 16), close_loops(b, 4, 3); }, true},
      {"mixed_loops", [](auto& b) { add_tree(b, 16, 2), close_loops(b, 5, 2); }, true},
      {"two_grounds", [](auto& b) { add_chain(b, 8), b.add_joint(7, -1, 3), b.add_joint(-1, 3, 1); }, true},
      {"hub_with_loops", [](auto& b) { add_tree(b, 45, 3, 0.8), close_loops(b, 3, 2); }, true},
      {"two_hubs",
       [](auto& b) {
         add_tree(b, 35, 3, 1.0), add_tree(b, 35, 3, 1.0);
         b.add_joint(0, 35, 3), b.add_joint(0, -1, 2), b.add_joint(4, 40, 1);
       },
       true},
      {"coupled_loops", [](auto& b) { b.coupled = true, add_tree(b, 14), close_loops(b, 3, 3); }, true},
      {"compliant_loops", [](auto& b) { b.compliance = 0.3, add_tree(b, 12, 0), close_loops(b, 4, 4); }, true},
      {"redundant", [](auto& b) { add_tree(b, 12), b.repeat_joint(3), b.repeat_joint(7); }, true},
      {"redundant_hub", [](auto& b) { add_tree(b, 40, 3, 0.9), b.repeat_joint(3), b.repeat_joint(30); }, true},
      {"redundant_grounded", [](auto& b) { add_chain(b, 9, 0), b.repeat_joint(0), b.repeat_joint(5); }, true},
      {"redundant_loops", [](auto& b) { add_tree(b, 14, 2), close_loops(b, 2, 2), b.repeat_joint(1), b.repeat_joint(13); }, true},
      {"redundant_but_compliant", [](auto& b) { b.compliance = 0.3, add_tree(b, 12), b.repeat_joint(3); }, true},
      {"immovable_body",
       [](auto& b) {
         add_chain(b, 5), b.add_body(), b.add_joint(4, 5, 3), add_tree(b, 4), b.add_joint(5, 6, 3);
         b.set_inverse_mass(5, Mat6::Zero());
       },
       true},
      {"immovable_hub", [](auto& b) { add_tree(b, 40, 3, 0.9), b.set_inverse_mass(0, Mat6::Zero()); }},
      {"hub_on_immovable_bodies",
       [](auto& b) {
         add_tree(b, 40, 3, 1.0), b.repeat_joint(12);
         for (const int body : {7, 8}) b.set_inverse_mass(body, Mat6::Zero());
       },
       true},
      {"masses_1e6", [](auto& b) { b.log10_mass_spread = 6, add_tree(b, 25); }, false, true},
      {"masses_1e9", [](auto& b) { b.log10_mass_spread = 9, add_tree(b, 25); }, false, true},
      {"mixed_masses_1e9", [](auto& b) { b.log10_mass_spread = 9, add_tree(b, 20, 0); }, false, true},
      {"hub_masses_1e9", [](auto& b) { b.log10_mass_spread = 9, add_tree(b, 50, 3, 0.9); }, false, true},
      {"heavy_end", [](auto& b) { add_chain(b, 20), b.add_body(1e9), b.add_joint(19, 20, 3); }, false, true},
      {"loops_masses_1e6", [](auto& b) { b.log10_mass_spread = 6, add_tree(b, 16), close_loops(b, 3, 2); }, true, true},
  };
  return list;
}

class Solvers : public ::testing::TestWithParam<SolverChoice> {
 protected:
  [[nodiscard]] std::string_view name() const { return GetParam().name(); }
  [[nodiscard]] bool iterates() const { return name() == "cg" || name() == "sor"; }
  [[nodiscard]] bool by_gradients() const {
    const auto* schur = GetParam().get_if<SchurSettings>();
    return schur && schur->conjugate_gradients;
  }
  [[nodiscard]] bool takes(const Case& c) const {
    if (c.loops && name() == "articulated_body") return false;
    return !c.hard || (!iterates() && !by_gradients());
  }
};

TEST_P(Solvers, AgreeWithADenseSolve) {
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(c.name + " " + std::to_string(seed));
      ProblemBuilder builder(seed);
      c.build(builder);
      const ConstraintProblem p = builder.problem();
      ASSERT_NO_THROW(validate(p));
      const Reference expected = reference(p);
      VecX x(p.rows());
      Workspace workspace;
      SolveReport report;
      solve(p, GetParam(), workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
      EXPECT_TRUE(report.converged);
      const double tolerance = 1e-9;
      const VecX u = motion(p, x);
      EXPECT_LT((u - expected.u).norm(), tolerance * expected.u.norm());
      if (expected.deficiency == 0 && !c.hard) {
        EXPECT_LT((x - expected.x).norm(), tolerance * expected.x.norm());
      }
      EXPECT_LT(residual(p, {x.data(), static_cast<std::size_t>(x.size())}).scale_free, 1e-10);
      if (!iterates() && !by_gradients()) {
        EXPECT_EQ(static_cast<int>(report.redundant_rows.size()), expected.deficiency);
      }
    }
  }
}

TEST_P(Solvers, ForgetNothingAndKeepNothingBetweenStructures) {
  // One workspace for all structures, each twice with new numbers: the cached part must be that of the problem at hand.
  Workspace workspace;
  SolveReport report;
  for (const Case& c : cases()) {
    if (!takes(c) || c.hard) continue;
    for (unsigned seed : {11u, 12u}) {
      SCOPED_TRACE(c.name);
      ProblemBuilder builder(seed);
      c.build(builder);
      const ConstraintProblem p = builder.problem();
      std::vector<double> x(p.rows());
      solve(p, GetParam(), workspace, x, report);
      EXPECT_LT(residual(p, x).scale_free, 1e-10);
    }
  }
}

TEST_P(Solvers, AllocateNothingTheSecondTime) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    SCOPED_TRACE(c.name);
    ProblemBuilder builder(5);
    c.build(builder);
    ConstraintProblem p = builder.problem();
    Workspace workspace;
    SolveReport report;
    std::vector<double> x(p.rows());
    solve(p, GetParam(), workspace, x, report);
    for (Mat6& W : p.inverse_mass) W *= 1.25;
    p.b *= 1.1;
    const std::size_t before = testing::allocations();
    solve(p, GetParam(), workspace, x, report);
    EXPECT_EQ(testing::allocations(), before);
  }
}

TEST_P(Solvers, SolveNothing) {
  ConstraintProblem p;
  p.resize(2, 0);
  p.inverse_mass.assign(2, Mat6::Identity());
  Workspace workspace;
  SolveReport report;
  solve(p, GetParam(), workspace, {}, report);
  EXPECT_TRUE(report.converged);
}

TEST_P(Solvers, RefuseNumbersThatAreNotFinite) {
  ProblemBuilder builder;
  add_chain(builder, 4);
  ConstraintProblem p = builder.problem();
  p.inverse_mass[2](0, 0) = std::nan("");
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  EXPECT_THROW(solve(p, GetParam(), workspace, x, report), Error);
}

TEST_P(Solvers, SayWhenEquationsContradictEachOther) {
  if (name() == "articulated_body") GTEST_SKIP() << "trees only";
  ProblemBuilder builder;
  add_tree(builder, 6);
  builder.repeat_joint(2);
  ConstraintProblem p = builder.problem();
  p.b.tail(3).array() += 1.0;
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  SolverChoice settings = GetParam();
  if (int* most = settings.find<int>("max_iterations")) *most = 500;
  solve(p, settings, workspace, x, report);
  EXPECT_FALSE(report.converged);
  EXPECT_GT(report.residual, 1e-3);
  EXPECT_NEAR(report.residual, residual(p, x).scale_free, 1e-6 * report.residual);
}

SchurSettings schur_by_gradients() {
  SchurSettings settings;
  settings.conjugate_gradients = true;
  return settings;
}

// Iterations stop at a residual, and the condition number stands between that and the error: hence these tolerances.
INSTANTIATE_TEST_SUITE_P(Bilateral, Solvers,
                         ::testing::Values(solver_named("ldlt"), solver_named("dense_ldlt"), solver_named("articulated_body"),
                                           solver_named("schur"), SolverChoice(schur_by_gradients()),
                                           SolverChoice(CgSettings{.tolerance = 1e-12}),
                                           SolverChoice(SorSettings{.tolerance = 1e-13}),
                                           SolverChoice(SorSettings{.relaxation = gauss_seidel.relaxation, .tolerance = 1e-13})),
                         [](const auto& solver) {
                           const auto* schur = solver.param.template get_if<SchurSettings>();
                           const auto* sor = solver.param.template get_if<SorSettings>();
                           if (sor && sor->relaxation == gauss_seidel.relaxation) return std::string("gauss_seidel");
                           return std::string(solver.param.name()) + (schur && schur->conjugate_gradients ? "_by_gradients" : "");
                         });

TEST(Iterations, StartFromTheWarmStart) {
  ProblemBuilder builder;
  add_tree(builder, 12);
  ConstraintProblem p = builder.problem();
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  solve(p, solver_named("ldlt"), workspace, x, report);
  p.x0 = Eigen::Map<const VecX>(x.data(), p.rows());
  for (const SolverChoice& settings : {solver_named("cg"), solver_named("sor"), solver_named("gauss_seidel")}) {
    solve(p, settings, workspace, x, report);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_TRUE(report.converged);
  }
}

TEST(ArticulatedBodySolver, RefusesLoopsByName) {
  for (const bool twice : {false, true}) {
    ProblemBuilder builder;
    add_chain(builder, 5);
    if (twice)
      builder.add_joint(2, 3, 1);
    else
      builder.add_joint(4, -1, 1);
    const ConstraintProblem p = builder.problem();
    Workspace workspace;
    SolveReport report;
    std::vector<double> x(p.rows());
    try {
      solve(p, solver_named("articulated_body"), workspace, x, report);
      FAIL() << "a loop was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("loop through"), std::string::npos) << error.what();
    }
  }
}

TEST(DirectSolvers, HoldLongChainsAndLargeMassRatios) {
  for (const double spread : {0.0, 6.0, 9.0}) {
    ProblemBuilder builder(4);
    builder.log10_mass_spread = spread;
    add_chain(builder, 20000);
    const ConstraintProblem p = builder.problem();
    for (const SolverChoice& settings : {solver_named("ldlt"), solver_named("articulated_body")}) {
      Workspace workspace;
      SolveReport report;
      std::vector<double> x(p.rows());
      solve(p, settings, workspace, x, report);
      EXPECT_LT(residual(p, x).scale_free, 1e-10) << spread;
    }
  }
}

TEST(Ldlt, SeesBodiesStopBeingMovable) {
  // Same blocks, other masses: what hangs from a hub may not count as hanging any more.
  Workspace workspace;
  SolveReport report;
  for (const bool fixed : {false, true, false}) {
    ProblemBuilder builder(7);
    add_tree(builder, 40, 3, 1.0);
    if (fixed) builder.set_inverse_mass(5, Mat6::Zero());
    const ConstraintProblem p = builder.problem();
    std::vector<double> x(p.rows());
    solve(p, solver_named("ldlt"), workspace, x, report);
    EXPECT_TRUE(report.redundant_rows.empty());
    EXPECT_LT(residual(p, x).scale_free, 1e-12);
  }
}

TEST(Ldlt, HoldsAHubWhoseChildCannotTurn) {
  // A welded child of infinite inertia but finite mass: its own three inverse masses cannot answer six rows, the hub's can.
  ProblemBuilder builder(8);
  add_tree(builder, 40, 3, 1.0);
  const int child = builder.add_body();
  builder.add_joint(0, child, 6);
  Mat6 W = Mat6::Zero();
  W.topLeftCorner<3, 3>().setIdentity();
  builder.set_inverse_mass(child, W);
  const ConstraintProblem p = builder.problem();
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  solve(p, solver_named("ldlt"), workspace, x, report);
  EXPECT_TRUE(report.redundant_rows.empty());
  EXPECT_LT(residual(p, x).scale_free, 1e-12);
}

TEST(Ldlt, StarsOfManyJointsStayLinear) {
  // Without care a body with k joints is a clique of k blocks: k^3 / 6 products, 1e11 here.
  ProblemBuilder builder(2);
  builder.add_body(5.0);
  for (int i = 0; i < 10000; ++i) {
    const int child = builder.add_body();
    builder.add_joint(0, child, 3);
  }
  const ConstraintProblem p = builder.problem();
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  solve(p, solver_named("ldlt"), workspace, x, report);
  EXPECT_LT(residual(p, x).scale_free, 1e-12);
  EXPECT_TRUE(report.redundant_rows.empty());
}

}  // namespace
}  // namespace rotule
