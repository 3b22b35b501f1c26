#pragma once
// The support function of a shape: its point farthest along a direction, argmax over x in the shape of d . x.
#include <rotule/shapes.h>
#include <rotule/types.h>

namespace rotule {

/// In the shape's frame; the length of `direction` does not matter. Where many points are equally far (a box's face), one of
/// them. A point mass is its origin. Throws Error for a plane, which has no farthest point, and for shapes without points.
Vec3 support(const Shape& shape, const Vec3& direction);

}  // namespace rotule
