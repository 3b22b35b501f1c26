#include "linalg/block_lu.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/budget.h"

namespace rotule {

namespace {

constexpr double smallest_pivot = 1e-15;

/// The product as it is written in textbooks: the library's own looks for infinities, at several times the price.
inline double times(double a, double b) { return a * b; }
inline std::complex<double> times(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A pivot of this size in the direction of one that is too small.
inline double pivot_of_size(double size, double pivot) { return std::copysign(size, pivot); }
inline std::complex<double> pivot_of_size(double size, std::complex<double>) { return size; }

/// C -= A B with A of n x k and B of k x m; S stands for all three where it is not 0.
template <int S, class Scalar>
inline void subtract_product(Scalar* __restrict C, const Scalar* __restrict A, const Scalar* __restrict B, int n, int k, int m) {
  if constexpr (S > 0) n = k = m = S;
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < k; ++i) {
      const Scalar a = A[r * k + i];
      for (int c = 0; c < m; ++c) C[r * m + c] -= times(a, B[i * m + c]);
    }
}

/// y -= A x with A of n x m.
template <int S, class Scalar>
inline void subtract_product(Scalar* __restrict y, const Scalar* __restrict A, const Scalar* __restrict x, int n, int m) {
  if constexpr (S > 0) n = m = S;
  for (int r = 0; r < n; ++r) {
    Scalar sum = 0;
    for (int c = 0; c < m; ++c) sum += times(A[r * m + c], x[c]);
    y[r] -= sum;
  }
}

}  // namespace

template <class Scalar>
int invert_block(Scalar* A, int n, double tiny) {
  double largest = 0;
  for (int i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(A[i]));
  const double floor = largest > 0 ? tiny * largest : 1.0;
  int replaced = 0;
  int swapped[6];
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int r = k + 1; r < n; ++r)
      if (std::abs(A[r * n + k]) > std::abs(A[p * n + k])) p = r;
    swapped[k] = p;
    if (p != k)
      for (int c = 0; c < n; ++c) std::swap(A[k * n + c], A[p * n + c]);
    Scalar pivot = A[k * n + k];
    if (!(std::abs(pivot) > floor)) {
      pivot = pivot_of_size(floor, pivot);
      ++replaced;
    }
    const Scalar inverse = 1.0 / pivot;
    A[k * n + k] = 1;
    for (int c = 0; c < n; ++c) A[k * n + c] = times(A[k * n + c], inverse);
    for (int r = 0; r < n; ++r) {
      if (r == k) continue;
      const Scalar factor = A[r * n + k];
      A[r * n + k] = 0;
      for (int c = 0; c < n; ++c) A[r * n + c] -= times(factor, A[k * n + c]);
    }
  }
  for (int k = n - 1; k >= 0; --k)
    if (swapped[k] != k)
      for (int r = 0; r < n; ++r) std::swap(A[r * n + k], A[r * n + swapped[k]]);
  return replaced;
}

template <class Scalar>
void BasicBlockLu<Scalar>::analyse(std::span<const int> sizes, const Graph& adjacency, std::span<const int> order) {
  const int n = static_cast<int>(sizes.size());
  position_.assign(n, 0);
  for (int k = 0; k < n; ++k) position_[order[k]] = k;
  std::vector<int> first_row(n + 1, 0);
  for (int i = 0; i < n; ++i) first_row[i + 1] = first_row[i] + sizes[i];
  uniform_size_ = n > 0 && std::all_of(sizes.begin(), sizes.end(), [&](int s) { return s == sizes[0]; }) ? sizes[0] : 0;
  alone_.assign(n, 0);

  // Rows of column k of L: those of A, and those of each column whose first row is k.
  std::vector<std::vector<int>> rows(n), children(n);
  std::vector<int> mark(n, -1);
  columns_.clear();
  below_.clear();
  std::int64_t place = 0;
  work_ = 0;
  for (int k = 0; k < n; ++k) {
    const int node = order[k];
    mark[k] = k;
    const auto add = [&](int p) {
      if (p > k && mark[p] != k) {
        mark[p] = k;
        rows[k].push_back(p);
      }
    };
    for (const int neighbour : adjacency.of(node)) add(position_[neighbour]);
    for (const int child : children[k])
      for (const int p : rows[child]) add(p);
    std::sort(rows[k].begin(), rows[k].end());
    if (!rows[k].empty()) children[rows[k].front()].push_back(k);

    const int size = sizes[node];
    columns_.push_back({static_cast<std::int32_t>(place), static_cast<std::int32_t>(below_.size()),
                        static_cast<std::int32_t>(rows[k].size()), first_row[node], size});
    place += size * size;
    double height = 0;
    for (const int p : rows[k]) {
      const int other = order[p], area = size * sizes[other];
      below_.push_back(
          {p, first_row[other], sizes[other], static_cast<std::int32_t>(place), static_cast<std::int32_t>(place + area)});
      place += 2 * area;
      height += sizes[other];
    }
    work_ += size * (height + size) * (height + size);
  }
  if (place > std::numeric_limits<std::int32_t>::max())
    throw Error("block LU", "the factor is too large; use an iterative solver");
  values_.assign(place, 0.0);
}

