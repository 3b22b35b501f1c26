#include "step/realtime/soft/near_shape.h"

#include "collide/narrow/separation.h"
#include "mechanism/soft/soft_distance.h"

namespace rotule::realtime {

namespace {

NearShape near_triangle(const Surface& surface, int triangle, const Vec3& x, double behind) {
  NearShape out;
  const auto& c = surface.corners(triangle);
  const Vec3& face = surface.normal(triangle);
  const auto w = nearest_on_triangle(x, c[0], c[1], c[2]);
  out.on = w[0] * c[0] + w[1] * c[1] + w[2] * c[2];
  const Vec3 e = x - out.on;
  const double above = face.dot(x - c[0]), distance = e.norm();
  const bool inside = w[0] > 0 && w[1] > 0 && w[2] > 0;
  if (inside) {
    out.normal = face;
    out.distance = above;
    out.near = above > -behind;
    return out;
  }
  out.distance = distance;
  if (above < 0) {
    // Beside it, and below its plane: another triangle's.
    out.near = false;
    return out;
  }
  if (distance > 0 && surface.legal(triangle, out.on, e / distance)) {
    out.normal = e / distance;
    return out;
  }
  out.meets = false;
  out.normal = face;
  out.distance = above;
  return out;
}

}  // namespace

NearShape near_shape(const CollisionPart& part, int triangle, const Vec3& x, double reach, double behind) {
  const Vec3 local = part.at_origin ? x : part.X_BP.to_local(x);
  NearShape out;
  if (part.kind == CollisionPart::Kind::plane) {
    out.distance = local.z();
    out.on = {local.x(), local.y(), 0};
  } else if (part.kind == CollisionPart::Kind::surface) {
    out = near_triangle(*part.surface, triangle, local, behind);
  } else {
    PairMemory memory;
    const Separation s = separation(part.convex, Convex::sphere(0), {Mat3::Identity(), local}, reach, memory);
    out.near = s.near;
    out.distance = s.gap;
    out.normal = s.normal;
    out.on = s.on_a;
  }
  if (!part.at_origin) {
    out.normal = part.X_BP.R * out.normal;
    out.on = part.X_BP * out.on;
  }
  return out;
}

}  // namespace rotule::realtime
