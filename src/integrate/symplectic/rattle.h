#pragma once
// RATTLE for rigid bodies (Andersen 1983; Leimkuhler and Reich, Simulating Hamiltonian Dynamics, chapters 7 and 8): kick by h/2,
// drift by h with impulses along the constraints' gradients at the start such that the constraints hold at the end, kick by h/2,
// velocities made consistent. Symplectic and symmetric where forces have a potential: the energy error stays bounded, and running
// it backwards leads back. Order 2; composed with itself at steps c_1 h, c_2 h ... that add up to h, of order 4 and 6:
//   4: Suzuki's five, 1/(4 - 4^(1/3)) twice, the rest, and twice again (Phys. Lett. A 146, 1990),
//   6: Kahan and Li's nine (Math. Comp. 66, 1997).
// Steps inside a composition may leave velocities inconsistent: the next drift's impulses have the same directions.
//
// Where the step is so long, or a pose so nearly singular, that no impulse closes the constraints, the mechanism makes the drift
// in halves, and reports it: order stays, but such a step is neither symplectic nor symmetric.
#include <span>

#include "integrate/mechanism.h"

namespace rotule {

/// What RATTLE asks of a mechanism.
template <class M>
concept ConstrainedMechanism = requires(M m, typename M::State& s, double t, double h) {
  m.begin_drifts(s, t);          // looks at the constraints here
  m.kick(s, t, h);               // u += h M^-1 f, at positions that were looked at last
  m.drift(s, t, h);              // moves freely by h, to constraints that hold at t + h; then looks at them there
  m.constrain_velocities(s, t);  // at positions that were looked at last
};

template <ConstrainedMechanism M>
class Rattle {
 public:
  explicit Rattle(int order) : steps_(composition(order)) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    m.begin_drifts(s, t);
    for (const double share : steps_) {
      const double step = share * h;
      m.kick(s, t, step / 2);
      m.drift(s, t, step);
      t += step;
      m.kick(s, t, step / 2);
    }
    m.constrain_velocities(s, t);
  }

 private:
  static std::span<const double> composition(int order) {
    static constexpr double a = 0.41449077179437573714;  // 1 / (4 - 4^(1/3))
    static constexpr double one[] = {1}, five[] = {a, a, 1 - 4 * a, a, a};
    static constexpr double b[] = {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
                                   0.082213596293550800230};
    static constexpr double middle = 1 - 2 * (b[0] + b[1] + b[2] + b[3]);
    static constexpr double nine[] = {b[0], b[1], b[2], b[3], middle, b[3], b[2], b[1], b[0]};
    if (order == 2) return one;
    if (order == 4) return five;
    return nine;
  }

  std::span<const double> steps_;
};

}  // namespace rotule
