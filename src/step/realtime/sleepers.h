#pragma once
// Who sleeps. Bodies that hang together, by contacts or joints, and have all lain still for a while, are left alone: to others
// they are as heavy as what is fixed, nothing of theirs is swept, moved or looked for, so that they cost nothing. They wake
// together, once something comes to touch one of them, somebody moves, pushes or removes one, or what they lie on is moved.
//
// What is still: slower, at any of its points, than a share of the speed that falling through its own size gives. Without gravity
// nothing sleeps: there, what moves slowly does so for good.
#include <cstdint>
#include <span>
#include <vector>

#include "base/snapshot_check.h"

namespace rotule::realtime {

class Sleepers {
 public:
  void resize(int bodies) {
    island_of_.resize(bodies, -1);
    still.resize(bodies, 0);
  }
  [[nodiscard]] bool asleep(int body) const { return island_of_[body] >= 0; }
  [[nodiscard]] int island_of(int body) const { return island_of_[body]; }
  [[nodiscard]] bool any() const { return count_ > 0; }
  /// How many sleep.
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int islands() const { return static_cast<int>(islands_.size()); }
  /// Of an island, rising; empty where it woke.
  [[nodiscard]] std::span<const int> bodies(int island) const { return islands_[island].bodies; }
  [[nodiscard]] std::span<const int> touches(int island) const { return islands_[island].touches; }

  /// They sleep from now on; `bodies` and `touches`, their manifolds, rise.
  void add(std::span<const int> bodies, std::span<const int> touches) {
    int number = static_cast<int>(islands_.size());
    if (free_.empty()) {
      islands_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    Island& island = islands_[number];
    island.bodies.assign(bodies.begin(), bodies.end());
    island.touches.assign(touches.begin(), touches.end());
    for (const int body : bodies) island_of_[body] = number;
    count_ += static_cast<int>(bodies.size());
  }
  void wake(int number) {
    Island& island = islands_[number];
    count_ -= static_cast<int>(island.bodies.size());
    for (const int body : island.bodies) {
      island_of_[body] = -1;
      still[body] = 0;
    }
    island.bodies.clear();
    island.touches.clear();
    free_.push_back(number);
  }
  /// An awake one has left; those behind it have moved up.
  void body_removed(int body) {
    island_of_.erase(island_of_.begin() + body);
    still.erase(still.begin() + body);
    for (Island& island : islands_)
      for (int& other : island.bodies) other -= other > body;
  }

  std::vector<float> still;  // s, by body: for how long it has been

  /// Whether what was read of a snapshot speaks of these alone, and hangs together.
  [[nodiscard]] bool fits(int bodies, int touches) const;

  template <class Archive>
  void archive(Archive& io) {
    io(still);
    io(island_of_);
    io(free_);
    auto islands = static_cast<std::uint64_t>(islands_.size());
    io(islands);
    if constexpr (!Archive::writes) require_fit(islands <= island_of_.size());
    islands_.resize(islands);
    for (Island& island : islands_) {
      io(island.bodies);
      io(island.touches);
    }
    count_ = 0;
    for (const Island& island : islands_) count_ += static_cast<int>(island.bodies.size());
  }

 private:
  struct Island {
    std::vector<int> bodies, touches;
  };
  std::vector<int> island_of_;  // by body; -1: awake
  std::vector<Island> islands_;
  std::vector<int> free_;
  int count_ = 0;
};

}  // namespace rotule::realtime
