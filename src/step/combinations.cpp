// The table of combinations that make no sense, each with its reason.
#include <rotule/error.h>
#include <rotule/recipe.h>

#include "mechanism/touching/touching_methods.h"

namespace rotule {

void check_combination(const Recipe& recipe) {
  struct Rule {
    bool broken;
    std::string_view reason;
  };
  const bool impulses = std::holds_alternative<VelocitySettings>(recipe.formulation);
  const bool springs = std::holds_alternative<PenaltySettings>(recipe.formulation);
  const bool semi_implicit = std::holds_alternative<SemiImplicitEulerSettings>(recipe.integrator);
  const bool stabilised = std::holds_alternative<StabilisedAccelerationSettings>(recipe.formulation);
  const IntegratorTraits traits = std::visit([](const auto& settings) { return settings.traits; }, recipe.integrator);
  const bool corrected = !std::holds_alternative<NoCorrectionSettings>(recipe.correction);
  const bool contacts = !std::holds_alternative<NoContactSettings>(recipe.contacts);
  const bool cones = std::holds_alternative<ConeContactSettings>(recipe.contacts);
  const SolverTraits solver = recipe.solver.traits();
  const Rule rules[] = {
      {impulses && !semi_implicit,
       "formulation velocity moves by impulses, once per step, and has no accelerations to integrate; set integrator to "
       "semi_implicit_euler, or formulation to acceleration"},
      {springs && corrected,
       "formulation penalty pulls by the joints' errors, which a correction takes away; set correction to none"},
      {traits.constrained && !std::holds_alternative<AccelerationSettings>(recipe.formulation),
       "rattle holds the joints by impulses of its own; set formulation to acceleration"},
      {stabilised && traits.adaptive,
       "formulation stabilised_acceleration pulls by the step's length, which an integrator with error control changes; set "
       "formulation to acceleration, with correction projection"},
      {contacts && !impulses && !std::holds_alternative<AccelerationSettings>(recipe.formulation),
       "contacts go with formulation velocity or acceleration; set one of them, or contacts to none"},
      {contacts && !impulses && !integrates_contacts(recipe.integrator),
       "this integrator cannot take contacts: set it to rk4, dormand_prince or another explicit Runge-Kutta or Taylor method, or "
       "formulation to velocity and integrator to semi_implicit_euler, or contacts to none"},
      {contacts && !impulses && !cones,
       "contacts by accelerations know Coulomb's cone alone; set contacts to cone, or formulation to velocity and integrator to "
       "semi_implicit_euler"},
      {contacts && !impulses && std::holds_alternative<TreePlacementSettings>(recipe.correction),
       "tree_placement knows joints alone; with contacts set correction to projection"},
      {contacts && impulses && !solver.bounds,
       "this solver knows equations alone; contacts need one that knows bounds (rotule list solvers)"},
      {contacts && impulses && cones && solver.bounds && !solver.cone,
       "this solver does not know friction cones; set contacts to box, or take another solver (rotule list solvers)"},
      {contacts && impulses && !cones && solver.bounds && !solver.box,
       "this solver does not know friction boxes; set contacts to cone, or take another solver (rotule list solvers)"},
  };
  for (const Rule& rule : rules)
    if (rule.broken) throw Error("recipe", std::string(rule.reason));
}

}  // namespace rotule
