#pragma once
// Who touches whom, and how it slides. MJCF has two masks per geom: a and b touch where contype of one and conaffinity of the
// other have a bit in common; pairs can be excluded besides. A scene says it by layers, one for every way of behaving that
// occurs.
#include <rotule/scene.h>

#include <array>
#include <vector>

#include "robot/xml_file.h"

namespace rotule::robot {

/// What a body's geoms say together.
struct Surface {
  std::array<double, 3> friction{0.5, 0, 0};
  unsigned contype = 1, conaffinity = 1;
  bool touches = true;
};

/// Layers and materials of all bodies of the scene, in its order. `largest`: of two coefficients the larger counts.
void say_who_touches(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded, bool largest,
                     Remarks& remarks);

}  // namespace rotule::robot
