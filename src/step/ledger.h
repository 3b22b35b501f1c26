#pragma once
// The books of a run (F3): energies, momenta and errors of a state, and forces of its joints.
#include <rotule/results.h>

#include "mechanism/jointed_mechanism.h"

namespace rotule {

/// Where a joint's rows stand: linkage (and island of joints) and block.
struct JointPlace {
  int linkage = -1, block = -1;
};

/// The books of energy and momentum, since they were opened. Whatever changes between steps was done by hand.
struct Books {
  double opened = 0;                        // 1 once they are; numbers alone, so that snapshots have no gaps
  double start = 0, end = 0;                // J, when they were opened, and at the end of the last step
  double shocks_start = 0, shocks_end = 0;  // StepTotals::shock_energy then
  double hands = 0;                         // J
  MomentumRate momentum_start{}, momentum_end{}, momentum_hands{};
  Flow flow;  // of all steps
};

/// What a run has come to so far, J.
struct StepTotals {
  double shock_energy = 0;  // taken out by shocks
  double push_energy = 0;   // added by moving bodies out of each other
  double given_work = 0;    // done by kinematic bodies, belts and constraints that time drives, in steps by impulses
  Books books;
};

class Ledger {
 public:
  explicit Ledger(const JointedMechanism& mechanism) { find_joints(mechanism); }
  /// After joints came or went.
  void find_joints(const JointedMechanism& mechanism);

  /// Energies, momenta, joint errors, residual; rows, multipliers and errors are then those of this state.
  Diagnostics diagnose(JointedMechanism& mechanism, const State& s, double t);
  /// The energy of a state, by where it is held; contacts are those of the mechanism.
  struct Energies {
    double kinetic = 0, gravity = 0, springs = 0, fields = 0;
    [[nodiscard]] double potential() const { return gravity + springs + fields; }
    [[nodiscard]] double sum() const { return kinetic + potential(); }
  };
  Energies energies(const JointedMechanism& mechanism, const State& s, double t);

  // The books: before a step, after it, and what they say of a state.
  void look_at_hands(const JointedMechanism& mechanism, const State& s, double t, StepTotals& totals);
  void close_step(const JointedMechanism& mechanism, const State& s, double t, StepTotals& totals);
  /// Likewise of a state with this energy; `flow` is the step's.
  static void look_at_hands(double energy, const MomentumRate& momentum, StepTotals& totals);
  static void close_step(double energy, const MomentumRate& momentum, const Flow& flow, StepTotals& totals);
  static void read(const StepTotals& totals, const Model& model, const State& s, Diagnostics& out);

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
