#pragma once
// The diagonal blocks of A = J M^-1 J^T + C, one per constraint, factored by LDL^T: what block-Jacobi preconditioning and block
// Gauss-Seidel divide by. Rows of a block that depend on each other are set aside, which leaves their part of the step at 0.
#include <rotule/problem.h>

#include <vector>

#include "linalg/dense_ldlt.h"
#include "problem/operators.h"

namespace rotule {

class DiagonalBlocks {
 public:
  void factor(const ConstraintProblem& problem) {
    factors_.resize(36 * problem.blocks.size());
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
      const ConstraintBlock& block = problem.blocks[i];
      const int s = block.rows;
      double* const A = factors_.data() + 36 * i;
      std::fill(A, A + 36, 0.0);
      for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
        for (int r = 0; r < s; ++r) {
          const Vec6 t = multiply_inverse_mass(problem, body, J.row(first + r).transpose());
          for (int c = 0; c <= r; ++c) A[r * s + c] += J.row(first + c).dot(t);
        }
      });
      double scale[6], work[6];
      for (int r = 0; r < s; ++r) {
        A[r * s + r] += problem.C[block.first_row + r];
        scale[r] = A[r * s + r];
      }
      factor_dense_ldlt(A, s, 1e-12, scale, work, [](int) {});
    }
  }

  /// v <- (block i)^-1 v.
  void divide(std::size_t i, int rows, double* v) const { solve_dense_ldlt(factors_.data() + 36 * i, rows, v); }

 private:
  std::vector<double> factors_;
};

}  // namespace rotule
