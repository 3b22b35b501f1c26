#include "model/realtime_scope.h"

#include <rotule/error.h>

#include <algorithm>
#include <set>
#include <string_view>

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

std::string held(const std::string& joint) { return "joints that hold particles (\"" + joint + "\")"; }
constexpr std::string_view tied = "springs and forces between particles and others", below = "penalty planes under particles";

/// Names of groups of particles, for who speaks of one, or of one of its particles.
class GroupNames {
 public:
  explicit GroupNames(const Scene& scene) {
    for (const ParticleGroup& group : scene.particles) names_.insert(group.name);
    for (const SolidDef& solid : scene.solids) names_.insert(name_of(solid));
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] bool has(const std::string& end) const { return names_.count(end.substr(0, end.find('/'))) > 0; }
  template <class Ends>
  [[nodiscard]] bool has_any(const Ends& ends) const {
    return std::any_of(std::begin(ends), std::end(ends), [&](const std::string& end) { return has(end); });
  }

 private:
  std::set<std::string, std::less<>> names_;
};

/// What of groups of particles is not known.
std::string unknown_of_particles(const Model& model) {
  if (model.particle_count() == 0) return {};
  const Forces& forces = model.forces;
  for (const Joint& joint : model.joints) {
    bool particle = false;
    for_each_partner(joint, [&](int partner) { particle = particle || (partner != world_body && model.is_particle(partner)); });
    if (particle) return held(joint.name);
  }
  const auto particle = [](const ForceEnd& end) { return end.kind == ForceEnd::Kind::particle; };
  const auto ends = [&](const auto& force) { return particle(force.a) || particle(force.b); };
  const bool ties = std::any_of(forces.springs.begin(), forces.springs.end(), ends) ||
                    std::any_of(forces.users.begin(), forces.users.end(), ends) ||
                    std::any_of(forces.lines.begin(), forces.lines.end(), ends) ||
                    std::any_of(forces.angles.begin(), forces.angles.end(),
                                [&](const AngleSpringForce& angle) { return std::ranges::any_of(angle.ends, particle); });
  if (ties) return std::string(tied);
  if (!forces.planes.empty()) return std::string(below);
  return {};
}

std::string unknown_of_particles(const Scene& scene) {
  const GroupNames groups(scene);
  if (groups.empty()) return {};
  for (const JointDef& joint : scene.joints)
    if (groups.has_any(partners_of(joint))) return held(name_of(joint));
  for (const ForceDef& force : scene.forces) {
    std::string what = std::visit(
        [&](const auto& of) -> std::string {
          using Kind = std::decay_t<decltype(of)>;
          if constexpr (std::is_same_v<Kind, Spring>) {
            // Between two particles it is one of their own.
            const bool a = groups.has(of.between[0]), b = groups.has(of.between[1]);
            if (a != b || (a && of.slack)) return std::string(tied);
          } else if constexpr (requires { of.between; }) {
            if (groups.has_any(of.between)) return std::string(tied);
          } else if constexpr (std::is_same_v<Kind, PenaltyPlane>) {
            return std::string(below);
          }
          return {};
        },
        force);
    if (!what.empty()) return what;
  }
  return {};
}

}  // namespace

std::string unknown_to_realtime(const Model& model) {
  if (std::string what = unknown_of_particles(model); !what.empty()) return what;
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
  if (std::string what = unknown_of_particles(scene); !what.empty()) return what;
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
