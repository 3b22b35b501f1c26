// Projected Gauss-Seidel with subspace minimisation: a few sweeps of block Gauss-Seidel guess which rows are free (w = 0), which
// contacts are apart (x = 0) and which slide (x_t = mu x_n e, e the direction that the sweeps found); the linear system of that
// guess is solved, x put back within its bounds, and the guess renewed from the outcome as long as that helps; then again sweeps.
// Silcowitz, Niebe, Erleben, "Projected Gauss-Seidel subspace minimization method for interactive rigid body dynamics" (2010).
// Once the guess is right the answer is exact, but for the directions of sliding cones, which the sweeps must find. Where A is
// singular a small diagonal keeps the system regular. Slow where active sets keep changing (tall stacks).
#include <rotule/solvers/pgs_sm.h>

#include "base/budget.h"
#include "solve/best_answer.h"
#include "solve/newton/contact_system.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct PgsSm {
  ContactSystem system;
  BestAnswer answer;
  std::vector<double> w, dx, A_dx, sweeped;
};

constexpr double regularisation = 1e-8;

}  // namespace

void solve(const ConstraintProblem& problem, const PgsSmSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& work = workspace.get<PgsSm>();
  BestAnswer& answer = work.answer;
  answer.begin(problem, settings.name, report);
  const int n = problem.rows();
  work.system.prepare(problem);
  for (auto* v : {&work.w, &work.dx, &work.A_dx, &work.sweeped}) v->resize(n);
  const auto judge = [&] {
    work.system.velocities(problem, x, work.w);
    return answer.consider(x);
  };
  std::fill(x.begin(), x.end(), 0.0);
  judge();
  std::copy_n(problem.x0.data(), n, x.begin());
  judge();
  std::ranges::copy(answer.best_x(), x.begin());
  while (answer.best() > settings.tolerance && report.iterations < settings.max_iterations && !Budget::spent()) {
    ++report.iterations;
    Budget::count();
    work.system.sweep(problem, settings.sweeps, x);
    double last = judge();
    std::copy(x.begin(), x.end(), work.sweeped.begin());
    for (int k = 0; k < settings.subspace_steps && answer.best() > settings.tolerance; ++k) {
      work.system.evaluate(problem, x, work.w);
      work.system.freeze_directions(problem);
      work.system.factor(problem, regularisation);
      work.system.linear().solve(problem, work.system.law(), work.dx, work.A_dx);
      if (!all_finite(work.dx)) break;
      for (int r = 0; r < n; ++r) x[r] += work.dx[r];
      for (std::size_t i = 0; i < problem.blocks.size(); ++i) rotule::clamp(problem, problem.blocks[i], work.system.sets()[i], x);
      const double now = judge();
      if (!(now < last)) break;
      last = now;
      std::copy(x.begin(), x.end(), work.sweeped.begin());
    }
    std::copy(work.sweeped.begin(), work.sweeped.end(), x.begin());
  }
  answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
