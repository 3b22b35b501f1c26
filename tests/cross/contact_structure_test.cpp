// Solvers that use a problem's structure, against each other and against what is known: pivoting methods find one motion, the
// complement of the joints is that of the dense matrix, chains and stacks stop mattering by length and mass, and `auto` says whom
// it chose.
#include <gtest/gtest.h>
#include <rotule/solvers/hybrid.h>
#include <rotule/solvers/split_pivoting.h>

#include <Eigen/QR>
#include <string>

#include "model/solver_list.h"
#include "solve/hybrid/bilateral_schur.h"
#include "solve/solve.h"
#include "support/contact_problems.h"

namespace rotule {
namespace {

using testing::ContactCase;
using testing::ContactLaw;
using testing::ContactScene;

struct Answer {
  VecX x, motion;
  SolveReport report;
  double residual = 0;
};

Answer answer_of(const ConstraintProblem& p, const SolverChoice& settings) {
  Answer out;
  out.x.resize(p.rows());
  Workspace workspace;
  const std::span<double> x(out.x.data(), static_cast<std::size_t>(out.x.size()));
  solve(p, settings, workspace, x, out.report);
  out.residual = residual(p, x).scale_free;
  out.motion = VecX::Zero(6 * p.bodies());
  apply_impulses(p, x, {out.motion.data(), static_cast<std::size_t>(out.motion.size())});
  return out;
}

/// Links hung from the ceiling on a slant, the last one of `end_mass`, which rests on a slope by four contacts; one more in the
/// middle.
ConstraintProblem hanging_chain(int links, double end_mass) {
  ContactScene scene;
  for (int i = 0; i < links; ++i) {
    const Vec3 centre(0.06 * (i + 0.5), 0, 5 - 0.08 * (i + 0.5));
    const int link =
        scene.add_box(i + 1 == links ? end_mass : 1.0, Vec3(0.05, 0.02, 0.02), centre, Vec3(0.1, 0.02 * i / links, -0.1));
    scene.add_ball_joint(i - 1, link, centre - Vec3(0.03, 0, -0.04));
  }
  const Vec3 end = scene.body(links - 1).position, middle = scene.body(links / 2).position;
  for (const double x : {-0.05, 0.05})
    for (const double y : {-0.02, 0.02}) scene.add_contact(-1, links - 1, end + Vec3(x, y, -0.02), Vec3(0.3, 0, 1));
  scene.add_contact(-1, links / 2, middle + Vec3(0, 0, -0.02), Vec3(0, 0.2, 1));
  return scene.problem();
}

/// Dolls of a trunk, a head and four limbs of two segments, each doll lying on the floor and on its neighbour's limb.
ConstraintProblem dolls_on_floor(int dolls) {
  ContactScene scene;
  for (int k = 0; k < dolls; ++k) {
    const Vec3 at(1.2 * k, 0, 0.1);
    const auto add = [&](double mass, const Vec3& half, const Vec3& offset) {
      const int body = scene.add_box(mass, half, at + offset, Vec3(0.2 * k, 0.1, -0.3));
      for (const double end : {-0.9, 0.9})
        scene.add_contact(-1, body, at + offset + Vec3(end * half.x(), 0, -0.1), Vec3::UnitZ());
      return body;
    };
    const int trunk = add(30, Vec3(0.25, 0.15, 0.1), Vec3::Zero());
    const int head = add(5, Vec3(0.1, 0.1, 0.1), Vec3(0.4, 0, 0));
    scene.add_ball_joint(trunk, head, at + Vec3(0.28, 0, 0));
    int last = -1;
    for (const double x : {-0.2, 0.2})
      for (const double side : {-1.0, 1.0}) {
        const int upper = add(3, Vec3(0.05, 0.12, 0.05), Vec3(x, side * 0.3, 0));
        const int lower = add(0.5, Vec3(0.04, 0.12, 0.04), Vec3(x, side * 0.55, 0));
        scene.add_ball_joint(trunk, upper, at + Vec3(x, side * 0.16, 0));
        scene.add_hinge(upper, lower, at + Vec3(x, side * 0.43, 0), Vec3::UnitX());
        last = lower;
      }
    if (k > 0) scene.add_contact(last, trunk, at + Vec3(-0.3, 0.1, 0), Vec3::UnitX());
  }
  return scene.problem();
}

TEST(Pivoting, FindsOneMotionWhereThereIsOne) {
  int compared = 0;
  for (const ContactCase& c : testing::contact_cases()) {
    // Friction may allow more than one motion; these problems have one.
    if (c.name != "no_friction_box" && c.name != "block_box" && c.name != "pile_20_box" && c.name != "no_contact_arm" &&
        c.name != "sliding_block_box" && c.name != "soft_ball_box" && c.name != "arm_6_box")
      continue;
    SCOPED_TRACE(c.name);
    const Answer lemke = answer_of(c.problem, solver_named("lemke"));
    ASSERT_LE(lemke.residual, 1e-10);
    const SolverChoice others[] = {solver_named("block_pivoting"), solver_named("dantzig"),
                                   SplitPivotingSettings{.tolerance = 1e-11}};
    for (const SolverChoice& other : others) {
      const Answer answer = answer_of(c.problem, other);
      EXPECT_TRUE(answer.report.converged);
      EXPECT_LT((answer.motion - lemke.motion).norm(), 1e-9 * (1 + lemke.motion.norm())) << answer.report.solver;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 21);
}

TEST(Pivoting, SolvesBoxesExactly) {
  for (const ContactCase& c : testing::contact_cases()) {
    if (c.cone) continue;
    SCOPED_TRACE(c.name);
    const SolverChoice all[] = {solver_named("lemke"), solver_named("block_pivoting"), solver_named("dantzig")};
    for (const SolverChoice& settings : all) {
      const Answer answer = answer_of(c.problem, settings);
      EXPECT_LE(answer.residual, 2e-9) << answer.report.solver;
    }
  }
}

/// S and b' as their definitions say, dense.
void dense_complement(const ConstraintProblem& p, MatX& S, VecX& b) {
  Delassus delassus;
  delassus.assemble(p);
  MatX A;
  delassus.to_dense(A);
  std::vector<BlockSet> sets;
  classify(p, sets);
  std::vector<int> j, c;
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (int r = p.blocks[i].first_row; r < p.blocks[i].first_row + p.blocks[i].rows; ++r)
      (sets[i].kind == RowSet::bilateral ? j : c).push_back(r);
  const MatX A_jj = A(j, j), A_cj = A(c, j);
  MatX right(j.size(), c.size() + 1);  // A_jc and, behind it, b_j
  right << A(j, c), p.b(j);
  const MatX eliminated = A_cj * MatX(Eigen::CompleteOrthogonalDecomposition<MatX>(A_jj).solve(right));
  S = A(c, c);
  S -= eliminated.leftCols(S.cols());
  b = p.b(c);
  b -= eliminated.col(S.cols());
}

TEST(BilateralSchur, IsTheComplementOfTheDenseMatrix) {
  ConstraintProblem twice = testing::jointed_arm(5);  // every joint row of the first hinge once more: redundant
  const int extra = twice.blocks[0].rows, rows = twice.rows();
  twice.blocks.push_back({rows, extra, twice.blocks[0].body_a, twice.blocks[0].body_b, -1});
  for (JacobianRows* J : {&twice.J_a, &twice.J_b}) {
    J->conservativeResize(rows + extra, 6);
    J->bottomRows(extra) = J->topRows(extra).eval();
  }
  for (VecX* v : {&twice.b, &twice.C, &twice.lower, &twice.upper, &twice.x0}) {
    v->conservativeResize(rows + extra);
    v->tail(extra) = v->head(extra).eval();
  }
  for (const ConstraintProblem& p : {testing::chain_on_floor(6), dolls_on_floor(2), testing::jointed_arm(5), twice,
                                     testing::by_matrix(testing::chain_on_floor(4))}) {
    validate(p);
    MatX expected;
    VecX b;
    dense_complement(p, expected, b);
    BilateralSchur schur;
    SolveReport report;
    schur.split(p);
    schur.factor(p, 1e-12, report);
    schur.form(p);
    validate(schur.reduced);
    MatX S = schur.reduced.C.asDiagonal();
    for (int r = 0; r < schur.reduced.rows(); ++r)
      for (int e = schur.reduced.matrix.start[r]; e < schur.reduced.matrix.start[r + 1]; ++e)
        S(r, schur.reduced.matrix.column[e]) += schur.reduced.matrix.value[e];
    EXPECT_LT((S - expected).norm(), 1e-11 * expected.norm());
    EXPECT_LT((schur.reduced.b - b).norm(), 1e-10 * p.b.norm());
  }
}

TEST(Hybrid, LengthAndMassOfAChainDoNotMatter) {
  for (const int links : {10, 100, 1000})
    for (const double end_mass : {1.0, 1e3, 1e6}) {
      SCOPED_TRACE(std::to_string(links) + " links, end " + std::to_string(end_mass));
      const Answer answer = answer_of(hanging_chain(links, end_mass), solver_named("hybrid"));
      EXPECT_TRUE(answer.report.converged);
      EXPECT_LE(answer.residual, 1e-8);
      EXPECT_LE(answer.report.iterations, 60);
    }
}

TEST(Hybrid, SolvesDollsAndAgreesWithNewton) {
  const ConstraintProblem p = dolls_on_floor(4);
  const Answer hybrid = answer_of(p, HybridSettings{.tolerance = 1e-10});
  const Answer newton = answer_of(p, solver_named("prox_newton"));
  EXPECT_LE(hybrid.residual, 1e-10);
  EXPECT_LE(newton.residual, 1e-10);
  EXPECT_TRUE(hybrid.report.redundant_rows.empty());
}

TEST(Hybrid, ThroughTheFactorIsTheSame) {
  const ConstraintProblem p = testing::chain_on_floor(30, {.mu = 0});  // without friction there is one motion
  const Answer formed = answer_of(p, HybridSettings{.tolerance = 1e-10});
  const Answer through = answer_of(p, HybridSettings{.tolerance = 1e-10, .largest_complement = 0});
  EXPECT_LE(formed.residual, 1e-10);
  EXPECT_LE(through.residual, 1e-10);
  EXPECT_LT((formed.motion - through.motion).norm(), 1e-8 * (1 + formed.motion.norm()));
}

TEST(TwoLevel, HeightAndMassOfAStackDoNotMatter) {
  for (const int boxes : {10, 30, 100})
    for (const double top_mass : {1.0, 1e3, 1e5}) {
      SCOPED_TRACE(std::to_string(boxes) + " boxes, top " + std::to_string(top_mass));
      const ConstraintProblem p = testing::heavy_on_light(boxes - 1, top_mass);
      const Answer answer = answer_of(p, solver_named("two_level"));
      EXPECT_TRUE(answer.report.converged);
      EXPECT_LE(answer.report.iterations, 16);
      // The stack stands: the impulses take away what gravity gave.
      for (int body = 0; body < boxes; ++body) {
        const Vec6 u = answer.motion.segment<6>(6 * body);
        EXPECT_NEAR(u[2], 9.81 * p.h, 1e-6);
        EXPECT_LT((u - Vec6::Unit(2) * u[2]).norm(), 1e-6);
      }
    }
}

TEST(Auto, SaysWhomItChose) {
  const auto chosen = [](const ConstraintProblem& p) {
    const Answer answer = answer_of(p, solver_named("auto"));
    EXPECT_TRUE(answer.report.converged);
    return std::string(answer.report.solver);
  };
  ConstraintProblem joints = hanging_chain(5, 1);
  const int rows = joints.blocks[5].first_row;
  joints.blocks.resize(5);
  joints.friction.clear();
  for (JacobianRows* J : {&joints.J_a, &joints.J_b}) J->conservativeResize(rows, 6);
  for (VecX* v : {&joints.b, &joints.C, &joints.lower, &joints.upper, &joints.x0}) v->conservativeResize(rows);
  EXPECT_EQ(chosen(joints), "ldlt");
  EXPECT_EQ(chosen(testing::chain_on_floor(8)), "hybrid");
  EXPECT_EQ(chosen(testing::chain_on_floor(40)), "prox_newton");
  EXPECT_EQ(chosen(testing::heavy_on_light(9, 1000)), "two_level");
  EXPECT_EQ(chosen(testing::box_stack(3, {.cone = false})), "block_pivoting");
  EXPECT_EQ(answer_of(testing::box_stack(2), solver_named("nncg")).report.solver, "nncg");
}

// Where nothing slips, Newton needs a handful of steps however long the chain; sweeps of contacts need as many as it has links.
TEST(Auto, LiftsALongChainOutOfTheFloorInAFewSteps) {
  const Answer answer = answer_of(testing::overlapping_chain(100), automatic_solver(1e-10));
  EXPECT_TRUE(answer.report.converged);
  EXPECT_LE(answer.report.iterations, 5);
}

TEST(Auto, GetsThere) {
  for (const ContactCase& c : testing::contact_cases()) {
    SCOPED_TRACE(c.name);
    const Answer answer = answer_of(c.problem, solver_named("auto"));
    EXPECT_TRUE(answer.report.converged) << answer.residual << " by " << answer.report.solver;
    EXPECT_LE(answer.residual, 1e-8);
  }
}

}  // namespace
}  // namespace rotule
