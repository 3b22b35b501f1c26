#pragma once
// Backward differences over two steps: y+ = 4/3 y - 1/3 y_before + 2/3 h f(y+), in the chart around y. Order 2, L-stable. Started
// by one step of sdirk, again whenever the step size changes; a step that does not converge is made by sdirk too, in halves.
#include "integrate/implicit/sdirk.h"

namespace rotule {

template <ImplicitMechanism M>
class Bdf2 {
 public:
  explicit Bdf2(const Bdf2Settings& settings) : stage_(settings), starter_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    memory.samples.resize(1);
    typename M::State& before = memory.samples[0].s;
    const bool ready = memory.filled == 1 && memory.h == h;
    bool made = false;
    if (ready) {
      made = attempt(m, s, t, h, before);
      if (!made) ++report.halvings;
    }
    before = s;
    if (made) {
      book_anew(m, t, s, h / 2);
      s = stage_.state;
      book_anew(m, t + h, s, h / 2);
    } else {
      starter_.advance(m, s, t, h);
      report.iterations += starter_.report.iterations;
      report.halvings += starter_.report.halvings;
      report.converged = starter_.report.converged;
    }
    memory.filled = 1;
    memory.h = h;
  }

  ImplicitReport report;
  Memory<typename M::State> memory;  // one sample: where the last step began

 private:
  bool attempt(M& m, const typename M::State& s, double t, double h, const typename M::State& before) {
    stage_.sigma_0.resizeLike(s.u);
    m.difference(before, s, stage_.sigma_0);
    stage_.sigma_0 *= -1.0 / 3;
    stage_.u_0 = 4.0 / 3 * s.u - 1.0 / 3 * before.u;
    stage_.acceleration.setZero(s.u.size());
    try {
      return stage_.solve_held(m, s, t + h, 2.0 / 3 * h, report);
    } catch (const Error&) {
      return false;
    }
  }

  ImplicitStage<M> stage_;
  Sdirk<M> starter_;
};

}  // namespace rotule
