#pragma once
// The laws of all rows as one smooth equation F(x, w; tau) = 0 per block, whose zeros become the judge's as tau goes to 0.
//
// Every law is x = P(x - rho w) with P a projection; its smoothed form (Chen, Harker, Kanzow, Smale; for Lorentz cones Fukushima,
// Luo, Tseng, SIAM J. Optim. 12, 2002) replaces max(0, z) by g(z) = (z + sqrt(z^2 + 4 tau^2)) / 2:
// - bounds: P(z) = lower + g(z - lower) - g(z - upper);
// - a sliding cone: with X = (mu x_n, x_t) and Y = (w_n / mu + |w_t|, w_t), De Saxce's shift in it, g of the two eigenvalues
//   z_0 +- |z_t| of z = X - rho Y;
// - all other friction: the disk (or interval) of radius mu g(x_n).
// |w_t| is smoothed by sqrt(|w_t|^2 + delta^2) - delta.
#include <rotule/problem.h>

#include <cmath>

#include "problem/row_sets.h"

namespace rotule {

/// How far the law is from the true one, and how fast that changes along a path.
struct Smoothing {
  double tau = 0, tau_rate = 0;  // as a share of the impulse unit * sqrt(rho); and its derivative by the path's parameter
  double unit = 1;               // square root of energy; delta = tau * unit / sqrt(rho), a velocity
};

/// g, and its derivatives by z and by tau.
struct SmoothPositive {
  double value, slope, by_tau;
  SmoothPositive(double z, double tau) {
    const double root = std::sqrt(z * z + 4 * tau * tau);
    value = z > 0 || root == z ? 0.5 * (z + root) : 2 * tau * tau / (root - z);
    slope = root > 0 ? value / root : 0.5;
    by_tau = root > 0 ? 2 * tau / root : 1.0;
  }
};

/// F, T = dF/dx, E = dF/dw (row-major, rows x rows) and F_t, its derivative by the path's parameter, of one block.
struct BlockLaw {
  double *F, *T, *E, *F_t;
};

namespace smoothed {

inline void bounded_row(int n, int r, double lower, double upper, double z, double x, double rho, double tau, double tau_rate,
                        const BlockLaw& out) {
  double value = z, slope = 1, by_tau = 0;
  if (lower > -infinity) {
    const SmoothPositive g(z - lower, tau);
    value = lower + g.value;
    slope = g.slope;
    by_tau = g.by_tau;
  }
  if (upper < infinity) {
    const SmoothPositive g(lower > -infinity ? z - upper : upper - z, tau);
    value = lower > -infinity ? value - g.value : upper - g.value;
    slope = lower > -infinity ? slope - g.slope : g.slope;
    by_tau -= g.by_tau;
  }
  out.F[r] = x - value;
  out.T[r * n + r] = 1 - slope;
  out.E[r * n + r] = slope * rho;
  out.F_t[r] = -by_tau * tau_rate;
}

/// The cone of the normal (row 0) and `count` tangents from row 1; rho is common to all of them.
inline void sliding_cone(int n, double mu, int count, const double* x, const double* w, double rho, const Smoothing& at,
                         const BlockLaw& out) {
  const double impulse = at.unit * std::sqrt(rho), speed = impulse / rho;
  const double tau = at.tau * impulse, tau_rate = at.tau_rate * impulse;
  const double delta = at.tau * speed, delta_rate = at.tau_rate * speed;
  double squares = 0;
  for (int k = 1; k <= count; ++k) squares += w[k] * w[k];
  const double slip = std::sqrt(squares + delta * delta);
  double z[6], direction[6] = {};
  z[0] = mu * x[0] - rho * (w[0] / mu + slip - delta);
  double length = 0;
  for (int k = 1; k <= count; ++k) {
    z[k] = x[k] - rho * w[k];
    length += z[k] * z[k];
  }
  length = std::sqrt(length);
  for (int k = 1; k <= count; ++k) direction[k] = length > 0 ? z[k] / length : 0.0;

  const SmoothPositive plus(z[0] + length, tau), minus(z[0] - length, tau);
  // (g(z_0 + l) - g(z_0 - l)) / 2 l, without cancellation as l goes to 0.
  const double roots = std::hypot(z[0] + length, 2 * tau) + std::hypot(z[0] - length, 2 * tau);
  const double across = 0.5 * (1 + (roots > 0 ? 2 * z[0] / roots : 0.0));
  const double along = 0.5 * (plus.slope + minus.slope), mixed = 0.5 * (plus.slope - minus.slope);
  const auto D = [&](int r, int c) {
    if (r == 0 && c == 0) return along;
    if (r == 0 || c == 0) return mixed * direction[r + c];
    return (along - across) * direction[r] * direction[c] + (r == c ? across : 0.0);
  };
  const double P_0 = 0.5 * (plus.value + minus.value), P_t = 0.5 * (plus.value - minus.value);
  const double tau_0 = 0.5 * (plus.by_tau + minus.by_tau), tau_t = 0.5 * (plus.by_tau - minus.by_tau);
  const double Y_rate = rho * (slip > 0 ? delta / slip - 1 : 0.0) * delta_rate;
  for (int r = 0; r <= count; ++r) {
    out.F[r] = r == 0 ? mu * x[0] - P_0 : x[r] - P_t * direction[r];
    out.F_t[r] = D(r, 0) * Y_rate - tau_rate * (r == 0 ? tau_0 : tau_t * direction[r]);
    for (int c = 0; c <= count; ++c) {
      out.T[r * n + c] = ((r == c ? 1.0 : 0.0) - D(r, c)) * (c == 0 ? mu : 1.0);
      out.E[r * n + c] = c == 0 ? D(r, 0) * rho / mu : rho * (D(r, c) + D(r, 0) * (slip > 0 ? w[c] / slip : 0.0));
    }
  }
}

/// The disk of radius mu g(x_n) for the rows from `first`.
inline void disk(int n, double mu, int first, int count, const double* x, const double* w, const double* rho, const Smoothing& at,
                 const BlockLaw& out) {
  const double normal_impulse = at.unit * std::sqrt(rho[0]), impulse = at.unit * std::sqrt(rho[first]);
  const SmoothPositive normal(x[0], at.tau * normal_impulse);
  const double radius = mu * normal.value, radius_rate = mu * normal.by_tau * at.tau_rate * normal_impulse;
  const double tau = at.tau * impulse, tau_rate = at.tau_rate * impulse;
  double z[6], squares = 0;
  for (int k = 0; k < count; ++k) {
    z[k] = x[first + k] - rho[first] * w[first + k];
    squares += z[k] * z[k];
  }
  const double length = std::sqrt(squares);
  const double outer = std::hypot(length + radius, 2 * tau), inner = std::hypot(length - radius, 2 * tau);
  const double share = outer + inner > 0 ? 2 * radius / (outer + inner) : 0.0;  // |P(z)| / |z|
  const double a = outer > 0 ? (length + radius) / outer : 0.0, b = inner > 0 ? (length - radius) / inner : 0.0;
  const double by_length = 0.5 * (a - b), by_radius = 0.5 * (a + b);
  const double by_tau = outer > 0 && inner > 0 ? 2 * tau * (1 / outer - 1 / inner) : 0.0;
  for (int k = 0; k < count; ++k) {
    const int r = first + k;
    const double e = length > 0 ? z[k] / length : 0.0;
    out.F[r] = x[r] - share * z[k];
    out.F_t[r] = -e * (by_radius * radius_rate + by_tau * tau_rate);
    out.T[r * n] = -e * by_radius * mu * normal.slope;
    for (int l = 0; l < count; ++l) {
      const double D = (k == l ? share : 0.0) + (length > 0 ? (by_length - share) * e * z[l] / length : 0.0);
      out.T[r * n + first + l] = (k == l ? 1.0 : 0.0) - D;
      out.E[r * n + first + l] = D * rho[first];
    }
  }
}

}  // namespace smoothed

/// One length of step for all rows of a sliding cone, since the projection mixes them; else each row's own, or its group's.
inline void choose_common_rho(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set,
                              const double* A, double* rho) {
  const int n = block.rows;
  const auto mean = [&](int first, int count) {
    double sum = 0;
    for (int k = first; k < first + count; ++k) sum += A[k * n + k];
    for (int k = first; k < first + count; ++k) rho[k] = sum > 0 ? count / sum : 1.0;
  };
  for (int r = 0; r < n; ++r) mean(r, 1);
  for (const FrictionRows& f : friction_of(problem, set)) {
    const int first = f.first_row - block.first_row;
    if (!f.cone) continue;
    if (first == 1 && f.mu > 0)
      mean(0, 1 + f.count);
    else
      mean(first, f.count);
  }
}

/// All arrays are those of the block alone; w with whatever regularisation is in force.
inline void smoothed_law(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set, const double* x,
                         const double* w, const double* rho, const Smoothing& at, const BlockLaw& out) {
  const int n = block.rows;
  std::fill_n(out.T, n * n, 0.0);
  std::fill_n(out.E, n * n, 0.0);
  const auto bounded = [&](int r, double lower, double upper) {
    const double impulse = at.unit * std::sqrt(rho[r]);
    smoothed::bounded_row(n, r, lower, upper, x[r] - rho[r] * w[r], x[r], rho[r], at.tau * impulse, at.tau_rate * impulse, out);
  };
  const auto own_bounds = [&](int row) { bounded(row - block.first_row, problem.lower[row], problem.upper[row]); };
  const int end = block.first_row + n;
  if (set.kind != RowSet::contact) {
    for (int row = block.first_row; row < end; ++row) own_bounds(row);
    return;
  }
  bounded(0, 0, infinity);
  walk_laws(friction_of(problem, set), block.first_row + 1, end, own_bounds, [&](const FrictionRows& f) {
    const int first = f.first_row - block.first_row;
    if (is_sliding_cone(f) && f.mu > 0)
      smoothed::sliding_cone(n, f.mu, f.count, x, w, rho[0], at, out);
    else if (f.cone)
      smoothed::disk(n, f.mu, first, f.count, x, w, rho, at, out);
    else
      for (int k = first; k < first + f.count; ++k) smoothed::disk(n, f.mu, k, 1, x, w, rho, at, out);
  });
}

}  // namespace rotule
