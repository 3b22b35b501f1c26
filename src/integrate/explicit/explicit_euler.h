#pragma once
// Explicit Euler: y + h f(y). Order 1; gains energy on anything that oscillates (|1 + i h w| > 1).
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class ExplicitEuler {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    m.accelerations(t, s, a_);
    book(m, t, s, a_, h);
    sigma_ = h * s.u;
    m.displace(s, sigma_, s);
    s.u += h * a_;
  }

 private:
  VecX a_, sigma_;
};

}  // namespace rotule
