#include "constraint/drives.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rotule {

namespace {

struct Axis {
  double q = 0;
  Vec6 J_a = Vec6::Zero(), J_b = Vec6::Zero();
};

/// About an axis of the frame. One free rotation: the angle from one frame to the other. Two, rotation l being locked: Cardan's
/// angles, the first about axis l + 1 of a, the second about axis l + 2 of b, which stay perpendicular. Three: there is no such
/// angle, but a rate about an axis of a.
Axis rotation_about(int k, const Joint& joint, const Mat3& frame_a, const Mat3& frame_b) {
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const bool second = joint.locked[3 + i] && !joint.locked[3 + j];
  const Vec3 n = second ? frame_b.col(k) : frame_a.col(k);
  Axis out;
  out.q = second ? std::atan2(frame_b.col(i).dot(frame_a.col(j)), frame_b.col(j).dot(frame_a.col(j)))
                 : std::atan2(frame_a.col(j).dot(frame_b.col(i)), frame_a.col(i).dot(frame_b.col(i)));
  out.J_a << Vec3::Zero(), -n;
  out.J_b << Vec3::Zero(), n;
  return out;
}

Axis axis_of(const Joint& joint, int axis, const Kinematics& bodies) {
  const BodyLanes<double>&A = bodies[joint.a], &B = bodies[joint.b];
  const Mat3 frame_a = A.R * joint.X_A.orientation.toRotationMatrix(), frame_b = B.R * joint.X_B.orientation.toRotationMatrix();
  if (axis >= 3) return rotation_about(axis - 3, joint, frame_a, frame_b);
  const Vec3 n = frame_a.col(axis), x_b = B.p + B.R * joint.X_B.position;
  Axis out;
  out.q = n.dot(x_b - (A.p + A.R * joint.X_A.position));
  out.J_a << -n, -(x_b - A.p).cross(n);
  out.J_b << n, (x_b - B.p).cross(n);
  return out;
}

}  // namespace

void evaluate_drives(const Model& model, const Kinematics& bodies, double h, std::vector<DriveRow>& rows) {
  // New rows go behind the old ones, which then leave: no memory besides.
  const std::size_t old_count = rows.size();
  std::size_t last = 0;
  const auto evaluate = [&](int j, int number, const Drive& drive) {
    const Joint& joint = model.joints[j];
    const Axis axis = axis_of(joint, number, bodies);
    const auto add = [&](DriveRow::Kind kind, double sign) -> DriveRow& {
      DriveRow& row = rows.emplace_back();
      row.kind = kind;
      row.joint = j;
      row.axis = number;
      row.a = joint.a;
      row.b = joint.b;
      row.J_a = sign * axis.J_a;
      row.J_b = sign * axis.J_b;
      const auto before = [](const DriveRow& p, const DriveRow& q) {
        return std::tuple(p.joint, p.axis, p.kind) < std::tuple(q.joint, q.axis, q.kind);
      };
      while (last < old_count && before(rows[last], row)) ++last;
      if (last < old_count && !before(row, rows[last])) row.x = rows[last].x;
      return row;
    };
    const auto limit = [&](DriveRow::Kind kind, double sign, double room) {
      DriveRow& row = add(kind, sign);
      row.lower = 0;
      row.bias = std::max(room, 0.0) / h;
      row.overshoot = -room;
    };
    if (drive.lower) limit(DriveRow::Kind::lower, 1, axis.q - *drive.lower);
    if (drive.upper) limit(DriveRow::Kind::upper, -1, *drive.upper - axis.q);
    const auto bounded = [&](DriveRow::Kind kind, double most, double speed) {
      DriveRow& row = add(kind, 1);
      row.lower = -h * most;
      row.upper = h * most;
      row.bias = -speed;
    };
    if (drive.motor_strength > 0) bounded(DriveRow::Kind::motor, drive.motor_strength, drive.motor_speed);
    if (drive.friction > 0) bounded(DriveRow::Kind::friction, drive.friction, 0);
    if (drive.stiffness > 0 || drive.damping > 0) {
      DriveRow& row = add(DriveRow::Kind::spring, 1);
      row.compliance = 1 / (h * (h * drive.stiffness + drive.damping));
      row.bias = (axis.q - drive.rest) * drive.stiffness / (h * drive.stiffness + drive.damping);
    }
  };
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j)
    for (const Joint::AxisDrive& drive : model.joints[j].drives) evaluate(j, drive.axis, drive.drive);
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(old_count));
}

}  // namespace rotule
