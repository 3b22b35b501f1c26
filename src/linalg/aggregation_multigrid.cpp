#include "linalg/aggregation_multigrid.h"

#include <Eigen/LU>
#include <algorithm>

namespace rotule {

namespace {

constexpr int coarsest_rows = 150;
constexpr float stretch = 1.6F;  // of coarse corrections

/// Every row without a gathered neighbour gathers its neighbourhood; those left over join a neighbour's aggregate.
int gather(const Block3Matrix& A, std::vector<int>& aggregate) {
  aggregate.assign(static_cast<std::size_t>(A.rows()), -1);
  int count = 0;
  for (int i = 0; i < A.rows(); ++i) {
    bool alone = true;
    for (const int j : A.columns(i)) alone = alone && aggregate[j] < 0;
    if (!alone) continue;
    for (const int j : A.columns(i)) aggregate[j] = count;
    ++count;
  }
  std::vector<int> joined = aggregate;
  for (int i = 0; i < A.rows(); ++i) {
    if (aggregate[i] >= 0) continue;
    for (const int j : A.columns(i))
      if (aggregate[j] >= 0) {
        joined[i] = aggregate[j];
        break;
      }
    if (joined[i] < 0) joined[i] = count++;
  }
  aggregate = std::move(joined);
  return count;
}

/// What blocks [from, to) of a row make of x, taken from r.
template <class Lanes>
auto less(const Lanes& columns, std::int64_t from, std::int64_t to, const int* column, const Lanes& x,
          typename Lanes::value_type r) {
  const auto* a = columns.data() + 3 * from;
  for (std::int64_t n = from; n < to; ++n, a += 3) {
    const auto& v = x[static_cast<std::size_t>(*column++)];
    r -= a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
  }
  return r;
}

template <class Lanes>
auto times(const Lanes& columns, std::size_t block, const typename Lanes::value_type& v) {
  return (columns[3 * block] * v[0] + columns[3 * block + 1] * v[1] + columns[3 * block + 2] * v[2]).eval();
}

/// A block's columns, scaled.
template <class Lanes, class Block>
void put_columns(const Block& block, double scale, Lanes& out, std::size_t n) {
  for (int c = 0; c < 3; ++c) out[3 * n + static_cast<std::size_t>(c)] << (scale * block.col(c)).template cast<float>(), 0.0F;
}

}  // namespace

void AggregationMultigrid::analyse(const Block3Matrix& A) {
  levels_.clear();
  const Block3Matrix* fine = &A;
  while (true) {
    Level level;
    const int count = gather(*fine, level.aggregate);
    std::vector<std::array<int, 2>> pairs;
    for (int i = 0; i < fine->rows(); ++i)
      for (const int j : fine->columns(i))
        if (const int a = level.aggregate[i], b = level.aggregate[j]; a < b) pairs.push_back({a, b});
    level.coarse.analyse(count, pairs);
    level.coarse_block.resize(fine->blocks());
    for (int i = 0; i < fine->rows(); ++i) {
      std::int64_t n = fine->first(i);
      for (const int j : fine->columns(i)) level.coarse_block[n++] = level.coarse.find(level.aggregate[i], level.aggregate[j]);
    }
    const bool enough = count <= coarsest_rows || 2 * count > fine->rows();
    levels_.push_back(std::move(level));
    if (enough) break;
    fine = &levels_.back().coarse;  // stays good until the next push
  }
  if (levels_.back().coarse.rows() > 4 * coarsest_rows) levels_.clear();
}

void AggregationMultigrid::prepare(const Block3Matrix& A) {
  finest_ = &A;
  double largest = 0;
  for (int i = 0; i < A.rows(); ++i)
    largest = std::max(largest, Eigen::Map<const RowMajor3>(A.block(A.diagonal(i))).cwiseAbs().maxCoeff());
  scale_ = largest > 0 ? 1 / largest : 1;
  b_.assign(static_cast<std::size_t>(A.rows()), Lane::Zero());
  x_ = b_;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const Block3Matrix& fine = matrix(l);
    level.coarse.set_zero();
    level.columns.resize(3 * fine.blocks());
    for (std::size_t n = 0; n < fine.blocks(); ++n) {
      const double* from = fine.block(static_cast<std::int64_t>(n));
      double* to = level.coarse.block(level.coarse_block[n]);
      for (int k = 0; k < 9; ++k) to[k] += from[k];
      put_columns(Eigen::Map<const RowMajor3>(from), scale_, level.columns, n);
    }
    level.inverse_diagonal.resize(3 * static_cast<std::size_t>(fine.rows()));
    for (int i = 0; i < fine.rows(); ++i)
      put_columns(RowMajor3(Eigen::Map<const RowMajor3>(fine.block(fine.diagonal(i))).inverse()), 1 / scale_,
                  level.inverse_diagonal, static_cast<std::size_t>(i));
    for (Lanes* v : {&level.b, &level.x}) v->assign(static_cast<std::size_t>(level.coarse.rows()), Lane::Zero());
  }
  const Block3Matrix& last = levels_.back().coarse;
  dense_.setZero(3 * last.rows(), 3 * last.rows());
  for (int i = 0; i < last.rows(); ++i) {
    std::int64_t n = last.first(i);
    for (const int j : last.columns(i)) dense_.block<3, 3>(3 * i, 3 * j) = scale_ * Eigen::Map<const RowMajor3>(last.block(n++));
  }
  coarsest_.compute(dense_);
  coarsest_x_.resize(dense_.rows());
}

