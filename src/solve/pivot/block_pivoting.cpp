// Block principal pivoting (D5) with bounds; see block_pivots.h for the method and its reference.
//
// A friction box is pivoted with the bounds that the last normals give, the bounds are renewed and pivoting starts again from the
// same index set. Between these turns the index set is tried with bounds that follow the normals (dense_problem.h): where it is
// right, that is the answer, and the turns end. Ends always on bounds alone; with friction the turns may cycle (no theory forbids
// it with large coefficients), which max_iterations ends and the report says.
#include <rotule/solvers/block_pivoting.h>

#include "base/budget.h"
#include "solve/pivot/block_pivots.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <numeric>

#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

void BlockPivots::solve_free(DenseProblem& p, const std::vector<std::int32_t>& rows, const VecX& centre) {
  free_.clear();
  for (const int i : rows) {
    if (p.state[i] == RowState::free)
      free_.push_back(i);
    else
      p.x[i] = p.state[i] == RowState::at_lower ? p.lower[i] : p.upper[i];
  }
  const auto n = static_cast<Eigen::Index>(free_.size());
  for (const int i : free_) p.x[i] = 0;
  rhs_.resize(p.size());
  if (factor_.rows() < p.size()) factor_.resize(p.size(), p.size());
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = free_[k];
    rhs_[k] = p.b[i] + p.regularisation * centre[i] - p.A.row(i).dot(p.x);
    for (Eigen::Index j = 0; j <= k; ++j) factor_(k, j) = p.A(i, free_[j]);
    factor_(k, k) += p.regularisation;
  }
  auto lower = factor_.topLeftCorner(n, n);
  Eigen::LLT<Eigen::Ref<DenseProblem::Matrix>> llt(lower);
  auto out = rhs_.head(n);
  llt.solveInPlace(out);
  for (Eigen::Index k = 0; k < n; ++k) p.x[free_[k]] = rhs_[k];
}

int BlockPivots::solve(DenseProblem& p, const std::vector<std::int32_t>& rows, const VecX& centre, int max_iterations,
                       int patience, bool& done) {
  std::size_t fewest = rows.size() + 1;
  int left = patience;
  done = false;
  for (const int i : rows) {
    const bool no_lower = p.lower[i] == -infinity, no_upper = p.upper[i] == infinity;
    if ((no_lower && p.state[i] == RowState::at_lower) || (no_upper && p.state[i] == RowState::at_upper))
      p.state[i] = RowState::free;
    if (p.lower[i] == p.upper[i]) p.state[i] = RowState::at_lower;
  }
  const double x_scale = std::max(p.x.lpNorm<Eigen::Infinity>(), 1e-300);
  for (int iteration = 1; iteration <= max_iterations; ++iteration) {
    if (iteration > 1 && Budget::spent()) return iteration - 1;
    Budget::count();
    solve_free(p, rows, centre);
    p.update_w();
    const double tiny_x = 1e-13 * std::max(x_scale, p.x.lpNorm<Eigen::Infinity>());
    const double tiny_w = 1e-13 * std::max(p.b.lpNorm<Eigen::Infinity>(), 1e-300);

    // What each wrong row would become.
    const auto better = [&](int i) {
      if (p.lower[i] == p.upper[i]) return p.state[i];
      const double w = p.w[i] + p.regularisation * (p.x[i] - centre[i]);
      switch (p.state[i]) {
        case RowState::free:
          return p.x[i] < p.lower[i] - tiny_x   ? RowState::at_lower
                 : p.x[i] > p.upper[i] + tiny_x ? RowState::at_upper
                                                : RowState::free;
        case RowState::at_lower:
          return w < -tiny_w ? RowState::free : RowState::at_lower;
        default:
          return w > tiny_w ? RowState::free : RowState::at_upper;
      }
    };
    std::size_t wrong = 0;
    int last = -1;
    for (const int i : rows)
      if (better(i) != p.state[i]) {
        ++wrong;
        last = i;
      }
    if (wrong == 0) {
      done = true;
      return iteration;
    }
    if (wrong < fewest) {
      fewest = wrong;
      left = patience;
    } else {
      --left;
    }
    if (left >= 0)
      for (const int i : rows) p.state[i] = better(i);
    else
      p.state[last] = better(last);
  }
  return max_iterations;
}

namespace {

struct BlockPivotingMemory {
  DenseProblem problem;
  BlockPivots pivots;
  VecX centre;
  std::vector<std::int32_t> rows;
};

}  // namespace

void solve(const ConstraintProblem& problem, const BlockPivotingSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& memory = workspace.get<BlockPivotingMemory>();
  DenseProblem& p = memory.problem;
  if (p.start_is_answer(problem, settings.name, settings.tolerance, x, report)) return;
  p.load(problem, settings.name, false, report);
  memory.rows.resize(p.size());
  std::iota(memory.rows.begin(), memory.rows.end(), 0);

  const double target = 0.1 * settings.tolerance;
  if (p.judge() > target) {
    p.guess_states();
    bool settled = false;
    while (!settled && report.iterations < settings.max_iterations && !(report.iterations > 0 && Budget::spent())) {
      memory.centre = p.x;
      p.follow_normals();
      bool done = false;
      report.iterations += memory.pivots.solve(p, memory.rows, memory.centre, settings.max_iterations - report.iterations,
                                               settings.patience, done);
      memory.centre = p.x;
      settled = p.active_set_newton(8, target);
      if (!settled && problem.friction.empty()) {
        // Bounds alone: the index set is right but for rounding; pull the regularisation's centre along.
        if (!done) break;
      } else if (!settled) {
        p.x = memory.centre;
      }
    }
  }
  p.finish(problem, settings.tolerance, x, report);
}

}  // namespace rotule
