#pragma once
// A x of the rows of one block, while x changes block by block: two forms of the same operator for methods that sweep.
//
// BodyOperator keeps the velocities u = M^-1 J^T x up to date, so that (A x)_i = J_i u + C_i x_i costs the block's own rows
// alone, whatever else meets in its bodies. MatrixOperator reads a row of blocks of the formed matrix (problem/delassus.h).
// Rounding creeps into u with the updates: start() makes it anew, and belongs before every check.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/delassus.h"

namespace rotule {

class BodyOperator {
 public:
  void assemble(const ConstraintProblem& problem);

  /// Takes x as it is now.
  void start(std::span<const double> x);
  /// w = (A x - b) of the rows of block i.
  void row(int i, std::span<const double> x, double* w) const {
    const Block& block = blocks_[i];
    const Eigen::Map<const Vec6> u_a(u_.data() + block.u_a), u_b(u_.data() + block.u_b);
    const double* line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row);
    for (int r = block.first_row; r < block.first_row + block.rows; ++r, line += 24)
      *w++ = (Eigen::Map<const Vec6>(line).dot(u_a) + Eigen::Map<const Vec6>(line + 6).dot(u_b)) + (C_[r] * x[r] - b_[r]);
    if (block.more_count > 0) add_further(block, 0, block.rows, w - block.rows);
  }
  /// After x of block i has changed by dx. Writes only to bodies that move: blocks without one in common may run in parallel.
  void update(int i, const double* dx) {
    const Block& block = blocks_[i];
    const double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row);
    const auto push = [&](const double* Wj, std::int32_t u) {
      Vec6 sum = Eigen::Map<const Vec6>(Wj) * dx[0];
      for (int r = 1; r < block.rows; ++r) sum += Eigen::Map<const Vec6>(Wj + 24 * r) * dx[r];
      Eigen::Map<Vec6>(u_.data() + u) += sum;
    };
    if (block.moves_a) push(line + 12, block.u_a);
    if (block.moves_b) push(line + 18, block.u_b);
    if (block.more_count > 0) push_further(block, 0, block.rows, dx);
  }
  /// The same for one row of the block, counted from the problem's first.
  [[nodiscard]] double single_row(int i, int r, std::span<const double> x) const {
    const double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(r);
    double w = (Eigen::Map<const Vec6>(line).dot(Eigen::Map<const Vec6>(u_.data() + blocks_[i].u_a)) +
                Eigen::Map<const Vec6>(line + 6).dot(Eigen::Map<const Vec6>(u_.data() + blocks_[i].u_b))) +
               (C_[r] * x[r] - b_[r]);
    if (blocks_[i].more_count > 0) add_further(blocks_[i], r - blocks_[i].first_row, 1, &w);
    return w;
  }
  void update_single(int i, int r, double dx) {
    const double* const line = lines_.data() + 24 * static_cast<std::ptrdiff_t>(r);
    Eigen::Map<Vec6>(u_.data() + blocks_[i].u_a) += Eigen::Map<const Vec6>(line + 12) * dx;
    Eigen::Map<Vec6>(u_.data() + blocks_[i].u_b) += Eigen::Map<const Vec6>(line + 18) * dx;
    if (blocks_[i].more_count > 0) push_further(blocks_[i], r - blocks_[i].first_row, 1, &dx);
  }
  /// The diagonal block of A, rows x rows.
  void diagonal(int i, double* D) const;
  /// y = A x - b; leaves the operator at x.
  void residual(std::span<const double> x, std::span<double> y) {
    start(x);
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) row(i, x, y.data() + blocks_[i].first_row);
  }

  /// What start() derives from x, linear in it: methods that combine several x may combine this instead.
  [[nodiscard]] std::span<double> velocities() { return u_; }

 private:
  struct Block {
    std::int32_t first_row, rows, u_a, u_b;  // u_: where its bodies' velocities begin
    bool moves_a, moves_b;
    std::int32_t first_more, more_count;  // in more_
  };
  /// A body beyond the first two: where its velocity begins, and its lines in more_lines_.
  struct Further {
    std::int32_t u, first_line;
  };
  /// J u of the further bodies, for `count` rows of the block from its row `from` on; and what x does to them.
  void add_further(const Block& block, int from, int count, double* w) const;
  void push_further(const Block& block, int from, int count, const double* dx);

  std::vector<Block> blocks_;
  std::vector<Further> more_;
  std::vector<double> more_lines_;  // per row and further body that moves: J, M^-1 J
  std::vector<double> lines_;       // per row: J_a, J_b, M^-1 J_a, M^-1 J_b; zero for what never moves
  std::vector<double> u_;           // six per body, and six for all that never moves
  const double* C_ = nullptr;
  const double* b_ = nullptr;
};

class MatrixOperator {
 public:
  void assemble(const ConstraintProblem& problem) {
    delassus_.assemble(problem);
    b_ = problem.b.data();
    uniform_ = true;
    for (int i = 0; i < delassus_.blocks(); ++i) uniform_ = uniform_ && delassus_.rows(i) == 3;
  }
  void start(std::span<const double>) {}
  void row(int i, std::span<const double> x, double* w) const {
    const int first = delassus_.first_row(i), rows = delassus_.rows(i);
    if (uniform_) {
      double w_0 = -b_[first], w_1 = -b_[first + 1], w_2 = -b_[first + 2];
      const std::span<const Delassus::Entry> entries = delassus_.row(i);
      const double* A = delassus_.values(entries.front());
      for (const Delassus::Entry& entry : entries) {  // the values of a row lie one after the other
        const double* const x_j = x.data() + 3 * entry.column;
        w_0 += A[0] * x_j[0] + A[1] * x_j[1] + A[2] * x_j[2];
        w_1 += A[3] * x_j[0] + A[4] * x_j[1] + A[5] * x_j[2];
        w_2 += A[6] * x_j[0] + A[7] * x_j[1] + A[8] * x_j[2];
        A += 9;
      }
      w[0] = w_0, w[1] = w_1, w[2] = w_2;
      return;
    }
    delassus_.multiply_row(i, x, w);
    for (int r = 0; r < rows; ++r) w[r] -= b_[first + r];
  }
  void update(int, const double*) {}
  void diagonal(int i, double* D) const {
    const int rows = delassus_.rows(i);
    std::copy_n(delassus_.diagonal(i), rows * rows, D);
  }
  void residual(std::span<const double> x, std::span<double> y) {
    for (int i = 0; i < delassus_.blocks(); ++i) row(i, x, y.data() + delassus_.first_row(i));
  }
  [[nodiscard]] std::span<double> velocities() { return {}; }
  [[nodiscard]] const Delassus& delassus() const { return delassus_; }

 private:
  Delassus delassus_;
  const double* b_ = nullptr;
  bool uniform_ = false;
};

/// Multiplications per sweep of either form; the smaller one is the faster.
bool matrix_free_is_cheaper(const ConstraintProblem& problem, std::vector<int>& touching);

}  // namespace rotule
