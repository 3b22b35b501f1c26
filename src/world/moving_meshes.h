#pragma once
// Bodies of triangles that move. The surface of a mesh has no thickness and meets convex shapes and planes alone, so where
// contacts are on, closed meshes of moving bodies are cut into convex hulls (rotule/meshes.h), as `convex_parts` asks for, and
// collide as these with everything. A mesh that is not closed has no inside to cut: it is refused where there is a surface to
// pass through.
#include <string>

#include "model/model.h"

namespace rotule {

/// Cuts the meshes of body i, if it moves and takes part in contacts; says so in one line, or nothing where there was none to
/// cut.
std::string cut_moving_mesh(Model& model, int body);

/// Throws Error with the names of a moving body and of another whose surfaces would pass through each other.
void refuse_passing_surfaces(const Model& model);

}  // namespace rotule
