#pragma once
// The implicit trapezoid (B4): y+ = y + h/2 (f(y) + f(y+)). Order 2, R(z) = (1 + z/2)/(1 - z/2): A-stable, and without damping:
// what is too fast for the step rings on. Conjugate to the implicit midpoint, so that energy errors stay bounded.
#include "integrate/implicit/stage.h"

namespace rotule {

template <ImplicitMechanism M>
class Trapezoid {
 public:
  explicit Trapezoid(const TrapezoidSettings& settings) : max_halvings_(settings.max_halvings), stage_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    in_halves(t, h, max_halvings_, report, [&](double from, double step, bool last) {
      m.accelerations(from, s, stage_.acceleration);
      stage_.sigma_0 = step / 2 * s.u;
      stage_.u_0 = s.u + step / 2 * stage_.acceleration;
      const bool solved = stage_.solve_held(m, s, from + step, step / 2, report);
      if (solved || last) {
        book_anew(m, from, s, step / 2);
        s = stage_.state;
        book_anew(m, from + step, s, step / 2);
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
