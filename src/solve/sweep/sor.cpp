// Successive over-relaxation by blocks: for each block i in turn, x_i += omega A_ii^-1 (b_i - (A x)_i), where A x is never
// formed: the velocities u = M^-1 J^T x are kept up to date, as impulse solvers do, and (A x)_i = J_i u + C_i x_i. Converges for
// omega in (0, 2) on consistent semidefinite systems (Keller 1965), slowly on long chains and large mass ratios. The true
// residual, with u recomputed from x, is asked every few sweeps.
#include <rotule/error.h>
#include <rotule/solvers/sor.h>

#include "base/budget.h"
#include "solve/diagonal_blocks.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct Relaxation {
  DiagonalBlocks blocks;
  std::vector<double> velocities;
  RefinementScratch residual;
};

/// One pass over all blocks.
void sweep(const ConstraintProblem& problem, double omega, Relaxation& work, std::span<double> x) {
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    double step[6];
    for (int k = 0; k < block.rows; ++k) {
      const int r = block.first_row + k;
      step[k] = problem.b[r] - problem.C[r] * x[r] - row_velocity(problem, block, r, work.velocities);
    }
    work.blocks.divide(i, block.rows, step);
    for (int k = 0; k < block.rows; ++k) {
      step[k] *= omega;
      x[block.first_row + k] += step[k];
    }
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      Vec6 impulse = Vec6::Zero();
      for (int k = 0; k < block.rows; ++k) impulse += J.row(first + k).transpose() * step[k];
      Eigen::Map<Vec6>(work.velocities.data() + 6 * body) += multiply_inverse_mass(problem, body, impulse);
    });
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const SorSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int sweeps_per_check = 10;
  auto& work = workspace.get<Relaxation>();
  clear(report, problem.rows());
  work.blocks.factor(problem);
  work.residual.resize(problem);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  report.residual = residual_into(problem, x, work.residual);
  while (report.residual > settings.tolerance && report.iterations < settings.max_iterations && !Budget::spent()) {
    work.velocities.assign(6 * problem.bodies(), 0.0);
    apply_impulses(problem, x, work.velocities);
    for (int k = 0; k < sweeps_per_check && report.iterations < settings.max_iterations && !Budget::over();
         ++k, ++report.iterations) {
      sweep(problem, settings.relaxation, work, x);
      Budget::count();
    }
    report.residual = residual_into(problem, x, work.residual);
  }
  if (!std::isfinite(report.residual))
    throw Error("solver sor", "the residual is not finite; check masses, Jacobians and relaxation");
  report.converged = report.residual <= settings.tolerance;
}

}  // namespace rotule
