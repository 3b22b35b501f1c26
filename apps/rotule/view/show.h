#pragma once
// What there is to see: frames in the order of time, of a world that is being simulated or of a file.
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/view_stream.h"

namespace rotule::app {

class Show {
 public:
  virtual ~Show() = default;
  /// Frames that can be shown, by number; a long live run forgets the first ones.
  [[nodiscard]] virtual std::int64_t first() const = 0;
  [[nodiscard]] virtual std::int64_t last() const = 0;
  [[nodiscard]] virtual double time(std::int64_t frame) const = 0;
  virtual std::shared_ptr<const ViewFrame> frame(std::int64_t frame) = 0;
  /// The "scene" message for frames of this generation.
  [[nodiscard]] virtual std::shared_ptr<const std::string> scene(std::uint16_t generation) const = 0;
  /// The "body" message, as of that frame; null where it is not known.
  virtual nlohmann::ordered_json body(int body, std::int64_t frame) = 0;
  [[nodiscard]] virtual int bodies() const = 0;
  [[nodiscard]] virtual double duration() const = 0;
  /// Seconds of the scene's time per second of the clock at which it is well watched.
  [[nodiscard]] virtual double pace() const = 0;

  /// The last frame that is not later than `time`, or the first one.
  [[nodiscard]] std::int64_t at(double time) const;
};

/// 1 wherever that can be watched; for steps of hours or runs of milliseconds a round number of seconds, minutes, hours, days or
/// years, so that about 30 steps are seen in a second, or the whole run within ten.
double natural_pace(double dt, double duration);

}  // namespace rotule::app
