#pragma once
// (T + E A) dx = -F once more, for where BlockSystem, which does not pivot between blocks, loses too many digits: sparse LU with
// partial pivoting (Eigen's SparseLU, after Demmel and others' SuperLU) of
//   [ T + E C     E J ] [dx]   [-F]
//   [ -M^-1 J^T    I  ] [du] = [ 0],
// in which A, and what cancels in forming it, does not occur. Five to ten times BlockSystem's cost; allocates at each factor.
#include <rotule/problem.h>

#include <Eigen/SparseLU>
#include <span>

#include "solve/newton/block_system.h"

namespace rotule {

class PivotedSystem {
 public:
  /// T and E are those of `blocks`. False where the system is singular.
  bool factor(const ConstraintProblem& problem, BlockSystem& blocks);
  void solve(std::span<const double> F, std::span<double> dx);

 private:
  using Matrix = Eigen::SparseMatrix<double>;
  std::vector<Eigen::Triplet<double>> entries_;
  std::vector<int> start_, row_;  // of the pattern last analysed
  Matrix K_;
  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> lu_;
  VecX right_, out_;
};

}  // namespace rotule