template <bool Forwards>
void AggregationMultigrid::sweep(std::size_t l, const Lanes& b, Lanes& x) const {
  const Level& level = levels_[l];
  const Block3Matrix& A = matrix(l);
  const int rows = A.rows();
  for (int k = 0; k < rows; ++k) {
    const int i = Forwards ? k : rows - 1 - k;
    const auto at = static_cast<std::size_t>(i);
    const std::span<const int> columns = A.columns(i);
    const Lane r =
        less(level.columns, A.first(i), A.first(i) + static_cast<std::int64_t>(columns.size()), columns.data(), x, b[at]);
    x[at] += times(level.inverse_diagonal, at, r);
  }
}

/// Forwards, from x = 0: half of the matrix does.
void AggregationMultigrid::sweep_from_zero(std::size_t l, const Lanes& b, Lanes& x) const {
  const Level& level = levels_[l];
  const Block3Matrix& A = matrix(l);
  for (int i = 0; i < A.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Lane r = less(level.columns, A.first(i), A.diagonal(i), A.columns(i).data(), x, b[at]);
    x[at] = times(level.inverse_diagonal, at, r);
  }
}

void AggregationMultigrid::solve_coarsest(const Lanes& b, Lanes& x) {
  for (std::size_t i = 0; i < b.size(); ++i)
    coarsest_x_.segment<3>(3 * static_cast<Eigen::Index>(i)) = b[i].head<3>().cast<double>();
  coarsest_.solveInPlace(coarsest_x_);
  for (std::size_t i = 0; i < b.size(); ++i)
    x[i].head<3>() = coarsest_x_.segment<3>(3 * static_cast<Eigen::Index>(i)).cast<float>();
}

/// One cycle on A x = b from the x given.
void AggregationMultigrid::cycle(std::size_t l, const Lanes& b, Lanes& x, bool from_zero) {
  Level& level = levels_[l];
  const Block3Matrix& A = matrix(l);
  if (from_zero)
    sweep_from_zero(l, b, x);
  else
    sweep<true>(l, b, x);
  // What is left, summed over the aggregates. After a sweep from zero, row i has been made true with what came before it: what is
  // left of it came after.
  std::fill(level.b.begin(), level.b.end(), Lane::Zero());
  for (int i = 0; i < A.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::span<const int> columns = A.columns(i);
    const std::int64_t first = A.first(i), end = first + static_cast<std::int64_t>(columns.size()), after = A.diagonal(i) + 1;
    level.b[static_cast<std::size_t>(level.aggregate[at])] +=
        from_zero ? less(level.columns, after, end, columns.data() + (after - first), x, Lane(Lane::Zero()))
                  : less(level.columns, first, end, columns.data(), x, b[at]);
  }
  if (l + 1 == levels_.size()) {
    solve_coarsest(level.b, level.x);
  } else {
    cycle(l + 1, level.b, level.x, true);
    cycle(l + 1, level.b, level.x, false);
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += stretch * level.x[static_cast<std::size_t>(level.aggregate[i])];
  sweep<false>(l, b, x);
}

void AggregationMultigrid::apply(const VecX& r, VecX& z) {
  z.resize(r.size());
  const double largest = r.cwiseAbs().maxCoeff();
  if (!(largest > 0)) {
    z.setZero();
    return;
  }
  for (std::size_t i = 0; i < b_.size(); ++i)
    b_[i].head<3>() = (r.segment<3>(3 * static_cast<Eigen::Index>(i)) / largest).cast<float>();
  cycle(0, b_, x_, true);
  for (std::size_t i = 0; i < x_.size(); ++i)
    z.segment<3>(3 * static_cast<Eigen::Index>(i)) = scale_ * largest * x_[i].head<3>().cast<double>();
}

}  // namespace rotule
