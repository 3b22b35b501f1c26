#pragma once
// What a page must know before the first frame: bodies and their shapes, joints, springs, faces, the recipe and its fields.
#include <rotule/world.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/quantity_list.h"
#include "record/view_stream.h"

namespace rotule::app {

struct Bounds {
  Vec3 low = Vec3::Constant(infinity), high = Vec3::Constant(-infinity);
  void include(const Vec3& point, double radius = 0) {
    low = low.cwiseMin(point - Vec3::Constant(radius));
    high = high.cwiseMax(point + Vec3::Constant(radius));
  }
  [[nodiscard]] bool empty() const { return !(low.x() <= high.x()); }
  [[nodiscard]] double diagonal() const { return empty() ? 0 : (high - low).norm(); }
};

/// Around everything that has an extent, as it stands now, the fluid's box included.
Bounds bounds_of(const World& world);
/// A ten-thousandth of a metre, finer for small scenes, coarser for those of astronomers.
ViewQuanta quanta_for(const Bounds& bounds);

/// The numbers that every frame of a world carries; a recording's frames carry those that its file holds.
const std::vector<const Quantity*>& live_numbers();

/// How exact the run on show should be, where somebody turned the dial: a setting, or a relative error.
struct Turned {
  std::string setting;
  std::optional<double> accuracy;
};

/// A plane of a fluid: across an axis, at a coordinate.
struct FluidPlane {
  int axis = 1;
  double at = 0;  // m
};
/// Across the flat axis or, where none is, y: through the middle.
FluidPlane middle_plane(const FluidDef& fluid);

struct SceneMessage {
  std::uint16_t generation = 0;
  bool live = true;
  std::string name;
  double duration = 0;  // s
  double pace = 1;      // s per second of the clock, at which it is well watched
  Bounds bounds;
  ViewQuanta quanta;
  std::vector<const Quantity*> numbers;
  Turned dial;
  std::optional<FluidPlane> plane = {};  // of the fluid, where one is to be seen
};
/// The text of the "scene" message. `scene` says what the world was made of.
std::string scene_message(const SceneMessage& about, const Scene& scene, const World& world);

}  // namespace rotule::app
