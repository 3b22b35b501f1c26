// What every integration method promises, measured where answers are known: an oscillator, a Kepler orbit and a free
// asymmetric top, each seen through the verbs of integrate/mechanism.h alone.
#include <gtest/gtest.h>
#include <rotule/integrators.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "integrate/explicit/explicit_euler.h"
#include "integrate/explicit/rk2.h"
#include "integrate/explicit/rk4.h"
#include "integrate/multistep/ab4.h"
#include "integrate/symplectic/leapfrog.h"
#include "integrate/symplectic/semi_implicit_euler.h"
#include "math/rotation.h"
#include "support/elliptic.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::alternatives;

/// Configurations that are vectors.
struct FlatState {
  VecX q, u;
};

/// q'' = f(t, q, u) in a vector space.
struct FlatMechanism {
  using State = FlatState;
  std::function<VecX(double, const VecX&, const VecX&)> f;
  std::int64_t evaluations = 0;

  void accelerations(double t, const State& s, VecX& out) {
    ++evaluations;
    out = f(t, s.q, s.u);
  }
  void displace(const State& base, const VecX& x, State& out) const { out.q = base.q + x; }
  void rate(const VecX&, const VecX& u, VecX& out) const { out = u; }
  void difference(const State& s, const State& base, VecX& out) const { out = s.q - base.q; }
};

struct TopState {
  Quat theta = Quat::Identity();
  VecX u = VecX::Zero(3);
};

/// Euler's free top in world axes: I omega' = -omega x I omega.
struct FreeTop {
  using State = TopState;
  Vec3 moments{1, 2, 3.5};
  std::int64_t evaluations = 0;

  void accelerations(double, const State& s, VecX& out) {
    ++evaluations;
    const Vec3 w = s.theta.conjugate() * Vec3(s.u);
    out = s.theta * Vec3(-w.cross(moments.cwiseProduct(w)).cwiseQuotient(moments));
  }
  void displace(const State& base, const VecX& x, State& out) const { out.theta = turn(base.theta, x); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { out = dexp_inverse(sigma, u); }
  void difference(const State& s, const State& base, VecX& out) const { out = log_rotation(s.theta * base.theta.conjugate()); }
  [[nodiscard]] double energy(const State& s) const {
    const Vec3 w = s.theta.conjugate() * Vec3(s.u);
    return 0.5 * w.dot(moments.cwiseProduct(w));
  }
};

template <class M>
using AnyIntegrator = std::variant<ExplicitEuler<M>, SemiImplicitEuler<M>, Rk2<M>, Rk4<M>, Ab4<M>, Leapfrog<M>>;

template <class M>
AnyIntegrator<M> make(const IntegratorSettings& settings) {
  struct Make {
    AnyIntegrator<M> operator()(const ExplicitEulerSettings&) { return ExplicitEuler<M>(); }
    AnyIntegrator<M> operator()(const SemiImplicitEulerSettings&) { return SemiImplicitEuler<M>(); }
    AnyIntegrator<M> operator()(const Rk2Settings&) { return Rk2<M>(); }
    AnyIntegrator<M> operator()(const Rk4Settings&) { return Rk4<M>(); }
    AnyIntegrator<M> operator()(const Ab4Settings&) { return Ab4<M>(); }
    AnyIntegrator<M> operator()(const LeapfrogSettings&) { return Leapfrog<M>(); }
    template <class S>
    requires(S::traits.adaptive || S::traits.constrained) AnyIntegrator<M>
    operator()(const S&) { throw std::logic_error("tested elsewhere"); }
  };
  return std::visit(Make(), settings);
}

IntegratorTraits traits_of(const IntegratorSettings& settings) {
  return std::visit([](const auto& s) { return s.traits; }, settings);
}

template <class M>
typename M::State integrate(const IntegratorSettings& settings, M& m, typename M::State s, double duration, int steps,
                            const std::function<void(const typename M::State&)>& watch = {}) {
  AnyIntegrator<M> method = make<M>(settings);
  const double h = duration / steps;
  for (int i = 0; i < steps; ++i) {
    std::visit([&](auto& integrator) { integrator.advance(m, s, i * h, h); }, method);
    if (watch) watch(s);
  }
  return s;
}

double error(const FlatState& a, const FlatState& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.u - b.u).cwiseAbs().maxCoeff());
}
double error(const TopState& a, const TopState& b) {
  return std::max(log_rotation(a.theta * b.theta.conjugate()).norm(), (a.u - b.u).norm());
}

/// The order that halving the step shows must be the declared one.
template <class M>
void expect_orders(const std::string& what, M m, const typename M::State& start, double duration,
                   const typename M::State& exact) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    const int order = traits_of(settings).order;
    const int steps = order == 1 ? 20000 : order == 2 ? 2000 : 400;
    const double coarse = error(integrate(settings, m, start, duration, steps), exact);
    const double fine = error(integrate(settings, m, start, duration, 2 * steps), exact);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.2)
        << what << ": " << name_of(settings) << ", errors " << coarse << ", " << fine;
  }
}

VecX vector(std::initializer_list<double> values) {
  VecX v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
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
    EXPECT_EQ(longer.evaluations - shorter.evaluations, 100 * traits_of(settings).evaluations) << name_of(settings);
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
    const auto spring = energy_errors(settings, oscillator(), {vector({1}), vector({0})}, 0.05, 100000, spring_energy);
    const auto orbit = energy_errors(settings, kepler(), on_orbit(0.3, 0), 0.02, 100000, orbit_energy);
    if (traits_of(settings).symplectic) {
      EXPECT_LT(spring.second, 1.05 * spring.first) << name_of(settings);
      EXPECT_LT(orbit.second, 1.05 * orbit.first) << name_of(settings);
    } else {
      EXPECT_FALSE(spring.second < 1.5 * spring.first) << name_of(settings) << " drifts: not symplectic, and not declared so";
    }
  }
}

TEST(Integrators, QuaternionsStayUnit) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    FreeTop top;
    double worst = 0;
    integrate<FreeTop>(settings, top, top_at_start(), 5, 100000,
                       [&](const TopState& s) { worst = std::max(worst, std::abs(s.theta.norm() - 1)); });
    EXPECT_LT(worst, 5e-16) << name_of(settings);
  }
}

TEST(Integrators, AChangedStepStartsMultistepMethodsAfresh) {
  // Half the way at h, half at h/3: the error stays that of the coarser step.
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    FlatMechanism m = oscillator();
    AnyIntegrator<FlatMechanism> method = make<FlatMechanism>(settings);
    const auto run = [&](int scale) {
      method = make<FlatMechanism>(settings);
      FlatState s{vector({1}), vector({0.5})};
      double t = 0;
      for (const auto& [h, steps] : {std::pair(0.01 / scale, 100 * scale), std::pair(0.01 / scale / 3, 300 * scale)})
        for (int i = 0; i < steps; ++i, t += h)
          std::visit([&, step = h](auto& integrator) { integrator.advance(m, s, t, step); }, method);
      return std::abs(s.q[0] - (std::cos(4.0) + 0.25 * std::sin(4.0)));
    };
    EXPECT_GT(std::log2(run(1) / run(2)), traits_of(settings).order - 0.3) << name_of(settings);
  }
}

}  // namespace
}  // namespace rotule
