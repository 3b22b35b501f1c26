#include <rotule/error.h>
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>

#include "problem/operators.h"

namespace rotule {

void ConstraintProblem::resize(int body_count, int row_count) {
  inverse_mass.resize(body_count);
  J_a.resize(row_count, 6);
  J_b.resize(row_count, 6);
  b.resize(row_count);
  C.setZero(row_count);
  lower.setConstant(row_count, -infinity);
  upper.setConstant(row_count, infinity);
  x0.setZero(row_count);
}

void apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities) {
  for (const ConstraintBlock& block : problem.blocks) {
    const double* const x_block = x.data() + block.first_row;
    const auto push = [&](int body, const JacobianRows& J) {
      if (body < 0) return;
      const double* row = J.data() + 6 * block.first_row;
      Vec6 impulse = Eigen::Map<const Vec6>(row) * x_block[0];
      for (int r = 1; r < block.rows; ++r) impulse += Eigen::Map<const Vec6>(row + 6 * r) * x_block[r];
      Eigen::Map<Vec6>(velocities.data() + 6 * body) += multiply_inverse_mass(problem, body, impulse);
    };
    push(block.body_a, problem.J_a);
    push(block.body_b, problem.J_b);
  }
}

void multiply(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities, std::span<double> y) {
  std::fill(velocities.begin(), velocities.end(), 0.0);
  apply_impulses(problem, x, velocities);
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      y[r] = problem.C[r] * x[r] + row_velocity(problem, block, r, velocities);
}

Residual residual(const ConstraintProblem& problem, std::span<const double> x) {
  ResidualScratch scratch;
  return residual(problem, x, scratch);
}

Residual residual(const ConstraintProblem& problem, std::span<const double> x, ResidualScratch& scratch) {
  auto& [velocities, Ax, lower, upper] = scratch;
  velocities.resize(6 * problem.bodies());
  Ax.resize(problem.rows());
  multiply(problem, x, {velocities.data(), static_cast<std::size_t>(velocities.size())},
           {Ax.data(), static_cast<std::size_t>(Ax.size())});

  // Friction bounds follow their normal, row by row (D2's box).
  lower = problem.lower;
  upper = problem.upper;
  for (const FrictionRows& f : problem.friction)
    for (int r = f.first_row; r < f.first_row + f.count; ++r) {
      upper[r] = f.mu_dynamic * std::max(0.0, x[f.normal_row]);
      lower[r] = -upper[r];
    }

  Residual out;
  double squares = 0;
  for (int i = 0; i < problem.rows(); ++i) {
    const double w = Ax[i] - problem.b[i];
    const double psi = std::max(std::min(upper[i] - x[i], std::max(-w, 0.0)), std::min(x[i] - lower[i], std::max(w, 0.0)));
    out.sum += std::abs(psi);
    out.max = std::max(out.max, std::abs(psi));
    squares += psi * psi;
  }
  const double scale = problem.b.norm();
  out.relative = std::sqrt(squares) / (scale > 0 ? scale : 1.0);
  return out;
}

void validate(const ConstraintProblem& problem) {
  const int rows = problem.rows();
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw Error("constraint problem", what);
  };
  require(problem.J_a.rows() == rows && problem.J_b.rows() == rows, "J must have as many rows as b");
  require(problem.C.size() == rows && problem.lower.size() == rows && problem.upper.size() == rows && problem.x0.size() == rows,
          "C, lower, upper and x0 must be as long as b");
  int next_row = 0;
  for (const ConstraintBlock& block : problem.blocks) {
    require(block.first_row == next_row, "blocks must follow each other without gaps");
    require(block.rows >= 1 && block.rows <= 6, "a block must have 1 to 6 rows");
    require(block.body_a < problem.bodies() && block.body_b < problem.bodies(), "a block names a body that is not there");
    require(block.body_a >= 0 || block.body_b >= 0, "a block must act on a body");
    require(block.body_a != block.body_b, "a block must not tie a body to itself");
    next_row += block.rows;
  }
  require(next_row == rows, "blocks must cover all rows");
  require(problem.b.allFinite() && problem.C.allFinite(), "b and C must be finite");
  require(rows == 0 || problem.C.minCoeff() >= 0, "compliance must not be negative");
  for (const FrictionRows& f : problem.friction)
    require(f.first_row >= 0 && f.first_row + f.count <= rows && f.normal_row >= 0 && f.normal_row < rows,
            "friction names a row that is not there");
}

}  // namespace rotule
