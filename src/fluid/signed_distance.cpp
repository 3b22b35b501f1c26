#include "fluid/signed_distance.h"

#include <algorithm>
#include <cmath>

#include "model/convex_hull.h"

namespace rotule {
namespace {

using Vec2 = Eigen::Vector2d;

/// Of a box in any number of dimensions, from how far the point is beyond each pair of faces.
template <class Vector>
double box_distance(const Vector& beyond) {
  return beyond.cwiseMax(0.0).norm() + std::min(beyond.maxCoeff(), 0.0);
}

double segment_distance(const Vec2& x, const Vec2& a, const Vec2& b) {
  const Vec2 along = b - a;
  const double t = std::clamp((x - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
  return (x - a - t * along).norm();
}

double distance_to(const Sphere& s, const Vec3& x) { return x.norm() - s.radius; }
double distance_to(const Box& s, const Vec3& x) { return box_distance(Vec3(x.cwiseAbs() - s.size / 2)); }
double distance_to(const Cylinder& s, const Vec3& x) {
  return box_distance(Vec2(x.head<2>().norm() - s.radius, std::abs(x.z()) - s.height / 2));
}
double distance_to(const Capsule& s, const Vec3& x) {
  const double beyond = std::max(std::abs(x.z()) - s.length / 2, 0.0);
  return std::hypot(x.head<2>().norm(), beyond) - s.radius;
}
double distance_to(const Cone& s, const Vec3& x) {
  const Vec2 q(x.head<2>().norm(), x.z()), rim(s.radius, 0), apex(0, s.height);
  const double outside = std::min(segment_distance(q, Vec2::Zero(), rim), segment_distance(q, rim, apex));
  const bool inside = q.y() > 0 && q.x() * s.height + q.y() * s.radius < s.radius * s.height;
  return inside ? -outside : outside;
}
double distance_to(const Ellipsoid& s, const Vec3& x) {
  const double k = x.cwiseQuotient(s.radii).norm(), gradient = x.cwiseQuotient(s.radii.cwiseAbs2()).norm();
  return gradient > 0 ? k * (k - 1) / gradient : -s.radii.minCoeff();
}
template <class Other>
double distance_to(const Other&, const Vec3&) {
  return infinity;  // has a mesh, or is none that gets here
}

}  // namespace

bool is_closed(const Shape& shape) {
  if (const auto* compound = std::get_if<Compound>(&shape))
    return std::all_of(compound->parts.begin(), compound->parts.end(), [](const auto& part) { return is_closed(part.shape); });
  return !std::holds_alternative<std::monostate>(shape) && !std::holds_alternative<Plane>(shape) &&
         !std::holds_alternative<HeightField>(shape);
}

SignedDistance::SignedDistance(const Shape& shape) { add(shape, Vec3::Zero(), Mat3::Identity()); }

void SignedDistance::add(const Shape& shape, const Vec3& position, const Mat3& turn) {
  if (const auto* compound = std::get_if<Compound>(&shape)) {
    for (const CompoundPart& part : compound->parts)
      add(part.shape, position + turn * part.position, turn * part.orientation.toRotationMatrix());
    return;
  }
  Part part{shape, nullptr, position, turn.transpose()};
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) part.mesh = std::make_shared<SolidDistance>(*mesh);
  if (const auto* hull = std::get_if<ConvexHull>(&shape)) part.mesh = std::make_shared<SolidDistance>(hull_mesh(*hull));
  parts_.push_back(std::move(part));
}

double SignedDistance::operator()(const Vec3& x) const {
  double nearest = infinity;
  for (const Part& part : parts_) {
    const Vec3 y = part.to_part * (x - part.position);
    nearest = std::min(
        nearest, part.mesh ? (*part.mesh)(y) : std::visit([&](const auto& shape) { return distance_to(shape, y); }, part.shape));
  }
  return nearest;
}

}  // namespace rotule
