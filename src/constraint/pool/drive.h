#pragma once
// Limits, motors, springs and dry friction on the free axes of joints (A3). With q the angle or travel of b relative to a and
// dq/dt = J u, steps by impulses have rows of one body pair each:
//   limits     w = J u + (q - lower)/h >= 0, x >= 0, and the mirror image for the upper one; w = J u + e (J u)_before where it is
//              met within the step and bounces,
//   motor      w = J u - speed,  |x| <= h strength,
//   friction   w = J u,          |x| <= h friction,
//   spring     w = J u + C x + bias, taken at the step's end: C = 1/(h (h k + d)), bias = (q - rest) k/(h k + d).
// A given motion, and at acceleration level whatever holds an axis, is a row of the joint's own block (locked_axes.h):
//   C = q - target(t),  C_t = -target',  gamma = J' u - target''.
// Where nothing holds it, a rotor's row stands there, at acceleration level: J u' + gamma + lambda/I = 0. It asks for no rate and
// no position, C = 0 and C_t = -J u, so that wherever rows are solved it is no more than inertia.
#include <rotule/problem.h>

#include <array>
#include <numbers>
#include <vector>

#include "constraint/rows.h"

#include "dynamics/kinematics.h"

namespace rotule {

struct DriveRow {
  enum class Kind : std::uint8_t { lower, upper, motor, friction, spring };
  Kind kind = Kind::motor;
  std::array<char, 3> spare = {};  // no byte of a snapshot is left to chance
  int joint = 0, axis = 0;
  int a = world_body, b = world_body;
  std::array<char, 4> more_spare = {};
  double bias = 0;  // w = J u + C x + bias
  Vec6 J_a = Vec6::Zero(), J_b = Vec6::Zero();
  double given = 0;                            // of that, what a kinematic partner does
  double compliance = 0;                       // C
  double lower = -infinity, upper = infinity;  // impulses
  double overshoot = 0;                        // m, rad: how far a limit is exceeded
  double x = 0;                                // the last answer
};
static_assert(sizeof(DriveRow) == 24 + 19 * sizeof(double), "has holes");

/// The coordinate q of a free axis and its gradient, for any lane type.
template <class L>
struct DriveAxis {
  L q;
  Vec3L<L> linear_a, angular_a, linear_b, angular_b;

  [[nodiscard]] L rate(const BodyLanes<L>& A, const BodyLanes<L>& B) const {
    return linear_a.dot(A.v) + angular_a.dot(A.omega) + linear_b.dot(B.v) + angular_b.dot(B.omega);
  }
};

/// Which angle the turn about axis k of the frame is. One free rotation: that from one frame to the other. Two, rotation l being
/// locked: Cardan's angles, the first about axis l + 1 of a, the second about axis l + 2 of b, which stay perpendicular. Three:
/// there is no such angle, but a rate about an axis of a.
inline bool is_second(const Joint& joint, int k) { return joint.locked[3 + (k + 1) % 3] && !joint.locked[3 + (k + 2) % 3]; }

/// Frames as columns in world axes; `second`: Cardan's second angle.
template <class L>
DriveAxis<L> turning_axis(int k, bool second, const Mat3L<L>& frame_a, const Mat3L<L>& frame_b) {
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const Vec3L<L> n = second ? frame_b.col(k) : frame_a.col(k), none = Vec3L<L>::Zero();
  const L q = second ? angle_of(frame_b.col(i).dot(frame_a.col(j)), frame_b.col(j).dot(frame_a.col(j)))
                     : angle_of(frame_a.col(j).dot(frame_b.col(i)), frame_a.col(i).dot(frame_b.col(i)));
  return {q, none, -n, none, n};
}

/// Along the direction n that a carries, between the joint's points of both.
template <class L>
DriveAxis<L> sliding_axis(const Vec3L<L>& n, const BodyLanes<L>& A, const BodyLanes<L>& B, const Vec3L<L>& r_a,
                          const Vec3L<L>& r_b) {
  const Vec3L<L> x_b = B.p + B.R * r_b;
  const Vec3L<L> x_a = A.p + A.R * r_a;
  return {n.dot(x_b - x_a), -n, -(x_b - A.p).cross(n), n, (x_b - B.p).cross(n)};
}

/// The coordinate of a free axis, 0 to 5 for x, y, z and the rotations about them.
DriveAxis<double> axis_of(const Joint& joint, int axis, const BodyLanes<double>& A, const BodyLanes<double>& B);
/// The axis of a joint, 0 to 5, at this state.
DriveAxis<double> drive_axis(const Joint& joint, int axis, const Kinematics& bodies);

/// Whether there is a coordinate, and not a rate alone: about axes of which all three are free there is none.
inline bool has_coordinate(const Joint& joint, int axis) {
  return axis < 3 || joint.locked[3] || joint.locked[4] || joint.locked[5];
}

/// q less a target; for angles by the shorter way.
inline double beyond(double q, double target, bool angle) {
  const double difference = q - target;
  if (!angle || std::abs(difference) <= std::numbers::pi) return difference;
  return std::remainder(difference, 2 * std::numbers::pi);
}

/// A free axis with a row of its own: always in force where its motion is given, else as long as something holds it at
/// q = anchor + speed (t - since).
struct DrivenAxis {
  int drive = 0;  // of the joint's
  bool in_force = false;
  double anchor = 0, since = 0, speed = 0;
};

/// Its row at this state; where it is not in force, a rotor's, or all zero.
Row<double> driven_row(const Joint& joint, const DrivenAxis& driven, const BodyLanes<double>& a, const BodyLanes<double>& b,
                       double t);
/// lambda times the row's second derivatives.
void add_driven_hessian(const Joint& joint, const DrivenAxis& driven, const BodyLanes<double>& a, const BodyLanes<double>& b,
                        double lambda, Eigen::Matrix<double, 12, 12>& H);

/// q'' of an axis for accelerations laid out as u, of bodies that move.
double axis_acceleration(const Model& model, const Joint& joint, int axis, const Kinematics& bodies, const VecX& udot);

/// Rows of all driven joints at this state, for a step of h. Answers of rows that were there before stay with them.
void evaluate_drives(const Model& model, const Kinematics& bodies, double h, std::vector<DriveRow>& rows);

}  // namespace rotule
