#pragma once
// Slots behind ids: each slot points to a place in dense arrays that move when others are removed, and counts how often it has
// been emptied, so that an id that has outlived its thing is found out.
#include <rotule/error.h>
#include <rotule/ids.h>

#include <string>
#include <vector>

namespace rotule {

template <class AnyId>
class Slots {
 public:
  explicit Slots(const char* what) : what_(what) {}

  /// For a thing that was put at the end of the dense arrays.
  AnyId add() {
    const auto place = static_cast<int>(slot_of_.size());
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].place = place;
    slot_of_.push_back(slot);
    return {slot, slots_[slot].generation};
  }

  /// The thing at this place is erased; those behind it move up.
  void erase(int place) {
    Slot& slot = slots_[slot_of_[place]];
    slot.place = -1;
    ++slot.generation;
    free_.push_back(slot_of_[place]);
    slot_of_.erase(slot_of_.begin() + place);
    for (int i = place; i < static_cast<int>(slot_of_.size()); ++i) slots_[slot_of_[i]].place = i;
  }

  [[nodiscard]] bool contains(AnyId id) const {
    return id.index < slots_.size() && slots_[id.index].place >= 0 && slots_[id.index].generation == id.generation;
  }

  /// The place in the dense arrays; throws for ids that are stale or were never given.
  [[nodiscard]] int place(AnyId id) const {
    if (!contains(id))
      throw Error(std::string(what_) + " id " + std::to_string(id.index),
                  id.index < slots_.size() ? "is stale: what it named was removed" : "was never given out by this world");
    return slots_[id.index].place;
  }

  [[nodiscard]] AnyId id(int place) const { return {slot_of_[place], slots_[slot_of_[place]].generation}; }
  [[nodiscard]] int count() const { return static_cast<int>(slot_of_.size()); }

 private:
  struct Slot {
    int place = -1;
    std::uint32_t generation = 0;
  };
  const char* what_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> slot_of_, free_;
};

}  // namespace rotule
