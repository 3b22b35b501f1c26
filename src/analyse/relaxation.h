#pragma once
// Equilibrium by implicit Euler steps that each begin at rest (pseudo-transient continuation: C. T. Kelley, D. E. Keyes 1998):
//   (M - h^2 K) d = h^2 f(q),   q <- q moved by alpha d.
// One linear solve each. As h grows this becomes Newton's method for f = 0; as it shrinks, descent along M^-1 f. alpha comes from
// the force along the way: where f . d < 0 the energy rises; a zero is sought by false position, roughly, as evaluations are
// cheap beside solves. h doubles where whole steps are good and halves where little of them was. Joints are closed in every
// trial, and a trial whose joints cannot be closed near by is too long. Linear, not quadratic, convergence where springs push
// (springs.h, `positive`). Stops, and constraints of one side, hold where they push, as they do in steps (drive_laws.h); a trial
// that would go through one ends on it. Where that takes long and nothing moves but particles, steps are made to their ends.
// Fails to arrive, and says so, where there is no equilibrium, or where it takes more than max_iterations.
#include <rotule/relaxation.h>

#include "mechanism/jointed_mechanism.h"

namespace rotule {

class Relaxation {
 public:
  Relaxation(const World& world, const RelaxationSettings& settings);

  /// One iteration; true, without moving, where equilibrium is reached.
  bool iterate();

  [[nodiscard]] const State& state() const { return s_; }
  [[nodiscard]] const RelaxationReport& report() const { return report_; }

 private:
  /// The largest sum of forces on anything.
  [[nodiscard]] double largest_force() const;
  /// M times v, at the place evaluated last.
  void times_mass(const VecX& v, VecX& out) const;
  /// Moves everything by alpha d, and on until the joints are closed, into `trial_`; false where they cannot be, or not near by.
  bool place(double alpha);
  /// The force along d there; minus infinity where joints are not closed.
  double pull(double alpha);
  double search();
  bool find_direction();
  /// One of those steps to its end, as a minimum (stage_minimiser.h).
  void fall_to_minimum();

  RelaxationSettings settings_;
  Recipe recipe_;
  const Model model_;  // as it is at rest
  JointedMechanism mechanism_;
  State s_, trial_;
  double t_ = 0, h_ = 0, slope_ = 0;
  bool evaluated_ = false;
  VecX udot_, d_, momentum_, sigma_;
  RelaxationReport report_;
};

}  // namespace rotule
