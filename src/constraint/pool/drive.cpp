#include "constraint/pool/drive.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rotule {

DriveAxis<double> axis_of(const Joint& joint, int axis, const BodyLanes<double>& A, const BodyLanes<double>& B) {
  const Mat3 frame_a = A.R * joint.X_A.orientation.toRotationMatrix(), frame_b = B.R * joint.X_B.orientation.toRotationMatrix();
  if (axis >= 3) return turning_axis<double>(axis - 3, is_second(joint, axis - 3), frame_a, frame_b);
  return sliding_axis<double>(frame_a.col(axis), A, B, joint.X_A.position, joint.X_B.position);
}

void evaluate_drives(const Model& model, const Kinematics& bodies, double h, std::vector<DriveRow>& rows) {
  // New rows go behind the old ones, which then leave: no memory besides.
  const std::size_t old_count = rows.size();
  std::size_t last = 0;
  const auto evaluate = [&](int j, int number, const Drive& drive) {
    const Joint& joint = model.joints[j];
    const DriveAxis<double> axis = axis_of(joint, number, bodies[joint.a], bodies[joint.b]);
    const auto add = [&](DriveRow::Kind kind, double sign) -> DriveRow& {
      DriveRow& row = rows.emplace_back();
      row.kind = kind;
      row.joint = j;
      row.axis = number;
      row.a = joint.a;
      row.b = joint.b;
      row.J_a << sign * axis.linear_a, sign * axis.angular_a;
      row.J_b << sign * axis.linear_b, sign * axis.angular_b;
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
  // What a kinematic partner does is known.
  if (!model.has_kinematic()) return;
  for (DriveRow& row : rows) {
    if (model.kinematic(row.a)) row.given += row.J_a.dot(bodies.velocity(row.a));
    if (model.kinematic(row.b)) row.given += row.J_b.dot(bodies.velocity(row.b));
    row.bias += row.given;
  }
}

}  // namespace rotule
