#pragma once
// What iterative solvers of contact share: the judge's word on an x, the best x so far, and the report at the end.
#include <rotule/error.h>
#include <rotule/problem.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "problem/operators.h"
#include "solve/structure.h"

namespace rotule {

class BestAnswer {
 public:
  void begin(const ConstraintProblem& problem, const char* solver, SolveReport& report) {
    problem_ = &problem;
    solver_ = solver;
    best_.resize(problem.rows());
    best_residual_ = infinity;
    norm_b_ = problem.b.norm();
    clear(report, problem.rows());
  }

  /// The relative residual of x, which is kept if it is the best so far. Throws where x has left the realm of numbers.
  double judge(std::span<const double> x) {
    last_ = residual(*problem_, x, scratch_);
    if (!std::isfinite(last_.relative))
      throw Error(std::string("solver ") + solver_, "the residual is not finite; check masses, Jacobians and right-hand side");
    if (last_.relative < best_residual_) {
      best_residual_ = last_.relative;
      std::copy(x.begin(), x.end(), best_.begin());
    }
    return last_.relative;
  }

  [[nodiscard]] double best() const { return best_residual_; }
  [[nodiscard]] std::span<const double> best_x() const { return best_; }
  [[nodiscard]] const Residual& last() const { return last_; }
  /// What squared residuals are compared with.
  [[nodiscard]] double scale() const { return norm_b_ > 0 ? norm_b_ : 1.0; }

  /// x becomes the best one seen.
  void finish(double tolerance, std::span<double> x, SolveReport& report) const {
    std::copy(best_.begin(), best_.end(), x.begin());
    report.residual = best_residual_;
    report.converged = best_residual_ <= tolerance;
  }

 private:
  const ConstraintProblem* problem_ = nullptr;
  const char* solver_ = "";
  std::vector<double> best_;
  double best_residual_ = infinity, norm_b_ = 0;
  Residual last_;
  ResidualScratch scratch_;
};

/// When to ask the judge, whose word costs about a sweep: where the method's own estimate, of which it has one for free, says
/// that the tolerance is met; now and then besides; and less readily after the estimate was wrong.
class Patience {
 public:
  explicit Patience(double tolerance, int sweeps_per_check = 100)
      : tolerance_(tolerance), threshold_(tolerance), sweeps_per_check_(sweeps_per_check) {}

  [[nodiscard]] bool ask(double estimate, int iterations) const {
    return !(estimate > threshold_) || iterations % sweeps_per_check_ == 0;
  }
  void hear(double estimate, double judged) {
    if (estimate <= threshold_ && judged > tolerance_) threshold_ = 0.5 * estimate * tolerance_ / judged;
  }

 private:
  double tolerance_, threshold_;
  int sweeps_per_check_;
};

}  // namespace rotule
