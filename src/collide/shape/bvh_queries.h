#pragma once
// The searches of Bvh: included by bvh.h alone.
#include <algorithm>
#include <cmath>

#include "collide/shape/bvh.h"

namespace rotule {

template <class Visit>
void Bvh::overlapping(const Aabb& box, Visit&& visit) const {
  if (nodes_.empty() || !box.overlaps(bounds_)) return;
  const Eigen::Vector3f low = (box.low - middle_).cast<float>(), high = (box.high - middle_).cast<float>();
  std::array<std::int32_t, stack_size> stack;
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[stack[--depth]];
    for (int k = 3; k >= 0; --k) {
      bool apart = false;
      for (int c = 0; c < 3; ++c) apart = apart || node.low[c][k] > high[c] || low[c] > node.high[c][k];
      if (apart) continue;
      if (node.count[k] == 0) {
        stack[depth++] = node.child[k];
      } else {
        for (int i = 0; i < node.count[k]; ++i)
          if (!visit(node.child[k] + i)) return;
      }
    }
  }
}

template <class Visit>
void Bvh::along_ray(const Vec3& origin, const Vec3& direction, double t_max, Visit&& visit) const {
  if (nodes_.empty()) return;
  // In double first: where the ray enters the whole box. Floats are counted from there, so that a far origin costs no digits.
  double start = 0, end = t_max;
  for (int k = 0; k < 3; ++k) {
    const double slack = 1e-9 * (bounds_.high[k] - bounds_.low[k]) + 1e-300;
    if (std::abs(direction[k]) > 0) {
      const double a = (bounds_.low[k] - slack - origin[k]) / direction[k],
                   b = (bounds_.high[k] + slack - origin[k]) / direction[k];
      start = std::max(start, std::min(a, b));
      end = std::min(end, std::max(a, b));
    } else if (origin[k] < bounds_.low[k] - slack || origin[k] > bounds_.high[k] + slack) {
      return;
    }
  }
  if (start > end) return;
  const Eigen::Vector3f from = (origin + start * direction - middle_).cast<float>();
  Eigen::Vector3f inverse;
  for (int k = 0; k < 3; ++k)
    inverse[k] = std::abs(direction[k]) > 1e-30 ? float(1 / direction[k]) : std::copysign(1e30f, float(direction[k]));
  // One child per lane: it is entered where the last of the three near planes is, left at the first of the far ones. Which is
  // near depends on the direction alone.
  using Lanes = float __attribute__((vector_size(16)));
  const auto splat = [](float v) { return Lanes{v, v, v, v}; };
  const auto load = [](const std::array<float, 4>& v) { return Lanes{v[0], v[1], v[2], v[3]}; };
  const auto smaller = [](Lanes a, Lanes b) { return a < b ? a : b; };
  const auto larger = [](Lanes a, Lanes b) { return a > b ? a : b; };
  const Lanes ox = splat(from.x()), oy = splat(from.y()), oz = splat(from.z());
  const Lanes ix = splat(inverse.x()), iy = splat(inverse.y()), iz = splat(inverse.z());
  const bool against_x = inverse.x() < 0, against_y = inverse.y() < 0, against_z = inverse.z() < 0;
  constexpr float wider = 1 + 4e-7f;
  float far = float(t_max - start) * wider;

  struct Entry {
    float near;
    std::int32_t child, count;
  };
  std::array<Entry, stack_size> stack;
  int depth = 0;
  Entry entry{0, 0, 0};
  while (true) {
    if (entry.count > 0) {
      t_max = visit(entry.child, entry.count, t_max);
      far = float(t_max - start) * wider;
    } else {
      const Node& node = nodes_[entry.child];
      const auto &x0 = against_x ? node.high[0] : node.low[0], &x1 = against_x ? node.low[0] : node.high[0];
      const auto &y0 = against_y ? node.high[1] : node.low[1], &y1 = against_y ? node.low[1] : node.high[1];
      const auto &z0 = against_z ? node.high[2] : node.low[2], &z1 = against_z ? node.low[2] : node.high[2];
      const Lanes near = larger(larger((load(x0) - ox) * ix, (load(y0) - oy) * iy), larger((load(z0) - oz) * iz, splat(0)));
      const Lanes exit =
          smaller(smaller((load(x1) - ox) * ix, (load(y1) - oy) * iy), smaller((load(z1) - oz) * iz, splat(far))) * wider;
      // Farthest first onto the stack, by insertion: seldom more than two.
      const int bottom = depth;
      for (int k = 0; k < 4; ++k) {
        if (!(near[k] <= exit[k])) continue;
        int at = depth++;
        for (; at > bottom && stack[at - 1].near < near[k]; --at) stack[at] = stack[at - 1];
        stack[at] = {near[k], node.child[k], node.count[k]};
        // Large trees do not fit into caches: what may be visited is on its way while the others are sorted. (Branches, not
        // masks: a guess of which child is next lets its memory be asked for before this node's has come.)
        if (node.count[k] > 0) {
          visit.fetch(node.child[k]);
        } else {
          fetch_lines(&nodes_[node.child[k]], sizeof(Node));
        }
      }
    }
    do {
      if (depth == 0) return;
      entry = stack[--depth];
    } while (entry.near > far);
  }
}

}  // namespace rotule
