#pragma once
// The gyroscopic torque -omega x I omega of Newton-Euler in world axes, and that of added mass.
#include "dynamics/forces/added_mass.h"

namespace rotule {

/// f += (0, -omega x I omega), computed in body axes, where I is constant, and what the fluid's momentum does.
inline void add_gyroscopic(const Model& model, const Kinematics& kinematics, VecX& f, Gang* gang = nullptr) {
  share_pieces(gang, model.body_count(), [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      const BodyLanes<double>& body = kinematics.bodies[i];
      const Vec3 omega_B = body.R.transpose() * body.omega;
      const Vec3 L_B = model.inertia[i] * omega_B;
      f.segment<3>(6 * i + 3).noalias() -= body.R * omega_B.cross(L_B);
    }
  });
  if (model.has_added_mass()) add_added_gyroscopic(model, motion_of(kinematics), f);
}

/// The angular velocity after h seconds of free rotation by one implicit Euler step in body axes (one Newton iteration from
/// the present value): never gains energy, however fast the body spins.
///   I (w+ - w) + h w+ x I w+ = 0.
Vec3 implicit_gyroscopic_step(const Mat3& inertia, const Mat3& R, const Vec3& omega, double h);

}  // namespace rotule
