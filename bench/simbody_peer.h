#pragma once
// A tree of ball joints given to Simbody: the first body free, each other on a ball mobilizer of its parent. Weightless. Plain
// numbers, since Simbody's headers are C++17 and ours C++20.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rotule::bench {

/// In world coordinates; the inertia about the centre of mass in body axes.
struct PeerBody {
  int parent;  // index of an earlier body, -1 for the first
  std::array<double, 3> joint;
  double mass;
  std::array<std::array<double, 3>, 3> inertia;
  std::array<double, 3> center_of_mass;
  std::array<double, 4> orientation;  // w x y z
  std::array<double, 3> velocity, angular_velocity;
};

class SimbodyPeer {
 public:
  explicit SimbodyPeer(const std::vector<PeerBody>& bodies);
  ~SimbodyPeer();

  static std::vector<std::string> methods();

  struct Run {
    double energy_error = 0;  // relative, signed
    std::array<double, 3> first_body{};
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
