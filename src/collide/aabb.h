#pragma once
// Boxes along the axes.
#include <rotule/types.h>

namespace rotule {

struct Aabb {
  Vec3 low = Vec3::Constant(infinity);
  Vec3 high = Vec3::Constant(-infinity);

  void add(const Vec3& x) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  void add(const Aabb& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  [[nodiscard]] Aabb grown(double margin) const { return {low - Vec3::Constant(margin), high + Vec3::Constant(margin)}; }
  [[nodiscard]] Vec3 center() const { return 0.5 * (low + high); }
  [[nodiscard]] bool overlaps(const Aabb& o) const {
    return low.x() <= o.high.x() && o.low.x() <= high.x() && low.y() <= o.high.y() && o.low.y() <= high.y() &&
           low.z() <= o.high.z() && o.low.z() <= high.z();
  }
  [[nodiscard]] bool contains(const Aabb& o) const {
    return (low.array() <= o.low.array()).all() && (o.high.array() <= high.array()).all();
  }
  /// Half the surface, which is what the chance of a random line to hit the box is proportional to.
  [[nodiscard]] double half_area() const {
    const Vec3 e = high - low;
    return e.x() * e.y() + e.y() * e.z() + e.z() * e.x();
  }
};

inline Aabb merged(const Aabb& a, const Aabb& b) { return {a.low.cwiseMin(b.low), a.high.cwiseMax(b.high)}; }

}  // namespace rotule
