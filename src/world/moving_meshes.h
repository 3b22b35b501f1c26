#pragma once
// Bodies of triangles that move. The surface of a mesh has no thickness and meets convex shapes and planes alone, so where
// contacts are on, the meshes of moving bodies are cut into convex hulls (rotule/meshes.h), as `convex_parts` asks for, and
// collide as these with everything. What cannot be cut is refused.
#include <string>

#include "model/model.h"

namespace rotule {

/// Cuts the meshes of a body that moves and takes part in contacts; says so in one line, or nothing where there was none to cut.
/// Throws Error with the body's name where a mesh cannot be cut.
std::string cut_moving_mesh(Model& model, int body);

}  // namespace rotule
