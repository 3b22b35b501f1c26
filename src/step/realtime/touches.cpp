// Who may touch whom, and when that has to be looked at again.
#include "step/realtime/touches.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/separation.h"

namespace rotule::realtime {

namespace {

// Shares of the smaller part's size.
constexpr double fat_share = 0.1;
constexpr double most_fat = 0.1;  // m

}  // namespace

int Touches::free_proxy() {
  if (!free_proxies_.empty()) {
    const int number = free_proxies_.back();
    free_proxies_.pop_back();
    return number;
  }
  proxies_.emplace_back();
  boxes_.resize(static_cast<int>(proxies_.size()));
  return static_cast<int>(proxies_.size()) - 1;
}

void Touches::add_body(int body, BodyLines& bodies) {
  const Body& of = model_.bodies[body];
  sleepers.resize(body + 1);
  first_proxy_.resize(std::max<std::size_t>(first_proxy_.size(), body + 1), -1);
  forms_.resize(std::max<std::size_t>(forms_.size(), body + 1));
  slots.for_each([&](auto& family) { family.resize(bodies.count); });
  if (!of.touches || std::holds_alternative<std::monostate>(of.shape)) return;
  bouncy_ = bouncy_ || of.surface.restitution > 0;
  if (of.surface.rolling_friction > 0 || !of.surface_velocity.isZero(0))
    for (ContactSlots* all : {&slots, &resting_}) all->for_each([](auto& family) { family.add_extras(); });
  forms_[body] = store_.form_of(of.shape, of.center_of_mass);
  const std::vector<PartForm>& parts = forms_[body]->parts;
  for (int k = 0; k < static_cast<int>(parts.size()); ++k) {
    const PartForm& form = parts[k];
    const int number = free_proxy();
    Proxy& proxy = proxies_[number];
    proxy.body = body;
    proxy.number = k;
    proxy.next = std::exchange(first_proxy_[body], number);
    proxy.form = &form;
    proxy.moves = !of.fixed;
    proxy.led = of.kinematic;
    proxy.sensor = of.sensor;
    const int row = number / row_lanes, lane = number % row_lanes;
    boxes_.line[row].lane[lane] = line_of(body);
    if (form.endless) {
      endless_.push_back(number);
      continue;
    }
    put(boxes_.centre[row], lane, form.box_centre.x(), form.box_centre.y(), form.box_centre.z());
    put(boxes_.half[row], lane, form.box_half.x(), form.box_half.y(), form.box_half.z());
    boxes_.rounding[row].lane[lane] = static_cast<float>(form.rounding);
    boxes_.fat[row].lane[lane] = proxy.moves || proxy.led ? static_cast<float>(std::min(fat_share * form.size, most_fat)) : 1e-5F;
    // A box that it has left already, so that the next search finds it.
    put(boxes_.low[row], lane, 1e30, 1e30, 1e30);
    put(boxes_.high[row], lane, -1e30, -1e30, -1e30);
  }
  bodies.arm[line_of(body) / row_lanes].lane[line_of(body) % row_lanes] = static_cast<float>(forms_[body]->arm);
  bodies.core[line_of(body) / row_lanes].lane[line_of(body) % row_lanes] = static_cast<float>(forms_[body]->core);
}

Aabb Touches::box(int proxy) const {
  const int row = proxy / row_lanes, lane = proxy % row_lanes;
  const auto corner = [&](const Rows3& rows) { return Vec3(rows.x.lane[lane], rows.y.lane[lane], rows.z.lane[lane]); };
  return {corner(boxes_.low[row]), corner(boxes_.high[row])};
}

double Touches::smallest() const {
  double size = infinity;
  for (const Proxy& proxy : proxies_)
    if (proxy.body >= 0 && proxy.moves) size = std::min(size, proxy.form->size);
  return std::isfinite(size) ? size : 0;
}

bool Touches::may_touch(const Proxy& p, const Proxy& q) const {
  if (p.body == q.body || !model_.may_meet(p.body, q.body)) return false;
  const bool sensor = p.sensor || q.sensor;
  if (!sensor && std::binary_search(tied_.begin(), tied_.end(), std::pair<int, int>(std::minmax(p.body, q.body)))) return false;
  return p.form->part.kind == CollisionPart::Kind::convex || q.form->part.kind == CollisionPart::Kind::convex;
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
    pairs_[number].place = static_cast<int>(sensing_.size());
    sensing_.push_back({number, ~0u, ~0u, 0});
    return;
  }
  fresh_.push_back(number);
}

bool Touches::is_new(int p, int q) const {
  if (proxies_[p].body == proxies_[q].body) return false;
  const bool turned = proxies_[q].moves != proxies_[p].moves ? proxies_[p].moves : q < p;
  return !known_.has(turned ? PairTable::key(q, p) : PairTable::key(p, q));
}

void Touches::look_for_pairs(Stages& stages) {
  for (const int p : left_) {
    Proxy& proxy = proxies_[p];
    if (proxy.leaf >= 0) tree(proxy).remove(proxy.leaf);
    proxy.leaf = tree(proxy).insert(box(p), p);
  }
  // Trees are searched by all; who was not known is taken down in the order of the search.
  constexpr int least_searches = 8;
  if (stages.alone()) {
    for (const int p : left_) look_around(p);
  } else {
    met_.clear();
    stages.gather(static_cast<int>(left_.size()), least_searches, neighbours_, met_, [&](int first, int last, auto& out) {
      for (int k = first; k < last; ++k)
        look_around(left_[k], [&](int p, int q) {
          if (is_new(p, q)) out.emplace_back(p, q);
        });
    });
    for (const auto& [p, q] : met_) meet(p, q);
  }
  sort_fresh();
}

