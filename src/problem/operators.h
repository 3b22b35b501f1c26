#pragma once
// What solvers may ask of a problem: products with its operators, none of which forms a matrix.
#include <rotule/problem.h>

#include <span>

#include "problem/judge.h"

namespace rotule {

/// Calls visit(body, J, first) for every body of the block that is listed as one that moves: its rows are `block.rows` of J from
/// `first` on. Blocks have two bodies as a rule; the others are looked for only where there are some.
template <class Visit>
void for_each_body(const ConstraintProblem& problem, const ConstraintBlock& block, Visit&& visit) {
  if (block.body_a >= 0) visit(block.body_a, problem.J_a, block.first_row);
  if (block.body_b >= 0) visit(block.body_b, problem.J_b, block.first_row);
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k)
    visit(problem.more[k].body, problem.J_more, problem.more[k].first);
}

/// M^-1 f for one body, skipping the coupling blocks where the problem has none.
inline Vec6 multiply_inverse_mass(const ConstraintProblem& problem, int body, const Vec6& f) {
  const Mat6& W = problem.inverse_mass[body];
  if (problem.coupled) return W * f;
  Vec6 out;
  out.head<3>().noalias() = W.topLeftCorner<3, 3>() * f.head<3>();
  out.tail<3>().noalias() = W.bottomRightCorner<3, 3>() * f.tail<3>();
  return out;
}

/// What the bodies beyond two add to it.
double further_row_velocity(const ConstraintProblem& problem, const ConstraintBlock& block, int row, std::span<const double> u);

/// (J u)_r for a row of the block.
inline double row_velocity(const ConstraintProblem& problem, const ConstraintBlock& block, int row, std::span<const double> u) {
  double out = 0;
  if (block.body_a >= 0)
    out += problem.J_a.row(row).dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(u.data() + 6 * block.body_a));
  if (block.body_b >= 0)
    out += problem.J_b.row(row).dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(u.data() + 6 * block.body_b));
  if (block.more_count > 0) [[unlikely]]
    out += further_row_velocity(problem, block, row, u);
  return out;
}

/// (J M^-1 J^T)_rr for a row of the block.
inline double diagonal_entry(const ConstraintProblem& problem, const ConstraintBlock& block, int row) {
  double out = 0;
  for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
    const int r = first + row - block.first_row;
    out += J.row(r).dot(multiply_inverse_mass(problem, body, J.row(r).transpose()));
  });
  return out;
}

/// y = A x = (J M^-1 J^T + C) x. `velocities` is scratch of six numbers per body.
void multiply(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities, std::span<double> y);

/// What `residual` works in; kept by callers that judge every step.
struct ResidualScratch {
  VecX velocities, psi;
  Judge judge;
};
Residual residual(const ConstraintProblem& problem, std::span<const double> x, ResidualScratch& scratch);

/// The residuals psi of D4 and FCLIB in the place of w = A x - b.
void natural_residual(const ConstraintProblem& problem, std::span<const double> x, std::span<double> w);

}  // namespace rotule
