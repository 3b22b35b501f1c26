// Queries on a world: its bodies in a tree (collide/collision_world.h) that follows them when asked, not when they move.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/queries.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "base/text.h"
#include "collide/collision_world.h"
#include "world/world_implementation.h"

namespace rotule {

/// Proxies are the numbers of bodies in the tree; an id finds its proxy by its index.
struct QueryCache {
  struct Entry {
    BodyId id;
    Pose pose;
  };
  CollisionWorld world;
  std::vector<Entry> entry_of;  // by proxy
  std::vector<int> proxy_of;    // by the id's index; -1: none
  std::mutex refreshing;
  std::atomic<std::uint64_t> revision{~std::uint64_t{0}};  // of the world that the tree is of

  [[nodiscard]] int proxy(BodyId id) const {
    const int found = id.index < proxy_of.size() ? proxy_of[id.index] : -1;
    return found >= 0 && entry_of[found].id == id ? found : -1;
  }
  void refresh(const WorldImplementation& w);
};

const CollisionShape& implementation_of(const QueryShape& shape) { return *shape.shape_; }

QueryShape::QueryShape(Made, const Shape& shape) : shape_(std::make_shared<const CollisionShape>(shape)) {}

void QueryCache::refresh(const WorldImplementation& w) {
  for (int& number : proxy_of) {
    if (number < 0 || w.body_slots.contains(entry_of[number].id)) continue;
    world.remove(number);
    number = -1;
  }
  for (int i = 0; i < w.model.body_count(); ++i) {
    const Body& body = w.model.bodies[i];
    if (std::holds_alternative<std::monostate>(body.shape)) continue;
    const BodyId id = w.body_slots.id(i);
    Pose pose = body_frame(w.model, w.state, i);
    pose.orientation.normalize();
    int number = proxy(id);
    if (number < 0) {
      number = world.add(CollisionShape(body.shape), pose, !body.fixed || body.kinematic);
      if (number >= static_cast<int>(entry_of.size())) entry_of.resize(number + 1);
      if (id.index >= proxy_of.size()) proxy_of.resize(id.index + 1, -1);
      proxy_of[id.index] = number;
    } else if (entry_of[number].pose.position == pose.position &&
               entry_of[number].pose.orientation.coeffs() == pose.orientation.coeffs()) {
      continue;
    } else {
      world.set_pose(number, pose);
    }
    entry_of[number] = {id, pose};
  }
  revision = w.revision;
}

void forget_queries(WorldImplementation& world) {
  if (world.queries) world.queries = std::make_shared<QueryCache>();
}

std::optional<RayResult> World::cast_ray(const Ray& ray, const BodyFilter& filter) const {
  return rotule::cast_ray(*this, ray, filter);
}
std::optional<CastResult> World::sweep(const QueryShape& shape, const Pose& pose, const Vec3& path,
                                       const BodyFilter& filter) const {
  return cast_shape(*this, shape, pose, path, filter);
}
std::vector<BodyId> World::overlap(const QueryShape& shape, const Pose& pose, const BodyFilter& filter) const {
  return overlapping(*this, shape, pose, filter);
}

namespace {

const QueryCache& up_to_date(const World& world) {
  WorldImplementation& w = implementation_of(world);
  std::call_once(w.queries_made, [&] { w.queries = std::make_shared<QueryCache>(); });
  QueryCache& cache = *w.queries;
  if (cache.revision != w.revision) {
    const std::lock_guard lock(cache.refreshing);
    if (cache.revision != w.revision) cache.refresh(w);
  }
  return cache;
}

QueryFilter by_proxies(const World& world, const QueryCache& cache, const BodyFilter& filter) {
  QueryFilter out;
  const Model& model = implementation_of(world).model;
  const bool all_kinds = filter.fixed && filter.moving && filter.untouched && (filter.sensors || model.sensor_count == 0);
  if (all_kinds && filter.without_group == 0 && filter.layers.empty() && !filter.wants) return out;
  std::uint32_t layers = filter.layers.empty() ? ~0u : 0;
  for (const std::string& name : filter.layers) {
    const auto found = std::find(model.layers.begin(), model.layers.end(), name);
    if (found == model.layers.end())
      throw Error(fmt::format("layer {}", in_quotes(name)), "no body is on it; " + suggestion(name, model.layers));
    layers |= 1u << (found - model.layers.begin());
  }
  out.wants = [&world, &cache, &filter, layers](int number) {
    const WorldImplementation& w = implementation_of(world);
    const BodyId id = cache.entry_of[number].id;
    const Body& body = w.model.bodies[w.body_slots.place(id)];
    return (body.fixed && !body.kinematic ? filter.fixed : filter.moving) && (filter.untouched || body.touches) &&
           (filter.sensors || !body.sensor) && (body.layer & layers) != 0 &&
           (filter.without_group == 0 || body.group != filter.without_group) && (!filter.wants || filter.wants(id));
  };
  return out;
}

/// In the world's order, whatever that of the proxies.
std::vector<BodyId> ids(const World& world, const QueryCache& cache, const std::vector<int>& proxies) {
  const auto& slots = implementation_of(world).body_slots;
  std::vector<BodyId> out;
  for (const int number : proxies) out.push_back(cache.entry_of[number].id);
  std::sort(out.begin(), out.end(), [&](BodyId a, BodyId b) { return slots.place(a) < slots.place(b); });
  return out;
}

Vec3 unit_direction(const Ray& ray) {
  if (!ray.origin.allFinite() || !ray.direction.allFinite() || ray.direction.isZero(0) || !(ray.reach >= 0))
    throw Error("ray", "needs a finite origin, a finite direction that is not zero, and a reach of at least 0");
  return ray.direction.stableNormalized();
}

Frame frame_of(const Pose& pose) {
  if (!pose.position.allFinite() || !(std::abs(pose.orientation.norm() - 1) < 1e-6))
    throw Error("pose", "must be a finite position and a unit quaternion");
  return Frame(pose);
}

void require_bounded(const QueryShape& shape) {
  if (!std::isfinite(implementation_of(shape).reach())) throw Error("shape cast", "a plane cannot be cast; cast the other shape");
}

RayResult ray_result(BodyId body, const BodyRayHit& found, const Ray& ray, const Vec3& direction) {
  return {body, found.hit.t, ray.origin + found.hit.t * direction, found.hit.normal, found.part, found.hit.triangle};
}

CastResult cast_result(BodyId body, const CastHit& hit) { return {body, hit.t, hit.point, hit.normal, hit.part_b, hit.triangle}; }

DistanceResult distance_result(BodyId body, const ShapeDistance& found) {
  return {body, found.gap, found.on_a, found.on_b, found.normal, found.part_b, found.triangle};
}

std::optional<RayResult> first_hit(const QueryCache& cache, const Ray& ray, const QueryFilter& filter) {
  const Vec3 direction = unit_direction(ray);
  const auto found = cache.world.ray(ray.origin, direction, ray.reach, filter);
  if (!found) return {};
  return ray_result(cache.entry_of[found->body].id, *found, ray, direction);
}

std::optional<DistanceResult> nearest(const World& world, const CollisionShape& shape, const Pose& pose, double reach,
                                      const BodyFilter& filter) {
  const QueryCache& cache = up_to_date(world);
  const QueryFilter by_number = by_proxies(world, cache, filter);
  // Without a limit: wider and wider, so that what is far away is not looked at where something is near.
  std::optional<BodyDistance> found;
  const double size = std::isfinite(shape.reach()) && shape.reach() > 0 ? shape.reach() : 1;
  for (double r = size; !found && r < std::min(reach, 1e6 * size); r *= 8) found = cache.world.closest(shape, pose, r, by_number);
  if (!found) found = cache.world.closest(shape, pose, reach, by_number);
  if (!found) return {};
  return distance_result(cache.entry_of[found->body].id, found->found);
}

constexpr int rays_at_a_time = 64;  // that one thread takes

}  // namespace

std::optional<RayResult> cast_ray(const World& world, const Ray& ray, const BodyFilter& filter) {
  const QueryCache& cache = up_to_date(world);
  return first_hit(cache, ray, by_proxies(world, cache, filter));
}

std::vector<RayResult> cast_ray_through(const World& world, const Ray& ray, const BodyFilter& filter) {
  const QueryCache& cache = up_to_date(world);
  const Vec3 direction = unit_direction(ray);
  std::vector<BodyRayHit> found;
  cache.world.ray_all(ray.origin, direction, ray.reach, found, by_proxies(world, cache, filter));
  std::vector<RayResult> out;
  for (const BodyRayHit& one : found) out.push_back(ray_result(cache.entry_of[one.body].id, one, ray, direction));
  return out;
}

std::vector<std::optional<RayResult>> cast_rays(const World& world, std::span<const Ray> rays, const BodyFilter& filter,
                                                int threads) {
  const QueryCache& cache = up_to_date(world);
  const QueryFilter by_number = by_proxies(world, cache, filter);
  std::vector<std::optional<RayResult>> out(rays.size());
  const auto chunks = static_cast<int>((rays.size() + rays_at_a_time - 1) / rays_at_a_time);
  parallel_for(chunks, threads, [&](int chunk) {
    const std::size_t first = std::size_t(chunk) * rays_at_a_time, last = std::min(rays.size(), first + rays_at_a_time);
    for (std::size_t i = first; i < last; ++i) out[i] = first_hit(cache, rays[i], by_number);
  });
  return out;
}

std::optional<CastResult> cast_shape(const World& world, const QueryShape& shape, const Pose& pose, const Vec3& path,
                                     const BodyFilter& filter) {
  require_bounded(shape);
  const QueryCache& cache = up_to_date(world);
  const auto found = cache.world.shape_cast(implementation_of(shape), pose, path, by_proxies(world, cache, filter));
  if (!found) return {};
  return cast_result(cache.entry_of[found->body].id, found->hit);
}

std::vector<BodyId> overlapping(const World& world, const QueryShape& shape, const Pose& pose, const BodyFilter& filter) {
  const QueryCache& cache = up_to_date(world);
  std::vector<int> found;
  cache.world.overlap(implementation_of(shape), pose, found, by_proxies(world, cache, filter));
  return ids(world, cache, found);
}

std::vector<BodyId> bodies_at(const World& world, const Vec3& point, const BodyFilter& filter) {
  const QueryCache& cache = up_to_date(world);
  std::vector<int> found;
  cache.world.at_point(point, found, by_proxies(world, cache, filter));
  return ids(world, cache, found);
}

std::optional<DistanceResult> nearest_body(const World& world, const QueryShape& shape, const Pose& pose, double reach,
                                           const BodyFilter& filter) {
  return nearest(world, implementation_of(shape), pose, reach, filter);
}

std::optional<DistanceResult> nearest_body(const World& world, const Vec3& point, double reach, const BodyFilter& filter) {
  static const CollisionShape origin = CollisionShape::point();
  return nearest(world, origin, {point, Quat::Identity()}, reach, filter);
}

std::optional<DistanceResult> distance(const World& world, BodyId shape, BodyId body) {
  const auto& slots = implementation_of(world).body_slots;
  static_cast<void>(slots.place(shape) + slots.place(body));  // throws where they are stale
  const QueryCache& cache = up_to_date(world);
  const int a = cache.proxy(shape), b = cache.proxy(body);
  if (a < 0 || b < 0) return {};
  const CollisionWorld& w = cache.world;
  const auto found = distance_of(w.shape(a), w.frame(a), w.shape(b), w.frame(b), infinity);
  if (!found) return {};
  return distance_result(body, *found);
}

std::optional<RayResult> cast_ray(const QueryShape& shape, const Pose& pose, const Ray& ray) {
  const Vec3 direction = unit_direction(ray);
  const auto found = ray_shape(implementation_of(shape), frame_of(pose), ray.origin, direction, ray.reach);
  if (!found) return {};
  return ray_result({}, *found, ray, direction);
}

std::optional<CastResult> cast_shape(const QueryShape& shape, const Pose& pose, const Vec3& path, const QueryShape& body,
                                     const Pose& body_pose) {
  require_bounded(shape);
  const double tolerance = 1e-6 * std::min(implementation_of(shape).reach(), 1.0);
  const CastHit hit =
      cast(implementation_of(shape), {frame_of(pose), path}, implementation_of(body), {frame_of(body_pose)}, {1, tolerance});
  if (!hit.hit) return {};
  return cast_result({}, hit);
}

std::optional<DistanceResult> distance(const QueryShape& shape, const Pose& pose, const QueryShape& body, const Pose& body_pose) {
  const auto found =
      distance_of(implementation_of(shape), frame_of(pose), implementation_of(body), frame_of(body_pose), infinity);
  if (!found) return {};
  return distance_result({}, *found);
}

bool overlap(const QueryShape& shape, const Pose& pose, const QueryShape& body, const Pose& body_pose) {
  const auto found = distance_of(implementation_of(shape), frame_of(pose), implementation_of(body), frame_of(body_pose), 0);
  return found && found->gap <= 0;
}

std::optional<ImpactResult> time_of_impact(const QueryShape& a, const ShapeMotion& motion_a, const QueryShape& b,
                                           const ShapeMotion& motion_b, double duration, double tolerance) {
  if (!(duration >= 0) || !(tolerance > 0))
    throw Error("time of impact", "needs a duration of at least 0 and a tolerance above it");
  const SteadyMotion steady_a{frame_of(motion_a.pose), motion_a.velocity, motion_a.angular_velocity},
      steady_b{frame_of(motion_b.pose), motion_b.velocity, motion_b.angular_velocity};
  const CastHit hit = cast(implementation_of(a), steady_a, implementation_of(b), steady_b, {duration, tolerance});
  if (!hit.hit) return {};
  return ImpactResult{hit.t, hit.point, hit.normal, hit.part_a, hit.part_b, hit.triangle};
}

}  // namespace rotule
