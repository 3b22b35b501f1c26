#pragma once
// Where a point is nearest to a part of a body, and the plane there that parts it from the part: for convex parts and triangles
// whatever is in front of that plane, wherever it goes, does not touch.
#include "collide/collision_world.h"

namespace rotule::realtime {

struct NearShape {
  bool meets = true;            // false: the plane parts, but touching it is no contact (inner edges of surfaces)
  bool near = true;             // false: further than asked, or behind a surface
  double distance = infinity;   // signed
  Vec3 normal = Vec3::UnitZ();  // towards the point
  Vec3 on = Vec3::Zero();       // on the part
};

/// Of a point x in the body's frame; `triangle` is of a surface, else ignored. `behind`: how deep below a triangle a point is
/// still brought back.
NearShape near_shape(const CollisionPart& part, int triangle, const Vec3& x, double reach, double behind);

}  // namespace rotule::realtime
