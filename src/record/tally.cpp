#include "record/tally.h"

#include <cmath>

namespace rotule {

void Tally::add(double x) {
  sum_ += x;
  max_ = std::max(max_, x);
  last_ = x;
  if (count_++ % stride_ != 0 || !sampled_) return;
  samples_.push_back(x);
  if (samples_.size() < most_samples) return;
  for (std::size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
  samples_.resize((samples_.size() + 1) / 2);
  stride_ *= 2;
}

double Tally::percentile(double p) const {
  if (samples_.empty()) return 0;
  std::vector<double> sorted = samples_;
  const auto at = static_cast<std::ptrdiff_t>(std::lround(p / 100 * static_cast<double>(sorted.size() - 1)));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

std::vector<std::pair<std::string_view, double>> said_of(const Quantity& quantity, const Tally& tally) {
  std::vector<std::pair<std::string_view, double>> out;
  if (quantity.said & say_mean) out.emplace_back("mean", tally.mean());
  if (quantity.said & say_max) out.emplace_back("max", tally.max());
  if (quantity.said & say_final) out.emplace_back("final", tally.last());
  if (quantity.said & say_percentiles) {
    out.emplace_back("p50", tally.percentile(50));
    out.emplace_back("p99", tally.percentile(99));
  }
  return out;
}

Tallies::Tallies(const Diagnostics& start) {
  for (const Quantity& q : quantities) {
    tallies_.emplace_back((q.said & say_percentiles) != 0);
    if (q.from_start) tallies_.back().add(q.of_ledger(start));
  }
}

void Tallies::add(const StepDone& step, const Diagnostics& after) {
  for (const Quantity& q : quantities)
    if (is_number(q)) tallies_[index_of(q)].add(q.of_step != nullptr ? q.of_step(step) : q.of_ledger(after));
}

}  // namespace rotule
