#pragma once
// A static tree of boxes over items, built top down by the surface area heuristic with binned centres (I. Wald, "On fast
// construction of SAH-based bounding volume hierarchies", 2007), whose nodes are then drawn together: a node holds up to eight
// children, one per lane. Large trees are read at the speed of memory, so a node is made small, 96 bytes in two
// cache lines: its children's boxes are counted in 255ths of its own, rounded outwards (H. Ylitie, T. Karras, S. Laine,
// "Efficient incoherent ray traversal on GPUs through compressed wide BVHs", 2017). Coordinates are floats from the middle of
// the whole, in units of about its size, widened by 1e-6, which covers the rounding of float queries inside the box of the whole
// (7.5 roundings of 6e-8). Items are put into the order of the leaves; every leaf begins at a multiple of four, so that its
// items can lie in lanes. When all centres coincide, halves are cut by number.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "collide/aabb.h"

namespace rotule {

class Bvh {
 public:
  static constexpr int leaf_size = 4, width = 8;

  /// Up to eight children, in the first lanes. Inner children follow each other in memory, and so do leaves.
  struct alignas(32) Node {
    std::array<float, 3> origin, step;                     // a child's plane q is at origin + q step
    std::int32_t first_node, first_place;                  // of the inner children, of the leaves' items
    std::uint8_t children;                                 // how many
    std::array<std::uint8_t, 7> room;                      // to fill 96 bytes
    std::array<std::uint8_t, width> kind;                  // 8 times its number among inner children or leaves + items if a leaf
    std::array<std::array<std::uint8_t, width>, 6> plane;  // low and high x, low and high y, low and high z

    /// Items of a leaf; 0 for an inner child.
    [[nodiscard]] int count(int child) const { return kind[child] % 8; }
    /// The node, or a leaf's first place.
    [[nodiscard]] int first(int child) const {
      const int number = kind[child] / 8;
      return count(child) == 0 ? first_node + number : first_place + leaf_size * number;
    }
    [[nodiscard]] float low(int child, int axis) const { return origin[axis] + step[axis] * float(plane[2 * axis][child]); }
    [[nodiscard]] float high(int child, int axis) const { return origin[axis] + step[axis] * float(plane[2 * axis + 1][child]); }
  };
  static_assert(sizeof(Node) == 96);

  Bvh() = default;

  /// `order[i]` becomes the number of the item that is to stand at place i, or -1 where a leaf has room left.
  Bvh(std::span<const Aabb> boxes, std::vector<int>& order);

  [[nodiscard]] const Aabb& bounds() const { return bounds_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  /// A point in the nodes' coordinates, and what one of them is in metres (a power of two).
  [[nodiscard]] Vec3 inside(const Vec3& x) const { return (x - middle_) / unit_; }
  [[nodiscard]] double unit() const { return unit_; }

  /// The most entries that a search, which takes one node and puts its children, ever has in hand.
  static constexpr int stack_size = 768;

  /// visit(place) for every item whose leaf box overlaps; an early false from it ends the search.
  template <class Visit>
  void overlapping(const Aabb& box, Visit&& visit) const;

  /// visit(first place, t_max) -> new t_max for the leaves whose boxes the ray origin + t direction meets for 0 <= t <= t_max,
  /// near children first. visit.fetch(first place) is told of leaves that may follow.
  template <class Visit>
  void along_ray(const Vec3& origin, const Vec3& direction, double t_max, Visit&& visit) const;

 private:
  struct Binary;
  void draw_together(const std::vector<Binary>& binary, std::vector<int>& order);
  [[nodiscard]] Node node_around(const std::vector<Binary>& binary, std::span<const int> children) const;
  LargeArray<Node> nodes_;
  Aabb bounds_;
  Vec3 middle_ = Vec3::Zero();
  double unit_ = 1;
};

}  // namespace rotule

#include "collide/shape/bvh_queries.h"
