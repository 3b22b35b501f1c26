#pragma once
// The gyroscopic torque -omega x I omega of Newton-Euler in world axes, and that of added mass.
#include "dynamics/forces/added_mass.h"

namespace rotule {

/// f += what the momentum of the fluid around it does to a body.
inline void add_added_gyroscopic(const Model& model, const Kinematics& kinematics, int body, VecX& f) {
  const BodyLanes<double>& at = kinematics.bodies[body];
  if (model.movable(body)) f.segment<6>(6 * body) += gyroscopic_of(added_mass_in_world(model, body, at.R), at.v, at.omega);
}

/// f += (0, -omega x I omega), computed in body axes, where I is constant.
inline void add_gyroscopic(const Model& model, const Kinematics& kinematics, VecX& f, Gang* gang = nullptr) {
  share_pieces(gang, model.body_count(), [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      const BodyLanes<double>& body = kinematics.bodies[i];
      const Vec3 omega_B = body.R.transpose() * body.omega;
      const Vec3 L_B = model.inertia[i] * omega_B;
      f.segment<3>(6 * i + 3).noalias() -= body.R * omega_B.cross(L_B);
      if (model.has_added_mass()) add_added_gyroscopic(model, kinematics, i, f);
    }
  });
}

/// The angular velocity after h seconds of free rotation by one implicit Euler step in body axes (one Newton iteration from
/// the present value): never gains energy, however fast the body spins.
///   I (w+ - w) + h w+ x I w+ = 0.
Vec3 implicit_gyroscopic_step(const Mat3& inertia, const Mat3& R, const Vec3& omega, double h);

}  // namespace rotule
