#pragma once
// A contact of particles: with a body, or of particles among themselves. Points on the two sides,
//   y = sum_k w_k x_k - point on the body   (weights sum to one),   y = sum_k w_k x_k   (among particles: to zero),
// are kept `gap` + n . (their way) >= 0 apart, n pointing to the side of the positive weights; its rows are velocities of y
// along n and two tangents, and its impulse x lies in Coulomb's cone: the law of contacts of bodies (constraint/pool/contact.h).
#include <rotule/types.h>

#include <array>
#include <tuple>

#include "math/rotation.h"

namespace rotule {

struct SoftContact {
  std::array<int, 4> particles{-1, -1, -1, -1};
  std::array<double, 4> weights{};
  int count = 0;
  int body = -1;                  // none: particles alone
  Vec3 lever = Vec3::Zero();      // to the body's point from its centre of mass, at the start of the step
  Mat3 frame = Mat3::Identity();  // normal and two tangents as columns
  double gap = 0;                 // m, at the start of the step
  double friction = 0;
  double radius = 0;          // m, by which the surfaces are held apart: what errors are measured by
  Vec3 given = Vec3::Zero();  // m/s, of the body's point, as far as nobody solves for it
  Vec3 x = Vec3::Zero();      // N s, along the frame's columns

  [[nodiscard]] Vec3 normal() const { return frame.col(0); }
  /// The impulse on the particles' side, in the world.
  [[nodiscard]] Vec3 impulse() const { return frame * x; }
};

/// Who touches whom: elements are told apart by their numbers.
struct SoftPair {
  int element = -1, other = -1;  // other: part of a body, or the second element among particles
  int triangle = 0;              // of the part, where it has any
  bool operator<(const SoftPair& p) const {
    return std::tie(element, other, triangle) < std::tie(p.element, p.other, p.triangle);
  }
};

/// A frame about a unit normal.
inline Mat3 frame_about(const Vec3& n) {
  int least = 0;
  n.cwiseAbs().minCoeff(&least);
  Mat3 out;
  out.col(0) = n;
  out.col(1) = n.cross(Vec3::Unit(least)).normalized();
  out.col(2) = n.cross(out.col(1));
  return out;
}

}  // namespace rotule
