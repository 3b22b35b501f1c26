#pragma once
// What reader, writer and schema share about the form of scene files.
#include <rotule/recipe.h>
#include <rotule/scene.h>

#include <string>
#include <string_view>

#include "model/scene_fields.h"

namespace rotule {

inline constexpr int scene_version = 1;

/// Another way to write an orientation.
struct AxisAngle {
  Vec3 axis = Vec3::Zero();
  double angle = 0;
};
template <>
struct SceneFields<AxisAngle> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"axis", "", "direction of the axis"}, s.axis, Need::required);
    visit(Field{"angle", "rad", "right-handed about the axis"}, s.angle, Need::required);
  }
};

/// Alternatives of joints, shapes, solids and forces that files can hold.
template <class T>
inline constexpr bool in_files = !std::is_same_v<T, std::monostate> && !std::is_same_v<T, UserForce>;

/// The recipe as it would stand in a scene file, every field written out: recordings must outlive today's defaults.
std::string to_complete_json(const Recipe& recipe);

// Single parts as they would stand in a scene file, for those who add them to a world that runs, which checks what they mean
// there. Mesh files that a shape names are read. All throw Error with the place.
BodyDef parse_body(std::string_view text);
JointDef parse_joint(std::string_view text);
ForceDef parse_force(std::string_view text);
Shape parse_shape(std::string_view text);

}  // namespace rotule
