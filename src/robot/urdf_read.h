#pragma once
// URDF: a flat list of links and joints that form a tree. Angles in radians, rpy about fixed axes x, y, z.
#include "robot/tree.h"

namespace rotule::robot {

Tree read_urdf(const Element& root, const RobotOptions& options, Remarks& remarks);

}  // namespace rotule::robot
