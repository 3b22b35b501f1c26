#pragma once
// The signed distance to a closed triangle mesh: negative inside. The nearest triangle by branch and bound over the tree; the
// sign by the angle-weighted pseudonormal of the face, edge or vertex that holds the nearest point (J. A. Baerentzen and H.
// Aanaes, "Signed distance computation using the angle weighted pseudonormal", IEEE TVCG 2005), which is exact for closed
// surfaces that do not cross themselves. Where a surface does cross itself the sign is that of the nearest sheet.
#include <rotule/shapes.h>

#include <array>
#include <vector>

#include "collide/shape/bvh.h"

namespace rotule {

class SolidDistance {
 public:
  /// The mesh must be closed, with indices in range (`mass_properties` checks that).
  explicit SolidDistance(const TriangleMesh& mesh);

  [[nodiscard]] double operator()(const Vec3& x) const;

 private:
  struct Triangle {
    std::array<Vec3, 3> corner;
    std::array<Vec3, 7> normal;  // of the corners, the edges (k to k + 1), the face
  };
  Bvh tree_;
  std::vector<Triangle> triangles_;  // in the order of the tree's leaves
};

}  // namespace rotule
