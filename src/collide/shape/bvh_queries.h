#pragma once
// The searches of Bvh: included by bvh.h alone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/lanes.h"
#include "collide/shape/bvh.h"

namespace rotule {

/// One number per child of a node.
struct EightLanes {
  FloatLanes first, second;

  /// Of 0 ... 255. Bytes are widened between zeros, as every processor can.
  static EightLanes whole(const std::array<std::uint8_t, 8>& from) {
    using Bytes = std::uint8_t __attribute__((vector_size(16)));
    using Words = std::uint16_t __attribute__((vector_size(16)));
    using Longs = std::uint64_t __attribute__((vector_size(16)));
    const auto bytes = std::bit_cast<Bytes>(Longs{std::bit_cast<std::uint64_t>(from), 0});
    const auto words =
        std::bit_cast<Words>(__builtin_shufflevector(bytes, Bytes{}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    const auto low = __builtin_shufflevector(words, Words{}, 0, 8, 1, 9, 2, 10, 3, 11),
               high = __builtin_shufflevector(words, Words{}, 4, 12, 5, 13, 6, 14, 7, 15);
    return {__builtin_convertvector(std::bit_cast<FloatLanes::Bits>(low), FloatLanes::Floats),
            __builtin_convertvector(std::bit_cast<FloatLanes::Bits>(high), FloatLanes::Floats)};
  }
  friend EightLanes operator*(const EightLanes& a, const FloatLanes& b) { return {a.first * b, a.second * b}; }
  friend EightLanes operator+(const EightLanes& a, const FloatLanes& b) { return {a.first + b, a.second + b}; }
  friend EightLanes most(const EightLanes& a, const EightLanes& b) { return {most(a.first, b.first), most(a.second, b.second)}; }
  friend EightLanes least(const EightLanes& a, const EightLanes& b) {
    return {least(a.first, b.first), least(a.second, b.second)};
  }
};

template <class Visit>
void Bvh::overlapping(const Aabb& box, Visit&& visit) const {
  if (nodes_.empty() || !box.overlaps(bounds_)) return;
  const Eigen::Vector3f low = inside(box.low).cast<float>(), high = inside(box.high).cast<float>();
  std::array<std::int32_t, stack_size> stack;
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[stack[--depth]];
    for (int c = node.children - 1; c >= 0; --c) {
      bool apart = false;
      for (int k = 0; k < 3; ++k) apart = apart || node.low(c, k) > high[k] || low[k] > node.high(c, k);
      if (apart) continue;
      if (node.count(c) == 0) {
        stack[depth++] = node.first(c);
      } else {
        for (int i = 0; i < node.count(c); ++i)
          if (!visit(node.first(c) + i)) return;
      }
    }
  }
}

template <class Visit>
void Bvh::along_ray(const Vec3& origin, const Vec3& direction, double t_max, Visit&& visit) const {
  const double largest = direction.cwiseAbs().maxCoeff();
  if (nodes_.empty() || !(largest > 0)) return;
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
  const Eigen::Vector3f from = inside(origin + start * direction).cast<float>();
  // t in units of the nodes, along the largest coordinate of the direction. A direction that goes by less than 1e-10 along an
  // axis while it goes by 1 is along none of that axis' planes.
  const double pace = largest / unit_;
  std::array<float, 3> inverse;
  for (int k = 0; k < 3; ++k) {
    const double slope = direction[k] / largest;
    inverse[k] = float(1 / std::copysign(std::max(std::abs(slope), 1e-10), slope));
  }
  // Which of a child's two planes is near depends on the direction alone.
  const int near_x = inverse[0] < 0, near_y = 2 + (inverse[1] < 0), near_z = 4 + (inverse[2] < 0);
  constexpr float wider = 1 + 4e-7f;
  float far = float((t_max - start) * pace) * wider;

  // A distance and a child, a leaf as the complement of its place; in one word, which is written and read as such.
  struct alignas(8) Entry {
    float near;
    std::int32_t child;
  };
  std::array<Entry, stack_size> stack;
  int depth = 0;
  Entry entry{0, 0};
  while (true) {
    if (entry.child < 0) {
      t_max = visit(~entry.child, t_max);
      far = float((t_max - start) * pace) * wider;
    } else {
      const Node& node = nodes_[entry.child];
      // One child per lane: it is entered where the last of the three near planes is, left at the first of the far ones.
      const auto meet = [&](int axis, int plane) {
        return EightLanes::whole(node.plane[plane]) * FloatLanes(node.step[axis] * inverse[axis]) +
               FloatLanes((node.origin[axis] - from[axis]) * inverse[axis]);
      };
      const EightLanes enter = most(most(meet(0, near_x), meet(1, near_y)), most(meet(2, near_z), {0, 0}));
      const EightLanes leave =
          least(least(meet(0, near_x ^ 1), meet(1, near_y ^ 1)), least(meet(2, near_z ^ 1), {far, far})) * FloatLanes(wider);
      unsigned met = bits(enter.first <= leave.first) | bits(enter.second <= leave.second) << 4;
      met &= (1u << node.children) - 1;
      alignas(16) std::array<float, width> near;
      std::memcpy(near.data(), &enter, sizeof enter);
      // Farthest first onto the stack, by insertion: seldom more than two.
      const int bottom = depth;
      for (; met != 0; met &= met - 1) {
        const int k = std::countr_zero(met), first = node.first(k);
        int at = depth++;
        for (; at > bottom && stack[at - 1].near < near[k]; --at) stack[at] = stack[at - 1];
        // Large trees do not fit into caches: what may be visited is on its way while the others are sorted. (Branches, not
        // masks: a guess of which child is next lets its memory be asked for before this node's has come.)
        if (node.count(k) > 0) {
          stack[at] = {near[k], ~first};
          visit.fetch(first);
        } else {
          stack[at] = {near[k], first};
          fetch_lines(&nodes_[first], sizeof(Node));
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
