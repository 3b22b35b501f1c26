#pragma once
#include <span>
#include <vector>

#include "robot/tree.h"

namespace rotule::robot {

/// The tree's sensors by the names of the scene's bodies and joints. `holder`: the link whose body each link is part of, and
/// `in_holder` where it stands in that; joints that are not there any more take their sensors along, with a remark.
std::vector<RobotSensor> seat_sensors(const Tree& tree, std::span<const std::size_t> holder, std::span<const Pose> in_holder,
                                      Remarks& remarks);

}  // namespace rotule::robot
