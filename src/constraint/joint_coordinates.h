#pragma once
// Where a joint stands along and about its free axes: the coordinate q of each and its rate dq/dt = J u (pool/drive.h), the same
// for motors, recordings and whoever asks.
#include <span>
#include <vector>

#include "constraint/pool/drive.h"

namespace rotule {

struct JointCoordinate {
  int axis = 0;         // 0 to 2 along x, y, z of the joint's frame, 3 to 5 about them
  double position = 0;  // m, rad; of three free rotations, a component of the rotation vector in the frame of the first body
  double rate = 0;      // m/s, rad/s; of three free rotations, of the relative angular velocity
};

/// Whether an axis is free; none is where the joint is no frame with some axes locked (rods, gears, functions), or holds a
/// particle.
bool is_free_axis(const Model& model, const Joint& joint, int axis);
/// All of them.
std::vector<int> free_axes(const Model& model, const Joint& joint);

/// One of them at this state.
JointCoordinate joint_coordinate(const Joint& joint, const State& state, int axis);

/// Torques and forces that motors exert whatever the speed (Drive::motor_torque), on both bodies.
void add_motor_torques(const Model& model, const State& state, VecX& forces);

}  // namespace rotule
