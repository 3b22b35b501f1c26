#pragma once
// Joints out of the way: with j the bilateral blocks and c all others (contacts, limits, motors),
//
//   S = A_cc - A_cj A_jj^-1 A_jc,   b' = b_c - A_cj A_jj^-1 b_j,   and afterwards   x_j = A_jj^-1 (b_j - A_jc x_c),
//
// the same complementarity problem over the rows of c alone, written as a problem of its own that any solver can read. Bodies
// that joints connect act as one: S has a block where two constraints of c share such an assembly (or a free body), and one
// factor per assembly serves all its columns. Column r is the motion that a unit impulse in row r gives to the jointed assembly.
//
// Redundant joints are allowed: A_jc lies in the range of A_jj, so that S does not depend on which of them are set aside.
// `correct` repairs what rounding in S costs: it moves b' until S x_c - b' is the true w of the whole problem at x.
// Memory and time grow with the square of the rows of c that meet in one assembly: `entries` says how many numbers S has.
#include <rotule/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/union_find.h"
#include "problem/row_sets.h"
#include "solve/direct/sparse_system.h"

namespace rotule {

class BilateralSchur {
 public:
  /// Splits the blocks and finds the assemblies; cheap, no numbers yet.
  void split(const ConstraintProblem& problem);
  [[nodiscard]] bool has_joints() const { return !joint_blocks_.empty(); }
  [[nodiscard]] int joint_rows() const { return joint_rows_; }
  [[nodiscard]] int reduced_rows() const { return reduced_rows_; }
  [[nodiscard]] std::span<const BlockSet> sets() const { return sets_; }
  /// How many numbers S would have.
  [[nodiscard]] std::int64_t entries() const { return entries_; }

  /// Factors the joints of every assembly. Rows set aside are listed in the report.
  void factor(const ConstraintProblem& problem, double pivot_tolerance, SolveReport& report);
  /// Writes S, b', C, bounds, friction and warm start to `reduced`.
  void form(const ConstraintProblem& problem);
  /// The rows of c from the full vector, and back.
  void restrict_to(std::span<const double> x, std::span<double> x_c) const;
  void scatter(std::span<const double> x_c, std::span<double> x) const;
  /// x_j from x_c, both in the full vector, refined against the whole problem.
  void recover_joints(const ConstraintProblem& problem, std::span<double> x);
  /// Joint rows of a full vector: right-hand side to answer; other rows are left alone.
  void solve_joints(std::span<double> x);
  /// b' such that S x_c - b' = (A x - b)_c.
  void correct(const ConstraintProblem& problem, std::span<const double> x);

  ConstraintProblem reduced;

 private:
  void find_assemblies(const ConstraintProblem& problem);
  /// The groups that a block acts on, each once, into keys_.
  void find_groups(const ConstraintProblem& problem, const ConstraintBlock& block);
  void factor_matrix(const ConstraintProblem& problem, double pivot_tolerance, SolveReport& report);
  void form_from_bodies(const ConstraintProblem& problem);
  void form_from_matrix(const ConstraintProblem& problem);
  /// Rows that joints hold altogether have nothing in S to divide by. They give way as they would without joints, so that their
  /// answers are finite: about 0 where nothing presses, and of no effect beyond the joints in any case.
  void yield_held_rows(const ConstraintProblem& problem);
  void respond(const ConstraintProblem& problem, const ConstraintBlock& block, int row, int group);

  std::vector<BlockSet> sets_;
  std::vector<ConstraintBlock> joint_blocks_;            // by assembly
  std::vector<std::int32_t> assembly_start_;             // into joint_blocks_
  std::vector<std::int32_t> group_;                      // per body: its assembly or itself; -1 where it cannot move
  std::vector<std::int32_t> assembly_;                   // per group: index into systems_, -1 for a free body
  std::vector<std::int32_t> members_start_, members_;    // bodies of each group
  std::vector<std::int32_t> incident_start_, incident_;  // joint blocks of each body
  std::vector<std::int32_t> touching_start_, touching_;  // blocks of c at each group
  std::vector<std::int32_t> others_, new_row_;           // blocks of c; per row of the problem, its row in S or -1
  UnionFind connected_;
  std::vector<std::int32_t> count_, columns_, mark_;
  std::vector<int> keys_;  // bodies or groups of one block
  std::vector<SparseSystem> systems_;
  std::vector<char> refine_;  // per assembly, whether its factor lost digits
  std::vector<double> velocities_, joint_x_, joint_sum_, row_, product_;
  std::vector<std::int32_t> joint_row_list_;  // with a matrix: which rows are joints'
  std::vector<double> dense_, scale_, work_, dense_x_;
  int joint_rows_ = 0, reduced_rows_ = 0;
  std::int64_t entries_ = 0;
  bool from_matrix_ = false;
};

}  // namespace rotule
