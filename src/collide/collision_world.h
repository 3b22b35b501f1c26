#pragma once
// Bodies for collision: shapes, where they stand, the tree over them, and what can be asked of it. A value: a copy shares the
// shapes and nothing else, so one thread may ask a copy while another steps the original. All queries are const and may run on
// many threads at once.
#include <functional>
#include <optional>
#include <vector>

#include "collide/broad/broad_phase.h"
#include "collide/narrow/collide.h"
#include "collide/queries/cast.h"
#include "collide/queries/ray.h"

namespace rotule {

/// What a query looks at: bodies whose filter meets this one, and that `wants` says yes to, if it is given.
struct QueryFilter {
  CollisionFilter filter{0xffffffff, 0xffffffff};
  std::function<bool(int body)> wants = nullptr;
};

struct BodyRayHit {
  int body = -1;
  RayHit hit;
  int part = -1;
};

struct BodyCastHit {
  int body = -1;
  CastHit hit;  // B is the body
};

/// Two bodies that come to touch on their way.
struct BodyMeeting {
  int a = -1, b = -1;  // a < b
  CastHit hit;
};

/// The two nearest, or deepest, points of two shapes.
struct ShapeDistance {
  double gap = infinity;                                                  // negative: depth
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero(), normal = Vec3::UnitZ();  // normal from A to B
  int part_a = -1, part_b = -1, triangle = -1;                            // the triangle is of whichever part is a surface
};

struct BodyDistance {
  int body = -1;
  ShapeDistance found;  // B is the body
};

/// Where the ray first meets a part of the shape, 0 <= t <= t_max.
std::optional<BodyRayHit> ray_shape(const CollisionShape& shape, const Frame& X, const Vec3& origin, const Vec3& direction,
                                    double t_max);
/// Of two shapes within `reach` of each other; none where they are farther apart, or where no pair of parts can meet (surfaces
/// and half-spaces among themselves).
std::optional<ShapeDistance> distance_of(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB,
                                         double reach);
/// Whether the point is inside the shape. A surface has what is below it, along its own z, for its inside.
bool contains_point(const CollisionShape& shape, const Frame& X, const Vec3& point);

class CollisionWorld {
 public:
  explicit CollisionWorld(double fat = 0.05) : broad_(fat) {}

  /// The body's number: the smallest that is free.
  int add(const CollisionShape& shape, const Pose& pose, bool moving, const CollisionFilter& filter = {});
  void remove(int body);
  /// `motion`: how far it is expected to go until the next call, `swing`: how far turning may carry its points besides; the
  /// pairs are found for all of it.
  void set_pose(int body, const Pose& pose, const Vec3& motion = Vec3::Zero(), double swing = 0);
  void exclude(int a, int b) { broad_.exclude(a, b); }
  void include(int a, int b) { broad_.include(a, b); }

  [[nodiscard]] const CollisionShape& shape(int body) const { return bodies_[body].shape; }
  [[nodiscard]] const Frame& frame(int body) const { return bodies_[body].X; }
  [[nodiscard]] const BroadPhase& broad_phase() const { return broad_; }
  void restore(const BroadPhase::Memory& memory) { broad_.restore(memory); }

  /// Every contact with a gap of at most `margin`, sorted by bodies (A is the one with the smaller number), then by parts; those
  /// with half-spaces, whose normal is the same from everywhere, up to `plane_margin`. `threads` as in base/parallel.h.
  void find_contacts(double margin, double plane_margin, std::vector<Manifold>& out, int threads = 1);
  void find_contacts(double margin, std::vector<Manifold>& out, int threads = 1) { find_contacts(margin, margin, out, threads); }

  /// Pairs that come to touch while each body goes its way, sorted by bodies; `limits(a, b)` says what touching is for them, or
  /// t_max = 0 where they are not to be looked at.
  using PairLimits = std::function<CastLimits(int a, int b)>;
  void sweep(std::span<const SteadyMotion> motions, const PairLimits& limits, std::vector<BodyMeeting>& out, int threads = 1);

  /// Pairs that would be further inside each other than `depths(a, b)` says at the end of the way, t_max, sorted by bodies; where
  /// that is so deep that it no longer tells on which side they met, at an earlier time.
  struct PairDepths {
    double least = infinity, most = infinity;  // m: what counts; up to where a depth tells the side
  };
  using PairDepth = std::function<PairDepths(int a, int b)>;
  void press(std::span<const SteadyMotion> motions, double t_max, const PairDepth& depths, std::vector<BodyMeeting>& out,
             int threads = 1);

  /// Appends the contacts of two bodies with a gap of at most `margin`, as they would be in other places.
  void contacts_at(int a, const Frame& X_WA, int b, const Frame& X_WB, double margin, std::vector<Manifold>& out);

  /// The first body that the ray meets with 0 <= t <= t_max.
  [[nodiscard]] std::optional<BodyRayHit> ray(const Vec3& origin, const Vec3& direction, double t_max,
                                              const QueryFilter& filter = {}) const;

  /// All bodies that the ray meets, each where it does first, nearest first.
  void ray_all(const Vec3& origin, const Vec3& direction, double t_max, std::vector<BodyRayHit>& out,
               const QueryFilter& filter = {}) const;

  /// The first body that the shape, moving by `path` without turning, meets; t from 0 to 1.
  [[nodiscard]] std::optional<BodyCastHit> shape_cast(const CollisionShape& shape, const Pose& pose, const Vec3& path,
                                                      const QueryFilter& filter = {}) const;

  /// Bodies that the shape overlaps, in rising order.
  void overlap(const CollisionShape& shape, const Pose& pose, std::vector<int>& out, const QueryFilter& filter = {}) const;

  /// Bodies that hold the point, in rising order.
  void at_point(const Vec3& point, std::vector<int>& out, const QueryFilter& filter = {}) const;

  /// The nearest body within `reach` of the shape.
  [[nodiscard]] std::optional<BodyDistance> closest(const CollisionShape& shape, const Pose& pose, double reach,
                                                    const QueryFilter& filter = {}) const;

 private:
  struct Body {
    CollisionShape shape;
    Frame X;
    bool used = false;
  };
  void collide_pair(BodyPair& pair, double margin, CollideScratch& scratch, std::vector<Manifold>& out) const;
  [[nodiscard]] bool wanted(int body, const QueryFilter& filter) const;

  BroadPhase broad_;
  std::vector<Body> bodies_;
  std::vector<int> free_;
  struct Chunk {
    CollideScratch scratch;
    std::vector<Manifold> found;
    std::vector<BodyMeeting> met;
  };
  /// work(chunk, pairs of it) for all pairs, on several threads where asked for; the number of chunks.
  template <class Work>
  int by_chunks(std::span<BodyPair> pairs, int threads, const Work& work);
  std::vector<Chunk> chunks_;
};

}  // namespace rotule
