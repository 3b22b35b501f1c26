// Gauss-Seidel by blocks: successive over-relaxation (sor.h) with relaxation 1.
#include "solve/sweep/sor.h"

namespace rotule {

void solve(const ConstraintProblem& problem, const GaussSeidelSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  const SorSettings plain{.relaxation = 1.0, .tolerance = settings.tolerance, .max_iterations = settings.max_iterations};
  relax_blocks(problem, plain, "gauss_seidel", workspace, x, report);
}

}  // namespace rotule
