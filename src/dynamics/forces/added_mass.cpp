#include "dynamics/forces/added_mass.h"

namespace rotule {

namespace {

/// Of both halves of a momentum or a velocity.
Eigen::Matrix<double, 6, 3> skews(const Vec6& x) {
  Eigen::Matrix<double, 6, 3> out;
  out << skew(x.head<3>()), skew(x.tail<3>());
  return out;
}

/// omega x on both halves of columns.
template <class Columns>
Columns turned_columns(const Vec3& omega, const Columns& columns) {
  Columns out;
  out << skew(omega) * columns.template topRows<3>(), skew(omega) * columns.template bottomRows<3>();
  return out;
}

}  // namespace

void add_added_momentum(const Model& model, const FluidMotion& motion, const VecX& x, double times, VecX& out) {
  visit_added_masses(model, motion, [&](const AddedMassBlock& block, const Mat6& mass) {
    out.segment<6>(6 * block.body) += times * (mass * x.segment<6>(6 * block.by));
  });
}

void add_added_gyroscopic(const Model& model, const FluidMotion& motion, VecX& f) {
  visit_added_masses(model, motion, [&](const AddedMassBlock& block, const Mat6& mass) {
    const AddedGyroscopic push =
        gyroscopic_of(mass, motion.velocity(block.body), motion.velocity(block.by), Vec3(motion.velocity(block.axes).tail<3>()));
    f.segment<6>(6 * block.body) += push.on_body;
    if (model.movable(block.axes)) f.segment<3>(6 * block.axes + 3) += push.on_axes;
  });
}

Vec3 torque_on_still_axes(const Model& model, const State& s) {
  Vec3 out = Vec3::Zero();
  visit_added_masses(model, motion_of(s), [&](const AddedMassBlock& block, const Mat6& mass) {
    if (model.movable(block.axes)) return;
    const Vec6 momentum = mass * s.u.segment<6>(6 * block.by);
    out -= momentum.head<3>().cross(s.v(block.body)) + momentum.tail<3>().cross(s.omega(block.body));
  });
  return out;
}

Eigen::Matrix<double, 6, 3> turning_of(const Mat6& mass, const Vec6& x) {
  // The block turns as R M R^T: d(M x) = phi x (M x) - M (phi x x), on both halves.
  return -skews(mass * x) + mass * skews(x);
}

AddedDerivatives added_derivatives(const Mat6& mass, const Vec6& u, const Vec6& by, const Vec3& omega,
                                   const Vec6& by_acceleration, double a, double b) {
  const Vec6 momentum = mass * by;
  const Mat3 v_x = skew(u.head<3>()), omega_x = skew(u.tail<3>()), P_x = skew(momentum.head<3>()), L_x = skew(momentum.tail<3>());
  AddedDerivatives out;
  // By velocities: of the body itself, ...
  out.body_body.bottomRightCorner<3, 3>() = a * L_x;
  out.axes_body.bottomLeftCorner<3, 3>() = -a * P_x;
  out.axes_body.bottomRightCorner<3, 3>() = -a * L_x;
  // ... of the other, whose momentum this is, ...
  Mat6 spun = Mat6::Zero();
  spun.topLeftCorner<3, 3>() = spun.bottomRightCorner<3, 3>() = skew(omega);
  out.body_by = mass - a * (mass * spun - spun * mass);
  out.body_by.bottomRows<3>() -= a * omega_x * mass.bottomRows<3>();
  out.axes_by.bottomRows<3>() = a * (v_x * mass.topRows<3>() + omega_x * mass.bottomRows<3>());
  // ... of the axes, and by their turns, which change the momentum.
  const Eigen::Matrix<double, 6, 3> change = turning_of(mass, by);
  Eigen::Matrix<double, 6, 3> by_turn = turning_of(mass, turned_by(omega, by)) - turned_columns(omega, change);
  by_turn.bottomRows<3>() += omega_x * change.bottomRows<3>();
  out.body_axes.rightCols<3>() = b * (turning_of(mass, by_acceleration) - by_turn) + a * change;
  out.axes_axes.bottomRightCorner<3, 3>() = b * (v_x * change.topRows<3>() + omega_x * change.bottomRows<3>());
  return out;
}

double twice_added_energy(const Model& model, const State& s, int body) {
  double out = 0;
  const AddedMasses& added = model.added_mass;
  for (int k = added.first[body]; k < added.first[body + 1]; ++k) {
    const AddedMassBlock& block = added.blocks[k];
    const Quat to_axes = s.theta[block.axes].conjugate();
    Vec6 u, by;
    u << to_axes * Vec3(s.v(body)), to_axes * Vec3(s.omega(body));
    by << to_axes * Vec3(s.v(block.by)), to_axes * Vec3(s.omega(block.by));
    out += u.dot(block.mass * by);
  }
  return out;
}

}  // namespace rotule
