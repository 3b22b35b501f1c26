#pragma once
// Limits, motors, springs and dry friction on the free axes of joints (A3), as rows of one body pair each. With q the angle or
// travel of b relative to a and dq/dt = J u:
//   limits     w = J u + (q - lower)/h >= 0, x >= 0, and the mirror image for the upper one,
//   motor      w = J u - speed,  |x| <= h strength,
//   friction   w = J u,          |x| <= h friction,
//   spring     w = J u + C x + bias, taken at the step's end: C = 1/(h (h k + d)), bias = (q - rest) k/(h k + d).
#include <rotule/problem.h>

#include <vector>

#include "dynamics/kinematics.h"

namespace rotule {

struct DriveRow {
  enum class Kind : std::uint8_t { lower, upper, motor, friction, spring };
  Kind kind = Kind::motor;
  int joint = 0, axis = 0;
  int a = world_body, b = world_body;
  Vec6 J_a = Vec6::Zero(), J_b = Vec6::Zero();
  double bias = 0;                             // w = J u + C x + bias
  double compliance = 0;                       // C
  double lower = -infinity, upper = infinity;  // impulses
  double overshoot = 0;                        // m, rad: how far a limit is exceeded
  double x = 0;                                // the last answer
};

/// Rows of all driven joints at this state, for a step of h. Answers of rows that were there before stay with them.
void evaluate_drives(const Model& model, const Kinematics& bodies, double h, std::vector<DriveRow>& rows);

}  // namespace rotule
