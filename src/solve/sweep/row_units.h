#pragma once
// The rows of a problem as the units that a projection by rows treats at once: a row with its bounds, a row of a friction box,
// or all rows of a disk |t| <= mu x_n, which share one step length so that projecting on the disk is exact in their metric.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "problem/cone.h"
#include "problem/laws.h"

namespace rotule {

struct RowUnit {
  std::int32_t first_row = 0;
  std::int32_t count = 1;
  std::int32_t block = 0;
  std::int32_t normal = -1;  // the row that scales the limit; -1 where the row has bounds of its own
  double mu = 0;
  double diagonal = 0;  // A_ii, or a bound of the disk's part of A
};

/// `diagonal(i, D)` writes the block of A that belongs to block i alone.
template <class Diagonal>
void list_units(const ConstraintProblem& problem, Diagonal&& diagonal, std::vector<RowUnit>& units) {
  units.clear();
  FrictionCursor friction(problem);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows;
    double D[36];
    diagonal(i, D);
    const auto row_with = [&](int row, std::int32_t normal, double mu) {
      const int r = row - block.first_row;
      units.push_back({.first_row = row, .block = i, .normal = normal, .mu = mu, .diagonal = D[r * n + r]});
    };
    const auto group = [&](const FrictionRows& f) {
      if (!f.cone) {
        for (int row = f.first_row; row < f.first_row + f.count; ++row) row_with(row, f.normal_row, f.mu);
        return;
      }
      RowUnit unit{.first_row = f.first_row, .count = f.count, .block = i, .normal = f.normal_row, .mu = f.mu};
      const int r = f.first_row - block.first_row;
      for (int k = r; k < r + f.count; ++k) {
        double sum = 0;
        for (int c = r; c < r + f.count; ++c) sum += std::abs(D[k * n + c]);
        unit.diagonal = std::max(unit.diagonal, sum);
      }
      units.push_back(unit);
    };
    walk_laws(
        friction.next(block), block.first_row, block.first_row + n, [&](int row) { row_with(row, -1, 0); }, group);
  }
}

/// Puts the unit's x back within its bounds; says where it ended: 0 between, -1 and 1 at a bound (1 on the rim of a disk).
inline int project(const ConstraintProblem& problem, const RowUnit& unit, std::span<double> x) {
  double* const t = x.data() + unit.first_row;
  if (unit.count > 1) {
    const double limit = unit.mu * x[unit.normal];
    double squares = 0;
    for (int k = 0; k < unit.count; ++k) squares += t[k] * t[k];
    if (squares <= limit * limit) return 0;
    const double scale = limit / std::sqrt(squares);
    for (int k = 0; k < unit.count; ++k) t[k] *= scale;
    return 1;
  }
  const double limit = unit.normal >= 0 ? unit.mu * x[unit.normal] : 0.0;
  const double lower = unit.normal >= 0 ? -limit : problem.lower[unit.first_row];
  const double upper = unit.normal >= 0 ? limit : problem.upper[unit.first_row];
  if (*t <= lower) {
    *t = lower;
    return -1;
  }
  if (*t >= upper) {
    *t = upper;
    return 1;
  }
  return 0;
}

/// The unit's residuals for the w given: adds the squares of the judge's, over the unit's diagonal (energies), and the sizes of
/// D4's. The normal of a sliding cone counts as a row by itself here, which is zero at the same x as the judge's residual, if not
/// of the same size before.
inline void add_residual(const ConstraintProblem& problem, const RowUnit& unit, std::span<const double> x, const double* w,
                         double& squares, double& sum) {
  const double* const t = x.data() + unit.first_row;
  const double d = unit.diagonal, inverse = d > 0 ? 1 / d : 0.0;
  if (unit.count > 1) {
    for (const bool energy : {true, false}) {
      double image[6];
      const double unit_of_x = energy ? d : 1.0;
      for (int k = 0; k < unit.count; ++k) image[k] = unit_of_x * t[k] - w[k];
      project_on_disk(unit_of_x * unit.mu * x[unit.normal], unit.count, image);
      for (int k = 0; k < unit.count; ++k) {
        const double psi = unit_of_x * t[k] - image[k];
        if (energy)
          squares += psi * psi * inverse;
        else
          sum += std::abs(psi);
      }
    }
    return;
  }
  const double limit = unit.normal >= 0 ? unit.mu * x[unit.normal] : 0.0;
  const double lower = unit.normal >= 0 ? -limit : problem.lower[unit.first_row];
  const double upper = unit.normal >= 0 ? limit : problem.upper[unit.first_row];
  const double up = std::max(-*w, 0.0), down = std::max(*w, 0.0);
  const double psi = std::max(std::min(d * (upper - *t), up), std::min(d * (*t - lower), down));
  squares += psi * psi * inverse;
  sum += std::max(std::min(upper - *t, up), std::min(*t - lower, down));
}

}  // namespace rotule
