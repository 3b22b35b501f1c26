#include "collide/broad/broad_phase.h"

#include <fmt/format.h>
#include <rotule/error.h>

namespace rotule {
namespace {

bool before(const BodyPair& x, const BodyPair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }

void require_number(int body, const Aabb& box) {
  if (!((box.low.array() <= box.high.array()).all()))
    throw Error(fmt::format("body {}", body), "its box is not a number or empty");
}

}  // namespace

void BroadPhase::touch(int body) {
  if (proxies_[body].touched) return;
  proxies_[body].touched = true;
  touched_.push_back(body);
}

void BroadPhase::put(int body, const Aabb& box, const Vec3& motion) {
  Proxy& p = proxies_[body];
  p.bounded = box.low.allFinite() && box.high.allFinite();
  p.box = p.moving ? box.grown(fat_of(box)) : box;
  if (!p.bounded) {
    unbounded_.insert(std::lower_bound(unbounded_.begin(), unbounded_.end(), body), body);
    return;
  }
  p.box.low += motion.cwiseMin(0.0);
  p.box.high += motion.cwiseMax(0.0);
  p.leaf = tree(p).insert(p.box, body);
}

void BroadPhase::take_out(int body) {
  Proxy& p = proxies_[body];
  if (p.bounded) {
    tree(p).remove(p.leaf);
  } else {
    unbounded_.erase(std::lower_bound(unbounded_.begin(), unbounded_.end(), body));
  }
}

void BroadPhase::add(int body, const Aabb& box, bool moving, const CollisionFilter& filter) {
  require_number(body, box);
  if (body < 0) throw Error(fmt::format("body {}", body), "a number must not be negative");
  if (body >= int(proxies_.size())) proxies_.resize(body + 1);
  Proxy& p = proxies_[body];
  if (p.used) throw Error(fmt::format("body {}", body), "is there already");
  const bool touched = p.touched;
  p = Proxy{};
  p.touched = touched;
  p.used = true;
  p.moving = moving;
  p.filter = filter;
  put(body, box, Vec3::Zero());
  touch(body);
}

void BroadPhase::remove(int body) {
  if (body < 0 || body >= int(proxies_.size()) || !proxies_[body].used) throw Error(fmt::format("body {}", body), "is not there");
  take_out(body);
  proxies_[body].used = false;
  // A new body may get the number before the next update: old pairs go now.
  std::erase_if(pairs_, [&](const BodyPair& pair) { return pair.a == body || pair.b == body; });
}

void BroadPhase::move(int body, const Aabb& box, const Vec3& motion) {
  require_number(body, box);
  if (body < 0 || body >= int(proxies_.size()) || !proxies_[body].used) throw Error(fmt::format("body {}", body), "is not there");
  const Proxy& p = proxies_[body];
  Aabb swept = box;
  swept.low += motion.cwiseMin(0.0);
  swept.high += motion.cwiseMax(0.0);
  // Kept while it holds the body and has not become much too large for it.
  if (p.bounded && p.box.contains(swept) && swept.grown(4 * fat_of(box)).contains(p.box)) return;
  take_out(body);
  put(body, box, motion);
  touch(body);
}

void BroadPhase::exclude(int a, int b) {
  const std::pair<int, int> pair = std::minmax(a, b);
  const auto at = std::lower_bound(excluded_.begin(), excluded_.end(), pair);
  if (at != excluded_.end() && *at == pair) return;
  excluded_.insert(at, pair);
  std::erase_if(pairs_, [&](const BodyPair& p) { return p.a == pair.first && p.b == pair.second; });
}

void BroadPhase::include(int a, int b) {
  const std::pair<int, int> pair = std::minmax(a, b);
  const auto at = std::lower_bound(excluded_.begin(), excluded_.end(), pair);
  if (at == excluded_.end() || *at != pair) return;
  excluded_.erase(at);
  if (a < int(proxies_.size()) && proxies_[a].used) touch(a);
}

bool BroadPhase::may_meet(int a, int b) const {
  const Proxy &p = proxies_[a], &q = proxies_[b];
  return (p.moving || q.moving) && p.filter.meets(q.filter) &&
         (excluded_.empty() || !std::binary_search(excluded_.begin(), excluded_.end(), std::pair<int, int>(std::minmax(a, b))));
}

BroadPhase::Memory BroadPhase::memory() const {
  Memory out;
  write(out);
  return out;
}

void BroadPhase::write(Memory& out) const {
  out.boxes.resize(proxies_.size());
  for (std::size_t i = 0; i < proxies_.size(); ++i) out.boxes[i] = proxies_[i].box;
  out.pairs = pairs_;
}

void BroadPhase::restore(const Memory& memory) {
  const bool fits =
      memory.boxes.size() == proxies_.size() && std::all_of(memory.pairs.begin(), memory.pairs.end(), [&](const BodyPair& pair) {
        return pair.a >= 0 && pair.a < pair.b && pair.b < int(proxies_.size());
      });
  if (!fits) throw Error("broad phase", "this memory is of other bodies");
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    Proxy& p = proxies_[i];
    if (!p.used || !p.bounded || (p.box.low == memory.boxes[i].low && p.box.high == memory.boxes[i].high)) continue;
    require_number(int(i), memory.boxes[i]);
    tree(p).remove(p.leaf);
    p.box = memory.boxes[i];
    p.leaf = tree(p).insert(p.box, int(i));
  }
  pairs_ = memory.pairs;
  for (const int body : touched_) proxies_[body].touched = false;
  touched_.clear();
}

std::span<BodyPair> BroadPhase::update() {
  if (touched_.empty()) return pairs_;
  std::erase_if(pairs_, [&](const BodyPair& pair) {
    const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
    return (p.touched || q.touched) && !p.box.overlaps(q.box);
  });

  found_.clear();
  for (const int body : touched_) {
    const Proxy& p = proxies_[body];
    if (!p.used) continue;
    const auto meet = [&](int other) {
      // Two touched bodies find each other twice: once is enough.
      if (other != body && !(proxies_[other].touched && other < body) && may_meet(body, other))
        found_.push_back({std::min(body, other), std::max(body, other), {}});
      return true;
    };
    for (const int other : unbounded_)
      if (p.box.overlaps(proxies_[other].box)) meet(other);
    moving_.overlapping(p.box, meet);
    if (p.moving) fixed_.overlapping(p.box, meet);
  }
  for (const int body : touched_) proxies_[body].touched = false;
  touched_.clear();
  std::sort(found_.begin(), found_.end(), before);

  // Old pairs keep their memory.
  merged_.clear();
  auto old = pairs_.begin();
  for (const BodyPair& pair : found_) {
    while (old != pairs_.end() && before(*old, pair)) merged_.push_back(*old++);
    if (old == pairs_.end() || before(pair, *old)) merged_.push_back(pair);
  }
  merged_.insert(merged_.end(), old, pairs_.end());
  pairs_.swap(merged_);
  return pairs_;
}

}  // namespace rotule
