// What a scene says and does not get: forces on what cannot move, materials that nothing is made of, motors that push against
// their own stops, servos that swing for ever, wheels that turn about their diameter, motion.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyse/remarks.h"
#include "base/text.h"
#include "math/rotation.h"
#include "model/names.h"

namespace rotule {
namespace {

using Numbers = std::unordered_map<std::string, std::size_t>;

Remark remark_on(std::string_view kind, Remark::Grade grade, std::string text, std::vector<Remark::Edit> edits) {
  return {.kind = std::string(kind), .grade = grade, .text = std::move(text), .flags = {}, .edits = std::move(edits)};
}

void look_at_forces(const Scene& scene, const Numbers& number, std::vector<Remark>& out) {
  const auto movable = std::find_if(scene.bodies.begin(), scene.bodies.end(), [](const BodyDef& b) { return !b.immovable(); });
  const auto stands = [&](const std::string& name) {
    const auto found = number.find(name);
    return name == "world" || (found != number.end() && scene.bodies[found->second].fixed);
  };
  for (std::size_t i = 0; i < scene.forces.size(); ++i)
    std::visit(
        [&]<class F>(const F& f) {
          const std::string place = fmt::format("/forces/{}/{}", i, kind_of(scene.forces[i]));
          std::vector<Remark::Edit> edits;
          std::string on;
          if constexpr (std::is_same_v<F, Load>) {
            if (!stands(f.on)) return;
            on = in_quotes(f.on);
            if (movable != scene.bodies.end()) edits.push_back({place + "/on", json_of(movable->name)});
          } else if constexpr (std::is_same_v<F, Spring> || std::is_same_v<F, TorsionSpring>) {
            if (!stands(f.between[0]) || !stands(f.between[1])) return;
            on = fmt::format("{} and {}", in_quotes(f.between[0]), in_quotes(f.between[1]));
            if (movable != scene.bodies.end()) edits.push_back({place + "/between/1", json_of(movable->name)});
          } else {
            return;
          }
          out.push_back(remark_on("idle_force", Remark::Grade::warning,
                                  fmt::format("{} {} of {} acts on {}, which nothing moves: it does nothing",
                                              kind_of(scene.forces[i]), i, scene.forces.size(), on),
                                  std::move(edits)));
        },
        scene.forces[i]);
}

/// Materials that nothing is made of, where bodies are made of none.
void look_at_materials(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  std::vector<bool> used(scene.materials.size(), false);
  const auto use = [&](int material) {
    if (material >= 0) used[static_cast<std::size_t>(material)] = true;
  };
  for (const Body& body : patient.model.bodies) use(body.material);
  for (const ParticleSurface& surface : patient.model.particle_surfaces) use(surface.material);
  const auto idle = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
  if (idle == used.size()) return;
  std::vector<Remark::Edit> edits;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    if (const BodyDef& body = scene.bodies[i];
        body.material.empty() && !body.immovable() && !std::holds_alternative<std::monostate>(body.shape))
      edits.push_back({fmt::format("/bodies/{}/material", i), json_of(scene.materials[idle].name)});
  if (edits.empty()) return;
  const std::size_t bodies = edits.size();
  out.push_back(
      remark_on("idle_material", Remark::Grade::warning,
                fmt::format("nothing is made of material {}, and {} bod{} of none: its friction of {:.4g} and restitution "
                            "of {:.4g} do nothing",
                            in_quotes(scene.materials[idle].name), bodies, bodies == 1 ? "y is" : "ies are",
                            scene.materials[idle].friction, scene.materials[idle].restitution),
                std::move(edits)));
}

/// Of a body about an axis through a point; infinity for what does not move.
double inertia_about(const Patient& patient, const Numbers& number, const std::string& name, const Vec3& at, const Vec3& axis) {
  const auto found = number.find(name);
  if (found == number.end() || patient.scene.bodies[found->second].immovable()) return infinity;
  const BodyDef& def = patient.scene.bodies[found->second];
  const Body& body = patient.model.bodies[found->second];
  const Vec3 own = def.orientation.conjugate() * axis, arm = at - def.position - def.orientation * body.center_of_mass;
  return own.dot(patient.model.inertia[found->second] * own) + body.mass * (arm - arm.dot(axis) * axis).squaredNorm();
}

void look_at_motors(const Patient& patient, const Numbers& number, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  for (std::size_t i = 0; i < scene.joints.size(); ++i)
    std::visit(
        [&]<class J>(const J& j) {
          if constexpr (std::is_same_v<J, Hinge> || std::is_same_v<J, Slider>) {
            constexpr bool turns = std::is_same_v<J, Hinge>;
            const std::string place = fmt::format("/joints/{}/{}/", i, kind_of(scene.joints[i]));
            const Drive& drive = j.drive;
            constexpr double touching = 1e-9;
            const std::optional<double>& stop = drive.motor_speed > 0 ? drive.upper : drive.lower;
            if (drive.motor_strength > 0 && drive.motor_speed != 0 && stop && std::abs(*stop - j.start) < touching)
              out.push_back(remark_on(
                  "motor_at_stop", Remark::Grade::warning,
                  fmt::format("the motor of joint {} pushes against its stop at {:.4g} {} from the start: it goes nowhere",
                              in_quotes(j.name), *stop, turns ? "rad" : "m"),
                  {{place + "motor_speed", json_of(-drive.motor_speed)}}));
            const bool brakes = drive.damping > 0 || drive.friction > 0 || drive.motor_strength > 0 || drive.motion;
            if (drive.stiffness > 0 && drive.rest != j.start && !brakes) {
              const Vec3 axis = j.axis.normalized();
              const auto effective = [&](const std::string& name) {
                if (turns) return inertia_about(patient, number, name, j.at, axis);
                const auto found = number.find(name);
                return found == number.end() || scene.bodies[found->second].immovable()
                           ? infinity
                           : patient.model.bodies[found->second].mass;
              };
              const double inertia = 1 / (1 / effective(j.between[0]) + 1 / effective(j.between[1]));
              const double critical = 2 * std::sqrt(drive.stiffness * inertia);
              if (!std::isfinite(critical)) return;
              out.push_back(remark_on(
                  "undamped_servo", Remark::Grade::note,
                  fmt::format("joint {} is pulled to {:.4g} {} without damping: it swings about that for ever; "
                              "as a servo it wants about {:.3g} {}",
                              in_quotes(j.name), drive.rest, turns ? "rad" : "m", critical, turns ? "N m s/rad" : "N s/m"),
                  {{place + "damping", json_of(in_short(critical))}}));
            }
          }
        },
        scene.joints[i]);
}

/// Cylinders are round about their z axis: a flat one that was not turned lies, and its hinge goes through its diameter.
void look_at_wheels(const Patient& patient, const Numbers& number, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  if (scene.gravity.isZero(0)) return;
  const Vec3 up = -scene.gravity.normalized();
  constexpr double aligned = 0.98, across = 0.17, centred = 0.05;
  std::vector<std::string> names;
  std::vector<Remark::Edit> edits;
  for (const JointDef& joint : scene.joints) {
    const auto* hinge = std::get_if<Hinge>(&joint);
    if (hinge == nullptr) continue;
    const Vec3 axis = hinge->axis.normalized();
    for (const std::size_t side : {0, 1}) {
      const auto found = number.find(hinge->between[side]), other = number.find(hinge->between[1 - side]);
      if (found == number.end() || other == number.end() || scene.bodies[other->second].immovable()) continue;
      const BodyDef& wheel = scene.bodies[found->second];
      const auto* cylinder = std::get_if<Cylinder>(&wheel.shape);
      if (cylinder == nullptr || cylinder->radius < cylinder->height || wheel.immovable()) continue;
      const Vec3 round = wheel.orientation * Vec3::UnitZ();
      if ((hinge->at - wheel.position).norm() > centred * cylinder->radius || std::abs(axis.dot(round)) > across ||
          std::abs(axis.dot(up)) > across || std::abs(round.dot(up)) < aligned)
        continue;
      names.push_back(wheel.name);
      const Quat turned = rotation_between(round, axis) * wheel.orientation;
      edits.push_back({fmt::format("/bodies/{}/orientation", found->second),
                       fmt::format("[{}, {}, {}, {}]", shortest(turned.w()), shortest(turned.x()), shortest(turned.y()),
                                   shortest(turned.z()))});
    }
  }
  if (names.empty()) return;
  out.push_back(
      remark_on("wheel_across", Remark::Grade::warning,
                fmt::format("{} lie{} flat, and {} hinge goes through {} diameter, 90 degrees from the axis about which a "
                            "cylinder is round (its z)",
                            and_others(names), names.size() == 1 ? "s" : "", names.size() == 1 ? "its" : "the",
                            names.size() == 1 ? "its" : "each"),
                std::move(edits)));
}

/// Joints that let nothing fall, axes along gravity, poses in which all forces balance: nothing will be seen to move.
void look_at_standstill(const Patient& patient, std::vector<Remark>& out) {
  constexpr std::size_t most_bodies = 200;
  const Scene& scene = patient.scene;
  const auto moves = [](const BodyDef& b) {
    return !b.fixed && (b.kinematic || b.motion || !b.velocity.isZero(0) || !b.angular_velocity.isZero(0));
  };
  // What may begin to act later.
  const bool awaits =
      patient.content.needs.drives || std::any_of(scene.forces.begin(), scene.forces.end(), [](const ForceDef& f) {
        return std::holds_alternative<Load>(f) || std::holds_alternative<UserForce>(f);
      });
  if (!std::holds_alternative<NoContactSettings>(patient.recipe.contacts) || !patient.content.movable ||
      patient.content.particles || scene.bodies.size() > most_bodies || scene.fluid || !scene.flows.empty() ||
      !scene.impulses.empty() || awaits || std::any_of(scene.bodies.begin(), scene.bodies.end(), moves))
    return;
  const double step = std::min(patient.recipe.dt, 1e-3);  // whatever the recipe's costs
  const auto fastest = [&](const Scene& of, int steps) {
    World world(of, patient.recipe);
    for (int k = 0; k < steps; ++k) world.step(step);
    double speed = 0;
    for (const BodyDef& body : of.bodies) {
      const BodyId id = world.body(body.name);
      speed = std::max({speed, world.velocity(id).norm(), world.angular_velocity(id).norm()});
    }
    return speed;
  };
  try {
    constexpr double rest = 1e-9;  // of what weight does meanwhile
    if (fastest(scene, 2) > rest * std::max(1.0, scene.gravity.norm()) * step) return;
    Remark remark =
        remark_on("stands_still", Remark::Grade::note,
                  fmt::format("nothing will move: the bodies, {} in all, are at rest, and in the pose of the file no force "
                              "moves them; a push, a speed, a motor or other axes would",
                              scene.bodies.size()),
                  {});
    const auto movable = std::find_if(scene.bodies.begin(), scene.bodies.end(), [](const BodyDef& b) { return !b.immovable(); });
    const double mass = patient.model.bodies[static_cast<std::size_t>(movable - scene.bodies.begin())].mass;
    for (const Vec3& direction : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}) {
      Scene pushed = scene;
      pushed.impulses.push_back({movable->name, mass * direction, {}});
      if (fastest(pushed, 1) < 0.1) continue;
      remark.edits.push_back({"/impulses", fmt::format("[{{\"body\": {}, \"impulse\": {}}}]", json_of(movable->name),
                                                       json_of(in_short(Vec3(mass * direction))))});
      break;
    }
    out.push_back(std::move(remark));
  } catch (const Error&) {  // what cannot be run has remarks of its own
  }
}

}  // namespace

void look_at_effects(const Patient& patient, std::vector<Remark>& out) {
  Numbers number;
  for (std::size_t i = 0; i < patient.scene.bodies.size(); ++i) number.emplace(patient.scene.bodies[i].name, i);
  look_at_forces(patient.scene, number, out);
  look_at_materials(patient, out);
  look_at_motors(patient, number, out);
  look_at_wheels(patient, number, out);
  look_at_standstill(patient, out);
}

}  // namespace rotule
