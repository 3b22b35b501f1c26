#pragma once
// The problem of one block alone, all other x being held: w' = w + D (x' - x) with D the block's own part of A, and x' under the
// block's laws. Solved exactly:
//   a joint             x' = x - D^-1 w, by LDL^T
//   rows with bounds    by the set of rows at their bounds, found in finitely many changes (Hintermüller, Ito, Kunisch 2002)
//   Coulomb's cone      take-off where w_n >= 0 without force; else stick, x' = x - D^-1 w, if that is in the cone; else slip:
//                       w_n = 0, w_t = -lambda t, |t| = mu n. With the normal eliminated and S = D_tt - D_tn D_nt / D_nn, this is
//                       (S + lambda) t = -r, and one equation mu n(lambda) / |t(lambda)| = 1 in lambda > 0, solved in the frame
//                       of S by Newton's method between brackets, from the last lambda of the same block.
//   friction boxes      as rows with bounds, those at a bound being tied to the normal
//   cones with torsion and rolling   group after group, each exactly, until nothing changes
// mu = 0 and rows that nothing moves are no special cases for the caller: such rows keep x or go to 0. Where D is singular its
// smallest part is raised by rounding; an x at which nothing changes is a solution all the same, as w is the true one.
// A solution of the cone's problem is not unique where friction is large against the coupling of D; one of them is returned.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/row_sets.h"

namespace rotule {

class LocalSolver {
 public:
  /// `op.diagonal(i, D)` writes the diagonal block.
  template <class Operator>
  void prepare(const ConstraintProblem& problem, const Operator& op) {
    begin(problem);
    double D[36];
    for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
      op.diagonal(i, D);
      add_block(i, D);
    }
  }

  /// x of block i goes to the block's solution for the w given; returns the judge's squared residual that the block had before,
  /// each row over its own entry of A: an energy.
  double solve(int i, const double* w, double* x);

  /// The block's laws, applied to x as projections: what a start must obey.
  void make_feasible(std::span<double> x) const;
  void make_feasible(int i, std::span<double> x) const { clamp(*problem_, problem_->blocks[i], sets_[i], x); }

 private:
  enum class Kind : std::uint8_t { bilateral, row, bounded, cone, boxes, general };
  struct Block {
    Kind kind = Kind::bilateral;
    std::int32_t rows = 0, first_row = 0;
    std::int32_t data = 0;   // D, or its factor, in data_
    std::int32_t cone = -1;  // its sliding cone in cones_
    std::int32_t disks = 0;  // the constants of its further groups in disks_, one each
  };
  /// (S + lambda) t = -r with |t| = mu n, n = -(q + d . t) / D_nn, all in the frame of S.
  struct Disk {
    double cosine, sine, s[2], d[2], lambda;
  };
  /// A contact's constants; D is symmetrised.
  struct Cone {
    double mu, D[6], inverse[6];  // n n, n t, n b, t t, t b, b b
    double d, inverse_d;          // mean of the diagonal
    Disk disk;                    // known once the contact has slid: its frame costs as much as some sweeps
    bool slid;
  };

  void begin(const ConstraintProblem& problem);
  void add_block(int i, const double* D);
  void add_cone(Block& block, double mu, const double* D);
  static Disk make_disk(double tt, double tb, double bb, double nt, double nb);
  static void slip(Disk& disk, double mu, double D_nn, double q_n, const double* r, double& n, double* t);
  void set_sizes(int i, const double* D);
  static double solve_cone(Cone& cone, const double* w, double* x);
  void solve_bounded(const Block& block, const double* w, double* x) const;
  [[nodiscard]] double residual_of_laws(int i, const double* w, const double* x) const;
  bool solve_boxes(int i, const double* w_start, double* x) const;
  void solve_general(int i, const double* w_start, double* x);
  void solve_group(int i, int g, const double* w, double* x);

  const ConstraintProblem* problem_ = nullptr;
  std::vector<BlockSet> sets_;
  std::vector<Block> blocks_;
  std::vector<double> data_;
  std::vector<double> d_, inverse_d_;  // per row: its own entry of A, the mean of them under one cone
  std::vector<Cone> cones_;
  std::vector<Disk> disks_;
};

}  // namespace rotule
