#pragma once
// What a body is made of for collision: a list of parts, each a convex shape, a surface of triangles or a half-space, placed in
// the body's frame. Compounds are flattened; a part's number is its place in the order in which the compound names its leaves,
// each hull of a mesh's `convex_parts` being one. Made once per body, shared by copies. Throws Error for shapes that have no
// extent or are not sound.
#include <rotule/shapes.h>

#include <memory>
#include <vector>

#include "collide/shape/convex.h"
#include "collide/shape/surface.h"

namespace rotule {

/// One of the shapes that a body is made of.
struct CollisionPart {
  enum class Kind : std::uint8_t { convex, surface, plane };
  Kind kind = Kind::convex;
  Frame X_BP;             // part to body
  bool at_origin = true;  // X_BP is the identity
  Convex convex;
  const Surface* surface = nullptr;
  double reach = 0;  // largest distance of a point of the part from the body's origin; infinite for a plane
};

class CollisionShape {
 public:
  CollisionShape() = default;
  explicit CollisionShape(const Shape& shape);
  /// The origin alone, which queries ask for distances from.
  static CollisionShape point();

  [[nodiscard]] const std::vector<CollisionPart>& parts() const { return parts_; }
  [[nodiscard]] double reach() const { return reach_; }
  /// One convex part, in the body's own frame.
  [[nodiscard]] bool is_convex() const { return is_convex_; }

 private:
  void add(const Shape& shape, const Frame& X, int depth);
  std::vector<CollisionPart> parts_;
  std::vector<std::shared_ptr<const Hull>> hulls_;
  std::vector<std::shared_ptr<const Surface>> surfaces_;
  double reach_ = 0;
  bool is_convex_ = false;
};

/// Where the part stands.
inline Frame placed(const CollisionPart& part, const Frame& X_WB) { return part.at_origin ? X_WB : X_WB * part.X_BP; }

Aabb bounds(const CollisionPart& part, const Frame& X_WB);
Aabb bounds(const CollisionShape& shape, const Frame& X_WB);

}  // namespace rotule
