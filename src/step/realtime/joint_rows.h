#pragma once
// Whitened rows of joints, six numbers each and body: the innermost loops of joints. Most joints have three rows, which the
// compiler then writes out.

namespace rotule::realtime {

template <int R>
inline void add_rows_of(const double* W, int rows, const double* x, double* w) {
  double v[6] = {w[0], w[1], w[2], w[3], w[4], w[5]};
  for (int r = 0; r < (R > 0 ? R : rows); ++r)
    for (int n = 0; n < 6; ++n) v[n] += x[r] * W[6 * r + n];
  for (int n = 0; n < 6; ++n) w[n] = v[n];
}
/// w <- w + W^T x.
inline void add_rows(const double* W, int rows, const double* x, double* w) {
  return rows == 3 ? add_rows_of<3>(W, 3, x, w) : add_rows_of<0>(W, rows, x, w);
}

inline double row_product(const double* p, const double* q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] + p[4] * q[4] + p[5] * q[5];
}

template <int R>
inline void take_rows_of(const double* W, int rows, const double* w, double* out) {
  const double v[6] = {w[0], w[1], w[2], w[3], w[4], w[5]};
  for (int r = 0; r < (R > 0 ? R : rows); ++r) out[r] -= row_product(W + 6 * r, v);
}
/// out <- out - W w.
inline void take_rows(const double* W, int rows, const double* w, double* out) {
  return rows == 3 ? take_rows_of<3>(W, 3, w, out) : take_rows_of<0>(W, rows, w, out);
}

/// A <- A + W W^T, its lower triangle; `first`: A <- W W^T.
template <int R>
inline void add_square_of(const double* W, int rows, bool first, double* A) {
  const int s = R > 0 ? R : rows;
  for (int r = 0; r < s; ++r)
    for (int c = 0; c <= r; ++c) A[r * s + c] = (first ? 0 : A[r * s + c]) + row_product(W + 6 * r, W + 6 * c);
}
inline void add_square(const double* W, int rows, bool first, double* A) {
  return rows == 3 ? add_square_of<3>(W, 3, first, A) : add_square_of<0>(W, rows, first, A);
}

/// A <- A + V W^T; `first`: A <- V W^T.
template <int R>
inline void add_product_of(const double* V, int rows, const double* W, int columns, bool first, double* A) {
  const int m = R > 0 ? R : rows, s = R > 0 ? R : columns;
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < s; ++c) A[r * s + c] = (first ? 0 : A[r * s + c]) + row_product(V + 6 * r, W + 6 * c);
}
inline void add_product(const double* V, int rows, const double* W, int columns, bool first, double* A) {
  return rows == 3 && columns == 3 ? add_product_of<3>(V, 3, W, 3, first, A) : add_product_of<0>(V, rows, W, columns, first, A);
}

}  // namespace rotule::realtime
