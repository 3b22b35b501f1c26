#pragma once
// Where a ray origin + t direction first meets a convex shape, in closed form: quadratics for round shapes, the latest entry and
// earliest exit over planes for polyhedra. Rounded boxes, hulls and triangles by conservative advancement of a point. A ray that
// starts inside hits at t = 0 with the normal against its direction.
#include "collide/shape/collision_shape.h"

namespace rotule {

struct RayHit {
  double t = infinity;          // in lengths of the direction
  Vec3 normal = Vec3::UnitZ();  // outward, unit
  int triangle = -1;            // of a surface
};

/// In the shape's frame; hits with 0 <= t <= t_max.
bool ray_convex(const Convex& s, const Vec3& origin, const Vec3& direction, double t_max, RayHit& hit);

/// In the world. Surfaces are hit from both sides; the normal is against the ray.
bool ray_part(const CollisionPart& part, const Frame& X_WB, const Vec3& origin, const Vec3& direction, double t_max, RayHit& hit);

}  // namespace rotule
