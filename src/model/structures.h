#pragma once
// Structures (rotule/structures.h) as bodies, joints, particles and forces of a scene.
#include <rotule/scene.h>

#include "base/place.h"
#include "model/structure_fields.h"

namespace rotule {

/// Throws Error with the place where it makes no sense. What it is made of is checked with the rest of the scene.
void build_structure(const StructureDef& structure, const Place& place, Scene& scene);

}  // namespace rotule
