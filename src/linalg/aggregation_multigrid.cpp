#include "linalg/aggregation_multigrid.h"

#include <Eigen/LU>

namespace rotule {

namespace {

constexpr int coarsest_rows = 150;
constexpr double stretch = 1.6;  // of coarse corrections

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

/// What blocks [from, to) of a row of A make of x, taken from r.
void subtract(const Block3Matrix& A, std::int64_t from, std::int64_t to, const int* column, const VecX& x, double (&r)[3]) {
  const double* a = A.block(from);
  for (std::int64_t n = from; n < to; ++n, a += 9) {
    const double* v = x.data() + 3 * static_cast<std::ptrdiff_t>(*column++);
    r[0] -= a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
    r[1] -= a[3] * v[0] + a[4] * v[1] + a[5] * v[2];
    r[2] -= a[6] * v[0] + a[7] * v[1] + a[8] * v[2];
  }
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
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const Block3Matrix& fine = matrix(l);
    level.coarse.set_zero();
    for (std::size_t n = 0; n < fine.blocks(); ++n) {
      const double* from = fine.block(static_cast<std::int64_t>(n));
      double* to = level.coarse.block(level.coarse_block[n]);
      for (int k = 0; k < 9; ++k) to[k] += from[k];
    }
    level.inverse_diagonal.resize(9 * static_cast<std::size_t>(fine.rows()));
    for (int i = 0; i < fine.rows(); ++i)
      Eigen::Map<RowMajor3>(level.inverse_diagonal.data() + 9 * static_cast<std::ptrdiff_t>(i)) =
          Eigen::Map<const RowMajor3>(fine.block(fine.diagonal(i))).inverse();
    for (VecX* v : {&level.b, &level.x, &level.r}) v->setZero(3 * static_cast<Eigen::Index>(level.coarse.rows()));
  }
  const Block3Matrix& last = levels_.back().coarse;
  MatX dense = MatX::Zero(3 * last.rows(), 3 * last.rows());
  for (int i = 0; i < last.rows(); ++i) {
    std::int64_t n = last.first(i);
    for (const int j : last.columns(i)) dense.block<3, 3>(3 * i, 3 * j) = Eigen::Map<const RowMajor3>(last.block(n++));
  }
  coarsest_.compute(dense);
}

void AggregationMultigrid::relax(std::size_t level, int i, const double (&r)[3], double* x) const {
  const double* w = levels_[level].inverse_diagonal.data() + 9 * static_cast<std::ptrdiff_t>(i);
  for (int k = 0; k < 3; ++k) x[k] += w[3 * k] * r[0] + w[3 * k + 1] * r[1] + w[3 * k + 2] * r[2];
}

template <bool Forwards>
void AggregationMultigrid::sweep(std::size_t level, const VecX& b, VecX& x) const {
  const Block3Matrix& A = matrix(level);
  const int rows = A.rows();
  for (int k = 0; k < rows; ++k) {
    const int i = Forwards ? k : rows - 1 - k;
    const std::ptrdiff_t at = 3 * static_cast<std::ptrdiff_t>(i);
    const std::span<const int> columns = A.columns(i);
    double r[3] = {b[at], b[at + 1], b[at + 2]};
    subtract(A, A.first(i), A.first(i) + static_cast<std::int64_t>(columns.size()), columns.data(), x, r);
    relax(level, i, r, x.data() + at);
  }
}

/// Forwards, from x = 0: half of the matrix does.
void AggregationMultigrid::sweep_from_zero(std::size_t level, const VecX& b, VecX& x) const {
  const Block3Matrix& A = matrix(level);
  for (int i = 0; i < A.rows(); ++i) {
    const std::ptrdiff_t at = 3 * static_cast<std::ptrdiff_t>(i);
    double r[3] = {b[at], b[at + 1], b[at + 2]};
    subtract(A, A.first(i), A.diagonal(i), A.columns(i).data(), x, r);
    x.segment<3>(at).setZero();
    relax(level, i, r, x.data() + at);
  }
}

/// One cycle on A x = b from the x given.
void AggregationMultigrid::cycle(std::size_t l, const VecX& b, VecX& x, bool from_zero) {
  Level& level = levels_[l];
  const Block3Matrix& A = matrix(l);
  if (from_zero)
    sweep_from_zero(l, b, x);
  else
    sweep<true>(l, b, x);
  // What is left, summed over the aggregates. After a sweep from zero, row i has been made true with what came before it: what is
  // left of it came after.
  level.b.setZero();
  for (int i = 0; i < A.rows(); ++i) {
    const std::ptrdiff_t at = 3 * static_cast<std::ptrdiff_t>(i);
    const std::span<const int> columns = A.columns(i);
    const std::int64_t first = A.first(i), end = first + static_cast<std::int64_t>(columns.size());
    double r[3] = {0, 0, 0};
    if (from_zero) {
      subtract(A, A.diagonal(i) + 1, end, columns.data() + (A.diagonal(i) + 1 - first), x, r);
    } else {
      for (int k = 0; k < 3; ++k) r[k] = b[at + k];
      subtract(A, first, end, columns.data(), x, r);
    }
    level.b.segment<3>(3 * static_cast<Eigen::Index>(level.aggregate[i])) += Vec3(r[0], r[1], r[2]);
  }
  if (l + 1 == levels_.size()) {
    level.x = coarsest_.solve(level.b);
  } else {
    cycle(l + 1, level.b, level.x, true);
    cycle(l + 1, level.b, level.x, false);
  }
  for (int i = 0; i < A.rows(); ++i)
    x.segment<3>(3 * static_cast<Eigen::Index>(i)) +=
        stretch * level.x.segment<3>(3 * static_cast<Eigen::Index>(level.aggregate[i]));
  sweep<false>(l, b, x);
}

void AggregationMultigrid::apply(const VecX& r, VecX& z) {
  z.resize(r.size());
  cycle(0, r, z, true);
}

}  // namespace rotule
