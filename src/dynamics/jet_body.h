#pragma once
// A body's pose as second-order jets in the six small motions from variable `first` on (translation, then rotation vector, world
// axes): what functions that a user wrote are given.
#include "dynamics/kinematics.h"

namespace rotule {

/// `frame` is the origin of the body's frame, from its centre of mass, in body axes. What does not turn has no derivatives by
/// rotations.
JetBody jet_body(const BodyLanes<double>& body, const Vec3& frame, int first, bool turns = true);

}  // namespace rotule
