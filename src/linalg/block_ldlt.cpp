#include "linalg/block_ldlt.h"

#include <rotule/error.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/budget.h"
#include "linalg/branches.h"

namespace rotule {

namespace {

constexpr double least_shared_cost = 2e5;  // multiplications: some 100 microseconds; less is not worth waking anybody

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

/// What one block of a column takes from the columns to the right, together with those below it: l and u begin with that block.
template <int S, class Below>
inline void subtract_products(double* values, const std::int32_t* target, const Below* below, int count, const double* l,
                              const double* u, int size) {
  const int s = S ? S : size, cols = S ? S : below[0].size;
  subtract_square<S>(values + *target++, l, u, cols, s);
  l += cols * s;
  for (int b = 1; b < count; ++b) {
    const int rows = S ? S : below[b].size;
    subtract_product<S>(values + *target++, l, u, rows, cols, s);
    l += rows * s;
  }
}

}  // namespace

std::vector<std::int32_t> BlockLdlt::find_pattern(const Graph& adjacency, std::span<const int> order) {
  const int n = static_cast<int>(order.size());
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
  return start;
}

BlockLdlt::Tree BlockLdlt::find_tree(std::span<const Node> nodes, std::span<const int> order,
                                     std::span<const std::int32_t> start) const {
  constexpr double least_of_a_column = 50;
  const int n = static_cast<int>(order.size());
  Tree tree{.parent = std::vector<int>(n, -1), .cost = std::vector<double>(n)};
  for (int p = 0; p < n; ++p) {
    double rows = nodes[order[p]].size;
    for (int k = start[p]; k < start[p + 1]; ++k) rows += nodes[order[pattern_[k]]].size;
    tree.cost[p] = least_of_a_column + 0.5 * nodes[order[p]].size * rows * rows;
    tree.total += tree.cost[p];
    if (start[p + 1] > start[p]) tree.parent[p] = pattern_[start[p]];
  }
  return tree;
}

void BlockLdlt::turn_to_middle(std::span<const Node> nodes, const Graph& adjacency, std::vector<int>& order,
                               std::vector<std::int32_t>& start) {
  constexpr double dearer = 1.01;  // that one thread may take longer by it
  const Tree tree = find_tree(nodes, order, start);
  if (tree.total < least_shared_cost || std::ranges::any_of(nodes, [](const Node& node) { return node.negative; })) return;
  const int n = static_cast<int>(order.size()), middle = middle_of(tree.parent, tree.cost);
  enum Place : char { elsewhere, above, last };
  std::vector<Place> place(n, elsewhere);
  for (int p = tree.parent[middle]; p >= 0; p = tree.parent[p]) place[p] = above;
  place[middle] = last;
  for (int k = start[middle]; k < start[middle + 1]; ++k) place[pattern_[k]] = last;
  std::vector<int> turned;
  turned.reserve(n);
  for (int p = 0; p < n; ++p)
    if (place[p] == elsewhere) turned.push_back(order[p]);
  for (int p = n - 1; p >= 0; --p)
    if (place[p] == above) turned.push_back(order[p]);
  for (int p = 0; p < n; ++p)
    if (place[p] == last) turned.push_back(order[p]);
  if (turned == order) return;

  // Two threads tell, even where there is one: bits must not depend on it.
  const double before = rotule::find_branches(tree.parent, tree.cost, 2).time;
  std::vector<std::int32_t> turned_start = find_pattern(adjacency, turned);
  const Tree other = find_tree(nodes, turned, turned_start);
  if (other.total < dearer * tree.total && rotule::find_branches(other.parent, other.cost, 2).time < before) {
    order = std::move(turned);
    start = std::move(turned_start);
  } else {
    start = find_pattern(adjacency, order);
  }
}

std::vector<int> BlockLdlt::find_branches(std::span<const Node> nodes, std::span<const int> order,
                                          std::span<const std::int32_t> start, int threads) {
  const int n = static_cast<int>(order.size());
  part_start_ = {0, n};
  if (threads <= 1) return {};
  const Tree tree = find_tree(nodes, order, start);
  if (tree.total < least_shared_cost) return {};
  const Branches branches = rotule::find_branches(tree.parent, tree.cost, threads);
  if (branches.tasks == 0) return {};

  // Task by task, and the trunk; within each as it was, so that fill is what it was.
  const auto part = [&](int p) { return branches.task[p] < 0 ? branches.tasks : branches.task[p]; };
  part_start_.assign(branches.tasks + 2, 0);
  for (int p = 0; p < n; ++p) ++part_start_[part(p) + 1];
  std::partial_sum(part_start_.begin(), part_start_.end(), part_start_.begin());
  std::vector<int> sequence(n), next = part_start_;
  for (int p = 0; p < n; ++p) sequence[next[part(p)]++] = p;
  return sequence;
}

void BlockLdlt::analyse(std::span<const Node> nodes, const Graph& adjacency, std::span<const int> wanted, int threads) {
  const int n = static_cast<int>(nodes.size());
  std::vector<int> order(wanted.begin(), wanted.end()), reordered;
  std::vector<std::int32_t> start = find_pattern(adjacency, order);
  turn_to_middle(nodes, adjacency, order, start);
  const std::vector<int> sequence = find_branches(nodes, order, start, threads);
  if (!sequence.empty()) {
    for (const int p : sequence) reordered.push_back(order[p]);
    order = reordered;
    start = find_pattern(adjacency, order);
  }

  // Places of the blocks, and sizes.
  columns_.resize(n);
  below_.resize(pattern_.size());
  uniform_size_ = n ? nodes[0].size : 0;
  std::int64_t place = 0, rows = 0, targets = 0, kept = 0;
  int most_below = 0;
  for (int p = 0; p < n; ++p) {
    const Node& node = nodes[order[p]];
    if (node.size != uniform_size_ || node.negative) uniform_size_ = 0;
    const int count = start[p + 1] - start[p];
    int inside = count;
    if (!sequence.empty())
      inside = static_cast<int>(std::lower_bound(pattern_.begin() + start[p], pattern_.begin() + start[p + 1], trunk()) -
                                (pattern_.begin() + start[p]));
    columns_[p] = {.values = static_cast<std::int32_t>(place),
                   .below = start[p],
                   .targets = static_cast<std::int32_t>(targets),
                   .count = count,
                   .inside = inside,
                   .kept = static_cast<std::int32_t>(kept),
                   .place = static_cast<std::int32_t>(rows),
                   .row = node.first_row,
                   .size = static_cast<std::int16_t>(node.size),
                   .negative = static_cast<std::int16_t>(node.negative)};
    place += node.size * node.size;
    for (int k = start[p]; k < start[p + 1]; ++k) {
      const Node& lower = nodes[order[pattern_[k]]];
      below_[k] = {lower.first_row, lower.size};
      place += lower.size * node.size;
      if (k >= start[p] + inside) kept += lower.size * node.size;
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
  unscaled_size_ = static_cast<std::size_t>(36) * most_below;
  unscaled_.assign(unscaled_size_ * parts(), 0.0);
  kept_.assign(kept, 0.0);
  outcomes_.resize(parts());
  find_pulls(sequence);
}

void BlockLdlt::find_pulls(std::span<const int> sequence) {
  pulls_.clear();
  pull_start_.clear();
  branches_only_.clear();
  if (sequence.empty()) return;
  const int n = static_cast<int>(columns_.size()), first = trunk();
  pull_start_.assign(n - first + 1, 0);
  for (const Column& column : columns_)
    for (int a = column.inside; a < column.count; ++a) ++pull_start_[pattern_[column.below + a] - first + 1];
  std::partial_sum(pull_start_.begin(), pull_start_.end(), pull_start_.begin());
  pulls_.resize(pull_start_.back());

  // In the order of elimination that was asked for.
  std::vector<int> place(n);
  for (int p = 0; p < n; ++p) place[sequence[p]] = p;
  std::vector<std::int32_t> next(pull_start_.begin(), pull_start_.end() - 1);
  for (const int p : place) {
    const Column& column = columns_[p];
    std::int32_t l = column.values + column.size * column.size, u = column.kept;
    for (int a = 0; a < column.count; ++a) {
      const Below& below = below_[column.below + a];
      if (a >= column.inside) {
        pulls_[next[pattern_[column.below + a] - first]++] = {p, a, l, u, column.targets + a * column.count - a * (a - 1) / 2};
        u += below.size * column.size;
      }
      l += below.size * column.size;
    }
  }
  for (int q = first; q < n; ++q) {
    std::int32_t k = pull_start_[q - first];
    while (k < pull_start_[q - first + 1] && pulls_[k].column < first) ++k;
    branches_only_.push_back(k);
  }
}

int BlockLdlt::part_of(int node) const {
  return static_cast<int>(std::upper_bound(part_start_.begin(), part_start_.end() - 1, position_[node]) - part_start_.begin()) -
         1;
}

std::span<double> BlockLdlt::values_of(int part) {
  const auto at = [&](int column) {
    return column < static_cast<int>(columns_.size()) ? static_cast<std::size_t>(columns_[column].values) : values_.size();
  };
  const std::size_t from = at(part_start_[part]);
  return {values_.data() + from, at(part_start_[part + 1]) - from};
}

void BlockLdlt::add_to_diagonal(int part, std::span<const double> compliance) {
  for (int p = part_start_[part]; p < part_start_[part + 1]; ++p) {
    const Column& column = columns_[p];
    if (static_cast<std::size_t>(column.row) >= compliance.size()) continue;
    double* const D = values_.data() + column.values;
    for (int r = 0; r < column.size; ++r) D[r * (column.size + 1)] += compliance[column.row + r];
  }
}

int BlockLdlt::offset(int later, int earlier) const {
  const Column& column = columns_[position_[earlier]];
  const auto begin = pattern_.begin() + column.below, end = begin + column.count;
  const auto found = std::lower_bound(begin, end, position_[later]);
  std::int32_t at = column.values + column.size * column.size;
  for (auto k = column.below; k < found - pattern_.begin(); ++k) at += below_[k].size * column.size;
  return at;
}

BlockLdlt::Outcome BlockLdlt::factor(double tolerance, std::vector<std::int32_t>& redundant_rows, Gang* gang) {
  switch (uniform_size_) {
    case 3:
      return factor_all<3>(tolerance, redundant_rows, gang);
    case 5:
      return factor_all<5>(tolerance, redundant_rows, gang);
    case 6:
      return factor_all<6>(tolerance, redundant_rows, gang);
    default:
      return factor_all<0>(tolerance, redundant_rows, gang);
  }
}

void BlockLdlt::solve(double* x, Gang* gang) const {
  switch (uniform_size_) {
    case 3:
      return solve_all<3>(x, gang);
    case 5:
      return solve_all<5>(x, gang);
    case 6:
      return solve_all<6>(x, gang);
    default:
      return solve_all<0>(x, gang);
  }
}

template <int S>
BlockLdlt::Outcome BlockLdlt::factor_all(double tolerance, std::vector<std::int32_t>& redundant_rows, Gang* gang) {
  const int n = static_cast<int>(columns_.size()), branches = parts() - 1, first = trunk();
  Outcome outcome;
  if (branches == 0) {
    remember_diagonal<S>(0);
    factor_columns<S>(0, n, tolerance, unscaled_.data(), outcome, &redundant_rows);
    return outcome;
  }
  share_out(gang, branches + 1, [&](int part, int) {
    remember_diagonal<S>(part);
    outcomes_[part] = {};
    if (part < branches)
      factor_columns<S>(part_start_[part], part_start_[part + 1], tolerance, unscaled_.data() + unscaled_size_ * part,
                        outcomes_[part], nullptr);
  });
  // The trunk: first what branches alone take from its columns, then column by column.
  share_out(gang, n - first, [&](int q, int) {
    for (int k = pull_start_[q]; k < branches_only_[q]; ++k) fetch<S>(pulls_[k]);
  });
  for (int q = first; q < n; ++q) {
    for (int k = branches_only_[q - first]; k < pull_start_[q - first + 1]; ++k) fetch<S>(pulls_[k]);
    factor_columns<S>(q, q + 1, tolerance, unscaled_.data() + unscaled_size_ * branches, outcomes_[branches], nullptr);
  }
  for (const Outcome& own : outcomes_) {
    outcome.smallest_ratio = std::min(outcome.smallest_ratio, own.smallest_ratio);
    outcome.redundant += own.redundant;
  }
  if (outcome.redundant > 0)
    for (const Column& column : columns_)
      for (int i = 0; i < column.size && !column.negative; ++i)
        if (values_[column.values + i * (column.size + 1)] == 0) redundant_rows.push_back(column.row + i);
  return outcome;
}

template <int S>
void BlockLdlt::remember_diagonal(int part) {
  for (int p = part_start_[part]; p < part_start_[part + 1]; ++p) {
    const Column& column = columns_[p];
    const int s = S ? S : column.size;
    for (int i = 0; i < s; ++i) diagonal_[column.place + i] = values_[column.values + i * (s + 1)];
  }
}

template <int S>
void BlockLdlt::fetch(const Pull& pull) {
  const Column& from = columns_[pull.column];
  subtract_products<S>(values_.data(), targets_.data() + pull.targets, below_.data() + from.below + pull.block,
                       from.count - pull.block, values_.data() + pull.l, kept_.data() + pull.u, from.size);
}

template <int S>
void BlockLdlt::factor_columns(int from, int to, double tolerance, double* unscaled, Outcome& outcome,
                               std::vector<std::int32_t>* redundant_rows) {
  double* const values = values_.data();
  for (int p = from; p < to; ++p) {
    Dispensable::pause(p + 1);
    const Column& column = columns_[p];
    const int s = S ? S : column.size;
    double* const D = values + column.values;
    const double* const original = diagonal_.data() + column.place;

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
          if (redundant_rows) redundant_rows->push_back(column.row + j);
        }
      } else {
        L[j * s + j] = 1 / pivot;
        // The smallest of the rounded ratios, in whatever order they come: products that round the other way are looked at too.
        constexpr double rounding = 1 + 1e-15;
        if (kept < rounding * outcome.smallest_ratio * least)
          outcome.smallest_ratio = std::min(outcome.smallest_ratio, kept / least);
      }
    }
    for (int j = 0; j < s; ++j)
      for (int k = 0; k <= j; ++k) D[j * s + k] = L[j * s + k];

    // The blocks below, and what they take from the columns to the right. A single one, as on chains, stays in registers.
    const int count = column.count, inside = column.inside;
    const Below* const below = below_.data() + column.below;
    const std::int32_t* target = targets_.data() + column.targets;
    double* l = D + s * s;
    if (S == 3 && count == 1 && inside == 1) {
      double block[9], scaled[9];
      for (int i = 0; i < 9; ++i) block[i] = l[i];
      for (int i = 0; i < 3; ++i) eliminate_row<3>(L, block + 3 * i, scaled + 3 * i, 3);
      for (int i = 0; i < 9; ++i) l[i] = block[i];
      subtract_square<3>(values + *target, block, scaled, 3, 3);
      continue;
    }
    double* u = unscaled;
    for (int a = 0; a < count; ++a) {
      if (a == inside) u = kept_.data() + column.kept;
      const int rows = S ? S : below[a].size;
      for (int i = 0; i < rows; ++i, l += s, u += s) eliminate_row<S>(L, l, u, s);
    }
    const double* l_a = D + s * s;
    const double* u_a = unscaled;
    for (int a = 0; a < inside; ++a) {
      subtract_products<S>(values, target, below + a, count - a, l_a, u_a, s);
      const int cols = S ? S : below[a].size;
      target += count - a;
      l_a += cols * s;
      u_a += cols * s;
    }
  }
}

