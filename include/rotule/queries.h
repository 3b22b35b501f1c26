#pragma once
// Where things are: rays, moving shapes, overlaps, distances and points, asked of a world as it stands now or of single shapes.
// All bodies with a shape are seen, whether or not the recipe has contacts. SI units, world axes.
//
// A world keeps its bodies in a tree, which the first question after a step, or after a body was placed, added or removed, brings
// up to date; further ones cost the logarithm of the number of bodies. Several threads may ask at the same time, while none
// changes the world.
//
// Surfaces (triangle meshes without `convex_parts`, height fields) have no thickness: rays meet them from both sides, moving
// shapes from the front, and a shape wholly inside of one neither overlaps nor is near anything but its triangles. Surfaces and
// planes do not meet each other: nothing is found between them.
#include <rotule/query_types.h>
#include <rotule/world.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace rotule {

// In a world.

/// The first body that the ray meets.
std::optional<RayResult> cast_ray(const World& world, const Ray& ray, const BodyFilter& filter = {});
/// All that it meets, each where it does first, nearest first.
std::vector<RayResult> cast_ray_through(const World& world, const Ray& ray, const BodyFilter& filter = {});
/// Many rays at once, by so many threads (0: as many as the machine has); the answers do not depend on their number. A filter's
/// `wants` is then called from all of them.
std::vector<std::optional<RayResult>> cast_rays(const World& world, std::span<const Ray> rays, const BodyFilter& filter = {},
                                                int threads = 0);

/// The first body that the shape touches, moving by `path` (m) without turning; up to a gap of a millionth of its size, or 1e-6
/// m.
std::optional<CastResult> cast_shape(const World& world, const QueryShape& shape, const Pose& pose, const Vec3& path,
                                     const BodyFilter& filter = {});

/// Bodies that overlap the shape, in the world's order.
std::vector<BodyId> overlapping(const World& world, const QueryShape& shape, const Pose& pose, const BodyFilter& filter = {});
/// Bodies that hold the point; what is below a height field or inside a closed mesh counts.
std::vector<BodyId> bodies_at(const World& world, const Vec3& point, const BodyFilter& filter = {});

/// The body nearest to the shape, within `reach` (m); `normal` points to it. Of several that overlap it, the deepest.
std::optional<DistanceResult> nearest_body(const World& world, const QueryShape& shape, const Pose& pose, double reach = infinity,
                                           const BodyFilter& filter = {});
/// The same from a point; inside of a body the distance is the negative depth.
std::optional<DistanceResult> nearest_body(const World& world, const Vec3& point, double reach = infinity,
                                           const BodyFilter& filter = {});
/// Between two bodies, the first as the shape; none where their shapes cannot meet, or one has none. Stale ids throw.
std::optional<DistanceResult> distance(const World& world, BodyId shape, BodyId body);

// Between shapes, without a world.

std::optional<RayResult> cast_ray(const QueryShape& shape, const Pose& pose, const Ray& ray);
std::optional<CastResult> cast_shape(const QueryShape& shape, const Pose& pose, const Vec3& path, const QueryShape& body,
                                     const Pose& body_pose);
std::optional<DistanceResult> distance(const QueryShape& shape, const Pose& pose, const QueryShape& body, const Pose& body_pose);
bool overlap(const QueryShape& shape, const Pose& pose, const QueryShape& body, const Pose& body_pose);

/// A frame that moves steadily: at time t it stands at its position + t velocity, turned by the rotation vector t
/// angular_velocity.
struct ShapeMotion {
  Pose pose = {};
  Vec3 velocity = Vec3::Zero();          // m/s
  Vec3 angular_velocity = Vec3::Zero();  // rad/s, world axes
};

struct ImpactResult {
  double time = 0;              // s; early by what `tolerance` is worth, never late
  Vec3 point = Vec3::Zero();    // between the two
  Vec3 normal = Vec3::UnitZ();  // from the first to the second
  int part_a = 0, part_b = 0, triangle = -1;
};

/// When two moving shapes first come within `tolerance` (m) of each other, 0 <= t <= duration.
std::optional<ImpactResult> time_of_impact(const QueryShape& a, const ShapeMotion& motion_a, const QueryShape& b,
                                           const ShapeMotion& motion_b, double duration, double tolerance = 1e-6);

}  // namespace rotule
