#include "analyse/remarks.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <unordered_map>

#include "base/text.h"
#include "base/union_find.h"
#include "model/dial.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/support.h"
#include "solve/solve.h"
#include "world/world_implementation.h"

namespace rotule {

std::string json_of(double value) { return shortest(value); }
std::string json_of(const Vec3& v) { return fmt::format("[{}, {}, {}]", shortest(v[0]), shortest(v[1]), shortest(v[2])); }

std::string json_of(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

double in_short(double value) { return to_double(fmt::format("{:.3g}", value)).value_or(value); }
Vec3 in_short(const Vec3& v) { return {in_short(v[0]), in_short(v[1]), in_short(v[2])}; }

namespace {

using Grade = Remark::Grade;

bool has_extent(const Shape& shape) {
  return !std::holds_alternative<std::monostate>(shape) && !std::holds_alternative<Plane>(shape) &&
         !std::holds_alternative<HeightField>(shape);
}

const BodyDef* body_called(const Scene& scene, const std::string& name) {
  const auto found = std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const BodyDef& b) { return b.name == name; });
  return found == scene.bodies.end() ? nullptr : &*found;
}

}  // namespace

double reach_of(const Shape& shape) {
  if (!has_extent(shape)) return 0;
  Vec3 corner = Vec3::Zero();
  for (int k = 0; k < 3; ++k) corner[k] = std::max(support(shape, Vec3::Unit(k))[k], -support(shape, -Vec3::Unit(k))[k]);
  return corner.norm();
}

std::string and_others(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) out += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  if (names.size() > 3) out += fmt::format(" and {} more", names.size() - 3);
  return out;
}

Scene undriven(const Scene& scene) {
  Scene out = scene;
  for (JointDef& joint : out.joints)
    std::visit(
        [](auto& j) {
          if constexpr (requires { j.drive; }) j.drive = {};
          if constexpr (requires { j.drives; }) j.drives.clear();
        },
        joint);
  return out;
}

Scene with_drives(const Scene& scene, const std::function<Drive(const Drive&)>& kept) {
  Scene out = scene;
  for (JointDef& joint : out.joints)
    std::visit(
        [&](auto& j) {
          if constexpr (requires { j.drive; }) j.drive = kept(j.drive);
          if constexpr (requires { j.drives; })
            for (auto& axis : j.drives) axis.drive = kept(axis.drive);
        },
        joint);
  return out;
}

Scene with_springs_alone(const Scene& scene) {
  return with_drives(scene, [](const Drive& drive) {
    return Drive{.stiffness = drive.stiffness, .damping = drive.damping, .rest = drive.rest};
  });
}

void look_at_emptiness(const Patient& patient, std::vector<Remark>& out) {
  if (patient.content.movable || patient.content.particles) return;
  const std::size_t bodies = patient.scene.bodies.size();
  Remark remark{.kind = "nothing_moves",
                .grade = Grade::grave,
                .text = bodies == 0 ? "there is nothing in this scene: 0 bodies, 0 particles"
                                    : fmt::format("nothing in this scene can move: all {} of its bodies are fixed", bodies),
                .flags = {},
                .edits = {}};
  const std::string material = patient.scene.materials.empty()
                                   ? std::string()
                                   : fmt::format(", \"material\": {}", json_of(patient.scene.materials.front().name));
  const std::string ball = fmt::format(
      "{{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, 1], \"shape\": {{\"sphere\": {{\"radius\": 0.1}}}}{}}}", material);
  remark.edits.push_back({bodies == 0 ? "/bodies" : "/bodies/-", bodies == 0 ? "[" + ball + "]" : ball});
  out.push_back(std::move(remark));
}

