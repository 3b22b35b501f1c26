// Accelerated projected gradient descent after Nesterov (1983), as Mazhar, Heyn, Negrut, Tasora (2015) use it for contact:
//   x_k+1 = P(y_k - D^-1 g(y_k) / L),   y_k+1 = x_k+1 + beta_k (x_k+1 - x_k),
// with L found by backtracking and let down again, and restarts where the last step went up the gradient (O'Donoghue, Candes
// 2015). The convex problem is convex_law.h's, whose shift and sizes follow x, so that the end obeys Coulomb's own law. D is a
// scalar per contact: masses that differ much between bodies are evened out, not within a contact. Iterations grow with the
// square root of the condition number of D^-1 A. The gradients of x and y come from one product per step, as they are linear.
#include <rotule/solvers/apgd.h>

#include "base/budget.h"
#include "solve/gradient/held_law.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Apgd {
  BlockSweeps operators;
  BestAnswer answer;
  ConvexLaw law;
  std::vector<double> y, w, w_y, next, w_next, psi;
};

}  // namespace

void solve(const ConstraintProblem& problem, const ApgdSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Apgd>();
  ConvexLaw& law = work.law;
  const std::size_t n = x.size();
  Iteration loop(problem, settings, work.answer, report, products_per_check);
  work.operators.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    law.prepare(problem, blocks.op());
    for (auto* v : {&work.y, &work.w, &work.w_y, &work.next, &work.w_next, &work.psi}) v->resize(n);
    const std::span<const double> d = law.metric();
    auto &y = work.y, &w = work.w, &w_y = work.w_y, &next = work.next, &w_next = work.w_next, &psi = work.psi;
    HeldLaw held(blocks, law, work.answer, loop, psi);
    held.start(x, w);
    std::copy(x.begin(), x.end(), y.begin());
    std::copy(w.begin(), w.end(), w_y.begin());
    double theta = 1, L = 1;
    while (loop.goes_on()) {
      std::copy(w_y.begin(), w_y.end(), psi.begin());
      law.add_shift(psi);  // the gradient at y
      for (;;) {
        for (std::size_t i = 0; i < n; ++i) next[i] = y[i] - psi[i] / (L * d[i]);
        law.project(next);
        blocks.op().residual(next, w_next);
        ++report.iterations;
        double curvature = 0, length = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double step = next[i] - y[i];
          curvature += step * (w_next[i] - w_y[i]);
          length += step * step * d[i];
        }
        if (!(curvature > L * length * (1 + 1e-9)) || report.iterations >= settings.max_iterations || Budget::over()) break;
        L = std::max(2 * L, curvature / length);
      }
      double uphill = 0;
      for (std::size_t i = 0; i < n; ++i) uphill += psi[i] * (next[i] - x[i]);
      const double theta_next = 0.5 * theta * (std::sqrt(theta * theta + 4) - theta);
      double beta = theta * (1 - theta) / (theta * theta + theta_next);
      theta = theta_next;
      if (uphill > 0) {
        theta = 1;
        beta = 0;
      }
      for (std::size_t i = 0; i < n; ++i) {
        y[i] = next[i] + beta * (next[i] - x[i]);
        w_y[i] = w_next[i] + beta * (w_next[i] - w[i]);
        x[i] = next[i];
        w[i] = w_next[i];
      }
      L *= 0.95;

      if (held.ends(x, w)) break;
      if (held.follows(x, w)) {
        std::copy(x.begin(), x.end(), y.begin());
        std::copy(w.begin(), w.end(), w_y.begin());
        theta = 1;
      }
    }
  });
  loop.finish(x);
}

}  // namespace rotule
