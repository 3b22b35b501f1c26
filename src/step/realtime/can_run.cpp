#include "step/realtime/can_run.h"

#include <rotule/error.h>

namespace rotule {

std::string unknown_to_realtime(const Model& model) {
  if (model.particle_count() > 0) return "particles";
  if (!model.walls.empty()) return "walls";
  if (model.has_kinematic()) return "kinematic bodies";
  if (model.has_added_mass()) return "added mass (\"" + model.bodies[model.forces.added_masses.front().body].name + "\")";
  if (model.belt_count > 0) return "surface velocities";
  if (model.sensor_count > 0) return "sensors";
  for (const Body& body : model.bodies) {
    if (!body.touches) continue;
    if (body.surface.stiffness > 0) return "soft surfaces (\"" + body.name + "\")";
    if (body.surface.rolling_friction > 0) return "rolling friction (\"" + body.name + "\")";
  }
  return {};
}

void require_realtime(const Model& model) {
  if (const std::string what = unknown_to_realtime(model); !what.empty())
    throw Error("recipe/stepper", "the real-time stepper does not know " + what + " yet; --set stepper=reference runs it");
}

}  // namespace rotule
