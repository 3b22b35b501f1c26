#include "linalg/dense_rows.h"

#include <algorithm>
#include <cmath>

#include "math/lanes3.h"

namespace rotule {

void DenseRows::resize(int size) {
  constexpr int lanes = 4;
  n = size;
  stride = (size + lanes - 1) / lanes * lanes;
  entries.assign(static_cast<std::size_t>(n * stride), 0.0);
}

ROTULE_WIDE void add_products(const double* X, const double* Y_transposed, int width, DenseRows& A) {
  for (int r = 0; r < A.n; ++r) {
    double* __restrict const out = A.row(r);
    for (int k = 0; k < width; ++k) {
      const double x = X[static_cast<std::ptrdiff_t>(r) * width + k];
      if (x == 0) continue;
      const double* __restrict const y = Y_transposed + k * A.stride;
      for (int c = 0; c <= r; ++c) out[c] += x * y[c];
    }
  }
  for (int r = 0; r < A.n; ++r)
    for (int c = 0; c < r; ++c) A.row(c)[r] = A.row(r)[c];
}

ROTULE_WIDE void multiply(const DenseRows& A, const double* x, double* y) {
  std::fill_n(y, A.n, 0.0);
  double* __restrict const out = y;
  for (int r = 0; r < A.n; ++r) {
    if (x[r] == 0) continue;
    const double* __restrict const column = A.row(r);
    for (int c = 0; c < A.n; ++c) out[c] += x[r] * column[c];
  }
}

ROTULE_WIDE void DenseLu::factor() {
  const int n = U_.n;
  L_.resize(n);
  swapped_.resize(static_cast<std::size_t>(n));
  inverse_.resize(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    double largest = std::abs(U_.row(k)[k]);
    for (int r = k + 1; r < n; ++r)
      if (const double own = std::abs(U_.row(r)[k]); own > largest) {
        largest = own;
        pivot = r;
      }
    swapped_[static_cast<std::size_t>(k)] = pivot;
    if (pivot != k) {
      std::swap_ranges(U_.row(k), U_.row(k) + U_.stride, U_.row(pivot));
      for (int c = 0; c < k; ++c) std::swap(L_.row(c)[k], L_.row(c)[pivot]);
    }
    const double* __restrict const from = U_.row(k);
    inverse_[static_cast<std::size_t>(k)] = largest > 0 ? 1 / from[k] : 0.0;
    double* const below = L_.row(k);
    for (int r = k + 1; r < n; ++r) {
      double* __restrict const to = U_.row(r);
      if (to[k] == 0) continue;
      const double share = to[k] * inverse_[static_cast<std::size_t>(k)];
      below[r] = share;
      for (int c = k + 1; c < n; ++c) to[c] -= share * from[c];
    }
  }
}

ROTULE_WIDE void DenseLu::solve(double* x) {
  const int n = U_.n;
  for (int k = 0; k < n; ++k) std::swap(x[k], x[swapped_[static_cast<std::size_t>(k)]]);
  for (int k = 0; k < n; ++k) {
    const double* __restrict const below = L_.row(k);
    double* __restrict const out = x;
    const double own = x[k];
    for (int r = k + 1; r < n; ++r) out[r] -= own * below[r];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* const row = U_.row(k);
    double sum = x[k];
    for (int c = k + 1; c < n; ++c) sum -= row[c] * x[c];
    x[k] = sum * inverse_[static_cast<std::size_t>(k)];
  }
}

}  // namespace rotule
