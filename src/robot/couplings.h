#pragma once
// Joints that follow others (URDF's mimic, MJCF's equality of joints and of fixed tendons), as equations in text, so that scene
// files can hold them. With u and v two directions perpendicular to the axis and e a direction like u that the second body
// carries, the angle of a hinge is atan2(e . v, e . u); the travel of a slider is that of a point along the axis.
#include <rotule/joints.h>

#include <optional>
#include <string>
#include <vector>

#include "robot/tree.h"

namespace rotule::robot {

/// A hinge or slider as it was put into the scene.
struct PlacedJoint {
  Between between;
  bool turns = true;
  Vec3 at, axis;       // in the world, at the start
  double u = 0;        // q - rest at the start
  Pose first, second;  // frames of the two bodies at the start; that of "world" is the world's
};

/// The equation; nothing where it would take more bodies than one can.
std::optional<Constraint> coupling_constraint(const Coupling& coupling, const std::vector<PlacedJoint>& joints);

}  // namespace rotule::robot
