#pragma once
// Successive over-relaxation by blocks: for each block i in turn, x_i += omega A_ii^-1 (b_i - (A x)_i), where A x is never
// formed: the velocities u = M^-1 J^T x are kept up to date, as impulse solvers do, and (A x)_i = J_i u + C_i x_i. Converges for
// omega in (0, 2) on consistent semidefinite systems (Keller 1965), slowly on long chains and large mass ratios. The true
// residual, with u recomputed from x, is asked every few sweeps.
#include <span>

#include "solve/solve.h"

namespace rotule {

/// The sweeps that sor and gauss_seidel (omega = 1) share; `solver` is named in errors.
void relax_blocks(const ConstraintProblem& problem, const SorSettings& settings, const char* solver, Workspace& workspace,
                  std::span<double> x, SolveReport& report);

}  // namespace rotule
