#include "collide/shape/convex.h"

#include <algorithm>
#include <numbers>

namespace rotule {
namespace {

constexpr double steep = 0.7;     // cosine within which a flat end or a straight side counts as facing along n
constexpr double edge_on = 0.05;  // cosine below which a face is seen too much from the side to measure gaps on it
constexpr int rim_corners = 8;
constexpr double faces_along = 1 - 1e-13;  // cosine from which on a face looks along n, up to rounding

/// A disc about z as a polygon on its rim; `up` is +1 or -1.
void disc(double radius, double z, double up, SurfacePatch& out) {
  for (int i = 0; i < rim_corners; ++i) {
    const double angle = up * 2 * std::numbers::pi * i / rim_corners;
    out.add({radius * std::cos(angle), radius * std::sin(angle), z}, i);
  }
  out.normal = {0, 0, up};
}

int box_corner(const Vec3& x) { return (x.x() > 0 ? 1 : 0) + (x.y() > 0 ? 2 : 0) + (x.z() > 0 ? 4 : 0); }

void box_face(const Convex& s, const Vec3& n, SurfacePatch& out) {
  // Scaled so that a rounded box takes the face that faces n most.
  int k = 0;
  n.cwiseAbs().maxCoeff(&k);
  const double up = std::copysign(1.0, n[k]);
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  out.normal = up * Vec3::Unit(k);
  for (int c = 0; c < 4; ++c) {
    Vec3 x;
    x[k] = up * (s.size[k] + s.radius);
    x[i] = (c == 0 || c == 3 ? -1 : 1) * s.size[i];
    x[j] = (c < 2 ? -1 : 1) * up * s.size[j];
    out.add(x, box_corner(x));
  }
}

void hull_face(const Convex& s, const Vec3& n, SurfacePatch& out) {
  const Hull& hull = *s.hull;
  const Hull::Face& face = hull.faces[hull.support_face(n)];
  if (face.normal.dot(n) < edge_on) return;
  out.normal = face.normal;
  const int kept = std::min(face.count, SurfacePatch::capacity);
  for (int i = 0; i < kept; ++i) {
    const int v = hull.face_vertices[face.first + int(std::int64_t(i) * face.count / kept)];
    out.add(hull.vertices[v] + s.radius * face.normal, v & 0x7fff);
  }
}

}  // namespace

Vec3 center(const Convex& s) {
  switch (s.kind) {
    case Convex::Kind::cone:
      return {0, 0, s.size.z() / 4};
    case Convex::Kind::hull:
      return s.hull->center;
    case Convex::Kind::triangle:
      return (s.corners[0] + s.corners[1] + s.corners[2]) / 3;
    default:
      return Vec3::Zero();
  }
}

double reach(const Convex& s, const Vec3& from) {
  switch (s.kind) {
    case Convex::Kind::cone:
      return std::max((Vec3(0, 0, s.size.z()) - from).norm(), from.norm() + s.size.x()) + s.radius;
    case Convex::Kind::cylinder:
      return from.norm() + std::hypot(s.size.x(), s.size.z()) + s.radius;
    case Convex::Kind::ellipsoid:
      return from.norm() + s.size.maxCoeff() + s.radius;
    case Convex::Kind::hull:
      return (s.hull->center - from).norm() + s.hull->size + s.radius;
    case Convex::Kind::triangle:
      return std::max({(s.corners[0] - from).norm(), (s.corners[1] - from).norm(), (s.corners[2] - from).norm()}) + s.radius;
    default:
      return from.norm() + s.size.norm() + s.radius;
  }
}

Aabb bounds(const Convex& s, const Frame& X) {
  switch (s.kind) {
    case Convex::Kind::sphere:
      return Aabb{X.p, X.p}.grown(s.radius);
    case Convex::Kind::capsule:
    case Convex::Kind::box: {
      const Vec3 half = X.R.cwiseAbs() * s.size + Vec3::Constant(s.radius);
      return {X.p - half, X.p + half};
    }
    case Convex::Kind::ellipsoid: {
      const Vec3 half = (X.R.cwiseAbs2() * s.size.cwiseAbs2()).cwiseSqrt() + Vec3::Constant(s.radius);
      return {X.p - half, X.p + half};
    }
    case Convex::Kind::cylinder: {
      Vec3 half;
      for (int k = 0; k < 3; ++k)
        half[k] = s.size.z() * std::abs(X.R(k, 2)) + s.size.x() * std::hypot(X.R(k, 0), X.R(k, 1)) + s.radius;
      return {X.p - half, X.p + half};
    }
    default: {
      Aabb box;
      for (int k = 0; k < 3; ++k) {
        const Vec3 d = X.R.row(k);
        box.low[k] = X.p[k] + d.dot(core_support(s, -d)) - s.radius;
        box.high[k] = X.p[k] + d.dot(core_support(s, d)) + s.radius;
      }
      return box;
    }
  }
}

void surface_patch(const Convex& s, const Vec3& n, SurfacePatch& out) {
  out.count = 0;
  switch (s.kind) {
    case Convex::Kind::sphere:
    case Convex::Kind::ellipsoid:
      break;
    case Convex::Kind::box:
      box_face(s, n, out);
      break;
    case Convex::Kind::hull:
      hull_face(s, n, out);
      break;
    case Convex::Kind::capsule: {
      if (std::abs(n.z()) > steep) break;
      const Vec3 side = s.radius * Vec3(n.x(), n.y(), 0).normalized();
      out.add(side - s.size, 0);
      out.add(side + s.size, 1);
      break;
    }
    case Convex::Kind::cylinder: {
      if (std::abs(n.z()) > steep) {
        disc(s.size.x(), std::copysign(s.size.z(), n.z()), std::copysign(1.0, n.z()), out);
        break;
      }
      const Vec3 side = s.size.x() * Vec3(n.x(), n.y(), 0).normalized();
      out.add(side - Vec3(0, 0, s.size.z()), rim_corners);
      out.add(side + Vec3(0, 0, s.size.z()), rim_corners + 1);
      break;
    }
    case Convex::Kind::cone: {
      if (n.z() < -steep) {
        disc(s.size.x(), 0, -1, out);
        break;
      }
      const double across = std::hypot(n.x(), n.y());
      const double slant = std::hypot(s.size.x(), s.size.z());
      if (!(across > 1e-9) || across * s.size.z() + n.z() * s.size.x() < steep * slant) break;
      out.add({s.size.x() * n.x() / across, s.size.x() * n.y() / across, 0}, rim_corners);
      out.add({0, 0, s.size.z()}, rim_corners + 1);
      break;
    }
    case Convex::Kind::triangle: {
      Vec3 normal = (s.corners[1] - s.corners[0]).cross(s.corners[2] - s.corners[0]).normalized();
      const double along = normal.dot(n);
      if (std::abs(along) < edge_on) break;
      for (int i = 0; i < 3; ++i) out.add(s.corners[along > 0 ? i : 2 - i], along > 0 ? i : 2 - i);
      out.normal = along > 0 ? normal : Vec3(-normal);
      break;
    }
  }
}

SurfaceEdge surface_edge(const Convex& s, const Vec3& n) {
  SurfaceEdge out;
  // Of the edges that leave the farthest corner, the one that falls away least.
  double least_fall = steep;
  const auto consider = [&](const Vec3& top, const Vec3& other, int label_top, int label_other) {
    const Vec3 down = top - other;
    const double length = down.norm(), fall = n.dot(down);
    if (!(fall < least_fall * length)) return;
    least_fall = fall / length;
    out = {true, top + s.radius * n, other + s.radius * n, label_top, label_other};
  };
  switch (s.kind) {
    case Convex::Kind::box: {
      if (n.cwiseAbs().maxCoeff() > faces_along) break;
      const Vec3 top = core_support(s, n);
      for (int k = 0; k < 3; ++k) {
        Vec3 other = top;
        other[k] = -top[k];
        consider(top, other, box_corner(top), box_corner(other));
      }
      break;
    }
    case Convex::Kind::hull: {
      const Hull& hull = *s.hull;
      if (hull.faces[hull.support_face(n)].normal.dot(n) > faces_along) break;
      const int top = hull.support_vertex(n);
      for (int i = hull.neighbour_first[top]; i < hull.neighbour_first[top + 1]; ++i)
        consider(hull.vertices[top], hull.vertices[hull.neighbours[i]], top & 0x3fff, hull.neighbours[i] & 0x3fff);
      break;
    }
    case Convex::Kind::triangle: {
      const Vec3 face = (s.corners[1] - s.corners[0]).cross(s.corners[2] - s.corners[0]);
      if (std::abs(face.dot(n)) > faces_along * face.norm()) break;
      int top = 0;
      for (int i = 1; i < 3; ++i)
        if (n.dot(s.corners[i]) > n.dot(s.corners[top])) top = i;
      for (int i = 1; i < 3; ++i) consider(s.corners[top], s.corners[(top + i) % 3], top, (top + i) % 3);
      break;
    }
    default:
      break;
  }
  return out;
}

}  // namespace rotule
