#pragma once
// The seam between formulations, which write it, and solvers, which read it: the frozen algebra of one island for one step.
//
//   w = A x - b,   A = J M^-1 J^T + C,   lower <= x <= upper:
//   x = lower needs w >= 0, x = upper needs w <= 0, between them w = 0.
//
// Dynamics, shocks, drift correction, inverse kinematics and contact are all this (D3); they differ in b, C and the meaning
// of x (forces, impulses, displacements times mass). Plain arrays: what solvers read is what can be stored and sent.
#include <rotule/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// Rows of a Jacobian, one body's six columns: linear velocity, then angular velocity, both in world axes.
using JacobianRows = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>;

/// One constraint of 1 to 6 rows over bodies of the island: two of them, or one and what never moves (-1), and those beyond two
/// that the problem lists in `more`.
struct ConstraintBlock {
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::int32_t body_a = -1;
  std::int32_t body_b = -1;
  std::int32_t source = -1;     // index of the joint (or contact) that wrote it, for reports
  std::int32_t first_more = 0;  // its further bodies: `more_count` entries of the problem's `more` from here on
  std::int32_t more_count = 0;
  friend bool operator==(const ConstraintBlock&, const ConstraintBlock&) = default;
};

/// A body of a block beyond the first two, one that moves, and where the block's rows for it begin in J_more.
struct BlockPartner {
  std::int32_t body = 0;
  std::int32_t first = 0;
  friend bool operator==(const BlockPartner&, const BlockPartner&) = default;
};

/// Friction of one contact: `count` rows from `first_row`, bounded by mu times the normal row's x: their length (a cone,
/// Coulomb's law) or each by itself (a box, D2). A contact is one block: its normal row first, then its groups of friction:
/// sliding, and, where asked for, torsional and rolling, whose mu is a length. Which of the static and the dynamic coefficient is
/// in force has been decided by whoever wrote the problem.
struct FrictionRows {
  std::int32_t first_row = 0;
  std::int32_t count = 0;
  std::int32_t normal_row = 0;
  bool cone = true;
  double mu = 0;
};

/// A matrix by compressed rows, columns in increasing order.
struct SparseRows {
  std::vector<std::int32_t> start;  // one more than rows
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

/// A comes from J, M and C, or, where a file gives it outright, from `matrix` and C: there are no bodies then, and blocks have -1
/// for both.
struct ConstraintProblem {
  SparseRows matrix;                    // empty where J and M are given
  std::vector<Mat6> inverse_mass;       // per body; symmetric, positive semidefinite
  bool coupled = false;                 // whether some block couples linear and angular parts; if not, those are zero
  std::vector<ConstraintBlock> blocks;  // in order of first_row, without gaps
  JacobianRows J_a, J_b;                // per row; J_a is meaningless where the block's body_a is -1, and so for b
  std::vector<BlockPartner> more;       // bodies of blocks beyond two, in order of the blocks
  JacobianRows J_more;                  // as many rows per entry of `more` as its block has
  VecX b;                               // right-hand side
  VecX C;                               // compliance, a diagonal, >= 0
  VecX lower, upper;                    // infinite where bilateral
  std::vector<FrictionRows> friction;   // in order of first_row
  VecX x0;                              // warm start
  double h = 1;                         // the step: x / h is in newtons where x is an impulse; 1 where x is a force already

  [[nodiscard]] int bodies() const { return static_cast<int>(inverse_mass.size()); }
  [[nodiscard]] int rows() const { return static_cast<int>(b.size()); }
  [[nodiscard]] bool has_matrix() const { return !matrix.start.empty(); }

  /// Sizes the arrays for `body_count` bodies and the blocks given; keeps memory, so that a step can reuse it. Bounds are set
  /// to bilateral, C and x0 to zero. J_more follows from `more` and is left to who lists those.
  void resize(int body_count, int row_count);
};

/// What a solver did. Rows that are linear combinations of others have no unique x: they are listed.
struct SolveReport {
  int iterations = 0;
  double residual = 0;  // Residual::scale_free, of the last check that the solver made
  bool converged = true;
  double smallest_pivot = 1;  // kept pivot over its diagonal entry, where the solver has pivots: how near rows are to depending
  std::vector<std::int32_t> redundant_rows;
  std::string_view solver;  // the name of who gave the answer: where the choice was left open, who was chosen
};

/// What can be said of any answer by any solver. `scale_free` is the one judge: what solvers stop at, and what reports and steps
/// speak of. It measures each row in its own unit, against the velocity that is at stake for its bodies, and takes the worst: the
/// same for grams and tonnes, and for an island alone or beside a larger one.
///
/// The others are those of the literature (D4, FCLIB), in the problem's own units. Rows with bounds: psi_i = max(min(upper - x,
/// w^-), min(x - lower, w^+)), those of a friction box and of torsion and rolling with the bounds that their normal gives. A
/// contact with a sliding cone K: the natural map of Coulomb's law in De Saxce's form, psi = x - P_K(x - (w + mu |w_t| n)), zero
/// exactly at its solutions.
struct Residual {
  double sum = 0;         // D4's e: sum of |psi_i|
  double max = 0;         // largest |psi_i|
  double relative = 0;    // Euclidean norm of psi over that of b (or absolute where b is zero), as FCLIB has it
  double scale_free = 0;  // largest over the rows of velocity that is wrong over velocity that is at stake
};
Residual residual(const ConstraintProblem& problem, std::span<const double> x);

/// velocities += M^-1 J^T x; six numbers per body. Without bodies there is nothing to push.
void apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities);

/// Throws Error where arrays disagree in size, indices are out of range or numbers are not finite.
void validate(const ConstraintProblem& problem);

}  // namespace rotule
