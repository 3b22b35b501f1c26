// Projected successive over-relaxation: projected Gauss-Seidel by rows (pgs.h) under its own name, with relaxation 1.3 unless
// told otherwise.
#include "solve/sweep/pgs.h"

namespace rotule {

void solve(const ConstraintProblem& problem, const PsorSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  const PgsSettings rows{.relaxation = settings.relaxation,
                         .adaptive_relaxation = settings.adaptive_relaxation,
                         .storage = settings.storage,
                         .order = settings.order,
                         .tolerance = settings.tolerance,
                         .max_iterations = settings.max_iterations};
  relax_rows(problem, rows, "psor", workspace, x, report);
}

}  // namespace rotule
