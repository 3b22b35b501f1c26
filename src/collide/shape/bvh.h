#pragma once
// A static tree of boxes over items, built top down by the surface area heuristic with binned centres (I. Wald, "On fast
// construction of SAH-based bounding volume hierarchies", 2007). Pairs of levels are then drawn
// together, so that a node holds four children: half as many steps, each on four lanes. Boxes are
// floats from the middle of the whole, widened by 1e-6 of its size, which covers the rounding of float queries inside the box of
// the whole. Items are put into the order of the leaves; every leaf begins at a multiple of four, so that its items can lie in
// lanes. When all centres coincide, halves are cut by number.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "collide/aabb.h"

namespace rotule {

class Bvh {
 public:
  /// Up to four children, one per lane; a child that is not there has a box that nothing meets.
  struct alignas(64) Node {
    std::array<std::array<float, 4>, 3> low, high;  // by coordinate
    std::array<std::int32_t, 4> child;              // a node; or, where count > 0, the first item of a leaf
    std::array<std::int32_t, 4> count;              // items of a leaf; 0 for a node
  };

  Bvh() = default;
  static constexpr int leaf_size = 4;

  /// `order[i]` becomes the number of the item that is to stand at place i, or -1 where a leaf has room left.
  Bvh(std::span<const Aabb> boxes, std::vector<int>& order);

  [[nodiscard]] const Aabb& bounds() const { return bounds_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  /// What the nodes' boxes are measured from.
  [[nodiscard]] const Vec3& middle() const { return middle_; }

  /// visit(place) for every item whose leaf box overlaps; an early false from it ends the search.
  template <class Visit>
  void overlapping(const Aabb& box, Visit&& visit) const;

  /// visit(first place, count, t_max) -> new t_max for the leaves whose boxes the ray origin + t direction meets for 0 <= t <=
  /// t_max, near children first. visit.fetch(first place) is told of leaves that may follow.
  template <class Visit>
  void along_ray(const Vec3& origin, const Vec3& direction, double t_max, Visit&& visit) const;

 private:
  struct Binary;
  static constexpr int stack_size = 384;
  void draw_together(const std::vector<Binary>& binary, double slack);
  std::vector<Node> nodes_;
  Aabb bounds_;
  Vec3 middle_ = Vec3::Zero();
};

}  // namespace rotule

#include "collide/shape/bvh_queries.h"
