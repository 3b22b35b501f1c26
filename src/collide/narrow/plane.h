#pragma once
// A half-space against a convex shape: the gap is that of the shape's lowest point, n is the plane's. Points are the corners of
// the patch that faces the plane, and the lowest point. Against a surface: its vertices.
#include "collide/narrow/collide.h"

namespace rotule {

/// The plane z = 0 is A, `X` places the convex shape B in its frame. False where nothing is within the margin.
bool plane_convex(const Convex& b, const Frame& X, double margin, CandidateList& out);

/// The same for the vertices of a surface: candidates with gaps of at most `margin`, in a cluster of the scratch.
CollideScratch::Cluster& plane_surface(const Surface& b, const Frame& X, double margin, CollideScratch& scratch);

}  // namespace rotule
