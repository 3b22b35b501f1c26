#include "linalg/block_ldlt.h"

#include <rotule/error.h>

#include <algorithm>
#include <limits>

#include "base/budget.h"

namespace rotule {

namespace {

/// One row of L inside a column: u = a L_D^-T, then l = u D^-1. The row is overwritten by l; u is what updates need.
template <int S>
inline void eliminate_row(const double* L, double* a, double* u, int size) {
  const int s = S ? S : size;
  for (int k = 0; k < s; ++k) {
    double sum = a[k];
    for (int m = 0; m < k; ++m) sum -= u[m] * L[k * s + m];
    u[k] = sum;
  }
  for (int k = 0; k < s; ++k) a[k] = u[k] * L[k * s + k];
}

/// target -= l u^T, all of it or its lower triangle.
template <int S>
inline void subtract_product(double* target, const double* l, const double* u, int rows, int cols, int inner) {
  const int r = S ? S : rows, c = S ? S : cols, s = S ? S : inner;
  for (int i = 0; i < r; ++i)
    for (int j = 0; j < c; ++j) {
      double sum = l[i * s] * u[j * s];
      for (int k = 1; k < s; ++k) sum += l[i * s + k] * u[j * s + k];
      target[i * c + j] -= sum;
    }
}

template <int S>
inline void subtract_square(double* target, const double* l, const double* u, int rows, int inner) {
  const int r = S ? S : rows, s = S ? S : inner;
  for (int i = 0; i < r; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = l[i * s] * u[j * s];
      for (int k = 1; k < s; ++k) sum += l[i * s + k] * u[j * s + k];
      target[i * r + j] -= sum;
    }
}

}  // namespace

void BlockLdlt::analyse(std::span<const Node> nodes, const Graph& adjacency, std::span<const int> order) {
  const int n = static_cast<int>(nodes.size());
  position_.assign(n, 0);
  for (int p = 0; p < n; ++p) position_[order[p]] = p;

  // Pattern of each column of L: what A has below the diagonal, and what the columns whose first block is here leave behind.
  std::vector<std::int32_t> start(n + 1, 0), first_child(n, -1), next_sibling(n, -1), mark(n, -1);
  pattern_.clear();
  for (int p = 0; p < n; ++p) {
    start[p] = static_cast<std::int32_t>(pattern_.size());
    mark[p] = p;
    const auto add = [&](int q) {
      if (q > p && mark[q] != p) {
        mark[q] = p;
        pattern_.push_back(q);
      }
    };
    for (const int v : adjacency.of(order[p])) add(position_[v]);
    for (int c = first_child[p]; c >= 0; c = next_sibling[c])
      for (int k = start[c]; k < start[c + 1]; ++k) add(pattern_[k]);
    std::sort(pattern_.begin() + start[p], pattern_.end());
    start[p + 1] = static_cast<std::int32_t>(pattern_.size());
    if (start[p + 1] > start[p]) {
      const int parent = pattern_[start[p]];
      next_sibling[p] = first_child[parent];
      first_child[parent] = p;
    }
  }
  pattern_.shrink_to_fit();

  // Places of the blocks, and sizes.
  columns_.resize(n);
  below_.resize(pattern_.size());
  uniform_size_ = n ? nodes[0].size : 0;
  std::int64_t place = 0, rows = 0, targets = 0;
  int most_below = 0;
  for (int p = 0; p < n; ++p) {
    const Node& node = nodes[order[p]];
    if (node.size != uniform_size_ || node.negative) uniform_size_ = 0;
    const int count = start[p + 1] - start[p];
    columns_[p] = {.values = static_cast<std::int32_t>(place),
                   .below = start[p],
                   .targets = static_cast<std::int32_t>(targets),
                   .count = count,
                   .row = node.first_row,
                   .size = static_cast<std::int16_t>(node.size),
                   .negative = static_cast<std::int16_t>(node.negative)};
    place += node.size * node.size;
    for (int k = start[p]; k < start[p + 1]; ++k) {
      const Node& lower = nodes[order[pattern_[k]]];
      below_[k] = {lower.first_row, lower.size};
      place += lower.size * node.size;
    }
    rows += node.size;
    targets += std::int64_t{count} * (count + 1) / 2;
    most_below = std::max(most_below, count);
  }
  if (std::max(place, targets) > std::numeric_limits<std::int32_t>::max())
    throw Error("block LDL^T", "the factor of this system is too large; use an iterative solver");
  if (uniform_size_ != 3 && uniform_size_ != 5 && uniform_size_ != 6) uniform_size_ = 0;

  // Targets: column q = pattern[a] holds every later row of column p, so one pass over it finds them all.
  targets_.resize(targets);
  std::size_t t = 0;
  for (int p = 0; p < n; ++p)
    for (int a = start[p]; a < start[p + 1]; ++a) {
      const int q = pattern_[a];
      const Column& column = columns_[q];
      targets_[t++] = column.values;
      std::int32_t at = column.values + column.size * column.size;
      int k = start[q];
      for (int b = a + 1; b < start[p + 1]; ++b) {
        for (; pattern_[k] != pattern_[b]; ++k) at += below_[k].size * column.size;
        targets_[t++] = at;
      }
    }
  values_.assign(place, 0.0);
  diagonal_.assign(rows, 0.0);
  unscaled_.assign(static_cast<std::size_t>(36) * most_below, 0.0);
}

int BlockLdlt::offset(int later, int earlier) const {
  const Column& column = columns_[position_[earlier]];
  const auto begin = pattern_.begin() + column.below, end = begin + column.count;
  const auto found = std::lower_bound(begin, end, position_[later]);
  std::int32_t at = column.values + column.size * column.size;
  for (auto k = column.below; k < found - pattern_.begin(); ++k) at += below_[k].size * column.size;
  return at;
}

BlockLdlt::Outcome BlockLdlt::factor(double tolerance, std::vector<std::int32_t>& redundant_rows) {
  switch (uniform_size_) {
    case 3:
      return factor_columns<3>(tolerance, redundant_rows);
    case 5:
      return factor_columns<5>(tolerance, redundant_rows);
    case 6:
      return factor_columns<6>(tolerance, redundant_rows);
    default:
      return factor_columns<0>(tolerance, redundant_rows);
  }
}

void BlockLdlt::solve(double* x) const {
  switch (uniform_size_) {
    case 3:
      return solve_columns<3>(x);
    case 5:
      return solve_columns<5>(x);
    case 6:
      return solve_columns<6>(x);
    default:
      return solve_columns<0>(x);
  }
}

template <int S>
BlockLdlt::Outcome BlockLdlt::factor_columns(double tolerance, std::vector<std::int32_t>& redundant_rows) {
  double* const values = values_.data();
  double* diagonal = diagonal_.data();
  for (const Column& column : columns_) {
    const int s = S ? S : column.size;
    for (int i = 0; i < s; ++i) *diagonal++ = values[column.values + i * (s + 1)];
  }

  Outcome outcome;
  const double* original = diagonal_.data();
  const std::int32_t* target = targets_.data();
  double* const unscaled = unscaled_.data();
  std::int64_t piece = 0;
  for (const Column& column : columns_) {
    Dispensable::pause(++piece);
    const int s = S ? S : column.size;
    double* const D = values + column.values;

    // The diagonal block: its own scalar LDL^T, with inverse pivots on the diagonal. Worked on in a local copy.
    double L[S ? S * S : 36];
    for (int j = 0; j < s; ++j) {
      double u[S ? S : 6];
      double pivot = D[j * s + j];
      for (int k = 0; k < j; ++k) {
        double sum = D[j * s + k];
        for (int m = 0; m < k; ++m) sum -= u[m] * L[k * s + m];
        u[k] = sum;
      }
      for (int k = 0; k < j; ++k) {
        L[j * s + k] = u[k] * L[k * (s + 1)];
        pivot -= u[k] * L[j * s + k];
      }
      const double scale = original[j];
      const double kept = !S && column.negative ? -pivot : pivot, least = !S && column.negative ? -scale : scale;
      if (kept <= tolerance * least) [[unlikely]] {
        L[j * s + j] = 0;
        if (S || !column.negative) {
          ++outcome.redundant;
          redundant_rows.push_back(column.row + j);
        }
      } else {
        L[j * s + j] = 1 / pivot;
        if (kept < outcome.smallest_ratio * least) outcome.smallest_ratio = kept / least;
      }
    }
    for (int j = 0; j < s; ++j)
      for (int k = 0; k <= j; ++k) D[j * s + k] = L[j * s + k];
    original += s;

    // The blocks below, and what they take from the columns to the right. A single one, as on chains, stays in registers.
    const int count = column.count;
    const Below* const below = below_.data() + column.below;
    double* l = D + s * s;
    if (S == 3 && count == 1) {
      double block[9], scaled[9];
      for (int i = 0; i < 9; ++i) block[i] = l[i];
      for (int i = 0; i < 3; ++i) eliminate_row<3>(L, block + 3 * i, scaled + 3 * i, 3);
      for (int i = 0; i < 9; ++i) l[i] = block[i];
      subtract_square<3>(values + *target++, block, scaled, 3, 3);
      continue;
    }
    double* u = unscaled;
    for (int a = 0; a < count; ++a) {
      const int rows = S ? S : below[a].size;
      for (int i = 0; i < rows; ++i, l += s, u += s) eliminate_row<S>(L, l, u, s);
    }
    const double* l_a = D + s * s;
    const double* u_a = unscaled;
    for (int a = 0; a < count; ++a) {
      const int cols = S ? S : below[a].size;
      subtract_square<S>(values + *target++, l_a, u_a, cols, s);
      const double* l_b = l_a + cols * s;
      for (int b = a + 1; b < count; ++b) {
        const int rows = S ? S : below[b].size;
        subtract_product<S>(values + *target++, l_b, u_a, rows, cols, s);
        l_b += rows * s;
      }
      l_a += cols * s;
      u_a += cols * s;
    }
  }
  return outcome;
}

template <int S>
void BlockLdlt::solve_columns(double* x) const {
  const double* const values = values_.data();
  const Below* const all_below = below_.data();
  // L y = b. Parts of x are kept in locals: the compiler cannot know that writing x leaves L alone.
  for (const Column& column : columns_) {
    const int s = S ? S : column.size;
    const double* L = values + column.values;
    double y[S ? S : 6];
    for (int i = 0; i < s; ++i) {
      double sum = x[column.row + i];
      for (int k = 0; k < i; ++k) sum -= L[i * s + k] * y[k];
      y[i] = sum;
    }
    for (int i = 1; i < s; ++i) x[column.row + i] = y[i];
    L += s * s;
    const Below* const end = all_below + column.below + column.count;
    for (const Below* below = all_below + column.below; below != end; ++below) {
      const int rows = S ? S : below->size;
      double* const lower = x + below->row;
      double out[S ? S : 6];
      for (int i = 0; i < rows; ++i, L += s) {
        double sum = L[0] * y[0];
        for (int k = 1; k < s; ++k) sum += L[k] * y[k];
        out[i] = lower[i] - sum;
      }
      for (int i = 0; i < rows; ++i) lower[i] = out[i];
    }
  }
  // D L^T x = y.
  for (std::size_t p = columns_.size(); p-- > 0;) {
    const Column& column = columns_[p];
    const int s = S ? S : column.size;
    const double* const D = values + column.values;
    double* const out = x + column.row;
    double y[S ? S : 6];
    for (int k = 0; k < s; ++k) y[k] = out[k] * D[k * (s + 1)];
    const double* L = D + s * s;
    const Below* const end = all_below + column.below + column.count;
    for (const Below* below = all_below + column.below; below != end; ++below) {
      const int rows = S ? S : below->size;
      const double* const lower = x + below->row;
      for (int i = 0; i < rows; ++i, L += s)
        for (int k = 0; k < s; ++k) y[k] -= L[k] * lower[i];
    }
    for (int i = s - 1; i > 0; --i)
      for (int k = 0; k < i; ++k) y[k] -= D[i * s + k] * y[i];
    for (int k = 0; k < s; ++k) out[k] = y[k];
  }
}

std::size_t BlockLdlt::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(columns_) + of(below_) + of(targets_) + of(position_) + of(pattern_) + of(values_) + of(diagonal_) + of(unscaled_);
}

}  // namespace rotule
