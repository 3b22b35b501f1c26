// The table of combinations that make no sense, each with its reason. What to do about one is found by trying: the least change
// of the recipe that breaks no rule of the table (model/dial.cpp).
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/recipe.h>

#include "mechanism/touching/touching_methods.h"
#include "model/dial.h"
#include "step/contact_finder.h"

namespace rotule {

namespace {

struct Rule {
  bool broken;
  std::string_view reason;
};

template <std::size_t N>
std::string first_broken(const Rule (&rules)[N]) {
  for (const Rule& rule : rules)
    if (rule.broken) return std::string(rule.reason);
  return {};
}

/// The real-time stepper has its own methods: those fields of a recipe that it would not heed must be what it does. What it
/// cannot run of a scene stands in model/realtime_scope.cpp.
std::string misfit_of_realtime(const Recipe& recipe) {
  const auto* cone = std::get_if<ConeContactSettings>(&recipe.contacts);
  const ContactSettings usual, given = cone ? ContactSettings(*cone) : usual;
  const Rule rules[] = {
      {!std::holds_alternative<SemiImplicitEulerSettings>(recipe.integrator),
       "the real-time stepper moves by impulses: it goes with integrator semi_implicit_euler alone"},
      {!std::holds_alternative<VelocitySettings>(recipe.formulation),
       "the real-time stepper moves by impulses: it goes with formulation velocity alone"},
      {!std::holds_alternative<NoCorrectionSettings>(recipe.correction),
       "the real-time stepper pushes overlaps out by soft contacts, and has no correction after a step"},
      {!std::holds_alternative<ConeContactSettings>(recipe.contacts),
       "the real-time stepper is for bodies that touch, with Coulomb's cone: it goes with contacts cone alone"},
      {std::holds_alternative<ReducedCoordinatesSettings>(recipe.coordinates),
       "the real-time stepper moves every body by itself: it goes with coordinates maximal"},
      {recipe.solver.name() != SolverChoice().name(), "the real-time stepper has sweeps of its own, and takes no solver"},
      {given.baumgarte != usual.baumgarte || given.max_blows != usual.max_blows,
       "the real-time stepper knows neither contacts.baumgarte nor contacts.max_blows: leave them as they are by default"},
      {recipe.budget.seconds > 0 || recipe.budget.iterations > 0,
       "the real-time stepper does the same work in every step, and knows no budget"},
  };
  return first_broken(rules);
}

}  // namespace

std::string misfit(const Recipe& recipe, const JointNeeds& needs) {
  if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper)) return misfit_of_realtime(recipe);
  const bool impulses = by_impulses(recipe.formulation);
  const bool hybrid = std::holds_alternative<HybridFormulationSettings>(recipe.formulation);
  const bool springs = std::holds_alternative<PenaltySettings>(recipe.formulation);
  const bool semi_implicit = std::holds_alternative<SemiImplicitEulerSettings>(recipe.integrator);
  const bool stabilised = std::holds_alternative<StabilisedAccelerationSettings>(recipe.formulation);
  const IntegratorTraits traits = std::visit([](const auto& settings) { return settings.traits; }, recipe.integrator);
  const bool corrected = !std::holds_alternative<NoCorrectionSettings>(recipe.correction);
  const bool contacts = !std::holds_alternative<NoContactSettings>(recipe.contacts);
  const bool cones = std::holds_alternative<ConeContactSettings>(recipe.contacts);
  const bool reduced = std::holds_alternative<ReducedCoordinatesSettings>(recipe.coordinates);
  const SolverTraits solver = recipe.solver.traits();
  const Rule rules[] = {
      {impulses && !semi_implicit,
       "formulations velocity, taylor and hybrid move by impulses, once per step, and have no accelerations to integrate: they "
       "go with integrator semi_implicit_euler alone"},
      {hybrid && contacts, "formulation hybrid solves for forces of joints first, and knows nothing of contacts"},
      {hybrid && needs.drives,
       "formulation hybrid solves for forces of joints first, and knows nothing of motors, limits, springs and friction on "
       "joints"},
      {springs && corrected, "formulation penalty pulls by the joints' errors, which a correction takes away"},
      {traits.constrained && !std::holds_alternative<AccelerationSettings>(recipe.formulation),
       "rattle holds the joints by impulses of its own: it goes with formulation acceleration alone"},
      {stabilised && traits.adaptive,
       "formulation stabilised_acceleration pulls by the step's length, which an integrator with error control changes"},
      {contacts && !impulses && !std::holds_alternative<AccelerationSettings>(recipe.formulation),
       "contacts go with formulation velocity, taylor or acceleration"},
      {contacts && !impulses && !integrates_contacts(recipe.integrator),
       "this integrator cannot take contacts: explicit Runge-Kutta and Taylor methods can, with error control or without, and "
       "semi_implicit_euler with formulation velocity"},
      {contacts && !impulses && !cones, "contacts by accelerations know Coulomb's cone alone"},
      {contacts && !impulses && std::holds_alternative<TreePlacementSettings>(recipe.correction),
       "tree_placement knows joints alone, and nothing of contacts"},
      {contacts && !impulses && needs.switching,
       "contacts by accelerations do not know stops, friction and motors of limited strength on joints yet"},
      {contacts && needs.soft && !std::holds_alternative<VelocitySettings>(recipe.formulation),
       "particles that touch do so in steps by impulses: with formulation velocity and integrator semi_implicit_euler"},
      {needs.rotors && (traits.implicit || traits.constrained),
       "implicit methods and rattle know the inertia of bodies alone, and not the armature of joints; explicit methods do"},
      {needs.rotors && impulses && std::holds_alternative<MaximalCoordinatesSettings>(recipe.coordinates),
       "steps by impulses close joints by impulses on bodies, and know the armature of joints in reduced coordinates alone"},
      {needs.rotors && springs, "formulation penalty solves no equations, in which the armature of joints has its part"},
      {needs.rotors && contacts && !impulses, "contacts by accelerations do not know the armature of joints yet"},
      {springs && needs.switching, "formulation penalty holds by springs, which stops, friction and motors of joints cannot do"},
      {contacts && !impulses && (needs.kinematic || needs.belts),
       "contacts by accelerations do not know kinematic bodies and surface velocities yet"},
      {traits.constrained && needs.kinematic, "rattle does not know kinematic bodies: its drifts know bodies that nothing moves"},
      {traits.constrained && needs.rates,
       "rattle closes joints by their positions, and constraints on velocities (rolling, blades) have none"},
      {springs && needs.rates, "formulation penalty pulls by errors in position, and constraints on velocities have none"},
      {reduced && contacts && !impulses,
       "reduced coordinates know contacts in steps by impulses alone, with formulation velocity"},
      {reduced && !std::holds_alternative<AccelerationSettings>(recipe.formulation) &&
           !std::holds_alternative<VelocitySettings>(recipe.formulation),
       "reduced coordinates have no joints to pull back: they go with formulation acceleration or velocity"},
      {reduced && contacts && needs.soft, "reduced coordinates do not know particles that touch"},
      {reduced && (traits.implicit || traits.constrained),
       "reduced coordinates go with explicit methods, with error control or without: implicit ones and rattle know bodies alone"},
      {contacts && impulses && !solver.bounds, "this solver knows equations alone; contacts need one that knows bounds"},
      {needs.drives && impulses && !solver.bounds,
       "this solver knows equations alone; motors, limits, springs and friction on joints need one that knows bounds"},
      {contacts && impulses && cones && solver.bounds && !solver.cone, "this solver does not know friction cones"},
      {contacts && impulses && !cones && solver.bounds && !solver.box, "this solver does not know friction boxes"},
  };
  return first_broken(rules);
}

void check_combination(const Recipe& recipe, const JointNeeds& needs) {
  const std::string reason = misfit(recipe, needs);
  if (reason.empty()) return;
  const Remedy remedy = remedy_for(recipe, needs);
  if (remedy.flags.empty()) throw Error("recipe", reason);
  throw Error("recipe", fmt::format("{}; {} (in the file: \"recipe\": {})", reason, remedy.flags, remedy.json));
}

}  // namespace rotule
