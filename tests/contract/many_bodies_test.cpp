// Constraints over any number of bodies: every solver must see all of them. Compared with a dense matrix that is written entry by
// entry, with none of the library's operators.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solvers/prox_newton.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "linalg/decompositions.h"
#include "model/solver_list.h"
#include "problem/delassus.h"
#include "problem/operators.h"
#include "solve/solve.h"
#include "support/allocation_counter.h"
#include "support/contact_problems.h"
#include "support/impulses.h"
#include "support/problem_builders.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::append_block;
using testing::motion;
using testing::ProblemBuilder;

MatX matrix_of(const ConstraintProblem& p) {
  MatX J = MatX::Zero(p.rows(), 6 * p.bodies()), W = MatX::Zero(6 * p.bodies(), 6 * p.bodies());
  for (const ConstraintBlock& block : p.blocks) {
    if (block.body_a >= 0)
      J.block(block.first_row, 6 * block.body_a, block.rows, 6) = p.J_a.middleRows(block.first_row, block.rows);
    if (block.body_b >= 0)
      J.block(block.first_row, 6 * block.body_b, block.rows, 6) = p.J_b.middleRows(block.first_row, block.rows);
    for (int k = 0; k < block.more_count; ++k) {
      const BlockPartner& partner = p.more[block.first_more + k];
      J.block(block.first_row, 6 * partner.body, block.rows, 6) = p.J_more.middleRows(partner.first, block.rows);
    }
  }
  for (int body = 0; body < p.bodies(); ++body) W.block<6, 6>(6 * body, 6 * body) = p.inverse_mass[body];
  MatX A = J * W * J.transpose();
  A.diagonal() += p.C;
  return A;
}

std::vector<int> some_bodies(ProblemBuilder& random, int count) {
  std::vector<int> all(random.bodies());
  std::iota(all.begin(), all.end(), 0);
  for (int k = 0; k < count; ++k) std::swap(all[k], all[k + random.integer(random.bodies() - k)]);
  all.resize(count);
  return all;
}

/// A tree of joints, and blocks over 1, 2, 3 and 5 bodies on top of it.
ConstraintProblem wide_problem(unsigned seed, bool coupled, double compliance) {
  ProblemBuilder builder(seed);
  builder.coupled = coupled;
  builder.compliance = compliance;
  add_tree(builder, 14, 2);
  ConstraintProblem p = builder.problem();
  for (const int count : {3, 1, 5, 2, 3}) append_block(p, some_bodies(builder, count), 1 + builder.integer(3), builder);
  return p;
}

std::string_view solver_name(const SolverChoice& settings) { return settings.name(); }

bool knows_bounds(const SolverChoice& settings) { return settings.traits().bounds; }

class ManyBodies : public ::testing::TestWithParam<SolverChoice> {
 protected:
  /// Iterations may go on for as long as they need.
  [[nodiscard]] SolverChoice patient(double tolerance) const {
    SolverChoice settings = GetParam();
    if (auto* asked = settings.find<double>("tolerance")) *asked = tolerance;
    if (auto* most = settings.find<int>("max_iterations"); most && *most >= 1000) *most = 300000;
    return settings;
  }
};

TEST_P(ManyBodies, AgreeWithADenseSolve) {
  if (solver_name(GetParam()) == "articulated_body") GTEST_SKIP() << "trees of pairs only";
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const ConstraintProblem p = wide_problem(seed, seed % 3 == 0, seed % 2 == 0 ? 0.3 : 0.05);
    ASSERT_NO_THROW(validate(p));
    const MatX A = matrix_of(p);
    const VecX expected = lu_solve(A, p.b);
    VecX x(p.rows());
    Workspace workspace;
    SolveReport report;
    const std::span<double> view(x.data(), static_cast<std::size_t>(x.size()));
    solve(p, patient(1e-12), workspace, view, report);
    // Methods whose point is another than accuracy may stop earlier, and must say so.
    if (!report.converged) {
      const bool rough = solver_name(GetParam()) == "admm" || solver_name(GetParam()) == "interior_point" ||
                         solver_name(GetParam()) == "pgs_sm" || solver_name(GetParam()) == "jacobi" ||
                         solver_name(GetParam()) == "shock_propagation" || solver_name(GetParam()) == "chebyshev";
      EXPECT_TRUE(rough) << report.residual;
      EXPECT_LT((A * x - p.b).norm(), 1e-3 * p.b.norm());
      continue;
    }
    EXPECT_LT((A * x - p.b).norm(), 1e-9 * p.b.norm());
    EXPECT_LT((x - expected).norm(), 1e-6 * expected.norm());
  }
}

TEST_P(ManyBodies, SeeThatOnlyTheFurtherBodiesChanged) {
  if (solver_name(GetParam()) == "articulated_body") GTEST_SKIP() << "trees of pairs only";
  // The same workspace for two problems whose blocks differ in nothing but who stands third.
  Workspace workspace;
  SolveReport report;
  for (const int third : {7, 9, 7}) {
    ProblemBuilder builder(3);
    builder.compliance = 0.3;
    add_tree(builder, 12, 2);
    ConstraintProblem p = builder.problem();
    append_block(p, std::vector<int>{1, 4, third}, 2, builder);
    VecX x(p.rows());
    solve(p, patient(1e-11), workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
    const double left = (matrix_of(p) * x - p.b).norm() / p.b.norm();
    EXPECT_LT(left, report.converged ? 1e-9 : 1e-3) << third;
  }
}

INSTANTIATE_TEST_SUITE_P(Equations, ManyBodies, ::testing::ValuesIn(testing::all_solvers()),
                         [](const auto& param) { return std::string(solver_name(param.param)); });

TEST(ManyBodies, TheFormedMatrixHasThemAll) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const ConstraintProblem p = wide_problem(seed, seed % 2 == 0, 0.1);
    Delassus delassus;
    delassus.assemble(p);
    MatX formed;
    delassus.to_dense(formed);
    const MatX A = matrix_of(p);
    EXPECT_LT((formed - A).norm(), 1e-12 * A.norm());
  }
}

