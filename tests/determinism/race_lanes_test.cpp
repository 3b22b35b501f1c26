// The race of relaxations (solver pgs) gives the same bits whatever the width of lanes.
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rotule/solvers/pgs.h>

#include <array>
#include <vector>

#include "solve/solve.h"
#include "support/contact_problems.h"

namespace rotule {
namespace {

std::vector<double> raced(const ConstraintProblem& problem) {
  std::vector<double> x(static_cast<std::size_t>(problem.rows()));
  Workspace workspace;
  SolveReport report;
  solve(problem, PgsSettings{.relaxation = automatic_relaxation, .tolerance = 1e-10, .max_iterations = 120}, workspace, x,
        report);
  return x;
}

TEST(RaceLanes, OneAnswerForAllWidths) {
  for (const bool cone : {true, false})
    for (const ConstraintProblem& problem : {testing::sphere_pile(40, {.cone = cone}), testing::jointed_arm(5, {.cone = cone})}) {
      const std::vector<double> widest = raced(problem);
      for (const std::int64_t target : std::array<std::int64_t, 3>{HWY_AVX2, HWY_SSE4, HWY_SCALAR}) {
        hwy::SetSupportedTargetsForTest(target | HWY_SCALAR);
        hwy::GetChosenTarget().DeInit();
        EXPECT_EQ(raced(problem), widest) << hwy::TargetName(target);
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
      }
    }
}

}  // namespace
}  // namespace rotule
