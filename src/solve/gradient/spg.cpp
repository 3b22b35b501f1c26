// Spectral projected gradients (Birgin, Martinez, Raydan 2000): d = P(x - alpha D^-1 g) - x with Barzilai's and Borwein's step
// length alpha = s^T D s / s^T A s of the last step s, and a line search that lets the objective rise above its last value but
// not above the largest of the last few (Grippo, Lampariello, Lucidi 1986); the objective being quadratic, it needs no products
// beyond A d. The convex problem is convex_law.h's, whose shift and sizes follow x, so that the end obeys Coulomb's own law; each
// time they do, the objective changes and its history begins anew. As with all gradients, the condition number of D^-1 A decides.
#include <rotule/solvers/spg.h>

#include "solve/gradient/held_law.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Spg {
  BlockSweeps operators;
  BestAnswer answer;
  ConvexLaw law;
  std::vector<double> w, g, step, A_step, psi, history;
};

}  // namespace

void solve(const ConstraintProblem& problem, const SpgSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int products_per_start = 100;
  constexpr double sufficient = 1e-4, smallest_alpha = 1e-10, largest_alpha = 1e10;
  auto& work = workspace.get<Spg>();
  ConvexLaw& law = work.law;
  const std::size_t n = x.size();
  Iteration loop(problem, settings, work.answer, report, products_per_check);
  work.operators.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    law.prepare(problem, blocks.op());
    for (auto* v : {&work.w, &work.g, &work.step, &work.A_step, &work.psi}) v->resize(n);
    const std::span<const double> d = law.metric();
    auto &w = work.w, &g = work.g, &step = work.step, &A_step = work.A_step, &psi = work.psi, &history = work.history;
    const auto memory = static_cast<std::size_t>(settings.memory);
    history.clear();
    history.reserve(memory);
    std::size_t oldest = 0;
    double value = 0;  // of the objective, up to a constant
    double alpha = 1;
    const auto begin_history = [&] {
      value = 0;
      history.assign(1, 0.0);
      oldest = 0;
    };
    HeldLaw held(blocks, law, work.answer, loop, psi);
    held.start(x, w);
    begin_history();
    while (loop.goes_on()) {
      if (report.iterations % products_per_start == 0) blocks.op().residual(x, w);
      std::copy(w.begin(), w.end(), g.begin());
      law.add_shift(g);
      for (std::size_t i = 0; i < n; ++i) step[i] = x[i] - alpha * g[i] / d[i];
      law.project(step);
      double slope = 0, length = 0;
      for (std::size_t i = 0; i < n; ++i) {
        step[i] -= x[i];
        slope += g[i] * step[i];
        length += d[i] * step[i] * step[i];
      }
      blocks.op().residual(step, A_step);
      ++report.iterations;
      double curvature = 0;
      for (std::size_t i = 0; i < n; ++i) {
        A_step[i] += problem.b[i];
        curvature += step[i] * A_step[i];
      }
      // f(x + t step) = value + t slope + t^2 curvature / 2.
      const double highest = *std::max_element(history.begin(), history.end());
      double t = 1;
      if (value + slope + 0.5 * curvature > highest + sufficient * slope && curvature > 0)
        t = std::clamp(-slope / curvature, 0.0, 1.0);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] += t * step[i];
        w[i] += t * A_step[i];
      }
      value += t * slope + 0.5 * t * t * curvature;
      if (history.size() < memory) {
        history.push_back(value);
      } else {
        history[oldest] = value;
        oldest = (oldest + 1) % memory;
      }
      alpha = curvature > 0 ? std::clamp(length / curvature, smallest_alpha, largest_alpha) : largest_alpha;
      if (!(length > 0)) alpha = 1;

      if (held.ends(x, w)) break;
      if (held.follows(x, w)) {
        begin_history();
      }
    }
  });
  loop.finish(x);
}

}  // namespace rotule
