#include "collide/smooth/feature.h"

#include <Eigen/LU>
#include <cmath>

#include "collide/narrow/separation.h"

namespace rotule {

namespace {

using Kind = Feature::Kind;

constexpr double aligned_faces = 1e-6;  // rad: a face whose normal is this near to the contact's is what touches
constexpr double on_feature = 1e-6;     // of a part's size: how near to an edge or a corner counts as on it
constexpr double near_parallel = 1e-4;  // rad between lines that touch along more than a point

// Names of features: what kind, and which.
enum class Named : std::uint32_t { corner = 1, edge, face, rim, side, core_end, core, apex, whole, spot };
constexpr std::uint32_t name_of(Named what, std::uint32_t which) {
  return (static_cast<std::uint32_t>(what) << 24) | (which & 0xffffffu);
}

/// One side of a contact as it is looked at: the part, the point on it and the outward normal, all in the part's frame.
struct Side {
  const CollisionPart* part = nullptr;
  Vec3 point, normal;
  std::uint32_t label = 0;  // of the manifold's point
  int triangle = -1;
};

Feature plane_at(const Vec3& at, const Vec3& normal, std::uint32_t which) {
  return {.kind = Kind::plane, .at = at, .axis = normal, .name = name_of(Named::face, which)};
}

/// The flat face that the contact's normal belongs to.
bool flat_face(const Side& s, Feature& out) {
  const auto fits = [&](const Vec3& normal) { return normal.dot(s.normal) > 0 && normal.cross(s.normal).norm() < aligned_faces; };
  if (s.part->kind == CollisionPart::Kind::plane) {
    out = plane_at(Vec3::Zero(), Vec3::UnitZ(), 0);
    return true;
  }
  if (s.part->kind == CollisionPart::Kind::surface) {
    out = plane_at(s.point, s.normal, static_cast<std::uint32_t>(s.triangle));
    return true;
  }
  const Convex& c = s.part->convex;
  switch (c.kind) {
    case Convex::Kind::box:
      for (int k = 0; k < 3; ++k) {
        const Vec3 normal = std::copysign(1.0, s.normal[k]) * Vec3::Unit(k);
        if (!fits(normal)) continue;
        out = plane_at((c.size[k] + c.radius) * normal, normal, static_cast<std::uint32_t>(2 * k + (s.normal[k] > 0)));
        return true;
      }
      return false;
    case Convex::Kind::cylinder: {
      const Vec3 normal(0, 0, std::copysign(1.0, s.normal.z()));
      if (!fits(normal)) return false;
      out = plane_at((c.size.z() + c.radius) * normal, normal, s.normal.z() > 0);
      return true;
    }
    case Convex::Kind::cone:
      if (!fits(-Vec3::UnitZ())) return false;
      out = plane_at(-c.radius * Vec3::UnitZ(), -Vec3::UnitZ(), 0);
      return true;
    case Convex::Kind::hull: {
      const int f = c.hull->support_face(s.normal);
      const Hull::Face& plane = c.hull->faces[f];
      if (!fits(plane.normal)) return false;
      out = plane_at((plane.offset + c.radius) * plane.normal, plane.normal, static_cast<std::uint32_t>(f));
      return true;
    }
    default:
      return false;
  }
}

Feature spot_at(const Side& s) { return {.at = s.point, .name = name_of(Named::spot, s.label)}; }

/// A corner, edge or a point of a face of a box, by how many coordinates of the core's point are at their ends.
Feature box_feature(const Side& s, const Vec3& q) {
  const Convex& c = s.part->convex;
  Feature out{.radius = c.radius};
  std::uint32_t which = 0;
  int free = -1, ends = 0;
  for (int k = 0; k < 3; ++k) {
    which *= 3;
    if (std::abs(q[k]) > c.size[k] - on_feature * c.size.maxCoeff()) {
      out.at[k] = std::copysign(c.size[k], q[k]);
      which += q[k] > 0 ? 2 : 1;
      ++ends;
    } else {
      free = k;
    }
  }
  if (ends < 2) return spot_at(s);
  out.name = name_of(ends == 3 ? Named::corner : Named::edge, which);
  if (ends == 3) return out;
  out.kind = Kind::line;
  out.axis = Vec3::Unit(free);
  out.size = c.size[free];
  return out;
}

Feature hull_feature(const Side& s, const Vec3& q) {
  const Convex& c = s.part->convex;
  const double near = on_feature * c.hull->size;
  for (std::size_t v = 0; v < c.hull->vertices.size(); ++v)
    if ((c.hull->vertices[v] - q).norm() < near)
      return {.at = c.hull->vertices[v], .radius = c.radius, .name = name_of(Named::corner, static_cast<std::uint32_t>(v))};
  for (std::size_t e = 0; e < c.hull->edges.size(); ++e) {
    const Vec3 &from = c.hull->vertices[c.hull->edges[e].from], &to = c.hull->vertices[c.hull->edges[e].to];
    const double length = (to - from).norm();
    const Vec3 axis = (to - from) / length;
    if ((q - from).cross(axis).norm() < near && axis.dot(q - from) > 0 && axis.dot(q - from) < length)
      return {.kind = Kind::line,
              .at = 0.5 * (from + to),
              .axis = axis,
              .size = 0.5 * length,
              .radius = c.radius,
              .name = name_of(Named::edge, static_cast<std::uint32_t>(e))};
  }
  return spot_at(s);
}

Feature rim_at(double z, double size, double radius, std::uint32_t which) {
  return {.kind = Kind::circle, .at = {0, 0, z}, .size = size, .radius = radius, .name = name_of(Named::rim, which)};
}

/// What of a convex part is at the point, where no flat face of it touches. `on_flat`: the other side is one.
Feature curved_feature(const Side& s, bool on_flat) {
  const Convex& c = s.part->convex;
  const Vec3 q = s.point - c.radius * s.normal;  // on the core
  const Feature searched{.kind = Kind::searched, .name = name_of(Named::whole, 0)};
  switch (c.kind) {
    case Convex::Kind::sphere:
      return {.radius = c.radius, .name = name_of(Named::whole, 0)};
    case Convex::Kind::capsule: {
      const bool end = std::abs(q.z()) > c.size.z() * (1 - on_feature);
      if (end || on_flat)
        return {.at = {0, 0, end ? std::copysign(c.size.z(), q.z()) : q.z()},
                .radius = c.radius,
                .name = end ? name_of(Named::core_end, q.z() > 0) : name_of(Named::spot, s.label)};
      return {.kind = Kind::line, .size = c.size.z(), .radius = c.radius, .name = name_of(Named::core, 0)};
    }
    case Convex::Kind::box: {
      const Feature found = box_feature(s, q);
      return on_flat && found.kind == Kind::line ? spot_at(s) : found;
    }
    case Convex::Kind::hull: {
      const Feature found = hull_feature(s, q);
      return on_flat && found.kind == Kind::line ? spot_at(s) : found;
    }
    case Convex::Kind::cylinder: {
      const bool at_end = std::abs(q.z()) > c.size.z() * (1 - on_feature);
      const bool round = std::hypot(s.normal.x(), s.normal.y()) > aligned_faces;  // a disc that lies flat touches at spots
      if (at_end && round) return rim_at(std::copysign(c.size.z(), q.z()), c.size.x(), c.radius, q.z() > 0);
      if (at_end || !round) return spot_at(s);
      if (on_flat) return {.at = {0, 0, q.z()}, .radius = c.size.x() + c.radius, .name = name_of(Named::spot, s.label)};
      return {.kind = Kind::line, .size = c.size.z(), .radius = c.size.x() + c.radius, .name = name_of(Named::side, 0)};
    }
    case Convex::Kind::cone: {
      const double near = on_feature * c.size.maxCoeff();
      const bool round = std::hypot(s.normal.x(), s.normal.y()) > aligned_faces;
      if (q.z() > c.size.z() - near) return {.at = {0, 0, c.size.z()}, .radius = c.radius, .name = name_of(Named::apex, 0)};
      if (q.z() < near) return round ? rim_at(0, c.size.x(), c.radius, 0) : spot_at(s);
      if (!on_flat) return searched;
      // There the side is as round as the ball inside that touches it, all around, at this height.
      const double slope = c.size.x() / c.size.z(), r = slope * (c.size.z() - q.z());
      return {.at = {0, 0, q.z() - r * slope},
              .radius = r * std::hypot(1.0, slope) + c.radius,
              .name = name_of(Named::spot, s.label)};
    }
    case Convex::Kind::ellipsoid:
      if (!on_flat) return searched;
      return {.kind = Kind::ellipsoid, .radius = c.radius, .radii = c.size, .name = name_of(Named::whole, 0)};
    case Convex::Kind::triangle:
      break;
  }
  return spot_at(s);
}

bool is_corner(const Feature& f) { return f.kind == Kind::point && (f.name >> 24) == static_cast<std::uint32_t>(Named::corner); }
bool is_curve(const Feature& f) { return f.kind == Kind::line || f.kind == Kind::circle; }

/// From the part's frame to the one that the body carries.
void carry(const Frame& X, Feature& f) {
  f.at = X * f.at;
  f.axis = X.R * f.axis;
  f.turned = X.R * f.turned;
}

/// The point farthest along the unit vector d, in the frame of the feature.
Vec3 support_of(const Feature& f, const Vec3& d) {
  switch (f.kind) {
    case Kind::circle: {
      const Vec3 across = d - d.dot(f.axis) * f.axis;
      const double length = across.norm();
      return f.at + (length > 0 ? f.size / length : 0) * across + f.radius * d;
    }
    case Kind::ellipsoid: {
      const Vec3 scaled = f.radii.cwiseProduct(f.turned.transpose() * d);
      return f.at + f.turned * f.radii.cwiseProduct(scaled) / scaled.norm() + f.radius * d;
    }
    default:
      return f.at + f.radius * d;
  }
}

/// A point of a curve and its derivatives, in the world.
struct CurvePoint {
  Vec3 x, first = Vec3::Zero(), second = Vec3::Zero();
};
CurvePoint curve_point(const Feature& f, const Frame& X, double s) {
  if (f.kind == Kind::line) return {X * (f.at + s * f.axis), X.R * f.axis, Vec3::Zero()};
  if (f.kind == Kind::circle) {
    const Vec3 e = any_normal_to(f.axis), g = f.axis.cross(e);
    const Vec3 out = std::cos(s) * e + std::sin(s) * g;
    return {X * (f.at + f.size * out), f.size * (X.R * (std::cos(s) * g - std::sin(s) * e)), -f.size * (X.R * out)};
  }
  return {X * f.at};
}
double place_on_curve(const Feature& f, const Vec3& point) {
  if (f.kind == Kind::line) return f.axis.dot(point - f.at);
  if (f.kind != Kind::circle) return 0;
  const Vec3 e = any_normal_to(f.axis), g = f.axis.cross(e), d = point - f.at;
  return std::atan2(g.dot(d), e.dot(d));
}

/// Newton's method on the squared distance of two curves.
TouchPlace nearest_on_curves(FeaturePair& pair, const Frame& X_A, const Frame& X_B) {
  const double unit_a = pair.a.kind == Kind::line ? std::max(pair.a.size, 1e-300) : 1;
  const double unit_b = pair.b.kind == Kind::line ? std::max(pair.b.size, 1e-300) : 1;
  constexpr int most_rounds = 30;
  CurvePoint p, q;
  for (int round = 0;; ++round) {
    p = curve_point(pair.a, X_A, pair.s_a);
    q = curve_point(pair.b, X_B, pair.s_b);
    const Vec3 apart = q.x - p.x;
    const double g_a = -apart.dot(p.first), g_b = apart.dot(q.first);
    const double h_ab = -p.first.dot(q.first);
    // Rows of what does not move along a curve are left alone.
    double h_aa = p.first.squaredNorm() - apart.dot(p.second), h_bb = q.first.squaredNorm() + apart.dot(q.second);
    if (!is_curve(pair.a)) h_aa = 1;
    if (!is_curve(pair.b)) h_bb = 1;
    const double det = h_aa * h_bb - h_ab * h_ab;
    if (det == 0 || round == most_rounds) break;
    const double d_a = -(h_bb * g_a - h_ab * g_b) / det, d_b = -(h_aa * g_b - h_ab * g_a) / det;
    pair.s_a += d_a;
    pair.s_b += d_b;
    if (std::abs(d_a) < 1e-15 * unit_a && std::abs(d_b) < 1e-15 * unit_b) break;
  }
  const Vec3 apart = q.x - p.x;
  const double rounding = pair.a.radius + pair.b.radius;
  TouchPlace out;
  if (rounding > 0) {
    const double distance = apart.norm();
    out.normal = distance > 0 ? Vec3(apart / distance) : pair.normal;
    out.gap = distance - rounding;
  } else {
    out.normal = p.first.cross(q.first).normalized();
    if (out.normal.dot(pair.normal) < 0) out.normal = -out.normal;
    out.gap = out.normal.dot(apart);
  }
  out.on_a = p.x + pair.a.radius * out.normal;
  out.on_b = q.x - pair.b.radius * out.normal;
  return out;
}

}  // namespace

FeaturePair features_at(const Manifold& m, int point, const CollisionShape& a, const Frame& X_A, const Vec3& shape_at_a,
                        const CollisionShape& b, const Frame& X_B, const Vec3& shape_at_b) {
  const ContactPoint& at = m.points[point];
  FeaturePair out;
  out.normal = m.normal;
  const CollisionPart &part_a = a.parts()[m.part_a], &part_b = b.parts()[m.part_b];
  const Frame X_BA(part_a.X_BP.R, shape_at_a + part_a.X_BP.p), X_BB(part_b.X_BP.R, shape_at_b + part_b.X_BP.p);
  const Frame X_WA = X_A * X_BA, X_WB = X_B * X_BB;
  const Side side_a{&part_a, X_WA.to_local(at.on_a), X_WA.R.transpose() * m.normal, at.feature, m.triangle_a};
  const Side side_b{&part_b, X_WB.to_local(at.on_b), -(X_WB.R.transpose() * m.normal), at.feature, m.triangle_b};
  Feature flat_a, flat_b;
  const bool is_flat_a = flat_face(side_a, flat_a), is_flat_b = flat_face(side_b, flat_b);
  const bool convex_a = part_a.kind == CollisionPart::Kind::convex, convex_b = part_b.kind == CollisionPart::Kind::convex;
  if (is_flat_a && convex_b) {
    out.b = curved_feature(side_b, true);
    out.a = flat_a;
    // Two faces: whoever has a corner there is the one that touches with it.
    if (is_flat_b && convex_a && !is_corner(out.b))
      if (const Feature of_a = curved_feature(side_a, true); is_corner(of_a)) out.a = of_a, out.b = flat_b;
  } else if (is_flat_b && convex_a) {
    out.a = curved_feature(side_a, true);
    out.b = flat_b;
  } else {
    out.a = curved_feature(side_a, false);
    out.b = curved_feature(side_b, false);
  }
  const bool sharp = out.a.radius + out.b.radius == 0;
  const bool plane = out.a.kind == Kind::plane || out.b.kind == Kind::plane;
  if (!plane &&
      (out.a.kind == Kind::searched || out.b.kind == Kind::searched || (sharp && !(is_curve(out.a) && is_curve(out.b))))) {
    out.a.kind = out.b.kind = Kind::searched;
    out.a.name = out.b.name = name_of(Named::whole, 0);
    out.part_a = &part_a.convex;
    out.part_b = &part_b.convex;
  }
  out.X_a = X_BA;
  out.X_b = X_BB;
  carry(X_BA, out.a);
  carry(X_BB, out.b);
  // Lines side by side touch along a stretch: a point of one, as the manifold has it, on the line of the other.
  if (out.a.kind == Kind::line && out.b.kind == Kind::line &&
      (X_A.R * out.a.axis).cross(X_B.R * out.b.axis).norm() < near_parallel) {
    out.b.at += out.b.axis * place_on_curve(out.b, X_B.to_local(at.on_b));
    out.b.kind = Kind::point;
    out.b.name = name_of(Named::spot, at.feature);
  }
  out.s_a = place_on_curve(out.a, X_A.to_local(at.on_a));
  out.s_b = place_on_curve(out.b, X_B.to_local(at.on_b));
  return out;
}

TouchPlace touch_place(FeaturePair& pair, const Frame& X_A, const Frame& X_B) {
  TouchPlace out;
  if (pair.a.kind == Kind::plane) {
    out.normal = X_A.R * pair.a.axis;
    out.on_b = X_B * support_of(pair.b, -(X_B.R.transpose() * out.normal));
    out.gap = out.normal.dot(out.on_b - X_A * pair.a.at);
    out.on_a = out.on_b - out.gap * out.normal;
  } else if (pair.b.kind == Kind::plane) {
    out.normal = -(X_B.R * pair.b.axis);
    out.on_a = X_A * support_of(pair.a, X_A.R.transpose() * out.normal);
    out.gap = out.normal.dot(X_B * pair.b.at - out.on_a);
    out.on_b = out.on_a + out.gap * out.normal;
  } else if (pair.a.kind == Kind::searched) {
    const Separation s = separation_in_world(*pair.part_a, X_A * pair.X_a, *pair.part_b, X_B * pair.X_b, infinity, pair.memory);
    out = {s.on_a, s.on_b, s.normal, s.gap};
  } else {
    out = nearest_on_curves(pair, X_A, X_B);
  }
  pair.normal = out.normal;
  return out;
}

}  // namespace rotule
