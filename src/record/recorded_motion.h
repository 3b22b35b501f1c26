#pragma once
// What exporters tell: a scene, and where its bodies and particles are at some moments; from a recording, or from a scene alone,
// which is one moment.
#include <rotule/scene.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/trajectory.h"

namespace rotule {

class RecordedMotion {
 public:
  /// Throws Error where the recording is not whole, or its scene is not of its bodies.
  static RecordedMotion of_recording(const std::string& path);
  /// The scene as it starts.
  static RecordedMotion of_scene(const Scene& scene, const std::string& origin);

  Scene scene;  // everything named
  std::string origin;
  std::vector<std::string> bodies, joints, particles;
  std::vector<double> times;  // s, of all moments

  [[nodiscard]] bool is_recording() const { return recording_ != nullptr; }
  /// Whether the moments tell it: a recording of an older program may lack it.
  [[nodiscard]] bool holds(const Quantity& quantity) const {
    return recording_ ? recording_->holds(quantity) : is_recorded(quantity);
  }
  /// The moments nearest to the pictures of a film with so many per second; all where `rate` is 0.
  [[nodiscard]] std::vector<std::size_t> moments(double rate) const;
  /// Calls `look` with each of these, in order.
  void visit(const std::vector<std::size_t>& wanted, const std::function<void(const TrajectoryFrame&)>& look) const;
  /// How far apart bodies and particles ever are, at least 1 m: what ground is drawn for, and how large a point is.
  [[nodiscard]] double extent(const std::vector<std::size_t>& wanted) const;

 private:
  std::shared_ptr<const TrajectoryReader> recording_;
  TrajectoryFrame start_;
};

/// Springs between particles, and triangles of sheets, by the particles' numbers.
struct ParticleMesh {
  std::vector<std::array<int, 2>> springs;
  std::vector<std::array<int, 3>> triangles;
};
ParticleMesh particle_mesh(const Scene& scene);

}  // namespace rotule
