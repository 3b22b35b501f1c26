#pragma once
// Relaxation estimated while sweeping. The change of x from sweep to sweep falls by a ratio lambda that tends to the largest
// eigenvalue of the iteration. For over-relaxation omega of a consistently ordered matrix (Young 1954) that tells the best omega:
//   (lambda + omega - 1)^2 = lambda omega^2 mu^2,   omega_best = 2 / (1 + sqrt(1 - mu^2)),
// mu being that of Jacobi's iteration. Contact matrices are ordered so only roughly, and bounds bend the iteration: the formula
// gives a cautious first step, and from there on omega climbs towards smaller ratios, each taken over a window of sweeps, turning
// round and shortening its step where the ratio grew. It goes back to the start value where the active set changes much, and
// towards 1 where changes of x grow.
#include <algorithm>
#include <cmath>

namespace rotule {

class AdaptiveRelaxation {
 public:
  AdaptiveRelaxation(double start, bool adaptive) : start_(start), omega_(start), adaptive_(adaptive) {}

  [[nodiscard]] double value() const { return omega_; }

  /// After a sweep: the length of its change, and the part of the rows that came to or left a bound in it.
  void observe(double change, double moved_rows) {
    if (!adaptive_) return;
    if (moved_rows > 0.1) {
      omega_ = start_;
      begin(change);
      step_ = 0;
      return;
    }
    if (change > 3 * first_) {
      omega_ = 1 + 0.5 * (omega_ - 1);
      begin(change);
      step_ = -0.5 * std::abs(step_);
      return;
    }
    if (++sweeps_ == settling) first_ = change;  // what a new omega stirs up has died down
    if (sweeps_ < settling + window || !(change > 0)) return;
    const double ratio = std::pow(change / first_, 1.0 / window);
    if (step_ == 0) {
      const double lambda = std::clamp(ratio, 1e-6, 1.0);
      const double mu2 = std::min(std::pow(lambda + omega_ - 1, 2) / (lambda * omega_ * omega_), 0.999);
      step_ = std::clamp(0.5 * (2 / (1 + std::sqrt(1 - mu2)) - omega_), 0.1, 0.3);
    } else if (ratio > last_ratio_) {
      step_ *= -0.5;
      if (std::abs(step_) < smallest_step) step_ = std::copysign(smallest_step, step_);
    }
    omega_ = std::clamp(omega_ + step_, std::min(1.0, start_), std::max(1.9, start_));
    last_ratio_ = ratio;
    begin(change);
  }

 private:
  void begin(double change) {
    first_ = change;
    sweeps_ = 0;
  }

  static constexpr int settling = 6, window = 12;
  static constexpr double smallest_step = 0.04;
  double start_, omega_;
  bool adaptive_;
  double first_ = 1e300, last_ratio_ = 1, step_ = 0;
  int sweeps_ = 0;
};

}  // namespace rotule
