// Manifolds that sleep, and wake. They keep all that they have, in blocks that nobody sweeps; pairs of sleepers that are apart
// are forgotten, and found again by whoever wakes.
#include <algorithm>

#include "step/realtime/touches.h"

namespace rotule::realtime {

void Touches::list_rows(const BodyLines& bodies) {
  const auto count = static_cast<std::size_t>(rows_for(boxes_.count));
  every_row_.clear();
  rows_.clear();
  for (int row = 0; row < static_cast<int>(count); ++row) {
    every_row_.push_back(row);
    const auto& lines = boxes_.line[row].lane;
    if (std::any_of(std::begin(lines), std::end(lines), [&](int line) { return bodies.goes(line); })) rows_.push_back(row);
  }
}

void Touches::lay_down(int touch) {
  const SlotPlace at = touches_[touch].slot;
  const Pair& pair = pairs_[touches_[touch].pair];
  const auto move = [&](auto& from, auto& to) { return to.append(0, from.colours[at.colour], at.index); };
  const int index = at.family == 0 ? move(slots.single, resting_.single) : move(slots.patches, resting_.patches);
  give_back(at, pair);
  touches_[touch].slot.colour = resting_colour;
  touches_[touch].slot.index = index;
  ++resting_count_;
}

void Touches::take_up(int touch) {
  const SlotPlace at = touches_[touch].slot;
  const SlotPlace to = take(touch, at.family, pairs_[touches_[touch].pair]);
  const auto move = [&](auto& from, auto& into) {
    into.copy(from.colours[0], at.index, into.colours[to.colour], to.index);
    return from.give_back(0, at.index, false, false);
  };
  const int moved = at.family == 0 ? move(resting_.single, slots.single) : move(resting_.patches, slots.patches);
  if (moved >= 0) touches_[moved].slot.index = at.index;
  touches_[touch].slot = to;
  --resting_count_;
  ++begun_;  // loads are weighed anew
}

void Touches::put_to_sleep(std::span<const int> bodies, std::span<const int> touches) {
  for (const int touch : touches) lay_down(touch);
  sleepers.add(bodies, touches);
}

void Touches::forget_idle_pairs(const BodyLines& lines) {
  const auto idle = [&](int line) { return !lines.goes(line); };
  for (int k = static_cast<int>(apart_.size()) - 1; k >= 0; --k)
    if (idle(apart_[k].line_a) && idle(apart_[k].line_b)) drop(apart_[k].pair);
}

void Touches::wake(int island) {
  for (const int touch : sleepers.touches(island)) {
    take_up(touch);
    if (presses(touch)) woken_pairs.push_back(bodies_of(touch));
  }
  const std::span<const int> bodies = sleepers.bodies(island);
  woken.insert(woken.end(), bodies.begin(), bodies.end());
  sleepers.wake(island);
}

void Touches::wake_around(int body) {
  if (!sleepers.any()) return;
  if (sleepers.asleep(body)) return wake(sleepers.island_of(body));
  for (int island = 0; island < sleepers.islands(); ++island) {
    const std::span<const int> touches = sleepers.touches(island);
    const bool on_it = std::any_of(touches.begin(), touches.end(), [&](int touch) {
      const auto [a, b] = bodies_of(touch);
      return a == body || b == body;
    });
    if (on_it) wake(island);
  }
}

void Touches::wake_found(const State& s, const BodyLines& bodies, double h, Stages& stages) {
  while (!come_upon_.empty()) {
    std::sort(come_upon_.begin(), come_upon_.end());
    come_upon_.erase(std::unique(come_upon_.begin(), come_upon_.end()), come_upon_.end());
    const std::size_t before = woken.size();
    for (const int island : come_upon_) wake(island);
    come_upon_.clear();
    fresh_.clear();
    look_around_woken(before);
    sort_fresh();
    collide(fresh_, s, bodies, h, stages);
  }
}

void Touches::look_around_woken(std::size_t from) {
  for (std::size_t k = from; k < woken.size(); ++k)
    for (int proxy = first_proxy_[woken[k]]; proxy >= 0; proxy = proxies_[proxy].next)
      if (!proxies_[proxy].form->endless) look_around(proxy);
}

bool Touches::presses(int touch) const {
  return at_slot(touches_[touch].slot,
                 [](const auto&, const auto& cold, const ExtraBlock*, int lane) { return cold.pressed.lane[lane] > 0; });
}

bool Touches::press_asleep(int a, int b) const {
  for (const int body : {a, b}) {
    if (!sleepers.asleep(body)) continue;
    const std::span<const int> touches = sleepers.touches(sleepers.island_of(body));
    return std::any_of(touches.begin(), touches.end(), [&](int touch) {
      const auto [p, q] = bodies_of(touch);
      return std::minmax(p, q) == std::minmax(a, b) && presses(touch);
    });
  }
  return false;
}

}  // namespace rotule::realtime
