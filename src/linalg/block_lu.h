#pragma once
// Block-sparse factorisation P A P^T = L U of a matrix whose pattern is symmetric and whose values need not be; nodes are blocks
// of 1 to 6 rows. Right-looking, block by block: D_k is inverted with pivoting inside the block, L_ik = A_ik D_k^-1, and every
// A_ij with i and j in column k loses L_ik A_kj. The pattern of L (and, mirrored, of U) is that of Cholesky for the same order.
//
// There is no pivoting between blocks: it is meant for matrices whose blocks are dominated by a definite part, such as the
// Jacobians of contact laws. A block that turns out singular gets its pivot replaced by a small one (`replaced_pivots` counts
// them); callers look at the residual of what they solved. Numbers are real, or complex for the stages of Radau's methods.
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "linalg/ordering.h"

namespace rotule {

template <class Scalar>
class BasicBlockLu {
 public:
  /// Finds the pattern of L for this order and reserves everything. `adjacency` lists both directions.
  void analyse(std::span<const int> sizes, const Graph& adjacency, std::span<const int> order);

  /// Where a block of A stands in `values()`, row by row. Off the diagonal there must be an edge.
  [[nodiscard]] std::int32_t offset(int row_node, int column_node) const;
  [[nodiscard]] std::int32_t offset(int node) const { return columns_[position_[node]].values; }
  [[nodiscard]] std::vector<Scalar>& values() { return values_; }

  /// A node whose row and column are zero off the diagonal takes no part in the elimination; set before `factor`.
  void set_alone(int node, bool alone) { alone_[position_[node]] = alone; }

  /// Factors in place what was written to `values()`.
  void factor();
  /// Overwrites the right-hand side, nodes in the caller's order one after the other, with the solution.
  void solve(Scalar* x) const;

  [[nodiscard]] int replaced_pivots() const { return replaced_; }
  /// Multiplications of one factorisation.
  [[nodiscard]] double work() const { return work_; }

 private:
  struct Column {
    std::int32_t values;  // of the diagonal block
    std::int32_t below;   // first of its entries in below_
    std::int32_t count;   // blocks below the diagonal
    std::int32_t row;     // first row in the caller's vectors
    std::int32_t size;
  };
  struct Below {
    std::int32_t position;  // of its row in the order
    std::int32_t row;
    std::int32_t size;
    std::int32_t lower, upper;  // places in values_
  };

  template <int S>
  void factor_columns();
  template <int S>
  void solve_columns(Scalar* x) const;

  std::vector<Column> columns_;
  std::vector<Below> below_;
  std::vector<std::int32_t> position_;
  std::vector<char> alone_;
  std::vector<Scalar> values_;
  int uniform_size_ = 0;
  int replaced_ = 0;
  double work_ = 0;
};

using BlockLu = BasicBlockLu<double>;
using ComplexBlockLu = BasicBlockLu<std::complex<double>>;

/// Replaces the row-major n x n matrix by its inverse, pivoting by rows; n is at most 6. Pivots below `tiny` times the largest
/// entry are replaced by that; returns how many were.
template <class Scalar>
int invert_block(Scalar* A, int n, double tiny);

}  // namespace rotule
