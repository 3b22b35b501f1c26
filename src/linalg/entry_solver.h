#pragma once
// A sparse square matrix written as a list of entries whose places never change, factored by blocks (block_lu.h). What is left of
// the equations is looked at and refined; where blocks without pivoting between them do not do, the whole matrix is factored
// densely, with pivots. Numbers are real or complex.
#include <rotule/types.h>

#include <Eigen/LU>
#include <span>
#include <string_view>

#include "linalg/block_lu.h"

namespace rotule {

/// Which entries there are, in the order in which their values are written; several may share a place, and add up. Nodes are
/// blocks of 1 to 6 rows, one after the other.
struct EntryPattern {
  struct Entry {
    int row, column;
    std::int32_t place = 0;  // among the factor's values, once known
  };
  std::vector<Entry> entries;
  std::vector<int> node_sizes;

  [[nodiscard]] int size() const;
  /// The rows of each node, then one more.
  [[nodiscard]] std::vector<int> first_rows() const;
  /// Which nodes entries tie together.
  [[nodiscard]] Graph graph() const;
};

template <class Scalar>
class EntrySolver {
 public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// For the pattern's entries, nodes eliminated in this order. Writes the entries' places, which depend on nothing else.
  void analyse(EntryPattern& pattern, std::span<const int> order);
  [[nodiscard]] bool analysed() const { return !values_.empty(); }
  /// One per entry of the pattern, to be written before `factor`.
  [[nodiscard]] std::vector<Scalar>& values() { return values_; }
  void factor(const EntryPattern& pattern);
  /// Throws Error, of `whose`, where the matrix is singular.
  void solve(const EntryPattern& pattern, const Vector& rhs, Vector& solution, std::string_view whose);

 private:
  /// False where what is left of the equations is not small.
  bool solve_by_blocks(const EntryPattern& pattern, const Vector& rhs, Vector& solution);
  void solve_with_pivots(const EntryPattern& pattern, const Vector& rhs, Vector& solution, std::string_view whose);

  std::vector<Scalar> values_;
  BasicBlockLu<Scalar> lu_;
  bool pivoted_ = false;  // where blocks alone did not do
  Eigen::PartialPivLU<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>> dense_;
  Vector remainder_;
};

}  // namespace rotule
