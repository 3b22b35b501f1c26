#pragma once
// A sphere of triangles: an icosahedron, each triangle cut in four at the middles of its edges so many times, all points moved
// out to the sphere (R. B. Fuller's geodesic domes). Triangles are seen from outside, and nearly all of one size.
#include <rotule/types.h>

#include <array>
#include <vector>

namespace rotule {

struct Icosphere {
  std::vector<Vec3> points;  // of length one
  std::vector<std::array<int, 3>> triangles;
  explicit Icosphere(int subdivisions);
};

}  // namespace rotule
