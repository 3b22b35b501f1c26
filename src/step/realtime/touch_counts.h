#pragma once
// Who presses on whom, kept by changes: a body pair begins to touch with its first manifold that presses and ends with its last.
// Steps in which nothing changes cost nothing.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "step/touch_log.h"

namespace rotule::realtime {

class TouchCounts {
 public:
  /// One manifold of the two more, or less.
  void change(int a, int b, int by) { changes_.push_back({std::min(a, b), std::max(a, b), by}); }
  [[nodiscard]] bool changed() const { return !changes_.empty(); }

  /// Takes the changes in; `pressing` are then all pairs that press, sorted.
  void settle(std::vector<TouchPair>& pressing) {
    std::sort(changes_.begin(), changes_.end(), before);
    merged_.clear();
    auto old = counts_.begin();
    for (auto change = changes_.begin(); change != changes_.end();) {
      Count now{change->a, change->b, 0};
      for (; change != changes_.end() && change->a == now.a && change->b == now.b; ++change) now.count += change->count;
      for (; old != counts_.end() && before(*old, now); ++old) merged_.push_back(*old);
      if (old != counts_.end() && !before(now, *old)) now.count += (old++)->count;
      if (now.count > 0) merged_.push_back(now);
    }
    merged_.insert(merged_.end(), old, counts_.end());
    counts_.swap(merged_);
    changes_.clear();
    pressing.clear();
    for (const Count& count : counts_) pressing.push_back({count.a, count.b});
  }
  /// Its pairs are gone; numbers behind it have moved up.
  void body_removed(int body) {
    std::erase_if(counts_, [&](const Count& c) { return c.a == body || c.b == body; });
    std::erase_if(changes_, [&](const Count& c) { return c.a == body || c.b == body; });
    for (auto* list : {&counts_, &changes_})
      for (Count& c : *list) {
        c.a -= c.a > body;
        c.b -= c.b > body;
      }
  }

  template <class Archive>
  void archive(Archive& io) {
    io(counts_);
    io(changes_);
  }
  /// Whether what was read of a snapshot speaks of so many bodies alone.
  [[nodiscard]] bool fits(int bodies) const {
    const auto known = [&](const Count& c) {
      return is_place(c.a, bodies) && is_place(c.b, bodies) && std::abs(c.count) < 1 << 24;
    };
    return std::all_of(counts_.begin(), counts_.end(), known) && std::all_of(changes_.begin(), changes_.end(), known);
  }

 private:
  struct Count {
    int a, b, count;
  };
  static bool before(const Count& p, const Count& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; }
  std::vector<Count> counts_, merged_, changes_;
};

}  // namespace rotule::realtime
