#include "constraint/joint_coordinates.h"

#include <algorithm>
#include <cmath>

#include "constraint/pool/drive.h"

namespace rotule {

namespace {

BodyLanes<double> partner_lanes(const Model& model, const State& s, int partner) {
  BodyLanes<double> out;
  if (partner == world_body) return out;
  const VelocitySlot slot = model.slot(partner);
  out.v = s.u.segment<3>(slot.first);
  if (model.is_particle(partner)) {
    out.p = s.particle_position(model.particle_of(partner));
    return out;
  }
  out.p = s.p[partner];
  out.R = s.theta[partner].toRotationMatrix();
  out.omega = s.omega(partner);
  return out;
}

/// Rods, gears and functions lock no axis of a frame.
bool has_frame(const Joint& joint) {
  return std::any_of(joint.locked.begin(), joint.locked.end(), [](bool locked) { return locked; });
}

/// Calls take(axis, coordinate and gradient) for the free axes that have an angle or a travel of their own.
template <class Take>
void for_each_free_axis(const Joint& joint, const BodyLanes<double>& A, const BodyLanes<double>& B, Take&& take) {
  if (!has_frame(joint)) return;
  const Mat3 frame_a = A.R * joint.X_A.orientation.toRotationMatrix(), frame_b = B.R * joint.X_B.orientation.toRotationMatrix();
  for (int axis = 0; axis < 6; ++axis) {
    if (joint.locked[axis]) continue;
    if (axis < 3)
      take(axis, sliding_axis<double>(frame_a.col(axis), A, B, joint.X_A.position, joint.X_B.position));
    else
      take(axis, turning_axis<double>(axis - 3, is_second(joint, axis - 3), frame_a, frame_b));
  }
}

bool turns_freely(const Joint& joint) { return has_frame(joint) && !joint.locked[3] && !joint.locked[4] && !joint.locked[5]; }

}  // namespace

JointCoordinates joint_position(const Model& model, const Joint& joint, const State& s) {
  const BodyLanes<double> A = partner_lanes(model, s, joint.a), B = partner_lanes(model, s, joint.b);
  JointCoordinates out = JointCoordinates::Zero();
  for_each_free_axis(joint, A, B, [&](int axis, const DriveAxis<double>& of) { out[axis] = of.q; });
  if (turns_freely(joint)) {
    const Quat a = Quat(A.R) * joint.X_A.orientation, b = Quat(B.R) * joint.X_B.orientation;
    out.tail<3>() = log_rotation(a.conjugate() * b);
  }
  return out;
}

JointCoordinates joint_rate(const Model& model, const Joint& joint, const State& s) {
  const BodyLanes<double> A = partner_lanes(model, s, joint.a), B = partner_lanes(model, s, joint.b);
  JointCoordinates out = JointCoordinates::Zero();
  for_each_free_axis(joint, A, B, [&](int axis, const DriveAxis<double>& of) { out[axis] = of.rate(A, B); });
  return out;
}

double rotor_energy(const Model& model, const State& s) {
  double twice = 0;
  for (const Joint& joint : model.joints)
    for (const auto& [number, drive] : joint.drives) {
      if (drive.armature == 0) continue;
      const BodyLanes<double> A = partner_lanes(model, s, joint.a), B = partner_lanes(model, s, joint.b);
      const double rate = axis_of(joint, number, A, B).rate(A, B);
      twice += drive.armature * rate * rate;
    }
  return 0.5 * twice;
}

DriveForces drive_forces(std::span<const DriveRow> rows, int joint, double per_second) {
  DriveForces out;
  for (const DriveRow& row : rows) {
    if (row.joint != joint) continue;
    const double sign = row.kind == DriveRow::Kind::upper ? -1 : 1;
    (row.kind == DriveRow::Kind::motor ? out.motor : out.passive)[row.axis] += sign * per_second * row.x;
  }
  return out;
}

JointMotion joint_motion(const Model& model, const Joint& joint, const State& s, const DriveForces& forces) {
  const JointCoordinates position = joint_position(model, joint, s), rate = joint_rate(model, joint, s);
  JointMotion out;
  out.displacement = position.head<3>();
  out.angle = position.tail<3>();
  out.displacement_rate = rate.head<3>();
  out.angular_rate = rate.tail<3>();
  out.motor_force = forces.motor.head<3>();
  out.motor_torque = forces.motor.tail<3>();
  out.passive_force = forces.passive.head<3>();
  out.passive_torque = forces.passive.tail<3>();
  out.motor_power = forces.motor.dot(rate);
  return out;
}

double joint_spring_potential(const Model& model, const State& s) {
  double sum = 0;
  for (const Joint& joint : model.joints) {
    if (std::none_of(joint.drives.begin(), joint.drives.end(), [](const auto& axis) { return axis.drive.stiffness > 0; }))
      continue;
    const BodyLanes<double> A = partner_lanes(model, s, joint.a), B = partner_lanes(model, s, joint.b);
    for_each_free_axis(joint, A, B, [&](int axis, const DriveAxis<double>& of) {
      for (const Joint::AxisDrive& each : joint.drives)
        if (each.axis == axis) sum += 0.5 * each.drive.stiffness * std::pow(beyond(of.q, each.drive.rest, axis >= 3), 2);
    });
  }
  return sum;
}

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

}  // namespace rotule
