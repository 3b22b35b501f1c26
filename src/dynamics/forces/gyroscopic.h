#pragma once
// The gyroscopic torque -omega x I omega of Newton-Euler in world axes.
#include "dynamics/kinematics.h"

namespace rotule {

/// f += (0, -omega x I omega), computed in body axes, where I is constant.
inline void add_gyroscopic(const Model& model, const Kinematics& kinematics, VecX& f) {
  for (int i = 0; i < model.body_count(); ++i) {
    const BodyLanes<double>& body = kinematics.bodies[i];
    const Vec3 omega_B = body.R.transpose() * body.omega;
    const Vec3 L_B = model.inertia[i] * omega_B;
    f.segment<3>(6 * i + 3).noalias() -= body.R * omega_B.cross(L_B);
  }
}

/// The angular velocity after h seconds of free rotation by one implicit Euler step in body axes (one Newton iteration from
/// the present value): never gains energy, however fast the body spins.
///   I (w+ - w) + h w+ x I w+ = 0.
Vec3 implicit_gyroscopic_step(const Mat3& inertia, const Mat3& R, const Vec3& omega, double h);

}  // namespace rotule
