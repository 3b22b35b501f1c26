#pragma once
// Block-sparse factorisation P A P^T = L D L^T of a symmetric matrix whose nodes are blocks of 1 to 6 rows; no square roots.
//
// Right-looking: each column, once factored, is subtracted from the blocks to its right, whose places were found beforehand, so
// that the numeric part is one walk along a list. Inside a block the elimination goes row by row; a pivot that is not above
// `tolerance` times its diagonal entry in A belongs to a row that depends on earlier ones: its inverse is taken as 0, which
// leaves that unknown at 0 (a basic solution of a consistent singular system).
//
// Nodes may be marked negative: the matrix is then quasi-definite (Vanderbei, SIAM J. Optim. 5, 1995), and has an LDL^T in any
// order in which the positive nodes before a negative one are definite by themselves.
// It fails (no pivoting between blocks) on matrices that are neither definite, semidefinite nor quasi-definite.
#include <cstdint>
#include <span>
#include <vector>

#include "linalg/ordering.h"

namespace rotule {

class BlockLdlt {
 public:
  struct Node {
    int first_row = 0;  // in the caller's vectors
    int size = 0;       // 1 to 6
    bool negative = false;
  };

  /// What the factorisation found.
  struct Outcome {
    double smallest_ratio = 1;  // of a kept pivot to its diagonal entry in A: digits lost to cancellation
    int redundant = 0;          // pivots of positive nodes set aside
  };

  /// Finds the pattern of L for this order and reserves everything. `adjacency` lists both directions.
  void analyse(std::span<const Node> nodes, const Graph& adjacency, std::span<const int> order);

  /// Where the block (later, earlier) of A stands in `values()`, row by row; `later` has the higher position in the order.
  [[nodiscard]] int offset(int later, int earlier) const;
  [[nodiscard]] int offset(int node) const { return columns_[position_[node]].values; }
  [[nodiscard]] int position(int node) const { return position_[node]; }

  /// The lower triangle of A is written here before `factor`; afterwards it holds L and the inverse pivots.
  [[nodiscard]] std::vector<double>& values() { return values_; }

  /// Factors in place. Rows of positive nodes whose pivots were set aside are added to `redundant_rows`.
  Outcome factor(double tolerance, std::vector<std::int32_t>& redundant_rows);

  /// Overwrites the right-hand side, in the caller's row order, with the solution.
  void solve(double* x) const;

  /// The size that all blocks have, or 0 where they differ.
  [[nodiscard]] int uniform_size() const { return uniform_size_; }
  /// Blocks of L under the diagonal: against those of A, what the order cost in fill.
  [[nodiscard]] std::size_t off_diagonal_blocks() const { return below_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Column {
    std::int32_t values;   // of the diagonal block; the blocks below follow it without gaps
    std::int32_t below;    // first of its entries in below_
    std::int32_t targets;  // first of its entries in targets_
    std::int32_t count;    // blocks below the diagonal
    std::int32_t row;      // first row in the caller's vectors
    std::int16_t size;
    std::int16_t negative;
  };
  struct Below {
    std::int32_t row;
    std::int32_t size;
  };

  template <int S>
  Outcome factor_columns(double tolerance, std::vector<std::int32_t>& redundant_rows);
  template <int S>
  void solve_columns(double* x) const;

  std::vector<Column> columns_;         // in order of elimination
  std::vector<Below> below_;            // blocks of L under the diagonal, column by column, rows ascending in the order
  std::vector<std::int32_t> targets_;   // per column, for each pair of its blocks, where their product is subtracted
  std::vector<std::int32_t> position_;  // of each node in the order
  std::vector<std::int32_t> pattern_;   // the positions of the rows of below_
  std::vector<double> values_;
  std::vector<double> diagonal_;  // of A, column by column
  std::vector<double> unscaled_;  // L D of the column at work
  int uniform_size_ = 0;
};

}  // namespace rotule
