#pragma once
// Generalised-alpha on the group (Chung and Hulbert 1993; Bruels, Cardona and Arnold 2012). With v the acceleration that the
// equations of motion give, and an acceleration a of the method's own that lags behind it,
//   (1 - am) a+ + am a = (1 - af) v+ + af v,
//   sigma = h u + h^2 ((1/2 - beta) a + beta a+),   u+ = u + h ((1 - gamma) a + gamma a+),
//   am = (2 rho - 1)/(rho + 1),  af = rho/(rho + 1),  gamma = 1/2 + af - am,  beta = (gamma + 1/2)^2/4.
// Order 2, A-stable; oscillations that the step cannot resolve lose all but rho per step (rho = 1: none, like the trapezoid),
// while those that it resolves are hardly damped. Starts with a = v, and so again when the step size changes.
#include "integrate/implicit/newton.h"

namespace rotule {

struct AlphaCoefficients {
  explicit constexpr AlphaCoefficients(double rho)
      : am((2 * rho - 1) / (rho + 1)), af(rho / (rho + 1)), gamma(0.5 + af - am), beta((gamma + 0.5) * (gamma + 0.5) / 4) {}
  double am, af, gamma, beta;
};

template <ImplicitMechanism M>
class GeneralisedAlpha {
 public:
  explicit GeneralisedAlpha(const GeneralisedAlphaSettings& settings)
      : k_(settings.rho_infinity), max_halvings_(settings.max_halvings), newton_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    if (memory.h != h) memory.forget();
    memory.samples.resize(2);
    in_halves(t, h, max_halvings_, report, [&](double from, double step, bool last) {
      if (step != h) memory.forget();
      const bool solved = attempt(m, s, from, step);
      if (!solved && !last) return false;
      book_anew(m, from, s, step / 2);
      s = stage_;
      book_anew(m, from + step, s, step / 2);
      own().swap(a_);
      true_one().swap(v_);
      memory.samples[0].s = memory.samples[1].s = s;
      memory.filled = step == h ? 2 : 0;
      return solved;
    });
    memory.h = h;
  }

  ImplicitReport report;
  Memory<typename M::State> memory;  // two samples at the present instant: the method's own acceleration, and the true one

 private:
  VecX& own() { return memory.samples[0].acceleration; }
  VecX& true_one() { return memory.samples[1].acceleration; }

  bool attempt(M& m, const typename M::State& s, double t, double h) {
    if (memory.filled < 2) {
      m.accelerations(t, s, true_one());
      own() = true_one();
      memory.filled = 2;
    }
    const double lead = (1 - k_.af) / (1 - k_.am);
    const double a = k_.gamma * h * lead, b = k_.beta * h * h * lead;
    v_ = true_one();
    sigma_.resizeLike(s.u);
    stage_ = s;
    a_ = (k_.af * true_one() - k_.am * own()) / (1 - k_.am);
    held_ = s.u + h * ((1 - k_.gamma) * own() + k_.gamma * a_);
    const HeldJoints<M> held(m, held_, a);
    return newton_.solve(m, t + h, a, b, stage_, v_, report, [&](const VecX& v, typename M::State& stage) {
      a_ = lead * v + (k_.af * true_one() - k_.am * own()) / (1 - k_.am);
      sigma_ = h * s.u + h * h * ((0.5 - k_.beta) * own() + k_.beta * a_);
      m.displace(s, sigma_, stage);
      stage.u = s.u + h * ((1 - k_.gamma) * own() + k_.gamma * a_);
      return true;
    });
  }

  AlphaCoefficients k_;
  int max_halvings_;
  NewtonSolver<M> newton_;
  typename M::State stage_;
  VecX a_, v_, sigma_, held_;
};

}  // namespace rotule
