#pragma once
// A binary tree of boxes that changes: leaves are put in where the surface of the boxes grows little, on one way down from the
// root, and on the way back to the root a child and a grandchild change places where that makes boxes smaller (J. Bittner,
// M. Hapala, V. Havran, "Incremental BVH construction for ray tracing", 2015, whose search has many ways; the rotations of
// A. Kensler 2008), as far as anything changes. All boxes must be finite. Const searches may run at the same time on many
// threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "collide/aabb.h"

namespace rotule {

class DynamicTree {
 public:
  /// The leaf's number, which stays while the leaf does.
  int insert(const Aabb& box, int item);
  void remove(int leaf);

  [[nodiscard]] const Aabb& box(int leaf) const { return nodes_[leaf].box; }
  [[nodiscard]] int count() const { return leaves_; }
  /// Sum of the inner boxes' half surfaces over the root's: what a random ray expects to visit.
  [[nodiscard]] double cost() const;

  /// visit(item) for leaves whose boxes overlap; false from it ends the search.
  template <class Visit>
  void overlapping(const Aabb& box, Visit&& visit) const {
    search([&](const Aabb& other) { return other.overlaps(box); }, visit);
  }

  /// visit(item, t_max) -> new t_max for leaves whose boxes, grown by `half` on each side, origin + t direction meets, 0 <= t <=
  /// t_max. The nearer child is visited first.
  template <class Visit>
  void along_ray(const Vec3& origin, const Vec3& direction, const Vec3& half, double t_max, Visit&& visit) const;

 private:
  struct Node {
    Aabb box;
    int parent = -1;
    std::array<int, 2> child{-1, -1};  // -1: a leaf
    int item = -1;
    [[nodiscard]] bool leaf() const { return child[0] < 0; }
  };
  int make_node();
  [[nodiscard]] int best_sibling(const Aabb& box) const;
  void refit(int node);
  bool rotate(int node);

  template <class Inside, class Visit>
  void search(Inside&& inside, Visit&& visit) const;

  std::vector<Node> nodes_;
  std::vector<int> free_;
  int root_ = -1, leaves_ = 0;
};

/// A stack that starts on the stack.
class NodeStack {
 public:
  void push(int node) {
    if (count_ < int(near_.size())) {
      near_[count_++] = node;
    } else {
      far_.push_back(node);
    }
  }
  int pop() {
    if (far_.empty()) return near_[--count_];
    const int node = far_.back();
    far_.pop_back();
    return node;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  std::array<int, 256> near_;
  int count_ = 0;
  std::vector<int> far_;
};

template <class Inside, class Visit>
void DynamicTree::search(Inside&& inside, Visit&& visit) const {
  if (root_ < 0 || !inside(nodes_[root_].box)) return;
  NodeStack stack;
  stack.push(root_);
  while (!stack.empty()) {
    const Node& node = nodes_[stack.pop()];
    if (node.leaf()) {
      if (!visit(node.item)) return;
      continue;
    }
    for (const int child : node.child)
      if (inside(nodes_[child].box)) stack.push(child);
  }
}

/// Where origin + t direction, t >= 0, enters the box grown by `half`; infinite where it does not.
inline double ray_entry(const Aabb& box, const Vec3& origin, const Vec3& inverse, const Vec3& half) {
  double near = 0, far = infinity;
  for (int k = 0; k < 3; ++k) {
    const double low = box.low[k] - half[k] - origin[k], high = box.high[k] + half[k] - origin[k];
    if (std::isinf(inverse[k])) {
      if (low > 0 || high < 0) return infinity;
      continue;
    }
    const double a = low * inverse[k], b = high * inverse[k];
    near = std::max(near, std::min(a, b));
    far = std::min(far, std::max(a, b));
  }
  return near <= far * (1 + 1e-12) ? near : infinity;
}

template <class Visit>
void DynamicTree::along_ray(const Vec3& origin, const Vec3& direction, const Vec3& half, double t_max, Visit&& visit) const {
  if (root_ < 0) return;
  const Vec3 inverse = direction.cwiseInverse();
  NodeStack stack;
  if (ray_entry(nodes_[root_].box, origin, inverse, half) <= t_max) stack.push(root_);
  while (!stack.empty()) {
    const Node& node = nodes_[stack.pop()];
    if (ray_entry(node.box, origin, inverse, half) > t_max) continue;
    if (node.leaf()) {
      t_max = visit(node.item, t_max);
      continue;
    }
    const double a = ray_entry(nodes_[node.child[0]].box, origin, inverse, half),
                 b = ray_entry(nodes_[node.child[1]].box, origin, inverse, half);
    const int first = b < a ? 1 : 0;
    if (std::max(a, b) <= t_max) stack.push(node.child[1 - first]);
    if (std::min(a, b) <= t_max) stack.push(node.child[first]);
  }
}

}  // namespace rotule
