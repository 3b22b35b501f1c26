// Error control, dense output and events, where answers are known: orbits, a bouncing ball, and the stiff governor in three
// coordinates.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <numbers>

#include "integrate/adaptive/adaptive.h"
#include "integrate/adaptive/tableau_5.h"
#include "integrate/adaptive/tableau_8.h"
#include "support/mechanisms.h"

namespace rotule {
namespace {

using testing::vector;

struct FlowState {
  VecX q, u;
};

/// q'' = f(t, q, u) in a vector space, with errors relative to one in each component.
struct VectorField {
  using State = FlowState;
  std::function<VecX(double, const VecX&, const VecX&)> f;
  VecX q_scale, u_scale;
  double tolerance = 1e-6;
  int evaluations = 0, unconverged = 0;

  void accelerations(double t, const State& s, VecX& out) {
    ++evaluations;
    out = f(t, s.q, s.u);
  }
  void displace(const State& base, const VecX& x, State& out) const { out.q = base.q + x; }
  void rate(const VecX&, const VecX& u, VecX& out) const { out = u; }
  void difference(const State& s, const State& base, VecX& out) const { out = s.q - base.q; }
  void begin_inner_step(const State&, double) {}
  void settle(const State&, double) {}
  void error_scale(const State&, const VecX&, double, Pace&) {}
  [[nodiscard]] double error_norm(const VecX& q, const VecX& u) const {
    return std::max(q.cwiseQuotient(q_scale).cwiseAbs().maxCoeff(), u.cwiseQuotient(u_scale).cwiseAbs().maxCoeff()) / tolerance;
  }
  [[nodiscard]] double longest_step(const State&) const { return 1e9; }
  void unconverged_step() { ++unconverged; }
  [[nodiscard]] double error(const State& a, const State& b) const { return tolerance * error_norm(a.q - b.q, a.u - b.u); }
};

VectorField orbit() {
  return {.f = [](double, const VecX& q, const VecX&) -> VecX { return -q / std::pow(q.norm(), 3); },
          .q_scale = vector({1, 1}),
          .u_scale = vector({1, 1})};
}

/// The orbit of eccentricity e and semi-major axis 1 (period 2 pi), from the perihelion, by Kepler's equation.
FlowState flow_on_orbit(double e, double t) {
  double E = t;
  for (int i = 0; i < 50; ++i) E -= (E - e * std::sin(E) - t) / (1 - e * std::cos(E));
  const double b = std::sqrt(1 - e * e), rate = 1 / (1 - e * std::cos(E));
  return {vector({std::cos(E) - e, b * std::sin(E)}), vector({-std::sin(E) * rate, b * std::cos(E) * rate})};
}

/// The error of one step of h, from somewhere on the way, at the share theta of it, by the pair itself (1) or its dense output.
template <class Tableau>
double step_error(double h, double theta) {
  VectorField m = orbit();
  FlowState s = flow_on_orbit(0.3, 1), out;
  EmbeddedPair<VectorField, Tableau> pair;
  VecX a;
  m.accelerations(0, s, a);
  pair.begin(m, s, 0, a);
  pair.attempt(m, s, 0, h, [](const VecX&, const VecX&) { return 0.0; });
  if (theta == 1)
    out = pair.end();
  else
    pair.interpolate(m, s, theta, out);
  return m.error(out, flow_on_orbit(0.3, 1 + theta * h));
}

TEST(Adaptive, OneStepErrsWithOneOrderMore) {
  EXPECT_NEAR(std::log2(step_error<DormandPrince5>(0.04, 1) / step_error<DormandPrince5>(0.02, 1)), 6, 0.3);
  EXPECT_NEAR(std::log2(step_error<DormandPrince8>(0.2, 1) / step_error<DormandPrince8>(0.1, 1)), 9, 0.5);
}

TEST(Adaptive, DenseOutputHasItsOrder) {
  // An extension of order p errs by h^(p+1) in one step; ends and slopes at the ends are met exactly.
  for (const double theta : {0.25, 0.4, 0.7}) {
    EXPECT_NEAR(std::log2(step_error<DormandPrince5>(0.04, theta) / step_error<DormandPrince5>(0.02, theta)), 5, 0.3) << theta;
    EXPECT_NEAR(std::log2(step_error<DormandPrince8>(0.4, theta) / step_error<DormandPrince8>(0.2, theta)), 8, 0.5) << theta;
  }
}

template <class Tableau>
FlowState follow(VectorField& m, FlowState s, double duration, double tolerance) {
  m.tolerance = tolerance;
  Adaptive<VectorField, Tableau> method(ErrorControl{.relative_tolerance = tolerance});
  method.advance(m, s, 0, duration);
  return s;
}

TEST(Adaptive, MeetsTheToleranceOnAnOrbitOfEccentricityNineTenths) {
  // One and a half turns, through the perihelion, where it is 19 times as near to the centre as at the end.
  const double duration = 3 * std::numbers::pi;
  for (double tolerance = 1e-3; tolerance > 0.5e-12; tolerance /= 10) {
    VectorField m = orbit();
    const FlowState exact = flow_on_orbit(0.9, duration);
    EXPECT_LT(m.error(follow<DormandPrince5>(m, flow_on_orbit(0.9, 0), duration, tolerance), exact), 10 * tolerance) << tolerance;
    EXPECT_LT(m.error(follow<DormandPrince8>(m, flow_on_orbit(0.9, 0), duration, tolerance), exact), 10 * tolerance) << tolerance;
    EXPECT_EQ(m.unconverged, 0);
  }
}

TEST(Adaptive, TakesLongStepsWhereLittleHappens) {
  VectorField m = orbit();
  follow<DormandPrince8>(m, flow_on_orbit(0.9, 0), 2 * std::numbers::pi, 1e-9);
  const int eccentric = std::exchange(m.evaluations, 0);
  // Steps as short as the perihelion needs, all along, would take (a / perihelion)^(3/2), about 30 times, as many.
  EXPECT_LT(eccentric, 1500);
}

/// The stiff flyball governor (IFToMM library of multibody benchmark problems) in three coordinates: the shaft's angle, the
/// arms' angle from the shaft, and the slider's height below their hinge. Arms of 1 m and 0.3 kg with 5 kg at the end, a
/// spring and damper from the middle of each to the slider of 3 kg.
VectorField governor() {
  constexpr double g = 9.81, rod = 0.3, ball = 5, slider = 3, k = 8e5, d = 4e4, l0 = 0.5;
  constexpr double shaft_inertia = 0.3 * (0.01 * 0.01 * 2) / 12 + slider * (0.1 * 0.1 * 2) / 12;
  constexpr double arm = rod / 3 + ball;     // about the hinge
  constexpr double moment = rod / 2 + ball;  // mass times distance
  const auto f = [=](double, const VecX& q, const VecX& u) -> VecX {
    const double a = q[1], z = q[2], s = std::sin(a), c = std::cos(a);
    // The spring from (s/2, -c/2) to (0, -z).
    const double x = 0.5 * s, y = z - 0.5 * c, l = std::hypot(x, y);
    const double l_a = (x * 0.5 * c + y * 0.5 * s) / l, l_z = y / l;
    const double pull = k * (l - l0) + d * (l_a * u[1] + l_z * u[2]);
    const double inertia = shaft_inertia + 2 * arm * s * s;
    return vector({-4 * arm * s * c * u[0] * u[1] / inertia, (arm * s * c * u[0] * u[0] - moment * g * s - pull * l_a) / arm,
                   g - 2 * pull * l_z / slider});
  };
  return {.f = f, .q_scale = vector({1, 1, 1}), .u_scale = vector({2 * std::numbers::pi, 2 * std::numbers::pi, 1})};
}

TEST(Adaptive, MeetsTheToleranceOnTheStiffGovernor) {
  const double alpha = std::numbers::pi / 6;
  const FlowState start{vector({0, alpha, 0.5 * std::cos(alpha) + std::sqrt(0.25 - 0.25 * std::sin(alpha) * std::sin(alpha))}),
                        vector({2 * std::numbers::pi, 0, 0})};
  const double duration = 0.5;
  VectorField reference = governor();
  const FlowState exact = follow<DormandPrince5>(reference, start, duration, 1e-14);
  for (double tolerance = 1e-3; tolerance > 0.5e-12; tolerance /= 10) {
    VectorField m = governor();
    EXPECT_LT(m.error(follow<DormandPrince5>(m, start, duration, tolerance), exact), 10 * tolerance) << tolerance;
    EXPECT_LT(m.error(follow<DormandPrince8>(m, start, duration, tolerance), exact), 10 * tolerance) << tolerance;
  }
}

/// A ball that falls on the ground and bounces.
struct BouncingBall : VectorField {
  double restitution = 0.8;
  std::vector<double> impacts = {};
  int late = 0;

