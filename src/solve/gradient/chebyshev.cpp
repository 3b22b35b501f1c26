// Chebyshev's semi-iteration over block Gauss-Seidel to and fro, S(x), whose eigenvalues are real and lie in [0, rho]:
//   x_k+1 = omega_k+1 (gamma (S(x_k) - x_k) + x_k - x_k-1) + x_k-1,   gamma = 2 / (2 - rho),   sigma = rho / (2 - rho),
//   omega_1 = 1, omega_2 = 1 / (1 - sigma^2 / 2), omega_k+1 = 1 / (1 - sigma^2 omega_k / 4).
// Golub, Varga (1961); for projections as in Wang (2015), "A Chebyshev semi-iterative approach for accelerating projective and
// position-based dynamics". rho is estimated from the ratio of successive changes in plain sweeps, and again after every period.
// The theory is that of linear systems: where the active set changes or rho was guessed too large, the residual grows; the method
// then goes back to its best x and starts over with plain sweeps.
#include <rotule/solvers/chebyshev.h>

#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Chebyshev {
  BlockSweeps sweeps;
  BestAnswer answer;
  std::vector<double> last, now, kept;
};

}  // namespace

void solve(const ConstraintProblem& problem, const ChebyshevSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr double largest_rho = 0.99999;
  auto& work = workspace.get<Chebyshev>();
  Iteration loop(problem, settings, work.answer, report);
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    for (auto* v : {&work.last, &work.now, &work.kept}) v->assign(x.begin(), x.end());
    blocks.op().start(x);
    const std::span<const double> d = work.answer.metric();
    double rho = 0, omega = 1, change = 0, smallest = infinity;
    int step = -settings.warm_up, period = 4 * settings.warm_up;  // negative steps are plain
    while (loop.goes_on()) {
      std::copy(x.begin(), x.end(), work.now.begin());
      const double estimate = blocks.sweep(false, 1, x) / loop.scale();
      blocks.sweep(true, 1, x);
      report.iterations += 2;
      if (loop.ends(estimate, x)) break;
      if (estimate < smallest) {
        smallest = estimate;
        std::copy(x.begin(), x.end(), work.kept.begin());
      } else if (step >= 0 && estimate > 4 * smallest) {  // it leads away: start over, with shorter periods
        std::copy(work.kept.begin(), work.kept.end(), x.begin());
        blocks.op().start(x);
        step = -settings.warm_up;
        period = std::max(settings.warm_up, period / 2);
        change = 0;
        smallest = infinity;  // from here on, what plain sweeps reach counts
        continue;
      }
      if (step < 0) {
        double squares = 0;
        for (std::size_t i = 0; i < x.size(); ++i) squares += d[i] * (x[i] - work.now[i]) * (x[i] - work.now[i]);
        const double ratio = change > 0 ? std::sqrt(squares) / change : 0.0;
        change = std::sqrt(squares);
        if (++step == 0) {
          rho = std::clamp(ratio, 0.0, largest_rho);
          omega = 1;
          std::copy(work.now.begin(), work.now.end(), work.last.begin());
        }
        continue;
      }
      // One accelerated step from S(x_k) = x, x_k = now, x_k-1 = last.
      const double gamma = 2 / (2 - rho), sigma = rho / (2 - rho);
      omega = step == 0 ? 1.0 : step == 1 ? 1 / (1 - sigma * sigma / 2) : 1 / (1 - sigma * sigma * omega / 4);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double next = omega * (gamma * (x[i] - work.now[i]) + work.now[i] - work.last[i]) + work.last[i];
        work.last[i] = work.now[i];
        x[i] = next;
      }
      blocks.op().start(x);
      if (++step == period) {
        step = -3;
        period = std::min(2 * period, 64 * settings.warm_up);
        change = 0;
      }
    }
  });
  loop.finish(x);
}

}  // namespace rotule
