#pragma once
// Which bodies may touch. Boxes are fattened, so that a body must move by more than `fat` before the tree changes; bodies that
// never move have a tree of their own and are never paired with each other; boxes without end (half-spaces) are kept in a list.
// Pairs are kept from step to step and only bodies whose fat box changed are looked at: what rests costs nothing. Pairs are
// sorted by (a, b) with a < b: the same whatever the order of insertion or the number of threads.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "collide/broad/dynamic_tree.h"
#include "collide/narrow/manifold.h"

namespace rotule {

/// Two bodies meet where each one's layers are among those that the other accepts.
struct CollisionFilter {
  std::uint32_t layers = 1;
  std::uint32_t accepts = 0xffffffff;

  [[nodiscard]] bool meets(const CollisionFilter& o) const { return (layers & o.accepts) != 0 && (o.layers & accepts) != 0; }
};

struct BodyPair {
  int a = 0, b = 0;  // a < b
  PairMemory memory;
};

class BroadPhase {
 public:
  /// `fat`: by how much boxes are grown on each side, in metres; those of small bodies by no more than a quarter of their length.
  explicit BroadPhase(double fat = 0.05) : fat_(fat) {}

  /// Bodies are numbered by the caller; a number must be free.
  void add(int body, const Aabb& box, bool moving, const CollisionFilter& filter = {});
  void remove(int body);
  /// `motion`: how far it is expected to go, which the box is stretched by, too.
  void move(int body, const Aabb& box, const Vec3& motion = Vec3::Zero());

  /// The two never meet, for instance because a joint ties them.
  void exclude(int a, int b);
  void include(int a, int b);

  /// Brings the pairs up to date.
  std::span<BodyPair> update();
  [[nodiscard]] std::span<const BodyPair> pairs() const { return pairs_; }

  [[nodiscard]] const CollisionFilter& filter(int body) const { return proxies_[body].filter; }

  /// visit(body) for bodies whose fat boxes overlap; false from it ends the search.
  template <class Visit>
  void overlapping(const Aabb& box, Visit&& visit) const {
    bool go_on = true;
    const auto visit_once = [&](int body) { return go_on = go_on && visit(body); };
    for (const int body : unbounded_)
      if (proxies_[body].box.overlaps(box)) visit_once(body);
    if (go_on) moving_.overlapping(box, visit_once);
    if (go_on) fixed_.overlapping(box, visit_once);
  }

  /// visit(body, t_max) -> new t_max along a ray with a box of half extents `half` around it.
  template <class Visit>
  void along_ray(const Vec3& origin, const Vec3& direction, const Vec3& half, double t_max, Visit&& visit) const {
    const auto visit_and_keep = [&](int body, double) { return t_max = visit(body, t_max); };
    for (const int body : unbounded_) visit_and_keep(body, t_max);
    moving_.along_ray(origin, direction, half, t_max, visit_and_keep);
    fixed_.along_ray(origin, direction, half, t_max, visit_and_keep);
  }

  /// What the next update and the pairs' next contacts depend on: for exact snapshots.
  struct Memory {
    std::vector<Aabb> boxes;
    std::vector<BodyPair> pairs;
  };
  [[nodiscard]] Memory memory() const;
  void write(Memory& out) const;  // into memory that is there already
  void restore(const Memory& memory);

 private:
  struct Proxy {
    Aabb box;  // fat
    CollisionFilter filter;
    int leaf = -1;
    bool used = false, moving = false, bounded = true, touched = false;
  };
  DynamicTree& tree(const Proxy& p) { return p.moving ? moving_ : fixed_; }
  void put(int body, const Aabb& box, const Vec3& motion);
  [[nodiscard]] double fat_of(const Aabb& box) const { return std::min(fat_, 0.25 * (box.high - box.low).maxCoeff()); }
  void take_out(int body);
  void touch(int body);
  [[nodiscard]] bool may_meet(int a, int b) const;

  double fat_;
  DynamicTree moving_, fixed_;
  std::vector<Proxy> proxies_;
  std::vector<int> unbounded_, touched_;
  std::vector<std::pair<int, int>> excluded_;  // sorted
  std::vector<BodyPair> pairs_, merged_, found_;
};

}  // namespace rotule
