#pragma once
// Shapes as triangles, for those who draw them or hand them to other programs. Round shapes are inscribed: their triangles'
// vertices lie on the true surface, so that the volume grows towards the exact one with the square of the number of segments.
// Solids come out closed; two vertices that differ in normal alone (along a sharp edge) have the same position to the bit.
#include <rotule/shapes.h>
#include <rotule/types.h>

#include <array>
#include <vector>

namespace rotule {

/// Triangles counter-clockwise seen from outside; normals of length 1, one per vertex, outward.
struct TriangleSurface {
  std::vector<Vec3> vertices, normals;
  std::vector<std::array<int, 3>> triangles;
};

struct Tessellation {
  int segments = 32;        // around a full circle; rounded up to a multiple of 4, at least 8
  double plane_size = 100;  // m, edge of the square that stands for a half-space
};

/// In the body's frame. A point mass has no surface; a plane and a height field are their upper sides alone, not closed. Throws
/// Error where a hull is flat.
TriangleSurface tessellate(const Shape& shape, const Tessellation& settings = {});

/// Volume inside a closed surface: the sum of the signed tetrahedra between its triangles and the origin.
double enclosed_volume(const TriangleSurface& surface);

}  // namespace rotule
