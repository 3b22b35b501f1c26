#pragma once
// Limits of joints for methods that locate instants (integrate/adaptive): reaching one is an event, at which the joint stops;
// then the limit holds it, as long as it pushes. With g the room that is left, dg/dt = J u:
//   struck      g = 0, dg/dt < 0: an impulse along J^T that makes dg/dt = 0, joints holding through it (shock.h),
//   held        d2g/dt2 = J u' + gamma = 0 by forces mu along J^T, mu >= 0,
//   released    where mu falls below zero: an event too.
// Accelerations are linear in mu: one more evaluation per limit held tells how. What is held is found anew from every state, and
// so is no part of it. Angles are known from -pi to pi; a limit beyond is not seen.
#include "constraint/pool/drive.h"
#include "mechanism/jointed_mechanism.h"
#include "mechanism/shock.h"

namespace rotule {

class JointLimits {
 public:
  /// Whether this is a hinge or slider on whose axis nothing but limits acts.
  static bool only_limits(const Joint& joint);

  explicit JointLimits(const Model& model);

  [[nodiscard]] bool any() const { return any_; }

  /// Which limits hold at this state: those with no more room than `room` nor faster than `rate`, towards which things pull.
  void find_held(JointedMechanism& mechanism, const State& s, double t, double room, double rate);
  /// Adds what the held limits do to the accelerations found without them.
  void hold(JointedMechanism& mechanism, const State& s, double t, VecX& udot);
  /// The least, over limits, of max(room, h times its rate), below zero where something is to be struck; and of the held ones'
  /// push, as an acceleration times h^2.
  double event(JointedMechanism& mechanism, const State& s, double t, double h);
  /// Limits with less room than `slack` that things still go towards.
  void find_struck(const State& s, std::vector<ShockPoint>& points, double slack);

 private:
  /// The present rows of all limits into rows_.
  void evaluate(const State& s);
  [[nodiscard]] double along(const DriveRow& row, const VecX& u) const;
  /// J' u, for a joint that does not move along its axis.
  [[nodiscard]] double bias(const DriveRow& row) const;
  void solve(JointedMechanism& mechanism, const State& s, double t, const VecX& udot);

  const Model* model_;
  bool any_ = false;
  Kinematics kinematics_;
  std::vector<DriveRow> rows_;
  std::vector<int> held_;  // among rows_, which always stand in the same order
  // Of the last solve: how accelerations answer to each held limit, and the forces.
  std::vector<VecX> response_;
  MatX matrix_;
  VecX force_, rhs_, external_, scratch_;
};

}  // namespace rotule
