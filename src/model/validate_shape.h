#pragma once
// Whether a shape has an inside: sizes positive, hulls not flat, meshes closed and turned outwards, compounds not empty.
#include <rotule/shapes.h>

#include "base/place.h"

namespace rotule {

/// `depth` counts the compounds around it.
void validate_shape(const Shape& shape, const Place& place, int depth = 0);

}  // namespace rotule
