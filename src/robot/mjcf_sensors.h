#pragma once
#include <map>
#include <string>

#include "robot/mjcf_ties.h"

namespace rotule::robot {

/// <sensor>; those that have no counterpart are left out, with a remark.
void read_sensors(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons, Tree& tree);

}  // namespace rotule::robot
