#include "model/validate.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "base/text.h"
#include "model/choices.h"
#include "model/fluid_sides.h"
#include "model/memory_need.h"
#include "model/model.h"
#include "model/names.h"
#include "model/other_words.h"
#include "model/planar_scene.h"
#include "model/range_check.h"
#include "model/validate_forces.h"

namespace rotule {
namespace {

bool is_boundless(const Shape& shape) {
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape)) return true;
  const auto* compound = std::get_if<Compound>(&shape);
  if (compound == nullptr) return false;
  for (const CompoundPart& part : compound->parts)
    if (is_boundless(part.shape)) return true;
  return false;
}

// Real mass distributions have symmetric inertia, positive principal moments, and none above the sum of the other two.
void check_inertia(const Mat3& inertia, const Place& place) {
  constexpr double slack = 1e-9;
  if ((inertia - inertia.transpose()).cwiseAbs().maxCoeff() > slack * inertia.cwiseAbs().maxCoeff())
    fail(place, "must be symmetric");
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(moments[0] > 0)) fail(place, fmt::format("principal moments must be greater than 0, the smallest is {:.6g}", moments[0]));
  if (moments[2] > (moments[0] + moments[1]) * (1 + slack))
    fail(
        place,
        fmt::format(
            "no body has it: the largest principal moment must be at most the sum of the other two, but {:.6g} > {:.6g} + {:.6g}",
            moments[2], moments[0], moments[1]));
}

template <class Items>
void check_names(const Items& items, const Place& place, std::string_view key) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string_view name;
    if constexpr (requires { items[i].name; }) {
      name = items[i].name;
    } else {
      name = name_of(items[i]);
    }
    const Place item = place / i;
    const Place here = key.empty() ? item : item / key;
    if (name.empty()) fail(here / "name", "must not be empty");
    if (const auto [at, is_new] = seen.emplace(name, i); !is_new)
      fail(here / "name",
           fmt::format("{} is already the name of {}/{}; choose another", in_quotes(name), place.str(), at->second));
  }
}

template <class Items>
std::vector<std::string> names(const Items& items) {
  std::vector<std::string> out;
  for (const auto& item : items) out.push_back(item.name);
  return out;
}

}  // namespace

void check_range(const Place& place, const Field& field, double value) {
  if (!std::isfinite(value)) fail(place, "must be a finite number");
  if (field.above_min ? value <= field.min : value < field.min)
    fail(place, fmt::format("must be {} {}, is {}", field.above_min ? "greater than" : "at least", shortest(field.min),
                            shortest(value)));
  if (value > field.max) fail(place, fmt::format("must be at most {}, is {}", shortest(field.max), shortest(value)));
}

void validate(const Recipe& recipe, const Place& place) { visit_fields(recipe, RangeCheck{place}); }

void validate(const BodyDef& body, std::span<const Material> materials, const Place& place) {
  visit_fields(body, RangeCheck{place});
  if (body.name == "world") fail(place / "name", "\"world\" is what joints call the frame that never moves; choose another");
  if (!body.material.empty()) {
    std::vector<std::string> known;
    for (const Material& material : materials) known.push_back(material.name);
    if (std::find(known.begin(), known.end(), body.material) == known.end())
      fail(place / "material",
           known.empty() ? fmt::format("unknown material {}; there are none: \"materials\": [{{\"name\": {}}}] makes one",
                                       in_quotes(body.material), in_quotes(body.material))
                         : fmt::format("unknown material {}; {}", in_quotes(body.material), suggestion(body.material, known)));
  }
  if (body.mass && body.density) fail(place / "density", "give mass or density, not both");
  if (body.inertia) check_inertia(*body.inertia, place / "inertia");
  if (body.fixed && (body.kinematic || body.motion))
    fail(place / "fixed", fmt::format("contradicts {}; leave one of them out", body.motion ? "motion" : "kinematic"));
  for (const auto& [key, velocity] :
       {std::pair("velocity", &body.velocity), std::pair("angular_velocity", &body.angular_velocity)}) {
    if (velocity->isZero(0)) continue;
    if (body.fixed)
      fail(place / key, fmt::format("{} is fixed and cannot have one; say \"kinematic\": true in place of \"fixed\": true for a "
                                    "body that moves as it is told, or leave the velocity out",
                                    in_quotes(body.name)));
    if (body.motion) fail(place / key, "is what motion says; leave it out");
  }
  if (body.fixed) return;
  if (is_boundless(body.shape))
    fail(place / "shape", fmt::format("{} is only for fixed bodies; add \"fixed\": true or choose another shape",
                                      std::holds_alternative<HeightField>(body.shape) ? "a height field" : "a plane"));
  if (body.immovable()) return;
  const bool has_shape = !std::holds_alternative<std::monostate>(body.shape);
  if (body.density && !has_shape) fail(place / "density", "needs a shape to fill; give a shape, or mass in place of density");
  if (!body.mass && !body.density && (body.material.empty() || !has_shape))
    fail(place / "mass", has_shape
                             ? "missing; give mass, density or a material, or \"fixed\" or \"kinematic\": true"
                             : "missing; give mass, or a shape with density or material, or \"fixed\" or \"kinematic\": true");
}