TEST(ManyBodies, ArticulatedBodyRefusesThem) {
  ProblemBuilder builder(2);
  add_tree(builder, 5, 3);
  ConstraintProblem p = builder.problem();
  append_block(p, std::vector<int>{0, 1, 2}, 1, builder);
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  try {
    solve(p, solver_named("articulated_body"), workspace, x, report);
    FAIL() << "three bodies were accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more than two bodies"), std::string::npos) << error.what();
  }
}

TEST(ManyBodies, ValidationSeesWhatIsWrongWithThem) {
  const ConstraintProblem good = wide_problem(1, false, 0);
  ASSERT_NO_THROW(validate(good));
  const auto refused = [&](auto&& spoil) {
    ConstraintProblem p = good;
    spoil(p);
    EXPECT_THROW(validate(p), Error);
  };
  refused([](ConstraintProblem& p) { p.more[0].body = p.bodies(); });
  refused([](ConstraintProblem& p) { p.more[0].body = -1; });
  refused([](ConstraintProblem& p) { p.more[1].first += 1; });
  refused([](ConstraintProblem& p) { p.more.pop_back(); });
  refused([](ConstraintProblem& p) { p.more.push_back({0, 0}); });
  refused([](ConstraintProblem& p) { p.J_more.conservativeResize(p.J_more.rows() - 1, 6); });
  refused([](ConstraintProblem& p) {
    const auto wide = std::find_if(p.blocks.begin(), p.blocks.end(), [](const auto& b) { return b.more_count > 0; });
    p.more[wide->first_more].body = wide->body_a;
  });
}

/// Contacts of a pile, and rows over three of its bodies beside them.
ConstraintProblem pile_with_wide_rows(testing::ContactLaw law) {
  ConstraintProblem p = testing::sphere_pile(6, law);
  ProblemBuilder random(5);
  while (random.bodies() < p.bodies()) random.add_body();
  for (int k = 0; k < 3; ++k) append_block(p, some_bodies(random, 3), 1, random);
  p.b.tail(3) *= 0.05;
  return p;
}

class ManyBodiesInContact : public ::testing::TestWithParam<SolverChoice> {};

TEST_P(ManyBodiesInContact, AgreeWithEachOther) {
  const SolverTraits traits = GetParam().traits();
  for (const bool cone : {false, true}) {
    if (cone ? !traits.cone : !traits.box) continue;
    for (const double mu : {0.0, 0.2}) {
      SCOPED_TRACE(::testing::Message() << (cone ? "cone " : "box ") << mu);
      const ConstraintProblem p = pile_with_wide_rows({.mu = mu, .cone = cone});
      ASSERT_NO_THROW(validate(p));
      SolverChoice settings = GetParam();
      if (auto* most = settings.find<int>("max_iterations"); most && *most >= 1000) *most = 300000;
      VecX x(p.rows());
      Workspace workspace;
      SolveReport report;
      const std::span<double> view(x.data(), static_cast<std::size_t>(x.size()));
      solve(p, settings, workspace, view, report);
      // The judge by the dense matrix: rows over three bodies hold, normals do not pull.
      const VecX w = matrix_of(p) * x - p.b;
      EXPECT_NEAR(residual(p, view).scale_free, report.residual, 1e-6 * report.residual + 1e-13);
      VecX judged = w;
      natural_residual(p, view, {judged.data(), static_cast<std::size_t>(judged.size())});
      EXPECT_NEAR(judged.norm() / p.b.norm(), residual(p, view).relative, 1e-6 * report.residual + 1e-12);
      const std::string_view name = solver_name(GetParam());
      const bool rough =
          name == "shock_propagation" || name == "jacobi" || name == "admm" || name == "interior_point" || name == "pgs_sm";
      if (!rough) {
        EXPECT_TRUE(report.converged) << report.residual;
      }
      // Without friction the motion is unique.
      if (mu == 0 && report.converged) {
        VecX exact(p.rows());
        SolveReport other;
        solve(p, ProxNewtonSettings{.tolerance = 1e-12}, workspace, {exact.data(), static_cast<std::size_t>(exact.size())},
              other);
        ASSERT_TRUE(other.converged);
        const VecX expected = motion(p, exact);
        EXPECT_LT((motion(p, x) - expected).norm(), 1e-4 * expected.norm());
      }
    }
  }
}

std::vector<SolverChoice> solvers_of_contacts() {
  std::vector<SolverChoice> out;
  for (const SolverChoice& settings : testing::all_solvers())
    if (knows_bounds(settings)) out.push_back(settings);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Contacts, ManyBodiesInContact, ::testing::ValuesIn(solvers_of_contacts()),
                         [](const auto& param) { return std::string(solver_name(param.param)); });

}  // namespace
}  // namespace rotule