void look_at_drives(const Patient& patient, std::vector<Remark>& out) {
  const auto look = [&](const Drive& drive, bool turns, const std::string& name, const Vec3& at, const std::string& place) {
    if (drive.motor_speed != 0 && drive.motor_strength == 0) {
      // Ten times what holds all that moves against gravity, out to the farthest of it, and brings it to speed in a second.
      double strength = 0;
      for (std::size_t i = 0; i < patient.scene.bodies.size(); ++i) {
        const Body& body = patient.model.bodies[i];
        if (body.fixed) continue;
        const double arm = turns ? (patient.scene.bodies[i].position - at).norm() + reach_of(body.shape) : 1;
        strength += body.mass * arm * (patient.scene.gravity.norm() + (turns ? arm : 1.0) * std::abs(drive.motor_speed));
      }
      out.push_back({.kind = "motor_without_strength",
                     .grade = Grade::warning,
                     .text = fmt::format("the motor of joint {} has a speed of {:.4g} {} and no strength: it does nothing",
                                         in_quotes(name), drive.motor_speed, turns ? "rad/s" : "m/s"),
                     .flags = {},
                     .edits = {{place + "/motor_strength", json_of(in_short(10 * strength))}}});
    }
    if (turns && std::abs(drive.rest) > 2 * std::numbers::pi)
      out.push_back({.kind = "degrees",
                     .grade = Grade::warning,
                     .text = fmt::format("the spring of joint {} is slack at {:.4g} rad, more than a full turn: degrees?",
                                         in_quotes(name), drive.rest),
                     .flags = {},
                     .edits = {{place + "/rest", json_of(in_short(drive.rest * std::numbers::pi / 180))}}});
  };
  for (std::size_t i = 0; i < patient.scene.joints.size(); ++i)
    std::visit(
        [&](const auto& j) {
          const std::string place = fmt::format("/joints/{}/{}", i, kind_of(patient.scene.joints[i]));
          if constexpr (requires { j.drive; }) look(j.drive, !locks(j).locked[5], j.name, j.at, place);
          if constexpr (requires { j.drives; })
            for (std::size_t k = 0; k < j.drives.size(); ++k)
              look(j.drives[k].drive, axis_number(j.drives[k].axis) >= 3, j.name, j.at, fmt::format("{}/drives/{}", place, k));
        },
        patient.scene.joints[i]);
}

void look_at_places(const Patient& patient, std::vector<Remark>& out) {
  // A joint in empty space, far from both its bodies: a digit too many, or another scene's coordinates.
  constexpr double far_from_both = 3, far_from_one = 20;
  const Scene& scene = patient.scene;
  std::unordered_map<std::string_view, const BodyDef*> called;
  for (const BodyDef& body : scene.bodies) called.emplace(body.name, &body);
  for (std::size_t i = 0; i < scene.joints.size(); ++i)
    std::visit(
        [&]<class J>(const J& j) {
          if constexpr (std::is_same_v<J, Ball> || std::is_same_v<J, Hinge> || std::is_same_v<J, Universal>) {
            double size = 0, nearest = infinity;
            std::vector<const BodyDef*> bodies;
            for (const std::string& name : j.between) {
              const auto found = called.find(name);
              if (found == called.end() && name != "world") return;  // a particle, where the joint is then
              const BodyDef* body = found == called.end() ? nullptr : found->second;
              const double reach = body == nullptr ? 0 : reach_of(body->shape);
              if (reach == 0) continue;
              bodies.push_back(body);
              size = std::max(size, reach);
              nearest = std::min(nearest, (j.at - body->position).norm() - reach);
            }
            // A ball on a long thread is a pendulum; a bar on one is not.
            if (bodies.empty() || (bodies.size() == 1 && std::holds_alternative<Sphere>(bodies[0]->shape))) return;
            if (nearest < (bodies.size() == 2 ? far_from_both : far_from_one) * size) return;
            const BodyDef& body = *bodies[0];
            const Vec3 towards = body.orientation.conjugate() * (j.at - body.position);
            const Vec3 at = bodies.size() == 2 ? Vec3(0.5 * (bodies[0]->position + bodies[1]->position))
                                               : Vec3(body.position + body.orientation * support(body.shape, towards));
            out.push_back({.kind = "far_joint",
                           .grade = Grade::warning,
                           .text = fmt::format("joint {} is {:.3g} m away from {}, whose size is {:.2g} m", in_quotes(j.name),
                                               nearest, bodies.size() == 2 ? "both its bodies" : in_quotes(body.name), 2 * size),
                           .flags = {},
                           .edits = {{fmt::format("/joints/{}/{}/at", i, Kind<J>::name), json_of(in_short(at))}}});
          }
        },
        scene.joints[i]);
}

