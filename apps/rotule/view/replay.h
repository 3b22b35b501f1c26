#pragma once
// A recording to look at: the frames of an HDF5 file, with the scene that it holds.
#include <rotule/world.h>

#include "record/fluid_slices.h"
#include "record/trajectory.h"
#include "scene_message.h"
#include "show.h"

namespace rotule::app {

class Replay final : public Show {
 public:
  /// Throws Error with the file's name where it is no trajectory, or does not fit the scene inside.
  Replay(const std::string& path, std::uint16_t generation);

  [[nodiscard]] std::int64_t first() const override { return 0; }
  [[nodiscard]] std::int64_t last() const override { return static_cast<std::int64_t>(times_.size()) - 1; }
  [[nodiscard]] double time(std::int64_t frame) const override { return times_[static_cast<std::size_t>(frame)]; }
  std::shared_ptr<const ViewFrame> frame(std::int64_t frame) override;
  [[nodiscard]] std::shared_ptr<const std::string> scene(std::uint16_t) const override { return scene_text_; }
  nlohmann::ordered_json body(int body, std::int64_t frame) override;
  [[nodiscard]] int bodies() const override;
  [[nodiscard]] double duration() const override { return times_.back(); }
  [[nodiscard]] double pace() const override;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const TrajectoryFrame& read(std::int64_t frame);

  TrajectoryReader file_;
  std::optional<FluidSliceReader> slices_;  // of a fluid, where the file holds them
  std::array<float, 3> fluid_scale_{};
  std::vector<double> times_;
  Scene scene_;
  World world_;  // as it stood at the start: masses, shapes, joints
  std::string name_;
  ViewQuanta quanta_;
  std::uint16_t generation_;
  std::shared_ptr<const std::string> scene_text_;
  std::vector<const Quantity*> numbers_;  // that the file holds
  TrajectoryFrame frame_;                 // the one read last
  std::int64_t number_ = -1;
};

/// Whether this names a recording rather than a scene.
bool is_recording(const std::string& given);

}  // namespace rotule::app
