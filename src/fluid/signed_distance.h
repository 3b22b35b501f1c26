#pragma once
// The signed distance from a point to the surface of a closed shape, negative inside: exact, but for ellipsoids, where it is
// right to first order near the surface, and for compounds, where it is the nearest part's.
#include <rotule/shapes.h>

#include <memory>
#include <vector>

#include "collide/shape/solid_distance.h"

namespace rotule {

/// Whether the shape encloses a volume: not a point, a plane or a height field, nor a compound that has one.
bool is_closed(const Shape& shape);

class SignedDistance {
 public:
  explicit SignedDistance(const Shape& shape);
  /// `x` in the shape's frame.
  [[nodiscard]] double operator()(const Vec3& x) const;

 private:
  struct Part {
    Shape shape;
    std::shared_ptr<const SolidDistance> mesh = {};
    Vec3 position = Vec3::Zero();
    Mat3 to_part = Mat3::Identity();
  };
  void add(const Shape& shape, const Vec3& position, const Mat3& turn);
  std::vector<Part> parts_;
};

}  // namespace rotule
