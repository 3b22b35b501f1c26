#include "dynamics/forces/added_mass.h"

namespace rotule {

Mat6 added_gyroscopic_derivative(const Mat6& mass, const Vec6& u, double a, double b) {
  const Vec3 v = u.head<3>(), omega = u.tail<3>();
  const Vec6 momentum = mass * u;
  const Vec3 P = momentum.head<3>(), L = momentum.tail<3>();
  // With dP and dL for small changes of the momenta: -omega x dP, -omega x dL - v x dP.
  const auto by_momentum = [&](const Mat6& change) {
    Mat6 out;
    out.topRows<3>() = -skew(omega) * change.topRows<3>();
    out.bottomRows<3>() = -skew(omega) * change.bottomRows<3>() - skew(v) * change.topRows<3>();
    return out;
  };
  Mat6 by_velocity = by_momentum(mass);
  by_velocity.topRightCorner<3, 3>() += skew(P);
  by_velocity.bottomRightCorner<3, 3>() += skew(L);
  by_velocity.bottomLeftCorner<3, 3>() += skew(P);
  by_velocity.leftCols<3>() += mass.leftCols<3>() * skew(omega);
  by_velocity.rightCols<3>() -= mass.leftCols<3>() * skew(v);
  Vec6 across = Vec6::Zero();
  across.head<3>() = omega.cross(v);
  return a * by_velocity + b * (by_momentum(turning_of(mass, u)) + turning_of(mass, across));
}

}  // namespace rotule
