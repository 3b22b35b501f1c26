// What every integration method promises, measured where answers are known: an oscillator, a Kepler orbit and a free
// asymmetric top, each seen through the verbs of integrate/mechanism.h alone.
#include <gtest/gtest.h>
#include <rotule/integrators.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "math/rotation.h"
#include "support/elliptic.h"
#include "support/mechanisms.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::alternatives;
using testing::FlatMechanism;
using testing::FlatState;
using testing::FreeTop;
using testing::integrate;
using testing::TopState;
using testing::traits_of;
using testing::vector;

double error(const FlatState& a, const FlatState& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.u - b.u).cwiseAbs().maxCoeff());
}
double error(const TopState& a, const TopState& b) {
  return std::max(log_rotation(a.theta * b.theta.conjugate()).norm(), (a.u - b.u).norm());
}

/// Halves the step until errors near rounding, and compares the last pair above it with the declared order.
template <class M>
void expect_order(const std::string& what, const IntegratorSettings& settings, M m, const typename M::State& start,
                  double duration, const typename M::State& exact, int steps, int halvings, double floor = 1e-11) {
  double coarse = 0, fine = error(integrate(settings, m, start, duration, steps), exact), order = 0;
  std::string errors = ::testing::PrintToString(fine);
  for (int i = 1; i <= halvings; ++i) {
    coarse = fine;
    fine = error(integrate(settings, m, start, duration, steps << i), exact);
    errors += ", " + ::testing::PrintToString(fine);
    if (fine < floor) break;
    order = std::log2(coarse / fine);
  }
  EXPECT_NEAR(order, traits_of(settings).order, 0.2) << what << ": " << name_of(settings) << ", errors " << errors;
}

template <class M>
void expect_orders(const std::string& what, M m, const typename M::State& start, double duration,
                   const typename M::State& exact) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const int order = traits_of(settings).order;
    const int steps = order == 1 ? 10000 : order == 2 ? 500 : order == 3 ? 200 : order == 4 ? 100 : 10;
    expect_order(what, settings, m, start, duration, exact, steps, order == 1 ? 1 : 3);
  }
}

FlatMechanism oscillator() {
  return {.f = [](double, const VecX& q, const VecX&) -> VecX { return -4 * q; }};
}

FlatMechanism kepler() {
  return {.f = [](double, const VecX& q, const VecX&) -> VecX { return -q / std::pow(q.norm(), 3); }};
}

/// The orbit of eccentricity e and semi-major axis 1 (period 2 pi), from the perihelion, by Kepler's equation.
FlatState on_orbit(double e, double t) {
  double E = t;
  for (int i = 0; i < 50; ++i) E -= (E - e * std::sin(E) - t) / (1 - e * std::cos(E));
  const double b = std::sqrt(1 - e * e), rate = 1 / (1 - e * std::cos(E));
  return {vector({std::cos(E) - e, b * std::sin(E)}), vector({-std::sin(E) * rate, b * std::cos(E) * rate})};
}

TEST(Integrators, OrderOnAnOscillator) {
  const double t = 3;
  const FlatState exact{vector({std::cos(2 * t) + 0.25 * std::sin(2 * t)}),
                        vector({-2 * std::sin(2 * t) + 0.5 * std::cos(2 * t)})};
  expect_orders("oscillator", oscillator(), {vector({1}), vector({0.5})}, t, exact);
}

TEST(Integrators, OrderOnADampedOscillator) {
  // q'' = -4 q - 0.8 q': forces that depend on velocity.
  const double d = 0.4, w = std::sqrt(4 - d * d), t = 3, B = (0.5 + d) / w;
  const double c = std::cos(w * t), s = std::sin(w * t), decay = std::exp(-d * t);
  const FlatState exact{vector({decay * (c + B * s)}), vector({decay * (-d * (c + B * s) + w * (B * c - s))})};
  const FlatMechanism m{.f = [](double, const VecX& q, const VecX& u) -> VecX { return -4 * q - 0.8 * u; }};
  expect_orders("damped oscillator", m, {vector({1}), vector({0.5})}, t, exact);
}

TEST(Integrators, OrderInAMagneticField) {
  // u' = B x u turns the velocity without changing its size: circles.
  const FlatMechanism m{.f = [](double, const VecX&, const VecX& u) -> VecX { return vector({-2 * u[1], 2 * u[0]}); }};
  const double t = 2;
  const FlatState exact{vector({0.5 * std::sin(2 * t), 0.5 * (1 - std::cos(2 * t))}), vector({std::cos(2 * t), std::sin(2 * t)})};
  expect_orders("magnetic field", m, {vector({0, 0}), vector({1, 0})}, t, exact);
}

TEST(Integrators, OrderOnAKeplerOrbit) { expect_orders("Kepler", kepler(), on_orbit(0.3, 0), 4, on_orbit(0.3, 4)); }

