#pragma once
// The past of a live run, for going back in it: frames as the stream encodes them, a key frame every so often, the oldest ones
// forgotten where memory would exceed its bound.
#include <deque>
#include <memory>

#include "record/view_stream.h"

namespace rotule::app {

class History {
 public:
  explicit History(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void push(const ViewFrame& frame);
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return end_ - 1; }
  [[nodiscard]] double time(std::int64_t frame) const;
  /// The frame of this number, which must be from `first` to `last`. Cheap where it follows the one asked for before.
  std::shared_ptr<const ViewFrame> frame(std::int64_t frame);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The generations that frames still belong to begin here.
  [[nodiscard]] std::uint16_t first_generation() const { return chunks_.empty() ? 0 : chunks_.front().generation; }

 private:
  static constexpr std::size_t chunk_frames = 30;
  struct Chunk {
    std::uint16_t generation = 0;
    std::vector<double> times;
    std::vector<std::size_t> ends;  // of each frame in `bytes`
    std::vector<std::uint8_t> bytes;
    [[nodiscard]] std::size_t memory() const { return bytes.capacity() + 16 * times.capacity() + sizeof(Chunk); }
  };
  struct Place {
    std::size_t chunk = 0, frame = 0;
  };
  [[nodiscard]] Place place(std::int64_t frame) const;

  std::size_t most_bytes_, bytes_ = 0;
  std::deque<Chunk> chunks_;
  std::deque<std::int64_t> starts_;  // of each chunk
  std::int64_t first_ = 0, end_ = 0;
  ViewEncoder encoder_;
  ViewDecoder decoder_;
  std::int64_t decoded_ = -1;  // the frame that the decoder has just been through
  std::shared_ptr<ViewFrame> shown_;
};

}  // namespace rotule::app
