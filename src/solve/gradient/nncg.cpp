// Nonsmooth nonlinear conjugate gradients: a sweep of block Gauss-Seidel, G(x), stands for a step down the gradient, and
//   g_k = G(x_k) - x_k,   beta = |g_k|^2 / |g_k-1|^2,   x_k+1 = G(x_k) + beta p_k-1,   p_k = beta p_k-1 + g_k,
// lengths being taken with the rows' own entries of A, restarted (p = 0) where beta > 1. Silcowitz-Hansen, Niebel, Erleben
// (2010), "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", with blocks in place of rows.
// Where the active set has settled it gains as conjugate gradients do on Gauss-Seidel; while it changes, restarts leave it a
// plain Gauss-Seidel. The residual does not fall monotonically; the best x is kept.
#include <rotule/solvers/nncg.h>

#include "solve/iteration.h"
#include "solve/rival.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Nncg {
  BlockSweeps sweeps;
  BestAnswer answer;
  std::vector<double> before, direction, u_before, u_direction;
};

/// p <- beta p + (now - before); now += beta p_old. Returns nothing: the linear part that x and the velocities share.
void conjugate(double beta, std::span<double> now, std::span<const double> before, std::span<double> p) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double old = beta * p[i], step = now[i] - before[i];
    now[i] += old;
    p[i] = old + step;
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const NncgSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int sweeps_per_start = 100;
  auto& work = workspace.get<Nncg>();
  Iteration loop(problem, settings, work.answer, report);
  Outlook outlook(workspace.get<Rival>());
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    const std::span<double> u = blocks.op().velocities();
    const std::span<const double> d = work.answer.metric();
    work.before.resize(x.size());
    work.u_before.resize(u.size());
    work.direction.assign(x.size(), 0.0);
    work.u_direction.assign(u.size(), 0.0);
    double last = 0;
    while (loop.goes_on()) {
      if (report.iterations % sweeps_per_start == 0) {
        blocks.op().start(x);
        last = 0;  // the direction's velocities have gathered rounding too
      }
      std::copy(x.begin(), x.end(), work.before.begin());
      std::copy(u.begin(), u.end(), work.u_before.begin());
      double estimate = blocks.sweep(false, 1, x);
      if (settings.symmetric) blocks.sweep(true, 1, x);
      estimate /= loop.scale();
      ++report.iterations;
      if (loop.ends(estimate, x)) break;
      if (outlook.hopeless(estimate, loop.goal())) {
        loop.solved(x);
        break;
      }
      double squares = 0;
      for (std::size_t i = 0; i < x.size(); ++i) squares += d[i] * (x[i] - work.before[i]) * (x[i] - work.before[i]);
      if (squares == 0) continue;
      double beta = last > 0 ? squares / last : 0.0;
      if (beta > 1) beta = 0;
      last = squares;
      conjugate(beta, x, work.before, work.direction);
      conjugate(beta, u, work.u_before, work.u_direction);
    }
  });
  loop.finish(x);
}

}  // namespace rotule
