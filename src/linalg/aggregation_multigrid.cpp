#include "linalg/aggregation_multigrid.h"

#include <Eigen/LU>

namespace rotule {

namespace {

constexpr int coarsest_rows = 150;
constexpr double stretch = 1.6;  // of coarse corrections

using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

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
      Eigen::Map<RowMajor>(level.inverse_diagonal.data() + 9 * static_cast<std::ptrdiff_t>(i)) =
          Eigen::Map<const RowMajor>(fine.block(fine.diagonal(i))).inverse();
    for (VecX* v : {&level.b, &level.x, &level.r}) v->setZero(3 * static_cast<Eigen::Index>(level.coarse.rows()));
  }
  const Block3Matrix& last = levels_.back().coarse;
  MatX dense = MatX::Zero(3 * last.rows(), 3 * last.rows());
  for (int i = 0; i < last.rows(); ++i) {
    std::int64_t n = last.first(i);
    for (const int j : last.columns(i)) dense.block<3, 3>(3 * i, 3 * j) = Eigen::Map<const RowMajor>(last.block(n++));
  }
  coarsest_.compute(dense);
}

template <bool Forwards>
void AggregationMultigrid::sweep(std::size_t level, const VecX& b, VecX& x) const {
  const Block3Matrix& A = matrix(level);
  const std::vector<double>& inverse = levels_[level].inverse_diagonal;
  const int rows = A.rows();
  for (int k = 0; k < rows; ++k) {
    const int i = Forwards ? k : rows - 1 - k;
    const std::ptrdiff_t at = 3 * static_cast<std::ptrdiff_t>(i);
    double r0 = b[at], r1 = b[at + 1], r2 = b[at + 2];
    const double* a = A.block(A.first(i));
    for (const int j : A.columns(i)) {
      const double* v = x.data() + 3 * static_cast<std::ptrdiff_t>(j);
      r0 -= a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
      r1 -= a[3] * v[0] + a[4] * v[1] + a[5] * v[2];
      r2 -= a[6] * v[0] + a[7] * v[1] + a[8] * v[2];
      a += 9;
    }
    const double* w = inverse.data() + 9 * static_cast<std::ptrdiff_t>(i);
    x[at] += w[0] * r0 + w[1] * r1 + w[2] * r2;
    x[at + 1] += w[3] * r0 + w[4] * r1 + w[5] * r2;
    x[at + 2] += w[6] * r0 + w[7] * r1 + w[8] * r2;
  }
}

/// One cycle on A x = b from the x given.
void AggregationMultigrid::cycle(std::size_t l, const VecX& b, VecX& x) {
  Level& level = levels_[l];
  const Block3Matrix& A = matrix(l);
  sweep<true>(l, b, x);
  // What is left, summed over the aggregates.
  level.b.setZero();
  for (int i = 0; i < A.rows(); ++i) {
    const std::ptrdiff_t at = 3 * static_cast<std::ptrdiff_t>(i);
    double r0 = b[at], r1 = b[at + 1], r2 = b[at + 2];
    const double* a = A.block(A.first(i));
    for (const int j : A.columns(i)) {
      const double* v = x.data() + 3 * static_cast<std::ptrdiff_t>(j);
      r0 -= a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
      r1 -= a[3] * v[0] + a[4] * v[1] + a[5] * v[2];
      r2 -= a[6] * v[0] + a[7] * v[1] + a[8] * v[2];
      a += 9;
    }
    level.b.segment<3>(3 * static_cast<Eigen::Index>(level.aggregate[i])) += Vec3(r0, r1, r2);
  }
  if (l + 1 == levels_.size()) {
    level.x = coarsest_.solve(level.b);
  } else {
    level.x.setZero();
    cycle(l + 1, level.b, level.x);
    cycle(l + 1, level.b, level.x);
  }
  for (int i = 0; i < A.rows(); ++i)
    x.segment<3>(3 * static_cast<Eigen::Index>(i)) +=
        stretch * level.x.segment<3>(3 * static_cast<Eigen::Index>(level.aggregate[i]));
  sweep<false>(l, b, x);
}

void AggregationMultigrid::apply(const VecX& r, VecX& z) {
  z.setZero(r.size());
  cycle(0, r, z);
}

}  // namespace rotule
