// Projected Jacobi by blocks, damped: x_i <- x_i + omega (X_i(x) - x_i), X_i being the solution of block i's own problem while
// all others are held (local_solver.h). A mean of points of a convex set, x stays feasible. Converges for omega below 2 over the
// largest eigenvalue of the block-scaled A, which is near the number of contacts that a body has; that number is not asked for:
// where the residual grows, the method goes back to an earlier x and damps more. Slower than Gauss-Seidel by a factor of several;
// its rounds do not depend on each other.
#include <rotule/solvers/jacobi.h>

#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Jacobi {
  BlockSweeps sweeps;
  BestAnswer answer;
  std::vector<double> w, kept;
};

}  // namespace

void solve(const ConstraintProblem& problem, const JacobiSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int sweeps_per_mark = 25;
  auto& work = workspace.get<Jacobi>();
  Iteration loop(problem, settings, work.answer, report);
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    work.w.resize(x.size());
    work.kept.assign(x.begin(), x.end());
    double omega = settings.relaxation, at_mark = infinity;  // the estimate when x was last kept
    int idle_marks = 0;
    while (loop.goes_on()) {
      blocks.op().residual(x, work.w);
      double squares = 0;
      for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
        const ConstraintBlock& block = problem.blocks[i];
        double target[6];
        double* const x_i = x.data() + block.first_row;
        std::copy_n(x_i, block.rows, target);
        squares += blocks.local().solve(i, work.w.data() + block.first_row, target);
        for (int r = 0; r < block.rows; ++r) x_i[r] += omega * (target[r] - x_i[r]);
      }
      ++report.iterations;
      const double estimate = std::sqrt(squares) / loop.scale();
      if (estimate > 4 * at_mark) {
        omega = std::max(0.7 * omega, 1e-3);
        std::copy(work.kept.begin(), work.kept.end(), x.begin());
        continue;
      }
      if (report.iterations % sweeps_per_mark == 0) {
        // No gain for several marks in a row is a cycle between projections, which smaller steps end.
        idle_marks = estimate < 0.999 * at_mark ? 0 : idle_marks + 1;
        if (idle_marks == 4) {
          omega = std::max(0.8 * omega, 1e-3);
          idle_marks = 0;
        }
        at_mark = estimate;
        std::copy(x.begin(), x.end(), work.kept.begin());
      }
      if (loop.ends(estimate, x)) break;
    }
  });
  loop.finish(x);
}

}  // namespace rotule
