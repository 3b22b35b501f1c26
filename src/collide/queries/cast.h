#pragma once
// When two moving shapes first touch, by conservative advancement (B. Mirtich, "Impulse-based dynamic simulation", 1996): at a
// distance d along n they cannot touch before d / (n . (v_A - v_B) + |omega_A| r_A + |omega_B| r_B), r the largest distance of a
// point from the centre of rotation; go there and ask again, until the distance is at most the tolerance. It never passes
// through: where it does not converge (grazing while spinning, 200 rounds) the time reached so far is given, which is early,
// never late.
#include "collide/shape/collision_shape.h"

namespace rotule {

/// Constant velocities: at time t the frame stands at X.p + t v, turned from X by the rotation vector t omega (world axes).
struct SteadyMotion {
  Frame X;
  Vec3 velocity = Vec3::Zero();
  Vec3 spin = Vec3::Zero();

  [[nodiscard]] Frame at(double t) const;
};

struct CastHit {
  bool hit = false;
  double t = infinity;
  Vec3 normal = Vec3::UnitZ();  // from A to B, in the world, at that time
  Vec3 point = Vec3::Zero();    // in between the two
  int part_a = -1, part_b = -1, triangle = -1;
};

/// Touching within 0 <= t <= t_max, up to a gap of `tolerance` (> 0). Shapes that overlap at the start hit at t = 0.
CastHit cast_convex(const Convex& a, const SteadyMotion& motion_a, const Convex& b, const SteadyMotion& motion_b, double t_max,
                    double tolerance);

/// All parts; surfaces from the front only. Surfaces and half-spaces do not meet each other.
CastHit cast(const CollisionShape& a, const SteadyMotion& motion_a, const CollisionShape& b, const SteadyMotion& motion_b,
             double t_max, double tolerance);

}  // namespace rotule
