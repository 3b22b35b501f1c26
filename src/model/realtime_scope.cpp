#include "model/realtime_scope.h"

#include <rotule/error.h>

#include <algorithm>

#include "model/names.h"

namespace rotule {

namespace {

std::string soft(const std::string& body) { return "soft surfaces (\"" + body + "\")"; }
std::string armature(const std::string& joint) { return "armature (\"" + joint + "\")"; }
bool has_armature(const JointDef& joint) {
  return std::visit(
      [](const auto& j) {
        if constexpr (requires { j.drive; }) return j.drive.armature > 0;
        if constexpr (requires { j.drives; })
          return std::ranges::any_of(j.drives, [](const AxisDrive& axis) { return axis.drive.armature > 0; });
        return false;
      },
      joint);
}
std::string added_mass(const std::string& body) { return "added mass (\"" + body + "\")"; }
std::string wake(const std::string& body) { return "wakes of unsteady sections (\"" + body + "\")"; }

}  // namespace

std::string unknown_to_realtime(const Model& model) {
  if (model.particle_count() > 0) return "particles";
  if (!model.walls.empty()) return "walls";
  if (model.has_added_mass()) return added_mass(model.added_mass_name());
  for (const SectionForce& section : model.forces.sections)
    if (section.wake != no_wake) return wake(model.bodies[section.at.index].name);
  for (const Body& body : model.bodies) {
    if (!body.touches) continue;
    if (body.surface.stiffness > 0) return soft(body.name);
  }
  for (const Joint& joint : model.joints)
    if (std::ranges::any_of(joint.drives, [](const Joint::AxisDrive& axis) { return axis.drive.armature > 0; }))
      return armature(joint.name);
  return {};
}

std::string unknown_to_realtime(const Scene& scene) {
  if (!scene.particles.empty() || !scene.solids.empty()) return "particles";
  if (!scene.walls.empty()) return "walls";
  for (const ForceDef& force : scene.forces)
    if (const auto* added = std::get_if<AddedMass>(&force))
      return added_mass(added->on);
    else if (const auto* coupled = std::get_if<CoupledAddedMass>(&force); coupled != nullptr && !coupled->on.empty())
      return added_mass(coupled->on.front());
  for (const ForceDef& force : scene.forces)
    if (const auto* section = std::get_if<FlowSection>(&force); section != nullptr && section->unsteady) return wake(section->on);
  for (const BodyDef& body : scene.bodies) {
    if (!body.contacts) continue;
    const auto material =
        std::find_if(scene.materials.begin(), scene.materials.end(), [&](const Material& m) { return m.name == body.material; });
    if (material == scene.materials.end()) continue;
    if (material->contact_stiffness > 0) return soft(body.name);
  }
  for (const JointDef& joint : scene.joints)
    if (has_armature(joint)) return armature(name_of(joint));
  return {};
}

void require_realtime(const Model& model) {
  if (const std::string what = unknown_to_realtime(model); !what.empty())
    throw Error("recipe/stepper", "the real-time stepper does not know " + what + " yet; --set stepper=reference runs it");
}

std::string why_not_realtime(const Scene& scene, const Recipe& recipe) {
  if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper)) return {};
  if (std::holds_alternative<NoContactSettings>(recipe.contacts)) return {};
  const std::string what = unknown_to_realtime(scene);
  return what.empty() ? std::string() : "the real-time stepper does not know " + what + " yet: the reference stepper runs it";
}

}  // namespace rotule
