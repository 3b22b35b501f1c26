#pragma once
// The signed distance of two convex shapes: the largest separation -h_A(n) - h_B(-n) over unit vectors n (h the support
// functions), with the points where it is found. Positive: the distance. Negative: the depth, the shortest way out. Spheres,
// capsules, and spheres against boxes and cylinders, in closed form; all else by gjk.h on the cores and epa.h where these
// overlap.
#include "collide/frame.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

/// In A's frame. Gaps above `margin` are not worked out further: `near` is false then. `memory` is read and written.
Separation separation(const Convex& a, const Convex& b, const Frame& X_AB, double margin, PairMemory& memory);

/// The same, all in the world.
Separation separation_in_world(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                               PairMemory& memory);

/// The same as `separation` by gjk.h and epa.h alone, whatever the shapes.
Separation general_separation(const Convex& a, const Convex& b, const Frame& X_AB, double margin, PairMemory& memory);

}  // namespace rotule
