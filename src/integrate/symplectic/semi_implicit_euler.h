#pragma once
// Semi-implicit (symplectic) Euler: velocity first, then position with the new velocity. Order 1; for forces that depend on
// position alone its energy error stays bounded.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class SemiImplicitEuler {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    m.accelerations(t, s, a_);
    book(m, t, s, a_, h);
    s.u += h * a_;
    sigma_ = h * s.u;
    m.displace(s, sigma_, s);
  }

 private:
  VecX a_, sigma_;
};

}  // namespace rotule
