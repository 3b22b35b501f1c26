#pragma once
// A = L D L^T of a dense symmetric positive semidefinite matrix, row by row, without square roots or pivoting.
// A pivot not above `tolerance` times its entry of `scale` belongs to a row that depends on earlier ones: its inverse is taken
// as 0, which leaves that unknown at 0. So is that of one so small that it has no inverse among numbers. Fails on indefinite
// matrices (negative pivots count as dependent rows).
#include <algorithm>
#include <limits>
#include <vector>

namespace rotule {

/// Factors the lower triangle of the row-major n x n matrix in place; the diagonal becomes the inverse pivots. `scale` is what
/// pivots are compared with, usually the diagonal of A; `work` holds n numbers. `on_dependent(i)` is called for rows set aside.
/// Returns the smallest ratio of a kept pivot to its scale.
template <class OnDependent>
double factor_dense_ldlt(double* A, int n, double tolerance, const double* scale, double* work, OnDependent&& on_dependent) {
  double smallest = 1;
  for (int j = 0; j < n; ++j) {
    double* const row = A + static_cast<std::ptrdiff_t>(j) * n;
    for (int k = 0; k < j; ++k) {
      const double* const L_k = A + static_cast<std::ptrdiff_t>(k) * n;
      double sum = row[k];
      for (int m = 0; m < k; ++m) sum -= work[m] * L_k[m];
      work[k] = sum;
    }
    double pivot = row[j];
    for (int k = 0; k < j; ++k) {
      row[k] = work[k] * A[static_cast<std::ptrdiff_t>(k) * n + k];
      pivot -= work[k] * row[k];
    }
    if (pivot <= std::max(tolerance * scale[j], std::numeric_limits<double>::min())) {
      row[j] = 0;
      on_dependent(j);
    } else {
      row[j] = 1 / pivot;
      smallest = std::min(smallest, pivot / scale[j]);
    }
  }
  return smallest;
}

/// x <- A^-1 x with the factor above.
inline void solve_dense_ldlt(const double* L, int n, double* x) {
  for (int i = 1; i < n; ++i) {
    const double* const row = L + static_cast<std::ptrdiff_t>(i) * n;
    for (int k = 0; k < i; ++k) x[i] -= row[k] * x[k];
  }
  for (int i = 0; i < n; ++i) x[i] *= L[static_cast<std::ptrdiff_t>(i) * n + i];
  for (int i = n - 1; i > 0; --i) {
    const double* const row = L + static_cast<std::ptrdiff_t>(i) * n;
    for (int k = 0; k < i; ++k) x[k] -= row[k] * x[i];
  }
}

}  // namespace rotule
