#include "linalg/block_conjugate_gradients.h"

#include <Eigen/LU>
#include <cmath>

#include "base/budget.h"
#include "linalg/pieces.h"

namespace rotule {

void ConjugateGradients::prepare(const Block3Matrix& A, int threads) {
  constexpr int multigrid_rows = 3000;  // below, the plain preconditioner is as good
  if (!analysed_ && A.rows() > multigrid_rows) multigrid_.analyse(A);
  analysed_ = true;
  if (multigrid_.useful()) {
    multigrid_.prepare(A);
    return;
  }
  inverse_.resize(9 * static_cast<std::size_t>(A.rows()));
  for_pieces(A.rows(), threads, [&](int, int from, int to) {
    for (int r = from; r < to; ++r)
      Eigen::Map<RowMajor3>(inverse_.data() + 9 * static_cast<std::ptrdiff_t>(r)) =
          Eigen::Map<const RowMajor3>(A.block(A.diagonal(r))).inverse();
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
    if (multigrid_.useful()) {
      multigrid_.apply(r_, z_);
      for_pieces(rows, threads, [&](int piece, int from, int to) {
        const auto r = r_.segment(3 * from, 3 * (to - from));
        partial_[2 * piece] = r.dot(z_.segment(3 * from, 3 * (to - from)));
        partial_[2 * piece + 1] = r.squaredNorm();
      });
      return;
    }
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
  Budget::listen();
  while (report.residual > tolerance) {
    if (report.iterations == max_iterations || (report.iterations > 0 && Budget::spent())) {
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
