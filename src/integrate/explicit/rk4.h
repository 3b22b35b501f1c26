#pragma once
// The classical Runge-Kutta method (Kutta 1901). Order 4, four evaluations; loses a little energy on oscillations,
// |R(i z)|^2 = 1 - z^6/72 + ..., and is stable up to z = 2.83 on the imaginary axis.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class Rk4 {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    m.accelerations(t, s, a_);
    advance_from(m, s, t, h, a_);
  }

  /// For callers that know the acceleration at the step's start already.
  void advance_from(M& m, typename M::State& s, double t, double h, const VecX& acceleration) {
    // First stage, at the chart's origin, where d(sigma)/dt = u.
    if (&acceleration != &a_) a_ = acceleration;
    combine(m, rate_, s.u);
    combine(m, sigma_sum_, s.u);
    combine(m, u_sum_, acceleration);
    stage_ = s;
    book(m, t, s, a_, h / 6);
    // Middle stages twice at h/2, then the end at h; weights 1 2 2 1.
    for (const double part : {0.5, 0.5, 1.0}) {
      combine(m, sigma_, part * h * rate_);
      m.displace(s, sigma_, stage_);
      combine(m, stage_.u, s.u + part * h * a_);
      m.accelerations(t + part * h, stage_, a_);
      m.rate(sigma_, stage_.u, rate_);
      const double weight = part < 1 ? 2 : 1;
      book(m, t + part * h, stage_, a_, weight * h / 6);
      combine(m, sigma_sum_, sigma_sum_ + weight * rate_);
      combine(m, u_sum_, u_sum_ + weight * a_);
    }
    combine(m, sigma_, h / 6 * sigma_sum_);
    m.displace(s, sigma_, s);
    combine(m, s.u, s.u + h / 6 * u_sum_);
  }

 private:
  typename M::State stage_;
  VecX a_, rate_, sigma_, sigma_sum_, u_sum_;
};

}  // namespace rotule
