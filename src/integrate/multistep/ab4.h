#pragma once
// Adams-Bashforth with four values: y + h/24 (55 f0 - 59 f1 + 37 f2 - 9 f3), newest first. Order 4 for one evaluation per
// step; started by three RK4 steps, and again whenever the step size changes. Stable only for steps several times smaller
// than RK4's (0.43 on the imaginary axis).
//
// Earlier rates live in charts around earlier configurations. They are carried into the present one: sigma_k leads from now to
// then, and there d(sigma)/dt = rate(sigma_k, u_k).
#include <algorithm>
#include <array>

#include "integrate/explicit/rk4.h"

namespace rotule {

template <Mechanism M>
class Ab4 {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    if (memory.h != h) memory.forget();
    memory.h = h;
    m.accelerations(t, s, a_);
    now_.s = s;
    now_.acceleration = a_;
    if (memory.filled < 3) {
      starter_.advance_from(m, s, t, h, a_);
    } else {
      static constexpr std::array<double, 3> weights{-59.0 / 24, 37.0 / 24, -9.0 / 24};
      book(m, t, s, a_, h * 55 / 24);
      sigma_ = h * 55 / 24 * s.u;
      u_ = h * 55 / 24 * a_;
      rate_.resizeLike(s.u);
      then_.resizeLike(s.u);
      for (int k = 0; k < 3; ++k) {
        const Sample<typename M::State>& sample = memory.samples[k];
        m.difference(sample.s, s, then_);
        m.rate(then_, sample.s.u, rate_);
        sigma_ += h * weights[k] * rate_;
        u_ += h * weights[k] * sample.acceleration;
        book_anew(m, t - (k + 1) * h, sample.s, h * weights[k]);
      }
      m.displace(s, sigma_, s);
      s.u += u_;
    }
    remember();
  }

  Memory<typename M::State> memory;

 private:
  void remember() {
    memory.samples.resize(3);
    std::swap(memory.samples[2], memory.samples[1]);
    std::swap(memory.samples[1], memory.samples[0]);
    std::swap(memory.samples[0], now_);
    memory.filled = std::min(memory.filled + 1, 3);
  }

  Rk4<M> starter_;
  Sample<typename M::State> now_;
  VecX a_, sigma_, u_, rate_, then_;
};

}  // namespace rotule
