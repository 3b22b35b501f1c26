#include "solve/sweep/block_operators.h"

#include <algorithm>

#include "problem/operators.h"

namespace rotule {

void BodyOperator::assemble(const ConstraintProblem& problem) {
  const int bodies = problem.bodies();
  C_ = problem.C.data();
  b_ = problem.b.data();
  u_.assign(6 * static_cast<std::size_t>(bodies) + 6, 0.0);
  lines_.resize(24 * static_cast<std::size_t>(problem.rows()));
  blocks_.clear();
  for (const ConstraintBlock& block : problem.blocks) {
    const auto place = [&](int body) { return 6 * (body < 0 ? bodies : body); };
    blocks_.push_back({block.first_row, block.rows, place(block.body_a), place(block.body_b)});
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const auto write = [&](int body, const JacobianRows& J, double* line) {
        Eigen::Map<Vec6> j(line), Wj(line + 12);
        if (body < 0) {
          j.setZero();
          Wj.setZero();
        } else {
          j = J.row(r).transpose();
          Wj = multiply_inverse_mass(problem, body, j);
        }
      };
      double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(r);
      write(block.body_a, problem.J_a, line);
      write(block.body_b, problem.J_b, line + 6);
    }
  }
}

void BodyOperator::start(std::span<const double> x) {
  std::fill(u_.begin(), u_.end(), 0.0);
  for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) update(i, x.data() + blocks_[i].first_row);
}

void BodyOperator::diagonal(int i, double* D) const {
  const Block& block = blocks_[i];
  const double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row);
  for (int r = 0; r < block.rows; ++r)
    for (int c = 0; c < block.rows; ++c)
      *D++ = Eigen::Map<const Vec6>(line + 24 * r).dot(Eigen::Map<const Vec6>(line + 24 * c + 12)) +
             Eigen::Map<const Vec6>(line + 24 * r + 6).dot(Eigen::Map<const Vec6>(line + 24 * c + 18)) +
             (r == c ? C_[block.first_row + r] : 0.0);
}

bool matrix_free_is_cheaper(const ConstraintProblem& problem, std::vector<int>& touching) {
  if (problem.has_matrix()) return false;
  touching.assign(problem.bodies(), 0);
  for (const ConstraintBlock& block : problem.blocks)
    for (const int body : {block.body_a, block.body_b})
      if (body >= 0) touching[body] += block.rows;
  double formed = 0;
  for (const int rows : touching) formed += static_cast<double>(rows) * rows;
  return formed > 24.0 * problem.rows();
}

}  // namespace rotule
