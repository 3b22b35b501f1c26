#pragma once
// Names for those who were given none: body_0, ball_1, wall_0, spring_2, so that messages and files can speak of them.
#include <rotule/scene.h>

#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// kind_position, or the next free number.
template <class Taken>
std::string free_name(std::string_view kind, std::size_t position, Taken&& taken) {
  for (std::size_t number = position;; ++number)
    if (std::string name = std::string(kind) + "_" + std::to_string(number); !taken(name)) return name;
}

/// Names every unnamed body, joint, wall, solid, force and group of particles after its kind and position, avoiding the names
/// that are taken.
void name_unnamed(Scene& scene);

/// "ball", "hinge", ... as in scene files.
std::string_view kind_of(const JointDef& joint);
const std::string& name_of(const JointDef& joint);
const Between& between(const JointDef& joint);
/// All partners by name: the two of `between`, then those beyond.
std::vector<std::string> partners_of(const JointDef& joint);
std::string_view kind_of(const SolidDef& solid);
const std::string& name_of(const SolidDef& solid);
std::string_view kind_of(const ForceDef& force);
std::string_view kind_of(const FlowDef& flow);
std::string_view kind_of(const StructureDef& structure);

}  // namespace rotule
