// Gauss-Seidel by blocks (block_sweep.h), colour after colour (colouring.h): the blocks of one colour do not see each other, so
// they are solved in parallel, and the result has the same bits on any number of threads. Another order than that of the
// problem, and otherwise the same method: it converges as block Gauss-Seidel does. Threads pay where a colour has hundreds of
// blocks; a body with very many contacts makes many small colours.
#include <rotule/solvers/coloured_gauss_seidel.h>

#include "base/parallel.h"
#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"
#include "solve/sweep/colouring.h"

namespace rotule {

namespace {

struct ColouredGaussSeidel {
  BlockSweeps sweeps;
  BestAnswer answer;
  Colouring colouring;
  std::vector<double> squares;  // per part of a colour
};

}  // namespace

void solve(const ConstraintProblem& problem, const ColouredGaussSeidelSettings& settings, Workspace& workspace,
           std::span<double> x, SolveReport& report) {
  constexpr int sweeps_per_start = 100, blocks_per_part = 64;
  auto& work = workspace.get<ColouredGaussSeidel>();
  Iteration loop(problem, settings, work.answer, report);
  work.colouring.assign(problem);
  work.squares.resize(problem.blocks.size() / blocks_per_part + 1);
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    while (loop.goes_on()) {
      if (report.iterations % sweeps_per_start == 0) blocks.op().start(x);
      double squares = 0;
      for (int colour = 0; colour < work.colouring.colours(); ++colour) {
        const std::span<const std::int32_t> members = work.colouring.blocks(colour);
        const int parts = (static_cast<int>(members.size()) + blocks_per_part - 1) / blocks_per_part;
        parallel_for(parts, settings.threads, [&](int part) {
          const std::size_t first = static_cast<std::size_t>(part) * blocks_per_part;
          double sum = 0;
          for (std::size_t k = first; k < std::min(first + blocks_per_part, members.size()); ++k)
            sum += blocks.relax(members[k], settings.relaxation, x);
          work.squares[part] = sum;
        });
        for (int part = 0; part < parts; ++part) squares += work.squares[part];
      }
      ++report.iterations;
      const double estimate = std::sqrt(squares) / loop.scale();
      if (loop.ends(estimate, x)) break;
    }
  });
  loop.finish(x);
}

}  // namespace rotule
