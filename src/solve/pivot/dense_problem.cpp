#include "solve/pivot/dense_problem.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/budget.h"
#include "base/spans.h"
#include "solve/refine.h"
#include "solve/structure.h"

namespace rotule {

namespace {

/// Added to the diagonal, as a share of its mean: definite, and small enough that refinement removes it.
constexpr double diagonal_share = 1e-9;
constexpr double joint_pivot_tolerance = 1e-12;

/// LU with row exchanges of the leading n x n part, in place. A vanishing pivot is left out, as if its unknown were 0.
void factor_lu(DenseProblem::Matrix& A, int n, std::vector<std::int32_t>& swaps) {
  for (int k = 0; k < n; ++k) {
    Budget::listen();
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(A(i, k)) > std::abs(A(best, k))) best = i;
    swaps[k] = best;
    if (best != k) A.row(k).head(n).swap(A.row(best).head(n));
    const double pivot = A(k, k);
    if (pivot == 0) continue;
    const double* const top = &A(k, 0);
    for (int i = k + 1; i < n; ++i) {
      double* const row = &A(i, 0);
      if (row[k] == 0) continue;
      const double l = row[k] /= pivot;
      for (int j = k + 1; j < n; ++j) row[j] -= l * top[j];
    }
  }
}

void solve_lu(const DenseProblem::Matrix& A, int n, const std::vector<std::int32_t>& swaps, double* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[swaps[k]]);
  for (int i = 1; i < n; ++i) {
    double sum = x[i];
    for (int k = 0; k < i; ++k) sum -= A(i, k) * x[k];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (int k = i + 1; k < n; ++k) sum -= A(i, k) * x[k];
    x[i] = A(i, i) != 0 ? sum / A(i, i) : 0.0;
  }
}

}  // namespace

bool DenseProblem::start_is_answer(const ConstraintProblem& problem, std::string_view solver, double tolerance,
                                   std::span<double> x_full, SolveReport& report) {
  solver_ = solver;
  clear(report, problem.rows());
  std::copy_n(problem.x0.data(), x_full.size(), x_full.begin());
  judge_.begin(problem);
  report.residual = judge_.judge(x_full);
  if (!std::isfinite(report.residual))
    throw Error("solver " + std::string(solver), "the residual is not finite; check masses, Jacobians and right-hand side");
  return report.residual <= tolerance;
}

void DenseProblem::load(const ConstraintProblem& problem, std::string_view solver, bool cones, SolveReport& report) {
  if (!cones)
    for (const FrictionRows& f : problem.friction)
      if (f.cone && f.count > 1)
        throw Error("solver " + std::string(solver),
                    "knows friction as a box, not as a cone; set friction to box, or choose block_gauss_seidel, hybrid or auto");
  schur.split(problem);
  schur.factor(problem, joint_pivot_tolerance, report);
  schur.form(problem);
  const ConstraintProblem& reduced = schur.reduced;
  const int n = reduced.rows();
  reduced_judge_.begin(reduced);
  to_x_.resize(n);
  for (int r = 0; r < n; ++r) to_x_[r] = reduced_judge_.diagonal()[r] > 0 ? std::sqrt(reduced_judge_.diagonal()[r]) : 1.0;
  to_b_ = to_x_.cwiseInverse();
  const double largest = n > 0 ? reduced.b.cwiseProduct(to_b_).lpNorm<Eigen::Infinity>() : 0.0;
  if (largest > 0) {
    to_x_ /= largest;
    to_b_ /= largest;
  }
  A.setZero(n, n);
  for (int r = 0; r < n; ++r) {
    for (int e = reduced.matrix.start[r]; e < reduced.matrix.start[r + 1]; ++e)
      A(r, reduced.matrix.column[e]) += reduced.matrix.value[e] * to_b_[r] / to_x_[reduced.matrix.column[e]];
    A(r, r) += reduced.C[r] * to_b_[r] / to_x_[r];
  }
  b = reduced.b.cwiseProduct(to_b_);
  x = reduced.x0.cwiseProduct(to_x_);
  fixed_lower = lower = reduced.lower.cwiseProduct(to_x_);
  fixed_upper = upper = reduced.upper.cwiseProduct(to_x_);
  mu.setZero(n);
  normal.assign(n, -1);
  for (const FrictionRows& f : reduced.friction)
    for (int r = f.first_row; r < f.first_row + f.count; ++r) {
      normal[r] = f.normal_row;
      mu[r] = f.mu * to_x_[r] / to_x_[f.normal_row];
    }
  for (int i = 0; i < n; ++i) x[i] = std::clamp(x[i], fixed_lower[i], fixed_upper[i]);
  state.assign(n, RowState::free);
  w.resize(n);
  step_.resize(n);
  rhs_.resize(n);
  unscaled_.resize(n);
  system_.resize(n, n);
  free_.reserve(n);
  place_.resize(n);
  swaps_.resize(n);
  regularisation = n > 0 ? diagonal_share * A.trace() / n : 0.0;
  follow_normals();
}

