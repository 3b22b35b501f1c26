#pragma once
// The books of a run (F3): energies, momenta and errors of a state, and forces of its joints.
#include <rotule/results.h>

#include "mechanism/jointed_mechanism.h"
#include "step/totals.h"

namespace rotule {

/// Where a joint's rows stand: linkage (and island of joints) and block.
struct JointPlace {
  int linkage = -1, block = -1;
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
  /// What changed where a step had ended, and was taken from the energy there: elements that flow or tear.
  static void take_out(const Flow& flow, StepTotals& totals);
  static void read(const StepTotals& totals, const Model& model, const State& s, Diagnostics& out);

  [[nodiscard]] JointError error(const JointedMechanism& mechanism, int joint) const;  // of the last diagnose
  /// As of the last diagnose or refresh of forces.
  [[nodiscard]] JointForce force(const JointedMechanism& mechanism, int joint) const;
  /// Redundant rows per joint, as the last solve of each island found them.
  [[nodiscard]] std::vector<std::pair<int, int>> redundant(const JointedMechanism& mechanism) const;

 private:
  std::vector<JointPlace> places_;
  double time_ = 0;  // of the last diagnose
  ForceScratch scratch_;
};

}  // namespace rotule
