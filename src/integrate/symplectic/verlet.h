#pragma once
// Stoermer-Verlet in positions (C2): q+ = 2 q - q_before + h^2 a, u = (q+ - q_before) / (2 h). Order 2, one evaluation per step.
//
// In the chart around q, the motion is sigma(+-h) = +-h u + h^2/2 a +- O(h^3), hence sigma(h) = -sigma(-h) + h^2 a + O(h^4): the
// formula as it stands, with differences taken on the group. The velocity at q+ needs the place after it, which is known as soon
// as the acceleration there is: u+ = -sigma(-h)/h + h/2 a+, the same number. Forces that depend on velocity see the prediction
// with the last acceleration; symplectic where they do not. In exact arithmetic this is leapfrog; here the memory is in
// positions, so that what a projection does to them is felt as velocity in the next step.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M>
class Verlet {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    memory.samples.resize(1);
    VecX& a = memory.samples[0].acceleration;  // here and now
    typename M::State& before = memory.samples[0].s;
    sigma_.resizeLike(s.u);
    if (memory.filled == 0 || memory.h != h) {
      m.accelerations(t, s, a);
      sigma_ = h * s.u - h * h / 2 * a;  // as if it had come this way
    } else {
      m.difference(s, before, sigma_);
    }
    before = s;
    book(m, t, s, a, h / 2);
    sigma_ += h * h * a;
    m.displace(s, sigma_, s);
    drift_ = sigma_ / h;
    s.u = drift_ + h / 2 * a;
    m.accelerations(t + h, s, a);
    s.u = drift_ + h / 2 * a;
    book(m, t + h, s, a, h / 2);
    memory.filled = 1;
    memory.h = h;
  }

  Memory<typename M::State> memory;  // one sample: the last configuration, and the acceleration at the present one

 private:
  VecX sigma_, drift_;
};

}  // namespace rotule
