#pragma once
// The Delassus matrix A = J M^-1 J^T + C, formed by blocks of rows: a block of A is there where two constraints share a body (or
// where the problem's own matrix has an entry). The pattern is kept for as long as the problem's structure stays the same.
// Memory and time grow with the pairs of constraints that meet in a body.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/structure.h"

namespace rotule {

class Delassus {
 public:
  /// One block of A: rows of the block row it stands in, columns of block `column`, row-major from `value`.
  struct Entry {
    std::int32_t column = 0;
    std::int32_t value = 0;
  };

  void assemble(const ConstraintProblem& problem);

  [[nodiscard]] int blocks() const { return static_cast<int>(start_.size()) - 1; }
  [[nodiscard]] int rows() const { return first_row_.back(); }
  [[nodiscard]] int first_row(int block) const { return first_row_[block]; }
  [[nodiscard]] int rows(int block) const { return first_row_[block + 1] - first_row_[block]; }
  /// The blocks of one block row, the diagonal one first, then by column.
  [[nodiscard]] std::span<const Entry> row(int block) const {
    return {entries_.data() + start_[block], static_cast<std::size_t>(start_[block + 1] - start_[block])};
  }
  [[nodiscard]] const double* values(const Entry& entry) const { return values_.data() + entry.value; }
  [[nodiscard]] const double* diagonal(int block) const { return values(entries_[start_[block]]); }

  /// y = A x.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// (A x)_i for the rows of one block.
  void multiply_row(int block, std::span<const double> x, double* y) const;
  void to_dense(Eigen::MatrixXd& A) const;

 private:
  void find_pattern(const ConstraintProblem& problem);
  void find_places();
  void assemble_from_bodies(const ConstraintProblem& problem);
  void assemble_from_matrix(const ConstraintProblem& problem);

  Structure structure_;
  std::vector<std::int32_t> matrix_start_, matrix_column_;  // of the problem's own matrix, where it has one
  std::vector<std::int32_t> place_;                         // where each of that one's values goes
  std::vector<std::int32_t> first_row_;                     // per block, and the total
  std::vector<std::int32_t> start_;                         // per block row into entries_, and the total
  std::vector<Entry> entries_;
  std::vector<double> values_;
  std::vector<std::int32_t> block_of_row_;
};

}  // namespace rotule
