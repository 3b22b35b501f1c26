#include "solve/solve.h"

#include <type_traits>

namespace rotule {

void solve(const ConstraintProblem& problem, const SolverSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  std::visit(
      [&](const auto& choice) {
        solve(problem, choice, workspace, x, report);
        if constexpr (!std::is_same_v<decltype(choice), const AutoSettings&>) report.solver = choice.name;
      },
      settings);
}

}  // namespace rotule
