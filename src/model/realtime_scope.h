#pragma once
// What the real-time stepper cannot run, each thing with its name: of a scene, so that the dial chooses another stepper for it,
// and of a model, so that nobody hands it one.
#include <rotule/scene.h>

#include <string>

#include "model/model.h"

namespace rotule {

/// The first thing in it that the real-time stepper does not know; empty where it knows all.
std::string unknown_to_realtime(const Model& model);
std::string unknown_to_realtime(const Scene& scene);
/// Throws Error where there is one.
void require_realtime(const Model& model);

/// Why the dial's setting `realtime` runs the scene by the reference, with this recipe; empty where it does not, and where the
/// scene has nothing that touches.
std::string why_not_realtime(const Scene& scene, const Recipe& recipe);

}  // namespace rotule
