#pragma once
// What a number did over a run, in a few numbers: mean, largest, last, percentiles. Which of them are said of a quantity is in
// the list of quantities.
#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "record/quantity_list.h"

namespace rotule {

class Tally {
 public:
  /// Percentiles need samples: every 2^k-th one is kept, so that a long run stays within a fixed memory.
  explicit Tally(bool with_percentiles = false) : sampled_(with_percentiles) {}
  void add(double x);
  [[nodiscard]] double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  [[nodiscard]] double max() const { return count_ > 0 ? max_ : 0; }
  [[nodiscard]] double last() const { return last_; }
  [[nodiscard]] double percentile(double p) const;
  /// All of it as numbers, behind those that are there; and back, from `at` on, which moves along. Throws Error where they end.
  void save(std::vector<double>& out) const;
  void load(std::span<const double> from, std::size_t& at);

 private:
  static constexpr std::size_t most_samples = 1 << 18;
  double sum_ = 0, max_ = -std::numeric_limits<double>::infinity(), last_ = 0;
  std::int64_t count_ = 0, stride_ = 1;
  bool sampled_ = false;
  std::vector<double> samples_;
};

/// What is said of a number's course, and by what name: mean, max, final, p50, p99.
std::vector<std::pair<std::string_view, double>> said_of(const Quantity& quantity, const Tally& tally);

/// Those of all the numbers of a run.
class Tallies {
 public:
  explicit Tallies(const Diagnostics& start);
  void add(const StepDone& step, const Diagnostics& after);
  const Tally& operator[](QuantityKey key) const { return tallies_[key.index]; }
  [[nodiscard]] const Tally& of(const Quantity& quantity) const { return tallies_[index_of(quantity)]; }
  /// For runs that go on another time.
  [[nodiscard]] std::vector<double> save() const;
  void load(std::span<const double> from);

 private:
  std::vector<Tally> tallies_;  // in the list's order
};

}  // namespace rotule