template <int S>
void BlockLdlt::solve_all(double* x, Gang* gang) const {
  const int n = static_cast<int>(columns_.size()), branches = parts() - 1, first = trunk();
  if (branches == 0) {
    substitute<S>(0, n, x);
    return substitute_back<S>(0, n, x);
  }
  share_out(gang, branches, [&](int part, int) { substitute<S>(part_start_[part], part_start_[part + 1], x); });
  for (int q = first; q < n; ++q) {
    double* const out = x + columns_[q].row;
    const int rows = S ? S : columns_[q].size;
    for (int k = pull_start_[q - first]; k < pull_start_[q - first + 1]; ++k) {
      const Column& from = columns_[pulls_[k].column];
      const int s = S ? S : from.size;
      const double* L = values_.data() + pulls_[k].l;
      const double* const y = x + from.row;
      for (int i = 0; i < rows; ++i, L += s) {
        double sum = L[0] * y[0];
        for (int m = 1; m < s; ++m) sum += L[m] * y[m];
        out[i] -= sum;
      }
    }
    substitute<S>(q, q + 1, x);
  }
  substitute_back<S>(first, n, x);
  share_out(gang, branches, [&](int part, int) { substitute_back<S>(part_start_[part], part_start_[part + 1], x); });
}

template <int S>
void BlockLdlt::substitute(int from, int to, double* x) const {
  // L y = b. Parts of x are kept in locals: the compiler cannot know that writing x leaves L alone.
  for (int p = from; p < to; ++p) {
    const Column& column = columns_[p];
    const int s = S ? S : column.size;
    const double* L = values_.data() + column.values;
    double y[S ? S : 6];
    for (int i = 0; i < s; ++i) {
      double sum = x[column.row + i];
      for (int k = 0; k < i; ++k) sum -= L[i * s + k] * y[k];
      y[i] = sum;
    }
    for (int i = 1; i < s; ++i) x[column.row + i] = y[i];
    L += s * s;
    const Below* below = below_.data() + column.below;
    const Below* const end = below + column.inside;
    for (; below != end; ++below) {
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
}

template <int S>
void BlockLdlt::substitute_back(int from, int to, double* x) const {
  // D L^T x = y.
  for (int p = to - 1; p >= from; --p) {
    const Column& column = columns_[p];
    const int s = S ? S : column.size;
    const double* const D = values_.data() + column.values;
    double* const out = x + column.row;
    double y[S ? S : 6];
    for (int k = 0; k < s; ++k) y[k] = out[k] * D[k * (s + 1)];
    const double* L = D + s * s;
    const Below* below = below_.data() + column.below;
    const Below* const end = below + column.count;
    for (; below != end; ++below) {
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
  return of(columns_) + of(below_) + of(targets_) + of(position_) + of(pattern_) + of(values_) + of(diagonal_) + of(unscaled_) +
         of(pulls_) + of(kept_);
}

}  // namespace rotule
