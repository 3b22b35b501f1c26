#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/mass_properties.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "world/moving_meshes.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr double open_joint = 1e-8;  // m or rad
constexpr double notable_mass_ratio = 100;

void look_at_rank(const World& world, Checkup& out) {
  out.redundant = world.redundancies();
  for (const Joint& joint : implementation_of(world).model.joints) out.rows += joint.rows();
  out.rank = out.rows;
  for (const Redundancy& r : out.redundant) out.rank -= r.rows;
  const Particles& particles = implementation_of(world).model.particles;
  const auto free = std::count_if(particles.inverse_mass.begin(), particles.inverse_mass.end(), [](double w) { return w > 0; });
  out.particles = static_cast<int>(free);
  out.degrees_of_freedom = 6 * (out.bodies - out.fixed) + 3 * out.particles - out.rank;
}

void look_at_masses(const Model& model, Checkup& out) {
  for (const Body& body : model.bodies)
    if (body.point_mass && !body.fixed) out.point_masses.push_back(body.name);
  for (const Joint& joint : model.joints) {
    int heavy = world_body, light = world_body;
    for_each_partner(joint, [&](int partner) {
      if (!model.movable(partner)) return;
      if (heavy == world_body || model.mass(partner) > model.mass(heavy)) heavy = partner;
      if (light == world_body || model.mass(partner) <= model.mass(light)) light = partner;
    });
    if (heavy == light) continue;
    const double ratio = model.mass(heavy) / model.mass(light);
    out.largest_mass_ratio = std::max(out.largest_mass_ratio, ratio);
    if (ratio > notable_mass_ratio) out.mass_ratios.push_back({joint.name, model.name(heavy), model.name(light), ratio});
  }
  std::stable_sort(out.mass_ratios.begin(), out.mass_ratios.end(),
                   [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
}

// Numbers that are legal but hint at grams, millimetres or degrees.
void look_at_units(const Scene& scene, const Model& model, Checkup& out) {
  const auto remark = [&](std::string text) {
    if (out.remarks.size() < 20) out.remarks.push_back(std::move(text));
  };
  if (const double g = scene.gravity.norm(); g > 100) remark(fmt::format("gravity is {:.4g} m/s^2; lengths in millimetres?", g));
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.fixed) continue;
    const std::string name = in_quotes(body.name);
    if (const bool has_volume = !std::holds_alternative<std::monostate>(body.shape); has_volume) {
      const double space = volume(body.shape);
      if (const double density = body.mass / space; density < 0.1 || density > 30000)
        remark(fmt::format("body {} has {:.4g} kg in {:.4g} m^3, {:.4g} kg/m^3; grams or millimetres?", name, body.mass, space,
                           density));
      if (const double size = std::cbrt(space); size < 1e-4 || size > 1e4)
        remark(fmt::format("body {} is about {:.4g} m large; is that meant in metres?", name, size));
      // Files of drawings do not say their unit, which is mostly the millimetre.
      const auto* mesh = std::get_if<TriangleMesh>(&body.shape);
      if (mesh != nullptr && !mesh->file.empty() && mesh->scale == 1 && space > 1000)
        remark(fmt::format("body {} has {:.4g} m^3 from {} with a scale of 1; if it was drawn in millimetres, \"scale\": 0.001",
                           name, space, mesh->file));
    }
    const BodyDef& def = scene.bodies[i];
    if (const double speed = def.velocity.norm(); speed > 1e4) remark(fmt::format("body {} moves at {:.4g} m/s", name, speed));
    if (const double turn = def.angular_velocity.norm() * scene.recipe.dt; turn > 1)
      remark(fmt::format("body {} turns by {:.3g} rad in one step of {:.3g} s; degrees in place of radians, or too large a step?",
                         name, turn, scene.recipe.dt));
  }
}

}  // namespace

Checkup examine(const Scene& scene) {
  check_combination(scene.recipe);
  World world(scene, recipes::exact());
  Checkup out;
  out.joints = static_cast<int>(scene.joints.size());
  out.bodies = static_cast<int>(scene.bodies.size());
  for (const BodyDef& body : scene.bodies) out.fixed += body.fixed ? 1 : 0;
  out.islands = world.islands();

  static_cast<void>(world.diagnostics());  // rows and errors of the pose that the scene describes
  const WorldImplementation& inside = implementation_of(world);
  for (int j = 0; j < out.joints; ++j)
    if (const double error = inside.stepper->joint_error(j).position; error > open_joint)
      out.open.push_back({inside.model.joints[j].name, error});

  world.project();
  static_cast<void>(world.diagnostics());  // rows and errors of the pose that was reached
  for (int j = 0; j < out.joints; ++j)
    if (const double error = inside.stepper->joint_error(j).position; error > open_joint)
      out.conflicts.push_back({inside.model.joints[j].name, error});
  look_at_rank(world, out);
  look_at_masses(inside.model, out);
  look_at_units(scene, inside.model, out);
  // Contacts are off in this world; those of the scene would have meshes cut.
  if (!std::holds_alternative<NoContactSettings>(scene.recipe.contacts)) {
    Model model = inside.model;
    for (int i = 0; i < model.body_count(); ++i)
      if (std::string remark = cut_moving_mesh(model, i); !remark.empty()) out.remarks.push_back(std::move(remark));
  }
  return out;
}

}  // namespace rotule
