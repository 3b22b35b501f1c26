#pragma once
// Projected Gauss-Seidel by rows (D4), with relaxation alpha and regularisation kappa:
//   Delta_i = (b_i - sum_{j != i} A_ij x_j) / (A_ii + kappa),   x_i <- clamp(x_i + alpha (Delta_i - x_i), lower_i, upper_i).
// Bounds of a friction box follow the normal's x as it is at that moment. The rows of a cone take one step together, with one
// step length, and are projected on the disk |t| <= mu x_n. Stops at max_iterations, at |delta x| <= change_tolerance, at
// sum |psi| <= error_tolerance, or at the relative residual `tolerance`.
// Cryer (1971) for relaxation with bounds. Converges linearly, and slowly with tall stacks, long chains and large mass ratios;
// for alpha = 2 not at all in general. kappa > 0 solves a softer problem: the residual of the given one stays above zero.
#include <span>

#include "solve/solve.h"

namespace rotule {

/// What pgs and psor share; `solver` is named in errors.
void relax_rows(const ConstraintProblem& problem, const PgsSettings& settings, const char* solver, Workspace& workspace,
                std::span<double> x, SolveReport& report);

}  // namespace rotule
