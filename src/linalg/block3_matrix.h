#pragma once
// A sparse matrix of 3 x 3 blocks, by rows, with a pattern that is found once; and conjugate gradients on it, preconditioned by
// the inverses of its diagonal blocks (M. R. Hestenes, E. Stiefel 1952; block Jacobi). Products and sums are cut into pieces of a
// fixed size, so that results do not depend on the number of threads. Conjugate gradients need a symmetric positive definite
// matrix; where they meet a direction of no or negative curvature they stop and say so.
#include <rotule/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rotule {

/// A block as it is stored.
using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

class Block3Matrix {
 public:
  /// The pattern: the diagonal, and every pair given, both ways round. Pairs may repeat.
  void analyse(int rows, std::span<const std::array<int, 2>> pairs);

  [[nodiscard]] int rows() const { return static_cast<int>(start_.size()) - 1; }
  [[nodiscard]] std::size_t blocks() const { return column_.size(); }
  [[nodiscard]] std::span<const int> columns(int row) const {
    return {column_.data() + start_[row], static_cast<std::size_t>(start_[row + 1] - start_[row])};
  }
  [[nodiscard]] std::int64_t first(int row) const { return start_[row]; }
  [[nodiscard]] std::int64_t diagonal(int row) const { return diagonal_[row]; }
  /// The place of a block of the pattern, or -1.
  [[nodiscard]] std::int64_t find(int row, int column) const;

  void set_zero();
  /// Block n, row by row.
  [[nodiscard]] double* block(std::int64_t n) { return values_.data() + 9 * n; }
  [[nodiscard]] const double* block(std::int64_t n) const { return values_.data() + 9 * n; }
  void add(std::int64_t n, const Mat3& value) {
    double* to = block(n);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) to[3 * r + c] += value(r, c);
  }

  /// y = A x.
  void multiply(const VecX& x, VecX& y, int threads) const;

 private:
  std::vector<std::int64_t> start_, diagonal_;
  std::vector<int> column_;
  std::vector<double> values_;
};

}  // namespace rotule
