#pragma once
// Whitened rows of joints, six numbers each and body: the innermost loops of joints. What is done once per step is done in
// doubles; most joints have three rows, which the compiler then writes out. What is done in every substep goes by rows in lanes,
// on velocities that are floats themselves.
#include <initializer_list>

namespace rotule::realtime {

/// Four floats in any processor's smallest vector, two doubles in another: no choice of targets is needed, and bits are the same
/// on all.
using Four [[gnu::vector_size(16), gnu::may_alias]] = float;
using Two [[gnu::vector_size(16), gnu::may_alias]] = double;

/// Up to four rows of one body: a column for each of its six numbers, zero where there are fewer rows.
struct RowLanes {
  Four column[6];
};
/// Where all rows say that two points coincide, the first three columns are one number on the diagonal.
inline float linear_of(const RowLanes& points) { return points.column[0][0]; }

template <int K>
inline Four spread(Four x) {
  return __builtin_shufflevector(x, x, K, K, K, K);
}

/// out <- out - W w; w on a boundary of 16 bytes.
template <bool points>
inline void take_rows(const RowLanes& W, const float* w, Four& out) {
  const Four low = *reinterpret_cast<const Four*>(w), high = *reinterpret_cast<const Four*>(w + 4);
  if constexpr (points) {
    out -= linear_of(W) * low;  // and something in the fourth lane, of which there is no row
  } else {
    out -= W.column[0] * spread<0>(low);
    out -= W.column[1] * spread<1>(low);
    out -= W.column[2] * spread<2>(low);
  }
  out -= W.column[3] * spread<3>(low);
  out -= W.column[4] * spread<0>(high);
  out -= W.column[5] * spread<1>(high);
}
/// w <- w + W^T x; the two numbers behind w stay. x is zero where there is no row.
template <bool points>
inline void add_rows(const RowLanes& W, Four x, float* w) {
  // Sums over lanes, several at once: halves are added crosswise, twice.
  const auto cross = [](Four a, Four b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  };
  const auto sums = [](Four ab, Four cd) {
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  };
  Four &low = *reinterpret_cast<Four*>(w), &high = *reinterpret_cast<Four*>(w + 4);
  const Four none{};
  const Four s45 = cross(W.column[4] * x, W.column[5] * x);
  if constexpr (points) {
    const Four all = sums(cross(none, W.column[3] * x), s45);  // nothing, w3, w4, w5
    low += linear_of(W) * x + __builtin_shufflevector(all, none, 4, 5, 6, 1);
    high += __builtin_shufflevector(all, none, 2, 3, 4, 5);
  } else {
    low += sums(cross(W.column[0] * x, W.column[1] * x), cross(W.column[2] * x, W.column[3] * x));
    high += sums(s45, none);
  }
}

/// w <- w + W^T x.
template <int R>
inline void add_rows_of(const double* W, int rows, const double* x, double* w) {
  double v[6] = {w[0], w[1], w[2], w[3], w[4], w[5]};
  for (int r = 0; r < (R > 0 ? R : rows); ++r)
    for (int n = 0; n < 6; ++n) v[n] += x[r] * W[6 * r + n];
  for (int n = 0; n < 6; ++n) w[n] = v[n];
}
inline void add_rows(const double* W, int rows, const double* x, double* w) {
  return rows == 3 ? add_rows_of<3>(W, 3, x, w) : add_rows_of<0>(W, rows, x, w);
}

inline double row_product(const double* p, const double* q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] + p[4] * q[4] + p[5] * q[5];
}

/// The first two of four lanes in doubles, and the other two.
inline Two first_two(Four x) { return __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1), Two); }
inline Two last_two(Four x) { return __builtin_convertvector(__builtin_shufflevector(x, x, 2, 3), Two); }

/// A <- A + W W^T, its lower triangle; `first`: A <- W W^T.
inline void add_square(const double* W, int rows, bool first, double* A) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c <= r; ++c) A[r * rows + c] = (first ? 0 : A[r * rows + c]) + row_product(W + 6 * r, W + 6 * c);
}
/// The same of three rows.
template <bool points>
inline void add_square_of_three(const RowLanes& W, bool first, double* A) {
  Two diagonal{}, below{}, last{}, corner{};  // 00 11, 10, 20 21, 22
  for (int n = points ? 3 : 0; n < 6; ++n) {
    const Two low = first_two(W.column[n]), high = last_two(W.column[n]);
    diagonal += low * low;
    below += low * __builtin_shufflevector(low, low, 1, 0);
    last += low * high[0];
    corner += high * high;
  }
  const double linear = points ? double(linear_of(W)) * double(linear_of(W)) : 0;
  const double all[9] = {diagonal[0] + linear, 0, 0, below[0], diagonal[1] + linear, 0, last[0], last[1], corner[0] + linear};
  for (const int k : {0, 3, 4, 6, 7, 8}) A[k] = (first ? 0 : A[k]) + all[k];
}

/// A <- A + V W^T; `first`: A <- V W^T.
inline void add_product(const double* V, int rows, const double* W, int columns, bool first, double* A) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) A[r * columns + c] = (first ? 0 : A[r * columns + c]) + row_product(V + 6 * r, W + 6 * c);
}
template <bool points>
inline void add_product_of_three(const RowLanes& V, const RowLanes& W, bool first, double* A) {
  Two row0{}, row1{}, row2{}, column{}, corner{};  // 00 01, 10 11, 20 21, 02 12, 22
  for (int n = points ? 3 : 0; n < 6; ++n) {
    const Two low_v = first_two(V.column[n]), high_v = last_two(V.column[n]), low = first_two(W.column[n]),
              high = last_two(W.column[n]);
    row0 += low * low_v[0];
    row1 += low * low_v[1];
    row2 += low * high_v[0];
    column += low_v * high[0];
    corner += high_v * high;
  }
  const double linear = points ? double(linear_of(V)) * double(linear_of(W)) : 0;
  const double all[9] = {row0[0] + linear, row0[1], column[0], row1[0],           row1[1] + linear,
                         column[1],        row2[0], row2[1],   corner[0] + linear};
  for (int k = 0; k < 9; ++k) A[k] = (first ? 0 : A[k]) + all[k];
}

}  // namespace rotule::realtime
