// D5's splitting: joints are eliminated, normals and bounded rows solved exactly by block principal pivoting with friction held
// (block_pivots.h), then friction by a few projected sweeps with the normals held, in turn. A fixed point of these turns obeys
// Coulomb's law exactly, as a box or as a cone: a disk whose radius is mu times the normal, row by row.
// The turns need not converge where friction and normals depend strongly on each other (large mu, wedged bodies): reported.
#include <rotule/solvers/split_pivoting.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "problem/cone.h"
#include "solve/pivot/block_pivots.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct SplitMemory {
  DenseProblem problem;
  BlockPivots pivots;
  VecX centre, best;
  std::vector<double> step;  // per friction group, one over the largest eigenvalue of its block
  std::vector<std::int32_t> rows;
};

/// One over an upper bound of the block's largest eigenvalue: exact for one and two rows.
double step_length(const DenseProblem::Matrix& A, int first, int count) {
  if (count == 1) return 1 / A(first, first);
  if (count == 2) {
    const double p = A(first, first), q = A(first + 1, first + 1), r = A(first, first + 1);
    return 2 / (p + q + std::hypot(p - q, 2 * r));
  }
  double trace = 0;
  for (int k = 0; k < count; ++k) trace += A(first + k, first + k);
  return 1 / trace;
}

/// Each group in turn: towards w = 0 within its disk or box, a few times.
void sweep_friction(DenseProblem& p, std::span<const double> steps) {
  constexpr int inner = 4;
  const auto& groups = p.schur.reduced.friction;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const FrictionRows& f = groups[g];
    const double normal = std::max(0.0, p.x[f.normal_row]);
    double w[6], t[6];
    for (int k = 0; k < f.count; ++k) {
      t[k] = p.x[f.first_row + k];
      w[k] = p.A.row(f.first_row + k).dot(p.x) - p.b[f.first_row + k];
    }
    for (int pass = 0; pass < inner; ++pass) {
      double moved[6];
      for (int k = 0; k < f.count; ++k) moved[k] = t[k] - steps[g] * w[k];
      if (f.cone)
        project_on_disk(p.mu[f.first_row] * normal, f.count, moved);
      else
        for (int k = 0; k < f.count; ++k) {
          const double limit = p.mu[f.first_row + k] * normal;
          moved[k] = std::clamp(moved[k], -limit, limit);
        }
      for (int k = 0; k < f.count; ++k)
        for (int j = 0; j < f.count; ++j) w[k] += p.A(f.first_row + k, f.first_row + j) * (moved[j] - t[j]);
      std::copy_n(moved, f.count, t);
    }
    for (int k = 0; k < f.count; ++k) p.x[f.first_row + k] = t[k];
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const SplitPivotingSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& memory = workspace.get<SplitMemory>();
  DenseProblem& p = memory.problem;
  if (p.start_is_answer(problem, settings.name, settings.tolerance, x, report)) return;
  p.load(problem, settings.name, true, report);
  memory.rows.clear();
  for (int i = 0; i < p.size(); ++i)
    if (p.normal[i] < 0) memory.rows.push_back(i);
  memory.step.clear();
  for (const FrictionRows& f : p.schur.reduced.friction) memory.step.push_back(step_length(p.A, f.first_row, f.count));

  const double target = 0.1 * settings.tolerance;  // the reduced problem's judge knows no bodies, and is the milder one
  double least = p.judge();
  memory.best = p.x;
  if (least > target) p.guess_states();
  while (least > target && report.iterations < settings.max_iterations && !Budget::spent()) {
    memory.centre = p.x;
    bool done = false;
    memory.pivots.solve(p, memory.rows, memory.centre, 100 + 4 * p.size(), 10, done);
    for (int k = 0; k < settings.friction_sweeps; ++k) sweep_friction(p, memory.step);
    ++report.iterations;
    const double now = p.judge();
    if (now < least) {
      least = now;
      memory.best = p.x;
    }
  }
  p.x = memory.best;
  p.finish(problem, settings.tolerance, x, report);
}

}  // namespace rotule
