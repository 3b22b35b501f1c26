#pragma once
// Primal-dual interior point. Every law is a set of cones: X = B x in L, with a dual Y in L and X o Y = 0 (Jordan product):
// Coulomb's cone X = (mu x_n, x_t) in Lorentz's; a friction box, row by row, the same in the plane; a bound, a half-line. The
// duals carry the velocities, with De Saxce's shift on the normal:
//   A x - b + n (sum of mu |w_t|) = sum of B^T Y.
// Newton on this with X o Y = sigma m e, scaled by Nesterov and Todd so that X and Y meet in one point; eliminating dY leaves
//   [B^T Theta^-2 B + N A] dx = right-hand side,  N = d(w + shift) / dw,
// solved twice with one factor: Mehrotra's predictor, which chooses sigma, and the corrector.
// Andersen, Roos, Terlaky, Math. Program. 95 (2003); Acary, Armand, Nguyen, Shpakovych (2023) for the shift within the step.
// It starts in the middle of the cones: of a warm start only an x that already solves the problem is of use. Ends near 1e-10; the
// shift makes the problem not convex, and where friction is strong it may stall (and says so).
#include <rotule/problem.h>

#include <cmath>
#include <span>
#include <vector>

#include "problem/judge.h"
#include "problem/row_sets.h"
#include "solve/newton/block_system.h"

namespace rotule {

class InteriorPoint {
 public:
  /// Reads the problem; must come before `run`. `linear` has been prepared for it, and is used until then.
  void prepare(const ConstraintProblem& problem, BlockSystem& linear);
  /// From the middle of the cones until the judge's residual is at most `tolerance`, or nothing is gained any more. x becomes the
  /// best seen, if it is better than `residual` says of the x that came in. Returns the steps made.
  int run(const ConstraintProblem& problem, double tolerance, int max_iterations, std::span<double> x, double& residual);
  /// The judge's number for x; w = A x - b is kept.
  double judge(const ConstraintProblem& problem, std::span<const double> x);

 private:
  static constexpr int stride = 6;  // numbers kept per cone

  /// Rows (of the problem) of one cone: the normal with its mu and the tangential rows, or, for a half-line,
  /// sign (x_row - offset).
  struct Cone {
    int block;
    int normal = -1;  // -1: a half-line
    int first, count;
    double mu = 1, sign = 1, offset = 0;
    [[nodiscard]] int size() const { return normal < 0 ? 1 : 1 + count; }
  };

  /// Nesterov and Todd's scaling of one cone: Theta Y = Theta^-1 X = lambda.
  struct Scaling {
    double eta = 1, p[stride] = {}, lambda[stride] = {};
    void find(const double* X, const double* Y, int n);
    /// out = Theta^power v, power 1 or -1.
    void multiply(const double* v, double* out, int n, int power) const;
    /// One entry of Theta^-2.
    [[nodiscard]] double inverse_square(int r, int c, int n) const;
  };

  void find_cones(const ConstraintProblem& problem);
  void start_in_the_middle(const ConstraintProblem& problem, std::span<double> x);
  void cone_of(const Cone& cone, std::span<const double> x, bool derivative, double* out) const;
  void assemble(const ConstraintProblem& problem);
  void right_hand_side(const ConstraintProblem& problem, std::span<const double> x);
  void steps_of_cones(std::span<const double> x);
  double step(const ConstraintProblem& problem, std::span<const double> x);
  void correct(double centre);

  BlockSystem* linear_ = nullptr;
  std::vector<BlockSet> sets_;
  std::vector<Cone> cones_;
  std::vector<Scaling> scalings_;
  std::vector<double> X_, Y_, dX_, dY_, g_;  // `stride` per cone
  std::vector<double> rho_, w_, F_, dx_, A_dx_, best_;
  std::vector<char> pinned_;  // rows whose x is known
  Judge judge_;
};

}  // namespace rotule
