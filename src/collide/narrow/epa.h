#pragma once
// How deep two overlapping cores are inside each other: the direction n in which the support function of A - B, which is how far
// one must be moved to be free, is least. The expanding polytope (G. van den Bergen, "Proximity queries and penetration depth
// computation on 3D game objects", 2001) grows from GJK's simplex towards its own nearest face; the distance of that face bounds
// the depth from below, the support function along its normal from above, and it stops when they agree. Polyhedra end exactly. On
// curved shapes each face that betters the bound is a start for stationary.h, which ends at a minimum up to rounding; what is
// left is to show that there is no other, to 1e-3 of the depth and 1e-6 of the size. That may be known at once (least_depth.h);
// else the polytope goes on, with points around the minimum as corners. Where nothing can be settled it stops at 1e-10 of the
// size, or with the best bound found when room (128 points) runs out.
//
// A difference without volume (a segment in the plane of a triangle) has depth 0 along its own normal.
#include "collide/frame.h"
#include "collide/narrow/least_depth.h"
#include "collide/narrow/simplex.h"
#include "collide/shape/convex.h"

namespace rotule {

struct CoreDepth {
  Vec3 normal = Vec3::UnitZ();  // unit, from A to B: moving B by depth along it frees the cores
  double depth = 0;
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();
};

/// In A's frame; `simplex` is what core_distance left, `near` a minimum that is known already.
CoreDepth core_depth(const Convex& a, const Convex& b, const Frame& X_AB, const Simplex& simplex, const DepthNear& near);

}  // namespace rotule
