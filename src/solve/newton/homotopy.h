#pragma once
// Following a path to a solution of Coulomb's problem where everything else goes round in circles.
//
// F(x, t) = 0 with the smoothed laws of smoothed_law.h and w + epsilon (x - a) / rho around an anchor a, the best that sweeps
// found. At t = 0 epsilon is large, the contacts hardly feel each other, and there is one solution, next to a; towards t = 1
// epsilon and the smoothing tau fall to almost nothing. Solutions stay bounded on the way (x . w <= 0 by every law), so that the
// curve from t = 0 has nowhere to go but to t = 1; but it may turn back in t, many times where friction is strong, which is why
// Newton with a falling epsilon gets stuck. It is followed by its arc length: a tangent, a step, Newton in the plane across it
// (Allgower, Georg, "Numerical continuation methods", 1990). At its end what is left of epsilon and tau is taken out: x becomes
// the anchor, tau falls tenfold, until the judge is content.
//
// Costs one factor of the Newton system per correction, 40 to 1,850 on paths that arrive, for 500 contacts in a jam. Where a path
// is too long, others are tried from anchors after more sweeps. Fails (and says so) where none arrives.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/row_sets.h"
#include "solve/best_answer.h"
#include "solve/newton/block_system.h"
#include "solve/newton/smoothed_law.h"

namespace rotule {

class Homotopy {
 public:
  void prepare(const ConstraintProblem& problem, BlockSystem& linear);
  /// The path from this anchor, at most `max_factors` long, and the polishing at its end; true where the answer's judge is
  /// content then.
  bool run(const ConstraintProblem& problem, std::span<const double> anchor, double first_tau, double tolerance, int max_factors,
           BestAnswer& answer);
  /// Of the last run.
  [[nodiscard]] int factors() const { return factors_; }

 private:
  struct Point {
    std::vector<double> x;
    double t = 0;
  };

  void evaluate(const ConstraintProblem& problem, std::span<const double> x, double t);
  void factor(const ConstraintProblem& problem);
  [[nodiscard]] double tau(double t) const;
  [[nodiscard]] double epsilon(double t) const;
  [[nodiscard]] double dot(std::span<const double> v, std::span<const double> u) const;
  [[nodiscard]] double length(std::span<const double> v) const;
  bool newton(const ConstraintProblem& problem, double t, double goal, int max_steps, std::span<double> x);
  bool correct(const ConstraintProblem& problem, double step, int& corrections);
  bool find_tangent(const ConstraintProblem& problem, double& turn);
  bool follow(const ConstraintProblem& problem);
  enum class Polish { done, slow, lost };
  Polish polish(const ConstraintProblem& problem, double tolerance, BestAnswer& answer);

  BlockSystem* linear_ = nullptr;
  std::vector<BlockSet> sets_;
  std::vector<double> rho_, weight_, anchor_, w_, F_, F_t_, dx_, A_dx_, along_, trial_;
  Point at_, next_, tangent_, next_tangent_;
  double speed_ = 1, t_weight_ = 1;
  double first_tau_ = 0, last_tau_ = 0, first_epsilon_ = 0, last_epsilon_ = 0;
  int factors_ = 0, max_factors_ = 0;
};

}  // namespace rotule
