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
// kept rows say that it has become a poor one; a dropped row that follows from the others no longer (a mechanism leaving a
// singular pose) is taken back.
//
// Where very many joints tie the same two bodies, all but six rows at most follow from the others whatever else there is: those
// are found first, by orthogonalisation with pivoting among the rows of that pair, and take no part in what is above. Their
// number is then bounded by time linear in it.
#include <rotule/problem.h>

#include <array>
#include <span>
#include <vector>

#include "base/workspace.h"
#include "problem/structure.h"

namespace rotule {

class RedundantRows {
 public:
  /// Compliance of a dropped row over its diagonal entry.
  static constexpr double slack = 1e12;

  /// Updates the choice for a state whose joints are open by no more than `open` (m, rad) and writes it into problem.C (zero
  /// elsewhere); problem.b is overwritten. Idle rows, which follow from no others, keep the compliance that they have.
  void set_aside(ConstraintProblem& problem, Workspace& workspace, double open, std::span<const int> idle = {});

  /// The rows set aside, ascending.
  [[nodiscard]] const std::vector<int>& rows() const { return all_; }
  /// Whether the row's multiplier could be another one with the same motion: it takes part in some dependence.
  [[nodiscard]] bool ambiguous(int row) const {
    return (!rows_.empty() && ambiguous_[row] != 0) || (!parallel_.empty() && parallel_ambiguous_[row] != 0);
  }

  /// Visits all that the next choice depends on, for snapshots.
  template <class Archive>
  void archive(Archive& io) {
    io(rows_);
    io(parallel_);
    io(all_);
    io(ambiguous_);
    io(parallel_ambiguous_);
    io(pivot_when_chosen_);
  }

 private:
  /// Two bodies that many rows tie, one of which may be the ground, and where their rows end.
  struct Pair {
    int body_a, body_b, end;
  };
  /// A row between two bodies, as a unit vector, less what lies along those that are kept.
  struct PairVector {
    Eigen::Matrix<double, 12, 1> left = Eigen::Matrix<double, 12, 1>::Zero();
    std::array<double, 6> shares{};  // of the kept ones
    int row = 0;
    bool kept_before = false, kept = false;
  };

  void resize(const ConstraintProblem& problem);
  void find_pairs(const ConstraintProblem& problem);
  void set_parallel_aside(const ConstraintProblem& problem, double lever);
  void drop_dependent();
  /// Takes back the dropped row that follows from the others least, if one does not; whether it did.
  bool restore_one(ConstraintProblem& problem, Workspace& workspace);
  [[nodiscard]] bool still_good(ConstraintProblem& problem, Workspace& workspace);
  void choose(ConstraintProblem& problem, Workspace& workspace);
  /// To zero, but for idle rows.
  void clear_compliance(ConstraintProblem& problem) const;
  void write_compliance(ConstraintProblem& problem) const;
  void factor(const ConstraintProblem& problem, Workspace& workspace);

  std::vector<int> rows_, parallel_;  // found among all; found among the rows of one pair
  std::vector<int> all_;              // both
  Structure structure_;               // for which pairs were looked for
  std::vector<int> pair_rows_;        // of pairs of bodies with many, one pair after the other
  std::vector<Pair> pairs_;
  std::vector<PairVector> vectors_;  // while choosing, of one pair
  std::span<const int> idle_;        // while choosing
  std::vector<char> ambiguous_, parallel_ambiguous_;
  double pivot_when_chosen_ = 1;  // smallest of the kept rows
  double dependent_pivot_ = 0;    // while choosing: what counts as dependent
  std::vector<Mat6> mass_;
  VecX x_, unit_, product_, velocities_;
  MatX null_vectors_;
  SolveReport report_;
};

}  // namespace rotule
