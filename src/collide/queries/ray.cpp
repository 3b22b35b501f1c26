#include "collide/queries/ray.h"

#include <algorithm>
#include <cmath>

#include "collide/queries/cast.h"

namespace rotule {
namespace {

/// The stretch of the ray inside of what has been cut so far, and the normal where it is entered.
struct Stretch {
  double enter = -infinity, leave = infinity;
  Vec3 normal = Vec3::Zero();

  void cut(double first, double last, const Vec3& n) {
    if (first > enter) enter = first, normal = n;
    leave = std::min(leave, last);
  }
  /// n . x <= offset
  void cut_plane(const Vec3& n, double offset, const Vec3& o, const Vec3& d) {
    const double speed = n.dot(d), height = n.dot(o) - offset;
    if (speed < 0) {
      cut(-height / speed, infinity, n);
    } else if (speed > 0) {
      leave = std::min(leave, -height / speed);
    } else if (height > 0) {
      leave = -infinity;
    }
  }
  bool result(const Vec3& direction, double t_max, RayHit& hit) const {
    if (enter > leave || leave < 0 || enter > t_max) return false;
    hit = enter >= 0 ? RayHit{enter, normal} : RayHit{0, -direction.normalized()};
    return true;
  }
};

/// Roots of a t^2 + 2 b t + c, a > 0.
bool roots(double a, double b, double c, double& first, double& last) {
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return false;
  const double q = -(b + std::copysign(std::sqrt(discriminant), b));
  first = q / a;
  last = q != 0 ? c / q : 0;
  if (first > last) std::swap(first, last);
  return true;
}

bool ball(const Vec3& center, double radius, const Vec3& o, const Vec3& d, Stretch& s) {
  // From the ray's point nearest to the centre: far origins cost no digits.
  const double square = d.squaredNorm(), shift = d.dot(center - o) / square;
  const Vec3 nearest = o + shift * d - center;
  const double rest = radius * radius - nearest.squaredNorm();
  if (rest < 0) return false;
  const double half = std::sqrt(rest / square);
  s.cut(shift - half, shift + half, (nearest - half * d) / radius);
  return true;
}

/// The infinite cylinder about z.
bool tube(double radius, const Vec3& o, const Vec3& d, Stretch& s) {
  const double a = d.x() * d.x() + d.y() * d.y(), c = o.x() * o.x() + o.y() * o.y() - radius * radius;
  if (!(a > 1e-30 * d.squaredNorm())) return c <= 0;
  double first, last;
  if (!roots(a, o.x() * d.x() + o.y() * d.y(), c, first, last)) return false;
  const Vec3 at = o + first * d;
  s.cut(first, last, Vec3(at.x(), at.y(), 0) / radius);
  return true;
}

bool capsule(const Convex& c, const Vec3& o, const Vec3& d, double t_max, RayHit& hit) {
  // The first of three: the tube between the ends, and the two end balls.
  bool found = false;
  RayHit other;
  const auto keep = [&](const Stretch& s) {
    if (s.result(d, t_max, other) && (!found || other.t < hit.t)) hit = other, found = true;
  };
  Stretch side;
  if (tube(c.radius, o, d, side)) {
    side.cut_plane(Vec3::UnitZ(), c.size.z(), o, d);
    side.cut_plane(-Vec3::UnitZ(), c.size.z(), o, d);
    keep(side);
  }
  for (const double end : {-1.0, 1.0}) {
    Stretch s;
    if (ball(end * c.size, c.radius, o, d, s)) keep(s);
  }
  return found;
}

bool cone(const Convex& c, const Vec3& o, const Vec3& d, double t_max, RayHit& hit) {
  // x^2 + y^2 = k^2 (h - z)^2 below the apex, above the base.
  const double k = c.size.x() / c.size.z(), h = c.size.z();
  const double a = d.x() * d.x() + d.y() * d.y() - k * k * d.z() * d.z();
  const double b = o.x() * d.x() + o.y() * d.y() + k * k * (h - o.z()) * d.z();
  const double e = o.x() * o.x() + o.y() * o.y() - k * k * (h - o.z()) * (h - o.z());
  bool found = false;
  const auto keep = [&](double t, const Vec3& n) {
    if (t >= 0 && t <= t_max && (!found || t < hit.t)) hit = {t, n}, found = true;
  };
  if (e <= 0 && o.z() >= 0 && o.z() <= h) {
    hit = {0, -d.normalized()};
    return true;
  }
  double first, last;
  const double scale = d.squaredNorm();
  if (std::abs(a) < 1e-14 * scale) {
    if (b != 0)
      first = last = -e / (2 * b);
    else
      first = last = -1;
  } else if (!roots(std::abs(a), a < 0 ? -b : b, a < 0 ? -e : e, first, last)) {
    first = last = -1;
  }
  for (const double t : {first, last}) {
    const Vec3 at = o + t * d;
    if (at.z() >= 0 && at.z() <= h) keep(t, Vec3(at.x(), at.y(), k * k * (h - at.z())).normalized());
  }
  if (d.z() > 0) {
    const double t = -o.z() / d.z();
    const Vec3 at = o + t * d;
    if (at.x() * at.x() + at.y() * at.y() <= c.size.x() * c.size.x()) keep(t, -Vec3::UnitZ());
  }
  return found;
}

}  // namespace

bool ray_convex(const Convex& c, const Vec3& o, const Vec3& d, double t_max, RayHit& hit) {
  Stretch s;
  if (c.radius > 0 && c.kind != Convex::Kind::sphere && c.kind != Convex::Kind::capsule) {
    const CastHit cast =
        cast_convex(Convex::sphere(0), {Frame(Mat3::Identity(), o), d}, c, {}, {t_max, 1e-9 * reach(c, Vec3::Zero())});
    if (!cast.hit) return false;
    hit = {cast.t, -cast.normal};
    return true;
  }
  switch (c.kind) {
    case Convex::Kind::sphere:
      return ball(Vec3::Zero(), c.radius, o, d, s) && s.result(d, t_max, hit);
    case Convex::Kind::capsule:
      return capsule(c, o, d, t_max, hit);
    case Convex::Kind::box:
      for (int k = 0; k < 3; ++k) {
        s.cut_plane(Vec3::Unit(k), c.size[k], o, d);
        s.cut_plane(-Vec3::Unit(k), c.size[k], o, d);
      }
      return s.result(d, t_max, hit);
    case Convex::Kind::cylinder:
      if (!tube(c.size.x(), o, d, s)) return false;
      s.cut_plane(Vec3::UnitZ(), c.size.z(), o, d);
      s.cut_plane(-Vec3::UnitZ(), c.size.z(), o, d);
      return s.result(d, t_max, hit);
    case Convex::Kind::cone:
      return cone(c, o, d, t_max, hit);
    case Convex::Kind::ellipsoid:
      // A unit ball in scaled space; the normal is scaled once more.
      if (!ball(Vec3::Zero(), 1, o.cwiseQuotient(c.size), d.cwiseQuotient(c.size), s)) return false;
      s.normal = s.normal.cwiseQuotient(c.size).normalized();
      return s.result(d, t_max, hit);
    case Convex::Kind::hull:
      for (const Hull::Face& face : c.hull->faces) {
        s.cut_plane(face.normal, face.offset, o, d);
        if (s.enter > s.leave) return false;
      }
      return s.result(d, t_max, hit);
    case Convex::Kind::triangle:
      break;
  }
  return false;
}

bool ray_part(const CollisionPart& part, const Frame& X_WB, const Vec3& origin, const Vec3& direction, double t_max,
              RayHit& hit) {
  const Frame X = X_WB * part.X_BP;
  const Vec3 o = X.to_local(origin), d = X.R.transpose() * direction;
  switch (part.kind) {
    case CollisionPart::Kind::convex:
      if (!ray_convex(part.convex, o, d, t_max, hit)) return false;
      break;
    case CollisionPart::Kind::plane: {
      Stretch s;
      s.cut_plane(Vec3::UnitZ(), 0, o, d);
      if (!s.result(d, t_max, hit)) return false;
      break;
    }
    case CollisionPart::Kind::surface: {
      double t = t_max;
      const int triangle = part.surface->ray(o, d, t);
      if (triangle < 0) return false;
      const Vec3& n = part.surface->normal(triangle);
      hit = {t, n.dot(d) > 0 ? Vec3(-n) : n, part.surface->source(triangle)};
      break;
    }
  }
  hit.normal = X.R * hit.normal;
  return true;
}

}  // namespace rotule
