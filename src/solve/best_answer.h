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

#include "problem/operators.h"
#include "solve/structure.h"

namespace rotule {

class BestAnswer {
 public:
  void begin(const ConstraintProblem& problem, std::string_view solver, SolveReport& report) {
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
    if (!std::isfinite(last_.relative)) refuse();
    return offer(last_.relative, x);
  }

  /// The same for a residual that the solver has got already, by products of its own; one that is no number is passed over.
  double offer(double relative, std::span<const double> x) {
    if (relative < best_residual_) {
      best_residual_ = relative;
      std::copy(x.begin(), x.end(), best_.begin());
    }
    return relative;
  }

  [[nodiscard]] double best() const { return best_residual_; }
  [[nodiscard]] std::span<const double> best_x() const { return best_; }
  [[nodiscard]] const Residual& last() const { return last_; }
  /// What squared residuals are compared with.
  [[nodiscard]] double scale() const { return norm_b_ > 0 ? norm_b_ : 1.0; }

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

  const ConstraintProblem* problem_ = nullptr;
  std::string_view solver_;
  std::vector<double> best_;
  double best_residual_ = infinity, norm_b_ = 0;
  Residual last_;
  ResidualScratch scratch_;
};

}  // namespace rotule
