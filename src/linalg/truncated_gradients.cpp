#include "linalg/truncated_gradients.h"

#include <Eigen/LU>
#include <cmath>
#include <numeric>

#include "base/budget.h"
#include "linalg/pieces.h"

namespace rotule {

void TruncatedGradients::prepare(const Block3Matrix& P, bool direct, const std::vector<RankOne>& parts) {
  direct_ = direct;
  if (direct) {
    ldlt_.factor(P);
  } else {
    if (!analysed_) multigrid_.analyse(P);
    analysed_ = true;
    if (multigrid_.useful()) {
      multigrid_.prepare(P);
    } else {
      inverse_.resize(9 * static_cast<std::size_t>(P.rows()));
      for (int i = 0; i < P.rows(); ++i)
        Eigen::Map<RowMajor3>(inverse_.data() + 9 * static_cast<std::ptrdiff_t>(i)) =
            Eigen::Map<const RowMajor3>(P.block(P.diagonal(i))).inverse();
    }
  }
  updates_.prepare(parts, [&](const VecX& b, VecX& x) {
    x.resize(b.size());
    apply(P.rows(), 1, b, x);
  });
}

void TruncatedGradients::forget_pattern() {
  analysed_ = false;
  ldlt_ = {};
}

void TruncatedGradients::apply(int rows, int threads, const VecX& r, VecX& z) {
  if (direct_) {
    z = r;
    ldlt_.solve(z);
  } else if (multigrid_.useful()) {
    multigrid_.apply(r, z);
  } else {
    for_pieces(rows, threads, [&](int, int from, int to) {
      for (Eigen::Index i = from; i < to; ++i)
        z.segment<3>(3 * i).noalias() = Eigen::Map<const RowMajor3>(inverse_.data() + 9 * i) * r.segment<3>(3 * i);
    });
  }
}

double TruncatedGradients::precondition(int rows, int threads) {
  apply(rows, threads, r_, z_);
  updates_.correct(z_);
  for_pieces(rows, threads, [&](int piece, int from, int to) {
    partial_[piece] = r_.segment(3 * from, 3 * (to - from)).dot(z_.segment(3 * from, 3 * (to - from)));
  });
  return std::accumulate(partial_.begin(), partial_.end(), 0.0);
}

TruncatedGradients::Report TruncatedGradients::solve(const Block3Matrix& H, const VecX& b, double tolerance, int max_iterations,
                                                     int threads, VecX& x, const std::vector<RankOne>& parts) {
  const int rows = H.rows();
  partial_.assign(static_cast<std::size_t>(rows / rows_per_piece) + 1, 0.0);
  z_.resize(b.size());
  q_.resize(b.size());
  Report report;
  x.setZero(b.size());
  r_ = b;
  double rz = precondition(rows, threads);
  const double first = rz;
  if (!(first > 0)) {  // nothing to do, or P is not definite after all
    report.converged = b.isZero(0);
    return report;
  }
  p_ = z_;
  report.residual = 1;
  Budget::listen();
  while (report.residual > tolerance) {
    // Any part of the way leads down: what the budget allows of it is better than none.
    if (report.iterations == max_iterations || (report.iterations > 0 && Budget::spent())) {
      report.converged = false;
      break;
    }
    H.multiply(p_, q_, threads);
    for (const RankOne& part : parts) part.add_product(p_, q_);
    for_pieces(rows, threads, [&](int piece, int from, int to) {
      partial_[piece] = p_.segment(3 * from, 3 * (to - from)).dot(q_.segment(3 * from, 3 * (to - from)));
    });
    const double curvature = std::accumulate(partial_.begin(), partial_.end(), 0.0);
    ++report.iterations;
    if (!(curvature > 0)) {
      if (report.residual > 0.5) x = p_;  // little was gained so far: the way off the saddle is worth more
      report.downwards = report.converged = false;
      break;
    }
    const double alpha = rz / curvature;
    for_pieces(rows, threads, [&](int, int from, int to) {
      x.segment(3 * from, 3 * (to - from)) += alpha * p_.segment(3 * from, 3 * (to - from));
      r_.segment(3 * from, 3 * (to - from)) -= alpha * q_.segment(3 * from, 3 * (to - from));
    });
    const double next = precondition(rows, threads);
    report.residual = std::sqrt(std::max(next, 0.0) / first);
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