namespace {

/// `angle`: about the axis, not along it.
void check_drive(const Drive& drive, bool angle, const Place& here) {
  for (const auto& [name, limit] : {std::pair("lower", drive.lower), std::pair("upper", drive.upper)})
    if (limit && !(std::abs(*limit) <= (angle ? std::numbers::pi : 1e9)))
      fail(here / name,
           fmt::format("must be a number from {} to {}, is {}{}", angle ? "-pi" : "-1e9", angle ? "pi" : "1e9", *limit,
                       angle && std::abs(*limit) <= 180
                           ? fmt::format("; {} degrees are {:.4g} rad", *limit, *limit * std::numbers::pi / 180)
                           : ""));
  if (drive.lower && drive.upper && *drive.lower > *drive.upper)
    fail(here / "lower", fmt::format("must not exceed upper ({}), is {}; exchange them", *drive.upper, *drive.lower));
  if (drive.motion && switches(drive))
    fail(here / "motion", "leaves nothing for limits, friction or a motor's strength to decide; take these away, or the motion");
}

void check_drives(const std::vector<AxisDrive>& drives, const std::array<bool, 6>& locked, const Place& here) {
  const bool all_turn = !locked[3] && !locked[4] && !locked[5];
  const Place list = here / "drives";
  std::array<bool, 6> seen{};
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const Place place = list / k;
    const int axis = axis_number(drives[k].axis);
    if (axis == 6) fail(place / "axis", fmt::format("unknown axis {}; known: x y z rx ry rz", in_quotes(drives[k].axis)));
    if (locked[axis]) fail(place / "axis", fmt::format("{} is locked by this joint; drive one that is free", drives[k].axis));
    if (seen[axis]) fail(place / "axis", fmt::format("{} is driven twice; put both into one", drives[k].axis));
    seen[axis] = true;
    const Drive& drive = drives[k].drive;
    check_drive(drive, axis >= 3, place);
    if (axis >= 3 && all_turn && drive.armature > 0)
      fail(place / "armature", "all three rotations of this joint are free, and a rotor is geared to one axis; use a hinge");
    if (axis >= 3 && all_turn && (drive.lower || drive.upper || drive.stiffness > 0 || drive.motion))
      fail(place,
           "all three rotations of this joint are free, so that there is no angle to limit, to give or to spring back to; use a "
           "universal joint or a hinge, or a motor, friction or damping");
  }
}

/// A particle has a place and no orientation: joints that speak of its rotation, or of directions that it carries, make no sense.
template <class Def>
void check_particle(const Def& joint, std::size_t side, const Place& here) {
  const Place ends = here / "between";
  if (locks_rotations(joint))
    fail(ends / side, fmt::format("{} is a particle, which does not turn, and this joint locks rotations; use ball, rod or "
                                  "point_on_line, or name a body",
                                  in_quotes(joint.between[side])));
  if (side == 0 && carries_directions(joint))
    fail(ends / side,
         fmt::format("{} is a particle, which carries no directions; name it second", in_quotes(joint.between[side])));
}

}  // namespace

