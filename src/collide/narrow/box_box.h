#pragma once
// Two boxes by their fifteen separating axes: three face normals each and the nine cross products of their edges (S. Gottschalk,
// M. C. Lin, D. Manocha, "OBBTree", 1996). The separation along the best axis is the depth where they overlap; where they are
// apart it is the distance only if a face or two edges are what is nearest, else less: `exact` tells. The axis that parted them
// last time is tried first.
#include <cstdint>

#include "collide/frame.h"
#include "collide/narrow/clip.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

struct AxisSeparation {
  enum class Axis : std::uint8_t { face_of_a, face_of_b, edges };
  Separation separation;
  bool exact = false;
  Axis axis = Axis::face_of_a;
};

/// All contact points of two boxes; see collide_convex.
bool collide_boxes(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                   CandidateList& list, Manifold& out);

/// In A's frame; both boxes without rounding.
AxisSeparation box_box(const Convex& a, const Convex& b, const Frame& X_AB, double margin, PairMemory& memory);

}  // namespace rotule
