// How a scene is set up as a whole: velocities that fit the joints, a ground below what falls, something that holds what is meant
// to be held, motors that can carry their load.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "analyse/remarks.h"
#include "base/text.h"
#include "base/union_find.h"
#include "fluid/signed_distance.h"
#include "model/names.h"
#include "model/support.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

bool is_floor(const Shape& shape) { return std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape); }

Vec3 center_of(const Patient& patient, std::size_t i) {
  const BodyDef& def = patient.scene.bodies[i];
  return def.position + def.orientation * patient.model.bodies[i].center_of_mass;
}

double largest_misfit(const World& world) {
  static_cast<void>(world.diagnostics());
  double out = 0;
  const WorldImplementation& inside = implementation_of(world);
  for (int j = 0; j < static_cast<int>(inside.model.joints.size()); ++j)
    out = std::max(out, inside.stepper->joint_error(j).velocity);
  return out;
}

/// The scene with the spins that it has and velocities that follow from them: outwards from what does not move, over joints that
/// hold a point of both their bodies.
Scene carried(const Patient& patient) {
  Scene out = patient.scene;
  std::unordered_map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < out.bodies.size(); ++i) number.emplace(out.bodies[i].name, i);
  constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  const auto body = [&](const std::string& name) {
    const auto found = number.find(name);
    return found == number.end() ? nobody : found->second;
  };
  const auto velocity_at = [&](std::size_t i, const Vec3& at) -> Vec3 {
    if (i == nobody) return Vec3::Zero();
    const BodyDef& def = out.bodies[i];
    return def.velocity + def.angular_velocity.cross(at - center_of(patient, i));
  };
  std::vector<bool> known;
  for (const BodyDef& def : out.bodies) known.push_back(def.immovable());
  for (bool more = true; more;) {
    more = false;
    for (const JointDef& joint : out.joints)
      std::visit(
          [&]<class J>(const J& j) {
            if constexpr (std::is_same_v<J, Ball> || std::is_same_v<J, Hinge> || std::is_same_v<J, Universal> ||
                          std::is_same_v<J, Weld>) {
              const std::size_t a = body(j.between[0]), b = body(j.between[1]);
              const bool knows_a = a == nobody || known[a], knows_b = b == nobody || known[b];
              if (knows_a == knows_b) return;
              const std::size_t from = knows_a ? a : b, to = knows_a ? b : a;
              BodyDef& def = out.bodies[to];
              def.velocity = velocity_at(from, j.at) - def.angular_velocity.cross(j.at - center_of(patient, to));
              known[to] = more = true;
            }
          },
          joint);
  }
  return out;
}

/// A flat body at rest with others above it, where there is no ground: meant to be one, more often than not.
void look_at_slab(const Patient& patient, int slab, std::vector<Remark>& out) {
  constexpr double flat = 4;  // times as wide as it is high
  const auto number = static_cast<std::size_t>(slab);
  const BodyDef& def = patient.scene.bodies[number];
  if (reach_of(def.shape) == 0 || !def.velocity.isZero(0) || !def.angular_velocity.isZero(0)) return;
  const Vec3 up = -patient.scene.gravity.normalized();
  const Vec3 across = up.unitOrthogonal(), along = up.cross(across);
  const auto far = [&](const Vec3& direction) {
    return direction.dot(def.position + def.orientation * support(def.shape, def.orientation.conjugate() * direction));
  };
  const auto width = [&](const Vec3& direction) { return far(direction) + far(-direction); };
  if (std::min(width(across), width(along)) < flat * width(up)) return;
  const auto above = [&](std::size_t i) {
    const Vec3 at = center_of(patient, i);
    return i != number && patient.model.movable(static_cast<int>(i)) && at.dot(up) > far(up) && at.dot(across) < far(across) &&
           -at.dot(across) < far(-across) && at.dot(along) < far(along) && -at.dot(along) < far(-along);
  };
  int others = 0;
  for (std::size_t i = 0; i < patient.scene.bodies.size(); ++i) others += above(i) ? 1 : 0;
  if (others == 0) return;
  out.push_back(
      {.kind = "nothing_holds",
       .grade = Remark::Grade::warning,
       .text = fmt::format("nothing holds {}, which is flat and has {} bod{} above it, and there is no ground: all fall "
                           "{:.3g} m in the first second",
                           in_quotes(def.name), others, others == 1 ? "y" : "ies", 0.5 * patient.scene.gravity.norm()),
       .flags = {},
       .edits = {{fmt::format("/bodies/{}/fixed", slab), "true"}}});
}

}  // namespace

