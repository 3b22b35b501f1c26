#pragma once
// Leapfrog (Stoermer-Verlet, C2): kick by h/2, drift by h, kick by h/2. Order 2 and one evaluation per step: the acceleration
// of the second kick serves the next first kick. Symplectic where forces depend on position alone. Where they depend on
// velocity too (gyroscopic terms, J-dot u), the second kick uses the velocity predicted with the first one's acceleration:
// still order 2, no longer symplectic.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class Leapfrog {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    if (memory.filled == 0 || memory.h != h) {
      memory.samples.resize(1);
      m.accelerations(t, s, memory.samples[0].acceleration);
    }
    VecX& a = memory.samples[0].acceleration;
    book(m, t, s, a, h / 2);
    half_ = s.u + h / 2 * a;
    sigma_ = h * half_;
    m.displace(s, sigma_, s);
    s.u = half_ + h / 2 * a;
    m.accelerations(t + h, s, a);
    s.u = half_ + h / 2 * a;
    book(m, t + h, s, a, h / 2);
    memory.samples[0].s = s;
    memory.filled = 1;
    memory.h = h;
  }

  Memory<typename M::State> memory;

 private:
  VecX half_, sigma_;
};

}  // namespace rotule
