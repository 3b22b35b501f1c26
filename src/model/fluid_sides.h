#pragma once
// The six sides of a fluid's box, as its description names them, and the checks of that description.
#include <rotule/fluid.h>

#include <array>

#include "base/place.h"

namespace rotule {

struct FluidSide {
  FluidBoundary kind = FluidBoundary::no_slip;
  Vec3 velocity = Vec3::Zero();
};
/// Low and high side of x, then of y and z.
using FluidSides = std::array<FluidSide, 6>;

/// Whether nothing changes along the axis.
inline bool is_flat(const FluidDef& def, int axis) { return def.grid[static_cast<std::size_t>(axis)] == 1; }

/// Throws Error with place and remedy where the description makes no sense.
FluidSides validated_sides(const FluidDef& def, const Place& place);

}  // namespace rotule
