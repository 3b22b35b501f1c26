#pragma once
// Which pairs are known: a set of numbers by open addressing, without an allocation per entry.
#include <cstdint>
#include <vector>

namespace rotule::realtime {

class PairTable {
 public:
  static std::uint64_t key(int a, int b) { return (std::uint64_t(a) + 2) << 32 | (std::uint64_t(b) + 2); }

  [[nodiscard]] bool has(std::uint64_t key) const {
    std::size_t place = first(key);
    while (keys_[place] != empty && keys_[place] != key) place = next(place);
    return keys_[place] == key;
  }
  /// False where it is there already.
  bool insert(std::uint64_t key) {
    if (4 * used_ >= 3 * keys_.size()) grow();
    std::size_t place = first(key), grave = keys_.size();
    for (; keys_[place] != empty; place = next(place)) {
      if (keys_[place] == key) return false;
      if (keys_[place] == removed && grave == keys_.size()) grave = place;
    }
    if (grave != keys_.size()) {
      place = grave;
    } else {
      ++used_;
    }
    keys_[place] = key;
    ++count_;
    return true;
  }
  void erase(std::uint64_t key) {
    for (std::size_t place = first(key); keys_[place] != empty; place = next(place))
      if (keys_[place] == key) {
        keys_[place] = removed;
        --count_;
        return;
      }
  }
  void clear() {
    keys_.assign(keys_.size(), empty);
    count_ = used_ = 0;
  }

 private:
  static constexpr std::uint64_t empty = 0, removed = 1;
  [[nodiscard]] std::size_t first(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15ull >> 20) & (keys_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t place) const { return (place + 1) & (keys_.size() - 1); }
  void grow() {
    std::size_t size = 4096;
    while (size < 2 * count_) size *= 2;
    std::vector<std::uint64_t> before(size, empty);
    before.swap(keys_);
    count_ = used_ = 0;
    for (const std::uint64_t key : before)
      if (key > removed) insert(key);
  }

  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(4096, empty);
  std::size_t count_ = 0, used_ = 0;  // used: graves included
};

}  // namespace rotule::realtime
