#pragma once
// The cones of one contact, K = { (n, t_1, t_2 ...) : |t_g| <= mu_g n }, one for each group of friction (a box is one group per
// row): projection on them all at once, and its derivative.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>

#include "problem/row_sets.h"

namespace rotule {

/// One group of friction in a block, rows counted from the block's first: |t| <= mu n.
struct FrictionCone {
  int begin, end;
  double mu;
  double length;  // of the point to be projected
  bool on_boundary;
};

/// The groups of a contact; at most five.
inline int cones_of(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set, FrictionCone* groups) {
  int count = 0;
  for (const FrictionRows& f : friction_of(problem, set)) {
    const int begin = f.first_row - block.first_row;
    if (f.cone)
      groups[count++] = {begin, begin + f.count, f.mu, 0, false};
    else
      for (int k = begin; k < begin + f.count; ++k) groups[count++] = {k, k + 1, f.mu, 0, false};
  }
  return count;
}

inline double length_of(const double* v, int begin, int end) {
  if (end - begin == 1) return std::abs(v[begin]);
  double squares = 0;
  for (int k = begin; k < end; ++k) squares += v[k] * v[k];
  return std::sqrt(squares);
}

/// z becomes the nearest point of { |t_g| <= mu_g n for all groups } in the metric S, and D the derivative (row-major, n x n).
/// The nearest n is the zero of a concave, piecewise linear function of one number; Newton from 0 finds it in a few steps.
inline void project_on_cones(const double* inverse_S, int n, FrictionCone* groups, int count, double* z, double* D) {
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

}  // namespace rotule