TEST(Integrators, OrderUnderAForceOfTimeAlone) {
  // u' = cos 3t: a method that looks at the wrong instant loses its order here.
  const FlatMechanism m{.f = [](double t, const VecX&, const VecX&) -> VecX { return vector({std::cos(3 * t)}); }};
  const double t = 2;
  const FlatState exact{vector({(1 - std::cos(3 * t)) / 9 + 0.2 * t}), vector({std::sin(3 * t) / 3 + 0.2})};
  expect_orders("force of time", m, {vector({0}), vector({0.2})}, t, exact);
}

TopState top_at_start() {
  TopState s;
  s.theta = Quat(Eigen::AngleAxisd(0.4, Vec3(1, 1, 0).normalized()));
  s.u = s.theta * Vec3(1.2, 0, 1);
  return s;
}

/// The angular velocity in body axes of a top that starts with w_2 = 0 and circles its third axis (Landau and Lifshitz,
/// Mechanics, section 37).
Vec3 free_top(const Vec3& I, const Vec3& w0, double t) {
  const double twice_E = w0.dot(I.cwiseProduct(w0)), L2 = I.cwiseProduct(w0).squaredNorm();
  const double low = twice_E * I[2] - L2, high = L2 - twice_E * I[0];
  const double k = std::sqrt((I[1] - I[0]) * low / ((I[2] - I[1]) * high));
  const Jacobi j = jacobi(t * std::sqrt((I[2] - I[1]) * high / (I[0] * I[1] * I[2])), k);
  return {std::sqrt(low / (I[0] * (I[2] - I[0]))) * j.cn, std::sqrt(low / (I[1] * (I[2] - I[1]))) * j.sn,
          std::sqrt(high / (I[2] * (I[2] - I[0]))) * j.dn};
}

TEST(Integrators, OrderOnTheRotationGroup) {
  FreeTop top;
  const TopState start = top_at_start();
  const double duration = 3;
  const TopState exact = integrate(Rk4Settings{}, top, start, duration, 12800);
  const Vec3 w0 = start.theta.conjugate() * Vec3(start.u), w = exact.theta.conjugate() * Vec3(exact.u);
  ASSERT_LT((w - free_top(top.moments, w0, duration)).norm(), 1e-11) << "the reference is Jacobi's solution";
  expect_orders("free top", top, start, duration, exact);
}

TEST(Integrators, OrderWhereBodiesTurnFarInAStep) {
  // Charts must be followed beyond small angles: up to 0.1 rad per step, errors against Jacobi's solution.
  FreeTop top;
  TopState start = top_at_start();
  start.u *= 4;
  const Vec3 w0 = start.theta.conjugate() * Vec3(start.u);
  const auto error_in = [&](int steps) {
    const TopState end = integrate(Rk4Settings{}, top, start, 3, steps);
    return (end.theta.conjugate() * Vec3(end.u) - free_top(top.moments, w0, 3)).norm();
  };
  EXPECT_NEAR(std::log2(error_in(160) / error_in(320)), 4, 0.2);
}

TEST(Integrators, EvaluationsPerStepAreThoseDeclared) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    // The cost of starting is not counted: take the difference of two runs.
    FlatMechanism shorter = oscillator(), longer = oscillator();
    const FlatState start{vector({1}), vector({0})};
    integrate(settings, shorter, start, 1.0, 100);
    integrate(settings, longer, start, 2.0, 200);
    const std::int64_t each = (longer.evaluations - shorter.evaluations) / 100;
    if (traits_of(settings).implicit)
      EXPECT_GE(each, traits_of(settings).evaluations) << name_of(settings);
    else
      EXPECT_EQ(each, traits_of(settings).evaluations) << name_of(settings);
  }
}

/// The largest energy error in the first and in the last tenth of a run.
template <class M, class Energy>
std::pair<double, double> energy_errors(const IntegratorSettings& settings, M m, const typename M::State& start, double h,
                                        int steps, Energy&& energy) {
  const double E0 = energy(start);
  double early = 0, late = 0;
  int i = 0;
  integrate<M>(settings, m, start, h * steps, steps, [&](const typename M::State& s) {
    ++i;
    const double e = std::abs(energy(s) - E0);
    if (i <= steps / 10) early = std::max(early, e);
    if (i > steps - steps / 10) late = std::max(late, e);
  });
  return {early, late};
}

