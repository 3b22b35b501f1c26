#pragma once
// Iterative refinement: r = b - A x without forming A, x += (factored A)^-1 r, the best x kept.
// It restores the digits that a factorisation lost to cancellation, and carries what a regularised or set-aside pivot left over.
// It cannot help where the equations contradict each other: `converged` is then false and `residual` says by how much.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "problem/operators.h"

namespace rotule {

/// Scale-free residual above which a direct answer counts as not converged: the equations contradict each other.
inline constexpr double largest_direct_residual = 1e-8;

/// Scale-free residual below which rounding in the residual itself leaves nothing to gain.
inline constexpr double smallest_useful_residual = 1e-14;

struct RefinementScratch {
  std::vector<double> velocities, product, correction, best;
  Judge judge;

  /// All memory at once: a later step that needs more refinement than the first must not allocate.
  void resize(const ConstraintProblem& problem) {
    velocities.resize(6 * problem.bodies());
    for (auto* v : {&product, &correction, &best}) v->resize(problem.rows());
    judge.begin(problem);
  }
};

/// r = b - A x, written to scratch.correction; returns the judge's word on x.
inline double residual_into(const ConstraintProblem& problem, std::span<const double> x, RefinementScratch& scratch) {
  multiply(problem, x, scratch.velocities, scratch.product);
  for (int i = 0; i < problem.rows(); ++i) scratch.correction[i] = problem.b[i] - scratch.product[i];
  return scratch.judge.judge(x);
}

/// `solve_in_place(span)` replaces a right-hand side by the factor's answer. Sets residual, iterations and converged.
template <class SolveInPlace>
void refine(const ConstraintProblem& problem, int max_refinements, SolveInPlace&& solve_in_place, std::span<double> x,
            RefinementScratch& scratch, SolveReport& report) {
  scratch.resize(problem);
  double best = residual_into(problem, x, scratch);
  for (int i = 0; i < max_refinements && best > smallest_useful_residual; ++i) {
    std::copy(x.begin(), x.end(), scratch.best.begin());
    solve_in_place(std::span<double>(scratch.correction));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += scratch.correction[k];
    const double now = residual_into(problem, x, scratch);
    ++report.iterations;
    if (!(now < best)) {
      std::copy(scratch.best.begin(), scratch.best.end(), x.begin());
      break;
    }
    const bool stalled = now > 0.25 * best;
    best = now;
    if (stalled) break;
  }
  report.residual = best;
  report.converged = best <= largest_direct_residual;
}

/// Whether all numbers are finite, at the cost of one addition each.
inline bool all_finite(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * 0.0;
  return sum == 0;
}

}  // namespace rotule