void look_at_angles(const Patient& patient, std::vector<Remark>& out) {
  constexpr double degree = std::numbers::pi / 180;
  for (const LargeAngle& given : patient.scene.large_angles)
    out.push_back({.kind = "degrees",
                   .grade = Grade::warning,
                   .text = fmt::format("{} is {:.4g} rad, more than a full turn: degrees?", given.place, given.angle),
                   .flags = {},
                   .edits = {{given.place, json_of(in_short(given.angle * degree))}}});
  const bool adaptive = std::visit([](const auto& method) { return method.traits.adaptive; }, patient.recipe.integrator);
  const double h = patient.recipe.dt;
  for (const BodyDef& body : patient.scene.bodies) {
    const double turn = body.fixed || adaptive ? 0 : body.angular_velocity.norm() * h;
    if (turn <= 1) continue;
    out.push_back({.kind = "turns_fast",
                   .grade = Grade::warning,
                   .text = fmt::format("body {} turns by {:.3g} rad in one step of {:.3g} s; degrees in place of radians, or too "
                                       "large a step?",
                                       in_quotes(body.name), turn, h),
                   .flags = fmt::format("--set dt={}", shortest(in_short(0.1 * h / turn))),
                   .edits = {}});
  }
}

namespace {

/// A shape's numbers, each times a factor, as text; empty where it has more than numbers.
std::string scaled_shape(const Shape& shape, double factor) {
  return std::visit(
      [&]<class S>(const S& s) -> std::string {
        if constexpr (std::is_same_v<S, Sphere> || std::is_same_v<S, Box> || std::is_same_v<S, Cylinder> ||
                      std::is_same_v<S, Capsule> || std::is_same_v<S, Cone> || std::is_same_v<S, Ellipsoid>) {
          std::string fields;
          visit_fields(s, [&](const Field& field, const auto& value, Need = Need::optional) {
            fields += fmt::format("{}\"{}\": {}", fields.empty() ? "" : ", ", field.name,
                                  json_of(in_short(std::decay_t<decltype(value)>(factor * value))));
          });
          return fmt::format("{{\"{}\": {{{}}}}}", Kind<S>::name, fields);
        } else {
          return {};
        }
      },
      shape);
}

/// All lengths of the scene a thousandth of what they are; nothing where some cannot be written in a line.
std::vector<Remark::Edit> in_metres(const Scene& scene) {
  constexpr double factor = 1e-3;
  std::vector<Remark::Edit> out;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const BodyDef& body = scene.bodies[i];
    if (!body.position.isZero(0)) out.push_back({fmt::format("/bodies/{}/position", i), json_of(Vec3(factor * body.position))});
    if (body.center_of_mass)
      out.push_back({fmt::format("/bodies/{}/center_of_mass", i), json_of(Vec3(factor * *body.center_of_mass))});
    if (!has_extent(body.shape)) continue;
    const std::string shape = scaled_shape(body.shape, factor);
    if (shape.empty()) return {};
    out.push_back({fmt::format("/bodies/{}/shape", i), shape});
  }
  for (std::size_t i = 0; i < scene.joints.size(); ++i)
    std::visit(
        [&](const auto& j) {
          const auto put = [&](const char* key, const Vec3& at) {
            if (!at.isZero(0))
              out.push_back({fmt::format("/joints/{}/{}/{}", i, kind_of(scene.joints[i]), key), json_of(Vec3(factor * at))});
          };
          if constexpr (requires { j.at; }) put("at", j.at);
          if constexpr (requires { j.from; }) {
            if (j.from) put("from", *j.from);
            if (j.to) put("to", *j.to);
          }
        },
        scene.joints[i]);
  return out;
}

}  // namespace

