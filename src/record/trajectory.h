#pragma once
// Trajectories as HDF5 files: frame by frame the motion of every body and particle, the force and error of every joint, and the
// ledger; the scene and the recipe inside, names and units as attributes. Arrays are chunked and compressed; a chunk is gathered
// in memory, so that most frames cost no call of the library.
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <functional>
#include <string>
#include <vector>

#include "base/stage_clock.h"
#include "record/hdf5_file.h"

namespace rotule {

/// One moment of a run. Arrays run over bodies or joints, component by component.
struct TrajectoryFrame {
  double time = 0;
  std::vector<double> position;           // bodies x 3
  std::vector<double> orientation;        // bodies x 4: w, x, y, z
  std::vector<double> velocity;           // bodies x 3
  std::vector<double> angular_velocity;   // bodies x 3
  std::vector<double> particle_position;  // particles x 3
  std::vector<double> particle_velocity;  // particles x 3
  std::vector<double> joint_force;        // joints x 3
  std::vector<double> joint_torque;       // joints x 3
  std::vector<double> joint_error;        // joints
  double kinetic_energy = 0;
  double potential_energy = 0;
  Vec3 linear_momentum = Vec3::Zero();
  Vec3 angular_momentum = Vec3::Zero();
  double residual = 0;

  // What older files lack; zero then.
  double contacts = 0;
  double penetration = 0;                                                     // m
  double shock_energy = 0;                                                    // J, taken out by shocks so far
  double iterations = 0;                                                      // of the step that ended here
  std::vector<double> stage_seconds = std::vector<double>(stage_count, 0.0);  // of that step (base/stage_clock.h)
};

/// The present moment of a world; `frame` keeps its memory from call to call.
void capture(const World& world, TrajectoryFrame& frame);
/// Asks every step from now on to measure its stages, for `capture`.
void time_stages(const World& world);
/// Whether a command's argument means a recording: by its ending, or by the file's first bytes.
bool names_recording(const std::string& path);

class TrajectoryWriter {
 public:
  /// `scene` is the text of the scene file. `expected_frames` only sizes chunks; 0 where it is not known.
  TrajectoryWriter(const std::string& path, const std::string& scene, const Recipe& recipe,
                   const std::vector<std::string>& bodies, const std::vector<std::string>& joints,
                   std::int64_t expected_frames = 0, std::size_t particles = 0);
  void append(const TrajectoryFrame& frame);
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
  Series make(const std::string& name, const Extent& row, std::int64_t expected_frames, std::string_view units,
              std::string_view description);
  void append(Series& series, const double* values, std::size_t count);
  void flush(Series& series);

  Hdf5File file_;
  std::vector<Series> series_;
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
  /// A whole array by its name, such as "/energy/kinetic".
  [[nodiscard]] std::vector<double> series(const std::string& name) const { return file_.numbers(name); }
  /// So many frames of it.
  [[nodiscard]] std::vector<double> series(const std::string& name, std::size_t first, std::size_t count) const {
    return file_.numbers(name, first, count);
  }

 private:
  Hdf5File file_;
  std::size_t frames_ = 0, particles_ = 0;
  std::vector<std::string> bodies_, joints_;
};

}  // namespace rotule
