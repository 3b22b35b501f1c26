#include "collide/shape/bvh.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rotule {
namespace {

constexpr int bins = 16, deepest_level = 100;

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
  const double size = (bounds_.high - bounds_.low).maxCoeff();
  if (size > 0 && std::isfinite(size)) unit_ = std::ldexp(1.0, std::ilogb(size) + 1);

  std::vector<Binary> binary(1);
  std::vector<Range> todo{{0, count, 0, 0}};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    Aabb box;
    for (int i = range.first; i < range.first + range.count; ++i) box.add(boxes[order[i]]);
    binary[range.node].box = box;
    if (range.count <= leaf_size) {
      binary[range.node].first = range.first;
      binary[range.node].count = range.count;
      continue;
    }
    const int middle = split(boxes, order, range.first, range.count, range.depth > deepest_level - 40);
    const int child = int(binary.size());
    binary.resize(binary.size() + 2);
    binary[range.node].first = child;
    todo.push_back({middle, range.first + range.count - middle, child + 1, range.depth + 1});
    todo.push_back({range.first, middle - range.first, child, range.depth + 1});
  }
  draw_together(binary, order);
}

namespace {

/// Which binary nodes become nodes of eight, such that the sum of their areas, which the expected steps of a ray are proportional
/// to, is least; by dynamic programming from the leaves up (the article on compressed wide trees). A subtree may stand as up to
/// `roots` children of the node above: least(roots) is the sum for its part below them.
class Drawing {
 public:
  static constexpr int most = Bvh::width;
  template <class Nodes>
  explicit Drawing(const Nodes& binary) : plans_(binary.size()) {
    const double whole = binary[0].box.half_area(), unit = whole > 0 && std::isfinite(whole) ? whole : 1;
    for (std::size_t n = binary.size(); n-- > 0;) {
      if (binary[n].count > 0) continue;
      Plan& plan = plans_[n];
      const Plan &left = plans_[binary[n].first], &right = plans_[binary[n].first + 1];
      std::array<float, most + 1> parted;
      parted.fill(INFINITY);
      for (int roots = 2; roots <= most; ++roots)
        for (int l = 1; l < roots; ++l)
          if (const float sum = left.least[std::min(l, most - 1)] + right.least[std::min(roots - l, most - 1)];
              sum < parted[roots]) {
            parted[roots] = sum;
            plan.to_left[roots] = std::uint8_t(l);
          }
      plan.least[1] = float(binary[n].box.half_area() / unit) + parted[most];
      for (int roots = 2; roots < most; ++roots) {
        const bool fewer = plan.least[roots - 1] <= parted[roots];
        plan.least[roots] = fewer ? plan.least[roots - 1] : parted[roots];
        plan.used[roots] = std::uint8_t(fewer ? plan.used[roots - 1] : roots);
      }
    }
  }

  /// The children of the node of eight that binary node n becomes.
  template <class Nodes>
  int children(const Nodes& binary, int n, std::array<int, most>& out) const {
    int count = 0;
    part(binary, n, most, out, count);
    return count;
  }

 private:
  struct Plan {
    std::array<float, most> least{};                           // by the number of roots, from 1
    std::array<std::uint8_t, most + 1> to_left{}, used{1, 1};  // how many of them go left; how many are used, 1: the node stays
  };
  template <class Nodes>
  void part(const Nodes& binary, int n, int roots, std::array<int, most>& out, int& count) const {
    const int l = plans_[n].to_left[roots], left = binary[n].first;
    take(binary, left, l, out, count);
    take(binary, left + 1, roots - l, out, count);
  }
  template <class Nodes>
  void take(const Nodes& binary, int n, int roots, std::array<int, most>& out, int& count) const {
    const int used = binary[n].count > 0 ? 1 : plans_[n].used[roots];
    if (used == 1) {
      out[count++] = n;
    } else {
      part(binary, n, used, out, count);
    }
  }
  std::vector<Plan> plans_;
};

}  // namespace

void Bvh::draw_together(const std::vector<Binary>& binary, std::vector<int>& order) {
  struct Task {
    int from, to;  // a binary node, a node of eight
  };
  const Drawing drawing(binary);
  std::vector<Task> todo{{0, 0}};
  std::vector<int> placed;
  std::vector<Node> nodes(1);
  placed.reserve(order.size() + order.size() / 2);
  while (!todo.empty()) {
    const auto [from, to] = todo.back();
    todo.pop_back();
    std::array<int, width> children{from};
    const int count = binary[from].count > 0 ? 1 : drawing.children(binary, from, children);
    Node node = node_around(binary, std::span(children).first(count));
    node.first_node = int(nodes.size());
    node.first_place = int(placed.size());
    int inner = 0, leaves = 0;
    for (int c = 0; c < count; ++c) {
      const Binary& b = binary[children[c]];
      node.kind[c] = std::uint8_t(b.count > 0 ? 8 * leaves++ + b.count : 8 * inner++);
      if (b.count == 0) continue;
      placed.insert(placed.end(), order.begin() + b.first, order.begin() + b.first + b.count);
      placed.resize((placed.size() + leaf_size - 1) / leaf_size * leaf_size, -1);
    }
    nodes.resize(nodes.size() + inner);
    // Depth first, so that what belongs together is near in memory.
    for (int c = count - 1; c >= 0; --c)
      if (binary[children[c]].count == 0) todo.push_back({children[c], node.first(c)});
    nodes[to] = node;
  }
  order.swap(placed);
  nodes_.assign(nodes.begin(), nodes.end());
}

Bvh::Node Bvh::node_around(const std::vector<Binary>& binary, std::span<const int> children) const {
  constexpr double slack = 1e-6;
  constexpr int last = 255;
  Node node{};
  node.children = std::uint8_t(children.size());
  for (int k = 0; k < 3; ++k) {
    const auto low = [&](int c) { return (binary[c].box.low[k] - middle_[k]) / unit_ - slack; };
    const auto high = [&](int c) { return (binary[c].box.high[k] - middle_[k]) / unit_ + slack; };
    double lowest = infinity, highest = -infinity;
    for (const int c : children) lowest = std::min(lowest, low(c)), highest = std::max(highest, high(c));
    const float origin = std::nextafter(float(lowest), -INFINITY);
    float step = float((highest - origin) / last);
    while (origin + last * double(step) < highest) step = std::nextafter(step, INFINITY);
    node.origin[k] = origin;
    node.step[k] = step;
    for (std::size_t i = 0; i < children.size(); ++i) {
      int below = std::clamp(int((low(children[i]) - origin) / step), 0, last),
          above = std::clamp(int((high(children[i]) - origin) / step), 0, last);
      while (below > 0 && origin + below * double(step) > low(children[i])) --below;
      while (above < last && origin + above * double(step) < high(children[i])) ++above;
      node.plane[2 * k][i] = std::uint8_t(below);
      node.plane[2 * k + 1][i] = std::uint8_t(above);
    }
  }
  return node;
}

}  // namespace rotule
