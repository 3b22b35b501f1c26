#include "dynamics/forces/gyroscopic.h"

#include <Eigen/LU>

namespace rotule {

Vec3 implicit_gyroscopic_step(const Mat3& inertia, const Mat3& R, const Vec3& omega, double h) {
  const Vec3 start = R.transpose() * omega;
  Vec3 w = start;
  // Two iterations: the second matters only beyond half a turn per step.
  for (int i = 0; i < 2; ++i) {
    const Vec3 L = inertia * w;
    const Vec3 error = inertia * (w - start) + h * w.cross(L);
    const Mat3 jacobian = inertia + h * (skew(w) * inertia - skew(L));
    w -= jacobian.inverse() * error;
  }
  return R * w;
}

}  // namespace rotule