void Touches::sort_fresh() {
  // In an order that the shape of the tree has no part in.
  std::sort(fresh_.begin(), fresh_.end(),
            [&](int i, int j) { return PairTable::key(pairs_[i].a, pairs_[i].b) < PairTable::key(pairs_[j].a, pairs_[j].b); });
}

const std::vector<int>& Touches::rows_with(std::span<const int> bodies) {
  if (bodies.empty()) return rows_;
  rows_at_hand_ = rows_;
  for (const int body : bodies)
    for (int proxy = first_proxy_[body]; proxy >= 0; proxy = proxies_[proxy].next) rows_at_hand_.push_back(proxy / row_lanes);
  std::sort(rows_at_hand_.begin(), rows_at_hand_.end());
  rows_at_hand_.erase(std::unique(rows_at_hand_.begin(), rows_at_hand_.end()), rows_at_hand_.end());
  return rows_at_hand_;
}

void Touches::find(const State& s, BodyLines& bodies, double h, bool anew, std::span<const int> changed, Stages& stages) {
  ++search_;
  left_.clear();
  fresh_.clear();
  come_upon_.clear();
  const std::vector<int>& rows = anew ? every_row_ : rows_with(changed);
  constexpr int least_rows = 8, least_apart = 2048;
  stages.gather(static_cast<int>(rows.size()), least_rows, stages.lists, left_, [&](int first, int last, std::vector<int>& out) {
    find_left(boxes_, bodies, std::span(rows).subspan(first, last - first), static_cast<float>(h), out);
  });
  look_around_woken(0);
  look_for_pairs(stages);

  // Apart: whose gap may be used up within this step?
  stages.over_rows(bodies.rows, [&](std::span<const int> part) {
    look_ahead(bodies, part, static_cast<float>(h), static_cast<float>(h * h * model_.gravity.norm()));
  });
  used_up_.clear();
  stages.gather(static_cast<int>(apart_.size()), least_apart, stages.lists, used_up_,
                [&](int first, int last, std::vector<int>& out) {
                  for (int k = first; k < last; ++k) {
                    const Apart& pair = apart_[k];
                    const std::uint32_t ahead = bodies.way_ahead(pair.line_a) + bodies.way_ahead(pair.line_b);
                    if (static_cast<std::int32_t>(pair.until - ahead) < 0) out.push_back(pair.pair);
                  }
                });

  // Touching: who has moved against each other? A pair may have several manifolds.
  moved_.clear();
  stages.find_moved(slots, bodies, moved_);
  std::size_t pairs = 0;
  for (const int touch : moved_) {
    const int number = touches_[touch].pair;
    if (std::exchange(pairs_[number].seen, search_) != search_) moved_[pairs++] = number;
  }
  moved_.resize(pairs);

  collide(moved_, s, bodies, h, stages);
  collide(used_up_, s, bodies, h, stages);
  collide(fresh_, s, bodies, h, stages);
  wake_found(s, bodies, h, stages);
}

void Touches::leave_apart(Pair& pair) {
  if (pair.place < 0) return;
  apart_[pair.place] = apart_.back();
  pairs_[apart_[pair.place].pair].place = pair.place;
  apart_.pop_back();
  pair.place = -1;
}

void Touches::part(Pair& pair, int number, double gap, const BodyLines& bodies) {
  while (pair.touch >= 0) release(pair.touch);
  if (pair.place < 0) {
    pair.place = static_cast<int>(apart_.size());
    apart_.push_back({number, line_of(proxies_[pair.a].body), line_of(proxies_[pair.b].body), 0});
  }
  set_budget(pair, gap, bodies);
}

void Touches::set_budget(const Pair& pair, double gap, const BodyLines& bodies) {
  Apart& apart = apart_[pair.place];
  const double budget = std::clamp(gap, 0.0, most_budget);
  apart.until = bodies.way(apart.line_a) + bodies.way(apart.line_b) + static_cast<std::uint32_t>(budget / double(wander_unit));
}

void Touches::drop(int number) {
  Pair& pair = pairs_[number];
  while (pair.touch >= 0) release(pair.touch);
  if (senses(pair))
    leave_sensing(pair);
  else
    leave_apart(pair);
  known_.erase(PairTable::key(pair.a, pair.b));
  pair = {};
  free_pairs_.push_back(number);
}

Frame Touches::frame_of(const Proxy& proxy, const State& s) const {
  const CollisionPart& part = proxy.form->part;
  const Mat3 R = s.theta[proxy.body].toRotationMatrix();
  return {part.at_origin ? R : R * part.X_BP.R, s.p[proxy.body] + R * proxy.form->place};
}

double Touches::parted_gap(const Pair& pair, const Frame& A, const Frame& B) const {
  const CollisionPart &p = proxies_[pair.a].form->part, &q = proxies_[pair.b].form->part;
  const Convex &a = p.convex, &b = q.convex;
  if (p.kind == CollisionPart::Kind::plane) {
    const Vec3 n = A.R.col(2);
    return n.dot(B * support(b, -(B.R.transpose() * n)) - A.p);
  }
  if (p.kind != CollisionPart::Kind::convex || q.kind != CollisionPart::Kind::convex) return 0;
  if (a.kind <= Convex::Kind::capsule && b.kind <= Convex::Kind::capsule) {
    PairMemory none;
    return separation_in_world(a, A, b, B, infinity, none).gap;
  }
  const Vec3 axis(pair.axis[0], pair.axis[1], pair.axis[2]);
  if (!(axis.squaredNorm() > 0)) return 0;
  const Vec3 n_A = axis.normalized(), n = A.R * n_A;
  return n.dot(B.p - A.p) + n.dot(B.R * support(b, -(B.R.transpose() * n))) - n_A.dot(support(a, n_A));
}

}  // namespace rotule::realtime
