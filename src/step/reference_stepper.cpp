#include "step/reference_stepper.h"

#include <rotule/error.h>

namespace rotule {

namespace {

Integrator make_integrator(const IntegratorSettings& settings) {
  struct Make {
    Integrator operator()(const ExplicitEulerSettings&) { return ExplicitEuler<JointedMechanism>(); }
    Integrator operator()(const SemiImplicitEulerSettings&) { return SemiImplicitEuler<JointedMechanism>(); }
    Integrator operator()(const Rk2Settings&) { return Rk2<JointedMechanism>(); }
    Integrator operator()(const Rk4Settings&) { return Rk4<JointedMechanism>(); }
    Integrator operator()(const Ab4Settings&) { return Ab4<JointedMechanism>(); }
    Integrator operator()(const LeapfrogSettings&) { return Leapfrog<JointedMechanism>(); }
  };
  return std::visit(Make(), settings);
}

}  // namespace

ReferenceStepper::ReferenceStepper(const Model& model, const Recipe& recipe)
    : mechanism(model, recipe), integrator_(make_integrator(recipe.integrator)) {}

const StepReport& ReferenceStepper::step(State& s, double t, double h) {
  mechanism.report = {};
  mechanism.h = h;

  mechanism.begin_step(s, t);

  // Move: by impulses, or through the integrator, which asks for constrained accelerations once per stage.
  if (const auto* velocity = std::get_if<VelocitySettings>(&mechanism.recipe.formulation))
    mechanism.velocity_step(*velocity, s, t, h);
  else
    std::visit([&](auto& integrator) { integrator.advance(mechanism, s, t, h); }, integrator_);
  require_finite(mechanism.model, s);

  // Close the joints again, then bounce off walls.
  correct(s, t + h);
  if (!mechanism.model.walls.empty()) bounce(s, t + h);
  require_finite(mechanism.model, s);
  require_joined(mechanism.model, mechanism.islands);
  return mechanism.report;
}

void ReferenceStepper::correct(State& s, double t) {
  if (const auto* projection = std::get_if<ProjectionSettings>(&mechanism.recipe.correction))
    mechanism.project(*projection, s, t);
  else if (std::holds_alternative<TreePlacementSettings>(mechanism.recipe.correction))
    mechanism.place(s, t);
}

void ReferenceStepper::bounce(State& s, double t) {
  points_.clear();
  shocks.find(mechanism.model, s, points_);
  if (points_.empty()) return;
  mechanism.report.shocks += static_cast<int>(points_.size());
  shock_energy += shocks.apply(mechanism, s, t, points_, true);
  forget();
}

Memory<State>* ReferenceStepper::memory() {
  return std::visit(
      [](auto& integrator) -> Memory<State>* {
        if constexpr (requires { integrator.memory; })
          return &integrator.memory;
        else
          return nullptr;
      },
      integrator_);
}

void ReferenceStepper::forget() {
  if (Memory<State>* m = memory()) m->forget();
}

void require_finite(const Model& model, const State& s) {
  if (s.u.allFinite()) {
    bool finite = true;
    for (int i = 0; finite && i < s.bodies(); ++i) finite = s.p[i].allFinite() && s.theta[i].coeffs().allFinite();
    if (finite) return;
  }
  for (int i = 0; i < s.bodies(); ++i)
    if (!s.p[i].allFinite() || !s.theta[i].coeffs().allFinite() || !s.u.segment<6>(6 * i).allFinite())
      throw Error("body \"" + model.bodies[i].name + "\"",
                  "its motion is no longer a number; take a smaller step or another method");
}

void require_joined(const Model& model, const std::vector<Island>& islands) {
  for (const Island& island : islands)
    for (const ConstraintBlock& block : island.problem.blocks) {
      const Joint& joint = model.joints[block.source];
      if (joint.kind == Joint::Kind::user) continue;  // its error has whatever unit its author gave it
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        const bool angular = island.problem.J_a.row(r).head<3>().isZero(0);
        if (!angular && std::abs(island.values.C[r]) > island.reach)
          throw Error("joint \"" + joint.name + "\"",
                      "is torn open, further than any body reaches; take a smaller step, or look for constraints in conflict "
                      "(rotule check)");
      }
    }
}

}  // namespace rotule
