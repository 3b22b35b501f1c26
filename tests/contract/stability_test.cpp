// What a step does to y' = lambda y (B5): every method, run as it is, multiplies by its declared stability function.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <numbers>

#include "integrate/stability.h"
#include "support/mechanisms.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::alternatives;
using testing::FlatMechanism;
using testing::FlatState;
using testing::vector;

/// q'' = -|z|^2 q + 2 Re(z) q': eigenvalues z and its conjugate, to be stepped with h = 1.
FlatMechanism oscillator_of(Complex z) {
  return {.f = [k = -std::norm(z), d = 2 * z.real()](double, const VecX& q, const VecX& u) -> VecX { return k * q + d * u; }};
}

/// The coordinate along the eigenvector of z: w' = z w.
Complex along(Complex z, const FlatState& s) { return s.u[0] - std::conj(z) * s.q[0]; }

TEST(Stability, OneStepMethodsMultiplyByTheirStabilityFunction) {
  int tried = 0;
  for (const auto& settings : alternatives<IntegratorSettings>())
    for (const Complex z : {Complex(-0.3, 0), Complex(0, 0.3), Complex(-0.2, 1.5), Complex(-3, 0.5), Complex(0.1, 0.2)}) {
      const auto R = stability_function(settings, z);
      if (!R) continue;
      ++tried;
      FlatMechanism m = oscillator_of(z);
      const FlatState start{vector({0.7}), vector({-0.4})};
      const Complex seen = along(z, integrate(settings, m, start, 1, 1)) / along(z, start);
      EXPECT_LT(std::abs(seen - *R), 1e-9 * std::max(1.0, std::abs(*R))) << name_of(settings) << " at " << z;
    }
  EXPECT_EQ(tried, 5 * 14);
}

TEST(Stability, AllMethodsGrowByTheirAmplification) {
  // After many steps only the largest eigenvalue of a step is left: from three states in a row its modulus follows, as two
  // conjugate eigenvalues x obey s_2 = 2 Re(x) s_1 - |x|^2 s_0.
  for (const auto& settings : alternatives<IntegratorSettings>())
    for (const Complex z : {Complex(0, 0.3), Complex(-0.02, 0.25), Complex(-0.05, 0.15), Complex(0.05, 0.2)}) {
      const auto expected = amplification(settings, z);
      ASSERT_TRUE(expected) << name_of(settings);
      FlatMechanism m = oscillator_of(z);
      std::vector<Eigen::Vector2d> states;
      integrate<FlatMechanism>(settings, m, {vector({0.7}), vector({-0.4})}, 150, 150,
                               [&](const FlatState& s) { states.emplace_back(s.q[0], s.u[0]); });
      const std::size_t n = states.size();
      Eigen::Matrix2d A;
      A << states[n - 2], states[n - 3];
      const Eigen::Vector2d x = A.partialPivLu().solve(states[n - 1]);
      EXPECT_NEAR(std::sqrt(-x[1]), *expected, 1e-8) << name_of(settings) << " at " << z;
    }
}

StabilityLimits limits(const IntegratorSettings& settings) { return *stability_limits(settings); }

