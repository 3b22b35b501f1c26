#pragma once
// The linear systems of implicit methods: (M - a D - b K) x = M r + J^T mu with J x = J r, where D = df/du and K = df/dq of all
// forces, the gyroscopic torque and the constraint forces, whose directions turn with their bodies (F1).
//
// What springs and joints tie together is solved together; what has joints, rigid bodies or forces without symmetric derivatives
// goes into one unsymmetric system
//   [ S  -J^T ] [x ]   [M r]
//   [ J'  C   ] [mu] = [J r]     (C: rows that others imply are given compliance, redundant_rows.h)
// J' = J + a dgamma/du + b d(J u')/dq: the constraints' second derivative J u' + gamma = 0, linearised too. A row's Hessian H
// gives gamma = u^T H u, hence dgamma/du = 2 u^T H; dgamma/dq is left out. Where joints are held at velocity level, J (u_0 + a
// u') = 0, J' = J + (b/a) d(J u)/dq = J + (b/a) u^T H, and nothing is left out. Joints that are penalty springs of stiffness k
// and damping d are rows with compliance 1/(b k + a d) and nothing on the right. The system is solved by sparse LU (J. W. Demmel
// et al. 1999, as in Eigen); particles tied by springs alone have a symmetric S and go by block-sparse LDL^T or by conjugate
// gradients, as the settings say. Patterns are found once and kept. For rigid bodies the matrix is
//   S = M - a D - b K,   M d(M^-1 f)/dphi = d(tau)/dphi + [tau]x - I [alpha]x   with tau the torque and alpha the acceleration.
// LU of a large cloth tied to bodies costs much more than conjugate gradients would; it is meant for mechanisms.
//
// Methods whose stages are solved together want the same matrix for several a with b = a^2, complex ones too: it is
// A_0 + a A_1 + a^2 A_2, of which the parts are kept (`separate`), so that another a costs a sum and a factorisation. Everything
// that moves is in one unsymmetric system then, particles too.
#include <rotule/recipe.h>
#include <rotule/results.h>

#include "linalg/block3_ldlt.h"
#include "linalg/block_conjugate_gradients.h"
#include "linalg/entry_solver.h"
#include "linalg/rank_one.h"
#include "math/complex_vector.h"
#include "mechanism/drive_laws.h"
#include "mechanism/island.h"

namespace rotule {

/// Refuses what solves no linear systems (local_global.h). Throws Error.
void require_linear_solver(const Recipe& recipe);

class ImplicitSystem {
 public:
  /// Islands are of joints alone, one per linkage; `answers` are what the joints of each last gave. `together`: for `separate`.
  ImplicitSystem(const Model& model, const Recipe& recipe, const std::vector<Linkage>& linkages,
                 const std::vector<Island>& islands, const std::vector<JointAnswer>& answers, const DriveLaws& drives,
                 bool together = false);

  /// Where the next solves stand. Islands must have been evaluated there; `torques` are what acts on each body and `udot` what
  /// comes of it, constraint forces included.
  /// `held`: whether the rows ask for velocities (JointedMechanism::hold_joints).
  void linearise(const Kinematics& kinematics, const State& s, double t, const VecX& udot, double h, bool held);
  /// Throws Error where the matrix is singular. `report` gets the iterations.
  void solve(double a, double b, const VecX& r, VecX& out, StepReport& report);

  /// The parts of the matrix where linearised last; `a` is about as large as those to come.
  void separate(double a);
  /// (M - a D - a^2 K) out = M r + J^T y with J out = J r, all where separated last. Throws Error where the matrix is singular.
  void solve_separated(double a, const VecX& r, VecX& out, StepReport& report);
  void solve_separated(std::complex<double> a, const VecXc& r, VecXc& out, StepReport& report);

 private:
  /// Which part of the unknowns a triple of u belongs to, and its place there; immovable ones to none.
  struct Share {
    std::vector<int> place;   // per triple of u, -1 where it is not in this part
    std::vector<int> triple;  // and back
    Block3Matrix S;
  };
  void split(bool together);
  void add_pattern(Share& share, const std::vector<std::array<int, 2>>& pairs) const;
  void assemble(double a, double b);
  void assemble_motions(double a, double b);
  void assemble_bodies(double a, double b);
  void assemble_springs(double a, double b);
  /// What stands beside one row of J in J': calls visit(change, owner) with six numbers per partner of the block, and the
  /// partners' places in the island.
  template <class Visit>
  void with_row_change(const Island& island, int block, int row, Visit&& visit) const;
  /// All numbers of the mechanism's matrix: visit(row, column, value), the same places in the same order every time. Returns its
  /// size.
  template <class Visit>
  int visit_mechanism(Visit&& visit) const;
  void analyse_mechanism();
  void write_mechanism(std::vector<double>& values);
  void factor_mechanism();
  void factor_particles();
  /// `rows`: whether joints have something on the right.
  void solve_mechanism(const VecX& r, VecX& out, bool rows = true);
  void solve_particles(const VecX& r, VecX& out, StepReport& report);
  [[nodiscard]] bool uses_gradients() const;

  const Model& model_;
  const Recipe& recipe_;
  [[nodiscard]] const ConstraintSet& constraints_of(const Island& island) const {
    return linkages_[island.linkages.front()].constraints;
  }
  const std::vector<Linkage>& linkages_;
  const std::vector<Island>& islands_;
  const std::vector<JointAnswer>& answers_;
  const DriveLaws& drives_;
  Share mechanism_, particles_;
  std::vector<std::array<std::int64_t, 2>> spring_blocks_;  // of springs between particles: (i, j) and (j, i), -1 where pinned
  bool positive_ = true;

  // The state linearised at.
  const Kinematics* kinematics_ = nullptr;
  State s_;
  double t_ = 0, h_ = 0;
  bool held_ = false;
  VecX udot_;
  double a_ = 0, b_ = 0;
  bool assembled_ = false;

  // The mechanism, one node per body, particle and joint.
  EntryPattern pattern_;
  std::vector<int> order_;
  EntrySolver<double> solver_;
  VecX rhs_, solution_;
  VecX of_fluid_;  // M_a times a right-hand side

  // Its parts, one number per entry; and one factor for each a that was asked for last.
  template <class Scalar>
  struct Separated {
    EntrySolver<Scalar> solver;
    Scalar a = 0;
    bool made = false;
    typename EntrySolver<Scalar>::Vector rhs, solution;
  };
  template <class Scalar, class Vector>
  void solve_separated(Separated<Scalar>& by, Scalar a, const Vector& r, Vector& out, StepReport& report);
  std::array<std::vector<double>, 3> parts_;
  Separated<double> real_;
  Separated<std::complex<double>> complex_;

  // Particles.
  Block3Ldlt ldlt_;
  ConjugateGradients gradients_;
  RankOneUpdates gases_;
  VecX particle_rhs_, particle_solution_;
};

}  // namespace rotule
