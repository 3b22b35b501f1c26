#pragma once
// Moving bodies that will pass through others: surfaces of triangles meet convex shapes alone (docs/collide.md).
#include <string>
#include <vector>

#include "model/model.h"

namespace rotule {

/// One line for each moving body with a mesh that is no convex parts, where there is another surface or a plane to pass through.
std::vector<std::string> passing_surfaces(const Model& model);

}  // namespace rotule
