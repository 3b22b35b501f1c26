#pragma once
// The laws of all rows as one nonsmooth equation F(x, w) = 0 per block, in the form of Alart and Curnier (Comput. Methods Appl.
// Mech. Eng. 92, 1991):  F = x - P(x - rho w), where P clamps a row to its bounds, a normal to [0, inf), and each group of
// friction to the disk (or box) whose size mu max(0, x_n - rho_n w_n) the normal gives. Its zeros are the judge's zeros.
// With D = dP/dz a step obeys  (I - D) dx + D rho dw = -F.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>

#include "problem/row_sets.h"

namespace rotule {

/// How a block stands, as far as a Newton matrix can profit from it.
enum class Activity : std::uint8_t {
  free,   // D = I: all rows want w = 0
  apart,  // D = 0: x is known
  mixed
};

/// Fills F (as many as rows) and D (row-major); all arrays are those of the block alone.
inline Activity alart_curnier(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set,
                              const double* x, const double* w, const double* rho, double* F, double* D) {
  const int n = block.rows;
  if (set.kind == RowSet::bilateral) {
    std::fill_n(D, n * n, 0.0);
    for (int r = 0; r < n; ++r) {
      F[r] = rho[r] * w[r];
      D[r * n + r] = 1;
    }
    return Activity::free;
  }
  std::fill_n(D, n * n, 0.0);
  int active = 0;
  const auto clamp_row = [&](int r, double lower, double upper) {
    const double z = x[r] - rho[r] * w[r];
    if (z < lower) {
      F[r] = x[r] - lower;
      return -1;
    }
    if (z > upper) {
      F[r] = x[r] - upper;
      return 1;
    }
    F[r] = rho[r] * w[r];
    D[r * n + r] = 1;
    ++active;
    return 0;
  };
  const auto own_bounds = [&](int row) { clamp_row(row - block.first_row, problem.lower[row], problem.upper[row]); };
  if (set.kind == RowSet::bounded) {
    for (int r = 0; r < n; ++r) own_bounds(block.first_row + r);
    return active == n ? Activity::free : active == 0 ? Activity::apart : Activity::mixed;
  }

  const double z_n = x[0] - rho[0] * w[0];
  const bool touching = z_n > 0;
  if (touching) {
    F[0] = rho[0] * w[0];
    D[0] = 1;
    ++active;
  } else {
    F[0] = x[0];
  }
  bool coupled = false;
  const auto friction = [&](const FrictionRows& f) {
    const int first = f.first_row - block.first_row, end = first + f.count;
    const double limit = touching ? f.mu * z_n : 0.0;
    if (!(limit > 0)) {
      for (int k = first; k < end; ++k) F[k] = x[k];
      return;
    }
    if (!f.cone) {
      for (int k = first; k < end; ++k)
        if (const int side = clamp_row(k, -limit, limit); side != 0) {
          D[k * n] = side * f.mu;
          coupled = true;
        }
      return;
    }
    double z[6], squares = 0;
    for (int k = first; k < end; ++k) {
      z[k] = x[k] - rho[k] * w[k];
      squares += z[k] * z[k];
    }
    if (squares <= limit * limit) {
      for (int k = first; k < end; ++k) {
        F[k] = rho[k] * w[k];
        D[k * n + k] = 1;
      }
      active += f.count;
      return;
    }
    coupled = true;
    const double length = std::sqrt(squares), ratio = limit / length;
    for (int k = first; k < end; ++k) {
      const double e = z[k] / length;
      F[k] = x[k] - limit * e;
      D[k * n] = f.mu * e;
      for (int l = first; l < end; ++l) D[k * n + l] = ratio * ((k == l ? 1.0 : 0.0) - e * z[l] / length);
    }
  };
  walk_laws(friction_of(problem, set), block.first_row + 1, block.first_row + n, own_bounds, friction);
  return active == n ? Activity::free : active == 0 && !coupled ? Activity::apart : Activity::mixed;
}

/// rho of the rows of one block from its diagonal block of A: 1 / A_rr, one number for each group of friction.
inline void choose_rho(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set, const double* A,
                       double* rho) {
  const int n = block.rows;
  const auto inverse = [](double a) { return a > 0 ? 1 / a : 1.0; };
  for (int r = 0; r < n; ++r) rho[r] = inverse(A[r * n + r]);
  for (const FrictionRows& f : friction_of(problem, set)) {
    if (!f.cone) continue;
    const int first = f.first_row - block.first_row;
    double sum = 0;
    for (int k = first; k < first + f.count; ++k) sum += A[k * n + k];
    for (int k = first; k < first + f.count; ++k) rho[k] = inverse(sum / f.count);
  }
}

}  // namespace rotule
