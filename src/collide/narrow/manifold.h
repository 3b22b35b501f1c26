#pragma once
// What the narrow phase hands on: for one pair of parts, up to four points with one normal.
//
// n is a unit vector from A to B. A point has a place on each surface and the gap phi = n . (on_b - on_a): negative is
// penetration, positive is a gap that is not closed yet (speculative contact). The smallest gap of a manifold is the separation
// of the two shapes along n; for convex pairs it is also the largest separation over all directions: their signed distance.
#include <rotule/types.h>

#include <array>
#include <cstdint>

namespace rotule {

struct ContactPoint {
  Vec3 on_a, on_b;        // m, in the world
  double gap;             // m
  std::uint32_t feature;  // which corners and edges make it: the same from step to step
};

struct Manifold {
  static constexpr int capacity = 4;
  Vec3 normal = Vec3::UnitZ();  // from A to B, in the world
  int count = 0;
  std::array<ContactPoint, capacity> points;
  int body_a = -1, body_b = -1;          // set by collision_world.h
  int part_a = 0, part_b = 0;            // of the bodies' collision shapes
  int triangle_a = -1, triangle_b = -1;  // of a surface, the one that is deepest
  double lever = 0;  // m, of friction against spinning on a flat patch (patch_lever.h); 0: that of the points themselves

  Manifold() {}  // NOLINT: not defaulted, which would write zeros over all points of each new one first

  [[nodiscard]] double gap() const {
    double least = infinity;
    for (int i = 0; i < count; ++i) least = std::min(least, points[i].gap);
    return least;
  }
};

/// What one pair of parts remembers from step to step, to start where it ended. Zero means nothing.
struct PairMemory {
  Vec3 axis = Vec3::Zero();  // the last normal or separating axis, in A's frame
};

/// How far two shapes are apart and where, in A's frame.
struct Separation {
  bool near = false;  // whether the gap is at most the margin; if not only normal and gap, a lower bound, are set
  Vec3 normal = Vec3::UnitZ();
  double gap = infinity;
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();
};

/// The other way round.
inline void swap_sides(Manifold& m) {
  m.normal = -m.normal;
  std::swap(m.part_a, m.part_b);
  std::swap(m.triangle_a, m.triangle_b);
  for (int i = 0; i < m.count; ++i) std::swap(m.points[i].on_a, m.points[i].on_b);
}

}  // namespace rotule