void look_at_lengths(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const double g = scene.gravity.norm();
  if (g > 100)
    out.push_back({.kind = "millimetres",
                   .grade = Grade::warning,
                   .text = fmt::format("gravity is {:.4g} m/s^2; lengths in millimetres?", g),
                   .flags = {},
                   .edits = {{"/gravity", json_of(in_short(Vec3(9.81 / g * scene.gravity)))}}});
  constexpr double large_under_gravity = 20;  // m across
  std::vector<std::string> large;
  double largest = 0, its_mass = 0;
  std::size_t bodies = 0;
  std::vector<Remark> densities;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const Body& body = patient.model.bodies[i];
    if (body.fixed || !has_extent(body.shape)) continue;
    ++bodies;
    const double size = 2 * reach_of(body.shape), space = volume(body.shape);
    // Files of drawings do not say their unit, which is mostly the millimetre.
    const auto* mesh = std::get_if<TriangleMesh>(&body.shape);
    if (mesh != nullptr && !mesh->file.empty() && mesh->scale == 1 && space > 1000) {
      out.push_back({.kind = "millimetres",
                     .grade = Grade::warning,
                     .text = fmt::format("body {} has {:.4g} m^3 from {} with a scale of 1; if it was drawn in millimetres, "
                                         "\"scale\": 0.001",
                                         in_quotes(body.name), space, mesh->file),
                     .flags = {},
                     .edits = {{fmt::format("/bodies/{}/shape/triangle_mesh/scale", i), "0.001"}}});
      continue;
    }
    if (g > 0.1 && size > large_under_gravity) {
      large.push_back(body.name);
      if (size > largest) {
        largest = size;
        its_mass = body.mass;
      }
      continue;
    }
    if (size < 1e-4)
      out.push_back({.kind = "tiny_body",
                     .grade = Grade::warning,
                     .text = fmt::format("body {} is about {:.4g} m large; is that meant in metres?", in_quotes(body.name), size),
                     .flags = {},
                     .edits = {}});
    // Where the inertia is given too, the shape is no more than a picture.
    if (const double density = body.mass / space; !scene.bodies[i].inertia && (density < 0.1 || density > 30000))
      densities.push_back({.kind = "odd_density",
                           .grade = Grade::warning,
                           .text = fmt::format("body {} has {:.4g} kg in {:.4g} m^3, {:.4g} kg/m^3 (water has 1000); grams or "
                                               "millimetres?",
                                               in_quotes(body.name), body.mass, space, density),
                           .flags = {},
                           .edits = {{fmt::format("/bodies/{}/mass", i), json_of(in_short(1000 * space))}}});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(densities.size(), 5); ++i) out.push_back(densities[i]);
  if (!large.empty())
    out.push_back({.kind = "millimetres",
                   .grade = Grade::warning,
                   .text = fmt::format("{} of {} bodies that move are more than {:.0f} m across ({}; the largest {:.4g} m and "
                                       "{:.3g} kg) under a gravity of {:.3g} m/s^2: lengths in millimetres?",
                                       large.size(), bodies, large_under_gravity, and_others(large), largest, its_mass, g),
                   .flags = {},
                   .edits = in_metres(scene)});
}

namespace {

/// By name of a body: its joints, and as which partner it is in them.
using JointsOfBodies = std::unordered_map<std::string, std::vector<std::pair<std::size_t, std::size_t>>>;
JointsOfBodies joints_of_bodies(const Scene& scene) {
  JointsOfBodies out;
  for (std::size_t j = 0; j < scene.joints.size(); ++j) {
    const std::vector<std::string> partners = partners_of(scene.joints[j]);
    for (std::size_t side = 0; side < partners.size(); ++side) out[partners[side]].emplace_back(j, side);
  }
  return out;
}

/// A ball joint that holds a point mass away from its centre is a rod from there to its centre; other joints want a body with an
/// extent.
std::vector<Remark::Edit> extent_or_rod(const Scene& scene, const JointsOfBodies& joints, std::size_t body, double arm) {
  std::vector<Remark::Edit> out;
  const auto found = joints.find(scene.bodies[body].name);
  for (std::size_t k = 0; found != joints.end() && k < found->second.size(); ++k) {
    const auto [j, side] = found->second[k];
    const auto* ball = std::get_if<Ball>(&scene.joints[j]);
    if (ball == nullptr || !ball->drives.empty()) {
      out.clear();
      break;
    }
    out.push_back(
        {fmt::format("/joints/{}", j),
         fmt::format("{{\"rod\": {{\"name\": {}, \"between\": [{}, {}], \"{}\": {}}}}}", json_of(ball->name),
                     json_of(ball->between[0]), json_of(ball->between[1]), side == 1 ? "from" : "to", json_of(ball->at))});
  }
  if (out.empty())
    out.push_back({fmt::format("/bodies/{}/shape", body),
                   fmt::format("{{\"sphere\": {{\"radius\": {}}}}}", shortest(in_short(0.1 * arm)))});
  return out;
}

}  // namespace

