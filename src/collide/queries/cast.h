#pragma once
// When two moving shapes first touch, by conservative advancement (B. Mirtich, "Impulse-based dynamic simulation", 1996): at a
// distance d along n they cannot touch before d / (n . (v_A - v_B) + |omega_A| r_A + |omega_B| r_B), r the largest distance of a
// point from the centre of rotation; go there and ask again, until the distance is at most the tolerance. It never passes
// through: where it does not converge (grazing while spinning, 200 rounds) the time reached so far is given, which is early,
// never late.
#include "collide/shape/collision_shape.h"

namespace rotule {

/// A point of the frame, `pivot` in its own axes, goes along a parabola, x + t v + t^2/2 a, while the frame turns steadily about
/// it: by the rotation vector t omega (world axes) in a time t.
struct SteadyMotion {
  Frame X;
  Vec3 velocity = Vec3::Zero();
  Vec3 spin = Vec3::Zero();
  Vec3 acceleration = Vec3::Zero();
  Vec3 pivot = Vec3::Zero();

  [[nodiscard]] Frame at(double t) const;
  /// Of the point of the frame that is at x at that time.
  [[nodiscard]] Vec3 velocity_at(double t, const Vec3& x) const;
};

struct CastHit {
  bool hit = false;
  double t = infinity;
  double closing = 0;           // m/s, at which the two surfaces approach each other then
  Vec3 normal = Vec3::UnitZ();  // from A to B, in the world, at that time
  Vec3 point = Vec3::Zero();    // in between the two
  int part_a = -1, part_b = -1, triangle = -1;
};

/// Until when, what counts as touching, and what does not.
struct CastLimits {
  double t_max = 1;
  double tolerance = 1e-6;   // m, > 0: a gap that counts as closed
  double graze = -infinity;  // m: what would press no deeper than this by t_max, where it touches, goes on until it does
  double before = infinity;  // later hits are of no interest
};

/// Touching within 0 <= t <= t_max. Shapes that overlap at the start hit at t = 0, unless they graze.
CastHit cast_convex(const Convex& a, const SteadyMotion& motion_a, const Convex& b, const SteadyMotion& motion_b,
                    const CastLimits& limits);

/// One part of each.
CastHit cast(const CollisionPart& a, const SteadyMotion& motion_a, const CollisionPart& b, const SteadyMotion& motion_b,
             const CastLimits& limits);

/// All parts; surfaces from the front only. Surfaces and half-spaces do not meet each other.
CastHit cast(const CollisionShape& a, const SteadyMotion& motion_a, const CollisionShape& b, const SteadyMotion& motion_b,
             const CastLimits& limits);

}  // namespace rotule