TEST(Stability, LimitsOnTheAxes) {
  // Textbook values; Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2 and V.1.
  const auto expect = [](const IntegratorSettings& settings, double real, double imaginary) {
    const StabilityLimits seen = limits(settings);
    for (const auto& [value, wanted] : {std::pair(seen.real, real), std::pair(seen.imaginary, imaginary)})
      if (std::isfinite(wanted))
        EXPECT_NEAR(value, wanted, 1e-6) << name_of(settings);
      else
        EXPECT_EQ(value, wanted) << name_of(settings);
  };
  // Where R = -1: of 1 + z + z^2/2 + z^3/6 at z = -2.5127453, of RK4 at -2.7852936; AB4 where 1 + 55/24 z ... meets -1: z =
  // -3/10.
  expect(ExplicitEulerSettings{}, 2, 0);
  expect(Rk2Settings{}, 2, 0);
  expect(ModifiedEulerSettings{}, 2, 0);
  expect(TwoThirdsSettings{}, 2, 0);
  expect(Taylor2Settings{}, 2, 0);
  expect(Taylor3Settings{}, 2.5127453266, std::numbers::sqrt3);
  expect(Rk4Settings{}, 2.7852935634, 2 * std::numbers::sqrt2);
  EXPECT_NEAR(limits(Ab4Settings{}).real, 0.3, 1e-6);
  EXPECT_NEAR(limits(Ab4Settings{}).imaginary, 0.43, 0.005);
  EXPECT_NEAR(limits(LeapfrogSettings{}).imaginary, 2, 1e-6);
  EXPECT_NEAR(limits(VerletSettings{}).imaginary, 2, 1e-6);
  EXPECT_NEAR(limits(SemiImplicitEulerSettings{}).imaginary, 2, 1e-6);
  for (const IntegratorSettings& settings :
       {IntegratorSettings(LinearImplicitEulerSettings{}), IntegratorSettings(ImplicitEulerSettings{}),
        IntegratorSettings(TrapezoidSettings{}), IntegratorSettings(ImplicitMidpointSettings{}),
        IntegratorSettings(Gauss4Settings{}), IntegratorSettings(Gauss6Settings{}), IntegratorSettings(Bdf2Settings{}),
        IntegratorSettings(SdirkSettings{}), IntegratorSettings(GeneralisedAlphaSettings{})})
    expect(settings, infinity, infinity);
}

TEST(Stability, AStableMethodsDampTheWholeLeftHalfPlane) {
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    if (!testing::traits_of(settings).implicit) continue;
    for (double size = 1e-2; size < 1e8; size *= 3)
      for (double angle = 0; angle <= 0.5; angle += 0.02) {
        const Complex z = -std::polar(size, angle * std::numbers::pi);
        EXPECT_LE(*amplification(settings, z), 1 + 1e-7) << name_of(settings) << " at " << z;
      }
  }
}

TEST(Stability, StiffDecayIsBoundedAndByLStableMethodsFinished) {
  // y' = -1e6 y, and an oscillation of 1e6 rad/s, both with h = 1, run by the methods themselves.
  for (const auto& settings : alternatives<IntegratorSettings>()) {
    if (!testing::traits_of(settings).implicit) continue;
    FlatMechanism decay{.f = [](double, const VecX&, const VecX& u) -> VecX { return -1e6 * u; }};
    FlatMechanism ringing = oscillator_of(Complex(0, 1e6));
    const FlatState moving{vector({0}), vector({1})}, stretched{vector({1}), vector({0})};
    const double left = std::abs(integrate(settings, decay, moving, 20, 20).u[0]);
    const FlatState rung = integrate(settings, ringing, stretched, 20, 20);
    const double at_infinity = limits(settings).at_infinity;
    if (at_infinity < 1e-3) {
      EXPECT_LT(left, 1e-12) << name_of(settings);
      EXPECT_LT(std::abs(rung.q[0]), 1e-12) << name_of(settings);
    } else {
      EXPECT_LT(left, 1 + 1e-6) << name_of(settings);
      EXPECT_LT(std::abs(rung.q[0]), 1 + 1e-6) << name_of(settings);
    }
  }
}

TEST(Stability, GeneralisedAlphaLeavesRhoOfWhatIsInfinitelyFast) {
  for (const double rho : {0.0, 0.5, 0.8, 1.0}) {
    GeneralisedAlphaSettings settings;
    settings.rho_infinity = rho;
    EXPECT_NEAR(*amplification(settings, Complex(0, 1e6)), rho, 1e-3) << rho;
    EXPECT_EQ(limits(settings).imaginary, infinity) << rho;
  }
}

}  // namespace
}  // namespace rotule
