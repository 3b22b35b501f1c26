#pragma once
// What the motors of one joint do together, at given activations: a servo's spring and damper, and a torque.
#include <rotule/robots.h>

#include <optional>

namespace rotule::robot {

struct JointMotor {
  double stiffness = 0, pull = 0, damping = 0;  // pull - stiffness q - damping q'
  double torque = 0;
  std::optional<double> strength;  // of the servo

  /// Adds what an actuator does through one of the joints that it moves.
  void add(const RobotActuator& actuator, const RobotActuator::Moved& moved, double activation);
  /// Bounds of all together.
  void bound(const RobotActuator::Range& torques);
};

}  // namespace rotule::robot
