// Pairs that have to be looked at: collided by many threads at once, each pair into its own slot where it has one; then, one
// after the other and in the order in which they were asked for, what begins, ends or changes its place.
#include <algorithm>
#include <cmath>

#include "step/realtime/touches.h"

namespace rotule::realtime {

namespace {

// Shares of the smaller part's size.
constexpr double touch_margin_share = 0.02;  // looked at ahead, besides what motion asks for
constexpr double fast_share = 0.5;           // a way in one step that is followed, whatever lies at its beginning
constexpr double straight_share = 0.01;      // one that is followed where somebody is ahead
constexpr double met_share = 1e-4;           // a gap at which those who are followed have met
constexpr double same_normal = 0.95;         // cosine

/// Pairs at a time: what is found waits in memory that is still near.
constexpr int batch_alone = 64, batch_together = 2048;

}  // namespace

void Touches::collide(std::span<const int> numbers, const State& s, const BodyLines& bodies, double h, Stages& stages) {
  const std::size_t batch = stages.alone() ? batch_alone : batch_together;
  if (static_cast<int>(desks_.size()) < stages.threads()) desks_.resize(static_cast<std::size_t>(stages.threads()));
  for (std::size_t begin = 0; begin < numbers.size(); begin += batch) {
    const std::span<const int> some = numbers.subspan(begin, std::min(batch, numbers.size() - begin));
    looks_.resize(some.size());
    for (std::size_t k = 0; k < some.size(); ++k) looks_[k] = {.pair = some[k]};
    for (Desk& desk : desks_) {
      desk.manifolds.clear();
      desk.goes_on.clear();
    }
    stages.in_parts(static_cast<int>(some.size()), 8, [&](int first, int last, int worker) {
      for (int k = first; k < last; ++k) {
        looks_[k].worker = worker;
        look_at(looks_[k], desks_[worker], s, bodies, h);
        settle_own(looks_[k], desks_[worker], bodies);
      }
    });
    writings_.clear();
    befores_.clear();
    for (int k = 0; k < static_cast<int>(looks_.size()); ++k) settle(looks_[k], k, bodies);
    stages.in_parts(static_cast<int>(writings_.size()), 16, [&](int first, int last, int) {
      for (int k = first; k < last; ++k) {
        const Writing& writing = writings_[k];
        const Look& look = looks_[writing.look];
        const Manifold& m = desks_[look.worker].manifolds[writing.manifold];
        const SlotPlace at = touches_[writing.touch].slot;
        const Before* before = writing.before >= 0 ? &befores_[writing.before] : nullptr;
        slots.visit(at.family,
                    [&](auto& family) { write_lane(family, at, m, look.margin, before, true, bodies, pairs_[look.pair]); });
      }
    });
  }
}

void Touches::look_at(Look& look, Desk& desk, const State& s, const BodyLines& bodies, double h) {
  Pair& pair = pairs_[look.pair];
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  // Those that are apart, and whose boxes no longer meet, are forgotten.
  if (pair.place >= 0 && !p.form->endless && !q.form->endless && !box(pair.a).overlaps(box(pair.b))) return;
  look.outcome = Look::Outcome::apart;

  const double size = std::min(p.form->size, q.form->size), share = touch_margin_share * size,
               least_margin = settings_.margin > 0 ? std::min(settings_.margin, share) : share;
  // What may close within the step is a contact ahead of time.
  const Vec3 dv = s.v(p.body) - s.v(q.body);
  const double fall = p.moves && q.moves ? 0 : h * h * model_.gravity.norm();
  const double way = h * (dv.norm() + p.form->arm * s.omega(p.body).norm() + q.form->arm * s.omega(q.body).norm()) + fall;
  const double margin = least_margin + way;

  // The axis that parted them last time may still do.
  const CollisionPart &part_p = p.form->part, &part_q = q.form->part;
  const bool convex = part_p.kind != CollisionPart::Kind::surface && part_q.kind != CollisionPart::Kind::surface;
  const Frame A = frame_of(p, s), B = frame_of(q, s);
  if (convex)
    if (const double gap = parted_gap(pair, A, B); gap > margin) {
      look.gap = gap - least_margin;
      return;
    }

  // What is ahead may be passed, or met elsewhere: the way is followed, and what is not on it is no contact. Where it is long it
  // is followed first, for much may lie around it.
  CastHit hit;
  const auto meets = [&] {
    hit = cast(part_p, steady(p.body, s), part_q, steady(q.body, s), {.t_max = h, .tolerance = met_share * size});
    return hit.hit;
  };
  const bool fast = way > fast_share * size;
  if (fast && !meets()) return;

  // Surfaces tell no distance: looked at further than necessary, nothing there is worth something.
  const double ahead = convex ? 0 : 0.25 * size;
  std::vector<Manifold>& found = desk.found;
  found.clear();
  PairMemory memory{Vec3(pair.axis[0], pair.axis[1], pair.axis[2])};
  collide_parts(part_p, A, part_q, B, margin + ahead, memory, desk.scratch, found);
  for (int k = 0; k < 3; ++k) pair.axis[k] = static_cast<float>(memory.axis[k]);
  const bool nothing = found.empty();
  std::erase_if(found, [&](const Manifold& m) { return m.count == 0 || m.gap() > margin; });
  const auto is_ahead = [&](const Manifold& m) { return m.gap() > met_share * size; };
  if (!fast && way > straight_share * size && !found.empty() && std::ranges::all_of(found, is_ahead) && !meets()) return;
  if (hit.hit && hit.t > 0) {
    // Faces keep the normal of the pose from which they were seen where it is that of the blow; points are those of the blow.
    std::erase_if(found, [&](const Manifold& m) { return m.count == 1 || m.normal.dot(hit.normal) < same_normal; });
    if (found.empty()) found.push_back(manifold_of(hit, steady(p.body, s), steady(q.body, s)));
  }
  if (found.empty()) {
    look.gap = convex ? parted_gap(pair, A, B) - least_margin : nothing ? ahead : 0;
    return;
  }

  look.outcome = Look::Outcome::touching;
  look.margin = least_margin;
  look.first = static_cast<int>(desk.manifolds.size());
  look.count = static_cast<int>(found.size());
  for (const Manifold& m : found) {
    const int touch = take_match(pair, m, look.count);
    if (touch >= 0 && touches_[touch].slot.family == family_of(m)) look.points += write_again(touch, m, least_margin, bodies);
    desk.manifolds.push_back(m);
    desk.goes_on.push_back(touch);
  }
}

/// Of the manifolds that were there, the one that goes on as this one, of so many: that whose normal is nearest, if it is near.
int Touches::take_match(Pair& pair, const Manifold& m, int of) {
  int best = -1, before_best = -1;
  double nearest = of == 1 && pair.touch >= 0 && touches_[pair.touch].next < 0 ? -2 : 0.7;
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
  if (best >= 0) (before_best >= 0 ? touches_[before_best].next : pair.touch) = touches_[best].next;
  return best;
}

/// What touches nothing but the pair's own memory: most looks need no more, and whoever looked does it.
void Touches::settle_own(Look& look, const Desk& desk, const BodyLines& bodies) {
  Pair& pair = pairs_[look.pair];
  if (look.outcome == Look::Outcome::apart && pair.place >= 0) {
    set_budget(pair, look.gap, bodies);
    look.settled = true;
    return;
  }
  // All its manifolds go on in their slots, and none is left over.
  if (look.outcome != Look::Outcome::touching || pair.place >= 0 || pair.touch >= 0) return;
  for (int k = look.first; k < look.first + look.count; ++k)
    if (const int touch = desk.goes_on[k]; touch < 0 || touches_[touch].slot.family != family_of(desk.manifolds[k])) return;
  for (int k = look.first; k < look.first + look.count; ++k)
    touches_[desk.goes_on[k]].next = std::exchange(pair.touch, desk.goes_on[k]);
  look.settled = true;
}

void Touches::settle(const Look& look, int number, const BodyLines& bodies) {
  points_ += look.points;
  if (look.settled) return;
  if (look.outcome == Look::Outcome::forgotten) return drop(look.pair);
  if (look.outcome == Look::Outcome::apart) return part(pairs_[look.pair], look.pair, look.gap, bodies);
  Pair& pair = pairs_[look.pair];
  leave_apart(pair);
  for (const int body : {proxies_[pair.a].body, proxies_[pair.b].body})
    if (sleepers.asleep(body)) come_upon_.push_back(sleepers.island_of(body));
  const Desk& desk = desks_[look.worker];
  int kept = -1;
  for (int k = look.first; k < look.first + look.count; ++k) {
    const Manifold& m = desk.manifolds[k];
    int touch = desk.goes_on[k];
    const bool begins = touch < 0;
    if (begins) {
      touch = static_cast<int>(touches_.size());
      if (free_touches_.empty()) {
        touches_.emplace_back();
      } else {
        touch = free_touches_.back();
        free_touches_.pop_back();
      }
      touches_[touch] = {look.pair, -1, {}};
      ++begun_;
    }
    touches_[touch].next = std::exchange(kept, touch);
    if (!begins && touches_[touch].slot.family == family_of(m)) continue;

    // Into another slot, with what the last one had.
    Writing writing{touch, number, k, -1};
    points_ += m.count;
    if (!begins) {
      writing.before = static_cast<int>(befores_.size());
      Before& before = befores_.emplace_back();
      slots.visit(touches_[touch].slot.family, [&](auto& family) { take_down(family, touches_[touch].slot, before); });
      points_ -= before.count;
      give_back(touches_[touch].slot, pair);
    }
    touches_[touch].slot = take(touch, family_of(m), pair);
    writings_.push_back(writing);
  }
  while (pair.touch >= 0) release(pair.touch);
  pair.touch = kept;
}

}  // namespace rotule::realtime
