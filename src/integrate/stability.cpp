#include "integrate/stability.h"

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "integrate/implicit/generalised_alpha.h"
#include "integrate/implicit/sdirk.h"

namespace rotule {
namespace {

/// The largest root of x^n + c[n-1] x^(n-1) + ... + c[0], by Durand and Kerner's iteration: all roots at once.
template <std::size_t n>
double largest_root(const std::array<Complex, n>& c) {
  double reach = 1;
  for (const Complex& x : c) {
    if (!std::isfinite(std::abs(x))) return infinity;
    reach = std::max(reach, std::abs(x));
  }
  std::array<Complex, n> x;
  for (std::size_t i = 0; i < n; ++i) x[i] = std::pow(Complex(0.4, 0.9), static_cast<double>(i)) * std::min(reach, 2.0);
  for (int iteration = 0; iteration < 500; ++iteration) {
    double change = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Complex value = 1, others = 1;
      for (std::size_t k = n; k-- > 0;) value = value * x[i] + c[k];
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) others *= x[i] - x[j];
      if (others == 0.0) others = 1e-300;
      const Complex step = value / others;
      x[i] -= step;
      change = std::max(change, std::abs(step) / std::max(1e-3, std::abs(x[i])));
    }
    if (change < 1e-15) break;
  }
  double largest = 0;
  for (const Complex& root : x) largest = std::max(largest, std::abs(root));
  return largest;
}

/// Of a 3 x 3 matrix, from its characteristic polynomial.
double spectral_radius(const Mat3& m) {
  const double minors =
      m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0) + m(0, 0) * m(2, 2) - m(0, 2) * m(2, 0) + m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1);
  return largest_root<3>({-m.determinant(), minors, -m.trace()});
}

/// The oscillator with eigenvalues z and its conjugate, at h = 1: acceleration k q + d u.
struct Oscillator {
  explicit Oscillator(Complex z) : k(-std::norm(z)), d(2 * z.real()) {}
  double k, d;
};

// Stability functions of one-step methods, by name of their settings.
Complex truncated_exponential(Complex z, int order) {
  Complex sum = 1, term = 1;
  for (int i = 1; i <= order; ++i) sum += term *= z / static_cast<double>(i);
  return sum;
}
Complex R(const ExplicitEulerSettings&, Complex z) { return 1.0 + z; }
Complex R(const Rk2Settings&, Complex z) { return truncated_exponential(z, 2); }
Complex R(const ModifiedEulerSettings&, Complex z) { return truncated_exponential(z, 2); }
Complex R(const TwoThirdsSettings&, Complex z) { return truncated_exponential(z, 2); }
Complex R(const Taylor2Settings&, Complex z) { return truncated_exponential(z, 2); }
Complex R(const Taylor3Settings&, Complex z) { return truncated_exponential(z, 3); }
Complex R(const Rk4Settings&, Complex z) { return truncated_exponential(z, 4); }
Complex R(const ImplicitEulerSettings&, Complex z) { return 1.0 / (1.0 - z); }
Complex R(const LinearImplicitEulerSettings&, Complex z) { return 1.0 / (1.0 - z); }
Complex R(const TrapezoidSettings&, Complex z) { return (1.0 + z / 2.0) / (1.0 - z / 2.0); }
Complex R(const ImplicitMidpointSettings&, Complex z) { return (1.0 + z / 2.0) / (1.0 - z / 2.0); }

// Gauss methods have the diagonal Pade approximants of exp z; written in 1/z where z is large, so that nothing overflows.
Complex pade(Complex z, std::initializer_list<double> coefficients) {
  const bool far = std::abs(z) > 1;
  const Complex x = far ? 1.0 / z : z;
  Complex above = 0, below = 0, power = 1;
  double sign = far && coefficients.size() % 2 == 0 ? -1 : 1;
  const auto add = [&](double c) {
    above += c * power;
    below += sign * c * power;
    power *= x;
    sign = -sign;
  };
  if (far)
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) add(*c);
  else
    for (const double c : coefficients) add(c);
  return above / below;
}
Complex R(const Gauss4Settings&, Complex z) { return pade(z, {1, 1.0 / 2, 1.0 / 12}); }
Complex R(const Gauss6Settings&, Complex z) { return pade(z, {1, 1.0 / 2, 1.0 / 10, 1.0 / 120}); }

/// P(z) / (1 - g z)^3, where P has the coefficients that make it exp z to z^3, and stiff accuracy makes it of degree 2.
Complex R(const SdirkSettings&, Complex z) {
  constexpr double g = alexander::g;
  const Complex w = 1.0 - g * z;
  const Complex P = 1.0 + z * ((1 - 3 * g) + z * (0.5 - 3 * g + 3 * g * g));
  return P / w / w / w;
}

