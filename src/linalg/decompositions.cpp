#include "linalg/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace rotule {

VecX least_squares(const MatX& A, const VecX& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatX> system;
  system.setThreshold(threshold);
  system.compute(A);
  return system.solve(b);
}

MatX null_space(const MatX& A, double threshold) {
  Eigen::ColPivHouseholderQR<MatX> qr;
  qr.setThreshold(threshold);
  qr.compute(A.transpose());
  const MatX Q = qr.householderQ();
  return Q.rightCols(Q.cols() - qr.rank());
}

MatX lu_solve(const MatX& A, const MatX& b) { return A.partialPivLu().solve(b); }
MatX inverse_of(const MatX& A) { return A.inverse(); }
Mat6 inverse_of(const Mat6& A) { return A.inverse(); }

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen symmetric_eigen(const MatX& K, const MatX& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(K, M);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VecX symmetric_eigenvalues(const MatX& A) { return Eigen::SelfAdjointEigenSolver<MatX>(A, Eigen::EigenvaluesOnly).eigenvalues(); }

SymmetricEigen6 symmetric_eigen(const Mat6& A) {
  const Eigen::SelfAdjointEigenSolver<Mat6> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VecX tridiagonal_eigenvalues(const VecX& diagonal, const VecX& beside) {
  Eigen::SelfAdjointEigenSolver<MatX> solver;
  solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

ComplexEigen complex_eigen(const MatX& A) {
  const Eigen::EigenSolver<MatX> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd complex_eigenvalues(const MatX& A) { return Eigen::EigenSolver<MatX>(A, false).eigenvalues(); }

}  // namespace rotule
