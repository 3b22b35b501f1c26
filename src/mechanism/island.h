#pragma once
// An island: bodies (and particles) that joints tie together, and the algebra of their constraints. Islands know nothing of each
// other, so they can be solved at the same time.
#include <rotule/recipe.h>

#include <vector>

#include "base/workspace.h"
#include "constraint/geometric_stiffness.h"
#include "mechanism/redundant_rows.h"
#include "problem/operators.h"

namespace rotule {

struct Island {
  std::vector<int> bodies;          // movable partners, by their numbers; the place in this list is the index in `problem`
  std::vector<VelocitySlot> slots;  // of each, in u
  ConstraintSet constraints;
  ConstraintProblem problem;
  RowValues values;
  VecX u;       // the bodies' velocities, six per body
  VecX local;   // likewise, whatever velocity or acceleration is being solved for
  VecX pull;    // what stabilisation adds to the rows' accelerations in this step; zero without it
  VecX x;       // the answer to `problem`
  VecX lambda;  // constraint forces of the last dynamic solve, N and N m
  bool has_lambda = false;
  VecX drift_force;           // what the joints gave in the last drift of RATTLE: where the next one starts its search
  double residual = 0;        // relative, of the last dynamic solve that was judged
  double reach = infinity;    // m, the longest lever from a body to one of its joints, or length of a rod
  bool has_loops = false;     // whether joints close loops, so that some rows may follow from others
  RedundantRows redundant;    // those that do
  LumpedStiffness stiffness;  // of the constraint forces, where a formulation wants it
  SolveReport report;
  ConstraintProblem kept_problem;  // the last dynamic solve and its answer, where asked for
  VecX kept_x;
  Workspace workspace;
  ResidualScratch residual_scratch;

  /// J, C and gamma, and the inverse masses, at this state.
  void evaluate(const Model& model, const Kinematics& kinematics, double t);
  /// The island's part of a vector over all bodies, into `u` or `local`; and back.
  void gather(const VecX& global, VecX& into) const;
  void scatter(VecX& global) const;
  /// Solves `problem` into `x`; `warm` starts iterations from the last answer, else from zero.
  void solve(const SolverChoice& solver, bool warm);
  /// Copies the problem and its answer aside.
  void keep();
  /// Sets `residual` by the one judge of problem.h.
  void judge();
  /// local += M^-1 J^T x.
  void apply_impulses();
  [[nodiscard]] double largest_error() const { return values.C.size() ? values.C.cwiseAbs().maxCoeff() : 0.0; }
};

/// Bodies connected by joints, in order of their first body; bodies without joints belong to no island.
std::vector<Island> split_into_islands(const Model& model);

}  // namespace rotule
