#pragma once
// A problem as the nonsmooth Newton solvers see it: the laws of its blocks in the form of Alart and Curnier (contact_law.h), the
// scale rho of each row, the linear systems of their steps, and sweeps of block Gauss-Seidel.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/row_sets.h"
#include "solve/newton/block_system.h"
#include "solve/newton/contact_law.h"

namespace rotule {

class ContactSystem {
 public:
  /// Reads the problem: sets, diagonal blocks, rho; patterns only when the structure changed.
  void prepare(const ConstraintProblem& problem);

  /// w = A x - b.
  void velocities(const ConstraintProblem& problem, std::span<const double> x, std::span<double> w);
  /// F, D and the blocks' activity; returns the merit: the sum of F^2 / rho.
  double evaluate(const ConstraintProblem& problem, std::span<const double> x, std::span<const double> w);
  /// Forgets in D how the direction of a sliding group turns: what is left is linear in x_n.
  void freeze_directions(const ConstraintProblem& problem);
  /// Factors (I - D + D rho (A + S)) for the last `evaluate`, S = epsilon / rho.
  void factor(const ConstraintProblem& problem, double epsilon);

  /// Block Gauss-Seidel with the laws solved block by block (a few local Newton steps); x stays within its bounds.
  void sweep(const ConstraintProblem& problem, int count, std::span<double> x);

  [[nodiscard]] BlockSystem& linear() { return linear_; }
  [[nodiscard]] std::span<const double> rho() const { return rho_; }
  [[nodiscard]] std::span<const double> inverse_rho() const { return inverse_rho_; }
  [[nodiscard]] std::span<const double> law() const { return F_; }
  [[nodiscard]] std::span<const BlockSet> sets() const { return sets_; }

 private:
  void solve_block(const ConstraintProblem& problem, int block, const double* q, double* x);

  BlockSystem linear_;
  std::vector<BlockSet> sets_;
  std::vector<double> rho_, inverse_rho_, F_, D_;  // D_: 36 per block
  std::vector<Activity> activity_;
  std::vector<double> u_;  // of the bodies, in sweeps
};

}  // namespace rotule
