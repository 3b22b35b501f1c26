// What the Newton-type contact solvers promise: the exact one reaches 1e-9 on every synthetic problem and every file, also with
// mass ratios of 1e5; where the others say that they converged, an exact answer is near.
#include <gtest/gtest.h>
#include <rotule/solvers/admm.h>
#include <rotule/solvers/homotopy.h>
#include <rotule/solvers/interior_point.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/pgs_sm.h>
#include <rotule/solvers/prox_newton.h>

#include <random>

#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "solve/newton/homotopy.h"
#include "solve/newton/pivoted_system.h"
#include "solve/solve.h"
#include "support/contact_problems.h"
#include "support/impulses.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::motion;

std::span<double> span(VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

template <class Settings>
VecX solved(const ConstraintProblem& p, const Settings& settings, SolveReport& report) {
  Workspace workspace;
  VecX x = VecX::Zero(p.rows());
  solve(p, settings, workspace, span(x), report);
  EXPECT_NEAR(report.residual, residual(p, span(x)).scale_free, 1e-12 + 1e-3 * report.residual) << Settings::name;
  EXPECT_EQ(report.converged, report.residual <= settings.tolerance) << Settings::name;
  return x;
}

TEST(NewtonSolvers, TheExactOneSolvesEverySyntheticProblem) {
  for (const testing::ContactCase& c : testing::contact_cases()) {
    SolveReport report;
    solved(c.problem, ProxNewtonSettings{.tolerance = 1e-9}, report);
    EXPECT_LE(report.residual, 1e-9) << c.name;
  }
}

TEST(NewtonSolvers, TheExactOneStandsMassRatios) {
  for (const double mass : {1e3, 1e4, 1e5})
    for (const bool cone : {true, false}) {
      SolveReport report;
      solved(testing::heavy_on_light(9, mass, {.mu = 0.5, .cone = cone}), ProxNewtonSettings{.tolerance = 1e-9}, report);
      EXPECT_LE(report.residual, 1e-9) << mass << (cone ? " cone" : " box");
    }
}

TEST(NewtonSolvers, TheExactOneSolvesTheFilesOfOthers) {
  for (const char* file :
       {"local_problem_test", "Capsules-i125-1213", "Spheres-i099-356-679", "LMGC_100_PR_PerioBox-i00361-60-03000"}) {
    SolveReport report;
    solved(read_fclib(testing::source_dir() + "/data/fclib/" + file + ".hdf5"), ProxNewtonSettings{.tolerance = 1e-12}, report);
    EXPECT_LE(report.residual, 1e-12) << file;
  }
}

// Two points of a box lie in a groove, each with a gap still to close: along the line between them no rigid body can do what both
// ask for, so one must slip, however small the gaps. Newton must go through a state of self-stress until one does.
TEST(NewtonSolvers, TheExactOneFindsWhatSlipsHoweverLittle) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto vector = [&](double x, double y, double z) { return Vec3(x * any(random), y * any(random), z * any(random)); };
  int missed = 0;
  for (int k = 0; k < 200; ++k) {
    testing::ContactScene scene;
    scene.law.mu = 0.8;
    const int box = scene.add_box(3, {0.2, 0.1, 0.15}, {0, 0, 0.3});
    constexpr double gap = 1e-10;
    scene.add_contact(-1, box, Vec3(-0.2, 0, 0.2) + vector(0.05, 0.1, 0), Vec3(0.5, 0, 1) + vector(0.3, 0.3, 0), gap);
    scene.add_contact(-1, box, Vec3(0.2, 0, 0.2) + vector(0.05, 0.1, 0), Vec3(-0.5, 0, 1) + vector(0.3, 0.3, 0),
                      gap * any(random));
    SolveReport report;
    solved(scene.problem(), ProxNewtonSettings{.tolerance = 1e-10, .max_iterations = 100}, report);
    missed += !report.converged;
  }
  EXPECT_LE(missed, 2);
}

// From x = 0, where nothing is known: joints, limits, boxes, cones, torsion and rolling.
// What is to be closed is a millionth of what stays open: nothing looks right before the path is as near as that, and yet it is
// on its way.
TEST(InteriorPoint, ClosesSmallOverlapsBesideLargeGaps) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SolveReport report;
    solved(testing::overlapping_wall(6, 6, seed), InteriorPointSettings{.tolerance = 1e-6}, report);
    EXPECT_TRUE(report.converged) << "seed " << seed << ", residual " << report.residual;
  }
}

TEST(Homotopy, APathFromNothingEndsAtASolution) {
  int arrived = 0, tried = 0;
  for (const testing::ContactCase& c : testing::contact_cases()) {
    if (c.hard) continue;
    BlockSystem linear;
    Homotopy path;
    BestAnswer answer;
    SolveReport report;
    answer.begin(c.problem, "homotopy", report);
    linear.prepare(c.problem);
    path.prepare(c.problem, linear);
    const VecX nothing = VecX::Zero(c.problem.rows());
    const bool done = path.run(c.problem, {nothing.data(), static_cast<std::size_t>(nothing.size())},
                               {.first_tau = 1e-2, .late = 1}, 1e-9, 2000, answer);
    ++tried;
    arrived += done;
    if (done) {
      EXPECT_LE(residual(c.problem, answer.best_x()).scale_free, 1e-9) << c.name;
    }
  }
  EXPECT_GE(10 * arrived, 8 * tried);  // one path each, judged row by row; `homotopy` itself goes on to others
}

