#pragma once
// An island: bodies (and particles) that constraints tie together, and the algebra of one solve over them (D3). Islands know
// nothing of each other, so they can be solved at the same time. For integrators, which feel joints alone, there is one per
// linkage; a step by impulses makes them anew, of linkages, drives of joints and contacts. Rows come in that order, each written
// where it is solved.
#include <rotule/recipe.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/workspace.h"
#include "constraint/geometric_stiffness.h"
#include "constraint/pool/contact.h"
#include "constraint/pool/drive.h"
#include "mechanism/coupled_masses.h"
#include "mechanism/linkage.h"
#include "mechanism/reduced/joint_space.h"
#include "problem/blocks_of_bodies.h"
#include "problem/operators.h"

namespace rotule {

/// What islands are made of, each in one list.
struct IslandParts {
  std::span<const Linkage> linkages;
  std::span<const DriveRow> drives;
  std::span<const Contact> contacts;
  int joint_count = 0;  // blocks of contacts are numbered behind those of joints
  bool cone = true;
  std::span<LinkageTree> trees{};  // beside the linkages, where those go by coordinates
};

struct Island {
  std::vector<int> bodies;                      // movable partners, rising; the place in this list is the index in `problem`
  std::vector<VelocitySlot> slots;              // of each, in u
  std::vector<int> linkages, drives, contacts;  // what ties them, by place in IslandParts
  ConstraintProblem problem;
  RowValues values;       // of the joints' rows
  VecX u;                 // the bodies' velocities, six per body
  VecX local;             // likewise, whatever velocity or acceleration is being solved for
  VecX start;             // likewise, before any impulse
  VecX after;             // likewise, at the end of the step, where somebody asks
  VecX ahead;             // rates that time gives the rows of joints at the step's end, where they have any
  VecX pull;              // what stabilisation adds to the rows' accelerations in this step; zero without it
  VecX x;                 // the answer to `problem`
  VecX given;             // impulses of forces that were solved for before it, where a formulation has those
  double given_work = 0;  // J, done by kinematic bodies, belts and time in the last step by impulses
  double residual = 0;    // relative, of the last dynamic solve that was judged
  SolveReport report, given_report;
  LumpedStiffness stiffness;       // of the constraint forces, where a formulation wants it
  ConstraintProblem kept_problem;  // the last dynamic solve and its answer, where asked for
  VecX kept_x;
  JointSpace space;  // what is solved in the place of `problem` where linkages go by coordinates
  SplitMass split;   // likewise where fluid couples bodies, whose masses in `problem` are their own blocks alone
  Workspace workspace;
  Gang* gang = nullptr;  // who helps, where the island is large; solvers find it among their memory
  Judge rows_judge;

  /// Which rows a contact has: all, or, for the projection of positions, its normal alone.
  enum class Rows : std::uint8_t { all, normals };

  /// The structure: blocks, laws and sizes. `local_of` maps partners to places in `bodies`.
  void assemble(const IslandParts& parts, std::span<const int> local_of, Rows rows = Rows::all);
  /// The same bodies and parts as another; keeps its own algebra and memory, so that a second problem of the same island does not
  /// undo the structure that solvers know of the first.
  void take_parts(const Island& other);
  /// J, C and gamma, masses and compliance at this state.
  void evaluate(const IslandParts& parts, const Model& model, const Kinematics& kinematics, double t);
  /// The same where joints are all there is.
  void evaluate(std::span<const Linkage> all, const Model& model, const Kinematics& kinematics, double t);

  /// The island's part of a vector over all bodies, into `u` or `local`; and back.
  void gather(const VecX& global, VecX& into) const;
  void scatter(VecX& global) const;
  void lend(Gang* helpers) {
    gang = helpers;
    workspace.get<Helpers>().gang = helpers;
  }
  /// Masses in place of the mechanism's: those of another island of the same bodies; or, where positions move by least lengths,
  /// as if a kilogram of any body weighed the same.
  void take_masses(const Island& other);
  void measure_by_length(const Model& model);
  /// Solves `problem` into `x`, iterations starting from problem.x0. What a solver did not finish does at least no harm.
  void solve(const SolverChoice& solver);
  /// Copies the problem and its answer aside.
  void keep();
  /// Sets `residual` by the one judge of problem.h.
  void judge();
  /// local += M^-1 J^T x.
  void apply_impulses();
  /// The same for any velocities of the island's bodies.
  void apply_impulses(VecX& velocities);
  /// The rows' own entries of A, for `entry`.
  void weigh_rows();
  [[nodiscard]] double entry(int row) const;

  /// Takes x back to where ½ x . A x - b . x is least along it, if it is beyond: no contact then adds energy (Judge::excess).
  void shorten();

  /// By which a joint's row is off; what is at least zero is not where it has room.
  [[nodiscard]] double error(Eigen::Index row) const {
    return problem.lower[row] == 0 ? std::max(-values.C[row], 0.0) : std::abs(values.C[row]);
  }
  /// What is no number counts as without end.
  [[nodiscard]] double largest_error() const;
  /// Rows of joints come first.
  [[nodiscard]] int joint_rows() const { return static_cast<int>(values.C.size()); }
  [[nodiscard]] std::span<const ConstraintBlock> joint_blocks() const { return {problem.blocks.data(), first_drive_}; }
  /// Blocks of the k-th of its drives and contacts.
  [[nodiscard]] const ConstraintBlock& drive_block(std::size_t k) const { return problem.blocks[first_drive_ + k]; }
  [[nodiscard]] const ConstraintBlock& contact_block(std::size_t k) const { return problem.blocks[first_contact_ + k]; }

 private:
  /// What solvers and judge are given.
  const ConstraintProblem& solved();
  void solve_by_rates(const SolverChoice& solver);

  std::size_t first_drive_ = 0, first_contact_ = 0;
  std::vector<char> one_sided_;  // of the joints' blocks
  bool any_one_sided_ = false;
  void find_blocks_of_bodies();
  BlocksOfBodies of_bodies_;  // where threads share the work
  bool of_bodies_known_ = false;
};

/// One island per linkage. Where `stood` tells at which places linkages were before, their islands go with them, memory of
/// solvers included.
void make_islands(const Model& model, std::span<const Linkage> linkages, std::vector<Island>& islands,
                  std::span<const int> stood = {});

/// Puts M + h^2 K in the place of the masses of an island's jointed bodies, and the momentum in `local` over it (F1): K comes
/// from the forces that the joints last gave.
void soften(const Model& model, const Kinematics& kinematics, const Linkage& linkage, const JointAnswer& answer, double t,
            double h, std::span<const int> local_of, Island& island);

}  // namespace rotule
