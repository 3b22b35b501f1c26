#include "solve/newton/augmented.h"

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "solve/newton/friction_cones.h"

namespace rotule {

/// P_ = P(anchor - (w + shift) / S); with derivatives, E = D / S and T = I go to `linear`.
double AugmentedLagrangian::project(const ConstraintProblem& problem, std::span<const BlockSet> sets, std::span<const double> w,
                                    bool derivatives, BlockSystem* linear) {
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const BlockSet& set = sets[i];
    const int n = block.rows, first = block.first_row;
    double D[36] = {};
    double* const z = P_.data() + first;
    for (int r = 0; r < n; ++r) z[r] = anchor_[first + r] - inverse_S_[first + r] * w[first + r];
    const auto bound = [&](int r, double lower, double upper) {
      if (z[r] < lower)
        z[r] = lower;
      else if (z[r] > upper)
        z[r] = upper;
      else
        D[r * n + r] = 1;
    };
    int r = 0;
    if (set.kind == RowSet::contact) {
      FrictionCone groups[6];
      const int count = cones_of(problem, block, set, groups);
      z[0] -= inverse_S_[first] * shift_[i];
      project_on_cones(inverse_S_.data() + first, n, groups, count, z, D);
      r = 1;
      for (int g = 0; g < count; r = groups[g++].end)
        for (; r < groups[g].begin; ++r) bound(r, problem.lower[first + r], problem.upper[first + r]);
    }
    for (; r < n; ++r) bound(r, problem.lower[first + r], problem.upper[first + r]);
    if (!derivatives) continue;
    double *const T = linear->T(static_cast<int>(i)), *const E = linear->E(static_cast<int>(i));
    bool alone = true;
    for (int k = 0; k < n; ++k)
      for (int c = 0; c < n; ++c) {
        T[k * n + c] = k == c ? 1.0 : 0.0;
        E[k * n + c] = D[k * n + c] * inverse_S_[first + c];
        alone = alone && E[k * n + c] == 0;
      }
    linear->set_alone(static_cast<int>(i), alone);
  }
  double squares = 0;
  for (std::size_t r = 0; r < y_.size(); ++r) {
    G_[r] = y_[r] - P_[r];
    squares += G_[r] * G_[r] / inverse_S_[r];
  }
  return squares;
}

AugmentedLagrangian::Outcome AugmentedLagrangian::step(const ConstraintProblem& problem, ContactSystem& system, double epsilon,
                                                       int max_steps, std::span<double> x, std::span<double> w) {
  const int n = problem.rows();
  const std::span<const BlockSet> sets = system.sets();
  for (auto* v : {&anchor_, &inverse_S_, &y_, &w_, &trial_w_, &P_, &G_, &dy_, &A_dy_}) v->resize(n);
  shift_.assign(problem.blocks.size(), 0.0);
  for (int r = 0; r < n; ++r) inverse_S_[r] = system.rho()[r] / epsilon;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (sets[i].kind != RowSet::contact) continue;
    const int first = problem.blocks[i].first_row;
    FrictionCone groups[6];
    const int count = cones_of(problem, problem.blocks[i], sets[i], groups);
    for (int g = 0; g < count; ++g) shift_[i] += groups[g].mu * length_of(w.data() + first, groups[g].begin, groups[g].end);
  }
  std::copy(x.begin(), x.end(), anchor_.begin());
  std::copy(x.begin(), x.end(), y_.begin());
  std::copy(w.begin(), w.end(), w_.begin());

  BlockSystem& linear = system.linear();
  Outcome out;
  double start = 0, least = infinity;
  for (int idle = 0;; ++out.steps) {
    const double squares = project(problem, sets, w_, true, &linear);
    if (!std::isfinite(squares)) return {out.steps, false};
    if (out.steps == 0) start = squares;
    idle = squares < 0.5 * least ? 0 : idle + 1;
    least = std::min(least, squares);
    out.converged = squares <= 1e-16 * start || (idle > 2 && squares <= 1e-8 * start);
    if (out.steps == max_steps || out.converged || Budget::spent()) break;
    Budget::count();
    linear.factor(problem, system.inverse_rho());
    linear.solve(problem, G_, dy_, A_dy_);
    // The slope of the convex function along dy grows with t: its zero by false position, after a look at the full step.
    const auto slope = [&](double t) {
      for (int r = 0; r < n; ++r) trial_w_[r] = w_[r] + t * A_dy_[r];
      project(problem, sets, trial_w_, false, nullptr);
      double sum = 0;
      for (int r = 0; r < n; ++r) sum += A_dy_[r] * (y_[r] + t * dy_[r] - P_[r]);
      return sum;
    };
    double sum = 0;
    for (int r = 0; r < n; ++r) sum += A_dy_[r] * G_[r];
    double low = 0, slope_low = sum, high = 1, t = 1;
    double slope_high = slope(1);
    if (!(std::abs(slope_high) <= 0.1 * std::abs(slope_low)) && slope_high > 0 && slope_low < 0)
      for (int k = 0; k < 20; ++k) {
        t = k % 3 == 2 ? 0.5 * (low + high) : low + (high - low) * slope_low / (slope_low - slope_high);
        const double s = slope(t);
        if (std::abs(s) <= 0.1 * std::abs(sum)) break;
        (s > 0 ? high : low) = t;
        (s > 0 ? slope_high : slope_low) = s;
      }
    for (int r = 0; r < n; ++r) {
      y_[r] += t * dy_[r];
      w_[r] += t * A_dy_[r];
    }
  }
  if (!out.converged) return out;
  std::copy(P_.begin(), P_.end(), x.begin());
  std::copy(w_.begin(), w_.end(), w.begin());
  return out;
}

}  // namespace rotule
