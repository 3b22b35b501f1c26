#pragma once
// Mass, centre of mass and inertia of a shape of uniform density:
//   m = rho V,  c = (1/V) int x dV,  I = rho int (|x - c|^2 1 - (x - c)(x - c)^T) dV.
// Closed forms for the round shapes and the box; polyhedra as signed tetrahedra over their faces (A. M. Messner and
// G. Q. Taylor, "Algorithm 550: Solid polyhedron measures", ACM TOMS 1980); compounds by the parallel-axis theorem. Throws Error
// where sizes are not positive, numbers are not finite, a hull is flat, a mesh is not closed or not outward, or the shape has no
// volume (a point, a plane).
#include <rotule/shapes.h>
#include <rotule/types.h>

namespace rotule {

struct MassProperties {
  double mass = 0;                     // kg
  Vec3 center_of_mass = Vec3::Zero();  // m, in the shape's frame
  Mat3 inertia = Mat3::Zero();         // kg m^2, about the centre of mass, in the shape's axes
};

/// `density` in kg/m^3; a part of a compound has `density` times its own relative one.
MassProperties mass_properties(const Shape& shape, double density);

/// m^3; a point has none, and overlapping parts of a compound count twice.
double volume(const Shape& shape);

}  // namespace rotule
