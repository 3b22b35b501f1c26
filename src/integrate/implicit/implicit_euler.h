#pragma once
// Implicit Euler, fully nonlinear (B4, E2): y+ = y + h f(y+). Order 1, R(z) = 1/(1 - z): L-stable, and damping whatever moves.
// In the chart sigma = h u+ solves sigma = h rate(sigma, u+): a body turns by its velocity at the end.
#include "integrate/implicit/stage.h"

namespace rotule {

template <ImplicitMechanism M>
class ImplicitEuler {
 public:
  explicit ImplicitEuler(const ImplicitEulerSettings& settings) : max_halvings_(settings.max_halvings), stage_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    in_halves(t, h, max_halvings_, report, [&](double from, double step, bool last) {
      stage_.sigma_0.setZero(s.u.size());
      stage_.u_0 = s.u;
      stage_.acceleration.setZero(s.u.size());
      const bool solved = stage_.solve_held(m, s, from + step, step, report);
      if (solved || last) {
        s = stage_.state;
        book_anew(m, from + step, s, step);
      }
      return solved;
    });
  }

  ImplicitReport report;

 private:
  int max_halvings_;
  ImplicitStage<M> stage_;
};

}  // namespace rotule
