#pragma once
// Relaxation estimated while sweeping. The change of x from sweep to sweep falls by a ratio lambda that tends to the largest
// eigenvalue of the iteration; for over-relaxation omega of a consistently ordered matrix (Young 1954)
//   (lambda + omega - 1)^2 = lambda omega^2 mu^2,   omega_best = 2 / (1 + sqrt(1 - mu^2)),
// mu being that of Jacobi's iteration. Contact matrices are ordered so only roughly: the estimate is approached by halves, kept
// away from 2, and given up for the start value where the active set changes much or changes of x grow.
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
    if (moved_rows > 0.01 || change > 2 * smallest_) {
      // An omega that made changes grow was too large: its bound comes down for good.
      if (change > 2 * smallest_) limit_ = std::max(1.0, 0.5 * (1 + omega_));
      omega_ = std::min(start_, limit_);
      last_ = 0;
      settled_ = 0;
      smallest_ = change;
      return;
    }
    smallest_ = std::min(smallest_, change);
    if (moved_rows > 0) settled_ = 0;
    const double ratio = last_ > 0 ? change / last_ : 0.0;
    last_ = change;
    if (++settled_ < sweeps_to_settle || !(ratio > 0 && ratio < 1)) return;
    settled_ = 0;
    const double mu2 = std::min((ratio + omega_ - 1) * (ratio + omega_ - 1) / (ratio * omega_ * omega_), 0.9999);
    const double best = 2 / (1 + std::sqrt(1 - mu2));
    omega_ = std::clamp(0.5 * (omega_ + best), std::min(1.0, start_), limit_);
  }

 private:
  static constexpr int sweeps_to_settle = 8;
  double start_, omega_;
  bool adaptive_;
  double limit_ = 1.9, last_ = 0, smallest_ = 1e300;
  int settled_ = 0;
};

}  // namespace rotule
