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
  more_.clear();
  more_lines_.clear();
  for (const ConstraintBlock& block : problem.blocks) {
    const auto moves = [&](int body) { return body >= 0 && !problem.inverse_mass[body].isZero(0); };
    const bool moves_a = moves(block.body_a), moves_b = moves(block.body_b);
    blocks_.push_back({block.first_row, block.rows, 6 * (moves_a ? block.body_a : bodies), 6 * (moves_b ? block.body_b : bodies),
                       moves_a, moves_b, static_cast<std::int32_t>(more_.size()), 0});
    for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
      const auto [body, first] = problem.more[k];
      if (!moves(body)) continue;
      more_.push_back({6 * body, static_cast<std::int32_t>(more_lines_.size() / 12)});
      ++blocks_.back().more_count;
      for (int r = first; r < first + block.rows; ++r) {
        const Vec6 j = problem.J_more.row(r).transpose(), Wj = multiply_inverse_mass(problem, body, j);
        more_lines_.insert(more_lines_.end(), j.begin(), j.end());
        more_lines_.insert(more_lines_.end(), Wj.begin(), Wj.end());
      }
    }
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const auto write = [&](bool movable, int body, const JacobianRows& J, double* line) {
        Eigen::Map<Vec6> j(line), Wj(line + 12);
        if (!movable) {
          j.setZero();
          Wj.setZero();
        } else {
          j = J.row(r).transpose();
          Wj = multiply_inverse_mass(problem, body, j);
        }
      };
      double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(r);
      write(moves_a, block.body_a, problem.J_a, line);
      write(moves_b, block.body_b, problem.J_b, line + 6);
    }
  }
}

void BodyOperator::add_further(const Block& block, int from, int count, double* w) const {
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
    const double* line = more_lines_.data() + 12 * static_cast<std::ptrdiff_t>(more_[k].first_line + from);
    const Eigen::Map<const Vec6> u(u_.data() + more_[k].u);
    for (int r = 0; r < count; ++r, line += 12) w[r] += Eigen::Map<const Vec6>(line).dot(u);
  }
}

void BodyOperator::push_further(const Block& block, int from, int count, const double* dx) {
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
    const double* line = more_lines_.data() + 12 * static_cast<std::ptrdiff_t>(more_[k].first_line + from);
    Eigen::Map<Vec6> u(u_.data() + more_[k].u);
    for (int r = 0; r < count; ++r, line += 12) u += Eigen::Map<const Vec6>(line + 6) * dx[r];
  }
}

void BodyOperator::start(std::span<const double> x) {
  std::fill(u_.begin(), u_.end(), 0.0);
  for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) update(i, x.data() + blocks_[i].first_row);
}

void BodyOperator::diagonal(int i, double* D) const {
  const Block& block = blocks_[i];
  const double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row);
  double* const first = D;
  for (int r = 0; r < block.rows; ++r)
    for (int c = 0; c < block.rows; ++c)
      *D++ = Eigen::Map<const Vec6>(line + 24 * r).dot(Eigen::Map<const Vec6>(line + 24 * c + 12)) +
             Eigen::Map<const Vec6>(line + 24 * r + 6).dot(Eigen::Map<const Vec6>(line + 24 * c + 18)) +
             (r == c ? C_[block.first_row + r] : 0.0);
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
    const double* const lines = more_lines_.data() + 12 * static_cast<std::ptrdiff_t>(more_[k].first_line);
    for (int r = 0; r < block.rows; ++r)
      for (int c = 0; c < block.rows; ++c)
        first[r * block.rows + c] += Eigen::Map<const Vec6>(lines + 12 * r).dot(Eigen::Map<const Vec6>(lines + 12 * c + 6));
  }
}

bool matrix_free_is_cheaper(const ConstraintProblem& problem, std::vector<int>& touching) {
  if (problem.has_matrix()) return false;
  touching.assign(problem.bodies(), 0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows&, int) { touching[body] += block.rows; });
  double formed = 0;
  for (const int rows : touching) formed += static_cast<double>(rows) * rows;
  return formed > 24.0 * problem.rows();
}

}  // namespace rotule
