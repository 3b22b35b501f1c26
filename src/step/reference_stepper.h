#pragma once
// The reference path: integrator x formulation x solver, all double.
#include <optional>
#include <variant>

#include "integrate/adaptive/adaptive.h"
#include "integrate/adaptive/tableau_5.h"
#include "integrate/adaptive/tableau_8.h"
#include "integrate/methods.h"
#include "integrate/symplectic/rattle.h"
#include "mechanism/course.h"
#include "mechanism/joint_limits.h"
#include "mechanism/shock.h"
#include "step/contact_step.h"

namespace rotule {

/// Methods that want more of a mechanism than accelerations: error control, and symplectic ones. None of them: nothing.
using GuidedIntegrator =
    std::variant<std::monostate, Adaptive<Course, DormandPrince5>, Adaptive<Course, DormandPrince8>, Rattle<JointedMechanism>>;

class ReferenceStepper {
 public:
  ReferenceStepper(const Model& model, const Recipe& recipe);

  /// Moves the state from t to t + h. Throws Error, naming the body, where a number is no longer finite.
  const StepReport& step(State& s, double t, double h);
  /// Forgets what a multistep method remembers: whoever changes the state by hand says so here.
  void forget();
  /// The memory of a multistep method, for snapshots; null where the method has none.
  Memory<State>* memory();
  /// That of a method with error control; null for the others.
  AdaptiveMemory* adaptive_memory();

  JointedMechanism mechanism;
  ShockSolver shocks;
  JointLimits limits;                   // of joints, for methods that locate events
  std::optional<ContactStep> contacts;  // where the recipe has them
  double shock_energy = 0;

 private:
  /// By one of the guided methods, where the recipe has one; else nothing is done.
  bool step_guided(State& s, double t, double h);
  void advance_by_impulses(const VelocitySettings& settings, State& s, double t, double h);
  void step_by_impulses(const VelocitySettings& settings, State& s, double t, double h);
  void note(const ImplicitReport& equations);
  void correct(State& s, double t);
  void bounce(State& s, double t);

  AnyIntegrator<JointedMechanism> integrator_;
  GuidedIntegrator guided_;
  State start_;  // of the step, where it may have to be made again
  std::vector<ShockPoint> points_;
};

/// Throws where a joint's points are further apart than its island's bodies reach: nobody would call that a joint any more.
void require_joined(const Model& model, const std::vector<Island>& islands);

}  // namespace rotule