void look_at_velocities(const Patient& patient, const World& world, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  double fastest = 0;
  for (const BodyDef& body : scene.bodies) fastest = std::max({fastest, body.velocity.norm(), body.angular_velocity.norm()});
  const double notable = 1e-6 * std::max(1.0, fastest);
  const WorldImplementation& inside = implementation_of(world);
  std::vector<std::string> apart;
  double worst = 0;
  for (int j = 0; j < static_cast<int>(scene.joints.size()); ++j) {
    const double error = inside.stepper->joint_error(j).velocity;
    if (error <= notable) continue;
    apart.push_back(inside.model.joints[j].name);
    worst = std::max(worst, error);
  }
  if (apart.empty()) return;
  // Spins are what people give; where those fit, velocities follow. Else the nearest that fit.
  Scene mended = carried(patient);
  try {
    if (largest_misfit(World(undriven(mended), recipes::exact())) > notable) {
      World closed(undriven(scene), recipes::exact());
      closed.project();
      mended = scene;
      for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const BodyId body = closed.body(scene.bodies[i].name);
        mended.bodies[i].velocity = closed.velocity(body);
        mended.bodies[i].angular_velocity = closed.angular_velocity(body);
      }
    }
  } catch (const Error&) {
    mended = scene;
  }
  Remark remark{.kind = "velocity_misfit",
                .grade = Remark::Grade::warning,
                .text = fmt::format("joint{} {} start{} with velocities {:.3g} m/s or rad/s apart: the first step takes the "
                                    "difference out, with its energy",
                                    apart.size() == 1 ? "" : "s", and_others(apart), apart.size() == 1 ? "s" : "", worst),
                .flags = {},
                .edits = {}};
  const auto put = [&](std::size_t i, const char* key, const Vec3& before, const Vec3& after) {
    if ((after - before).norm() > 0.1 * notable) remark.edits.push_back({fmt::format("/bodies/{}/{}", i, key), json_of(after)});
  };
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    put(i, "velocity", scene.bodies[i].velocity, mended.bodies[i].velocity);
    put(i, "angular_velocity", scene.bodies[i].angular_velocity, mended.bodies[i].angular_velocity);
  }
  out.push_back(std::move(remark));
}

void look_at_gravity(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const double g = scene.gravity.norm();
  if (g == 0 || !patient.content.movable) return;
  // A ground whose normal is nearer to level than to upright, and nothing else that could be one.
  constexpr double upright = 0.3;
  const BodyDef* ground = nullptr;
  for (const BodyDef& body : scene.bodies) {
    if (!body.immovable() || std::holds_alternative<std::monostate>(body.shape) || body.sensor) continue;
    if (!is_floor(body.shape) || -scene.gravity.dot(body.orientation * Vec3::UnitZ()) > upright * g) return;
    if (ground == nullptr) ground = &body;
  }
  if (ground == nullptr) {
    constexpr double straight = 0.99;
    if (scene.gravity.z() > straight * g)
      out.push_back({.kind = "gravity_direction",
                     .grade = Remark::Grade::warning,
                     .text = fmt::format("gravity {} points upwards: z is up here", json_of(in_short(scene.gravity))),
                     .flags = {},
                     .edits = {{"/gravity", json_of(Vec3(Vec3::Zero() - scene.gravity))}}});
    return;
  }
  const Vec3 normal = ground->orientation * Vec3::UnitZ();
  out.push_back(
      {.kind = "gravity_direction",
       .grade = Remark::Grade::warning,
       .text = fmt::format("gravity {} leads {} ground {}, whose normal is {}: nothing comes to rest on it; z is up here",
                           json_of(in_short(scene.gravity)), scene.gravity.dot(normal) > upright * g ? "away from" : "along",
                           in_quotes(ground->name), json_of(in_short(normal))),
       .flags = {},
       .edits = {{"/gravity", json_of(in_short(Vec3(Vec3::Zero() - g * normal)))}}});
}

namespace {

/// Bodies and groups of particles that forces in the computed flow name; and whether such a force acts on all there are.
struct Immersed {
  std::unordered_set<std::string> names;
  bool all = false;

  explicit Immersed(const Scene& scene) {
    for (const FlowDef& flow : scene.flows)
      if (const auto* computed = std::get_if<ComputedFlow>(&flow))
        for (const ForceDef& force : scene.forces) std::visit([&](const auto& of) { look(of, computed->name); }, force);
  }
  [[nodiscard]] bool has(const std::string& name) const { return all || names.contains(name); }

