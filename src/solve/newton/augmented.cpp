#include "solve/newton/augmented.h"

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

/// One group of friction in a block: |t| <= mu n. A box is one group per row.
struct Group {
  int begin, end;
  double mu;
  double length;  // of the point to be projected
  bool on_boundary;
};

/// The groups of a contact.
int groups_of(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set, Group* groups) {
  int count = 0;
  for (int g = set.first_friction; g < set.first_friction + set.friction_count; ++g) {
    const FrictionRows& f = problem.friction[g];
    const int begin = f.first_row - block.first_row;
    if (f.cone)
      groups[count++] = {begin, begin + f.count, f.mu, 0, false};
    else
      for (int k = begin; k < begin + f.count; ++k) groups[count++] = {k, k + 1, f.mu, 0, false};
  }
  return count;
}

double length_of(const double* v, int begin, int end) {
  if (end - begin == 1) return std::abs(v[begin]);
  double squares = 0;
  for (int k = begin; k < end; ++k) squares += v[k] * v[k];
  return std::sqrt(squares);
}

/// z becomes the nearest point of { |t_g| <= mu_g n for all groups } in the metric S, and D the derivative (row-major, n x n).
/// The nearest n is the zero of a concave, piecewise linear function of one number; Newton from 0 finds it in a few steps.
void project_on_cones(const double* inverse_S, int n, Group* groups, int count, double* z, double* D) {
  double normal = 0, weight = 0;
  const double S_n = 1 / inverse_S[0];
  for (int g = 0; g < count; ++g) {
    groups[g].length = length_of(z, groups[g].begin, groups[g].end);
    groups[g].on_boundary = false;
  }
  for (int k = 0; k <= count; ++k) {
    double sum = S_n * z[0];
    weight = S_n;
    bool same = k > 0;
    for (int g = 0; g < count; ++g) {
      const bool outside = groups[g].length > groups[g].mu * normal;
      same = same && outside == groups[g].on_boundary;
      groups[g].on_boundary = outside;
      if (!outside) continue;
      const double S_mu = groups[g].mu / inverse_S[groups[g].begin];
      sum += S_mu * groups[g].length;
      weight += S_mu * groups[g].mu;
    }
    if (same) break;
    normal = sum / weight;
    if (!(normal > 0)) break;
  }
  if (!(normal > 0)) {
    std::fill_n(z, groups[count - 1].end, 0.0);
    return;
  }
  D[0] = S_n / weight;
  for (int g = 0; g < count; ++g)
    if (groups[g].on_boundary)
      for (int k = groups[g].begin; k < groups[g].end; ++k) D[k] = groups[g].mu / inverse_S[k] / weight * z[k] / groups[g].length;
  for (int g = 0; g < count; ++g) {
    const auto& [begin, end, mu, length, on_boundary] = groups[g];
    if (!on_boundary) {
      for (int k = begin; k < end; ++k) D[k * n + k] = 1;
      continue;
    }
    for (int k = begin; k < end; ++k) {
      const double e = z[k] / length;
      for (int c = 0; c < n; ++c) D[k * n + c] = mu * e * D[c];
      for (int l = begin; l < end; ++l) D[k * n + l] += mu * normal / length * ((k == l ? 1.0 : 0.0) - e * z[l] / length);
    }
  }
  for (int g = 0; g < count; ++g)
    if (groups[g].on_boundary)
      for (int k = groups[g].begin; k < groups[g].end; ++k) z[k] *= groups[g].mu * normal / groups[g].length;
  z[0] = normal;
}

}  // namespace

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
      Group groups[6];
      const int count = groups_of(problem, block, set, groups);
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
    Group groups[6];
    const int count = groups_of(problem, problem.blocks[i], sets[i], groups);
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
    if (out.steps == max_steps || out.converged) break;
    linear.factor(problem);
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
