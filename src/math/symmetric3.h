#pragma once
// Symmetric 3 x 3 matrices without iterations: eigenvalues by angles (O. K. Smith, Comm. ACM 4, 1961), square roots by their
// invariants (A. Hoger, D. E. Carlson, Quart. Appl. Math. 42, 1984). A tenth of what an eigendecomposition takes.
#include <rotule/types.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rotule {

/// The largest first. Two that are equal come out apart by 1e-8 of the spread at most, symmetric functions of them right.
inline Vec3 falling_eigenvalues(const Mat3& A) {
  const double middle = A.trace() / 3;
  Mat3 B = A;
  B.diagonal().array() -= middle;
  const double spread = std::sqrt(B.squaredNorm() / 6);
  if (!(spread > 0)) return Vec3::Constant(middle);
  const double share = std::clamp(B.determinant() / (2 * spread * spread * spread), -1.0, 1.0), angle = std::acos(share) / 3;
  const double first = middle + 2 * spread * std::cos(angle),
               last = middle + 2 * spread * std::cos(angle + 2 * std::numbers::pi / 3);
  return {first, 3 * middle - first - last, last};
}

/// A bound from above on the largest, exact where both others are the same.
inline double most_eigenvalue(const Mat3& A) {
  const double middle = A.trace() / 3;
  return middle + std::sqrt(std::max(0.0, 2.0 / 3 * (A.squaredNorm() - 3 * middle * middle)));
}

/// The nearest matrix without negative eigenvalues.
inline Mat3 without_negative(const Mat3& A) {
  const Vec3 values = falling_eigenvalues(A);
  if (values[2] >= 0) return A;
  if (values[0] <= 0) return Mat3::Zero();
  // One eigenvalue differs in sign from both others, and so is parted from them by more than itself: its part of the matrix, a
  // polynomial of it, is as good as the matrix.
  const auto part = [&](int of, int i, int j) -> Mat3 {
    Mat3 P = A, Q = A;
    P.diagonal().array() -= values[i];
    Q.diagonal().array() -= values[j];
    return values[of] / ((values[of] - values[i]) * (values[of] - values[j])) * (P * Q);
  };
  if (values[1] >= 0) return A - part(2, 0, 1);
  return part(0, 1, 2);
}

/// A^(1/2) and A^(-1/2) of a positive definite A.
struct SquareRoots {
  Mat3 root, inverse;
};
inline SquareRoots square_roots(const Mat3& A) {
  const Vec3 u = falling_eigenvalues(A).cwiseMax(1e-300).cwiseSqrt();
  const double one = u.sum(), two = u[0] * u[1] + u[1] * u[2] + u[2] * u[0], three = u[0] * u[1] * u[2];
  SquareRoots out;
  out.root = (one * one - two) * A - A * A;
  out.root.diagonal().array() += one * three;
  out.root /= one * two - three;
  out.inverse = A - one * out.root;
  out.inverse.diagonal().array() += two;
  out.inverse /= three;
  return out;
}

}  // namespace rotule
