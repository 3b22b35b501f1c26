// What ends a stretch of smooth motion.
#include <algorithm>
#include <cmath>

#include "mechanism/touching/touching_mechanism.h"

namespace rotule {

namespace {

/// Forces and speeds may fall this far below zero, of their scales: rounding.
constexpr double event_slack = 1e-12;
constexpr double closing_slack = 1e-10;

}  // namespace

TouchingMechanism::Event TouchingMechanism::event(const State& s, double t, double h) {
  Event out;
  const auto take = [&](double value, Cause cause, int touch, int group) {
    if (value < out.value) out = {value, cause, touch, group};
  };
  accelerations(t, s, scratch_);
  for (int k = 0; k < static_cast<int>(touches_.size()); ++k) {
    const Touch& touch = touches_[k];
    const double in_scale = touch.inverse_mass / acceleration_scale_;
    take(touch.x[0] * in_scale + event_slack, Cause::force, k, -1);
    for (int g = 0; g < touch.groups; ++g) {
      const TouchFriction& f = touch.friction[g];
      if (f.sticking)
        take((f.mu_stick * touch.x[0] - touch.force(f).norm()) * in_scale + event_slack, Cause::force, k, g);
      else
        take((touch.velocity(f).dot(f.direction) + (f.from_rest ? 2 * negligible_speed_ : 0)) / speed_scale_ + event_slack,
             Cause::slip, k, g);
    }
  }
  // Gaps of what does not touch yet.
  find(s, margin_, found_);
  for (int k = 0; k < static_cast<int>(found_.size()); ++k) {
    Touch& touch = found_[k];
    if (std::any_of(touches_.begin(), touches_.end(), [&](const Touch& other) { return same_place(touch, other); })) continue;
    evaluate(touch, mechanism_.kinematics, false);
    take(std::max(touch.place.gap, h * (touch.w[0] + closing_slack * speed_scale_)) / touch.size, Cause::gap, k, -1);
  }
  return out;
}

double TouchingMechanism::slip_speed(const Event& event) const {
  const Touch& touch = touches_[event.touch];
  return touch.velocity(touch.friction[event.group]).norm();
}

int TouchingMechanism::pieces(const State& s, double h) const {
  double share = 0;
  for (const int i : body_of_) {
    if (!mechanism_.model.movable(i)) continue;
    const double moved = h * (s.v(i).norm() + h * acceleration_scale_);
    share = std::max(share, std::max(moved / reach_[i], h * s.omega(i).norm()));
  }
  constexpr double longest = 0.25;  // of a body's size, or rad
  return std::clamp(static_cast<int>(std::ceil(share / longest)), 2, 32);
}

}  // namespace rotule
