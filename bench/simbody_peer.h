#pragma once
// A tree of ball joints and hinges given to Simbody: each body on a mobilizer of its parent or of the ground, or free. Plain
// numbers, since Simbody's headers are C++17 and ours C++20.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rotule::bench {

/// In world coordinates; the inertia about the centre of mass in body axes.
struct PeerBody {
  enum class Joint { free, ball, hinge };
  int parent;  // index of an earlier body; -1: the ground
  Joint kind;  // to its parent
  std::array<double, 3> joint;
  std::array<double, 3> axis;  // of a hinge
  double mass;
  std::array<std::array<double, 3>, 3> inertia;
  std::array<double, 3> center_of_mass;
  std::array<double, 4> orientation;  // w x y z
  std::array<double, 3> velocity, angular_velocity;
};

class SimbodyPeer {
 public:
  SimbodyPeer(const std::vector<PeerBody>& bodies, const std::array<double, 3>& gravity);
  ~SimbodyPeer();

  /// All of its integrators that follow such motions to an accuracy.
  static std::vector<std::string> methods();
  /// Whether the method can be told a fixed step.
  static bool has_fixed_steps(const std::string& method);

  struct Run {
    double energy_error = 0;                     // relative, signed
    std::vector<std::array<double, 3>> centers;  // of mass, in the order of the bodies
  };
  /// From the start for `duration` seconds: with error control at `accuracy`, or in `steps` equal steps where that is not 0.
  /// `timed` is given the work to be timed.
  Run run(const std::string& method, double accuracy, int steps, double duration,
          const std::function<void(const std::function<void()>&)>& timed);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rotule::bench
