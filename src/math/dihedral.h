#pragma once
// The angle between two triangles that share an edge: zero where they are flat, within half a turn. With the edge e from x_0 to
// x_1, opposite corners x_2 and x_3, and normals n_1 = e x (x_2 - x_0), n_2 = (x_3 - x_0) x e,
//   angle = atan2((n_1 x n_2) . e/|e|, n_1 . n_2),   d(angle)/dx_2 = -|e| n_1/|n_1|^2,   d(angle)/dx_3 = -|e| n_2/|n_2|^2;
// the ends of the edge take the opposite, by where the feet of x_2 and x_3 stand on it.
#include <rotule/types.h>

#include <array>
#include <cmath>

namespace rotule {

struct Dihedral {
  double angle = 0;
  std::array<Vec3, 4> gradient{Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};

  /// Triangles without area have no angle, and no gradient.
  Dihedral(const Vec3& x0, const Vec3& x1, const Vec3& x2, const Vec3& x3) {
    const Vec3 e = x1 - x0, to_2 = x2 - x0, to_3 = x3 - x0, n1 = e.cross(to_2), n2 = to_3.cross(e);
    const double length = e.norm(), square_1 = n1.squaredNorm(), square_2 = n2.squaredNorm();
    if (length == 0 || square_1 == 0 || square_2 == 0) return;
    angle = std::atan2(n1.cross(n2).dot(e) / length, n1.dot(n2));
    gradient[2] = -length / square_1 * n1;
    gradient[3] = -length / square_2 * n2;
    const double foot_2 = to_2.dot(e) / (length * length), foot_3 = to_3.dot(e) / (length * length);
    gradient[0] = -(1 - foot_2) * gradient[2] - (1 - foot_3) * gradient[3];
    gradient[1] = -foot_2 * gradient[2] - foot_3 * gradient[3];
  }
};

}  // namespace rotule
