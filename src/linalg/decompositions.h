#pragma once
// Dense decompositions of whole systems, by Eigen. Their templates take longer to compile than most files do: they are written
// out here once, and nowhere else for matrices of any size.
#include <rotule/types.h>

namespace rotule {

/// The shortest x among those that make |A x - b| least, by a complete orthogonal decomposition. Pivots below `threshold` of the
/// largest count as zero.
VecX least_squares(const MatX& A, const VecX& b, double threshold);

/// Orthonormal columns that span what A maps to zero, by a QR of A^T with pivots; `threshold` as above.
MatX null_space(const MatX& A, double threshold);

/// x of A x = b, a column each; and A^-1. Both by LU with pivots.
MatX lu_solve(const MatX& A, const MatX& b);
MatX inverse_of(const MatX& A);
Mat6 inverse_of(const Mat6& A);

/// Eigenvalues, rising, and a column each.
struct SymmetricEigen {
  VecX values;
  MatX vectors;
};
SymmetricEigen symmetric_eigen(const MatX& A);
/// K v = lambda M v, M positive definite; v^T M v = 1.
SymmetricEigen symmetric_eigen(const MatX& K, const MatX& M);
VecX symmetric_eigenvalues(const MatX& A);
struct SymmetricEigen6 {
  Vec6 values;
  Mat6 vectors;
};
SymmetricEigen6 symmetric_eigen(const Mat6& A);
/// Of the symmetric matrix with this diagonal and this second diagonal beside it.
VecX tridiagonal_eigenvalues(const VecX& diagonal, const VecX& beside);

/// Eigenvalues of any square matrix, in no order, and a column each.
struct ComplexEigen {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};
ComplexEigen complex_eigen(const MatX& A);
Eigen::VectorXcd complex_eigenvalues(const MatX& A);

}  // namespace rotule
