#include "collide/broad/dynamic_tree.h"

namespace rotule {

int DynamicTree::make_node() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return int(nodes_.size()) - 1;
  }
  const int node = free_.back();
  free_.pop_back();
  nodes_[node] = Node{};
  return node;
}

/// The node beside which the leaf costs little: the surface of the new parent, and by how much the boxes above it grow. One way
/// down, into the child below which the least can be hoped for: a search of all that may be cheaper makes queries in 100,000
/// boxes a tenth faster, and moving a box more than twice as slow.
int DynamicTree::best_sibling(const Aabb& box) const {
  const double area = box.half_area();
  const Vec3 middle = box.low + box.high;
  int best = root_, at = root_;
  double direct = merged(nodes_[at].box, box).half_area(), least = direct, above = 0;
  while (!nodes_[at].leaf()) {
    const double growth = above + direct - nodes_[at].box.half_area();
    // No node below can be cheaper than the leaf's own surface on top.
    if (growth + area >= least) break;
    std::array<double, 2> hope{infinity, infinity}, with;
    for (int side = 0; side < 2; ++side) {
      const int child = nodes_[at].child[side];
      const Node& node = nodes_[child];
      with[side] = merged(node.box, box).half_area();
      if (growth + with[side] < least) {
        least = growth + with[side];
        best = child;
      }
      if (!node.leaf()) hope[side] = with[side] - node.box.half_area();
    }
    int next = hope[1] < hope[0] ? 1 : 0;
    if (hope[0] == hope[1]) {
      // Inside of both, most often: the nearer.
      const auto far = [&](int side) {
        const Aabb& other = nodes_[nodes_[at].child[side]].box;
        return (other.low + other.high - middle).squaredNorm();
      };
      next = far(1) < far(0) ? 1 : 0;
    }
    if (!(growth + hope[next] + area < least)) break;
    above = growth;
    direct = with[next];
    at = nodes_[at].child[next];
  }
  return best;
}

int DynamicTree::insert(const Aabb& box, int item) {
  const int leaf = make_node();
  nodes_[leaf].box = box;
  nodes_[leaf].item = item;
  ++leaves_;
  if (root_ < 0) {
    root_ = leaf;
    return leaf;
  }
  const int sibling = best_sibling(box), parent = make_node(), above = nodes_[sibling].parent;
  nodes_[parent].parent = above;
  nodes_[parent].child = {sibling, leaf};
  nodes_[sibling].parent = nodes_[leaf].parent = parent;
  if (above < 0) {
    root_ = parent;
  } else {
    nodes_[above].child[nodes_[above].child[0] == sibling ? 0 : 1] = parent;
  }
  refit(parent);
  return leaf;
}

void DynamicTree::remove(int leaf) {
  --leaves_;
  const int parent = nodes_[leaf].parent;
  free_.push_back(leaf);
  if (parent < 0) {
    root_ = -1;
    return;
  }
  const int sibling = nodes_[parent].child[nodes_[parent].child[0] == leaf ? 1 : 0], above = nodes_[parent].parent;
  free_.push_back(parent);
  nodes_[sibling].parent = above;
  if (above < 0) {
    root_ = sibling;
    return;
  }
  nodes_[above].child[nodes_[above].child[0] == parent ? 0 : 1] = sibling;
  refit(above);
}

void DynamicTree::refit(int node) {
  for (; node >= 0; node = nodes_[node].parent) {
    const Aabb box = merged(nodes_[nodes_[node].child[0]].box, nodes_[nodes_[node].child[1]].box);
    const bool same = box.low == nodes_[node].box.low && box.high == nodes_[node].box.high;
    nodes_[node].box = box;
    if (!rotate(node) && same) return;
  }
}

/// Lets one child change places with a child of the other where the box of the other shrinks most; false where none does.
bool DynamicTree::rotate(int node) {
  double best = 0;
  int best_side = -1, best_grandchild = -1;
  for (int side = 0; side < 2; ++side) {
    const Node& inner = nodes_[nodes_[node].child[side]];
    const Aabb& other = nodes_[nodes_[node].child[1 - side]].box;
    if (inner.leaf()) continue;
    for (int g = 0; g < 2; ++g) {
      const double gain = inner.box.half_area() - merged(nodes_[inner.child[1 - g]].box, other).half_area();
      if (gain > best * (1 + 1e-9)) best = gain, best_side = side, best_grandchild = g;
    }
  }
  if (best_side < 0) return false;
  const int inner = nodes_[node].child[best_side], other = nodes_[node].child[1 - best_side],
            grandchild = nodes_[inner].child[best_grandchild];
  nodes_[node].child[1 - best_side] = grandchild;
  nodes_[grandchild].parent = node;
  nodes_[inner].child[best_grandchild] = other;
  nodes_[other].parent = inner;
  nodes_[inner].box = merged(nodes_[nodes_[inner].child[0]].box, nodes_[nodes_[inner].child[1]].box);
  return true;
}

double DynamicTree::cost() const {
  if (root_ < 0) return 0;
  double sum = 0;
  NodeStack stack;
  stack.push(root_);
  while (!stack.empty()) {
    const Node& node = nodes_[stack.pop()];
    if (node.leaf()) continue;
    sum += node.box.half_area();
    for (const int child : node.child) stack.push(child);
  }
  return sum / nodes_[root_].box.half_area();
}

}  // namespace rotule