void validate(const JointDef& joint, const FindPartner& find, const Place& place) {
  const Place here = place / kind_of(joint);
  std::visit(
      [&](const auto& j) {
        visit_fields(j, RangeCheck{here});
        const Place ends = here / "between";
        std::array<JointPartner, 2> partners{};
        for (std::size_t k = 0; k < 2; ++k) {
          const std::optional<JointPartner> found = j.between[k] == "world" ? JointPartner{.fixed = true} : find(j.between[k]);
          if (!found) fail(ends / k, fmt::format("unknown body {}", in_quotes(j.between[k])));
          partners[k] = *found;
        }
        if (j.between[0] == j.between[1])
          fail(ends, fmt::format("must name two different bodies, both are {}", in_quotes(j.between[0])));
        if (partners[0].fixed && partners[1].fixed)
          fail(ends, fmt::format("{} and {} are both fixed or kinematic; one of them must be able to move",
                                 in_quotes(j.between[0]), in_quotes(j.between[1])));
        for (std::size_t k = 0; k < 2; ++k)
          if (partners[k].particle) check_particle(j, k, here);
        const std::vector<FurtherPartner> further = further_partners(j);
        for (std::size_t k = 0; k < further.size(); ++k) {
          const auto& key = further[k].key;
          const auto& name = further[k].name;
          const std::optional<JointPartner> found = name == "world" ? JointPartner{.fixed = true} : find(name);
          if (!found) fail(here / key, fmt::format("unknown body {}", in_quotes(name)));
          if (found->particle && locks_rotations(j))
            fail(here / key, fmt::format("{} is a particle, which does not turn; name a body", in_quotes(name)));
          const auto is_name = [&](const FurtherPartner& other) { return other.name == name; };
          if (name == j.between[0] || name == j.between[1] || std::any_of(further.begin(), further.begin() + k, is_name))
            fail(here / key, fmt::format("{} is a partner already; name another body", in_quotes(name)));
        }
        check_partners(j, partners, here);
        if constexpr (requires { j.drive; }) check_drive(j.drive, !locks(j).locked[5], here);
        if constexpr (requires { j.drives; }) check_drives(j.drives, locks(j).locked, here);
        check_details(j, here);
      },
      joint);
}

