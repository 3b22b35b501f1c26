#pragma once
// How tests run a scene: to a time, and to the moment at which something changes sign.
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace rotule {

/// Largest difference of positions, orientations and velocities over all bodies.
inline double difference(const World& a, const World& b) {
  double out = 0;
  for (const BodyId id : a.bodies()) {
    out = std::max(out, (a.position(id) - b.position(id)).norm());
    out = std::max(out, (a.velocity(id) - b.velocity(id)).norm());
    out = std::max(out, (a.angular_velocity(id) - b.angular_velocity(id)).norm());
    out = std::max(out, a.orientation(id).angularDistance(b.orientation(id)));
  }
  return out;
}

/// Steps of about the recipe's dt that end at `time` after now.
inline void run_for(World& world, double time, const std::function<void()>& after_step = {}) {
  const int steps = int(std::lround(time / world.recipe().dt));
  for (int i = 0; i < steps; ++i) {
    world.step(time / steps);
    if (after_step) after_step();
  }
}

/// Steps until `f` crosses zero upwards, and returns the time of it by the secant method, each trial a shorter last step.
inline double run_to_crossing(World& world, const std::function<double()>& f, double give_up_after = 100) {
  const double h = world.recipe().dt;
  double before = f();
  Snapshot start = world.save();
  while (world.time() < give_up_after) {
    start = world.save();
    before = f();
    world.step(h);
    if (before < 0 && f() >= 0) break;
  }
  if (!(before < 0 && f() >= 0)) return std::nan("");
  double a = 0, f_a = before, b = h, f_b = f();
  for (int i = 0; i < 60 && b - a > 1e-15; ++i) {
    const double x = i % 2 ? 0.5 * (a + b) : a - f_a * (b - a) / (f_b - f_a);
    if (!(x > a && x < b)) break;
    world.load(start);
    world.step(x);
    (f() < 0 ? a : b) = x;
    (f() < 0 ? f_a : f_b) = f();
  }
  world.load(start);  // end just after the crossing, so that the next search finds the next one
  world.step(b);
  return world.time();
}

}  // namespace rotule
