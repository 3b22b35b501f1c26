#pragma once
// Trajectories as HDF5 files: frame by frame all that the list of quantities records; the scene and the recipe inside, names and
// units as attributes. Arrays are chunked and compressed; a chunk is gathered in memory, so that most frames cost no call of the
// library. Once a second all of it is committed: a run that is killed leaves F.h5.part with what was recorded up to a second
// before, and with a point from which it can be gone on with.
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "record/fluid_slices.h"
#include "record/hdf5_file.h"
#include "record/quantity_list.h"

namespace rotule {

/// Whether a command's argument means a recording: by its ending, or by the file's first bytes.
bool names_recording(const std::string& path);

/// How to go on with a run from some moment: its world, and what the run itself keeps count of.
struct ResumePoint {
  std::vector<std::uint8_t> snapshot;  // World::save
  std::string run;                     // JSON
  std::vector<double> tallies;
};

class TrajectoryWriter {
 public:
  /// `scene` is the text of the scene file. `expected_frames` only sizes chunks; 0 where it is not known.
  TrajectoryWriter(const std::string& path, const std::string& scene, const Recipe& recipe,
                   const std::vector<std::string>& bodies, const std::vector<std::string>& joints,
                   std::int64_t expected_frames = 0, std::size_t particles = 0);
  /// Goes on with the unfinished recording of that name, behind its last frame. Whether it is kept should this fail before
  /// there is more of it.
  static TrajectoryWriter resume(const std::string& path, bool worth_keeping);
  /// What is left behind should the run fail now; empty: nothing.
  [[nodiscard]] std::string kept() const { return file_.kept(); }
  void append(const TrajectoryFrame& frame);
  /// A plane of the fluid at some moment; all of one run are of the same plane.
  void append(double time, const FluidSlice& slice);
  /// Whether a second has passed since the last commit.
  [[nodiscard]] bool due() const;
  /// All frames so far survive from now on, and the run can be gone on with from here. Who never calls it has frames committed
  /// once a second all the same.
  void checkpoint(const ResumePoint& point);
  /// The point alone, before `close`.
  void note(const ResumePoint& point);
  [[nodiscard]] std::int64_t frames() const { return frames_; }
  /// Nothing is to be left behind.
  void discard() { file_.discard(); }
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
  explicit TrajectoryWriter(Hdf5File file);
  Series make(const Quantity& quantity, const Extent& row, std::int64_t expected_frames);
  /// One that is there, with the frames of its last chunk back in the buffer.
  Series open(const Quantity& quantity);
  void append(Series& series, const double* values, std::size_t count);
  void flush(Series& series);
  /// What a chunk has so far, uncompressed: it will be written again.
  void show(Series& series);
  void set_extent(const Series& series, Hdf5Size frames) const;
  void commit();
  /// An array of changing length that is written anew each time.
  void replace(Hdf5Handle& dataset, const char* name, Hdf5Id type, const void* values, Hdf5Size count);

  Hdf5File file_;
  std::vector<Series> series_;  // of the recorded quantities, in their order
  Series contact_start_;
  Hdf5Size contacts_ = 0;  // so far
  std::optional<FluidSliceWriter> slices_;
  Hdf5Handle snapshot_, run_, tallies_;
  bool with_points_ = false;
  std::int64_t frames_ = 0;
  std::chrono::steady_clock::time_point last_commit_;
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
  /// JSON; empty in files of older programs, and where the run was not finished.
  [[nodiscard]] std::string summary() const;
  /// Whether the run came to an end, its own or by a signal: what was killed did not.
  [[nodiscard]] bool finished() const {
    return !file_.has_attribute("/", "finished") || file_.number_attribute("/", "finished") != 0;
  }
  /// None where the recording was not made by `rotule run`, or by an older one.
  [[nodiscard]] std::optional<ResumePoint> resume_point() const;
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
