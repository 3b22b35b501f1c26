#include "step/checks.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/forces/weight.h"
#include "mechanism/shock.h"
#include "model/content.h"

namespace rotule {

bool locates_events(const Recipe& recipe) {
  return std::visit([](const auto& method) { return method.traits.adaptive; }, recipe.integrator);
}

void check_drives(const Model& model, const Recipe& recipe) {
  for (const Joint& joint : model.joints) {
    const JointNeeds needs = needs_of(joint);
    if (!needs.drives && !needs.rates) continue;
    try {
      check_combination(recipe, needs);
    } catch (const Error& error) {
      throw Error("joint \"" + joint.name + "\"", error.what());
    }
  }
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

namespace {

void require_joined(const Model& model, const Linkage& linkage, const Island& island, int first_row) {
  for (const ConstraintBlock& block : linkage.constraints.blocks()) {
    const Joint& joint = model.joints[block.source];
    if (joint.function || joint.equations) continue;  // its error has whatever unit its author gave it
    for (int r = first_row + block.first_row; r < first_row + block.first_row + block.rows; ++r) {
      const bool angular = island.problem.J_a.row(r).head<3>().isZero(0);
      if (!angular && std::abs(island.values.C[r]) > linkage.reach)
        throw Error("body \"" + model.name(model.movable(joint.b) ? joint.b : joint.a) + "\"",
                    "its joint \"" + joint.name +
                        "\" is torn open, further than any body reaches; take a smaller step, or look for springs and "
                        "dampers too stiff for it and for constraints in conflict (rotule check names both)");
    }
  }
}

}  // namespace

void require_joined(const Model& model, std::span<const Linkage> linkages, std::span<const Island> islands) {
  for (const Island& island : islands) {
    int row = 0;
    for (const int j : island.linkages) {
      require_joined(model, linkages[j], island, row);
      row += linkages[j].constraints.rows();
    }
  }
}

StepAudit::StepAudit(const JointedMechanism& mechanism, bool wanted) : wanted_(wanted) {
  if (!wanted) return;
  kinetic_ = kinetic_energy(mechanism.model, mechanism.now.state);
  const double potential = weight_potential(mechanism.model, mechanism.now.state);
  energy_ = kinetic_ + potential;
  rounding_ = 16 * std::numeric_limits<double>::epsilon() * (kinetic_ + std::abs(potential));
}

void StepAudit::look_at(const JointedMechanism& mechanism, StepReport& report) const {
  report.energy_gained = report.joints_open = 0;
  if (!wanted_) return;
  const Attempt& now = mechanism.now;
  const double kinetic = kinetic_energy(mechanism.model, now.state);
  const double gain = kinetic + weight_potential(mechanism.model, now.state) - energy_ - now.push_energy;
  // What an iterative solver left undone is no fault of the stiffness: velocities are off by as much, and energies with them.
  double residual = 0;
  for (const JointAnswer& answer : now.joints) residual = std::max(residual, answer.residual);
  if (gain > rounding_ + 10 * residual * std::max(kinetic, kinetic_)) report.energy_gained = gain;
  if (const auto* projection = std::get_if<ProjectionSettings>(&mechanism.recipe.correction))
    for (std::size_t i = 0; i < mechanism.islands.size(); ++i) {
      const Island& island = mechanism.islands[i];
      for (int r = 0; r < mechanism.linkages[i].constraints.rows(); ++r) {
        // A gap counts against the size of the bodies, an angle against one radian.
        const double unit = island.problem.J_a.row(r).head<3>().isZero(0) ? 1.0 : mechanism.linkages[i].reach;
        const double error = island.error(r);
        if (!(error < 1e3 * projection->tolerance + 1e-9 * unit)) report.joints_open = std::max(report.joints_open, error);
      }
    }
}

}  // namespace rotule