void look_at_bodies(const Patient& patient, std::vector<Remark>& out) {
  const JointsOfBodies joints = joints_of_bodies(patient.scene);
  std::vector<double> arm(patient.model.bodies.size(), 0.0);
  for (const Joint& joint : patient.model.joints)
    for (const auto& [partner, X] : {std::pair(joint.a, &joint.X_A), std::pair(joint.b, &joint.X_B)})
      if (partner != world_body && !patient.model.is_particle(partner)) arm[partner] = std::max(arm[partner], X->position.norm());
  for (std::size_t i = 0; i < patient.scene.bodies.size(); ++i) {
    const BodyDef& def = patient.scene.bodies[i];
    const Body& body = patient.model.bodies[i];
    if (!def.fixed && def.velocity.norm() > 1e4 && patient.scene.gravity.norm() > 0.1)
      out.push_back({.kind = "very_fast",
                     .grade = Grade::warning,
                     .text = fmt::format("body {} moves at {:.4g} m/s", in_quotes(def.name), def.velocity.norm()),
                     .flags = {},
                     .edits = {}});
    if (body.point_mass && !body.fixed && arm[i] > 0) {
      const double inertia = patient.model.inertia[i](0, 0), radius = std::sqrt(2.5 * inertia / body.mass);
      out.push_back(
          {.kind = "point_mass",
           .grade = Grade::warning,
           .text = fmt::format("body {} is a point mass on an arm of {:.3g} m: it turns as a ball of radius {:.3g} m, and "
                               "swings {:.1g} slower than a point would; hold it at its centre by a rod, or give it a "
                               "shape",
                               in_quotes(def.name), arm[i], radius, 0.5 * inertia / (body.mass * arm[i] * arm[i])),
           .flags = {},
           .edits = extent_or_rod(patient.scene, joints, i, arm[i])});
    }
  }
}

void look_at_solver(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out) {
  if (const std::string reason = misfit(patient.recipe, patient.content.needs); !reason.empty())
    out.push_back({.kind = "recipe",
                   .grade = Grade::grave,
                   .text = "the recipe is refused: " + reason,
                   .flags = remedy_for(patient.recipe, patient.content.needs).flags,
                   .edits = {}});
  const SolverChoice& solver = patient.recipe.solver;
  if (checkup.mass_ratios.empty() || solver.traits().exact || !solver.traits().bounds || solver.holds<AutoSettings>()) return;
  const Checkup::MassRatio& worst = checkup.mass_ratios.front();
  out.push_back(
      {.kind = "mass_ratio",
       .grade = Grade::warning,
       .text = fmt::format("{} weighs {:.4g} times as much as {}, across joint {}: {} will take many sweeps",
                           in_quotes(worst.heavy), worst.ratio, in_quotes(worst.light), in_quotes(worst.joint), solver.name()),
       .flags = "--set solver=auto",
       .edits = {}});
}

namespace {

struct Overlap {
  double depth = 0;
  Vec3 normal = Vec3::UnitZ();
};

/// Pairs of bodies that stand in each other by more than a hundredth of the smaller one's size.
std::map<std::pair<int, int>, Overlap> overlaps(const Patient& patient, const ContactChoice& contacts) {
  Recipe recipe = recipes::realtime();
  recipe.contacts = contacts;
  const World world(undriven(patient.scene), recipe);
  constexpr double notable_depth = 0.01;  // of the smaller one's size
  std::map<std::pair<int, int>, Overlap> pairs;
  const WorldImplementation& inside = implementation_of(world);
  for (const ContactResult& c : world.contacts()) {
    const int a = inside.body_slots.place(c.body_a), b = inside.body_slots.place(c.body_b);
    double size = infinity;
    for (const int i : {a, b})
      if (const double reach = reach_of(patient.model.bodies[i].shape); reach > 0) size = std::min(size, 2 * reach);
    if (!(-c.gap > notable_depth * size)) continue;
    Overlap& pair = pairs[{a, b}];
    if (-c.gap > pair.depth) pair = {-c.gap, c.normal};
  }
  return pairs;
}

}  // namespace

