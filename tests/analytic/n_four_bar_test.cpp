// A row of N parallelograms moves as one pendulum of angle t from the vertical:
//   ((N+1)/3 + N) t'' = g ((N+1)/2 + N) sin t,
// although in 3D hinges give three equations too many per loop, and although it passes, twice a turn, through a pose in which all
// its bars lie on one line and each loop could fold its own way.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>

#include "mechanism/loop_rows.h"
#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

/// The angle after `time`, by RK4 with a step that leaves nothing but rounding.
double pendulum_angle(int loops, double time) {
  const double pull = 9.81 * ((loops + 1) / 2.0 + loops) / ((loops + 1) / 3.0 + loops);
  double t = 0, w = 1;
  const int steps = 100000;
  const double h = time / steps;
  for (int i = 0; i < steps; ++i) {
    const auto a = [&](double x) { return pull * std::sin(x); };
    const double k1 = a(t), k2 = a(t + h / 2 * w), k3 = a(t + h / 2 * w + h * h / 4 * k1), k4 = a(t + h * w + h * h / 2 * k2);
    t += h * w + h * h / 6 * (k1 + k2 + k3);
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return t;
}

class NFourBar : public ::testing::TestWithParam<int> {};

TEST_P(NFourBar, PassesItsSingularPosesAsOnePendulum) {
  const int loops = GetParam();
  World world(scenes::n_four_bar(loops));
  const double energy = world.diagnostics().energy();
  double open = 0;
  run_for(world, 5, [&] { open = std::max(open, world.diagnostics().joint_error.position); });
  const double angle = pendulum_angle(loops, 5);
  EXPECT_GT(angle, 4 * 3.14);  // several full turns, four singular poses and more
  for (int i = 0; i <= loops; ++i) {
    const Vec3 middle = world.position("post_" + std::to_string(i));
    EXPECT_NEAR(middle.x(), i + 0.5 * std::sin(angle), 1e-6) << i;
    EXPECT_NEAR(middle.z(), 0.5 * std::cos(angle), 1e-6) << i;
    EXPECT_NEAR(middle.y(), 0, 1e-9);
  }
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-6 * energy);
  EXPECT_LT(open, 1e-7);
  int rows = 0;
  for (const Redundancy& r : world.redundancies()) rows += r.rows;
  EXPECT_EQ(rows, 3 * loops);
}

/// Steps under error control end anywhere, close to singular poses too; rows that still hold there must not be dropped, and
/// joints not be left open.
TEST(NFourBars, ReachTheToleranceThatIsAskedFor) {
  constexpr int loops = 20;
  constexpr double time = 5;
  const double angle = pendulum_angle(loops, time);
  for (const char* method : {"dormand_prince", "dormand_prince_8"}) {
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      Recipe recipe = recipes::exact();
      recipe.dt = 0.1;
      set(recipe, "integrator", method);
      set(recipe, "integrator.relative_tolerance", fmt::format("{}", tolerance));
      World world(scenes::n_four_bar(loops), recipe);
      run_for(world, time);
      double worst = 0;
      for (int i = 0; i <= loops; ++i)
        worst = std::max(
            worst,
            (world.position("post_" + std::to_string(i)) - Vec3(i + 0.5 * std::sin(angle), 0, 0.5 * std::cos(angle))).norm());
      EXPECT_LT(worst, 10 * tolerance * loops) << method << ", " << tolerance;
    }
  }
}

/// Whoever looks often makes steps end close to singular poses, where a joint that is left open by 1e-13 m turns into motion of
/// another branch.
TEST(NFourBars, LoseNothingWhereStepsEndNearSingularPoses) {
  for (const int loops : {1, 2, 5})
    for (const double dt : {0.01, 0.003})
      for (const char* tolerance : {"1e-7", "1e-9", "1e-10"}) {
        Recipe recipe = recipes::exact();
        recipe.dt = dt;
        set(recipe, "integrator", "dormand_prince_8");
        set(recipe, "integrator.relative_tolerance", tolerance);
        World world(scenes::n_four_bar(loops), recipe);
        const double energy = world.diagnostics().energy();
        run_for(world, 3);
        EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-5 * energy) << loops << ", " << dt << ", " << tolerance;
      }
}

INSTANTIATE_TEST_SUITE_P(Loops, NFourBar, ::testing::Values(1, 2, 10, 24), ::testing::PrintToStringParamName());

// Rows that follow from others of their loop: as many as the rank of the whole leaves over, and what is kept has that rank.

/// The Jacobian of some rows, dense, each of length one.
MatX dense(const ConstraintProblem& problem, const std::vector<int>& left_out) {
  MatX out = MatX::Zero(problem.rows() - static_cast<Eigen::Index>(left_out.size()), 6 * problem.bodies());
  Eigen::Index at = 0;
  for (const ConstraintBlock& block : problem.blocks)
    for (int row = block.first_row; row < block.first_row + block.rows; ++row) {
      if (std::ranges::binary_search(left_out, row)) continue;
      if (block.body_a >= 0) out.row(at).segment<6>(6 * block.body_a) = problem.J_a.row(row);
      if (block.body_b >= 0) out.row(at).segment<6>(6 * block.body_b) = problem.J_b.row(row);
      out.row(at++).normalize();
    }
  return out;
}

Eigen::Index rank(const MatX& J) {
  Eigen::ColPivHouseholderQR<MatX> qr(J.transpose());
  qr.setThreshold(1e-7);
  return qr.rank();
}

class LoopRows : public ::testing::TestWithParam<const char*> {};

TEST_P(LoopRows, AreThoseThatTheRankLeavesOver) {
  World world(*scenes::build(GetParam()));
  world.keep_problems(true);
  world.step();
  const ConstraintProblem& problem = world.problem(0);
  std::vector<char> ambiguous(static_cast<std::size_t>(problem.rows()), 0);
  const std::vector<int> dropped = rows_that_follow_in_loops(problem, 1, 1e-10, {}, ambiguous);
  const MatX whole = dense(problem, {});
  EXPECT_EQ(static_cast<Eigen::Index>(dropped.size()), whole.rows() - rank(whole));
  EXPECT_EQ(rank(dense(problem, dropped)), rank(whole));

  // A row takes part in some dependence exactly where the rank is the same without it.
  for (int row = 0; row < problem.rows(); row += 1 + problem.rows() / 40)
    EXPECT_EQ(ambiguous[static_cast<std::size_t>(row)] != 0, rank(dense(problem, {row})) == rank(whole)) << row;
}

INSTANTIATE_TEST_SUITE_P(Scenes, LoopRows, ::testing::Values("four_bar", "n_four_bar_1", "n_four_bar_7", "bricard", "pendulum"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rotule
