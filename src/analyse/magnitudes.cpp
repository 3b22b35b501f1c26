// Numbers that are out of proportion to what stands beside them in the scene: a spring that gives by many times its length, a
// friction in percent, turns per minute, an inertia in other units than its body, a step longer than a swing.
#include <fmt/format.h>
#include <rotule/mass_properties.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "analyse/remarks.h"
#include "base/text.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/support.h"

namespace rotule {
namespace {

Remark warning(std::string_view kind, std::string text, std::vector<Remark::Edit> edits) {
  return {.kind = std::string(kind),
          .grade = Remark::Grade::warning,
          .text = std::move(text),
          .flags = {},
          .edits = std::move(edits)};
}

bool is_ground(const BodyDef& body) {
  return body.immovable() && !body.sensor && !std::holds_alternative<std::monostate>(body.shape);
}

void look_at_friction(const Scene& scene, std::vector<Remark>& out) {
  constexpr double most = 5;  // rubber on rubber has 1 to 2
  for (std::size_t i = 0; i < scene.materials.size(); ++i)
    if (const Material& m = scene.materials[i]; m.friction > most)
      out.push_back(
          warning("odd_friction",
                  fmt::format("material {} has a friction of {:.4g}, which holds on any slope up to {:.3g} degrees (rubber "
                              "on asphalt has about 1); in percent?",
                              in_quotes(m.name), m.friction, std::atan(m.friction) * 180 / std::numbers::pi),
                  {{fmt::format("/materials/{}/friction", i), json_of(in_short(0.01 * m.friction))}}));
}

/// What a body says of its mass, against its shape.
void look_at_mass_properties(const Patient& patient, std::vector<Remark>& out) {
  for (std::size_t i = 0; i < patient.scene.bodies.size(); ++i) {
    const BodyDef& def = patient.scene.bodies[i];
    const Body& body = patient.model.bodies[i];
    const double reach = reach_of(body.shape);
    if (def.immovable() || reach == 0 || !(body.mass > 0)) continue;
    const MassProperties full = mass_properties(body.shape, 1);
    const std::string place = fmt::format("/bodies/{}/", i);
    if (def.inertia) {
      constexpr double most = 10, least = 1e-3;  // of the shape's own size
      const Eigen::SelfAdjointEigenSolver<Mat3> moments(*def.inertia, Eigen::EigenvaluesOnly);
      const double radius = std::sqrt(moments.eigenvalues().maxCoeff() / body.mass);
      if (radius > most * reach || radius < least * reach)
        out.push_back(warning("odd_inertia",
                              fmt::format("body {} of {:.3g} kg has the inertia of a ring of {:.3g} m, and a shape that reaches "
                                          "{:.3g} m; kg m^2 are wanted",
                                          in_quotes(def.name), body.mass, radius, reach),
                              {{place + "inertia", json_of(in_short(Vec3(body.mass / full.mass * full.inertia.diagonal())))}}));
    }
    if (def.center_of_mass) {
      constexpr double far = 3;
      const double off = (*def.center_of_mass - full.center_of_mass).norm();
      if (off > far * reach)
        out.push_back(
            warning("mass_outside",
                    fmt::format("the centre of mass of body {} is {:.3g} m from its shape's, which reaches {:.3g} m; it is "
                                "given in the body's frame, not in the world",
                                in_quotes(def.name), off, reach),
                    {{place + "center_of_mass", json_of(in_short(full.center_of_mass))}}));
    }
  }
}

/// Quaternions are w, x, y, z here; elsewhere w is last, and [0, 0, 0, 1] no turn at all.
void look_at_half_turns(const Scene& scene, std::vector<Remark>& out) {
  Remark remark{.kind = "half_turn", .grade = Remark::Grade::note, .text = {}, .flags = {}, .edits = {}};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const Quat& q = scene.bodies[i].orientation;
    if (q.w() != 0 || q.x() != 0 || q.y() != 0) continue;
    names.push_back(scene.bodies[i].name);
    remark.edits.push_back({fmt::format("/bodies/{}/orientation", i), "[1, 0, 0, 0]"});
  }
  if (names.empty()) return;
  remark.text = fmt::format(
      "the orientation [0, 0, 0, 1] of {} is half a turn about z: quaternions are w, x, y, z here, and "
      "[1, 0, 0, 0] is no turn",
      and_others(names));
  out.push_back(std::move(remark));
}

void look_at_axis(const Drive& drive, bool turns, double start, const std::string& joint, const std::string& place,
                  const std::string& whole, std::vector<Remark>& out) {
  constexpr double fast = 500;  // rad/s, 4,800 turns a minute
  const char* const unit = turns ? "rad" : "m";
  if (turns && std::abs(drive.motor_speed) >= fast)
    out.push_back(warning("turns_per_minute",
                          fmt::format("the motor of joint {} is to turn at {:.4g} rad/s, {:.0f} turns a minute; given in those?",
                                      in_quotes(joint), drive.motor_speed, drive.motor_speed * 30 / std::numbers::pi),
                          {{place + "/motor_speed", json_of(in_short(drive.motor_speed * std::numbers::pi / 30))}}));
  if (drive.rest != 0 && drive.stiffness == 0)
    out.push_back(warning("rest_without_stiffness",
                          fmt::format("joint {} has a spring that is slack at {:.4g} {} and has no stiffness: it does nothing",
                                      in_quotes(joint), drive.rest, unit),
                          {{place + "/stiffness", turns ? "10" : "1000"}}));
  const double low = drive.lower.value_or(-infinity), high = drive.upper.value_or(infinity);
  constexpr double slack = 1e-6;
  if (start < low - slack || start > high + slack) {
    const double nearest = std::clamp(start, low, high);
    Remark remark =
        warning("beyond_stops",
                fmt::format("joint {} starts at {:.4g} {}, {:.4g} {} beyond its stop at {:.4g}: the first step throws "
                            "it back; the pose described counts as {:.4g} unless \"start\" says otherwise",
                            in_quotes(joint), start, unit, std::abs(nearest - start), unit, nearest, start),
                {});
    if (whole.empty())
      remark.edits.push_back({place + (start < low ? "/lower" : "/upper"), json_of(start)});
    else
      remark.edits.push_back({whole + "/start", json_of(nearest)});
    out.push_back(std::move(remark));
  }
}

void look_at_axes(const Scene& scene, std::vector<Remark>& out) {
  for (std::size_t i = 0; i < scene.joints.size(); ++i)
    std::visit(
        [&](const auto& j) {
          const std::string place = fmt::format("/joints/{}/{}", i, kind_of(scene.joints[i]));
          if constexpr (requires { j.drive; }) {
            if constexpr (requires { j.start; })
              look_at_axis(j.drive, !locks(j).locked[5], j.start, j.name, place, place, out);
            else
              look_at_axis(j.drive, !locks(j).locked[5], 0, j.name, place, {}, out);
          }
          if constexpr (requires { j.drives; })
            for (std::size_t k = 0; k < j.drives.size(); ++k)
              look_at_axis(j.drives[k].drive, axis_number(j.drives[k].axis) >= 3, 0, j.name,
                           fmt::format("{}/drives/{}", place, k), {}, out);
        },
        scene.joints[i]);
}

/// Bodies that hang on springs alone, which give by many times the size of all that there is.
void look_at_sag(const Patient& patient, std::vector<Remark>& out) {
  constexpr double far = 20;
  const Scene& scene = patient.scene;
  const double g = scene.gravity.norm();
  if (g == 0 || std::any_of(scene.bodies.begin(), scene.bodies.end(), is_ground)) return;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const BodyDef& def = scene.bodies[i];
    const Body& body = patient.model.bodies[i];
    const auto holds = [&](const std::vector<std::string>& partners) {
      return std::find(partners.begin(), partners.end(), def.name) != partners.end();
    };
    if (def.immovable() ||
        std::any_of(scene.joints.begin(), scene.joints.end(), [&](const JointDef& j) { return holds(partners_of(j)); }))
      continue;
    double stiffness = 0, size = 2 * reach_of(body.shape);
    std::vector<Remark::Edit> edits;
    for (std::size_t k = 0; k < scene.forces.size(); ++k) {
      const auto* spring = std::get_if<Spring>(&scene.forces[k]);
      if (spring == nullptr || !holds({spring->between.begin(), spring->between.end()})) continue;
      stiffness += spring->stiffness;
      size = std::max(size, (def.position - spring->from.value_or(def.position)).norm());
      edits.push_back({fmt::format("/forces/{}/spring/stiffness", k), json_of(in_short(1000 * spring->stiffness))});
    }
    if (stiffness == 0 || body.mass * g < far * size * stiffness) continue;
    out.push_back(
        warning("soft_spring",
                fmt::format("body {} of {:.4g} kg hangs on springs of {:.4g} N/m in all: they give by {:.3g} m, where all "
                            "is within {:.2g} m; N/mm in place of N/m?",
                            in_quotes(def.name), body.mass, stiffness, body.mass * g / stiffness, size),
                std::move(edits)));
  }
}