// Amplification of the others.
double radius(const SemiImplicitEulerSettings&, Complex z) {
  const Oscillator o(z);  // the matrix on (q, u) has rows (1 + k, 1 + d) and (k, 1 + d)
  return largest_root<2>({1 + o.d, -(2 + o.k + o.d)});
}

/// On (q, u, acceleration): the second kick sees the velocity predicted with the first one's acceleration.
double kick_drift_kick(Complex z) {
  const Oscillator o(z);
  const Eigen::RowVector3d half(0, 1, 0.5), place = Eigen::RowVector3d(1, 0, 0) + half;
  const Eigen::RowVector3d predicted = half + Eigen::RowVector3d(0, 0, 0.5), acceleration = o.k * place + o.d * predicted;
  Mat3 m;
  m << place, half + 0.5 * acceleration, acceleration;
  return spectral_radius(m);
}
double radius(const LeapfrogSettings&, Complex z) { return kick_drift_kick(z); }
double radius(const VerletSettings&, Complex z) { return kick_drift_kick(z); }

double radius(const Ab4Settings&, Complex z) {
  return largest_root<4>({9.0 / 24 * z, -37.0 / 24 * z, 59.0 / 24 * z, -(1.0 + 55.0 / 24 * z)});
}

double radius(const Bdf2Settings&, Complex z) {
  // (1 - 2/3 z) x^2 - 4/3 x + 1/3 = 0
  const Complex lead = 1.0 - 2.0 / 3 * z, root = std::sqrt(4.0 / 9 - lead / 3.0);
  return std::max(std::abs((2.0 / 3 + root) / lead), std::abs((2.0 / 3 - root) / lead));
}

double radius(const GeneralisedAlphaSettings& settings, Complex z) {
  // On (q, u, a), with the true acceleration v = k q + d u at both ends; unknowns of the next instant on the left.
  const Oscillator o(z);
  const AlphaCoefficients c(settings.rho_infinity);
  Mat3 next, now;
  next << 1, 0, -c.beta, 0, 1, -c.gamma, -(1 - c.af) * o.k, -(1 - c.af) * o.d, 1 - c.am;
  now << 1, 1, 0.5 - c.beta, 0, 1, 1 - c.gamma, c.af * o.k, c.af * o.d, -c.am;
  // Velocities and accelerations measured in the oscillator's own time, so that stiffness does not spoil the numbers.
  const double w = std::max(1.0, std::abs(z));
  const Vec3 unit(1, w, w * w);
  const Mat3 left = next * unit.asDiagonal(), right = now * unit.asDiagonal();
  const Vec3 rows = left.cwiseAbs().rowwise().maxCoeff().cwiseInverse();
  const Mat3 a = rows.asDiagonal() * left, b = rows.asDiagonal() * right;
  return spectral_radius(a.inverse() * b);
}

/// Along z = x direction, from 0: the first x at which a step amplifies.
double limit_along(const IntegratorSettings& integrator, Complex direction) {
  // Room for the rounding of roots, which are the less certain the nearer they come to each other as x grows. No method of ours
  // that amplifies does so by less at the first sample.
  const auto stable = [&](double x) {
    return *amplification(integrator, x * direction) <= 1 + 1e-10 * std::max(1.0, x * x / 1e4);
  };
  double inside = 0;
  for (double outside = 0.01; outside < 1e4; outside *= 1.02) {
    if (stable(outside)) {
      inside = outside;
      continue;
    }
    if (inside == 0) return 0;
    while (outside - inside > 1e-9 * outside) {
      const double middle = 0.5 * (inside + outside);
      (stable(middle) ? inside : outside) = middle;
    }
    return inside;
  }
  return infinity;
}

}  // namespace

std::optional<Complex> stability_function(const IntegratorSettings& integrator, Complex z) {
  return std::visit(
      [&]<class S>(const S& settings) -> std::optional<Complex> {
        if constexpr (requires { R(settings, z); })
          return R(settings, z);
        else
          return std::nullopt;
      },
      integrator);
}

std::optional<double> amplification(const IntegratorSettings& integrator, Complex z) {
  if (const auto r = stability_function(integrator, z)) return std::isfinite(std::abs(*r)) ? std::abs(*r) : infinity;
  return std::visit(
      [&]<class S>(const S& settings) -> std::optional<double> {
        if constexpr (requires { radius(settings, z); })
          return radius(settings, z);
        else
          return std::nullopt;
      },
      integrator);
}

std::optional<StabilityLimits> stability_limits(const IntegratorSettings& integrator) {
  if (!amplification(integrator, 0)) return std::nullopt;
  return StabilityLimits{limit_along(integrator, -1.0), limit_along(integrator, Complex(0, 1)), *amplification(integrator, -1e9)};
}

}  // namespace rotule
