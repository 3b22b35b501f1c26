// Who may touch whom, and when that has to be looked at again.
#include "step/realtime/touches.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/separation.h"

namespace rotule::realtime {

namespace {

// Shares of the smaller part's size.
constexpr double margin_share = 0.02;  // looked at ahead, besides what motion asks for

constexpr double fast_share = 0.5;    // a way in one step that is followed
constexpr double same_normal = 0.95;  // cosine
constexpr double fat_share = 0.2;
constexpr double most_fat = 0.1;  // m

/// The core's box in body axes, from the centre of mass: centre, half.
std::pair<Vec3, Vec3> core_box(const CollisionPart& part, const Vec3& center_of_mass) {
  const Aabb box = bounds(part, Frame(Mat3::Identity(), -center_of_mass));
  const double radius = part.kind == CollisionPart::Kind::convex ? part.convex.radius : 0;
  return {box.center(), (0.5 * (box.high - box.low) - Vec3::Constant(radius)).cwiseMax(0)};
}

}  // namespace

int Touches::free_proxy() {
  if (!free_proxies_.empty()) {
    const int number = free_proxies_.back();
    free_proxies_.pop_back();
    return number;
  }
  proxies_.emplace_back();
  boxes_.resize(static_cast<int>(proxies_.size()));
  frames_.emplace_back();
  framed_.push_back(0);
  return static_cast<int>(proxies_.size()) - 1;
}

void Touches::add_body(int body, BodyLines& bodies) {
  const Body& of = model_.bodies[body];
  sleepers.resize(body + 1);
  first_proxy_.resize(std::max<std::size_t>(first_proxy_.size(), body + 1), -1);
  shapes_.resize(std::max<std::size_t>(shapes_.size(), body + 1));
  slots.for_each([&](auto& family) { family.resize(bodies.count); });
  if (!of.touches || std::holds_alternative<std::monostate>(of.shape)) return;
  bouncy_ = bouncy_ || of.surface.restitution > 0;
  shapes_[body] = CollisionShape(of.shape);
  const auto& parts = shapes_[body].parts();
  double arm = 0, core = infinity;
  for (int k = 0; k < static_cast<int>(parts.size()); ++k) {
    const int number = free_proxy();
    Proxy& proxy = proxies_[number];
    proxy.body = body;
    proxy.number = k;
    proxy.next = std::exchange(first_proxy_[body], number);
    proxy.part = parts[k];
    proxy.moves = !of.fixed;
    proxy.led = of.kinematic;
    proxy.sensor = of.sensor;
    proxy.endless = parts[k].kind == CollisionPart::Kind::plane;
    proxy.rounding = parts[k].kind == CollisionPart::Kind::convex ? parts[k].convex.radius : 0;
    framed_[number] = 0;
    const int row = number / row_lanes, lane = number % row_lanes;
    boxes_.line[row].lane[lane] = line_of(body);
    proxy.size = proxy.core = infinity;
    if (proxy.endless) {
      endless_.push_back(number);
      continue;
    }
    const auto [centre, half] = core_box(parts[k], of.center_of_mass);
    if (parts[k].kind == CollisionPart::Kind::convex) proxy.size = half.norm() + proxy.rounding;
    proxy.arm = centre.norm() + half.norm();
    arm = std::max(arm, proxy.arm);
    if (parts[k].kind == CollisionPart::Kind::convex) proxy.core = half.minCoeff() + proxy.rounding;
    core = std::min(core, proxy.core);
    put(boxes_.centre[row], lane, centre.x(), centre.y(), centre.z());
    put(boxes_.half[row], lane, half.x(), half.y(), half.z());
    boxes_.rounding[row].lane[lane] = static_cast<float>(proxy.rounding);
    boxes_.fat[row].lane[lane] =
        proxy.moves || proxy.led ? static_cast<float>(std::min(fat_share * proxy.size, most_fat)) : 1e-5F;
    // A box that it has left already, so that the next search finds it.
    put(boxes_.low[row], lane, 1e30, 1e30, 1e30);
    put(boxes_.high[row], lane, -1e30, -1e30, -1e30);
  }
  bodies.arm[line_of(body) / row_lanes].lane[line_of(body) % row_lanes] = static_cast<float>(arm);
  bodies.core[line_of(body) / row_lanes].lane[line_of(body) % row_lanes] = static_cast<float>(core);
}

Aabb Touches::box(int proxy) const {
  const int row = proxy / row_lanes, lane = proxy % row_lanes;
  const auto corner = [&](const Rows3& rows) { return Vec3(rows.x.lane[lane], rows.y.lane[lane], rows.z.lane[lane]); };
  return {corner(boxes_.low[row]), corner(boxes_.high[row])};
}

double Touches::smallest() const {
  double size = infinity;
  for (const Proxy& proxy : proxies_)
    if (proxy.body >= 0 && proxy.moves) size = std::min(size, proxy.size);
  return std::isfinite(size) ? size : 0;
}

bool Touches::may_touch(const Proxy& p, const Proxy& q) const {
  if (p.body == q.body || !model_.may_meet(p.body, q.body)) return false;
  const bool sensor = p.sensor || q.sensor;
  if (!sensor && std::binary_search(tied_.begin(), tied_.end(), std::pair<int, int>(std::minmax(p.body, q.body)))) return false;
  return p.part.kind == CollisionPart::Kind::convex || q.part.kind == CollisionPart::Kind::convex;
}

void Touches::meet(int p, int q) {
  const bool sensor = proxies_[p].sensor || proxies_[q].sensor;
  const auto goes = [&](int proxy) { return proxies_[proxy].moves || (sensor && proxies_[proxy].led); };
  if (!goes(p) && !goes(q)) return;
  if (proxies_[p].body == proxies_[q].body) return;
  const bool turned = proxies_[q].moves != proxies_[p].moves ? proxies_[p].moves : q < p;
  if (turned) std::swap(p, q);
  // Most are known already, which is sooner asked than whether they may touch.
  const std::uint64_t key = PairTable::key(p, q);
  if (known_.has(key) || !may_touch(proxies_[p], proxies_[q])) return;
  known_.insert(key);
  int number = static_cast<int>(pairs_.size());
  if (free_pairs_.empty()) {
    pairs_.emplace_back();
  } else {
    number = free_pairs_.back();
    free_pairs_.pop_back();
  }
  pairs_[number] = {};
  pairs_[number].a = p;
  pairs_[number].b = q;
  if (sensor) {
    pairs_[number].sensing = static_cast<int>(sensing_.size());
    pairs_[number].looked = pairs_[number].until = ~0u;
    sensing_.push_back(number);
    return;
  }
  fresh_.push_back(number);
}

void Touches::look_for_pairs() {
  for (const int p : left_) {
    Proxy& proxy = proxies_[p];
    if (proxy.leaf >= 0) tree(proxy).remove(proxy.leaf);
    proxy.leaf = tree(proxy).insert(box(p), p);
  }
  for (const int p : left_) look_around(p);
  sort_fresh();
}

void Touches::look_around(int p) {
  const Aabb where = box(p);
  const auto visit = [&](int q) {
    if (q != p) meet(p, q);
    return true;
  };
  moving_.overlapping(where, visit);
  if (proxies_[p].moves || proxies_[p].led) {
    fixed_.overlapping(where, visit);
    for (const int q : endless_) meet(p, q);
  }
}

void Touches::sort_fresh() {
  // In an order that the shape of the tree has no part in.
  std::sort(fresh_.begin(), fresh_.end(),
            [&](int i, int j) { return PairTable::key(pairs_[i].a, pairs_[i].b) < PairTable::key(pairs_[j].a, pairs_[j].b); });
}

void Touches::find(const State& s, BodyLines& bodies, double h, bool anew) {
  ++search_;
  left_.clear();
  fresh_.clear();
  come_upon_.clear();
  find_left(boxes_, bodies, anew ? every_row_ : rows_, static_cast<float>(h), left_);
  look_around_woken(0);
  look_for_pairs();

  // Apart: whose gap may be used up within this step?
  look_ahead(bodies, static_cast<float>(h), static_cast<float>(h * h * model_.gravity.norm()));
  used_up_.clear();
  for (const Apart& pair : apart_)
    if (static_cast<std::int32_t>(pair.until - bodies.way_ahead(pair.line_a) - bodies.way_ahead(pair.line_b)) < 0)
      used_up_.push_back(pair.pair);

  // Touching: who has moved against each other?
  moved_.clear();
  find_moved(slots, bodies, moved_);
  for (int& touch : moved_) touch = touches_[touch].pair;

  for (const int number : moved_)
    if (pairs_[number].seen != search_) collide_pair(number, s, bodies, h);
  for (const int number : used_up_) {
    // Those whose boxes no longer meet are forgotten.
    const Pair& pair = pairs_[number];
    const bool near = proxies_[pair.a].endless || proxies_[pair.b].endless || box(pair.a).overlaps(box(pair.b));
    if (near) {
      collide_pair(number, s, bodies, h);
    } else {
      drop(number);
    }
  }
  for (const int number : fresh_) collide_pair(number, s, bodies, h);
  wake_found(s, bodies, h);
}

void Touches::leave_apart(Pair& pair) {
  if (pair.apart < 0) return;
  apart_[pair.apart] = apart_.back();
  pairs_[apart_[pair.apart].pair].apart = pair.apart;
  apart_.pop_back();
  pair.apart = -1;
}

void Touches::part(Pair& pair, int number, double gap, const BodyLines& bodies) {
  while (pair.touch >= 0) release(pair.touch);
  if (pair.apart < 0) {
    pair.apart = static_cast<int>(apart_.size());
    apart_.push_back({number, line_of(proxies_[pair.a].body), line_of(proxies_[pair.b].body), 0});
  }
  Apart& apart = apart_[pair.apart];
  const double budget = std::clamp(gap, 0.0, most_budget);
  apart.until = bodies.way(apart.line_a) + bodies.way(apart.line_b) + static_cast<std::uint32_t>(budget / double(wander_unit));
}

void Touches::drop(int number) {
  Pair& pair = pairs_[number];
  while (pair.touch >= 0) release(pair.touch);
  leave_apart(pair);
  leave_sensing(pair);
  known_.erase(PairTable::key(pair.a, pair.b));
  pair = {};
  free_pairs_.push_back(number);
}

const Frame& Touches::frame(int number, const State& s) {
  if (framed_[number] != search_) {
    const Proxy& proxy = proxies_[number];
    const Mat3 R = s.theta[proxy.body].toRotationMatrix();
    frames_[number] = {proxy.part.at_origin ? R : R * proxy.part.X_BP.R,
                       s.p[proxy.body] + R * (proxy.part.X_BP.p - model_.bodies[proxy.body].center_of_mass)};
    framed_[number] = search_;
  }
  return frames_[number];
}

double Touches::parted_gap(const Pair& pair, const State& s) {
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  if (p.part.kind == CollisionPart::Kind::plane) {
    const Frame &A = frame(pair.a, s), &B = frame(pair.b, s);
    const Vec3 n = A.R.col(2);
    return n.dot(B * support(q.part.convex, -(B.R.transpose() * n)) - A.p);
  }
  if (p.part.kind != CollisionPart::Kind::convex || q.part.kind != CollisionPart::Kind::convex) return 0;
  const Frame &A = frame(pair.a, s), &B = frame(pair.b, s);
  const Convex &a = p.part.convex, &b = q.part.convex;
  if (a.kind <= Convex::Kind::capsule && b.kind <= Convex::Kind::capsule) {
    PairMemory none;
    return separation_in_world(a, A, b, B, infinity, none).gap;
  }
  const Vec3 axis(pair.axis[0], pair.axis[1], pair.axis[2]);
  if (!(axis.squaredNorm() > 0)) return 0;
  const Vec3 n_A = axis.normalized(), n = A.R * n_A;
  return n.dot(B.p - A.p) + n.dot(B.R * support(b, -(B.R.transpose() * n))) - n_A.dot(support(a, n_A));
}

void Touches::collide_pair(int number, const State& s, const BodyLines& bodies, double h) {
  Pair& pair = pairs_[number];
  pair.seen = search_;
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  const double size = std::min(p.size, q.size), share = margin_share * size,
               least_margin = settings_.margin > 0 ? std::min(settings_.margin, share) : share;
  // What may close within the step is a contact ahead of time.
  const Vec3 dv = s.v(p.body) - s.v(q.body);
  const double fall = p.moves && q.moves ? 0 : h * h * model_.gravity.norm();
  const double margin = least_margin + h * (dv.norm() + p.arm * s.omega(p.body).norm() + q.arm * s.omega(q.body).norm()) + fall;

  // The axis that parted them last time may still do.
  const bool convex = p.part.kind != CollisionPart::Kind::surface && q.part.kind != CollisionPart::Kind::surface;
  if (convex)
    if (const double gap = parted_gap(pair, s); gap > margin) return part(pair, number, gap - least_margin, bodies);

  // A way that is longer than it is thick may lead past the other's edges: it is followed, and what is not on it is no contact.
  CastHit hit;
  const bool fast = margin - least_margin > fast_share * size;
  if (fast) {
    hit = cast(p.part, steady(p.body, s), q.part, steady(q.body, s), {.t_max = h, .tolerance = least_margin});
    if (!hit.hit) return part(pair, number, 0, bodies);
  }

  // Surfaces tell no distance: looked at further than necessary, nothing there is worth something.
  const double ahead = convex ? 0 : 0.25 * size;
  found_.clear();
  PairMemory memory{Vec3(pair.axis[0], pair.axis[1], pair.axis[2])};
  collide_parts(p.part, frame(pair.a, s), q.part, frame(pair.b, s), margin + ahead, memory, scratch_, found_);
  for (int k = 0; k < 3; ++k) pair.axis[k] = static_cast<float>(memory.axis[k]);
  const bool nothing = found_.empty();
  std::erase_if(found_, [&](const Manifold& m) { return m.count == 0 || m.gap() > margin; });
  if (fast && hit.t > 0) {
    // Normals of the pose from which it was seen count where they are those of the blow.
    std::erase_if(found_, [&](const Manifold& m) { return m.normal.dot(hit.normal) < same_normal; });
    if (found_.empty()) found_.push_back(manifold_of(hit, steady(p.body, s), steady(q.body, s)));
  }
  if (found_.empty()) {
    const double gap = convex ? parted_gap(pair, s) - least_margin : nothing ? ahead : 0;
    return part(pair, number, gap, bodies);
  }

  leave_apart(pair);
  for (const int body : {p.body, q.body})
    if (sleepers.asleep(body)) come_upon_.push_back(sleepers.island_of(body));
  // Manifolds that were there go on with those whose normal is nearest to theirs.
  int kept = -1;
  for (const Manifold& m : found_) {
    int best = -1, before_best = -1;
    double nearest = found_.size() == 1 && touches_.size() > 0 && pair.touch >= 0 && touches_[pair.touch].next < 0 ? -2 : 0.7;
    for (int t = pair.touch, before = -1; t >= 0; before = t, t = touches_[t].next) {
      const SlotPlace& at = touches_[t].slot;
      const double along = slots.visit(at.family, [&](auto& family) {
        const auto& hot = family.colours[at.colour].hot[at.index / row_lanes];
        const int lane = at.index % row_lanes;
        return m.normal.dot(Vec3(hot.normal.x.lane[lane], hot.normal.y.lane[lane], hot.normal.z.lane[lane]));
      });
      if (along > nearest) {
        nearest = along;
        best = t;
        before_best = before;
      }
    }
    if (best >= 0) {
      (before_best >= 0 ? touches_[before_best].next : pair.touch) = touches_[best].next;
    } else {
      best = static_cast<int>(touches_.size());
      if (free_touches_.empty()) {
        touches_.emplace_back();
      } else {
        best = free_touches_.back();
        free_touches_.pop_back();
      }
      touches_[best] = {number, -1, {}};
    }
    touches_[best].next = kept;
    kept = best;
    write(best, m, least_margin, bodies);
  }
  while (pair.touch >= 0) release(pair.touch);
  pair.touch = kept;
}

}  // namespace rotule::realtime
