#pragma once
// What pivoting works on: the rows that are left once the joints are eliminated (bilateral_schur.h), with their matrix dense.
//
//   w = A x - b,   lower <= x <= upper;  a friction box row t of normal n has the bounds -mu x_n and mu x_n.
//
// `active_set_newton` takes the guess that a pivoting method leaves, which rows are free and which stand at which bound, solves
// for it with the bounds of sliding rows following their normal (x_t = +-mu x_n, so the system is not symmetric), looks at the
// signs and tries again: exact after finitely many steps where the guess is near, and it removes what rounding in many pivots
// left. Equal forces that redundant contacts can share in many ways: systems are regularised and refined, which leaves the share
// near where it was.
#include <rotule/problem.h>

#include <string_view>
#include <vector>

#include "problem/operators.h"
#include "solve/hybrid/bilateral_schur.h"

namespace rotule {

enum class RowState : std::uint8_t { free, at_lower, at_upper };

class DenseProblem {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Whether the start x0 is an answer already; it is then written to x and reported. Throws where numbers are not finite.
  bool start_is_answer(const ConstraintProblem& problem, std::string_view solver, double tolerance, std::span<double> x,
                       SolveReport& report);
  /// Eliminates the joints and reads the rest, each row in units in which its own entry of A is 1 (for rows under one cone their
  /// mean is) and the largest b is 1: thresholds mean the same for all. Throws where the problem has a cone and the solver knows
  /// only boxes.
  void load(const ConstraintProblem& problem, std::string_view solver, bool cones, SolveReport& report);

  [[nodiscard]] int size() const { return static_cast<int>(b.size()); }
  [[nodiscard]] bool is_free(int i) const { return normal[i] < 0 && fixed_lower[i] == -infinity && fixed_upper[i] == infinity; }
  /// The bounds of friction rows from the normals that x has now.
  void follow_normals();
  /// w = A x - b.
  void update_w() {
    w.noalias() = A * x;
    w -= b;
  }
  /// The judge's word on the reduced problem; updates w.
  double judge();
  /// Which rows are free, by x and w: an index set to start from.
  void guess_states();
  /// x from the states, bounds following; at most `steps` guesses. True where the residual fell to the tolerance; x is the best
  /// seen.
  bool active_set_newton(int steps, double tolerance);

  /// Writes the whole answer, joints too, and judges it. Corrects b by what rounding in the reduction cost and refines once.
  void finish(const ConstraintProblem& problem, double tolerance, std::span<double> x_full, SolveReport& report);

  Matrix A;
  VecX b, x, w, lower, upper;
  VecX fixed_lower, fixed_upper, mu;
  std::vector<std::int32_t> normal;  // per row, that of its friction, or -1
  std::vector<RowState> state;
  double regularisation = 0;  // what is added to the diagonal of systems to be solved: a share of the mean diagonal
  BilateralSchur schur;

 private:
  bool solve_states();

  std::string_view solver_;
  Matrix system_;
  VecX to_x_, to_b_, unscaled_;  // what the reduced problem's x and b are multiplied by
  VecX step_, rhs_, best_;
  std::vector<std::int32_t> free_, place_, swaps_;
  Judge judge_, reduced_judge_;
};

}  // namespace rotule
