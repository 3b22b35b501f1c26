#include "collide/queries/cast.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/separation.h"
#include "math/rotation.h"

namespace rotule {
namespace {

/// One part that moves: the frame of the body and the part's place in it.
struct MovingPart {
  const SteadyMotion& motion;
  Frame X_BP;
  double reach;  // from the body's origin, about which it turns

  [[nodiscard]] Frame at(double t) const { return motion.at(t) * X_BP; }
  [[nodiscard]] double turning() const { return motion.spin.norm() * (std::isfinite(reach) ? reach : 0); }
};

/// Advances while `distance(t)` (a Separation in the world) says how far. Where `bound` is the largest speed of approach.
template <class Distance>
CastHit advance(const Distance& distance, const MovingPart& a, const MovingPart& b, double t_max, double tolerance) {
  constexpr int most_rounds = 200;
  CastHit out;
  double t = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const Separation s = distance(t);
    out.normal = s.normal;
    out.point = 0.5 * (s.on_a + s.on_b);
    if (s.gap <= tolerance) break;
    const double approach = s.normal.dot(a.motion.velocity - b.motion.velocity) + a.turning() + b.turning();
    if (!(approach > 0)) return out;
    // To half the tolerance: then the next look ends it.
    t += (s.gap - 0.5 * tolerance) / approach;
    if (t > t_max) return out;
  }
  out.hit = true;
  out.t = t;
  return out;
}

CastHit cast_convex_parts(const Convex& a, const MovingPart& motion_a, const Convex& b, const MovingPart& motion_b, double t_max,
                          double tolerance) {
  PairMemory memory;
  return advance(
      [&](double t) {
        const Frame X_WA = motion_a.at(t);
        Separation s = separation(a, b, relative(X_WA, motion_b.at(t)), infinity, memory);
        s.normal = X_WA.R * s.normal;
        s.on_a = X_WA * s.on_a;
        s.on_b = X_WA * s.on_b;
        return s;
      },
      motion_a, motion_b, t_max, tolerance);
}

CastHit cast_plane(const MovingPart& plane, const Convex& b, const MovingPart& motion_b, double t_max, double tolerance) {
  return advance(
      [&](double t) {
        const Frame X_WA = plane.at(t), X_WB = motion_b.at(t);
        const Vec3 n = X_WA.R.col(2), lowest = X_WB * support(b, -(X_WB.R.transpose() * n));
        const double gap = n.dot(lowest - X_WA.p);
        return Separation{true, n, gap, lowest - gap * n, lowest};
      },
      plane, motion_b, t_max, tolerance);
}

CastHit cast_surface(const Surface& surface, const MovingPart& a, const Convex& b, const MovingPart& motion_b, double t_max,
                     double tolerance) {
  // All that B can reach, in the surface's frame: its path about its start, and the surface's own motion.
  const double travel = t_max * (motion_b.turning() + a.turning());
  const Frame X_WA = a.at(0), X_WB = motion_b.at(0);
  const Vec3 path = X_WA.R.transpose() * (t_max * (motion_b.motion.velocity - a.motion.velocity));
  Aabb box = bounds(b, relative(X_WA, X_WB)).grown(travel + tolerance);
  if (a.motion.spin.squaredNorm() > 0)
    box = box.grown(t_max * a.motion.spin.norm() * (X_WB.p - X_WA.p).norm() + t_max * path.norm());
  box.low += path.cwiseMin(0.0);
  box.high += path.cwiseMax(0.0);

  CastHit best;
  surface.tree().overlapping(box, [&](int t) {
    const Vec3& n = surface.normal(t);
    // From the front only: the centre must not have passed the plane at the start.
    const Vec3 middle = X_WA.to_local(X_WB * center(b));
    if (n.isZero() || n.dot(middle - surface.corners(t)[0]) < 0) return true;
    const CastHit hit =
        cast_convex_parts(Convex::triangle(surface.corners(t).data()), a, b, motion_b, std::min(t_max, best.t), tolerance);
    if (hit.hit && (!best.hit || hit.t < best.t || (hit.t == best.t && surface.source(t) < best.triangle))) {
      best = hit;
      best.triangle = surface.source(t);
    }
    return true;
  });
  return best;
}

CastHit swapped(CastHit hit) {
  hit.normal = -hit.normal;
  return hit;
}

CastHit cast_parts(const CollisionPart& a, const SteadyMotion& motion_a, const CollisionPart& b, const SteadyMotion& motion_b,
                   double t_max, double tolerance) {
  const MovingPart at_a{motion_a, a.X_BP, a.reach}, at_b{motion_b, b.X_BP, b.reach};
  if (b.kind == CollisionPart::Kind::convex) {
    if (a.kind == CollisionPart::Kind::convex) return cast_convex_parts(a.convex, at_a, b.convex, at_b, t_max, tolerance);
    if (a.kind == CollisionPart::Kind::plane) return cast_plane(at_a, b.convex, at_b, t_max, tolerance);
    return cast_surface(*a.surface, at_a, b.convex, at_b, t_max, tolerance);
  }
  if (a.kind != CollisionPart::Kind::convex) return {};
  if (b.kind == CollisionPart::Kind::plane) return swapped(cast_plane(at_b, a.convex, at_a, t_max, tolerance));
  return swapped(cast_surface(*b.surface, at_b, a.convex, at_a, t_max, tolerance));
}

}  // namespace

Frame SteadyMotion::at(double t) const {
  if (spin.isZero()) return {X.R, X.p + t * velocity};
  return {exp_rotation(t * spin).toRotationMatrix() * X.R, X.p + t * velocity};
}

CastHit cast_convex(const Convex& a, const SteadyMotion& motion_a, const Convex& b, const SteadyMotion& motion_b, double t_max,
                    double tolerance) {
  return cast_convex_parts(a, {motion_a, Frame{}, reach(a, Vec3::Zero())}, b, {motion_b, Frame{}, reach(b, Vec3::Zero())}, t_max,
                           tolerance);
}

CastHit cast(const CollisionShape& a, const SteadyMotion& motion_a, const CollisionShape& b, const SteadyMotion& motion_b,
             double t_max, double tolerance) {
  CastHit best;
  for (int i = 0; i < int(a.parts().size()); ++i)
    for (int j = 0; j < int(b.parts().size()); ++j) {
      const CastHit hit = cast_parts(a.parts()[i], motion_a, b.parts()[j], motion_b, std::min(t_max, best.t), tolerance);
      if (!hit.hit || (best.hit && hit.t >= best.t)) continue;
      best = hit;
      best.part_a = i;
      best.part_b = j;
    }
  return best;
}

}  // namespace rotule
