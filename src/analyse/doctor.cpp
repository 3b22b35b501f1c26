#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <algorithm>
#include <chrono>

#include "analyse/remarks.h"
#include "base/text.h"
#include "model/names.h"
#include "world/moving_meshes.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr double open_joint = 1e-8;  // m or rad
constexpr double notable_mass_ratio = 100;

void look_at_rank(const World& world, Checkup& out) {
  out.redundant = world.redundancies();
  for (const Joint& joint : implementation_of(world).model.joints)
    if (!joint.equations || !joint.equations->one_sided) out.rows += joint.rows();  // what bounds locks nothing
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

/// A few steps of a copy: as many as fit into a tenth of a second, one at least.
double measured_ms_per_step(const Scene& scene, const Recipe& recipe) {
  using Clock = std::chrono::steady_clock;
  try {
    World world(scene, recipe);
    world.step();  // allocates, finds who touches whom for the first time
    const auto start = Clock::now();
    int steps = 0;
    std::chrono::duration<double, std::milli> taken{};
    do {
      world.step();
      taken = Clock::now() - start;
    } while (++steps < 20 && taken.count() < 100);
    return taken.count() / steps;
  } catch (const Error&) {
    return 0;  // refused, or blown up: other remarks say why
  }
}

}  // namespace

namespace {

/// Runs that nobody waits for the end of.
void look_at_cost(const Patient& patient, Checkup& out) {
  constexpr double long_time = 3600;  // s
  const double steps = patient.recipe.duration / patient.recipe.dt, seconds = 1e-3 * out.ms_per_step * steps;
  if (seconds < long_time) return;
  const double usual = recipe_for(patient.scene, Dial::balanced).dt;
  constexpr double notable = 2;
  Remark remark{.kind = "long_run",
                .grade = Remark::Grade::warning,
                .text = fmt::format("the run of {:.3g} s is {:.2g} steps of {:.3g} s, and takes about {:.2g} h",
                                    patient.recipe.duration, steps, patient.recipe.dt, seconds / 3600),
                .flags = {},
                .edits = {}};
  // A shorter step than usual may be a slip; else it is what was asked for.
  if (usual > notable * patient.recipe.dt) remark.flags = fmt::format("--set dt={}", shortest(usual));
  out.remarks.push_back(std::move(remark));
}

/// Contacts would have moving meshes cut into convex parts.
void look_at_meshes(const Patient& patient, std::vector<Remark>& out) {
  if (std::holds_alternative<NoContactSettings>(patient.recipe.contacts)) return;
  Model model = patient.model;
  for (int i = 0; i < model.body_count(); ++i)
    if (std::string text = cut_moving_mesh(model, i); !text.empty())
      out.push_back({.kind = "mesh_cut", .grade = Remark::Grade::note, .text = std::move(text), .flags = {}, .edits = {}});
}

}  // namespace

Checkup examine(const Scene& given, bool measure) {
  Scene scene = given;
  name_unnamed(scene);
  const Recipe recipe = recipe_of(scene);
  // Whatever drives the joints, the mechanism is the same: looked at by the recipe that solves it exactly.
  World world(undriven(scene), recipes::exact());
  Checkup out;
  out.joints = static_cast<int>(scene.joints.size());
  out.bodies = static_cast<int>(scene.bodies.size());
  for (const BodyDef& body : scene.bodies) out.fixed += body.immovable() ? 1 : 0;
  out.islands = world.islands();

  static_cast<void>(world.diagnostics());  // rows and errors of the pose that the scene describes
  const WorldImplementation& inside = implementation_of(world);
  for (int j = 0; j < out.joints; ++j)
    if (const double error = inside.stepper->joint_error(j).position; error > open_joint)
      out.open.push_back({inside.model.joints[j].name, error});

  const SceneContent content = content_of(scene);
  const Patient patient{scene, recipe, content, inside.model};
  if (out.open.empty()) look_at_velocities(patient, world, out.remarks);

  world.project();
  static_cast<void>(world.diagnostics());  // rows and errors of the pose that was reached
  for (int j = 0; j < out.joints; ++j)
    if (const double error = inside.stepper->joint_error(j).position; error > open_joint)
      out.conflicts.push_back({inside.model.joints[j].name, error});
  look_at_rank(world, out);
  look_at_masses(inside.model, out);

  look_at_solver(patient, out, out.remarks);
  look_at_emptiness(patient, out.remarks);
  for (const Checkup::Gap& gap : out.conflicts)
    out.remarks.push_back(
        {.kind = "conflict",
         .grade = Remark::Grade::grave,
         .text = fmt::format("joint {} cannot be closed: {:.3g} m or rad stay open", in_quotes(gap.joint), gap.error),
         .flags = {},
         .edits = {}});
  for (const Checkup::Gap& gap : out.open)
    out.remarks.push_back({.kind = "open_joint",
                           .grade = Remark::Grade::warning,
                           .text = fmt::format("joint {} starts {:.3g} m or rad open; the first step will close it",
                                               in_quotes(gap.joint), gap.error),
                           .flags = {},
                           .edits = {}});
  look_at_locks(patient, out, out.remarks);
  look_at_given_motions(patient, out, out.remarks);
  look_at_singular_poses(patient, out, out.remarks);
  look_at_contacts(patient, out.remarks);
  look_at_particles(patient, out.remarks);
  look_at_groups(patient, out.remarks);
  look_at_gravity(patient, out.remarks);
  look_at_fluid(patient, out.remarks);
  look_at_supports(patient, out.remarks);
  look_at_loose_particles(patient, out.remarks);
  look_at_falls(patient, out.remarks);
  look_at_effects(patient, out.remarks);
  look_at_drives(patient, out.remarks);
  look_at_strength(patient, out.remarks);
  look_at_places(patient, out.remarks);
  look_at_angles(patient, out.remarks);
  look_at_lengths(patient, out.remarks);
  look_at_bodies(patient, out.remarks);
  look_at_overlaps(patient, out.remarks);
  look_at_meshes(patient, out.remarks);
  look_at_magnitudes(patient, out.remarks);
  look_at_swinging(patient, out.remarks);
  out.stable_step = look_at_stability(patient, world, measure, out.remarks);
  if (measure) {
    out.ms_per_step = measured_ms_per_step(scene, recipe);
    look_at_cost(patient, out);
  }
  std::stable_sort(out.remarks.begin(), out.remarks.end(), [](const Remark& a, const Remark& b) { return a.grade > b.grade; });
  return out;
}

}  // namespace rotule
