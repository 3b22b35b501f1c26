#pragma once
// What solvers may ask of a problem: products with its operators, none of which forms a matrix.
#include <rotule/problem.h>

#include <span>

namespace rotule {

/// M^-1 f for one body, skipping the coupling blocks where the problem has none.
inline Vec6 multiply_inverse_mass(const ConstraintProblem& problem, int body, const Vec6& f) {
  const Mat6& W = problem.inverse_mass[body];
  if (problem.coupled) return W * f;
  Vec6 out;
  out.head<3>().noalias() = W.topLeftCorner<3, 3>() * f.head<3>();
  out.tail<3>().noalias() = W.bottomRightCorner<3, 3>() * f.tail<3>();
  return out;
}

/// (J u)_r for a row of the block.
inline double row_velocity(const ConstraintProblem& problem, const ConstraintBlock& block, int row, std::span<const double> u) {
  double out = 0;
  if (block.body_a >= 0)
    out += problem.J_a.row(row).dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(u.data() + 6 * block.body_a));
  if (block.body_b >= 0)
    out += problem.J_b.row(row).dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(u.data() + 6 * block.body_b));
  return out;
}

/// (J M^-1 J^T)_rr for a row of the block.
inline double diagonal_entry(const ConstraintProblem& problem, const ConstraintBlock& block, int row) {
  double out = 0;
  const auto add = [&](int body, const JacobianRows& J) {
    if (body >= 0) out += J.row(row).dot(multiply_inverse_mass(problem, body, J.row(row).transpose()));
  };
  add(block.body_a, problem.J_a);
  add(block.body_b, problem.J_b);
  return out;
}

/// y = A x = (J M^-1 J^T + C) x. `velocities` is scratch of six numbers per body.
void multiply(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities, std::span<double> y);

/// What `residual` works in; kept by callers that judge every step.
struct ResidualScratch {
  VecX velocities, psi;
};
Residual residual(const ConstraintProblem& problem, std::span<const double> x, ResidualScratch& scratch);

/// The rows' residuals psi in the place of w = A x - b: for solvers that have w at hand and want to know whether they are done.
void natural_residual(const ConstraintProblem& problem, std::span<const double> x, std::span<double> w);

}  // namespace rotule
