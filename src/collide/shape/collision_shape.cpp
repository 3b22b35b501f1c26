#include "collide/shape/collision_shape.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include <algorithm>

namespace rotule {
namespace {

double positive(const char* shape, const char* field, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw Error(shape, fmt::format("{} must be greater than 0, is {}", field, value));
  return value;
}

Vec3 positive(const char* shape, const char* field, const Vec3& value) {
  for (int k = 0; k < 3; ++k) positive(shape, field, value[k]);
  return value;
}

}  // namespace

CollisionShape::CollisionShape(const Shape& shape) {
  add(shape, Frame{}, 0);
  is_convex_ = parts_.size() == 1 && parts_[0].kind == CollisionPart::Kind::convex && parts_[0].at_origin;
}

CollisionShape CollisionShape::point() {
  CollisionShape out;
  out.parts_.emplace_back().convex = Convex::sphere(0);
  out.is_convex_ = true;
  return out;
}

void CollisionShape::add(const Shape& shape, const Frame& X, int depth) {
  if (const auto* compound = std::get_if<Compound>(&shape)) {
    constexpr int deepest = 32;
    if (compound->parts.empty()) throw Error("compound", "has no parts");
    if (depth >= deepest) throw Error("compound", fmt::format("compounds are nested deeper than {}", deepest));
    for (std::size_t i = 0; i < compound->parts.size(); ++i) {
      const CompoundPart& part = compound->parts[i];
      if (!part.position.allFinite()) throw Error(fmt::format("compound: part {}", i), "position is not finite");
      if (!(std::abs(part.orientation.norm() - 1) < 1e-6))
        throw Error(fmt::format("compound: part {}", i), "orientation must be a unit quaternion");
      add(part.shape, X * Frame(Pose{part.position, part.orientation.normalized()}), depth + 1);
    }
    return;
  }

  if (const auto* mesh = std::get_if<TriangleMesh>(&shape); mesh != nullptr && mesh->convex_parts) {
    const std::vector<ConvexHull> hulls = mesh->hulls.empty() ? convex_decomposition(*mesh, *mesh->convex_parts) : mesh->hulls;
    for (const ConvexHull& hull : hulls) add(hull, X, depth);
    return;
  }

  CollisionPart part;
  part.X_BP = X;
  part.at_origin = depth == 0;
  if (std::holds_alternative<std::monostate>(shape)) throw Error("shape", "a point has no extent; give it a shape to collide");
  if (std::holds_alternative<Plane>(shape)) part.kind = CollisionPart::Kind::plane;
  if (const auto* s = std::get_if<Sphere>(&shape)) part.convex = Convex::sphere(positive("sphere", "radius", s->radius));
  if (const auto* s = std::get_if<Box>(&shape)) part.convex = Convex::box(positive("box", "size", s->size));
  if (const auto* s = std::get_if<Cylinder>(&shape))
    part.convex = Convex::cylinder(positive("cylinder", "radius", s->radius), positive("cylinder", "height", s->height));
  if (const auto* s = std::get_if<Capsule>(&shape))
    part.convex = Convex::capsule(positive("capsule", "radius", s->radius), positive("capsule", "length", s->length));
  if (const auto* s = std::get_if<Cone>(&shape))
    part.convex = Convex::cone(positive("cone", "radius", s->radius), positive("cone", "height", s->height));
  if (const auto* s = std::get_if<Ellipsoid>(&shape)) part.convex = Convex::ellipsoid(positive("ellipsoid", "radii", s->radii));
  if (const auto* s = std::get_if<ConvexHull>(&shape)) {
    hulls_.push_back(std::make_shared<const Hull>(make_hull(*s)));
    part.convex = Convex::polyhedron(*hulls_.back());
  }
  if (const auto* s = std::get_if<TriangleMesh>(&shape)) surfaces_.push_back(std::make_shared<const Surface>(*s));
  if (const auto* s = std::get_if<HeightField>(&shape)) surfaces_.push_back(std::make_shared<const Surface>(*s));
  if (std::holds_alternative<TriangleMesh>(shape) || std::holds_alternative<HeightField>(shape)) {
    part.kind = CollisionPart::Kind::surface;
    part.surface = surfaces_.back().get();
  }

  switch (part.kind) {
    case CollisionPart::Kind::convex:
      part.reach = rotule::reach(part.convex, X.inverse().p);
      break;
    case CollisionPart::Kind::surface: {
      const Aabb& box = part.surface->tree().bounds();
      part.reach = (X * box.center()).norm() + 0.5 * (box.high - box.low).norm();
      break;
    }
    case CollisionPart::Kind::plane:
      part.reach = infinity;
      break;
  }
  reach_ = std::max(reach_, part.reach);
  parts_.push_back(part);
}

Aabb bounds(const CollisionPart& part, const Frame& X_WB) {
  const Frame X = placed(part, X_WB);
  switch (part.kind) {
    case CollisionPart::Kind::convex:
      return bounds(part.convex, X);
    case CollisionPart::Kind::surface: {
      const Aabb& local = part.surface->tree().bounds();
      const Vec3 half = X.R.cwiseAbs() * (0.5 * (local.high - local.low)), at = X * local.center();
      return {at - half, at + half};
    }
    case CollisionPart::Kind::plane:
      break;
  }
  // A half-space is a box only where it looks along an axis.
  Aabb box{Vec3::Constant(-infinity), Vec3::Constant(infinity)};
  for (int k = 0; k < 3; ++k) {
    if (X.R(k, 2) > 1 - 1e-15) box.high[k] = X.p[k];
    if (X.R(k, 2) < -1 + 1e-15) box.low[k] = X.p[k];
  }
  return box;
}

Aabb bounds(const CollisionShape& shape, const Frame& X_WB) {
  Aabb box;
  for (const CollisionPart& part : shape.parts()) box.add(bounds(part, X_WB));
  return box;
}

}  // namespace rotule
