#include "collide/collision_world.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "base/parallel.h"
#include "collide/narrow/separation.h"

namespace rotule {
namespace {

constexpr int chunk_size = 64;  // pairs that one thread takes at a time

void require_pose(const Pose& pose) {
  if (!pose.position.allFinite() || !(std::abs(pose.orientation.norm() - 1) < 1e-6))
    throw Error("pose", "must be a finite position and a unit quaternion");
}

/// Calls visit(Separation in the world, from A to B, triangle) where the convex shape A and a part are nearer than limit(), which
/// may shrink; the triangle is -1 where there is none.
template <class Limit, class Visit>
void part_separations(const Convex& a, const Frame& X_WA, const CollisionPart& b, const Frame& X_WB, const Limit& limit,
                      const Visit& visit) {
  switch (b.kind) {
    case CollisionPart::Kind::convex: {
      PairMemory memory;
      const Separation s = separation_in_world(a, X_WA, b.convex, X_WB, limit(), memory);
      if (s.near) visit(s, -1);
      break;
    }
    case CollisionPart::Kind::plane: {
      const Vec3 n = X_WB.R.col(2), lowest = X_WA * support(a, -(X_WA.R.transpose() * n));
      const double gap = n.dot(lowest - X_WB.p);
      if (gap <= limit()) visit(Separation{true, -n, gap, lowest, lowest - gap * n}, -1);
      break;
    }
    case CollisionPart::Kind::surface: {
      const Aabb box = bounds(a, relative(X_WB, X_WA)).grown(limit());
      const Frame X_AB = relative(X_WA, X_WB);
      b.surface->tree().overlapping(box, [&](int t) {
        PairMemory fresh;
        const Separation s = separation(a, Convex::triangle(b.surface->corners(t).data()), X_AB, limit(), fresh);
        if (s.near) visit(Separation{true, X_WA.R * s.normal, s.gap, X_WA * s.on_a, X_WA * s.on_b}, b.surface->source(t));
        return true;
      });
      break;
    }
  }
}

/// visit(ShapeDistance) for all pairs of parts.
template <class Limit, class Visit>
void separations(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB, const Limit& limit,
                 const Visit& visit) {
  for (int i = 0; i < int(a.parts().size()); ++i)
    for (int j = 0; j < int(b.parts().size()); ++j) {
      const CollisionPart &part_a = a.parts()[i], &part_b = b.parts()[j];
      const Frame X_WPa = X_WA * part_a.X_BP, X_WPb = X_WB * part_b.X_BP;
      if (part_a.kind == CollisionPart::Kind::convex) {
        part_separations(part_a.convex, X_WPa, part_b, X_WPb, limit, [&](const Separation& s, int triangle) {
          visit(ShapeDistance{s.gap, s.on_a, s.on_b, s.normal, i, j, triangle});
        });
      } else if (part_b.kind == CollisionPart::Kind::convex) {
        part_separations(part_b.convex, X_WPb, part_a, X_WPa, limit, [&](const Separation& s, int triangle) {
          visit(ShapeDistance{s.gap, s.on_b, s.on_a, -s.normal, i, j, triangle});
        });
      }
    }
}

bool overlapping(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB) {
  bool touching = false;
  separations(
      a, X_WA, b, X_WB, [] { return 0.0; }, [&](const ShapeDistance& s) { touching |= s.gap <= 0; });
  return touching;
}

void require_ray(const Vec3& origin, const Vec3& direction, double t_max) {
  if (!origin.allFinite() || !direction.allFinite() || direction.isZero() || !(t_max >= 0))
    throw Error("ray", "needs a finite origin, a finite direction that is not zero, and t_max >= 0");
}

}  // namespace

int CollisionWorld::add(const CollisionShape& shape, const Pose& pose, bool moving, const CollisionFilter& filter) {
  require_pose(pose);
  int body = int(bodies_.size());
  if (free_.empty()) {
    bodies_.emplace_back();
  } else {
    body = free_.back();
    free_.pop_back();
  }
  bodies_[body] = {shape, Frame(pose), true};
  broad_.add(body, bounds(shape, bodies_[body].X), moving, filter);
  return body;
}

void CollisionWorld::remove(int body) {
  broad_.remove(body);
  bodies_[body] = {};
  free_.insert(std::lower_bound(free_.begin(), free_.end(), body, std::greater<>()), body);
}

void CollisionWorld::set_pose(int body, const Pose& pose, const Vec3& motion, double swing) {
  require_pose(pose);
  bodies_.at(body).X = Frame(pose);
  broad_.move(body, bounds(bodies_[body].shape, bodies_[body].X).grown(swing), motion);
}

void CollisionWorld::collide_pair(BodyPair& pair, double margin, CollideScratch& scratch, std::vector<Manifold>& out) const {
  Budget::listen();
  const std::size_t first = out.size();
  collide(bodies_[pair.a].shape, bodies_[pair.a].X, bodies_[pair.b].shape, bodies_[pair.b].X, margin, pair.memory, scratch, out);
  for (std::size_t k = first; k < out.size(); ++k) {
    out[k].body_a = pair.a;
    out[k].body_b = pair.b;
  }
}

template <class Work>
int CollisionWorld::by_chunks(std::span<BodyPair> pairs, int threads, const Work& work) {
  const int count = threads == 1 ? 1 : int((pairs.size() + chunk_size - 1) / chunk_size);
  if (count > int(chunks_.size())) chunks_.resize(count);
  const std::size_t size = threads == 1 ? pairs.size() : chunk_size;
  parallel_for(count, threads, [&](int c) {
    const std::size_t first = std::min(pairs.size(), std::size_t(c) * size);
    work(chunks_[c], pairs.subspan(first, std::min(size, pairs.size() - first)));
  });
  return count;
}

void CollisionWorld::find_contacts(double margin, double plane_margin, std::vector<Manifold>& out, int threads) {
  const auto endless = [&](int body) { return std::isinf(bodies_[body].shape.reach()); };
  const int count = by_chunks(broad_.update(), threads, [&](Chunk& chunk, std::span<BodyPair> pairs) {
    chunk.found.clear();
    for (BodyPair& pair : pairs)
      collide_pair(pair, endless(pair.a) || endless(pair.b) ? plane_margin : margin, chunk.scratch, chunk.found);
  });
  out.clear();
  for (int c = 0; c < count; ++c) out.insert(out.end(), chunks_[c].found.begin(), chunks_[c].found.end());
}

void CollisionWorld::sweep(std::span<const SteadyMotion> motions, const PairLimits& limits, std::vector<BodyMeeting>& out,
                           int threads) {
  const int count = by_chunks(broad_.update(), threads, [&](Chunk& chunk, std::span<BodyPair> pairs) {
    chunk.met.clear();
    for (const BodyPair& pair : pairs) {
      const CastLimits looked_at = limits(pair.a, pair.b);
      if (!(looked_at.t_max > 0)) continue;
      const CastHit hit = cast(bodies_[pair.a].shape, motions[pair.a], bodies_[pair.b].shape, motions[pair.b], looked_at);
      if (hit.hit) chunk.met.push_back({pair.a, pair.b, hit});
    }
  });
  out.clear();
  for (int c = 0; c < count; ++c) out.insert(out.end(), chunks_[c].met.begin(), chunks_[c].met.end());
}

void CollisionWorld::press(std::span<const SteadyMotion> motions, double t_max, const PairDepth& depths,
                           std::vector<BodyMeeting>& out, int threads) {
  constexpr int most_rounds = 8;
  const int count = by_chunks(broad_.update(), threads, [&](Chunk& chunk, std::span<BodyPair> pairs) {
    chunk.met.clear();
    for (const BodyPair& pair : pairs) {
      const PairDepths wanted = depths(pair.a, pair.b);
      if (std::isinf(wanted.least)) continue;
      double low = 0, high = t_max, t = t_max;
      for (int round = 0; round < most_rounds; ++round) {
        PairMemory memory = pair.memory;
        chunk.found.clear();
        collide(bodies_[pair.a].shape, motions[pair.a].at(t), bodies_[pair.b].shape, motions[pair.b].at(t), 0, memory,
                chunk.scratch, chunk.found);
        double deepest = 0;
        for (const Manifold& m : chunk.found) deepest = std::max(deepest, -m.gap());
        const bool pressed = deepest > wanted.least, too_deep = deepest > wanted.most;
        if (pressed && !too_deep) {
          BodyMeeting& met = chunk.met.emplace_back(BodyMeeting{pair.a, pair.b, {}});
          met.hit.hit = true;
          met.hit.t = t;
          break;
        }
        if (!pressed && t == t_max) break;
        (too_deep ? high : low) = t;
        t = 0.5 * (low + high);
      }
    }
  });
  out.clear();
  for (int c = 0; c < count; ++c) out.insert(out.end(), chunks_[c].met.begin(), chunks_[c].met.end());
}

void CollisionWorld::contacts_at(int a, const Frame& X_WA, int b, const Frame& X_WB, double margin, std::vector<Manifold>& out) {
  if (chunks_.empty()) chunks_.resize(1);
  const std::size_t first = out.size();
  PairMemory fresh;
  collide(bodies_[a].shape, X_WA, bodies_[b].shape, X_WB, margin, fresh, chunks_[0].scratch, out);
  for (std::size_t k = first; k < out.size(); ++k) {
    out[k].body_a = a;
    out[k].body_b = b;
  }
}

bool CollisionWorld::wanted(int body, const QueryFilter& filter) const {
  return filter.filter.meets(broad_.filter(body)) && (!filter.wants || filter.wants(body));
}

std::optional<BodyRayHit> ray_shape(const CollisionShape& shape, const Frame& X, const Vec3& origin, const Vec3& direction,
                                    double t_max) {
  std::optional<BodyRayHit> best;
  for (int part = 0; part < int(shape.parts().size()); ++part) {
    RayHit hit;
    if (!ray_part(shape.parts()[part], X, origin, direction, t_max, hit) || (best && hit.t >= best->hit.t)) continue;
    best = {-1, hit, part};
    t_max = hit.t;
  }
  return best;
}

std::optional<ShapeDistance> distance_of(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB,
                                         double reach) {
  std::optional<ShapeDistance> best;
  const auto limit = [&] { return best ? std::max(best->gap, 0.0) : reach; };
  separations(a, X_WA, b, X_WB, limit, [&](const ShapeDistance& s) {
    if (s.gap <= reach && (!best || s.gap < best->gap)) best = s;
  });
  return best;
}

bool contains_point(const CollisionShape& shape, const Frame& X, const Vec3& point) {
  for (const CollisionPart& part : shape.parts()) {
    const Vec3 x = (X * part.X_BP).to_local(point);
    if (part.kind == CollisionPart::Kind::plane && x.z() <= 0) return true;
    if (part.kind == CollisionPart::Kind::convex) {
      // A ray that starts inside hits at once.
      RayHit hit;
      if (ray_convex(part.convex, x, Vec3::UnitZ(), 0, hit)) return true;
    }
    if (part.kind == CollisionPart::Kind::surface) {
      double t = infinity;
      const int above = part.surface->ray(x, Vec3::UnitZ(), t);
      if (above >= 0 && part.surface->normal(above).z() > 0) return true;
    }
  }
  return false;
}

std::optional<BodyRayHit> CollisionWorld::ray(const Vec3& origin, const Vec3& direction, double t_max,
                                              const QueryFilter& filter) const {
  require_ray(origin, direction, t_max);
  std::optional<BodyRayHit> best;
  broad_.along_ray(origin, direction, Vec3::Zero(), t_max, [&](int body, double limit) {
    if (!wanted(body, filter)) return limit;
    const auto found = ray_shape(bodies_[body].shape, bodies_[body].X, origin, direction, limit);
    // Of bodies hit at the same time the one with the smaller number.
    if (!found || (best && (found->hit.t > best->hit.t || (found->hit.t == best->hit.t && body > best->body)))) return limit;
    best = found;
    best->body = body;
    return best->hit.t;
  });
  return best;
}

void CollisionWorld::ray_all(const Vec3& origin, const Vec3& direction, double t_max, std::vector<BodyRayHit>& out,
                             const QueryFilter& filter) const {
  require_ray(origin, direction, t_max);
  out.clear();
  broad_.along_ray(origin, direction, Vec3::Zero(), t_max, [&](int body, double limit) {
    if (!wanted(body, filter)) return limit;
    if (const auto found = ray_shape(bodies_[body].shape, bodies_[body].X, origin, direction, limit))
      out.push_back({body, found->hit, found->part});
    return limit;
  });
  std::sort(out.begin(), out.end(), [](const BodyRayHit& p, const BodyRayHit& q) {
    return p.hit.t < q.hit.t || (p.hit.t == q.hit.t && p.body < q.body);
  });
}

std::optional<BodyCastHit> CollisionWorld::shape_cast(const CollisionShape& shape, const Pose& pose, const Vec3& path,
                                                      const QueryFilter& filter) const {
  require_pose(pose);
  if (!path.allFinite()) throw Error("shape cast", "its path is not finite");
  const SteadyMotion motion{Frame(pose), path, Vec3::Zero()};
  const Aabb box = bounds(shape, motion.X);
  const double tolerance = 1e-6 * std::min(shape.reach(), 1.0);
  std::optional<BodyCastHit> best;
  broad_.along_ray(box.center(), path, 0.5 * (box.high - box.low) + Vec3::Constant(tolerance), 1, [&](int body, double limit) {
    if (!wanted(body, filter)) return limit;
    const CastHit hit = cast(shape, motion, bodies_[body].shape, {bodies_[body].X}, {limit, tolerance});
    if (!hit.hit || (best && (hit.t > best->hit.t || (hit.t == best->hit.t && body > best->body)))) return limit;
    best = {body, hit};
    return hit.t;
  });
  return best;
}

void CollisionWorld::overlap(const CollisionShape& shape, const Pose& pose, std::vector<int>& out,
                             const QueryFilter& filter) const {
  require_pose(pose);
  out.clear();
  const Frame X(pose);
  broad_.overlapping(bounds(shape, X), [&](int body) {
    if (!wanted(body, filter)) return true;
    if (overlapping(shape, X, bodies_[body].shape, bodies_[body].X)) out.push_back(body);
    return true;
  });
  std::sort(out.begin(), out.end());
}

void CollisionWorld::at_point(const Vec3& point, std::vector<int>& out, const QueryFilter& filter) const {
  if (!point.allFinite()) throw Error("point", "is not finite");
  out.clear();
  broad_.overlapping(Aabb{point, point}, [&](int body) {
    if (wanted(body, filter) && contains_point(bodies_[body].shape, bodies_[body].X, point)) out.push_back(body);
    return true;
  });
  std::sort(out.begin(), out.end());
}

std::optional<BodyDistance> CollisionWorld::closest(const CollisionShape& shape, const Pose& pose, double reach,
                                                    const QueryFilter& filter) const {
  require_pose(pose);
  if (!(reach >= 0)) throw Error("closest points", fmt::format("reach must be at least 0, is {}", reach));
  const Frame X(pose);
  std::optional<BodyDistance> best;
  broad_.overlapping(bounds(shape, X).grown(reach), [&](int body) {
    if (!wanted(body, filter)) return true;
    const double limit = best ? std::max(best->found.gap, 0.0) : reach;
    const auto found = distance_of(shape, X, bodies_[body].shape, bodies_[body].X, limit);
    if (found && (!best || found->gap < best->found.gap || (found->gap == best->found.gap && body < best->body)))
      best = {body, *found};
    return true;
  });
  return best;
}

}  // namespace rotule
