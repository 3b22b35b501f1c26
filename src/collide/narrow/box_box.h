#pragma once
// Two boxes by their fifteen separating axes: three face normals each and the nine cross products of their edges (S. Gottschalk,
// M. C. Lin, D. Manocha, "OBBTree", 1996). The separation along the best axis is the depth where they overlap; where they are
// apart it is the distance only if a face or two edges are what is nearest, else less: `exact` tells. The axis that parted them
// last time is tried first.
#include "collide/frame.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

struct AxisSeparation {
  Separation separation;
  bool exact = false;
};

/// In A's frame; both boxes without rounding.
AxisSeparation box_box(const Convex& a, const Convex& b, const Frame& X_AB, double margin, PairMemory& memory);

}  // namespace rotule
