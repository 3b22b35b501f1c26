// Conjugate gradients on A x = b, preconditioned by the diagonal blocks of A, matrix-free, from x0.
// Hestenes and Stiefel (1952); Saad, "Iterative Methods for Sparse Linear Systems", algorithm 9.1.
// On a singular but consistent system it converges to a solution: all directions stay in the range of A. Iterations grow with the
// square root of the condition number: long chains and large mass ratios are for ldlt. Where equations contradict each other it
// stops at max_iterations with converged = false.
#include <rotule/error.h>
#include <rotule/solvers/cg.h>

#include "base/budget.h"
#include "solve/diagonal_blocks.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct ConjugateGradients {
  DiagonalBlocks blocks;
  std::vector<double> r, z, d, Ad, velocities, best;
  RefinementScratch residual;
};

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void solve(const ConstraintProblem& problem, const CgSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& cg = workspace.get<ConjugateGradients>();
  const std::size_t n = x.size();
  clear(report, problem.rows());
  for (auto* v : {&cg.r, &cg.z, &cg.d, &cg.Ad}) v->resize(n);
  cg.velocities.resize(6 * problem.bodies());
  cg.blocks.factor(problem);
  std::copy_n(problem.x0.data(), n, x.begin());
  cg.residual.resize(problem);
  // The recurrence's own measure is that of energy, r^T (blocks of A)^-1 r; how it compares with the judge's is learnt.
  double goal = 0.5 * settings.tolerance * cg.residual.judge.energy_scale();

  // The recurrence's residual drifts from the true one: when it says "done", the true one is asked, and the method restarted from
  // there if it disagrees; a restart that gains nothing means that rounding allows no more.
  double last = infinity;
  cg.best.assign(x.begin(), x.end());
  for (;;) {
    const double now = residual_into(problem, x, cg.residual);
    if (!std::isfinite(now)) throw Error("solver cg", "the residual is not finite; check masses, Jacobians and right-hand side");
    if (now < last) {
      report.residual = now;
      cg.best.assign(x.begin(), x.end());
    }
    if (now <= settings.tolerance || now > 0.5 * last || report.iterations >= settings.max_iterations || Budget::spent()) break;
    if (last < infinity) goal *= std::clamp(0.5 * settings.tolerance / now, 0.01, 1.0);
    last = now;
    std::copy(cg.residual.correction.begin(), cg.residual.correction.end(), cg.r.begin());

    double rz = 0;
    for (bool first = true; report.iterations < settings.max_iterations && !Budget::over(); ++report.iterations) {
      Budget::count();
      std::copy(cg.r.begin(), cg.r.end(), cg.z.begin());
      for (std::size_t i = 0; i < problem.blocks.size(); ++i)
        cg.blocks.divide(i, problem.blocks[i].rows, cg.z.data() + problem.blocks[i].first_row);
      const double next = dot(cg.r, cg.z);
      if (!(next > 0) || std::sqrt(next) <= goal) break;
      const double beta = first ? 0.0 : next / rz;
      first = false;
      rz = next;
      for (std::size_t i = 0; i < n; ++i) cg.d[i] = cg.z[i] + (beta == 0 ? 0.0 : beta * cg.d[i]);
      multiply(problem, cg.d, cg.velocities, cg.Ad);
      const double dAd = dot(cg.d, cg.Ad);
      if (!(dAd > 0)) break;
      const double alpha = rz / dAd;
      for (std::size_t i = 0; i < n; ++i) {
        x[i] += alpha * cg.d[i];
        cg.r[i] -= alpha * cg.Ad[i];
      }
    }
  }
  std::copy(cg.best.begin(), cg.best.end(), x.begin());
  report.converged = report.residual <= settings.tolerance;
}

}  // namespace rotule
