#include "conserved.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "model/constraint_text.h"
#include "model/content.h"
#include "model/names.h"

namespace rotule::app {

bool is_free(const Scene& scene) {
  if (!scene.gravity.isZero(0) || !scene.walls.empty() || scene.fluid) return false;
  for (const ParticleGroup& group : scene.particles)
    if (!group.pinned.empty()) return false;
  for (const SolidDef& solid : scene.solids)
    if (!build(solid).pinned.empty()) return false;
  if (std::any_of(scene.forces.begin(), scene.forces.end(), [](const ForceDef& force) {
        return std::holds_alternative<Drag>(force) || std::holds_alternative<Air>(force) ||
               std::holds_alternative<PenaltyPlane>(force) || std::holds_alternative<Load>(force) ||
               std::holds_alternative<FlowSection>(force) || std::holds_alternative<LineDrag>(force) ||
               std::holds_alternative<Buoyancy>(force) || std::holds_alternative<UserForce>(force);
      }))
    return false;
  std::unordered_set<std::string> immovable{"world"};
  for (const BodyDef& body : scene.bodies)
    if (body.immovable()) immovable.insert(body.name);
  const auto fixed = [&](const std::string& name) { return immovable.contains(name); };
  for (const ForceDef& force : scene.forces) {
    bool held = false;
    std::visit(
        [&](const auto& f) {
          if constexpr (requires { f.between; }) held = std::any_of(f.between.begin(), f.between.end(), fixed);
        },
        force);
    if (held) return false;
    // Walls of a dock take momentum from what moves between them.
    if (const auto* coupled = std::get_if<CoupledAddedMass>(&force);
        coupled != nullptr && std::any_of(coupled->on.begin(), coupled->on.end(), fixed))
      return false;
    if (std::holds_alternative<Gravitation>(force) &&
        std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const BodyDef& body) { return body.fixed && body.mass; }))
      return false;
  }
  return std::none_of(scene.joints.begin(), scene.joints.end(), [&](const JointDef& joint) {
    const std::vector<std::string> partners = partners_of(joint);
    return std::any_of(partners.begin(), partners.end(), fixed);
  });
}

bool keeps_energy(const Scene& scene, const Recipe& recipe) {
  const JointNeeds needs = needs_of(scene);
  const auto is_damped = [](const ParticleGroup& group) {
    const auto viscous = [](const auto& set) {
      return set.material.viscosity > 0 || set.material.yield_stress || set.material.tear_stretch;
    };
    return std::any_of(group.springs.begin(), group.springs.end(), [](const SpringSet& set) { return set.damping > 0; }) ||
           std::any_of(group.tetrahedra.begin(), group.tetrahedra.end(), viscous) ||
           std::any_of(group.triangles.begin(), group.triangles.end(), viscous);
  };
  bool damped =
      std::any_of(scene.particles.begin(), scene.particles.end(), is_damped) ||
      std::any_of(scene.solids.begin(), scene.solids.end(), [&](const SolidDef& solid) { return is_damped(build(solid)); });
  damped = damped || std::any_of(scene.forces.begin(), scene.forces.end(), [](const ForceDef& force) {
             return std::visit(
                 [](const auto& f) {
                   if constexpr (requires { f.damping; }) return f.damping > 0;
                   using Force = std::decay_t<decltype(f)>;
                   return std::is_same_v<Force, Drag> || std::is_same_v<Force, Air> || std::is_same_v<Force, Load> ||
                          std::is_same_v<Force, FlowSection> || std::is_same_v<Force, LineDrag> ||
                          std::is_same_v<Force, Buoyancy> || std::is_same_v<Force, UserForce>;
                 },
                 force);
           });
  const bool guided = std::any_of(scene.joints.begin(), scene.joints.end(), [](const JointDef& joint) {
    const auto* constraint = std::get_if<Constraint>(&joint);
    return constraint != nullptr && (knows_time(*constraint) || on_velocities(*constraint));
  });
  return std::holds_alternative<NoContactSettings>(recipe.contacts) && !needs.drives && !needs.kinematic && !damped && !guided &&
         !scene.fluid;
}

}  // namespace rotule::app