 private:
  template <class Force>
  void look(const Force& force, const std::string& flow) {
    if constexpr (requires { force.in; }) {
      if (!force.in.empty() && std::find(force.in.begin(), force.in.end(), flow) == force.in.end()) return;
      if constexpr (requires { force.between; })
        for (const std::string& end : force.between) take(end);
      else if constexpr (requires { take(force.on); })
        take(force.on);
      else
        for (const std::string& name : force.on) take(name);
      if constexpr (std::is_same_v<Force, Drag> || std::is_same_v<Force, Air>) all = all || force.on.empty();
    }
  }
  void take(const std::string& name) { names.insert(name.substr(0, name.rfind('/'))); }
};

}  // namespace

void look_at_fluid(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  if (!scene.fluid) return;
  const Immersed immersed(scene);
  std::vector<std::string> dry;
  for (const ParticleGroup& group : scene.particles) dry.push_back(group.name);
  for (const SolidDef& solid : scene.solids) dry.push_back(name_of(solid));
  // Those that a scene leaves out by name are meant to be.
  if (scene.fluid->obstacles.empty())
    for (const BodyDef& body : scene.bodies)
      if (!body.immovable() && !body.sensor && !is_closed(body.shape)) dry.push_back(body.name);
  std::erase_if(dry, [&](const std::string& name) {
    return immersed.has(name) || immersed.names.contains(name.substr(0, name.rfind('/')));
  });
  if (dry.empty()) return;
  out.push_back({.kind = "outside_fluid",
                 .grade = Remark::Grade::warning,
                 .text = fmt::format(
                     "the fluid on a grid knows bodies with closed shapes, and what forces in a \"computed\" flow act on: {}{} "
                     "neither feel{} it nor push{} it",
                     in_quotes(dry.front()), dry.size() > 1 ? fmt::format(" and {} more", dry.size() - 1) : "",
                     dry.size() > 1 ? "" : "s", dry.size() > 1 ? "" : "es"),
                 .flags = {},
                 .edits = {}});
}

void look_at_supports(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const bool forces = std::any_of(scene.forces.begin(), scene.forces.end(), [](const ForceDef& force) {
    return !std::holds_alternative<Drag>(force) && !std::holds_alternative<LineDrag>(force);
  });
  const bool ground = std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const BodyDef& body) {
    return body.immovable() && !std::holds_alternative<std::monostate>(body.shape) && !body.sensor;
  });
  if (scene.gravity.isZero(0) || forces || ground || patient.content.particles || scene.fluid || !scene.walls.empty() ||
      !scene.flows.empty())
    return;
  const Model& model = patient.model;
  UnionFind linked(static_cast<std::size_t>(model.partner_count()));
  std::vector<bool> held(static_cast<std::size_t>(model.partner_count()), false), joined = held;
  for (const Joint& joint : model.joints) {
    int first = world_body;
    bool holds = false;
    for_each_partner(joint, [&](int partner) {
      if (partner == world_body || !model.movable(partner)) {
        holds = true;
      } else if (first == world_body) {
        first = partner;
      } else {
        linked.join(first, partner);
      }
    });
    if (first == world_body) continue;
    joined[static_cast<std::size_t>(first)] = true;
    if (holds) held[static_cast<std::size_t>(first)] = true;
  }
  std::map<int, std::vector<int>> mechanisms;
  std::vector<int> roots_held;
  for (int i = 0; i < model.partner_count(); ++i) {
    if (held[static_cast<std::size_t>(i)]) roots_held.push_back(linked.root(i));
    if (i < model.body_count() && model.movable(i)) mechanisms[linked.root(i)].push_back(i);
  }
  for (const auto& [root, bodies] : mechanisms)
    if (bodies.size() == 1 && !held[static_cast<std::size_t>(bodies[0])]) look_at_slab(patient, bodies[0], out);
  for (const auto& [root, bodies] : mechanisms) {
    if (bodies.size() < 2 || std::find(roots_held.begin(), roots_held.end(), root) != roots_held.end()) continue;
    const int heaviest =
        *std::max_element(bodies.begin(), bodies.end(), [&](int a, int b) { return model.mass(a) < model.mass(b); });
    std::vector<std::string> names;
    for (const int i : bodies) names.push_back(model.bodies[i].name);
    Remark remark{
        .kind = "nothing_holds",
        .grade = Remark::Grade::warning,
        .text = fmt::format("nothing holds the mechanism of {}: no joint to \"world\" or to a fixed body, and no ground; "
                            "it falls {:.3g} m in the first second",
                            and_others(names), 0.5 * scene.gravity.norm()),
        .flags = {},
        .edits = {}};
    // What flies is meant to.
    const BodyDef& def = scene.bodies[static_cast<std::size_t>(heaviest)];
    if (!def.velocity.isZero(0) || !def.angular_velocity.isZero(0)) continue;
    remark.edits.push_back({fmt::format("/bodies/{}/fixed", heaviest), "true"});
    out.push_back(std::move(remark));
  }
}

