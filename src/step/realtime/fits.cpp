// Whether what was read of a snapshot hangs together: every place that somebody would go to is there, and whoever is there knows
// of it. Bytes from a file may say anything.
#include "base/snapshot_check.h"
#include "step/realtime/touches.h"

namespace rotule::realtime {

namespace {

/// Whether these are the numbers for which `free(number)`, each once.
template <class Free>
bool are_all_free(std::span<const int> numbers, std::size_t count, const Free& free) {
  std::vector<char> listed(count, 0);
  for (const int number : numbers) {
    if (!is_place(number, count) || listed[number] != 0 || !free(number)) return false;
    listed[number] = 1;
  }
  std::size_t all = 0;
  for (std::size_t k = 0; k < count; ++k) all += free(static_cast<int>(k));
  return all == numbers.size();
}

/// Blocks as many as manifolds need; lanes that are not in use are nobody's.
template <class Colour>
bool lanes_fit(const Colour& colour) {
  if (colour.count < 0 || colour.hot.size() != colour.cold.size()) return false;
  if (!colour.extras.empty() && colour.extras.size() != colour.hot.size()) return false;
  const std::size_t used = static_cast<std::size_t>(colour.count) * static_cast<std::size_t>(colour.stride);
  if (colour.hot.size() != (used + row_lanes - 1) / row_lanes) return false;
  for (std::size_t index = 0; index < row_lanes * colour.hot.size(); ++index) {
    const auto& hot = colour.hot[index / row_lanes];
    const std::size_t lane = index % row_lanes;
    const bool in_use = index < used && index % static_cast<std::size_t>(colour.stride) == 0;
    if (!in_use &&
        (hot.a.lane[lane] != nobody || hot.b.lane[lane] != nobody || colour.cold[index / row_lanes].touch.lane[lane] != -1))
      return false;
  }
  return true;
}

}  // namespace

bool Sleepers::fits(int bodies, int touches) const {
  if (still.size() != static_cast<std::size_t>(bodies) || island_of_.size() != still.size()) return false;
  int sleeping = 0;
  for (const int island : island_of_) {
    if (island != -1 && !is_place(island, islands_.size())) return false;
    sleeping += island >= 0;
  }
  for (std::size_t k = 0; k < islands_.size(); ++k) {
    const Island& island = islands_[k];
    if (!are_places(island.bodies, bodies) || !are_places(island.touches, touches)) return false;
    for (std::size_t n = 0; n < island.bodies.size(); ++n)
      if (island_of_[island.bodies[n]] != static_cast<int>(k) || (n > 0 && island.bodies[n] <= island.bodies[n - 1]))
        return false;
  }
  return sleeping == count_ && are_all_free(free_, islands_.size(), [&](int k) { return islands_[k].bodies.empty(); });
}

bool Touches::pairs_fit() const {
  for (int number = 0; number < static_cast<int>(pairs_.size()); ++number) {
    const Pair& pair = pairs_[number];
    if (pair.a < 0) continue;
    if (!is_place(pair.a, proxies_.size()) || !is_place(pair.b, proxies_.size()) || pair.a == pair.b) return false;
    if (proxies_[pair.a].body < 0 || proxies_[pair.b].body < 0) return false;
    if (senses(pair)) {
      if (!is_place(pair.place, sensing_.size()) || sensing_[pair.place].pair != number) return false;
    } else if (pair.place != -1 && (!is_place(pair.place, apart_.size()) || apart_[pair.place].pair != number)) {
      return false;
    }
    if (pair.touch != -1 && (!is_place(pair.touch, touches_.size()) || touches_[pair.touch].pair != number)) return false;
  }
  const auto is_used = [&](int number) { return is_place(number, pairs_.size()) && pairs_[number].a >= 0; };
  for (std::size_t k = 0; k < apart_.size(); ++k) {
    const Apart& apart = apart_[k];
    if (!is_used(apart.pair)) return false;
    const Pair& pair = pairs_[apart.pair];
    if (senses(pair) || pair.place != static_cast<int>(k)) return false;
    if (apart.line_a != line_of(proxies_[pair.a].body) || apart.line_b != line_of(proxies_[pair.b].body)) return false;
  }
  for (std::size_t k = 0; k < sensing_.size(); ++k)
    if (!is_used(sensing_[k].pair) || !senses(pairs_[sensing_[k].pair]) || pairs_[sensing_[k].pair].place != static_cast<int>(k))
      return false;
  return are_all_free(free_pairs_, pairs_.size(), [&](int k) { return pairs_[k].a < 0; }) &&
         are_all_free(free_proxies_, proxies_.size(), [&](int k) { return proxies_[k].body < 0; });
}

bool Touches::touches_fit() const {
  // Each in the chain of its pair, and there alone.
  std::size_t in_chains = 0;
  for (std::size_t number = 0; number < pairs_.size(); ++number)
    for (int t = pairs_[number].a < 0 ? -1 : pairs_[number].touch; t != -1; t = touches_[t].next)
      if (!is_place(t, touches_.size()) || touches_[t].pair != static_cast<int>(number) || ++in_chains > touches_.size())
        return false;
  if (in_chains + free_touches_.size() != touches_.size() ||
      !are_all_free(free_touches_, touches_.size(), [&](int k) { return touches_[k].pair < 0; }))
    return false;
  int resting = 0;
  for (int t = 0; t < static_cast<int>(touches_.size()); ++t) {
    const SlotPlace& at = touches_[t].slot;
    if (touches_[t].pair < 0) continue;
    const bool rests = at.colour == resting_colour;
    resting += rests;
    if ((at.family != 0 && at.family != 1) || (!rests && !is_place(at.colour, colour_count)) || at.index < 0) return false;
    const auto known = [&](const auto& family) {
      const auto& colour = family.colours[rests ? 0 : at.colour];
      if (at.index % colour.stride != 0 || at.index / colour.stride >= colour.count) return false;
      const int lane = at.index % row_lanes;
      const auto& hot = colour.hot[at.index / row_lanes];
      const auto [a, b] = bodies_of(t);
      return colour.cold[at.index / row_lanes].touch.lane[lane] == t && hot.a.lane[lane] == line_of(a) &&
             hot.b.lane[lane] == line_of(b);
    };
    const ContactSlots& all = rests ? resting_ : slots;
    if (!(at.family == 0 ? known(all.single) : known(all.patches))) return false;
  }
  return resting == resting_count_;
}

bool Touches::slots_fit() const {
  int lanes = 0;
  bool fit = true;
  for (const ContactSlots* all : {&slots, &resting_})
    all->for_each([&](const auto& family) {
      for (const auto& colour : family.colours) {
        fit = fit && lanes_fit(colour);
        lanes += fit ? colour.count : 0;
      }
    });
  // As many lanes in use as manifolds, each of which has found its own: all are known.
  return fit && lanes == static_cast<int>(touches_.size() - free_touches_.size());
}

bool Touches::colours_fit() const {
  bool fit = true;
  slots.for_each([&](const auto& family) {
    std::vector<std::uint64_t> taken(family.taken().size(), 0);
    const auto take = [&](int line, int colour) {
      const std::uint64_t bit = std::uint64_t(1) << colour;
      fit = fit && is_place(line, taken.size()) && (taken[line] & bit) == 0;
      if (fit) taken[line] |= bit;
    };
    for (int colour = 0; colour < crowded; ++colour)
      for (int index = 0; index < family.colours[colour].count; ++index) {
        const int touch = family.colours[colour].cold[index / row_lanes].touch.lane[index % row_lanes];
        const Pair& pair = pairs_[touches_[touch].pair];
        if (proxies_[pair.a].moves) take(line_of(proxies_[pair.a].body), colour);
        if (proxies_[pair.b].moves) take(line_of(proxies_[pair.b].body), colour);
      }
    fit = fit && taken == family.taken();
  });
  return fit;
}

bool Touches::fits() const {
  const int bodies = model_.body_count();
  const auto both = [&](const std::pair<int, int>& pair) {
    return is_place(pair.first, bodies) && is_place(pair.second, bodies);
  };
  return boxes_.low.size() == boxes_.line.size() && boxes_.high.size() == boxes_.line.size() && are_places(woken, bodies) &&
         std::all_of(woken_pairs.begin(), woken_pairs.end(), both) && points_ >= 0 && pairs_fit() && slots_fit() &&
         touches_fit() && colours_fit() && sleepers.fits(bodies, static_cast<int>(touches_.size())) && sleepers_rest();
}

bool Touches::sleepers_rest() const {
  for (int island = 0; island < sleepers.islands(); ++island)
    for (const int touch : sleepers.touches(island))
      if (touches_[touch].pair < 0 || touches_[touch].slot.colour != resting_colour) return false;
  return true;
}

}  // namespace rotule::realtime
