// Anderson's acceleration of a sweep of block Gauss-Seidel (anderson_mixing.h). On a settled active set it is near GMRES over
// Gauss-Seidel; while the set changes it may gain nothing.
#include <rotule/solvers/anderson.h>

#include "linalg/anderson_mixing.h"
#include "solve/iteration.h"
#include "solve/rival.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Anderson {
  BlockSweeps sweeps;
  BestAnswer answer;
  std::vector<double> f;
  AndersonMixing mixing;
};

}  // namespace

void solve(const ConstraintProblem& problem, const AndersonSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Anderson>();
  const std::size_t n = x.size();
  Iteration loop(problem, settings, work.answer, report);
  Outlook outlook(workspace.get<Rival>());
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    work.f.resize(n);
    work.mixing.begin(n, n, settings.window);
    blocks.op().start(x);
    while (loop.goes_on()) {
      std::copy(x.begin(), x.end(), work.f.begin());
      const double estimate = blocks.sweep(false, 1, x) / loop.scale();
      ++report.iterations;
      if (loop.ends(estimate, x)) break;
      if (outlook.hopeless(estimate, loop.goal())) {
        loop.solved(x);
        break;
      }
      for (std::size_t i = 0; i < n; ++i) work.f[i] = x[i] - work.f[i];
      if (work.mixing.mix(work.answer.metric(), work.f.data(), x)) blocks.op().start(x);
    }
  });
  loop.finish(x);
}

}  // namespace rotule
