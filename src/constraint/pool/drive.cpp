#include "constraint/pool/drive.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "constraint/hessians.h"
#include "math/rotation.h"

namespace rotule {

DriveAxis<double> axis_of(const Joint& joint, int axis, const BodyLanes<double>& A, const BodyLanes<double>& B) {
  const Mat3 frame_a = A.R * joint.X_A.orientation.toRotationMatrix(), frame_b = B.R * joint.X_B.orientation.toRotationMatrix();
  if (axis >= 3) return turning_axis<double>(axis - 3, is_second(joint, axis - 3), frame_a, frame_b);
  return sliding_axis<double>(frame_a.col(axis), A, B, joint.X_A.position, joint.X_B.position);
}

DriveAxis<double> drive_axis(const Joint& joint, int axis, const Kinematics& bodies) {
  return axis_of(joint, axis, bodies[joint.a], bodies[joint.b]);
}

namespace {

/// J' u: an axis turns with the body that carries it.
double turning_term(const Joint& joint, int number, const DriveAxis<double>& axis, const BodyLanes<double>& a,
                    const BodyLanes<double>& b) {
  if (number >= 3) return a.omega.dot(axis.angular_b.cross(b.omega));  // the axis turns with one of the two
  const JointPoint<double> point(a, b, joint.X_A.position, joint.X_B.position);
  return -slide_row<double>(point, a, axis.linear_b).gamma;
}

}  // namespace

Row<double> driven_row(const Joint& joint, const DrivenAxis& driven, const BodyLanes<double>& a, const BodyLanes<double>& b,
                       double t) {
  const Vec3 none = Vec3::Zero();
  const auto& [number, drive] = joint.drives[driven.drive];
  if (!driven.in_force && drive.armature == 0) return {0, 0, none, none, none, none};
  const DriveAxis<double> axis = axis_of(joint, number, a, b);
  const double gamma = turning_term(joint, number, axis, a, b);
  if (!driven.in_force) return {0, gamma, axis.linear_a, axis.angular_a, axis.linear_b, axis.angular_b, -axis.rate(a, b)};
  const auto [value, rate, acceleration] =
      drive.motion ? drive.motion->at(t) : std::array{driven.anchor + driven.speed * (t - driven.since), driven.speed, 0.0};
  const double C = has_coordinate(joint, number) ? beyond(axis.q, value, number >= 3) : 0;
  return {C, gamma - acceleration, axis.linear_a, axis.angular_a, axis.linear_b, axis.angular_b, -rate};
}

void add_driven_hessian(const Joint& joint, const DrivenAxis& driven, const BodyLanes<double>& a, const BodyLanes<double>& b,
                        double lambda, Mat12& H) {
  if (!driven.in_force) return;
  const int number = joint.drives[driven.drive].axis;
  const DriveAxis<double> axis = axis_of(joint, number, a, b);
  if (number < 3) {
    const JointPoint<double> point(a, b, joint.X_A.position, joint.X_B.position);
    add_slide_hessian(-lambda, axis.linear_b, point.e - point.rho_a, point.rho_b, H);
  } else {
    // Half of what the axis' turning does, on either side: second derivatives are symmetric.
    const Mat3 turned = 0.5 * lambda * skew(axis.angular_b);
    H.block<3, 3>(3, 9) += turned;
    H.block<3, 3>(9, 3) -= turned;
  }
}

double axis_acceleration(const Model& model, const Joint& joint, int axis, const Kinematics& bodies, const VecX& udot) {
  const DriveAxis<double> at = drive_axis(joint, axis, bodies);
  double out = turning_term(joint, axis, at, bodies[joint.a], bodies[joint.b]);
  const auto add = [&](int body, const Vec3& linear, const Vec3& angular) {
    if (body == world_body) return;
    const Vec6 own = model.movable(body) ? Vec6(udot.segment<6>(6 * body)) : bodies.given_acceleration(body);
    out += linear.dot(own.head<3>()) + angular.dot(own.tail<3>());
  };
  add(joint.a, at.linear_a, at.angular_a);
  add(joint.b, at.linear_b, at.angular_b);
  return out;
}

void evaluate_drives(const Model& model, const Kinematics& bodies, double h, std::vector<DriveRow>& rows) {
  // New rows go behind the old ones, which then leave: no memory besides.
  const std::size_t old_count = rows.size();
  std::size_t last = 0;
  const auto evaluate = [&](int j, int number, const Drive& drive) {
    const Joint& joint = model.joints[j];
    const DriveAxis<double> axis = drive_axis(joint, number, bodies);
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
    const BodyLanes<double>&A = bodies[joint.a], &B = bodies[joint.b];
    const double rate = axis.rate(A, B);
    const auto limit = [&](DriveRow::Kind kind, double sign, double room) {
      DriveRow& row = add(kind, sign);
      row.lower = 0;
      const bool bounces = drive.restitution > 0 && sign * rate < 0 && room + h * sign * rate < 0;
      row.bias = bounces ? drive.restitution * sign * rate : std::max(room, 0.0) / h;
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
      row.bias = beyond(axis.q, drive.rest, number >= 3) * drive.stiffness / (h * drive.stiffness + drive.damping);
      if (drive.spring_strength > 0) {
        row.lower = -h * drive.spring_strength;
        row.upper = h * drive.spring_strength;
      }
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
