#pragma once
// A static tree of boxes over items, built top down by the surface area heuristic with binned centres (I. Wald, "On fast
// construction of SAH-based bounding volume hierarchies", 2007). A node holds the boxes of its two children in 64 bytes, as
// floats rounded outwards and widened by 1e-6 of the whole size, which covers the rounding of float queries inside the box of the
// whole. Items are put into the order of the leaves. When all centres coincide, halves are cut by number.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collide/aabb.h"

namespace rotule {

class Bvh {
 public:
  /// Box k of 0, 1: low x of both children, high x of both, then y, then z.
  struct alignas(64) Node {
    std::array<float, 4> x, y, z;
    std::array<std::int32_t, 2> child;  // a node; or, where count > 0, the first item of a leaf
    std::array<std::int32_t, 2> count;  // items of a leaf; 0 for a node; -1 for no child
  };

  Bvh() = default;
  /// `order[i]` becomes the number of the item that is to stand at place i.
  Bvh(std::span<const Aabb> boxes, std::vector<int>& order);

  [[nodiscard]] const Aabb& bounds() const { return bounds_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }

  /// visit(place) for every item whose leaf box overlaps; an early false from it ends the search.
  template <class Visit>
  void overlapping(const Aabb& box, Visit&& visit) const;

  /// visit(place, t_max) -> new t_max for the items whose leaf boxes the ray origin + t direction meets for 0 <= t <= t_max, near
  /// children first.
  template <class Visit>
  void along_ray(const Vec3& origin, const Vec3& direction, double t_max, Visit&& visit) const;

 private:
  static constexpr int stack_size = 128;
  std::vector<Node> nodes_;
  Aabb bounds_;
};

}  // namespace rotule

#include "collide/shape/bvh_queries.h"
