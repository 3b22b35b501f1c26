#pragma once
// What bodies turn by beyond their velocity times the step: those that turn about no principal axis.
#include "step/realtime/body_lines.h"

namespace rotule::realtime {

/// In a step of h, turning by omega, as finishing has it (kernels.h): by the velocity of the step's middle, omega' = I^-1 (L x
/// omega).
inline Vec3 swerve(const Model& model, int body, const Quat& q, const Vec3& omega, double h) {
  const Vec3 turning = q.conjugate() * omega;
  return 0.5 * h * h / (1 + h * h * omega.squaredNorm()) *
         (q * (model.inverse_inertia[body] * (model.inertia[body] * turning).cross(turning)));
}

/// I^(1/2) times a turn of a line's body, with its inertia as it is.
inline Vec3 whitened(const BodyLines& bodies, int line, const Vec3& turn) {
  const float* S = bodies.pose[line].at + 10;
  Mat3 root;
  root << S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5];
  return root.inverse() * turn;
}

}  // namespace rotule::realtime
