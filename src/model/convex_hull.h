#pragma once
// The convex hull of points as a closed, outward triangle mesh, by Quickhull (C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The
// Quickhull algorithm for convex hulls", ACM TOMS 1996). Throws Error for fewer than four points, points that are not finite,
// and points that lie in one plane up to rounding.
#include <rotule/shapes.h>

namespace rotule {

/// Its vertices are `hull.points`, those inside included; its triangles name those on the surface.
TriangleMesh hull_mesh(const ConvexHull& hull);

}  // namespace rotule
