#include "linalg/block3_matrix.h"

#include <algorithm>

#include "linalg/pieces.h"

namespace rotule {

void Block3Matrix::analyse(int rows, std::span<const std::array<int, 2>> pairs) {
  std::vector<std::int64_t> fill(static_cast<std::size_t>(rows) + 1, 0);
  for (int r = 0; r < rows; ++r) fill[r + 1] = 1;
  for (const auto& [i, j] : pairs) {
    ++fill[i + 1];
    ++fill[j + 1];
  }
  for (int r = 0; r < rows; ++r) fill[r + 1] += fill[r];
  std::vector<int> all(static_cast<std::size_t>(fill[rows]));
  std::vector<std::int64_t> next(fill.begin(), fill.end() - 1);
  for (int r = 0; r < rows; ++r) all[next[r]++] = r;
  for (const auto& [i, j] : pairs) {
    all[next[i]++] = j;
    all[next[j]++] = i;
  }
  // Rows sorted, repetitions dropped, in place.
  start_.assign(1, 0);
  start_.reserve(static_cast<std::size_t>(rows) + 1);
  diagonal_.resize(rows);
  std::int64_t kept = 0;
  for (int r = 0; r < rows; ++r) {
    std::sort(all.begin() + fill[r], all.begin() + fill[r + 1]);
    const auto end = std::unique(all.begin() + fill[r], all.begin() + fill[r + 1]);
    for (auto at = all.begin() + fill[r]; at != end; ++at) {
      if (*at == r) diagonal_[r] = kept;
      all[kept++] = *at;
    }
    start_.push_back(kept);
  }
  all.resize(static_cast<std::size_t>(kept));
  column_ = std::move(all);
  column_.shrink_to_fit();
  values_.assign(9 * column_.size(), 0.0);
}

std::int64_t Block3Matrix::find(int row, int column) const {
  const auto begin = column_.begin() + start_[row], end = column_.begin() + start_[row + 1];
  const auto at = std::lower_bound(begin, end, column);
  return at != end && *at == column ? at - column_.begin() : -1;
}

void Block3Matrix::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

void Block3Matrix::multiply(const VecX& x, VecX& y, int threads) const {
  for_pieces(rows(), threads, [&](int, int from, int to) {
    const double* a = values_.data() + 9 * start_[from];
    const int* column = column_.data() + start_[from];
    for (int r = from; r < to; ++r) {
      double y0 = 0, y1 = 0, y2 = 0;
      for (std::int64_t n = start_[r]; n < start_[r + 1]; ++n, a += 9, ++column) {
        const double* v = x.data() + 3 * static_cast<std::ptrdiff_t>(*column);
        y0 += a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
        y1 += a[3] * v[0] + a[4] * v[1] + a[5] * v[2];
        y2 += a[6] * v[0] + a[7] * v[1] + a[8] * v[2];
      }
      double* out = y.data() + 3 * static_cast<std::ptrdiff_t>(r);
      out[0] = y0;
      out[1] = y1;
      out[2] = y2;
    }
  });
}

}  // namespace rotule
