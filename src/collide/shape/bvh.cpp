#include "collide/shape/bvh.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rotule {
namespace {

constexpr int bins = 16, deepest = 100;

/// Items are tested four at once: that many rounds.
int lanes(int count) { return (count + Bvh::leaf_size - 1) / Bvh::leaf_size; }

struct Range {
  int first, count, node, depth;
};

/// Cuts items [first, first + count) in two where the expected cost of a random ray is least.
int split(std::span<const Aabb> boxes, std::vector<int>& order, int first, int count, bool by_number) {
  const int half = first + count / 2;
  Aabb centers;
  for (int i = first; i < first + count; ++i) centers.add(boxes[order[i]].center());
  int best_axis = -1, best_cut = 0;
  double best_cost = infinity;
  for (int axis = 0; axis < 3 && !by_number; ++axis) {
    const double low = centers.low[axis], width = centers.high[axis] - low;
    if (!(width > 0) || !std::isfinite(bins / width)) continue;
    std::array<Aabb, bins> bin;
    std::array<int, bins> inside{};
    for (int i = first; i < first + count; ++i) {
      const int b = std::min(bins - 1, int((boxes[order[i]].center()[axis] - low) * (bins / width)));
      bin[b].add(boxes[order[i]]);
      ++inside[b];
    }
    std::array<double, bins> left_cost{};
    Aabb left;
    for (int b = 0, n = 0; b < bins - 1; ++b) {
      left.add(bin[b]);
      n += inside[b];
      left_cost[b] = n > 0 ? left.half_area() * lanes(n) : infinity;
    }
    Aabb right;
    for (int b = bins - 1, n = 0; b > 0; --b) {
      right.add(bin[b]);
      n += inside[b];
      const double cost = n > 0 ? left_cost[b - 1] + right.half_area() * lanes(n) : infinity;
      if (cost < best_cost) {
        best_cost = cost;
        best_axis = axis;
        best_cut = b;
      }
    }
  }
  if (best_axis < 0) return half;
  const double low = centers.low[best_axis], scale = bins / (centers.high[best_axis] - low);
  const auto middle = std::partition(order.begin() + first, order.begin() + first + count, [&](int item) {
    return std::min(bins - 1, int((boxes[item].center()[best_axis] - low) * scale)) < best_cut;
  });
  const int cut = int(middle - order.begin());
  return cut == first || cut == first + count ? half : cut;
}

}  // namespace

/// A node of two children, `first` and the next; or a leaf, where count > 0.
struct Bvh::Binary {
  Aabb box;
  int first = 0, count = 0;
};

Bvh::Bvh(std::span<const Aabb> boxes, std::vector<int>& order) {
  const int count = int(boxes.size());
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  if (count == 0) return;
  for (const Aabb& box : boxes) bounds_.add(box);
  middle_ = bounds_.center();
  const double slack = 1e-6 * (bounds_.high - bounds_.low).maxCoeff();

  // Depth first, so that a node and its first child are neighbours in memory.
  std::vector<Binary> binary(1);
  std::vector<int> placed;
  std::vector<Range> todo{{0, count, 0, 0}};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    Aabb box;
    for (int i = range.first; i < range.first + range.count; ++i) box.add(boxes[order[i]]);
    binary[range.node].box = box;
    if (range.count <= leaf_size) {
      binary[range.node].first = int(placed.size());
      binary[range.node].count = range.count;
      placed.insert(placed.end(), order.begin() + range.first, order.begin() + range.first + range.count);
      placed.resize((placed.size() + leaf_size - 1) / leaf_size * leaf_size, -1);
      continue;
    }
    const int middle = split(boxes, order, range.first, range.count, range.depth > deepest - 40);
    const int child = int(binary.size());
    binary.resize(binary.size() + 2);
    binary[range.node].first = child;
    todo.push_back({middle, range.first + range.count - middle, child + 1, range.depth + 1});
    todo.push_back({range.first, middle - range.first, child, range.depth + 1});
  }
  order.swap(placed);
  draw_together(binary, slack);
}

void Bvh::draw_together(const std::vector<Binary>& binary, double slack) {
  struct Task {
    int from, to;  // a binary node, a node of four
  };
  std::vector<Task> todo{{0, 0}};
  reserve_large(nodes_, (binary.size() + 1) / 2);  // a node of four stands for at least one inner node of two
  nodes_.emplace_back();
  while (!todo.empty()) {
    const auto [from, to] = todo.back();
    todo.pop_back();
    // The child with the largest box gives way to its own two while there is room.
    std::array<int, 4> children{from, -1, -1, -1};
    int count = 1;
    while (count < 4) {
      int largest = -1;
      double area = -1;
      for (int c = 0; c < count; ++c) {
        const Binary& b = binary[children[c]];
        if (b.count == 0 && b.box.half_area() > area) area = b.box.half_area(), largest = c;
      }
      if (largest < 0) break;
      const int child = binary[children[largest]].first;
      children[largest] = child;
      children[count++] = child + 1;
    }
    Node node;
    for (int c = 0; c < 4; ++c) {
      for (int k = 0; k < 3; ++k) {
        node.low[k][c] =
            c < count ? std::nextafter(float(binary[children[c]].box.low[k] - middle_[k] - slack), -INFINITY) : INFINITY;
        node.high[k][c] =
            c < count ? std::nextafter(float(binary[children[c]].box.high[k] - middle_[k] + slack), INFINITY) : -INFINITY;
      }
      node.child[c] = node.count[c] = 0;
    }
    for (int c = count - 1; c >= 0; --c) {
      const Binary& b = binary[children[c]];
      node.count[c] = b.count;
      node.child[c] = b.first;
      if (b.count > 0) continue;
      node.child[c] = int(nodes_.size());
      nodes_.emplace_back();
      todo.push_back({children[c], node.child[c]});
    }
    nodes_[to] = node;
  }
}

}  // namespace rotule
