// Gauss-Seidel by blocks with exact local solves (local_solver.h): x_i <- the solution of block i's own problem, all others held.
// Jourdan, Alart, Jean (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems"; known as NSGS.
// Converges linearly, and slowly where information has far to go (tall stacks, long chains) or masses differ much: the error
// falls by a factor that nears 1 with the condition number of A. With very large friction it may wander without end: the best x
// seen is returned, and the report says that it did not converge.
#include <rotule/solvers/block_gauss_seidel.h>

#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct BlockGaussSeidel {
  BlockSweeps sweeps;
  BestAnswer answer;
};

}  // namespace

void solve(const ConstraintProblem& problem, const BlockGaussSeidelSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int sweeps_per_start = 100;
  auto& work = workspace.get<BlockGaussSeidel>();
  Iteration loop(problem, settings, work.answer, report);
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    while (loop.goes_on()) {
      if (report.iterations % sweeps_per_start == 0) blocks.op().start(x);
      const double estimate = blocks.sweep(settings.symmetric && report.iterations % 2, settings.relaxation, x) / loop.scale();
      ++report.iterations;
      if (loop.ends(estimate, x)) break;
    }
  });
  loop.finish(x);
}

}  // namespace rotule
