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
  double reach;  // from the body's origin; without the rounding, which turning does not move

  [[nodiscard]] Frame at(double t) const { return motion.at(t) * X_BP; }
  [[nodiscard]] double turning() const {
    return motion.spin.norm() * (std::isfinite(reach) ? std::max(reach, 0.0) + motion.pivot.norm() : 0);
  }
};

/// Advances while `distance(t)` (a Separation in the world) says how far. What stands on something with one edge turns about
/// that, with a gap that hardly changes: fast as the part is, it never comes near, and bounds on its speed make thousands of
/// small steps. Then `free_for(t, gap)` may know better: for how long no point of it can come nearer than `gap`.
template <class Distance, class FreeFor>
CastHit advance(const Distance& distance, const FreeFor& free_for, const MovingPart& a, const MovingPart& b,
                const CastLimits& limits) {
  constexpr int most_rounds = 1000, usual_rounds = 16;
  CastHit out;
  double t = 0, pressed = 0;  // what grazes may come so deep
  for (int round = 0; round < most_rounds; ++round) {
    const Separation s = distance(t);
    out.normal = s.normal;
    out.point = 0.5 * (s.on_a + s.on_b);
    if (s.gap + pressed <= limits.tolerance) {
      out.closing = s.normal.dot(a.motion.velocity_at(t, out.point) - b.motion.velocity_at(t, out.point));
      const double rest = limits.t_max - t, gain = s.normal.dot(a.motion.acceleration - b.motion.acceleration);
      if (pressed > 0 || rest * (out.closing + 0.5 * rest * gain) > limits.graze) break;
      // It grazes, here; what turns may still come down elsewhere.
      pressed = std::max(limits.graze, 0.1 * limits.graze - s.gap);
    }
    // The fastest that it can be from here on: the velocity along n is a straight line over time.
    const auto along = [&](double at) {
      return s.normal.dot(a.motion.velocity - b.motion.velocity + at * (a.motion.acceleration - b.motion.acceleration));
    };
    const double approach = std::max(along(t), along(limits.t_max)) + a.turning() + b.turning();
    if (!(approach > 0)) return out;
    // To half the tolerance: then the next look ends it.
    const double step = std::max(s.gap + pressed - 0.5 * limits.tolerance, 0.5 * limits.tolerance) / approach;
    t += round < usual_rounds ? step : std::max(step, free_for(t, 0.5 * limits.tolerance - pressed));
    if (t > std::min(limits.t_max, limits.before)) return out;
  }
  out.hit = true;
  out.t = t;
  return out;
}

/// Those of a search that has found something already.
CastLimits earlier(CastLimits limits, const CastHit& best) {
  limits.before = std::min(limits.before, best.t);
  return limits;
}

CastHit cast_convex_parts(const Convex& a, const MovingPart& motion_a, const Convex& b, const MovingPart& motion_b,
                          const CastLimits& limits) {
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
      [](double, double) { return 0.0; }, motion_a, motion_b, limits);
}

/// For how long no point of B, at its time t, can come nearer to a plane that does not turn than `gap`: the height of each corner
/// is at least g + g' s - m s^2/2, m being the most that B's acceleration and its turning bend the way of a point.
double free_of_plane(const MovingPart& plane, const Convex& b, const MovingPart& motion_b, double t, double gap) {
  if (!plane.motion.spin.isZero()) return 0;
  const Frame X_WA = plane.at(t), X_WB = motion_b.at(t);
  const SteadyMotion& motion = motion_b.motion;
  const Vec3 n = X_WA.R.col(2), pivot = motion.at(t) * motion.pivot;
  const double pull = std::max(n.dot(plane.motion.acceleration - motion.acceleration), 0.0);
  const double turn = motion.spin.norm() * n.cross(motion.spin).norm();
  double free = infinity;
  const bool has_corners = for_each_corner(b, [&](const Vec3& corner) {
    const Vec3 x = X_WB * corner;
    const double above = n.dot(x - X_WA.p) - b.radius - gap;
    const double rate = n.dot(motion.velocity_at(t, x) - plane.motion.velocity_at(t, x));
    const double bend = pull + turn * (x - pivot).norm();
    if (above <= 0)
      free = 0;
    else if (bend > 0)
      free = std::min(free, (rate + std::sqrt(rate * rate + 2 * bend * above)) / bend);
    else if (rate < 0)
      free = std::min(free, above / -rate);
  });
  return has_corners ? free : 0;
}

