#pragma once
// Who touches whom at the end of each step, and what changed since the end of the last one. A pair that touches and parts again
// within a step begins and ends in it.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/snapshot_check.h"
#include "constraint/pool/contact.h"

namespace rotule {

/// Two bodies, the smaller number first, and whether one of them is a sensor.
struct TouchPair {
  std::int32_t a = -1, b = -1;
  std::int32_t sensor = 0, spare = 0;  // no byte of a snapshot is left to chance

  friend auto operator<=>(const TouchPair&, const TouchPair&) = default;
};

struct TouchChange {
  TouchPair pair;
  bool begins = true;
};

class TouchLog {
 public:
  /// A new step: nothing has changed yet.
  void begin_step() {
    changes_.clear();
    met_.clear();
  }
  /// The pair touches within the step.
  void touch(int a, int b) { met_.push_back({std::min(a, b), std::max(a, b)}); }
  /// What touches at the step's end, in any order and as often as it likes.
  void end_step(std::vector<TouchPair>& touching);

  /// Pairs that woke, or fell asleep: they are compared from now on, or no longer, and nobody is told.
  void take_up(std::vector<TouchPair>& pairs);
  void lay_aside(std::vector<TouchPair>& pairs);

  [[nodiscard]] std::span<const TouchChange> changes() const { return changes_; }
  [[nodiscard]] bool touching(int a, int b) const;

  /// Numbers behind it move up; the pairs of a body that has left end unheard.
  void body_removed(int body);

  template <class Archive>
  void archive(Archive& io) {
    io(touching_);
    if constexpr (!Archive::writes) begin_step();
  }
  /// Whether these are pairs of so many bodies.
  static bool are_of(std::span<const TouchPair> pairs, int bodies) {
    return std::all_of(pairs.begin(), pairs.end(),
                       [&](const TouchPair& p) { return is_place(p.a, bodies) && is_place(p.b, bodies); });
  }
  [[nodiscard]] bool fits(int bodies) const { return are_of(touching_, bodies); }

 private:
  std::vector<TouchPair> touching_;  // at the end of the last step, sorted
  std::vector<TouchPair> met_;       // in the present step
  std::vector<TouchChange> changes_;
};

}  // namespace rotule
