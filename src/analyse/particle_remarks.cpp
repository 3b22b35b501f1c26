// Particles that nothing holds, or that pass through what is in their way.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "analyse/remarks.h"
#include "base/text.h"
#include "model/dial.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/solids.h"

namespace rotule {

void look_at_particles(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const bool touching = !std::holds_alternative<NoContactSettings>(patient.recipe.contacts);
  // What hangs on springs or joints is meant to.
  const auto hangs = [&](const std::string& name) {
    return std::any_of(scene.forces.begin(), scene.forces.end(), [&](const ForceDef& force) {
      const auto* spring = std::get_if<Spring>(&force);
      return spring != nullptr && (spring->between[0] == name || spring->between[1] == name);
    });
  };
  const auto in_the_way = std::count_if(patient.model.bodies.begin(), patient.model.bodies.end(), [&](const Body& body) {
    return body.touches && !body.sensor && !std::holds_alternative<std::monostate>(body.shape) && !hangs(body.name);
  });
  if (in_the_way == 0 || !patient.model.joined.empty()) return;
  Remark remark{.kind = "particles_pass", .grade = Remark::Grade::warning, .text = {}, .flags = {}, .edits = {}};
  std::string name;
  std::size_t passing = 0;
  const auto look = [&](const std::string& own, bool touches, std::size_t count, const std::string& place,
                        const char* contact = "{}") {
    if (touches && touching) return;
    if (name.empty()) name = own;
    passing += count;
    if (!touches) remark.edits.push_back({place + "/contact", contact});
  };
  for (std::size_t i = 0; i < scene.particles.size(); ++i) {
    const ParticleGroup& group = scene.particles[i];
    // Lone particles have to be told their size; what forces hold, or what floats, is another matter.
    const bool lone = group.springs.empty() && group.tetrahedra.empty() && group.triangles.empty() && !group.contact;
    if (lone && (scene.gravity.isZero(0) || scene.fluid || !scene.forces.empty() || !group.pinned.empty())) continue;
    look(group.name, group.contact.has_value(), group.positions.size(), fmt::format("/particles/{}", i),
         lone ? "{\"thickness\": 0.02}" : "{}");
  }
  for (std::size_t i = 0; i < scene.solids.size(); ++i)
    std::visit(
        [&](const auto& solid) {
          look(solid.name, solid.contact.has_value(), particle_count(solid),
               fmt::format("/solids/{}/{}", i, kind_of(scene.solids[i])));
        },
        scene.solids[i]);
  if (passing == 0) return;
  Recipe mended = patient.recipe;
  mended.contacts = ConeContactSettings{};
  JointNeeds needs = patient.content.needs;
  needs.soft = true;
  const Remedy remedy = remedy_for(mended, needs);
  remark.flags =
      std::string(touching ? "" : "--set contacts=cone") + (touching || remedy.flags.empty() ? "" : " ") + remedy.flags;
  remark.text = fmt::format("particles do not touch: {} of them, {} the first, pass through {} bod{}", passing, in_quotes(name),
                            in_the_way, in_the_way == 1 ? "y" : "ies");
  out.push_back(std::move(remark));
}

void look_at_loose_particles(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const Particles& particles = patient.model.particles;
  const bool acted_on = std::any_of(scene.forces.begin(), scene.forces.end(), [](const ForceDef& force) {
    return !std::holds_alternative<Drag>(force) && !std::holds_alternative<AngleSpring>(force);
  });
  if (scene.gravity.isZero(0) || acted_on || !scene.bodies.empty() || !scene.joints.empty() || scene.fluid ||
      !scene.walls.empty() || !scene.flows.empty() ||
      std::any_of(particles.inverse_mass.begin(), particles.inverse_mass.end(), [](double w) { return w == 0; }))
    return;
  const auto say = [&](const std::string& name, std::string edit_place, std::string_view pins) {
    out.push_back({.kind = "nothing_holds",
                   .grade = Remark::Grade::warning,
                   .text = fmt::format("nothing holds {}: none of its particles is pinned, and there is no ground; it falls "
                                       "{:.3g} m in the first second",
                                       in_quotes(name), 0.5 * scene.gravity.norm()),
                   .flags = {},
                   .edits = {{std::move(edit_place) + "/pinned", std::string(pins)}}});
  };
  const auto at_rest = [](const std::vector<Vec3>& v) {
    return std::all_of(v.begin(), v.end(), [](const Vec3& x) { return x.isZero(0); });
  };
  for (std::size_t i = 0; i < scene.particles.size(); ++i)
    if (const ParticleGroup& group = scene.particles[i]; !group.springs.empty() && at_rest(group.velocities))
      say(group.name, fmt::format("/particles/{}", i), "[0]");
  for (std::size_t i = 0; i < scene.solids.size(); ++i)
    std::visit(
        [&](const auto& solid) {
          if constexpr (requires {
                          solid.pinned;
                          solid.velocity;
                        })
            if (solid.velocity.isZero(0))
              say(solid.name, fmt::format("/solids/{}/{}", i, kind_of(scene.solids[i])),
                  std::is_same_v<std::decay_t<decltype(solid.pinned)>, Pins> ? "[\"x0\"]" : "[0]");
        },
        scene.solids[i]);
}

}  // namespace rotule