CastHit cast_plane(const MovingPart& plane, const Convex& b, const MovingPart& motion_b, const CastLimits& limits) {
  return advance(
      [&](double t) {
        const Frame X_WA = plane.at(t), X_WB = motion_b.at(t);
        const Vec3 n = X_WA.R.col(2), lowest = X_WB * support(b, -(X_WB.R.transpose() * n));
        const double gap = n.dot(lowest - X_WA.p);
        return Separation{true, n, gap, lowest - gap * n, lowest};
      },
      [&](double t, double gap) { return free_of_plane(plane, b, motion_b, t, gap); }, plane, motion_b, limits);
}

CastHit cast_surface(const Surface& surface, const MovingPart& a, const Convex& b, const MovingPart& motion_b,
                     const CastLimits& limits) {
  // All that B can reach, in the surface's frame: its path about its start, and the surface's own motion.
  const double t_max = limits.t_max;
  const double travel = t_max * (motion_b.turning() + a.turning());
  const Frame X_WA = a.at(0), X_WB = motion_b.at(0);
  const Vec3 bend = 0.5 * t_max * t_max * (motion_b.motion.acceleration - a.motion.acceleration);
  const Vec3 path = X_WA.R.transpose() * (t_max * (motion_b.motion.velocity - a.motion.velocity) + bend);
  Aabb box = bounds(b, relative(X_WA, X_WB)).grown(travel + bend.norm() + limits.tolerance);
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
    const CastHit hit = cast_convex_parts(Convex::triangle(surface.corners(t).data()), a, b, motion_b, earlier(limits, best));
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

}  // namespace

Frame SteadyMotion::at(double t) const {
  const Vec3 path = t * (velocity + 0.5 * t * acceleration);
  if (spin.isZero()) return {X.R, X.p + path};
  const Mat3 R = exp_rotation(t * spin).toRotationMatrix() * X.R;
  if (pivot.isZero()) return {R, X.p + path};
  return {R, X * pivot + path - R * pivot};
}

Vec3 SteadyMotion::velocity_at(double t, const Vec3& x) const {
  const Vec3 center = X * pivot + t * (velocity + 0.5 * t * acceleration);
  return velocity + t * acceleration + spin.cross(x - center);
}

CastHit cast_convex(const Convex& a, const SteadyMotion& motion_a, const Convex& b, const SteadyMotion& motion_b,
                    const CastLimits& limits) {
  return cast_convex_parts(a, {motion_a, Frame{}, reach(a, Vec3::Zero()) - a.radius}, b,
                           {motion_b, Frame{}, reach(b, Vec3::Zero()) - b.radius}, limits);
}

CastHit cast(const CollisionPart& a, const SteadyMotion& motion_a, const CollisionPart& b, const SteadyMotion& motion_b,
             const CastLimits& limits) {
  const auto reach = [](const CollisionPart& part) {
    return part.kind == CollisionPart::Kind::convex ? part.reach - part.convex.radius : part.reach;
  };
  const MovingPart at_a{motion_a, a.X_BP, reach(a)}, at_b{motion_b, b.X_BP, reach(b)};
  if (b.kind == CollisionPart::Kind::convex) {
    if (a.kind == CollisionPart::Kind::convex) return cast_convex_parts(a.convex, at_a, b.convex, at_b, limits);
    if (a.kind == CollisionPart::Kind::plane) return cast_plane(at_a, b.convex, at_b, limits);
    return cast_surface(*a.surface, at_a, b.convex, at_b, limits);
  }
  if (a.kind != CollisionPart::Kind::convex) return {};
  if (b.kind == CollisionPart::Kind::plane) return swapped(cast_plane(at_b, a.convex, at_a, limits));
  return swapped(cast_surface(*b.surface, at_b, a.convex, at_a, limits));
}

CastHit cast(const CollisionShape& a, const SteadyMotion& motion_a, const CollisionShape& b, const SteadyMotion& motion_b,
             const CastLimits& limits) {
  CastHit best;
  for (int i = 0; i < int(a.parts().size()); ++i)
    for (int j = 0; j < int(b.parts().size()); ++j) {
      const CastHit hit = cast(a.parts()[i], motion_a, b.parts()[j], motion_b, earlier(limits, best));
      if (!hit.hit || (best.hit && hit.t >= best.t)) continue;
      best = hit;
      best.part_a = i;
      best.part_b = j;
    }
  return best;
}

}  // namespace rotule
