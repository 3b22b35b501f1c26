#pragma once
// The searches of Bvh: included by bvh.h alone.
#include <algorithm>
#include <cmath>

#include "collide/shape/bvh.h"

namespace rotule {

template <class Visit>
void Bvh::overlapping(const Aabb& box, Visit&& visit) const {
  if (nodes_.empty() || !box.overlaps(bounds_)) return;
  const Eigen::Vector3f low = box.low.cast<float>(), high = box.high.cast<float>();
  std::array<std::int32_t, stack_size> stack;
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[stack[--depth]];
    for (int k = 1; k >= 0; --k) {
      if (node.count[k] < 0 || !(node.x[k] <= high.x() && low.x() <= node.x[2 + k] && node.y[k] <= high.y() &&
                                 low.y() <= node.y[2 + k] && node.z[k] <= high.z() && low.z() <= node.z[2 + k]))
        continue;
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
  const Eigen::Vector3f from = (origin + start * direction).cast<float>();
  Eigen::Vector3f inverse;
  for (int k = 0; k < 3; ++k)
    inverse[k] = std::abs(direction[k]) > 1e-30 ? float(1 / direction[k]) : std::copysign(1e30f, float(direction[k]));
  // Four lanes: both children's low and high planes. With the halves swapped, the smaller of the two is where the ray enters.
  using Lanes = float __attribute__((vector_size(16)));
  const auto splat = [](float v) { return Lanes{v, v, v, v}; };
  const auto load = [](const std::array<float, 4>& v) { return Lanes{v[0], v[1], v[2], v[3]}; };
  const auto low = [](Lanes a, Lanes b) { return a < b ? a : b; };
  const auto high = [](Lanes a, Lanes b) { return a > b ? a : b; };
  const auto swapped = [](Lanes a) { return __builtin_shufflevector(a, a, 2, 3, 0, 1); };
  const Lanes ox = splat(from.x()), oy = splat(from.y()), oz = splat(from.z());
  const Lanes ix = splat(inverse.x()), iy = splat(inverse.y()), iz = splat(inverse.z());
  constexpr float wider = 1 + 4e-7f;
  float far = float(t_max - start) * wider;

  struct Entry {
    float near;
    std::int32_t child, count;
  };
  std::array<Entry, stack_size> stack;
  int depth = 0;
  stack[depth++] = {0, 0, 0};
  while (depth > 0) {
    const Entry entry = stack[--depth];
    if (entry.near > far) continue;
    if (entry.count > 0) {
      for (int i = 0; i < entry.count; ++i) t_max = visit(entry.child + i, t_max);
      far = float(t_max - start) * wider;
      continue;
    }
    const Node& node = nodes_[entry.child];
    const Lanes tx = (load(node.x) - ox) * ix, ty = (load(node.y) - oy) * iy, tz = (load(node.z) - oz) * iz;
    const Lanes ux = swapped(tx), uy = swapped(ty), uz = swapped(tz);
    const Lanes near = high(high(low(tx, ux), low(ty, uy)), high(low(tz, uz), splat(0)));
    const Lanes exit = low(low(high(tx, ux), high(ty, uy)), low(high(tz, uz), splat(far))) * wider;
    const bool hit0 = node.count[0] >= 0 && near[0] <= exit[0], hit1 = node.count[1] >= 0 && near[1] <= exit[1];
    if (hit0 && hit1) {
      const int first = near[1] < near[0] ? 1 : 0;
      stack[depth++] = {near[1 - first], node.child[1 - first], node.count[1 - first]};
      stack[depth++] = {near[first], node.child[first], node.count[first]};
    } else if (hit0 || hit1) {
      const int k = hit1 ? 1 : 0;
      stack[depth++] = {near[k], node.child[k], node.count[k]};
    }
  }
}

}  // namespace rotule