void look_at_strength(const Patient& patient, std::vector<Remark>& out) {
  // Where bodies touch, what they rest on may carry them.
  constexpr std::size_t most_bodies = 100;
  const Scene& scene = patient.scene;
  if (!std::holds_alternative<NoContactSettings>(patient.recipe.contacts) || scene.bodies.size() > most_bodies) return;
  struct Motor {
    std::string joint, place;
    std::size_t axis = 5;
    double strength = 0;
  };
  std::vector<Motor> motors;
  Scene still = with_springs_alone(scene);
  for (std::size_t i = 0; i < scene.joints.size(); ++i)
    std::visit(
        [&]<class J>(const J& j) {
          if constexpr (std::is_same_v<J, Hinge> || std::is_same_v<J, Slider>) {
            if (!(j.drive.motor_strength > 0)) return;
            motors.push_back({j.name, fmt::format("/joints/{}/{}/motor_strength", i, kind_of(scene.joints[i])),
                              std::is_same_v<J, Hinge> ? std::size_t{5} : std::size_t{2},
                              j.drive.motor_strength + j.drive.friction});
            std::get<J>(still.joints[i]).drive.motion = GivenMotion{.offset = j.start};
          }
        },
        scene.joints[i]);
  if (motors.empty()) return;
  for (BodyDef& body : still.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
  still.impulses.clear();
  try {
    World world(still, recipes::exact());
    world.step(1e-6);
    for (const Motor& motor : motors) {
      const JointForce force = world.joint_force(motor.joint);
      const double load = std::abs(force.drive[motor.axis]);
      if (load <= motor.strength || !force.unique) continue;
      const char* const unit = motor.axis == 5 ? "N m" : "N";
      out.push_back(
          {.kind = "weak_motor",
           .grade = Remark::Grade::warning,
           .text = fmt::format("the motor of joint {} exerts {:.3g} {} at most, and holding its load at the start takes "
                               "{:.3g} {}: it will not keep its speed",
                               in_quotes(motor.joint), motor.strength, unit, load, unit),
           .flags = {},
           .edits = {{motor.place, json_of(in_short(3 * load))}}});
    }
  } catch (const Error&) {  // a mechanism that motors at rest lock altogether, or that makes no sense: others say so
  }
}

void look_at_swinging(const Patient& patient, std::vector<Remark>& out) {
  if (!std::holds_alternative<Radau5Settings>(patient.recipe.integrator)) return;
  const double frequency = std::max(patient.content.frequency, patient.content.joint_frequency);
  const double decay = std::max(patient.content.decay, patient.content.joint_decay);
  const double swings = frequency * patient.recipe.duration / (2 * std::numbers::pi);
  constexpr double undamped = 0.02, many = 100;
  if (decay > undamped * frequency || swings < many) return;
  out.push_back(
      {.kind = "fast_oscillation",
       .grade = Remark::Grade::note,
       .text = fmt::format("springs without damping may swing at {:.3g} rad/s, {:.2g} times in this run: radau5 follows "
                           "all of it, and its phase may err by ten times the tolerance",
                           frequency, swings),
       .flags = "--set integrator=dormand_prince_8",
       .edits = {}});
}

void look_at_groups(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  for (std::size_t k = 0; k < scene.bodies.size(); ++k) {
    const BodyDef& ground = scene.bodies[k];
    if (!ground.immovable() || !is_floor(ground.shape) || ground.group == 0) continue;
    std::vector<std::string> names;
    for (const BodyDef& body : scene.bodies)
      if (!body.immovable() && body.contacts && body.group == ground.group && !std::holds_alternative<std::monostate>(body.shape))
        names.push_back(body.name);
    if (names.empty()) continue;
    out.push_back({.kind = "same_group",
                   .grade = Remark::Grade::warning,
                   .text = fmt::format("{} pass{} through ground {}: they are of the same group, {}", and_others(names),
                                       names.size() == 1 ? "es" : "", in_quotes(ground.name), ground.group),
                   .flags = {},
                   .edits = {{fmt::format("/bodies/{}/group", k), "0"}}});
  }
}

}  // namespace rotule
