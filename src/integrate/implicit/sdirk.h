#pragma once
// A diagonally implicit Runge-Kutta method with one coefficient on the diagonal (Alexander 1977): three stages, order 3, stiffly
// accurate, L-stable. g is the root of g^3 - 3 g^2 + 3/2 g - 1/6 between 1/6 and 1/2. On stiff problems the order that shows can
// fall towards 2: its stages are of order 1 only.
#include <array>

#include "integrate/implicit/stage.h"

namespace rotule {

namespace alexander {
inline constexpr double g = 0.43586652150845899942;
inline constexpr double b1 = -(6 * g * g - 16 * g + 1) / 4, b2 = (6 * g * g - 20 * g + 5) / 4;
inline constexpr std::array<double, 3> c{g, (1 + g) / 2, 1};
inline constexpr std::array<std::array<double, 2>, 3> a{{{0, 0}, {(1 - g) / 2, 0}, {b1, b2}}};  // below the diagonal
}  // namespace alexander

template <ImplicitMechanism M>
class Sdirk {
 public:
  explicit Sdirk(const StageSettings& settings) : max_halvings_(settings.max_halvings), stage_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    in_halves(t, h, max_halvings_, report, [&](double from, double step, bool last) {
      bool solved = true;
      stage_.acceleration.setZero(s.u.size());
      for (std::size_t i = 0; i < 3; ++i) {
        stage_.sigma_0.setZero(s.u.size());
        stage_.u_0 = s.u;
        for (std::size_t j = 0; j < i; ++j) {
          stage_.sigma_0 += step * alexander::a[i][j] * rates_[j];
          stage_.u_0 += step * alexander::a[i][j] * accelerations_[j];
        }
        solved = stage_.solve(m, s, from + alexander::c[i] * step, alexander::g * step, report) && solved;
        if (!solved && !last) return false;
        if (i == 2) break;
        if (keeps_books(m)) states_[i] = stage_.state;
        rates_[i] = stage_.rate;
        accelerations_[i] = stage_.acceleration;
      }
      s = stage_.state;  // the last stage is the end of the step
      if (keeps_books(m)) {
        for (std::size_t i = 0; i < 2; ++i) book_anew(m, from + alexander::c[i] * step, states_[i], alexander::a[2][i] * step);
        book_anew(m, from + step, s, alexander::g * step);
      }
      return solved;
    });
  }

  ImplicitReport report;

 private:
  int max_halvings_;
  ImplicitStage<M> stage_;
  std::array<VecX, 2> rates_, accelerations_;
  std::array<typename M::State, 2> states_;  // of the first stages, for the books
};

}  // namespace rotule
