#include "robot/sensor_seats.h"

#include "math/pose.h"

namespace rotule::robot {

std::vector<RobotSensor> seat_sensors(const Tree& tree, std::span<const std::size_t> holder, std::span<const Pose> in_holder,
                                      Remarks& remarks) {
  const auto body = [&](int link) { return tree.links[holder[static_cast<std::size_t>(link)]].name; };
  const auto seated = [&](const TreeSensor::Seat& seat) -> RobotSensor::Seat {
    if (seat.link < 0) return {"world", seat.pose};
    return {body(seat.link), in_holder[static_cast<std::size_t>(seat.link)] * seat.pose};
  };
  std::vector<RobotSensor> out;
  for (const TreeSensor& sensor : tree.sensors) {
    RobotSensor law = sensor.law;
    if (sensor.seat) law.at = seated(*sensor.seat);
    if (sensor.against) law.against = seated(*sensor.against);
    bool whole = true;
    for (const auto& [place, factor] : sensor.joints) {
      const std::vector<TreeJoint>& joints = tree.links[static_cast<std::size_t>(place.link)].joints;
      whole = whole && static_cast<std::size_t>(place.joint) < joints.size();
      if (!whole) break;
      const TreeJoint& joint = joints[static_cast<std::size_t>(place.joint)];
      law.joints.push_back({joint.name, factor, joint.zero});
    }
    if (!whole) {
      sensor.element.remark(remarks, sensor.element.title(), "is left out: its joint is held fast");
      continue;
    }
    std::vector<bool> carried(tree.links.size(), false);
    for (std::size_t i = 0; sensor.above && i < tree.links.size(); ++i) {
      const TreeLink& link = tree.links[i];
      carried[i] = *sensor.above < 0 || static_cast<int>(i) == *sensor.above ||
                   (link.parent >= 0 && carried[static_cast<std::size_t>(link.parent)]);
      if (!carried[i] || !link.inertial) continue;
      const MassProperties m = seen_from(in_holder[i], *link.inertial);
      law.parts.push_back({body(static_cast<int>(i)), m.mass, m.center_of_mass, m.inertia, 1 - link.held_up});
    }
    out.push_back(std::move(law));
  }
  return out;
}

}  // namespace rotule::robot
