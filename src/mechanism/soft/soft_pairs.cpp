// Contacts of particles among themselves: points against triangles, edges against edges.
#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "collide/shape/bvh.h"
#include "constraint/pool/contact.h"
#include "mechanism/soft/soft_collider.h"
#include "mechanism/soft/soft_distance.h"
#include "mechanism/soft/soft_limits.h"

namespace rotule {

bool SoftCollider::may_meet(const Element& a, const Element& b) const {
  if (a.surface == b.surface && !model_.particle_surfaces[a.surface].itself) return false;
  bool moves = false;
  for (int i = 0; i < a.count; ++i) {
    moves = moves || model_.particles.movable(a.corners[i]);
    for (int k = 0; k < b.count; ++k)
      if (a.corners[i] == b.corners[k]) return false;
  }
  for (int k = 0; k < b.count; ++k) moves = moves || model_.particles.movable(b.corners[k]);
  return moves;
}

SoftCollider::Nearest SoftCollider::nearest_of(const Corners& a, const Corners& b, double time) {
  Nearest out;
  Vec3 on_a, on_b;
  if (b.count == 3) {
    on_a = a.at(0, time);
    out.weights = {1, 0, 0};
    out.other_weights = nearest_on_triangle(on_a, b.at(0, time), b.at(1, time), b.at(2, time));
  } else {
    const auto w = nearest_on_segments(a.at(0, time), a.at(1, time), b.at(0, time), b.at(1, time));
    out.weights = {w[0], w[1], 0};
    out.other_weights = {w[2], w[3], 0};
    on_a = w[0] * a.at(0, time) + w[1] * a.at(1, time);
  }
  on_b = out.other_weights[0] * b.at(0, time) + out.other_weights[1] * b.at(1, time) + out.other_weights[2] * b.at(2, time);
  const Vec3 apart = on_a - on_b;
  out.distance = apart.norm();
  if (out.distance > 0) out.normal = apart / out.distance;
  return out;
}

template <class Visit>
void SoftCollider::visit_pairs(const Way& way, const Visit& visit) {
  // Points against triangles, then edges against those behind them; `number` tells the kinds of pairs apart.
  const auto among = [&](const std::vector<Element>& first, const std::vector<Element>& second, int number) {
    if (first.empty() || second.empty()) return;
    boxes_.clear();
    for (const Element& e : second) boxes_.push_back(box_of(e, way));
    const Bvh tree(boxes_, order_);
    const bool same = &first == &second;
    for (int i = 0; i < static_cast<int>(first.size()); ++i) {
      Budget::listen();
      const Element& a = first[static_cast<std::size_t>(i)];
      const Aabb box = same ? boxes_[static_cast<std::size_t>(i)] : box_of(a, way);
      tree.overlapping(box, [&](int at) {
        const int k = order_[static_cast<std::size_t>(at)];
        if (k < 0 || (same && k <= i) || !boxes_[static_cast<std::size_t>(k)].overlaps(box)) return true;
        if (const Element& b = second[static_cast<std::size_t>(k)]; may_meet(a, b)) visit(a, b, SoftPair{i, number, k});
        return true;
      });
    }
  };
  among(points_, faces_, -1);
  among(edges_, edges_, -2);
}

void SoftCollider::put(const Element& a, const Element& b, const Nearest& at, const Way& way,
                       std::vector<SoftContact>& out) const {
  SoftContact& c = out.emplace_back();
  Vec3 apart = Vec3::Zero();
  const auto add = [&](const Element& e, const std::array<double, 3>& weights, double sign) {
    for (int k = 0; k < e.count; ++k) {
      if (weights[k] == 0) continue;
      c.particles[c.count] = e.corners[k];
      c.weights[c.count++] = sign * weights[k];
      apart += sign * weights[k] * way.start.particle_position(e.corners[k]);
    }
  };
  add(a, at.weights, 1);
  add(b, at.other_weights, -1);
  c.frame = frame_about(at.normal);
  c.radius = radius(a) + radius(b);
  c.gap = at.normal.dot(apart) - c.radius;
  const ParticleSurface &p = model_.particle_surfaces[a.surface], &q = model_.particle_surfaces[b.surface];
  c.friction = friction_of(c, surface_between(model_, p.law, p.material, q.law, q.material), way);
}

void SoftCollider::find_pairs(const Way& way, std::vector<SoftContact>& out) {
  visit_pairs(way, [&](const Element& a, const Element& b, const SoftPair& pair) {
    const Nearest at = nearest_of(corners_of(a, way), corners_of(b, way), 0);
    const double rounding = radius(a) + radius(b);
    if (at.distance > 2 * rounding || at.distance == 0) return;
    held_.push_back(pair);
    // What two edges have nearest at an end is for the point that stands there.
    if (a.count == 2 && b.count == 2)
      for (const double w : {at.weights[0], at.weights[1], at.other_weights[0], at.other_weights[1]})
        if (w == 0) return;
    put(a, b, at, way, out);
  });
}

int SoftCollider::sweep_pairs(const Way& way, std::vector<SoftContact>& out, VecX* stops) {
  int met = 0;
  visit_pairs(way, [&](const Element& a, const Element& b, const SoftPair& pair) {
    const Corners p = corners_of(a, way), q = corners_of(b, way);
    const bool held = is_held(pair);
    double target = (held ? deep_share : 1.0) * (radius(a) + radius(b)), share = 0;
    for (int round = 0;; ++round) {
      const Nearest at = nearest_of(p, q, share * way.h);
      if (round == 0 && held) target = std::min(target, 0.5 * at.distance);
      const double close = (1 + sweep_share) * target;
      double closing = -infinity;
      for (int i = 0; i < a.count; ++i)
        for (int k = 0; k < b.count; ++k) closing = std::max(closing, at.normal.dot(q.v[k] - p.v[i]));
      if (closing <= 0 || at.distance == 0) return;
      if (at.distance <= close || round == most_advances) {
        ++met;
        met_.push_back(pair);
        stop(a, share, stops);
        stop(b, share, stops);
        put(a, b, at, way, out);
        return;
      }
      share += (at.distance - target) / (closing * way.h);
      if (share > 1) return;
    }
  });
  return met;
}

}  // namespace rotule
