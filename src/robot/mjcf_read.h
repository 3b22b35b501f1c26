#pragma once
// MJCF, as public collections of models use it: nested bodies with classes of defaults, joints one after the other in a body,
// geoms, meshes, actuators, equalities, fixed tendons, keyframes.
#include "robot/tree.h"

namespace rotule::robot {

Tree read_mjcf(const Element& root, const RobotOptions& options, Remarks& remarks);

}  // namespace rotule::robot