  [[nodiscard]] bool has_events() const { return true; }
  [[nodiscard]] double event(const FlowState& s, double h) const { return std::max(s.q[0], h * s.u[0]); }
  void strike(FlowState& s, double t) {
    impacts.push_back(t);
    if (s.u[0] < 0) s.u[0] *= -restitution;
  }
  void late_event() { ++late; }
};

BouncingBall ball(double restitution) {
  BouncingBall m;
  m.f = [](double, const VecX&, const VecX&) -> VecX { return vector({-10}); };
  m.q_scale = m.u_scale = vector({1});
  m.tolerance = 1e-9;
  m.restitution = restitution;
  return m;
}

TEST(Adaptive, BouncesAtTheRightInstants) {
  // From 5 m it falls for 1 s; then flights of 2 e, 2 e^2 ... seconds.
  BouncingBall m = ball(0.8);
  Adaptive<BouncingBall, DormandPrince5> method(ErrorControl{.relative_tolerance = 1e-9});
  FlowState s{vector({5}), vector({0})};
  method.advance(m, s, 0, 5);
  double at = 1, flight = 1.6;
  ASSERT_GE(m.impacts.size(), 3u);
  for (const double t : m.impacts) {
    EXPECT_NEAR(t, at, 1e-9);
    at += flight;
    flight *= 0.8;
  }
  EXPECT_EQ(m.impacts.size(), 4u);  // 1, 2.6, 3.88, 4.904
  EXPECT_EQ(m.late, 0);
}

TEST(Adaptive, BouncesWithoutEndAreLeftToTheEnd) {
  // With e = 1/2 they add up to 3 s: after that the ball rests, and whoever asks is told.
  BouncingBall m = ball(0.5);
  Adaptive<BouncingBall, DormandPrince5> method(ErrorControl{.relative_tolerance = 1e-9});
  FlowState s{vector({5}), vector({0})};
  method.advance(m, s, 0, 2.9);
  EXPECT_EQ(m.late, 0);
  method.advance(m, s, 2.9, 0.2);
  EXPECT_EQ(m.late, 1);
  EXPECT_LT(m.impacts.size(), 60u);
  EXPECT_GE(s.u[0], 0);
}

TEST(Adaptive, RootsAreBracketed) {
  const auto f = [](double x) { return std::exp(-x) - 0.3; };
  const auto [a, b] = bracket_root(f, 0.0, f(0), 5.0, f(5), 1e-12);
  EXPECT_NEAR(a, -std::log(0.3), 2e-12);
  EXPECT_GE(f(a), 0);
  EXPECT_LT(f(b), 0);
  // A step has no slope to go by.
  const auto step = [](double x) { return x < 0.37 ? 1.0 : -1e-9; };
  const auto bracket = bracket_root(step, 0.0, step(0), 1.0, step(1), 1e-12);
  EXPECT_NEAR(bracket.second, 0.37, 2e-12);
}

TEST(Adaptive, SaysWhatItCannotMeet) {
  // The smallest step allowed is far too long for the fall into the centre.
  VectorField m = orbit();
  m.tolerance = 1e-12;
  Adaptive<VectorField, DormandPrince5> method(ErrorControl{.relative_tolerance = 1e-12, .min_step = 0.2});
  FlowState s = flow_on_orbit(0.3, 0);
  method.advance(m, s, 0, 2);
  EXPECT_GT(m.unconverged, 0);
}

}  // namespace
}  // namespace rotule
