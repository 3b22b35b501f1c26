#pragma once
// Explicit methods of order 2 with one inner stage at c h:  y + h ((1 - b) f(y) + b f(y + c h f(y))),  b = 1 / (2 c).
// All of them have R(z) = 1 + z + z^2/2; they differ in the error's constant, and in where they look.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class TwoStage {
 public:
  explicit TwoStage(double c) : c_(c) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    const double b = 1 / (2 * c_);
    m.accelerations(t, s, a_);
    book(m, t, s, a_, (1 - b) * h);
    sigma_ = c_ * h * s.u;
    stage_ = s;
    m.displace(s, sigma_, stage_);
    stage_.u = s.u + c_ * h * a_;
    m.accelerations(t + c_ * h, stage_, a_stage_);
    book(m, t + c_ * h, stage_, a_stage_, b * h);
    rate_.resizeLike(sigma_);
    m.rate(sigma_, stage_.u, rate_);
    sigma_ = h * ((1 - b) * s.u + b * rate_);
    m.displace(s, sigma_, s);
    s.u += h * ((1 - b) * a_ + b * a_stage_);
  }

 private:
  double c_;
  typename M::State stage_;
  VecX a_, a_stage_, sigma_, rate_;
};

}  // namespace rotule
