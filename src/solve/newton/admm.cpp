// The alternating direction method of multipliers. With z the copy of x that keeps to the laws, v its velocity and a diagonal S:
//   (A + S) x = b - shift + S z + v,    z = P(r - S^-1 v),    v += S (z - r),   r = a x + (1 - a) z_old  (over-relaxation a),
// P the projection on cones and bounds in the metric S, shift De Saxce's, from the v of the last iteration. A + S is factored
// once per penalty; the penalty follows the ratio of the two residuals, |x - z| and |z - z_old|, and is changed seldom. Boyd et
// al., Found. Trends Mach. Learn. 3 (2011); Stellato et al., "OSQP", Math. Program. Comput. 12 (2020), for the penalty. Cheap
// iterations, robust, linear convergence: slow where mass ratios are large.
#include <rotule/solvers/admm.h>

#include "base/budget.h"
#include "solve/best_answer.h"
#include "solve/newton/block_system.h"
#include "solve/newton/contact_law.h"
#include "solve/newton/friction_cones.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct Admm {
  BlockSystem linear;
  std::vector<BlockSet> sets;
  BestAnswer answer;
  std::vector<double> rho, w, z, z_old, v, F, A_x;

  void resize(int rows) {
    for (auto* u : {&rho, &w, &z, &z_old, &v, &F, &A_x}) u->resize(rows);
  }
  void factor(const ConstraintProblem& problem, double penalty) {
    for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
      const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
      std::fill_n(linear.T(i), n * n, 0.0);
      std::fill_n(linear.E(i), n * n, 0.0);
      linear.set_alone(i, false);
      for (int r = 0; r < n; ++r) {
        linear.T(i)[r * n + r] = penalty / rho[first + r];
        linear.E(i)[r * n + r] = 1;
      }
    }
    linear.factor(problem, rho);
  }
  void project(const ConstraintProblem& problem, double penalty);
};

/// z, in place, onto the laws of its block.
void Admm::project(const ConstraintProblem& problem, double penalty) {
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    if (sets[i].kind == RowSet::bilateral) continue;
    const bool contact = sets[i].kind == RowSet::contact;
    if (contact) {
      FrictionCone groups[6];
      double D[36], inverse_S[6];
      for (int k = 0; k < n; ++k) inverse_S[k] = rho[first + k] / penalty;
      const int count = cones_of(problem, block, sets[i], groups);
      project_on_cones(inverse_S, n, groups, count, z.data() + first, D);
    }
    const auto own_bounds = [&](int row) { z[row] = std::clamp(z[row], problem.lower[row], problem.upper[row]); };
    walk_laws(friction_of(problem, sets[i]), contact ? first + 1 : first, first + n, own_bounds, [](const FrictionRows&) {});
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const AdmmSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int check_every = 5, adjust_every = 20;
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& work = workspace.get<Admm>();
  BestAnswer& answer = work.answer;
  answer.begin(problem, settings.name, report);
  const int n = problem.rows();
  work.linear.prepare(problem);
  work.resize(n);
  classify(problem, work.sets);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    choose_rho(problem, problem.blocks[i], work.sets[i], work.linear.diagonal(static_cast<int>(i)),
               work.rho.data() + problem.blocks[i].first_row);
  std::fill(work.z.begin(), work.z.end(), 0.0);
  answer.consider(work.z);
  std::copy_n(problem.x0.data(), n, work.z.begin());
  answer.consider(work.z);
  std::ranges::copy(answer.best_x(), work.z.begin());
  work.linear.product(problem, work.z, work.w);
  for (int r = 0; r < n; ++r) work.w[r] -= problem.b[r];
  for (int r = 0; r < n; ++r) work.v[r] = std::isfinite(problem.lower[r]) && work.w[r] > 0 ? work.w[r] : 0.0;

  double penalty = settings.penalty;
  if (answer.best() > settings.tolerance) work.factor(problem, penalty);
  while (answer.best() > settings.tolerance && report.iterations < settings.max_iterations && !Budget::spent()) {
    ++report.iterations;
    Budget::count();
    // F = -(b - shift + S z + v), for (S + A) x = -F.
    for (int r = 0; r < n; ++r) work.F[r] = -(problem.b[r] + penalty / work.rho[r] * work.z[r] + work.v[r]);
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
      if (work.sets[i].kind != RowSet::contact) continue;
      FrictionCone groups[6];
      const int first = problem.blocks[i].first_row, count = cones_of(problem, problem.blocks[i], work.sets[i], groups);
      for (int g = 0; g < count; ++g)
        work.F[first] += groups[g].mu * length_of(work.v.data() + first, groups[g].begin, groups[g].end);
    }
    work.linear.solve(problem, work.F, x, work.A_x, 1e-10, 1);
    std::copy(work.z.begin(), work.z.end(), work.z_old.begin());
    for (int r = 0; r < n; ++r) {
      const double relaxed = settings.relaxation * x[r] + (1 - settings.relaxation) * work.z_old[r];
      work.z[r] = relaxed - work.rho[r] / penalty * work.v[r];
      work.F[r] = relaxed;
    }
    work.project(problem, penalty);
    double primal = 0, dual = 0;
    for (int r = 0; r < n; ++r) {
      const double S = penalty / work.rho[r];
      work.v[r] += S * (work.z[r] - work.F[r]);
      primal += (x[r] - work.z[r]) * (x[r] - work.z[r]) / work.rho[r];
      dual += S * S * (work.z[r] - work.z_old[r]) * (work.z[r] - work.z_old[r]) * work.rho[r];
    }
    if (report.iterations % check_every == 0 && answer.consider(work.z) <= settings.tolerance) break;
    if (report.iterations % adjust_every == 0 && primal > 0 && dual > 0) {
      const double ratio = std::sqrt(std::sqrt(primal / dual));
      if (ratio > 2 || ratio < 0.5) {
        penalty = std::clamp(penalty * std::clamp(ratio, 0.1, 10.0), 1e-8, 1e8);
        work.factor(problem, penalty);
      }
    }
    if (!std::isfinite(primal)) break;
  }
  answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
