#pragma once
// A surface of triangles against a convex shape. Each triangle near it gives a separation as a thin convex body would; where its
// normal is not legal for the surface at that point (surface.h) the triangle's own normal takes its place, and only points above
// the triangle itself count: so flat and concave edges between triangles push nobody sideways. A triangle whose plane the centre
// of the shape has passed does not act: a shape that is more than half through a surface is let go.
#include "collide/narrow/collide.h"

namespace rotule {

/// The surface is A; `X_AB` places the convex shape in its frame. Clusters of one normal each are left in the scratch, in A's
/// frame.
void surface_convex(const Surface& a, const Convex& b, const Frame& X_AB, double margin, CollideScratch& scratch);

}  // namespace rotule
