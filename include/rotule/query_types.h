#pragma once
// What questions about places ask for and answer (queries.h says how they are asked).
#include <rotule/ids.h>
#include <rotule/shapes.h>
#include <rotule/types.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace rotule {

class CollisionShape;

/// Which bodies are looked at: all that pass every test.
struct BodyFilter {
  bool fixed = true;                     // whether those that never move are
  bool moving = true;                    // whether those that can move are, kinematic ones among them
  bool untouched = true;                 // whether those without contacts (BodyDef::contacts) are
  int without_group = 0;                 // those of this group are not; 0: all are
  bool sensors = false;                  // whether sensors are
  std::vector<std::string> layers = {};  // those of these layers alone; none: all
  std::function<bool(BodyId)> wants = nullptr;
};

/// A shape made ready for questions; worth keeping where it is a hull or a mesh, and cheap to copy. Throws Error where it has no
/// extent or is not sound.
class QueryShape {
 public:
  template <class AnyShape>
  QueryShape(const AnyShape& shape)  // NOLINT: meant to be implicit, so that a Sphere can be given where one is asked for
      requires(!std::is_same_v<AnyShape, QueryShape> && std::is_convertible_v<AnyShape, Shape>)
      : QueryShape(Made{}, shape) {}

 private:
  struct Made {};
  QueryShape(Made, const Shape& shape);
  std::shared_ptr<const CollisionShape> shape_;
  friend const CollisionShape& implementation_of(const QueryShape& shape);
};

struct Ray {
  Vec3 origin = Vec3::Zero();
  Vec3 direction{0, 0, -1};  // of any length but zero
  double reach = infinity;   // m
};

/// `part` is the place of the shape's part among the leaves of a compound or the convex parts of a mesh, 0 for simple shapes;
/// `triangle` that in a mesh or height field, -1 elsewhere. `body` is not valid where a single shape was asked.
struct RayResult {
  BodyId body;
  double distance = 0;          // m, from the origin; 0 where it lies inside
  Vec3 point = Vec3::Zero();    // origin + distance along the direction
  Vec3 normal = Vec3::UnitZ();  // of the surface, against the ray
  int part = 0, triangle = -1;
};

struct CastResult {
  BodyId body;
  double fraction = 0;          // of the path, 0 to 1; 0 where they overlap from the start
  Vec3 point = Vec3::Zero();    // where they touch then
  Vec3 normal = Vec3::UnitZ();  // from the moving shape to the body
  int part = 0, triangle = -1;  // of the body
};

struct DistanceResult {
  BodyId body;
  double distance = 0;                                   // m; negative: how deep they overlap
  Vec3 on_shape = Vec3::Zero(), on_body = Vec3::Zero();  // the nearest, or deepest, points
  Vec3 normal = Vec3::UnitZ();                           // from the shape to the body
  int part = 0, triangle = -1;                           // of the body
};

}  // namespace rotule
