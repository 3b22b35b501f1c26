#include "solve/solve.h"

namespace rotule {

void solve(const ConstraintProblem& problem, const SolverSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  std::visit([&](const auto& choice) { solve(problem, choice, workspace, x, report); }, settings);
}

}  // namespace rotule