template <class Scalar>
std::int32_t BasicBlockLu<Scalar>::offset(int row_node, int column_node) const {
  const int r = position_[row_node], c = position_[column_node];
  if (r == c) return columns_[r].values;
  const Column& column = columns_[std::min(r, c)];
  const auto begin = below_.begin() + column.below;
  const auto entry =
      std::lower_bound(begin, begin + column.count, std::max(r, c), [](const Below& b, int p) { return b.position < p; });
  return r > c ? entry->lower : entry->upper;
}

template <class Scalar>
template <int S>
void BasicBlockLu<Scalar>::factor_columns() {
  const int n = static_cast<int>(columns_.size());
  Scalar* const values = values_.data();
  replaced_ = 0;
  for (int k = 0; k < n; ++k) {
    Dispensable::pause(k);
    const Column& column = columns_[k];
    const int s = column.size;
    Scalar* const D = values + column.values;
    replaced_ += invert_block(D, s, smallest_pivot);
    if (alone_[k]) continue;
    const Below* const rows = below_.data() + column.below;
    for (int e = 0; e < column.count; ++e) {
      Scalar product[36] = {};
      Scalar* const L = values + rows[e].lower;
      subtract_product<S, Scalar>(product, L, D, rows[e].size, s, s);
      for (int i = 0; i < rows[e].size * s; ++i) L[i] = -product[i];
    }
    for (int e = 0; e < column.count; ++e) {
      const Below& j = rows[e];
      if (alone_[j.position]) continue;
      const Column& target = columns_[j.position];
      const Scalar *const L_j = values + j.lower, *const U_j = values + j.upper;
      subtract_product<S, Scalar>(values + target.values, L_j, U_j, j.size, s, j.size);
      // The rows of column k after j are among those of column j: both lists are sorted.
      const Below* place = below_.data() + target.below;
      for (int f = e + 1; f < column.count; ++f) {
        const Below& i = rows[f];
        if (alone_[i.position]) continue;
        while (place->position < i.position) ++place;
        subtract_product<S, Scalar>(values + place->lower, values + i.lower, U_j, i.size, s, j.size);
        subtract_product<S, Scalar>(values + place->upper, L_j, values + i.upper, j.size, s, i.size);
      }
    }
  }
}

template <class Scalar>
template <int S>
void BasicBlockLu<Scalar>::solve_columns(Scalar* x) const {
  const int n = static_cast<int>(columns_.size());
  const Scalar* const values = values_.data();
  for (int k = 0; k < n; ++k) {
    if (alone_[k]) continue;
    const Column& column = columns_[k];
    const Below* const rows = below_.data() + column.below;
    for (int e = 0; e < column.count; ++e)
      subtract_product<S, Scalar>(x + rows[e].row, values + rows[e].lower, x + column.row, rows[e].size, column.size);
  }
  for (int k = n - 1; k >= 0; --k) {
    const Column& column = columns_[k];
    Scalar* const x_k = x + column.row;
    const Below* const rows = below_.data() + column.below;
    if (!alone_[k])
      for (int e = 0; e < column.count; ++e)
        subtract_product<S, Scalar>(x_k, values + rows[e].upper, x + rows[e].row, column.size, rows[e].size);
    Scalar product[6] = {};
    subtract_product<S, Scalar>(product, values + column.values, x_k, column.size, column.size);
    for (int i = 0; i < column.size; ++i) x_k[i] = -product[i];
  }
}

template <class Scalar>
void BasicBlockLu<Scalar>::factor() {
  if (uniform_size_ == 3)
    factor_columns<3>();
  else if (uniform_size_ == 6)
    factor_columns<6>();
  else
    factor_columns<0>();
}

template <class Scalar>
void BasicBlockLu<Scalar>::solve(Scalar* x) const {
  if (uniform_size_ == 3)
    solve_columns<3>(x);
  else if (uniform_size_ == 6)
    solve_columns<6>(x);
  else
    solve_columns<0>(x);
}

template class BasicBlockLu<double>;
template class BasicBlockLu<std::complex<double>>;
template int invert_block(double*, int, double);
template int invert_block(std::complex<double>*, int, double);

}  // namespace rotule
