#include "constraint/joint_coordinates.h"

#include <algorithm>

namespace rotule {

namespace {

BodyLanes<double> moving_frame(const State& s, int body) {
  if (body == world_body) return {};
  return {s.p[body], s.theta[body].toRotationMatrix(), s.v(body), s.omega(body)};
}

}  // namespace

bool is_free_axis(const Model& model, const Joint& joint, int axis) {
  const bool has_frame = std::any_of(joint.locked.begin(), joint.locked.end(), [](bool locked) { return locked; });
  const auto is_particle = [&](int partner) { return partner != world_body && model.is_particle(partner); };
  return has_frame && !is_particle(joint.a) && !is_particle(joint.b) && axis >= 0 && axis < 6 && !joint.locked[axis];
}

std::vector<int> free_axes(const Model& model, const Joint& joint) {
  std::vector<int> out;
  for (int axis = 0; axis < 6; ++axis)
    if (is_free_axis(model, joint, axis)) out.push_back(axis);
  return out;
}

JointCoordinate joint_coordinate(const Joint& joint, const State& state, int axis) {
  const BodyLanes<double> A = moving_frame(state, joint.a), B = moving_frame(state, joint.b);
  const DriveAxis<double> along = axis_of(joint, axis, A, B);
  JointCoordinate out{axis, along.q, 0};
  out.rate = along.linear_a.dot(A.v) + along.angular_a.dot(A.omega) + along.linear_b.dot(B.v) + along.angular_b.dot(B.omega);
  const bool all_turn = !joint.locked[3] && !joint.locked[4] && !joint.locked[5];
  if (axis >= 3 && all_turn) {
    const auto frame = [&](int body, const Pose& X) {
      return body == world_body ? X.orientation : Quat(state.theta[body] * X.orientation);
    };
    out.position = log_rotation(frame(joint.a, joint.X_A).conjugate() * frame(joint.b, joint.X_B))[axis - 3];
  }
  return out;
}

void add_motor_torques(const Model& model, const State& state, VecX& forces) {
  for (const Joint& joint : model.joints)
    for (const Joint::AxisDrive& drive : joint.drives) {
      const double torque = drive.drive.motor_torque;
      if (torque == 0) continue;
      const DriveAxis<double> along = axis_of(joint, drive.axis, moving_frame(state, joint.a), moving_frame(state, joint.b));
      if (joint.a != world_body) {
        forces.segment<3>(6 * joint.a) += torque * along.linear_a;
        forces.segment<3>(6 * joint.a + 3) += torque * along.angular_a;
      }
      if (joint.b != world_body) {
        forces.segment<3>(6 * joint.b) += torque * along.linear_b;
        forces.segment<3>(6 * joint.b + 3) += torque * along.angular_b;
      }
    }
}

}  // namespace rotule
