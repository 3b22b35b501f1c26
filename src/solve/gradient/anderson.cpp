// Anderson's acceleration of a sweep of block Gauss-Seidel, G(x), with f(x) = G(x) - x: of the last m sweeps those weights are
// taken for which the combined f is smallest,
//   theta = argmin |f_k - sum theta_j (f_k-j+1 - f_k-j)|,   x_k+1 = G(x_k) - sum theta_j (G(x_k-j+1) - G(x_k-j)).
// Anderson (1965); Walker, Ni (2011). The least squares go by normal equations, slightly raised against dependence. Safeguard: an
// x at which the sweep changes more than twice (once, after such a failure) what it did before the step is given up for the plain
// sweep's x, and the history with it; plain sweeps follow, more of them each time that this happens again. On a settled active
// set it is near GMRES over Gauss-Seidel; while the set changes it may gain nothing.
#include <rotule/solvers/anderson.h>

#include "linalg/dense_ldlt.h"
#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Anderson {
  BlockSweeps sweeps;
  BestAnswer answer;
  std::vector<double> before, plain, f_last, G_last;
  std::vector<double> df, dG;                            // `window` columns of differences
  std::vector<double> gram, factor, theta, scale, work;  // of the normal equations
};

/// In the metric d, the rows' own entries of A.
double dot(std::span<const double> d, const double* a, const double* b) {
  const std::size_t n = d.size();
  double even = 0, odd = 0;
  std::size_t i = 0;
  for (; i + 1 < n; i += 2) {
    even += d[i] * a[i] * b[i];
    odd += d[i + 1] * a[i + 1] * b[i + 1];
  }
  return even + odd + (i < n ? d[i] * a[i] * b[i] : 0.0);
}

}  // namespace

void solve(const ConstraintProblem& problem, const AndersonSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Anderson>();
  const std::size_t n = x.size(), m = static_cast<std::size_t>(settings.window);
  Iteration loop(problem, settings, work.answer, report);
  work.sweeps.with_operator(problem, settings.storage, [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    const std::span<const double> d = work.answer.metric();
    for (auto* v : {&work.before, &work.plain, &work.f_last, &work.G_last}) v->resize(n);
    for (auto* v : {&work.df, &work.dG}) v->resize(n * m);
    for (auto* v : {&work.gram, &work.factor}) v->resize(m * m);
    for (auto* v : {&work.theta, &work.scale, &work.work}) v->resize(m);
    std::size_t held = 0, next = 0;  // columns in use, and the one to be written
    bool has_last = false;
    double accepted = infinity;  // length of f before the last accelerated step
    int plain_sweeps = 0, cool_down = 1, gained = 0;
    blocks.op().start(x);
    while (loop.goes_on()) {
      std::copy(x.begin(), x.end(), work.before.begin());
      const double estimate = blocks.sweep(false, 1, x) / loop.scale();
      ++report.iterations;
      if (loop.ends(estimate, x)) break;
      double* const f = work.before.data();  // x before becomes f
      for (std::size_t i = 0; i < n; ++i) f[i] = x[i] - f[i];
      const double length = std::sqrt(dot(d, f, f));
      if (length > (cool_down > 1 ? 1 : 2) * accepted) {
        std::copy(work.plain.begin(), work.plain.end(), x.begin());
        blocks.op().start(x);
        held = next = 0;
        has_last = false;
        accepted = infinity;
        gained = 0;
        plain_sweeps = cool_down;
        cool_down = std::min(2 * cool_down, 128);
        continue;
      }
      if (plain_sweeps > 0) {
        --plain_sweeps;
        continue;
      }
      if (++gained == 4 * settings.window) cool_down = 1;
      if (has_last) {
        double *const df = work.df.data() + n * next, *const dG = work.dG.data() + n * next;
        for (std::size_t i = 0; i < n; ++i) {
          df[i] = f[i] - work.f_last[i];
          dG[i] = x[i] - work.G_last[i];
        }
        held = std::min(held + 1, m);
        for (std::size_t j = 0; j < held; ++j)
          work.gram[next * m + j] = work.gram[j * m + next] = dot(d, df, work.df.data() + n * j);
        next = (next + 1) % m;
      }
      std::copy_n(f, n, work.f_last.begin());
      std::copy(x.begin(), x.end(), work.G_last.begin());
      has_last = true;
      std::copy(x.begin(), x.end(), work.plain.begin());
      accepted = length;
      if (held == 0) continue;
      for (std::size_t r = 0; r < held; ++r) {
        for (std::size_t c = 0; c < held; ++c) work.factor[r * held + c] = work.gram[r * m + c];
        work.scale[r] = work.factor[r * held + r];
        work.factor[r * held + r] *= 1 + 1e-12;
        work.theta[r] = dot(d, work.df.data() + n * r, f);
      }
      const int size = static_cast<int>(held);
      factor_dense_ldlt(work.factor.data(), size, 1e-14, work.scale.data(), work.work.data(), [](int) {});
      solve_dense_ldlt(work.factor.data(), size, work.theta.data());
      for (std::size_t j = 0; j < held; ++j)
        for (std::size_t i = 0; i < n; ++i) x[i] -= work.theta[j] * work.dG[n * j + i];
      blocks.op().start(x);
    }
  });
  loop.finish(x);
}

}  // namespace rotule
