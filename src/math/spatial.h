#pragma once
// Spatial vectors (R. Featherstone): the angular part and the linear one, at one point, of motions and of forces.
#include "math/lanes3.h"

namespace rotule {

/// Of a motion: angular velocity and velocity; of a force: moment and force.
struct alignas(32) Spatial {
  Lanes3 w = {}, v = {};
};

ROTULE_LANES3_INLINE Spatial operator+(const Spatial& a, const Spatial& b) { return {a.w + b.w, a.v + b.v}; }
ROTULE_LANES3_INLINE Spatial operator*(double x, const Spatial& a) { return {x * a.w, x * a.v}; }
ROTULE_LANES3_INLINE Spatial cross(const Spatial& a, const Spatial& b) {
  return {cross3(a.w, b.w), cross3(a.w, b.v) + cross3(a.v, b.w)};
}
/// Of a motion and a force.
ROTULE_LANES3_INLINE Spatial cross_force(const Spatial& a, const Spatial& f) {
  return {cross3(a.w, f.w) + cross3(a.v, f.v), cross3(a.w, f.v)};
}
ROTULE_LANES3_INLINE double dot(const Spatial& a, const Spatial& b) { return dot3(a.w * b.w + a.v * b.v, all_lanes(1)); }

/// Rigid bodies' inertia: mass, first and second moments.
struct alignas(32) SpatialInertia {
  Lanes3 h = {};
  Matrix3Lanes J = {};
  double m = 0;

  ROTULE_LANES3_INLINE Spatial operator*(const Spatial& a) const { return {J * a.w + cross3(h, a.v), m * a.v - cross3(h, a.w)}; }
};

}  // namespace rotule
