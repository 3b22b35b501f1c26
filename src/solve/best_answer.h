#pragma once
// What iterative solvers of contact share: the judge's word on an x, the best x so far, and the report at the end.
#include <rotule/error.h>
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/judge.h"
#include "solve/structure.h"

namespace rotule {

class BestAnswer {
 public:
  void begin(const ConstraintProblem& problem, std::string_view solver, SolveReport& report) {
    solver_ = solver;
    best_.resize(problem.rows());
    best_residual_ = infinity;
    judge_.begin(problem);
    clear(report, problem.rows());
  }

  /// The judge's word on x, which is kept if it is the best so far. Throws where x has left the realm of numbers.
  double judge(std::span<const double> x) {
    const double now = consider(x);
    if (!std::isfinite(now)) refuse();
    return now;
  }

  /// The same, but an x that is no number is passed over.
  double consider(std::span<const double> x) {
    const double now = judge_.judge(x);
    if (now < best_residual_) {
      best_residual_ = now;
      best_rounding_ = judge_.rounding();
      std::copy(x.begin(), x.end(), best_.begin());
    }
    return now;
  }

  [[nodiscard]] double best() const { return best_residual_; }
  [[nodiscard]] std::span<const double> best_x() const { return best_; }
  /// What rounding alone may leave of the best one.
  [[nodiscard]] double best_rounding() const { return best_rounding_; }
  /// What lengths of residuals in the norm of energy are divided by, for estimates between two words of the judge.
  [[nodiscard]] double scale() const { return judge_.energy_scale(); }
  /// Such a length, for the w = A x - b given, divided.
  double estimate(std::span<const double> x, std::span<const double> w) { return judge_.energy_norm(x, w) / scale(); }
  /// The rows' own entries of A, one number for those under one cone: the metric in which lengths of x have no units of their
  /// own.
  [[nodiscard]] std::span<const double> metric() const { return judge_.diagonal(); }

  /// x becomes the best one seen. Throws where there is none.
  void finish(double tolerance, std::span<double> x, SolveReport& report) const {
    if (!std::isfinite(best_residual_)) refuse();
    std::copy(best_.begin(), best_.end(), x.begin());
    report.residual = best_residual_;
    report.converged = best_residual_ <= tolerance;
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error("solver " + std::string(solver_), "the residual is not finite; check masses, Jacobians and right-hand side");
  }

  std::string_view solver_;
  std::vector<double> best_;
  double best_residual_ = infinity, best_rounding_ = 0;
  Judge judge_;
};

}  // namespace rotule