/// What hangs on joints swings with sqrt(g / arm) at least, on the longest of the arms.
void look_at_swings(const Patient& patient, std::vector<Remark>& out) {
  if (patient.recipe.dt > patient.recipe.duration) {
    Remark remark = warning(
        "coarse_step",
        fmt::format("a step of {:.3g} s is longer than the run of {:.3g} s", patient.recipe.dt, patient.recipe.duration), {});
    remark.flags = fmt::format("--set dt={}", shortest(in_short(0.01 * patient.recipe.duration)));
    out.push_back(std::move(remark));
    return;
  }
  constexpr double coarse = 0.7, fine = 0.05;  // rad per step
  const double g = patient.scene.gravity.norm();
  if (g == 0 || std::visit([](const auto& method) { return method.traits.adaptive; }, patient.recipe.integrator)) return;
  double arm = 0;
  for (const Joint& joint : patient.model.joints) {
    for (const auto& [partner, X] : {std::pair(joint.a, &joint.X_A), std::pair(joint.b, &joint.X_B)})
      if (partner != world_body && !patient.model.is_particle(partner)) arm = std::max(arm, X->position.norm());
    if (std::holds_alternative<Rod>(*joint.definition)) arm = std::max(arm, joint.length);
  }
  const double h = patient.recipe.dt;
  if (arm == 0 || h * std::sqrt(g / arm) < coarse) return;
  Remark remark =
      warning("coarse_step",
              fmt::format("a step of {:.3g} s is too long for what swings under gravity: on an arm of {:.3g} m a swing "
                          "there and back takes {:.3g} s; milliseconds?",
                          h, arm, 2 * std::numbers::pi * std::sqrt(arm / g)),
              {});
  remark.flags = fmt::format("--set dt={}", shortest(to_double(fmt::format("{:.0e}", fine * std::sqrt(arm / g))).value_or(1e-3)));
  out.push_back(std::move(remark));
}

}  // namespace

void look_at_magnitudes(const Patient& patient, std::vector<Remark>& out) {
  look_at_friction(patient.scene, out);
  look_at_mass_properties(patient, out);
  look_at_half_turns(patient.scene, out);
  look_at_axes(patient.scene, out);
  look_at_sag(patient, out);
  look_at_swings(patient, out);
}

}  // namespace rotule