/// Every step in the file ends above `sweeps_miss` after that many sweeps, and is solved by paths.
void expect_paths_solve_what_sweeps_do_not(const std::string& file, double sweeps_miss, int sweeps) {
  const std::string path = testing::source_dir() + "/data/jam/" + file;
  for (const std::int64_t step : recorded_frames(path)) {
    SCOPED_TRACE(file + ", step " + std::to_string(step));
    const ConstraintProblem p = read_problem(path, step, 0).problem;
    SolveReport report;
    solved(p, NncgSettings{.tolerance = sweeps_miss, .max_iterations = sweeps}, report);
    EXPECT_FALSE(report.converged);
    solved(p, HomotopySettings{.tolerance = 1e-10}, report);
    EXPECT_TRUE(report.converged) << "residual " << report.residual;
  }
}

// Two steps of 200 balls jammed in a box with friction 1.
TEST(Homotopy, SolvesAJamThatSweepsDoNot) { expect_paths_solve_what_sweeps_do_not("marble_box.hdf5", 1e-6, 1000); }

// A heap that creeps: slips of 1e-6 m/s decide where friction points, and the contacts have far more unknowns than the bodies
// have freedoms. Needs a path that goes on to almost no regularisation, and factors that pivot.
TEST(Homotopy, SolvesAHeapThatCreeps) { expect_paths_solve_what_sweeps_do_not("tripods.hdf5", 1e-8, 5000); }

// What the block LU finds and what the pivoted one finds are the same, with bodies, joints, and by matrix.
TEST(PivotedSystem, AgreesWithTheBlockSystem) {
  for (const testing::ContactCase& c : testing::contact_cases()) {
    const int rows = c.problem.rows();
    BlockSystem blocks;
    blocks.prepare(c.problem);
    for (int i = 0; i < static_cast<int>(c.problem.blocks.size()); ++i) {
      const int n = c.problem.blocks[i].rows;
      for (int k = 0; k < n * n; ++k) {
        blocks.T(i)[k] = k % (n + 1) == 0 ? 0.7 : 0.1 * std::sin(i + k);
        blocks.E(i)[k] = k % (n + 1) == 0 ? 0.9 : 0.1 * std::cos(i + k);
      }
      blocks.set_alone(i, false);
    }
    std::vector<double> F(rows), by_blocks(rows), A_dx(rows), by_pivots(rows);
    for (int r = 0; r < rows; ++r) F[r] = std::sin(3.0 * r);
    const std::vector<double> weights(c.problem.rows(), 1.0);
    blocks.factor(c.problem, weights);
    blocks.solve(c.problem, F, by_blocks, A_dx);
    PivotedSystem pivoted;
    ASSERT_TRUE(pivoted.factor(c.problem, blocks)) << c.name;
    pivoted.solve(F, by_pivots);
    const Eigen::Map<const VecX> a(by_blocks.data(), rows), b(by_pivots.data(), rows);
    EXPECT_LE((a - b).norm(), 1e-8 * a.norm()) << c.name;
  }
}

template <class Settings>
class InexactNewtonSolvers : public ::testing::Test {};
using Inexact = ::testing::Types<InteriorPointSettings, AdmmSettings, PgsSmSettings>;
TYPED_TEST_SUITE(InexactNewtonSolvers, Inexact);

// Coulomb's law can have several answers: what is asked is that an exact one lies near, found from the inexact one.
TYPED_TEST(InexactNewtonSolvers, EndNearAnExactAnswer) {
  int converged = 0, tried = 0;
  for (testing::ContactCase& c : testing::contact_cases()) {
    if (c.hard || c.problem.bodies() == 0) continue;
    SolveReport report;
    VecX x = solved(c.problem, TypeParam{.tolerance = 1e-7, .max_iterations = 100}, report);
    ++tried;
    if (!report.converged) continue;
    ++converged;
    c.problem.x0 = x;
    VecX exact = solved(c.problem, ProxNewtonSettings{.tolerance = 1e-9}, report);
    const VecX u = motion(c.problem, exact);
    EXPECT_LE(report.residual, 1e-9) << c.name;
    EXPECT_LT((motion(c.problem, x) - u).norm(), 1e-3 * (1 + u.norm())) << c.name;
  }
  EXPECT_GT(3 * converged, tried);
}

TYPED_TEST(InexactNewtonSolvers, StartFromAnAnswer) {
  ConstraintProblem p = testing::sphere_pile(20);
  SolveReport report;
  p.x0 = solved(p, ProxNewtonSettings{.tolerance = 1e-10}, report);
  solved(p, TypeParam{}, report);
  EXPECT_LE(report.iterations, 1);
}

}  // namespace
}  // namespace rotule
