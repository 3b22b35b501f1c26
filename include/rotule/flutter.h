#pragma once
// Structures in wind: how the damping of each mode of small motions changes with the speed of the wind, and from which speed on
// one of them grows. At every speed the equilibrium in the wind is found first, by Newton's method on
//   N^T K N y = N^T M a,   sigma = N y,
// with a the accelerations at rest and N the motions that joints allow; then its damped modes (state_space.h), forces of the wind
// among them: K is no longer symmetric, and D may be negative.
#include <rotule/state_space.h>

#include <optional>
#include <string>
#include <vector>

namespace rotule {

struct FlutterSettings {
  std::vector<double> speeds = {};  // m/s, ascending
  std::string flow = {};            // the wind that has those speeds, by name; default: the scene's only steady one
  double tolerance = 1e-4;          // of the critical speed, relative
  int most_iterations = 50;         // of Newton's method, at every speed
};

struct FlutterPoint {
  double speed = 0;               // m/s
  std::vector<DampedMode> modes;  // in the same order at all speeds, as far as they can be followed
  double unbalance = 0;           // m/s^2, rad/s^2, of the pose that they are about
};

struct FlutterReport {
  std::string flow;
  std::vector<FlutterPoint> points;
  std::vector<std::string> leaders;      // who moves most in each mode, at the first speed
  std::optional<double> critical_speed;  // m/s: the lowest at which a mode grows; none below the last speed
  std::optional<std::size_t> critical_mode;
  double critical_frequency = 0;      // Hz; 0 where it does not oscillate: divergence
  std::vector<std::string> left_out;  // flows that are not steady, by name
};

/// Throws Error where the scene has no steady flow (uniform, power_law, log_law), or several and none is named, or speeds make no
/// sense.
FlutterReport flutter(const Scene& scene, const FlutterSettings& settings);

}  // namespace rotule