TEST(Integrators, SymplecticOnesKeepEnergyBounded) {
  const auto spring_energy = [](const FlatState& s) { return 0.5 * s.u.squaredNorm() + 2 * s.q.squaredNorm(); };
  const auto orbit_energy = [](const FlatState& s) { return 0.5 * s.u.squaredNorm() - 1 / s.q.norm(); };
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const int steps = traits_of(settings).implicit ? 20000 : 100000;
    const auto spring = energy_errors(settings, oscillator(), {vector({1}), vector({0})}, 0.05, steps, spring_energy);
    if (traits_of(settings).symplectic) {
      // Those that keep quadratic forms keep the spring's energy to what their equations are solved to.
      EXPECT_LT(spring.second, std::max(1.05 * spring.first, 1e-9)) << name_of(settings);
      const auto orbit = energy_errors(settings, kepler(), on_orbit(0.3, 0), 0.02, steps, orbit_energy);
      EXPECT_LT(orbit.second, std::max(1.05 * orbit.first, 1e-10)) << name_of(settings);
    } else {
      const bool all_gone = spring.first > 1.9;  // of 2 J
      EXPECT_TRUE(all_gone || !(spring.second < 1.5 * spring.first))
          << name_of(settings) << " does not drift, yet is not symplectic";
    }
  }
}

TEST(Integrators, QuaternionsStayUnit) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    FreeTop top;
    double worst = 0;
    integrate<FreeTop>(settings, top, top_at_start(), 5, traits_of(settings).implicit ? 5000 : 50000,
                       [&](const TopState& s) { worst = std::max(worst, std::abs(s.theta.norm() - 1)); });
    EXPECT_LT(worst, 5e-16) << name_of(settings);
  }
}

TEST(Integrators, AChangedStepStartsMultistepMethodsAfresh) {
  // Half the way at h, half at h/3: the error stays that of the coarser step.
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const double h = traits_of(settings).order > 4 ? 0.1 : 0.01;
    const auto run = [&](int scale) {
      FlatMechanism m = oscillator();
      AnyIntegrator<FlatMechanism> method = make_integrator<FlatMechanism>(settings);
      FlatState s{vector({1}), vector({0.5})};
      double t = 0;
      for (const double step : {h / scale, h / scale / 3})
        for (const double end = t + 1; t < end - step / 2; t += step)
          std::visit([&](auto& integrator) { integrator.advance(m, s, t, step); }, method);
      return std::abs(s.q[0] - (std::cos(4.0) + 0.25 * std::sin(4.0)));
    };
    EXPECT_GT(std::log2(run(1) / run(2)), traits_of(settings).order - 0.3) << name_of(settings);
  }
}

TEST(Integrators, TaylorKeepsItsOrderDownToRounding) {
  // Its derivatives are differences: they must not stop errors from falling to 1e-11.
  FreeTop top;
  const TopState exact = integrate(Rk4Settings{}, top, top_at_start(), 1, 20000);
  expect_order("free top", Taylor3Settings{}, top, top_at_start(), 1, exact, 1000, 4, 5e-13);
  expect_order("Kepler", Taylor3Settings{}, kepler(), on_orbit(0.3, 0), 1, on_orbit(0.3, 1), 1000, 4, 5e-13);
  expect_order("Kepler", Taylor2Settings{}, kepler(), on_orbit(0.3, 0), 0.1, on_orbit(0.3, 0.1), 2000, 4, 5e-13);
}

TEST(Integrators, AStepThatIsNotSolvedIsHalved) {
  // u' = -u^4 from 30, by one step of 1 ms: u = (u_0^-3 + 3 t)^(-1/3). With few iterations allowed the step is halved, says so,
  // and ends nearer to the truth.
  FlatMechanism m{.f = [](double, const VecX&, const VecX& u) -> VecX { return -u * std::pow(u.norm(), 3); }};
  const double exact = 1 / std::cbrt(std::pow(30.0, -3) + 3e-3);
  ImplicitEulerSettings few;
  few.max_iterations = 12;
  ImplicitEuler<FlatMechanism> hasty(few), patient(ImplicitEulerSettings{});
  FlatState a{vector({0}), vector({30})}, b = a;
  hasty.advance(m, a, 0, 1e-3);
  patient.advance(m, b, 0, 1e-3);
  EXPECT_GT(hasty.report.halvings, 0);
  EXPECT_TRUE(hasty.report.converged);
  EXPECT_EQ(patient.report.halvings, 0);
  EXPECT_TRUE(patient.report.converged);
  EXPECT_NEAR(b.u[0] + 1e-3 * std::pow(b.u[0], 4), 30, 1e-10) << "one step of implicit Euler";
  EXPECT_GT(a.u[0], exact);
  EXPECT_LT(a.u[0], b.u[0]);

  // Where no halving is allowed either, it says that too.
  few.max_halvings = 0;
  few.max_iterations = 1;
  ImplicitEuler<FlatMechanism> hopeless(few);
  FlatState c{vector({0}), vector({30})};
  hopeless.advance(m, c, 0, 1e-3);
  EXPECT_FALSE(hopeless.report.converged);
  EXPECT_EQ(hopeless.report.halvings, 0);
}

}  // namespace
}  // namespace rotule
