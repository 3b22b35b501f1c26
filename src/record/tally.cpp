#include "record/tally.h"

#include <rotule/error.h>

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

void Tally::save(std::vector<double>& out) const {
  out.insert(out.end(), {sum_, max_, last_, static_cast<double>(count_), static_cast<double>(stride_),
                         static_cast<double>(samples_.size())});
  out.insert(out.end(), samples_.begin(), samples_.end());
}

void Tally::load(std::span<const double> from, std::size_t& at) {
  constexpr std::size_t head = 6;
  if (from.size() - at < head) throw Error("tallies", "are cut short");
  sum_ = from[at];
  max_ = from[at + 1];
  last_ = from[at + 2];
  count_ = static_cast<std::int64_t>(from[at + 3]);
  stride_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(from[at + 4]));
  const double samples = from[at + 5];
  at += head;
  if (!(samples >= 0 && samples <= static_cast<double>(from.size() - at))) throw Error("tallies", "are cut short");
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
  samples_.assign(begin, begin + static_cast<std::ptrdiff_t>(samples));
  at += samples_.size();
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

std::vector<double> Tallies::save() const {
  std::vector<double> out;
  for (const Tally& tally : tallies_) tally.save(out);
  return out;
}

void Tallies::load(std::span<const double> from) {
  std::size_t at = 0;
  for (Tally& tally : tallies_) tally.load(from, at);
  if (at != from.size()) throw Error("tallies", "are those of other quantities");
}

void Tallies::add(const StepDone& step, const Diagnostics& after) {
  for (const Quantity& q : quantities)
    if (is_number(q)) tallies_[index_of(q)].add(q.of_step != nullptr ? q.of_step(step) : q.of_ledger(after));
}

}  // namespace rotule
