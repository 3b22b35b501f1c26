#include "history.h"

#include <algorithm>
#include <cmath>

#include "show.h"

namespace rotule::app {

double natural_pace(double dt, double duration) {
  constexpr double longest_step = 0.1, shortest_run = 0.2, steps_per_second = 30, run_seconds = 10;  // s
  const bool fast = duration > 0 && duration < shortest_run;
  if (!(dt > longest_step) && !fast) return 1;
  const double wanted = fast ? duration / run_seconds : dt * steps_per_second;
  double unit = 1;
  for (const double length : {60.0, 3600.0, 86400.0, 365.25 * 86400})
    if (wanted >= length) unit = length;
  const double power = std::pow(10, std::floor(std::log10(wanted / unit))), digit = wanted / unit / power;
  return unit * power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

std::int64_t Show::at(double time) const {
  std::int64_t low = first(), high = last();
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (this->time(middle) <= time)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

void History::push(const ViewFrame& frame) {
  const bool fresh =
      chunks_.empty() || chunks_.back().times.size() >= chunk_frames || chunks_.back().generation != frame.generation;
  if (fresh) {
    if (!chunks_.empty()) {
      Chunk& full = chunks_.back();
      bytes_ -= full.memory();
      full.bytes.shrink_to_fit();
      bytes_ += full.memory();
    }
    const std::size_t likely = chunks_.empty() ? 0 : chunks_.back().bytes.size();
    chunks_.emplace_back();
    chunks_.back().generation = frame.generation;
    chunks_.back().bytes.reserve(std::min(likely, most_bytes_ / 8));
    starts_.push_back(end_);
    bytes_ += chunks_.back().memory();
  }
  Chunk& chunk = chunks_.back();
  bytes_ -= chunk.memory();
  const auto encoded = encoder_.encode(frame, ~0u, fresh);
  chunk.bytes.insert(chunk.bytes.end(), encoded.begin(), encoded.end());
  chunk.ends.push_back(chunk.bytes.size());
  chunk.times.push_back(frame.time);
  bytes_ += chunk.memory();
  ++end_;
  while (bytes_ > most_bytes_ && chunks_.size() > 1) {
    bytes_ -= chunks_.front().memory();
    chunks_.pop_front();
    starts_.pop_front();
    first_ = starts_.front();
  }
}

History::Place History::place(std::int64_t frame) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), frame);
  const auto chunk = static_cast<std::size_t>(after - starts_.begin()) - 1;
  return {chunk, static_cast<std::size_t>(frame - starts_[chunk])};
}

double History::time(std::int64_t frame) const {
  const Place at = place(frame);
  return chunks_[at.chunk].times[at.frame];
}

std::shared_ptr<const ViewFrame> History::frame(std::int64_t frame) {
  if (frame == decoded_) return shown_;
  const Place at = place(frame);
  const Chunk& chunk = chunks_[at.chunk];
  // From where the decoder stands, where that is in this chunk and not yet past; else from the chunk's key frame.
  const std::int64_t start = starts_[at.chunk];
  const bool follows = decoded_ >= start && decoded_ < frame;
  auto out = std::make_shared<ViewFrame>();
  for (std::size_t k = follows ? static_cast<std::size_t>(decoded_ - start) + 1 : 0; k <= at.frame; ++k) {
    const std::size_t begin = k > 0 ? chunk.ends[k - 1] : 0;
    decoder_.decode(std::span(chunk.bytes).subspan(begin, chunk.ends[k] - begin), *out);
  }
  decoded_ = frame;
  shown_ = std::move(out);
  return shown_;
}

}  // namespace rotule::app
