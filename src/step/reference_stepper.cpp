#include "step/reference_stepper.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "dynamics/forces/weight.h"

namespace rotule {

namespace {

GuidedIntegrator make_guided(const IntegratorSettings& settings) {
  return std::visit(
      []<class S>(const S& s) -> GuidedIntegrator {
        if constexpr (std::is_same_v<S, DormandPrinceSettings>)
          return Adaptive<Course, DormandPrince5>(s);
        else if constexpr (std::is_same_v<S, DormandPrince8Settings>)
          return Adaptive<Course, DormandPrince8>(s);
        else if constexpr (S::traits.constrained)
          return Rattle<JointedMechanism>(S::traits.order);
        else
          return {};
      },
      settings);
}

}  // namespace

ReferenceStepper::ReferenceStepper(const Model& model, const Recipe& recipe)
    : mechanism(model, recipe),
      limits(model),
      integrator_(make_integrator<JointedMechanism>(recipe.integrator)),
      guided_(make_guided(recipe.integrator)) {
  if (ContactStep::needed(model, recipe)) {
    contacts.emplace(model, recipe);
    const SolverTraits solver = std::visit([](const auto& settings) { return settings.traits; }, recipe.solver);
    for (const Joint& joint : model.joints) {
      if (joint.drives.empty()) continue;
      const auto refuse = [&](const char* why) { throw Error("joint \"" + joint.name + "\"", why); };
      if (!std::holds_alternative<VelocitySettings>(recipe.formulation))
        refuse(
            "its motor, limit, spring or friction acts by impulses; set formulation to velocity and integrator to "
            "semi_implicit_euler (limits alone also work with dormand_prince and dormand_prince_8)");
      if (!solver.bounds) refuse("its motor, limit, spring or friction needs a solver that knows bounds (rotule list solvers)");
    }
  }
}

const StepReport& ReferenceStepper::step(State& s, double t, double h) {
  const StageClock::Run timed(mechanism.clock);
  mechanism.report = {};
  mechanism.h = h;

  if (step_guided(s, t, h)) return mechanism.report;
  mechanism.begin_step(s, t);

  // Move, by impulses or through the integrator, which asks for constrained accelerations once per stage; close the joints again.
  if (const auto* velocity = std::get_if<VelocitySettings>(&mechanism.recipe.formulation)) {
    if (contacts) {
      const StageClock::Scope stage(mechanism.clock, Stage::collide);
      contacts->refresh(s, h);
    }
    step_by_impulses(*velocity, s, t, h);
    if (contacts) contacts->finish(mechanism, s, t + h, h);
  } else {
    std::visit(
        [&](auto& integrator) {
          integrator.advance(mechanism, s, t, h);
          if constexpr (requires { integrator.report; }) note(integrator.report);
        },
        integrator_);
    require_finite(mechanism.model, s);
    correct(s, t + h);
  }

  // Then bounce off walls.
  if (!mechanism.model.walls.empty()) bounce(s, t + h);
  require_finite(mechanism.model, s);
  require_joined(mechanism.model, mechanism.islands);
  return mechanism.report;
}

bool ReferenceStepper::step_guided(State& s, double t, double h) {
  return std::visit(
      [&]<class Method>(Method& method) {
        if constexpr (std::is_same_v<Method, std::monostate>) {
          return false;
        } else if constexpr (std::is_same_v<Method, Rattle<JointedMechanism>>) {
          mechanism.begin_step(s, t);
          method.advance(mechanism, s, t, h);
          require_finite(mechanism.model, s);
          if (!mechanism.model.walls.empty()) bounce(s, t + h);
        } else {
          if (limits.any()) mechanism.begin_step(s, t);
          Course course(mechanism, shocks, limits, method.control, shock_energy, s, t);
          if (method.memory.plan) course.settle_all_the_way();  // a closing that may stop early is no smooth function either
          const std::int64_t before = method.steps;
          method.advance(course, s, t, h);
          mechanism.report.inner_steps = static_cast<int>(method.steps - before);
        }
        require_finite(mechanism.model, s);
        require_joined(mechanism.model, mechanism.islands);
        return true;
      },
      guided_);
}

void ReferenceStepper::advance_by_impulses(const VelocitySettings& settings, State& s, double t, double h) {
  if (contacts) {
    contacts->advance(settings, mechanism, s, t, h);
  } else {
    mechanism.velocity_step(settings, s, t, h);
    require_finite(mechanism.model, s);
    correct(s, t + h);
  }
  require_finite(mechanism.model, s);
}

void ReferenceStepper::step_by_impulses(const VelocitySettings& settings, State& s, double t, double h) {
  if (!settings.geometric_stiffness || !mechanism.is_passive() || mechanism.islands.empty())
    return advance_by_impulses(settings, s, t, h);

  // Left to itself, no mechanism gains energy. The stiffness comes from the last step's forces; where a blow has just changed
  // them beyond recognition it is too small, and the step would gain, or tear the joints. It is then made again with the forces
  // of the motion as it is, and, if need be, with more: too much stiffness only damps.
  const Model& model = mechanism.model;
  const double kinetic = kinetic_energy(model, s), potential = weight_potential(model, s);
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * (kinetic + std::abs(potential));
  start_ = s;
  const auto* projection = std::get_if<ProjectionSettings>(&mechanism.recipe.correction);
  const auto joints_closed = [&] {
    return !projection || std::all_of(mechanism.islands.begin(), mechanism.islands.end(), [&](const Island& island) {
      return island.largest_error() < 1e3 * projection->tolerance + 1e-9 * std::min(island.reach, 1.0);
    });
  };
  constexpr int most_attempts = 4;
  for (int tries = 1;; ++tries) {
    try {
      advance_by_impulses(settings, s, t, h);
      const double gain = kinetic_energy(model, s) + weight_potential(model, s) - (kinetic + potential) -
                          (contacts ? contacts->added_energy() : 0.0);
      if (gain <= rounding && joints_closed()) return;
    } catch (const Error&) {
      if (tries == most_attempts) throw;
    }
    if (tries == most_attempts) return;
    s = start_;
    mechanism.stiffen(s, t, tries == 1 ? 1 : 4);
  }
}

void ReferenceStepper::note(const ImplicitReport& equations) {
  mechanism.report.newton_iterations += equations.iterations;
  mechanism.report.halvings += equations.halvings;
  mechanism.report.converged = mechanism.report.converged && equations.converged;
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

AdaptiveMemory* ReferenceStepper::adaptive_memory() {
  return std::visit(
      [](auto& method) -> AdaptiveMemory* {
        if constexpr (requires { method.memory; })
          return &method.memory;
        else
          return nullptr;
      },
      guided_);
}

void ReferenceStepper::forget() {
  if (contacts) contacts->forget();
  if (Memory<State>* m = memory()) m->forget();
  if (AdaptiveMemory* m = adaptive_memory()) m->forget();
}

void require_finite(const Model& model, const State& s) {
  if (s.u.allFinite() && s.x.allFinite()) {
    bool finite = true;
    for (int i = 0; finite && i < s.bodies(); ++i) finite = s.p[i].allFinite() && s.theta[i].coeffs().allFinite();
    if (finite) return;
  }
  for (int i = 0; i < s.bodies(); ++i)
    if (!s.p[i].allFinite() || !s.theta[i].coeffs().allFinite() || !s.u.segment<6>(6 * i).allFinite())
      throw Error("body \"" + model.bodies[i].name + "\"",
                  "its motion is no longer a number; take a smaller step or another method");
  for (int k = 0; k < s.particles(); ++k)
    if (!s.particle_position(k).allFinite() || !s.particle_velocity(k).allFinite())
      throw Error("particle \"" + model.particles.name(k) + "\"",
                  "its motion is no longer a number; take a smaller step or an implicit method");
}

void require_joined(const Model& model, const std::vector<Island>& islands) {
  for (const Island& island : islands)
    for (const ConstraintBlock& block : island.problem.blocks) {
      const Joint& joint = model.joints[block.source];
      if (joint.function) continue;  // its error has whatever unit its author gave it
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        const bool angular = island.problem.J_a.row(r).head<3>().isZero(0);
        if (!angular && std::abs(island.values.C[r]) > island.reach)
          throw Error("body \"" + model.name(model.movable(joint.b) ? joint.b : joint.a) + "\"",
                      "its joint \"" + joint.name +
                          "\" is torn open, further than any body reaches; take a smaller step, or look for constraints in "
                          "conflict (rotule check)");
      }
    }
}

}  // namespace rotule
