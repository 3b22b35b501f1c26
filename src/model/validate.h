#pragma once
// Whether a scene makes sense: numbers finite and in range, names unique and known, masses and inertias physical, joints
// between things that can move. Scenes written in C++ and read from files go through the same checks. What is wrong is told
// by a JSON pointer and a remedy: `/bodies/3/mass: must be greater than 0, is -1`.
#include <rotule/fields.h>
#include <rotule/scene.h>

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/place.h"

namespace rotule {

/// Throws Error at the first thing that makes no sense.
void validate(const Scene& scene);
void validate(const Recipe& recipe, const Place& place);

/// One body by itself: all but the uniqueness of its name.
void validate(const BodyDef& body, std::span<const Material> materials, const Place& place);

/// What a name in a joint stands for.
struct JointPartner {
  bool fixed = false;
  bool particle = false;
};
/// The partner of that name; nothing where there is none. "world" is not asked for.
using FindPartner = std::function<std::optional<JointPartner>(const std::string&)>;
/// One joint by itself: all but the uniqueness of its name, and whether its particles are pinned and where its points are. Bodies
/// that are not found throw, without a suggestion.
void validate(const JointDef& joint, const FindPartner& find, const Place& place);

/// Throws unless the number is finite and within the field's range.
void check_range(const Place& place, const Field& field, double value);

}  // namespace rotule