namespace {

/// How many pairs would stand in each other at the start if bodies touched by this recipe with these flags; nothing where that is
/// refused.
std::optional<std::size_t> pairs_in_each_other(const Patient& patient, Recipe recipe, std::string_view flags) {
  try {
    for (std::size_t at = 0; (at = flags.find("--set ", at)) != std::string_view::npos;) {
      at += 6;
      const std::string_view word = flags.substr(at, flags.find(' ', at) - at);
      const std::size_t equals = word.find('=');
      set(recipe, word.substr(0, equals), word.substr(equals + 1));
    }
    const World world(patient.scene, recipe);
    return overlaps(patient, recipe.contacts).size();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void look_at_contacts(const Patient& patient, std::vector<Remark>& out) {
  const auto& content = patient.content;
  if (!std::holds_alternative<NoContactSettings>(patient.recipe.contacts)) return;
  if (!content.could_meet && !content.folds) return;
  Recipe touching = patient.recipe;
  touching.contacts = ConeContactSettings{};
  const Remedy remedy = remedy_for(touching, content.needs);
  const std::string flags = "--set contacts=cone" + (remedy.flags.empty() ? "" : " " + remedy.flags);
  const auto& [a, b] = content.could_meet ? content.pair : content.folding_pair;
  const BodyDef *first = body_called(patient.scene, a), *second = body_called(patient.scene, b);
  const double apart = first != nullptr && second != nullptr ? (first->position - second->position).norm() : 0;
  if (content.could_meet)
    out.push_back({.kind = "contacts_off",
                   .grade = Grade::warning,
                   .text = fmt::format("contacts are off, and bodies that are {:.3g} m apart at the start could meet: {} and {} "
                                       "(others perhaps) pass through each other",
                                       apart, in_quotes(a), in_quotes(b)),
                   .flags = flags,
                   .edits = {}});
  else {
    const std::optional<std::size_t> drawn_through = pairs_in_each_other(patient, touching, flags);
    out.push_back({.kind = "mechanism_passes_itself",
                   .grade = Grade::note,
                   .text = fmt::format(
                       "contacts are off: parts of one mechanism pass through each other where they meet, such as "
                       "{} and {}, {:.3g} m apart at the start{}",
                       in_quotes(a), in_quotes(b), apart,
                       drawn_through.value_or(0) > 0 ? fmt::format("; {} pairs are drawn through each other", *drawn_through)
                                                     : std::string()),
                   .flags = drawn_through == 0 ? flags : std::string(),
                   .edits = {}});
  }
}

void look_at_overlaps(const Patient& patient, std::vector<Remark>& out) {
  if (std::holds_alternative<NoContactSettings>(patient.recipe.contacts)) return;
  const std::map<std::pair<int, int>, Overlap> pairs = overlaps(patient, patient.recipe.contacts);
  if (pairs.empty()) return;
  const auto deepest =
      std::max_element(pairs.begin(), pairs.end(), [](const auto& p, const auto& q) { return p.second.depth < q.second.depth; });
  const auto& [a, b] = deepest->first;
  const Overlap& worst = deepest->second;
  const Scene& scene = patient.scene;
  Remark remark{
      .kind = "overlap",
      .grade = Grade::warning,
      .text = fmt::format("{} start in each other, {} and {} the deepest, by {:.3g} m: they are pushed apart",
                          pairs.size() == 1 ? "two bodies" : fmt::format("{} pairs of bodies", pairs.size()),
                          in_quotes(patient.model.bodies[a].name), in_quotes(patient.model.bodies[b].name), worst.depth),
      .flags = {},
      .edits = {}};
  UnionFind tied(patient.model.bodies.size());
  for (const Joint& joint : patient.model.joints) {
    int before = world_body;
    for_each_partner(joint, [&](int partner) {
      if (partner == world_body || patient.model.is_particle(partner)) return;
      if (before != world_body) tied.join(before, partner);
      before = partner;
    });
  }
  if (tied.root(a) == tied.root(b)) remark.text += ", against the joints that hold them";
  int free_group = 1;
  for (const BodyDef& body : scene.bodies) free_group = std::max(free_group, body.group + 1);
  std::vector<bool> seen(scene.bodies.size(), false);
  const auto edit = [&](std::size_t i, const char* key, std::string value) {
    if (seen[i]) return;
    seen[i] = true;
    remark.edits.push_back({fmt::format("/bodies/{}/{}", i, key), std::move(value)});
  };
  // What joints tie together they would tear: of one group it passes. Each other pair is moved apart along its normal, the second
  // one unless it is fixed; of many, what is moved already stays.
  for (const auto& [who, pair] : pairs) {
    const auto first = static_cast<std::size_t>(who.first), second = static_cast<std::size_t>(who.second);
    if (tied.root(who.first) == tied.root(who.second)) {
      const std::string group = std::to_string(free_group + tied.root(who.first));
      edit(first, "group", group);
      edit(second, "group", group);
      continue;
    }
    const bool moves_second = !scene.bodies[second].immovable();
    const std::size_t i = moves_second ? second : first;
    const Vec3 to = scene.bodies[i].position + (moves_second ? 1.0 : -1.0) * 1.01 * pair.depth * pair.normal;
    edit(i, "position", fmt::format("[{:.6g}, {:.6g}, {:.6g}]", to[0], to[1], to[2]));
  }
  out.push_back(std::move(remark));
}

}  // namespace rotule
