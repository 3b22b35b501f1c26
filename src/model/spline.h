#pragma once
// Smooth curves through points: cubic pieces p(s), twice continuously differentiable, straight at open ends. Between points k and
// k + 1 the parameter grows by the distance between them, so that it is about the length along the curve.
#include <rotule/moving.h>

#include <vector>

#include "base/place.h"

namespace rotule {

class Spline {
 public:
  Spline(const std::vector<Vec3>& points, bool closed);
  /// Where the curve begins and ends: at 0 and at its length. A closed one goes on from its beginning.
  [[nodiscard]] double length() const { return knot_.back(); }
  [[nodiscard]] MovingVec3 at(const Moving& s) const { return value(s, 0); }
  /// Its derivative by s.
  [[nodiscard]] MovingVec3 slope(const Moving& s) const { return value(s, 1); }
  /// How many places along it tell its bends apart.
  [[nodiscard]] int samples() const;

 private:
  [[nodiscard]] MovingVec3 value(const Moving& s, int derivative) const;
  std::vector<double> knot_;
  std::vector<std::array<Vec3, 4>> piece_;  // coefficients of powers of s less the knot
};

/// Throws Error where neighbours are in the same place.
void check_distinct(const std::vector<Vec3>& points, bool closed, const Place& place);

}  // namespace rotule
