#pragma once
// Where two bodies touch, as a smooth function of their poses. The narrow phase finds a point once; what touches there are two
// features, each a simple set with a rounding radius, and their nearest points follow from the poses in closed form or by
// Newton's method, to rounding: so points, normals and gaps can be differentiated along a motion.
//
//   point       a corner, the centre of a ball, the end of a capsule's core, the apex of a cone, a point of a flat face
//   line        an edge, the core of a capsule or of a cylinder's side
//   circle      the rim of a cylinder or of a cone
//   plane       a flat face, seen from outside
//   ellipsoid
//
// A plane meets the other's lowest point. Two curves c(s), d(t) are nearest where (d - c) . c' = (d - c) . d' = 0; the normal is
// along d - c where one is rounded, along c' x d' where both are sharp edges. Whatever has no such form (an ellipsoid on a ball,
// the side of a cone) is searched for by separation.h, whose answers are as good as its tolerances.
#include "collide/collision_world.h"

namespace rotule {

struct Feature {
  enum class Kind : std::uint8_t { point, line, circle, plane, ellipsoid, searched };
  Kind kind = Kind::point;
  // In axes that the body carries: a point; the middle of a line or circle; a point of a plane.
  Vec3 at = Vec3::Zero();
  Vec3 axis = Vec3::UnitZ();  // along a line, about a circle, out of a plane
  double size = 0;            // half a line's length, a circle's radius
  double radius = 0;          // of the rounding
  Mat3 turned = Mat3::Identity();
  Vec3 radii = Vec3::Ones();  // of an ellipsoid, along the columns of `turned`
  std::uint32_t name = 0;     // tells the features of a part apart: the same from step to step
};

/// Two features that touch. Searched pairs keep their parts and where those sit on their bodies.
struct FeaturePair {
  Feature a, b;
  double s_a = 0, s_b = 0;  // where on a line or circle the last nearest points were
  const Convex *part_a = nullptr, *part_b = nullptr;
  Frame X_a, X_b;
  PairMemory memory;
  Vec3 normal = Vec3::UnitZ();  // the last one, in the world: sharp edges have two
};

struct TouchPlace {
  Vec3 on_a, on_b;  // in the world
  Vec3 normal;      // unit, from A to B
  double gap;
};

/// What touches at a point of a manifold. `X_A`, `X_B` are the frames in which features are wanted (a body's, from its centre of
/// mass), `shape_at` where a body's shape has its origin in that frame.
FeaturePair features_at(const Manifold& manifold, int point, const CollisionShape& a, const Frame& X_A, const Vec3& shape_at_a,
                        const CollisionShape& b, const Frame& X_B, const Vec3& shape_at_b);

/// The nearest points of the two features in these poses, starting from where they were last.
TouchPlace touch_place(FeaturePair& pair, const Frame& X_A, const Frame& X_B);

/// Whether the two touch at a point that wanders over neither: such points of one pair are told apart by what they are.
inline bool same_features(const FeaturePair& p, const FeaturePair& q) {
  return p.a.kind == q.a.kind && p.b.kind == q.b.kind && p.a.name == q.a.name && p.b.name == q.b.name;
}

}  // namespace rotule
