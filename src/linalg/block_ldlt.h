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
//
// Over several threads (A12) branches of the elimination tree (branches.h) are worked on at the same time. Right-looking columns
// would then write into the trunk at any time; there each column fetches by itself what those before it take from it, in the
// order in which one thread would have subtracted it. So sums do not depend on the number of threads, down to the last bit.
//
// An order by minimum degree eats a mechanism from one end: its last columns stand in one long line above the column in which
// large subtrees meet, and nobody can share them. Large systems are turned towards that column: it and its rows, which cut the
// mechanism in parts, come last, and the line is eliminated from its far end, as one more branch.
#include <cstdint>
#include <span>
#include <vector>

#include "base/gang.h"
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

  /// Finds the pattern of L for this order and reserves everything. `adjacency` lists both directions. With several threads in
  /// view columns are kept branch by branch where that pays.
  void analyse(std::span<const Node> nodes, const Graph& adjacency, std::span<const int> order, int threads = 1);

  /// Parts of the matrix that do not touch each other's values: the branches' tasks, and, last, the trunk.
  [[nodiscard]] int parts() const { return static_cast<int>(part_start_.size()) - 1; }
  /// The part whose columns have the node.
  [[nodiscard]] int part_of(int node) const;
  /// The values of a part, for whoever writes A.
  [[nodiscard]] std::span<double> values_of(int part);
  /// Adds to the diagonal of a part's columns, by the caller's rows; what these do not reach is left as it is.
  void add_to_diagonal(int part, std::span<const double> compliance);

  /// Where the block (later, earlier) of A stands in `values()`, row by row; `later` has the higher position in the order.
  [[nodiscard]] int offset(int later, int earlier) const;
  [[nodiscard]] int offset(int node) const { return columns_[position_[node]].values; }
  [[nodiscard]] int position(int node) const { return position_[node]; }

  /// The lower triangle of A is written here before `factor`; afterwards it holds L and the inverse pivots.
  [[nodiscard]] std::vector<double>& values() { return values_; }

  /// Factors in place. Rows of positive nodes whose pivots were set aside are added to `redundant_rows`.
  /// `gang`: who helps with the branches.
  Outcome factor(double tolerance, std::vector<std::int32_t>& redundant_rows, Gang* gang = nullptr);

  /// Overwrites the right-hand side, in the caller's row order, with the solution.
  void solve(double* x, Gang* gang = nullptr) const;

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
    std::int32_t inside;   // those of them that are in its own branch; all, where there are none
    std::int32_t kept;     // first of its entries in kept_
    std::int32_t place;    // of its first row in diagonal_
    std::int32_t row;      // first row in the caller's vectors
    std::int16_t size;
    std::int16_t negative;
  };
  struct Below {
    std::int32_t row;
    std::int32_t size;
  };

  /// What a column of the trunk fetches from one before it: block `block` of that one is its row.
  struct Pull {
    std::int32_t column, block;
    std::int32_t l, u;     // where that block of L and of L D stands, in values_ and kept_
    std::int32_t targets;  // where the products are subtracted, in targets_
  };

  /// The elimination tree of a pattern, and what its columns cost in multiplications.
  struct Tree {
    std::vector<int> parent;
    std::vector<double> cost;
    double total = 0;
  };

  [[nodiscard]] std::vector<std::int32_t> find_pattern(const Graph& adjacency, std::span<const int> order);
  [[nodiscard]] Tree find_tree(std::span<const Node> nodes, std::span<const int> order,
                               std::span<const std::int32_t> start) const;
  /// Turns an order, and its pattern, towards the middle where several threads gain by it, however many there are.
  void turn_to_middle(std::span<const Node> nodes, const Graph& adjacency, std::vector<int>& order,
                      std::vector<std::int32_t>& start);
  /// A better order of storage for several threads; none where one does as well. `start` of the pattern.
  std::vector<int> find_branches(std::span<const Node> nodes, std::span<const int> order, std::span<const std::int32_t> start,
                                 int threads);
  void find_pulls(std::span<const int> sequence);
  [[nodiscard]] int trunk() const { return part_start_[parts() - 1]; }

  template <int S>
  Outcome factor_all(double tolerance, std::vector<std::int32_t>& redundant_rows, Gang* gang);
  template <int S>
  void remember_diagonal(int part);
  template <int S>
  void factor_columns(int from, int to, double tolerance, double* unscaled, Outcome& outcome,
                      std::vector<std::int32_t>* redundant_rows);
  template <int S>
  void fetch(const Pull& pull);
  template <int S>
  void solve_all(double* x, Gang* gang) const;
  template <int S>
  void substitute(int from, int to, double* x) const;
  template <int S>
  void substitute_back(int from, int to, double* x) const;

  std::vector<Column> columns_;         // in order of elimination
  std::vector<Below> below_;            // blocks of L under the diagonal, column by column, rows ascending in the order
  std::vector<std::int32_t> targets_;   // per column, for each pair of its blocks, where their product is subtracted
  std::vector<std::int32_t> position_;  // of each node in the order
  std::vector<std::int32_t> pattern_;   // the positions of the rows of below_
  std::vector<double> values_;
  std::vector<double> diagonal_;  // of A, column by column
  std::vector<double> unscaled_;  // L D of the column at work, for every part
  std::size_t unscaled_size_ = 0;
  int uniform_size_ = 0;

  std::vector<int> part_start_{0, 0};        // columns of the branches' tasks, and of the trunk
  std::vector<Pull> pulls_;                  // of the trunk's columns, in the order in which one thread would subtract them
  std::vector<std::int32_t> pull_start_;     // per column of the trunk
  std::vector<std::int32_t> branches_only_;  // per column of the trunk: the first of its pulls that must wait for the trunk
  std::vector<double> kept_;                 // L D of all blocks that are fetched
  std::vector<Outcome> outcomes_;            // per part
};

}  // namespace rotule
