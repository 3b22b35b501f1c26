#pragma once
// Trajectories as HDF5 files: frame by frame all that the list of quantities records; the scene and the recipe inside, names and
// units as attributes. Arrays are chunked and compressed; a chunk is gathered in memory, so that most frames cost no call of the
// library.
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <optional>
#include <string>
#include <vector>

#include "record/fluid_slices.h"
#include "record/hdf5_file.h"
#include "record/quantity_list.h"

namespace rotule {

/// Whether a command's argument means a recording: by its ending, or by the file's first bytes.
bool names_recording(const std::string& path);

class TrajectoryWriter {
 public:
  /// `scene` is the text of the scene file. `expected_frames` only sizes chunks; 0 where it is not known.
  TrajectoryWriter(const std::string& path, const std::string& scene, const Recipe& recipe,
                   const std::vector<std::string>& bodies, const std::vector<std::string>& joints,
                   std::int64_t expected_frames = 0, std::size_t particles = 0);
  void append(const TrajectoryFrame& frame);
  /// A plane of the fluid at some moment; all of one run are of the same plane.
  void append(double time, const FluidSlice& slice);
  /// What `rotule run --json` would say of the run; once, before `close`.
  void summary(const std::string& json) { file_.write("/summary", {json}); }
  /// Writes what is left, under the temporary name still.
  void close();
  /// Closes, and puts the file in its place; without it, nothing is left behind.
  void finish();

 private:
  /// One array that grows with the frames.
  struct Series {
    Hdf5Handle dataset;
    std::string name;
    Extent row;  // of one frame
    Hdf5Size row_size = 1;
    Hdf5Size chunk = 1;    // frames
    Hdf5Size written = 0;  // frames
    Hdf5Size held = 0;     // frames in the buffer
    std::vector<double> buffer;
  };
  Series make(const Quantity& quantity, const Extent& row, std::int64_t expected_frames);
  void append(Series& series, const double* values, std::size_t count);
  void flush(Series& series);

  Hdf5File file_;
  std::vector<Series> series_;  // of the recorded quantities, in their order
  Series contact_start_;
  Hdf5Size contacts_ = 0;  // so far
  std::optional<FluidSliceWriter> slices_;
};

class TrajectoryReader {
 public:
  explicit TrajectoryReader(const std::string& path);
  [[nodiscard]] std::size_t frames() const { return frames_; }
  [[nodiscard]] const std::vector<std::string>& body_names() const { return bodies_; }
  [[nodiscard]] const std::vector<std::string>& joint_names() const { return joints_; }
  [[nodiscard]] std::size_t particles() const { return particles_; }
  [[nodiscard]] std::string scene() const { return file_.text_attribute("/", "scene"); }
  [[nodiscard]] std::string recipe() const { return file_.text_attribute("/", "recipe"); }
  [[nodiscard]] std::string program_version() const { return file_.text_attribute("/", "program_version"); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// JSON; empty in files of older programs.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] TrajectoryFrame frame(std::size_t index) const;
  /// Many at once: each array is read in one go.
  [[nodiscard]] std::vector<TrajectoryFrame> frames(std::size_t first, std::size_t count) const;
  [[nodiscard]] bool contains(const std::string& name) const { return file_.contains(name); }
  /// Whether the file can tell it: some that are recorded now, older programs did not record.
  [[nodiscard]] bool holds(const Quantity& quantity) const;
  /// A whole array by its name, such as "/energy/kinetic".
  [[nodiscard]] std::vector<double> series(const std::string& name) const { return file_.numbers(name); }
  /// So many frames of it.
  [[nodiscard]] std::vector<double> series(const std::string& name, std::size_t first, std::size_t count) const {
    return file_.numbers(name, first, count);
  }

 private:
  /// How many numbers a frame has of it.
  [[nodiscard]] std::size_t row_size(const Quantity& quantity) const;
  /// Those of the frames from `first` on.
  void read_contacts(const Quantity& quantity, std::size_t first, std::vector<TrajectoryFrame>& out) const;

  Hdf5File file_;
  std::size_t frames_ = 0, particles_ = 0;
  std::vector<std::string> bodies_, joints_;
};

}  // namespace rotule
