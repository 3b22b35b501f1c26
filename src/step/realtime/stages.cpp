#include "step/realtime/stages.h"

#include <algorithm>
#include <atomic>

namespace rotule::realtime {

namespace {

constexpr int least_blocks = 6;  // sixteen manifolds each: half a microsecond
constexpr int blocks_of_range = 4 * least_blocks;

}  // namespace

void Stages::sweep(Pass pass, ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings) {
  if (pass == Pass::prepare) {
    colours_.clear();
    int family = 0;
    slots.for_each([&](const auto& of) {
      for (int colour = 0; colour < colour_count; ++colour)
        if (const auto& blocks = of.colours[static_cast<std::size_t>(colour)].hot; !blocks.empty())
          colours_.push_back({family, colour, 0, static_cast<int>(blocks.size())});
      ++family;
    });
  }
  for (const BlockRange& all : colours_) {
    // Manifolds of crowded bodies share them: one after the other.
    const int least = all.colour == crowded ? all.last : least_blocks;
    in_parts(all.last, least, [&](int first, int last, int) {
      realtime::sweep(pass, slots, {all.family, all.colour, first, last}, bodies, settings);
    });
  }
}

void Stages::list_blocks(const ContactSlots& slots) {
  ranges_.clear();
  int family = 0;
  slots.for_each([&](const auto& of) {
    for (int colour = 0; colour < colour_count; ++colour) {
      const int blocks = static_cast<int>(of.colours[static_cast<std::size_t>(colour)].hot.size());
      for (int first = 0; first < blocks; first += blocks_of_range)
        ranges_.push_back({family, colour, first, std::min(first + blocks_of_range, blocks)});
    }
    ++family;
  });
}

void Stages::find_moved(ContactSlots& slots, const BodyLines& bodies, std::vector<int>& moved) {
  list_blocks(slots);
  gather(static_cast<int>(ranges_.size()), 1, lists, moved, [&](int first, int last, std::vector<int>& out) {
    for (int k = first; k < last; ++k) realtime::find_moved(slots, ranges_[static_cast<std::size_t>(k)], bodies, out);
  });
}

void Stages::find_pressing(ContactSlots& slots, std::vector<Pressing>& changed) {
  list_blocks(slots);
  gather(static_cast<int>(ranges_.size()), 1, pressing_, changed, [&](int first, int last, std::vector<Pressing>& out) {
    for (int k = first; k < last; ++k) realtime::find_pressing(slots, ranges_[static_cast<std::size_t>(k)], out);
  });
}

ContactWork Stages::work(ContactSlots& slots, const BodyLines& bodies, bool bounced) {
  // Ranges are the same whatever the threads, and so is the order of sums.
  list_blocks(slots);
  work_.assign(ranges_.size(), {});
  in_parts(static_cast<int>(ranges_.size()), 1, [&](int first, int last, int) {
    for (int k = first; k < last; ++k)
      add_work(slots, ranges_[static_cast<std::size_t>(k)], bodies, bounced, work_[static_cast<std::size_t>(k)]);
  });
  ContactWork sum;
  for (const ContactWork& part : work_) {
    sum.normal += part.normal;
    sum.friction += part.friction;
    sum.led += part.led;
  }
  return sum;
}

double Stages::judge(ContactSlots& slots, BodyLines& bodies, float h, std::int64_t step) {
  constexpr int few = 4, share = 8;  // ranges that are all looked at; else one in so many
  over_rows(bodies.rows, [&](std::span<const int> rows) { note_changes(bodies, rows); });
  list_blocks(slots);
  if (static_cast<int>(ranges_.size()) > few * share) {
    std::size_t kept = 0;
    for (std::size_t k = static_cast<std::size_t>(step % share); k < ranges_.size(); k += share) ranges_[kept++] = ranges_[k];
    ranges_.resize(kept);
  }
  worst_.assign(ranges_.size(), 0);
  in_parts(static_cast<int>(ranges_.size()), 1, [&](int first, int last, int) {
    for (int k = first; k < last; ++k)
      worst_[static_cast<std::size_t>(k)] = realtime::judge(slots, ranges_[static_cast<std::size_t>(k)], bodies, h);
  });
  double worst = 0;
  for (const float of : worst_) worst = std::max(worst, double(of));
  return worst;
}

bool Stages::finish(BodyLines& bodies, float h, State& s) {
  std::atomic<bool> finite = true;
  over_rows(bodies.rows, [&](std::span<const int> rows) {
    if (!finish_bodies(bodies, rows, h, s)) finite = false;
  });
  return finite;
}

}  // namespace rotule::realtime
