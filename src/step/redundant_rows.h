#pragma once
// Rows that follow from others: loops such as a planar four-bar of hinges or Bricard's linkage have more equations than their
// motion needs. The motion is unique, the multipliers are not.
//
// Dropping a row when its pivot vanishes is not enough. A little off the constraints, as at the stages of a Runge-Kutta step,
// the same rows are almost but not quite dependent, and would answer an error d with forces of order 1/d. So the choice is made
// at the start of a step, where joints are closed, and kept: rows set aside get a compliance that leaves them nothing to carry.
//
// Which row of a dependent set is dropped matters too: the others must stay independent. With Z the null vectors of A (z^T J = 0)
// the rows where Z is largest are dropped, found by elimination with complete pivoting. The choice stays until the pivots of the
// kept rows say that it has become a poor one, or a dropped row opens, which means that it follows from the others no longer.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "base/workspace.h"

namespace rotule {

class RedundantRows {
 public:
  /// Updates the choice and writes it into problem.C (zero elsewhere). `error` is C(q) per row, at a closed state; problem.b is
  /// overwritten.
  void set_aside(ConstraintProblem& problem, const VecX& error, Workspace& workspace);

  /// The rows set aside, ascending.
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }
  /// Whether the row's multiplier could be another one with the same motion: it takes part in some dependence.
  [[nodiscard]] bool ambiguous(int row) const { return !rows_.empty() && ambiguous_[row] != 0; }

 private:
  /// Whether a dropped row is no longer satisfied although the others are: it follows from them no more.
  [[nodiscard]] bool has_opened(const VecX& error) const;
  [[nodiscard]] bool still_good(ConstraintProblem& problem, Workspace& workspace);
  void choose(ConstraintProblem& problem, Workspace& workspace);
  void write_compliance(ConstraintProblem& problem) const;
  void factor(const ConstraintProblem& problem, Workspace& workspace);

  std::vector<int> rows_;
  std::vector<char> ambiguous_;
  double pivot_when_chosen_ = 1;  // smallest of the kept rows
  std::vector<Mat6> mass_;
  VecX x_, unit_, velocities_;
  MatX null_vectors_;
  SolveReport report_;
};

}  // namespace rotule