void validate(const Scene& scene) {
  const Place top;
  for (int k = 0; k < 3; ++k)
    if (!std::isfinite(scene.gravity[k])) fail(top / "gravity", "must be finite numbers");

  const Place materials = top / "materials";
  check_names(scene.materials, materials, {});
  for (std::size_t i = 0; i < scene.materials.size(); ++i) {
    const Place here = materials / i;
    visit_fields(scene.materials[i], RangeCheck{here});
    if (scene.materials[i].restitution > 1 && !scene.materials[i].gains_energy)
      fail(here / "restitution",
           fmt::format("must be at most 1, is {}; more adds energy at every bounce: say \"gains_energy\": true if that is meant",
                       scene.materials[i].restitution));
    if (scene.materials[i].static_friction && *scene.materials[i].static_friction < scene.materials[i].friction)
      fail(here / "static_friction", fmt::format("must be at least friction ({}), is {}", scene.materials[i].friction,
                                                 *scene.materials[i].static_friction));
  }

  const Place pairs = top / "material_pairs";
  for (std::size_t i = 0; i < scene.material_pairs.size(); ++i) {
    const MaterialPair& pair = scene.material_pairs[i];
    const Place here = pairs / i, ends = here / "between";
    visit_fields(pair, RangeCheck{here});
    for (std::size_t k = 0; k < 2; ++k) {
      const std::vector<std::string> known = names(scene.materials);
      if (std::find(known.begin(), known.end(), pair.between[k]) == known.end())
        fail(ends / k, fmt::format("unknown material {}; {}", in_quotes(pair.between[k]), suggestion(pair.between[k], known)));
    }
    for (std::size_t j = 0; j < i; ++j)
      if (std::minmax(scene.material_pairs[j].between[0], scene.material_pairs[j].between[1]) ==
          std::minmax(pair.between[0], pair.between[1]))
        fail(ends, fmt::format("is spoken of by /material_pairs/{} already; put both into one", j));
    if (pair.static_friction && pair.friction && *pair.static_friction < *pair.friction)
      fail(here / "static_friction", fmt::format("must be at least friction ({}), is {}", *pair.friction, *pair.static_friction));
    if (pair.static_friction && !pair.friction) fail(here / "static_friction", "needs friction beside it");
  }

  const Place bodies = top / "bodies";
  check_names(scene.bodies, bodies, {});
  std::unordered_map<std::string_view, bool> fixed;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    validate(scene.bodies[i], scene.materials, bodies / i);
    fixed.emplace(scene.bodies[i].name, scene.bodies[i].immovable());
  }
  check_plane(scene);
  // Suggestions need all the names; they are gathered only when one is not found.
  const auto unknown_body = [&](const Place& place, std::string_view name) {
    std::vector<std::string> known = names(scene.bodies);
    known.emplace_back("world");
    fail(place, fmt::format("unknown body {}; {}", in_quotes(name), remedy_for_word(name, known)));
  };

  validate_particles(scene);
  const Place joints = top / "joints";
  std::optional<PartnerNames> with_particles;
  for (std::size_t i = 0; i < scene.joints.size(); ++i) {
    const Place item = joints / i;
    const Place kind = item / kind_of(scene.joints[i]);
    const Place ends = kind / "between";
    const auto require_known = [&](const Place& here, const std::string& name) {
      if (name == "world" || fixed.contains(name)) return;
      if (scene.particles.empty() && scene.solids.empty()) unknown_body(here, name);
      if (!with_particles) with_particles.emplace(scene);
      with_particles->check(here, name);
    };
    for (std::size_t k = 0; k < 2; ++k) require_known(ends / k, between(scene.joints[i])[k]);
    std::visit(
        [&](const auto& joint) {
          for (const auto& [key, name] : further_partners(joint)) require_known(kind / key, name);
        },
        scene.joints[i]);
    const auto find = [&](const std::string& name) {
      const auto body = fixed.find(name);
      const bool particle = body == fixed.end();
      return std::optional(JointPartner{.fixed = !particle && body->second, .particle = particle});
    };
    validate(scene.joints[i], find, item);
  }
  std::unordered_map<std::string_view, std::size_t> joint_names;
  for (std::size_t i = 0; i < scene.joints.size(); ++i) {
    const Place item = joints / i;
    const Place kind = item / kind_of(scene.joints[i]);
    const std::string& name = name_of(scene.joints[i]);
    if (name.empty()) fail(kind / "name", "must not be empty");
    if (const auto [at, is_new] = joint_names.emplace(name, i); !is_new)
      fail(kind / "name", fmt::format("{} is already the name of /joints/{}; choose another", in_quotes(name), at->second));
  }

  const Place impulses = top / "impulses";
  for (std::size_t i = 0; i < scene.impulses.size(); ++i) {
    const Place here = impulses / i;
    visit_fields(scene.impulses[i], RangeCheck{here});
    const auto found = fixed.find(scene.impulses[i].body);
    if (found == fixed.end()) unknown_body(here / "body", scene.impulses[i].body);
    if (found->second)
      fail(here / "body",
           fmt::format("{} is fixed or kinematic; strike a body that can move", in_quotes(scene.impulses[i].body)));
  }

  const Place walls = top / "walls";
  check_names(scene.walls, walls, {});
  for (std::size_t i = 0; i < scene.walls.size(); ++i) {
    const Place here = walls / i;
    visit_fields(scene.walls[i], RangeCheck{here});
  }

  if (scene.fluid) {
    const Place fluid = top / "fluid", obstacles = fluid / "obstacles";
    static_cast<void>(validated_sides(*scene.fluid, fluid));
    for (std::size_t i = 0; i < scene.fluid->obstacles.size(); ++i)
      if (!fixed.contains(scene.fluid->obstacles[i])) unknown_body(obstacles / i, scene.fluid->obstacles[i]);
  }

  validate_forces(scene);
  validate(scene.recipe, top / "recipe");
  require_memory(scene);
}

}  // namespace rotule
