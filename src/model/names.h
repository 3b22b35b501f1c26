#pragma once
// Names for those who were given none: body_0, ball_1, wall_0, so that messages and files can speak of them.
#include <rotule/scene.h>

namespace rotule {

/// Names every unnamed body, joint and wall after its kind and position, avoiding the names that are taken.
void name_unnamed(Scene& scene);

/// "ball", "hinge", ... as in scene files.
std::string_view kind_of(const JointDef& joint);
const std::string& name_of(const JointDef& joint);
const Between& between(const JointDef& joint);

}  // namespace rotule
