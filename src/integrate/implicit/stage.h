#pragma once
// One implicit stage, as most methods have them: with what earlier stages and steps gave,
//   u = u_0 + g A,  sigma = sigma_0 + g rate(sigma, u),  A = accelerations(t, base moved by sigma, u).
// A mechanism that has nothing but potentials and dissipation may find it as a minimum instead.
#include "integrate/implicit/newton.h"

namespace rotule {

template <ImplicitMechanism M>
class ImplicitStage {
 public:
  explicit ImplicitStage(const StageSettings& settings) : settings_(settings), newton_(settings) {}

  /// From the guess in `acceleration`. Sets sigma_0 and u_0 beforehand. False where it did not converge: the last iterate is
  /// left.
  bool solve(M& m, const typename M::State& base, double t, double g, ImplicitReport& report) {
    state = base;
    rate.resizeLike(base.u);
    sigma.resizeLike(base.u);
    if constexpr (Minimises<M, StageSettings>)
      if (settings_.minimise && m.minimises()) {
        const StageMinimum found = m.minimise(t, base, sigma_0, u_0, g, settings_, state, acceleration);
        report.iterations += found.iterations;
        report.converged = report.converged && found.converged;
        rate = state.u;
        sigma = sigma_0 + g * state.u;
        return true;  // what is left is reported; halves would not make it less
      }
    return newton_.solve(m, t, g, g * g, state, acceleration, report, [&](const VecX& A, typename M::State& stage) {
      stage.u = u_0 + g * A;
      if (!settle_chart(m, sigma_0, g, stage.u, sigma, rate)) return false;
      m.displace(base, sigma, stage);
      return true;
    });
  }

  /// The same, with joints held where the stage is.
  bool solve_held(M& m, const typename M::State& base, double t, double g, ImplicitReport& report) {
    const HeldJoints<M> held(m, u_0, g);
    return solve(m, base, t, g, report);
  }

  VecX sigma_0, u_0;        // given
  VecX acceleration;        // guess, then answer
  VecX sigma, rate;         // answers
  typename M::State state;  // likewise: the stage itself

 private:
  StageSettings settings_;
  NewtonSolver<M> newton_;
};

}  // namespace rotule
