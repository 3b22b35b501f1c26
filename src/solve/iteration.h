#pragma once
// The loop of the iterative contact solvers: who judges an x, when, and what is reported at the end. A solver writes
//
//   Iteration loop(problem, settings, work.answer, report);
//   ... the first x ...
//   if (!loop.solved(x))
//     while (loop.goes_on()) {
//       ... one step, ++report.iterations, and an estimate of the residual that costs nothing ...
//       if (loop.ends(estimate, x)) break;
//     }
//   loop.finish(x);
#include <algorithm>
#include <cmath>
#include <span>

#include "base/budget.h"
#include "solve/best_answer.h"

namespace rotule {

/// When to ask the judge, whose word costs about a sweep: where the method's own estimate, of which it has one for free, says
/// that the tolerance is met, and now and then besides. What the judge says tells how far to trust the estimate.
class Patience {
 public:
  Patience(double tolerance, int iterations_per_check)
      : tolerance_(tolerance), threshold_(tolerance), iterations_per_check_(iterations_per_check) {}

  [[nodiscard]] bool ask(double estimate, int iterations) const {
    return !(estimate > threshold_) || iterations % iterations_per_check_ == 0;
  }
  [[nodiscard]] double threshold() const { return threshold_; }
  void hear(double estimate, double judged) {
    if (judged > 0) threshold_ = 0.95 * tolerance_ * std::clamp(estimate / judged, 0.01, 100.0);
  }

 private:
  double tolerance_, threshold_;
  int iterations_per_check_;
};

class Iteration {
 public:
  /// Settings have a name, a tolerance and max_iterations.
  template <class Settings>
  Iteration(const ConstraintProblem& problem, const Settings& settings, BestAnswer& answer, SolveReport& report,
            int iterations_per_check = 100)
      : answer_(answer),
        report_(report),
        tolerance_(settings.tolerance),
        max_iterations_(settings.max_iterations),
        patience_(settings.tolerance, iterations_per_check) {
    answer.begin(problem, Settings::name, report);
  }

  /// Whether another iteration may be made: the settings' and the step's budget allow it.
  [[nodiscard]] bool goes_on() {
    count();
    return report_.iterations < max_iterations_ && !(owes_nothing() && Budget::spent());
  }
  /// What lengths of residuals in the norm of energy are divided by.
  [[nodiscard]] double scale() const { return answer_.scale(); }
  /// The estimate at which the judge should be content, by what he has said so far.
  [[nodiscard]] double goal() const { return patience_.threshold(); }

  /// Asks the judge, at any cost.
  bool solved(std::span<const double> x) { return answer_.judge(x) <= tolerance_; }

  /// Whether it is time to ask: the estimate promises enough, or it has been long, or this was the last iteration.
  [[nodiscard]] bool due(double estimate) {
    count();
    return patience_.ask(estimate, report_.iterations) || report_.iterations >= max_iterations_ ||
           (owes_nothing() && Budget::over());
  }
  /// Asks, and learns from the answer what the estimate is worth.
  bool solved(double estimate, std::span<const double> x) {
    const double judged = answer_.consider(x);
    if (judged <= tolerance_) return true;
    // Friction that jams lets sweeps grow without end; the best x that they passed is still an answer.
    if (!std::isfinite(judged)) return std::isfinite(answer_.best()) || answer_.judge(x) <= tolerance_;
    patience_.hear(estimate, judged);
    return false;
  }
  /// After an iteration: whether x is good enough, the judge being asked where it is due.
  bool ends(double estimate, std::span<const double> x) { return due(estimate) && solved(estimate, x); }

  /// x becomes the best one seen.
  void finish(std::span<double> x) const { answer_.finish(tolerance_, x, report_); }

 private:
  /// Tells the budget of iterations that were made since it was last told.
  void count() {
    Budget::count(report_.iterations - counted_);
    counted_ = report_.iterations;
  }
  /// A solve that comes when time is up already makes a few iterations still: they are cheap, and the first ones do most.
  [[nodiscard]] bool owes_nothing() const {
    constexpr int least = 4;
    return report_.iterations >= least || Budget::out_of_iterations();
  }

  BestAnswer& answer_;
  SolveReport& report_;
  double tolerance_;
  int max_iterations_, counted_ = 0;
  Patience patience_;
};

}  // namespace rotule
