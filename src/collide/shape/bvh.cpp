#include "collide/shape/bvh.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rotule {
namespace {

constexpr int bins = 16, leaf_size = 4, deepest = 100;

struct Range {
  int first, count, node, side, depth;
};

void put(Bvh::Node& node, int k, const Aabb& box, double slack) {
  const auto low = [&](int c) { return std::nextafter(float(box.low[c] - slack), -INFINITY); };
  const auto high = [&](int c) { return std::nextafter(float(box.high[c] + slack), INFINITY); };
  node.x[k] = low(0), node.x[2 + k] = high(0);
  node.y[k] = low(1), node.y[2 + k] = high(1);
  node.z[k] = low(2), node.z[2 + k] = high(2);
}

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
      left_cost[b] = n > 0 ? left.half_area() * n : infinity;
    }
    Aabb right;
    for (int b = bins - 1, n = 0; b > 0; --b) {
      right.add(bin[b]);
      n += inside[b];
      const double cost = n > 0 ? left_cost[b - 1] + right.half_area() * n : infinity;
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

Bvh::Bvh(std::span<const Aabb> boxes, std::vector<int>& order) {
  const int count = int(boxes.size());
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  if (count == 0) return;
  for (const Aabb& box : boxes) bounds_.add(box);
  const double slack = 1e-6 * (bounds_.high - bounds_.low).maxCoeff();
  nodes_.reserve(std::size_t(count));
  nodes_.push_back({{}, {}, {}, {0, 0}, {-1, -1}});

  // Depth first; a node's children are written when their own ranges are taken up.
  std::vector<Range> todo;
  const auto cut_node = [&](int node, int first, int items, int depth) {
    const int middle = split(boxes, order, first, items, depth > deepest - 40);
    todo.push_back({middle, first + items - middle, node, 1, depth});
    todo.push_back({first, middle - first, node, 0, depth});
  };
  if (count > 1) {
    cut_node(0, 0, count, 0);
  } else {
    todo.push_back({0, 1, 0, 0, 0});
  }
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    Aabb box;
    for (int i = range.first; i < range.first + range.count; ++i) box.add(boxes[order[i]]);
    put(nodes_[range.node], range.side, box, slack);
    if (range.count <= leaf_size) {
      nodes_[range.node].child[range.side] = range.first;
      nodes_[range.node].count[range.side] = range.count;
      continue;
    }
    const int node = int(nodes_.size());
    nodes_.push_back({{}, {}, {}, {0, 0}, {-1, -1}});
    nodes_[range.node].child[range.side] = node;
    nodes_[range.node].count[range.side] = 0;
    cut_node(node, range.first, range.count, range.depth + 1);
  }
}

}  // namespace rotule
