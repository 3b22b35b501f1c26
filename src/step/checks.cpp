#include "step/checks.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/shares.h"
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

void check_surroundings(const Model& model, const Recipe& recipe) {
  const bool splits = std::visit([](const auto& method) { return method.traits.constrained; }, recipe.integrator);
  if (model.has_added_mass() && splits)
    throw Error("body \"" + model.added_mass_name() + "\"",
                "has added mass, and rattle turns bodies by their own inertia alone; --set integrator=rk4 runs it");
  if (!splits && !std::holds_alternative<VerletSettings>(recipe.integrator)) return;
  for (const SectionForce& section : model.forces.sections)
    if (section.wake != no_wake)
      throw Error("section \"" + section.name + "\"",
                  "remembers its wake, which has no position, and this integrator steps by those; --set integrator=rk4 runs it");
}

namespace {

/// m, m/s, rad/s: beyond it energies and moments, which multiply two such numbers with a mass, overflow.
constexpr double largest_of_motion = 1e100;

/// Also false for what is no number.
bool is_within(const auto& numbers) { return (numbers.array().abs() <= largest_of_motion).all(); }

/// Whether anything is there that can be too stiff for a step: springs, dampers, elastic material, gas, planes, forces of users.
bool has_springs_or_dampers(const Model& model) {
  const Forces& f = model.forces;
  if (!f.springs.empty() || !f.angles.empty() || !f.torsions.empty() || !f.drags.empty() || !f.gases.empty() ||
      !f.planes.empty() || !f.users.empty() || f.particle_springs.count() > 0 || !f.elements.empty())
    return true;
  return std::any_of(model.joints.begin(), model.joints.end(), [](const Joint& joint) {
    return std::any_of(joint.drives.begin(), joint.drives.end(),
                       [](const Joint::AxisDrive& axis) { return axis.drive.stiffness > 0 || axis.drive.damping > 0; });
  });
}

/// What is said of something that is not within.
std::string words_on_overflow(const Model& model, bool finite, const Vec3& position, const auto& velocity,
                              std::string_view method) {
  const std::string remedy =
      has_springs_or_dampers(model)
          ? fmt::format(
                "springs or dampers are too stiff for this step, as a rule (rotule check says how long it may be): take a "
                "smaller one or {}",
                method)
          : fmt::format("take a smaller step or {}", method);
  if (!finite || !position.allFinite() || !velocity.allFinite())
    return fmt::format("its motion is no longer a number; {}", remedy);
  if (!is_within(position))
    return fmt::format("it is {:.3g} m from the origin, and sums overflow beyond {:g}; if it was not put there, {}",
                       position.stableNorm(), largest_of_motion, remedy);
  return fmt::format("its speed is {:.3g} m/s (or rad/s), and sums overflow beyond {:g}; if it was not given, {}",
                     velocity.stableNorm(), largest_of_motion, remedy);
}

}  // namespace

void require_finite(const Model& model, const State& s, Gang* gang) {
  const auto velocities = [&](Eigen::Index first, Eigen::Index end) { return is_within(s.u.segment(first, end - first)); };
  const auto poses = [&](std::int64_t first, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); ++i)
      if (!is_within(s.p[i]) || !s.theta[i].coeffs().allFinite()) return false;
    return true;
  };
  if (share_all(gang, s.u.size(), velocities) && is_within(s.x) && share_all(gang, s.bodies(), poses)) return;
  for (int i = 0; i < s.bodies(); ++i)
    if (const Vec6 u = s.u.segment<6>(6 * i); !is_within(s.p[i]) || !s.theta[i].coeffs().allFinite() || !is_within(u))
      throw Error("body \"" + model.bodies[i].name + "\"",
                  words_on_overflow(model, s.theta[i].coeffs().allFinite(), s.p[i], u, "another method"));
  for (int k = 0; k < s.particles(); ++k)
    if (const Vec3 p = s.particle_position(k), v = s.particle_velocity(k); !is_within(p) || !is_within(v))
      throw Error("particle \"" + model.particles.name(k) + "\"", words_on_overflow(model, true, p, v, "an implicit method"));
}

namespace {

std::string words_on_torn(const Model& model, const Joint& joint) {
  if (has_springs_or_dampers(model))
    return fmt::format(
        "springs or dampers are too stiff for this step, as a rule (rotule check says how long it may be): its joint \"{}\" is "
        "torn "
        "open, further than any body reaches; take a smaller step or an implicit method, or look for constraints in conflict",
        joint.name);
  return fmt::format(
      "its joint \"{}\" is torn open, further than any body reaches; take a smaller step, or look for constraints in conflict "
      "(rotule check names them)",
      joint.name);
}

void require_joined(const Model& model, const Linkage& linkage, const Island& island, int first_row) {
  const auto look_at = [&](const ConstraintBlock& block) {
    const Joint& joint = model.joints[block.source];
    if (joint.function || joint.equations) return;  // its error has whatever unit its author gave it
    for (int r = first_row + block.first_row; r < first_row + block.first_row + block.rows; ++r) {
      const bool angular = island.problem.J_a.row(r).head<3>().isZero(0);
      if (!angular && std::abs(island.values.C[r]) > linkage.reach)
        throw Error("body \"" + model.name(model.movable(joint.b) ? joint.b : joint.a) + "\"", words_on_torn(model, joint));
    }
  };
  const std::vector<ConstraintBlock>& blocks = linkage.constraints.blocks();
  share_pieces(island.gang, static_cast<int>(blocks.size()), [&](int first, int end) {
    for (int i = first; i < end; ++i) look_at(blocks[static_cast<std::size_t>(i)]);
  });
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
