#include "linalg/block3_matrix.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace rotule {

namespace {

constexpr int rows_per_piece = 4096;

template <class Work>
void for_pieces(int rows, int threads, Work&& work) {
  parallel_for((rows + rows_per_piece - 1) / rows_per_piece, threads, [&](int piece) {
    const int first = piece * rows_per_piece;
    work(piece, first, std::min(rows, first + rows_per_piece));
  });
}

}  // namespace

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

void ConjugateGradients::prepare(const Block3Matrix& A, int threads) {
  inverse_.resize(9 * static_cast<std::size_t>(A.rows()));
  for_pieces(A.rows(), threads, [&](int, int from, int to) {
    using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
    for (int r = from; r < to; ++r)
      Eigen::Map<RowMajor>(inverse_.data() + 9 * static_cast<std::ptrdiff_t>(r)) =
          Eigen::Map<const RowMajor>(A.block(A.diagonal(r))).inverse();
  });
}

ConjugateGradientsReport ConjugateGradients::solve(const Block3Matrix& A, const VecX& b, double tolerance, int max_iterations,
                                                   int threads, VecX& x) {
  const int rows = A.rows();
  for (VecX* v : {&r_, &z_, &p_, &q_}) v->resize(b.size());
  partial_.assign(2 * (static_cast<std::size_t>(rows) / rows_per_piece + 1), 0.0);
  const auto sum = [&](std::size_t offset) {
    double out = 0;
    for (std::size_t n = offset; n < partial_.size(); n += 2) out += partial_[n];
    return out;
  };
  const auto dot = [&](const VecX& v, const VecX& w) {
    for_pieces(rows, threads, [&](int piece, int from, int to) {
      partial_[2 * piece] = v.segment(3 * from, 3 * (to - from)).dot(w.segment(3 * from, 3 * (to - from)));
    });
    return sum(0);
  };
  // z = P^-1 r; fills in r . z and r . r on the way.
  const auto precondition = [&] {
    for_pieces(rows, threads, [&](int piece, int from, int to) {
      double rz = 0, rr = 0;
      for (int i = from; i < to; ++i) {
        const double* w = inverse_.data() + 9 * static_cast<std::ptrdiff_t>(i);
        const double* r = r_.data() + 3 * static_cast<std::ptrdiff_t>(i);
        double* z = z_.data() + 3 * static_cast<std::ptrdiff_t>(i);
        for (int k = 0; k < 3; ++k) z[k] = w[3 * k] * r[0] + w[3 * k + 1] * r[1] + w[3 * k + 2] * r[2];
        rz += r[0] * z[0] + r[1] * z[1] + r[2] * z[2];
        rr += r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
      }
      partial_[2 * piece] = rz;
      partial_[2 * piece + 1] = rr;
    });
  };

  ConjugateGradientsReport report;
  x.setZero(b.size());
  r_ = b;
  precondition();
  double rz = sum(0);
  const double scale = std::sqrt(sum(1));
  if (scale == 0) return report;
  p_ = z_;
  report.residual = 1;
  while (report.residual > tolerance) {
    if (report.iterations == max_iterations) {
      report.converged = false;
      break;
    }
    ++report.iterations;
    A.multiply(p_, q_, threads);
    const double curvature = dot(p_, q_);
    if (!(curvature > 0)) {  // not definite along p, or not a number
      report.converged = false;
      break;
    }
    const double alpha = rz / curvature;
    for_pieces(rows, threads, [&](int, int from, int to) {
      x.segment(3 * from, 3 * (to - from)) += alpha * p_.segment(3 * from, 3 * (to - from));
      r_.segment(3 * from, 3 * (to - from)) -= alpha * q_.segment(3 * from, 3 * (to - from));
    });
    precondition();
    const double next = sum(0);
    report.residual = std::sqrt(sum(1)) / scale;
    const double beta = next / rz;
    rz = next;
    for_pieces(rows, threads, [&](int, int from, int to) {
      auto p = p_.segment(3 * from, 3 * (to - from));
      p = z_.segment(3 * from, 3 * (to - from)) + beta * p;
    });
  }
  return report;
}

}  // namespace rotule
