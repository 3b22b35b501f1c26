#pragma once
// The coarse problem of two_level: what one pair of touching bodies passes to each other is one wrench, however many contacts
// carry it. The rows that can move, by x - w / A_rr and the laws of each, are
//   joints, and rows within their bounds  e_r
//   a contact that presses: sticking      e_n, e_t, e_b
//                           sliding       e_n + mu d, along the edge of its cone, d the friction's direction
// and the part of them that moves the pair, E_p Q_p with Q_p an orthonormal basis of the range of E_p^T J_p (at most six
// columns), is kept. With J_c = (E Q)^T J the coarse problem is a mechanism of welds and sliders between the same bodies,
// factored by `ldlt`; its answer is spread over the contacts by E Q. Where all contacts stick and stay pressed, it is exact: the
// length of a stack and its mass ratio do not matter. A block over more than two bodies stands alone, as a joint does. Sliding
// rows are told w_n = 0 alone, the slip speed being held. Needs bodies: a problem given by its matrix has no pairs.
#include <rotule/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/workspace.h"
#include "problem/row_sets.h"

namespace rotule {

class CoarseContacts {
 public:
  /// Which blocks belong together.
  void prepare(const ConstraintProblem& problem);
  /// What is thought to slide: what w and x say, or nothing, as where loads have yet to arrive: more load, more friction.
  enum class Guess { as_is, all_stick };

  /// Decides for every row whether it is free, follows its normal or stays, and puts x where that leaves it: 0 where a contact
  /// opens, on the edge of its cone where it slides. w = A x - b, of the x given.
  void guess(const ConstraintProblem& problem, Guess guess, std::span<const double> w, std::span<double> x);
  /// dx such that x + dx solves the coarse problem; x as `guess` left it, and its w.
  void correct(const ConstraintProblem& problem, std::span<const double> w, std::span<double> dx);

 private:
  struct Column {
    std::int32_t block;
    double e[6];
  };
  void find_columns(const ConstraintProblem& problem, int block, std::span<const double> w);
  void add_unit(int block, int row);

  enum class Motion : std::uint8_t { free, follows, stays };
  std::vector<BlockSet> sets_;
  std::vector<Motion> motion_;
  std::vector<double> follow_, diagonal_;         // per row: its change per change of its normal; its entry of A
  std::vector<std::int32_t> order_, pair_start_;  // blocks, sorted by pair of bodies; joints stand alone
  std::vector<double> right_, spread_;            // per row: what a column is told; six coarse coefficients
  std::vector<Column> columns_;
  std::vector<std::int32_t> coarse_row_;  // per pair, its first row in the coarse problem
  ConstraintProblem coarse_;
  SolveReport report_;
  Workspace workspace_;
  std::vector<double> y_;
};

}  // namespace rotule
