#pragma once
// The books of a run (F3): energies, momenta and errors of a state, and forces of its joints.
#include <rotule/results.h>

#include "mechanism/jointed_mechanism.h"

namespace rotule {

/// Where a joint's rows stand: linkage (and island of joints) and block.
struct JointPlace {
  int linkage = -1, block = -1;
};

/// What a run has come to so far, J.
struct StepTotals {
  double shock_energy = 0;  // taken out by shocks
  double push_energy = 0;   // added by moving bodies out of each other
  double given_work = 0;    // done by kinematic bodies, belts and constraints that time drives, in steps by impulses
};

class Ledger {
 public:
  explicit Ledger(const JointedMechanism& mechanism) { find_joints(mechanism); }
  /// After joints came or went.
  void find_joints(const JointedMechanism& mechanism);

  /// Energies, momenta, joint errors, residual; rows, multipliers and errors are then those of this state.
  Diagnostics diagnose(JointedMechanism& mechanism, const State& s, double t);
  [[nodiscard]] JointError error(const JointedMechanism& mechanism, int joint) const;  // of the last diagnose
  /// As of the last diagnose or refresh of forces.
  [[nodiscard]] JointForce force(const JointedMechanism& mechanism, int joint) const;
  /// Redundant rows per joint, as the last solve of each island found them.
  [[nodiscard]] std::vector<std::pair<int, int>> redundant(const JointedMechanism& mechanism) const;

 private:
  std::vector<JointPlace> places_;
  ForceScratch scratch_;
};

}  // namespace rotule
