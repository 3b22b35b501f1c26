#include "dynamics/free_rotation.h"

#include <Eigen/Eigenvalues>

namespace rotule {

FreeRotor::FreeRotor(const Mat3& inertia) {
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(inertia);
  const Vec3& I = principal.eigenvalues();  // ascending
  Mat3 axes = principal.eigenvectors();
  // The moment that stands apart becomes the third.
  const bool largest_apart = 1 / I[0] - 1 / I[1] < 1 / I[1] - 1 / I[2];
  const int order[3] = {largest_apart ? 0 : 1, largest_apart ? 1 : 2, largest_apart ? 2 : 0};
  Mat3 sorted;
  for (int k = 0; k < 3; ++k) {
    sorted.col(k) = axes.col(order[k]);
    moments_[k] = I[order[k]];
  }
  if (sorted.determinant() < 0) sorted.col(2) *= -1;
  axes_ = Quat(sorted);
  // Moments that differ by rounding alone are one.
  if (std::abs(moments_[0] - moments_[1]) < 1e-14 * moments_[0]) moments_[1] = moments_[0];
}

}  // namespace rotule
