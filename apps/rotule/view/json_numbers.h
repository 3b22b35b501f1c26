#pragma once
// Vectors and quaternions (w, x, y, z) as lists of numbers, as messages to the page have them.
#include <rotule/types.h>

#include <nlohmann/json.hpp>

namespace rotule::app {

using Json = nlohmann::ordered_json;

inline Json numbers(const Vec3& v) { return {v.x(), v.y(), v.z()}; }
inline Json numbers(const Quat& q) { return {q.w(), q.x(), q.y(), q.z()}; }

}  // namespace rotule::app
