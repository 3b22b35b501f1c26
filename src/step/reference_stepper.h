#pragma once
// The reference path: integrator x formulation x solver, all double.
#include <optional>

#include "integrate/methods.h"
#include "step/contact_step.h"
#include "step/shock.h"

namespace rotule {

class ReferenceStepper {
 public:
  ReferenceStepper(const Model& model, const Recipe& recipe);

  /// Moves the state from t to t + h. Throws Error, naming the body, where a number is no longer finite.
  const StepReport& step(State& s, double t, double h);
  /// Forgets what a multistep method remembers: whoever changes the state by hand says so here.
  void forget();
  /// The memory of a multistep method, for snapshots; null where the method has none.
  Memory<State>* memory();

  JointedMechanism mechanism;
  ShockSolver shocks;
  std::optional<ContactStep> contacts;  // where the recipe has them
  double shock_energy = 0;

 private:
  void advance_by_impulses(const VelocitySettings& settings, State& s, double t, double h);
  void step_by_impulses(const VelocitySettings& settings, State& s, double t, double h);
  void note(const ImplicitReport& equations);
  void correct(State& s, double t);
  void bounce(State& s, double t);

  AnyIntegrator<JointedMechanism> integrator_;
  State start_;  // of the step, where it may have to be made again
  std::vector<ShockPoint> points_;
};

/// Throws where a joint's points are further apart than its island's bodies reach: nobody would call that a joint any more.
void require_joined(const Model& model, const std::vector<Island>& islands);
/// Throws where the state holds something that is not a number, with the body's name.
void require_finite(const Model& model, const State& s);

}  // namespace rotule