void DenseProblem::follow_normals() {
  for (int i = 0; i < size(); ++i)
    if (normal[i] >= 0) {
      upper[i] = mu[i] * std::max(0.0, x[normal[i]]);
      lower[i] = -upper[i];
    }
}

double DenseProblem::judge() {
  update_w();
  unscaled_ = x.cwiseQuotient(to_x_);
  return reduced_judge_.judge(view(unscaled_));
}

void DenseProblem::guess_states() {
  update_w();
  follow_normals();
  for (int i = 0; i < size(); ++i) {
    const double image = x[i] - w[i] / (A(i, i) + regularisation);
    state[i] = image <= lower[i] ? RowState::at_lower : image >= upper[i] ? RowState::at_upper : RowState::free;
  }
}

bool DenseProblem::solve_states() {
  // Unknowns: the free rows. A row at a bound that follows a normal adds its column, times +-mu, to the normal's.
  free_.clear();
  for (int i = 0; i < size(); ++i)
    if (state[i] == RowState::free) {
      place_[i] = static_cast<std::int32_t>(free_.size());
      free_.push_back(i);
    }
  const int n = static_cast<int>(free_.size());
  const auto follows = [&](int i) { return normal[i] >= 0 && state[i] != RowState::free; };
  const auto set_bounds = [&] {
    for (int i = 0; i < size(); ++i) {
      if (normal[i] >= 0 || state[i] == RowState::free) continue;
      x[i] = state[i] == RowState::at_lower ? lower[i] : upper[i];
    }
    for (int i = 0; i < size(); ++i)
      if (follows(i)) x[i] = (state[i] == RowState::at_lower ? -mu[i] : mu[i]) * x[normal[i]];
  };
  for (int k = 0; k < n; ++k) {
    const double* const row = &A(free_[k], 0);
    double* const out = &system_(k, 0);
    for (int j = 0; j < n; ++j) out[j] = row[free_[j]];
    for (int i = 0; i < size(); ++i)
      if (follows(i) && state[normal[i]] == RowState::free)
        out[place_[normal[i]]] += (state[i] == RowState::at_lower ? -mu[i] : mu[i]) * row[i];
    out[k] += regularisation;
  }
  factor_lu(system_, n, swaps_);

  constexpr int refinements = 4;
  double last = infinity;
  set_bounds();
  for (int pass = 0; pass < refinements; ++pass) {
    double squares = 0;
    for (int k = 0; k < n; ++k) {
      step_[k] = b[free_[k]] - A.row(free_[k]).dot(x);
      squares += step_[k] * step_[k];
    }
    if (!(squares < 0.25 * last)) break;
    last = squares;
    solve_lu(system_, n, swaps_, step_.data());
    for (int k = 0; k < n; ++k) x[free_[k]] += step_[k];
    set_bounds();
  }
  return std::isfinite(last);
}

bool DenseProblem::active_set_newton(int steps, double tolerance) {
  best_ = x;
  double least = judge();
  int since_best = 0;
  for (int k = 0; k < steps && least > tolerance && since_best < 6; ++k, ++since_best) {
    if (k > 0) guess_states();
    if (!solve_states()) break;
    const double now = judge();
    if (now < least) {
      if (now < 0.9 * least) since_best = -1;
      least = now;
      best_ = x;
    }
  }
  x = best_;
  return least <= tolerance;
}

void DenseProblem::finish(const ConstraintProblem& problem, double tolerance, std::span<double> x_full, SolveReport& report) {
  const auto expand = [&] {
    unscaled_ = x.cwiseQuotient(to_x_);
    schur.scatter(view(unscaled_), x_full);
    schur.recover_joints(problem, x_full);
    return judge_.judge(x_full);
  };
  report.residual = expand();
  if (report.residual > tolerance && schur.has_joints()) {
    rhs_ = x;
    schur.correct(problem, x_full);
    b = schur.reduced.b.cwiseProduct(to_b_);
    guess_states();
    active_set_newton(4, 0.1 * tolerance);
    const double again = expand();
    if (!(again < report.residual)) {
      x = rhs_;
      expand();
    } else {
      report.residual = again;
    }
  }
  if (!all_finite(x_full))
    throw Error("solver " + std::string(solver_), "the answer is not finite: the motion has blown up; take a smaller step");
  report.converged = report.residual <= tolerance;
}

}  // namespace rotule
