#pragma once
// The implicit midpoint rule: y+ = y + h f((y + y+)/2), Gauss-Legendre with one stage. Order 2, R(z) = (1 + z/2)/(1 - z/2):
// A-stable. Symplectic in flat spaces; on the group still its own reverse: the midpoint halves the turn from start to end.
#include "integrate/implicit/stage.h"

namespace rotule {

template <ImplicitMechanism M>
class ImplicitMidpoint {
 public:
  explicit ImplicitMidpoint(const ImplicitMidpointSettings& settings) : max_halvings_(settings.max_halvings), stage_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    in_halves(t, h, max_halvings_, report, [&](double from, double step, bool last) {
      // To the midpoint as implicit Euler goes, and the same again.
      stage_.sigma_0.setZero(s.u.size());
      stage_.u_0 = s.u;
      stage_.acceleration.setZero(s.u.size());
      const bool solved = stage_.solve_held(m, s, from + step / 2, step / 2, report);
      if (!solved && !last) return false;
      book_anew(m, from + step / 2, stage_.state, step);
      stage_.sigma *= 2;
      m.displace(s, stage_.sigma, s);
      s.u += step * stage_.acceleration;
      return solved;
    });
  }

  ImplicitReport report;

 private:
  int max_halvings_;
  ImplicitStage<M> stage_;
};

}  // namespace rotule
