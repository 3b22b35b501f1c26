#include "dynamics/free_rotation.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

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

void FreeRotor::glide(Quat& theta, Vec3& omega, double h) const {
  if (moments_[0] == moments_[1]) return drift(theta, omega, h);
  constexpr double part = 0.1;  // rad
  constexpr double most_parts = 1000;
  const Vec3 along = rotated((theta * axes_).normalized().conjugate(), omega);
  const double energy = along.dot(moments_.cwiseProduct(along));  // twice
  const auto parts = static_cast<int>(std::clamp(std::ceil(std::abs(h) * omega.norm() / part), 1.0, most_parts));
  for (int i = 0; i < parts; ++i) drift(theta, omega, h / parts);

  // Seen from the body, the angular momentum stays on a sphere and on the ellipsoid of the energy: the nearest point of both.
  Quat q = (theta * axes_).normalized();
  Vec3 L = moments_.cwiseProduct(rotated(q.conjugate(), omega));
  const Vec3 L_W = rotated(q, L);
  const double length = L.squaredNorm();
  for (int round = 0; round < 3; ++round) {
    const Vec3 w = L.cwiseQuotient(moments_);
    const double a = L.dot(L), b = L.dot(w), c = w.dot(w), det = a * c - b * b;
    if (!(det > 1e-10 * a * c)) return;  // about a principal axis the energy follows from the momentum
    const double r = 0.5 * (a - length), s = 0.5 * (b - energy);
    L -= ((c * r - b * s) * L + (a * s - b * r) * w) / det;
  }
  q = (rotation_between(rotated(q, L), L_W) * q).normalized();
  omega = rotated(q, L.cwiseQuotient(moments_));
  theta = (q * axes_.conjugate()).normalized();
}

}  // namespace rotule
