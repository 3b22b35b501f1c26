#pragma once
// Following a path to a solution of Coulomb's problem where everything else goes round in circles.
//
// F(x, t) = 0 with the smoothed laws of smoothed_law.h and w + epsilon (x - a) / rho around an anchor a, the best that sweeps
// found. At t = 0 epsilon is large, the contacts hardly feel each other, and there is one solution, next to a; towards t = 1
// epsilon and the smoothing tau fall to almost nothing. Solutions stay bounded on the way (x . w <= 0 by every law), so that the
// curve from t = 0 has nowhere to go but to t = 1; but it may turn back in t, many times where friction is strong, which is why
// Newton with a falling epsilon gets stuck. It is followed by its arc length: a tangent, a step, Newton in the plane across it
// (Allgower, Georg, "Numerical continuation methods", 1990). On the last half, now and then, Newton tries to leave it for a
// solution: x becomes the anchor, tau falls tenfold, until the judge is content.
//
// How tau falls beside epsilon is the path's schedule. Late: corners stay round and paths through a jam short. At once: needed
// where the true slips are tiny (1e-6 of the speeds in the problem), as in a heap that creeps.
//
// Costs one factor of the Newton system per correction: 100 to 600 on most paths that arrive, up to 9,000 seen. Where a path is
// too long, others are tried, longer, with other schedules, from anchors after more sweeps, with a small random kick: from almost
// every anchor the curve is smooth, but sweeps end at special points. Fails (and says so) where none arrives.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/row_sets.h"
#include "solve/best_answer.h"
#include "solve/newton/block_system.h"
#include "solve/newton/pivoted_system.h"
#include "solve/newton/smoothed_law.h"

namespace rotule {

/// What the last solve by paths did, for who shares out work among solvers.
struct PathWork {
  int sweeps = 0, factors = 0;
};

class Homotopy {
 public:
  /// tau = first_tau * 1e-8^(t^late).
  struct Schedule {
    double first_tau, late;
  };

  void prepare(const ConstraintProblem& problem, BlockSystem& linear);
  /// The path from this anchor, at most `max_factors` long; true where the answer's judge is content then.
  bool run(const ConstraintProblem& problem, std::span<const double> anchor, Schedule schedule, double tolerance, int max_factors,
           BestAnswer& answer);
  /// Moves x by up to `size` of what each row's impulse typically is, the same way for the same seed.
  void kick(double size, int seed, std::span<double> x) const;
  /// Of the last run.
  [[nodiscard]] int factors() const { return factors_; }

 private:
  struct Point {
    std::vector<double> x;
    double t = 0;
  };

  /// One member of the family of problems, and how fast it changes along the path.
  struct Family {
    std::span<const double> anchor;
    double epsilon, epsilon_rate;
    Smoothing smoothing;
  };

  [[nodiscard]] Family family(double t) const;
  void evaluate(const ConstraintProblem& problem, std::span<const double> x, const Family& at);
  void factor(const ConstraintProblem& problem);
  bool solve_linear(const ConstraintProblem& problem, std::span<const double> right, std::span<double> out);
  [[nodiscard]] double dot(std::span<const double> v, std::span<const double> u) const;
  [[nodiscard]] double length(std::span<const double> v) const;
  bool newton(const ConstraintProblem& problem, const Family& at, double goal, int max_steps, std::span<double> x);
  bool correct(const ConstraintProblem& problem, double step, int& corrections);
  bool find_tangent(const ConstraintProblem& problem, double& turn);
  bool turn_corner(const ConstraintProblem& problem, double& step);
  bool follow(const ConstraintProblem& problem, double tolerance, BestAnswer& answer);
  bool polish(const ConstraintProblem& problem, double tolerance, BestAnswer& answer);

  BlockSystem* linear_ = nullptr;
  PivotedSystem pivoted_;
  bool pivoted_ready_ = false;
  std::vector<BlockSet> sets_;
  std::vector<double> rho_, inverse_rho_, weight_, anchor_, w_, F_, F_t_, dx_, A_dx_, along_, trial_, polished_, polish_anchor_;
  Point at_, next_, tangent_, next_tangent_, arriving_, leaving_;
  double unit_ = 1, t_weight_ = 1;
  Schedule schedule_{};
  int factors_ = 0, max_factors_ = 0;
};

}  // namespace rotule
