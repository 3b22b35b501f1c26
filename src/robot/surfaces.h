#pragma once
// Who touches whom, and how it slides. MJCF has two masks per geom: a and b touch where contype of one and conaffinity of the
// other have a bit in common; pairs can be excluded, or named outright, besides. A scene says it by layers, of which a world has
// 32: bodies share one where all others meet them alike.
#include <rotule/scene.h>

#include <array>
#include <optional>
#include <vector>

#include "robot/xml_file.h"

namespace rotule::robot {

/// What a body's geoms say together.
struct Surface {
  std::array<double, 3> friction{0.5, 0, 0};
  bool slides_freely = false;  // MJCF's condim of 1: without friction, unless the other surface says otherwise
  double priority = 0;         // of two surfaces the one with more says alone how they slide
  unsigned contype = 1, conaffinity = 1;
  bool touches = true;
};

/// Two bodies that touch whatever their masks say, and how they slide, where that is said.
struct TouchingPair {
  Between between;
  std::optional<double> friction;
  Element element;
};

/// Layers and materials of all bodies of the scene, in its order. `largest`: of two coefficients the larger counts.
void say_who_touches(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded,
                     const std::vector<TouchingPair>& pairs, bool largest, Remarks& remarks);

}  // namespace rotule::robot
