#pragma once
// Explicit midpoint: y + h f(y + h/2 f(y)). Order 2.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class Rk2 {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    m.accelerations(t, s, a_);
    sigma_ = h / 2 * s.u;
    middle_ = s;
    m.displace(s, sigma_, middle_);
    middle_.u = s.u + h / 2 * a_;
    m.accelerations(t + h / 2, middle_, a_);
    book(m, t + h / 2, middle_, a_, h);
    rate_.resizeLike(sigma_);
    m.rate(sigma_, middle_.u, rate_);
    sigma_ = h * rate_;
    m.displace(s, sigma_, s);
    s.u += h * a_;
  }

 private:
  typename M::State middle_;
  VecX a_, sigma_, rate_;
};

}  // namespace rotule
