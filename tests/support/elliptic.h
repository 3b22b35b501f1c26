#pragma once
// Elliptic integrals and functions by the arithmetic-geometric mean (Abramowitz and Stegun 17.6, 16.4).
#include <array>
#include <cmath>
#include <numbers>

namespace rotule {

/// K(k) = int_0^{pi/2} dt / sqrt(1 - k^2 sin^2 t), of the modulus k in [0, 1).
inline double elliptic_K(double k) {
  double a = 1, b = std::sqrt(1 - k * k);
  while (std::abs(a - b) > 1e-15 * a) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return std::numbers::pi / (2 * a);
}

/// Jacobi's elliptic functions of u, modulus k in [0, 1).
struct Jacobi {
  double sn, cn, dn;
};
inline Jacobi jacobi(double u, double k) {
  std::array<double, 16> a{1}, c{k};
  double b = std::sqrt(1 - k * k);
  int n = 0;
  for (; n < 15 && std::abs(c[n]) > 1e-17; ++n) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = std::sqrt(a[n] * b);
  }
  double phi = std::ldexp(a[n] * u, n);
  for (; n > 0; --n) phi = 0.5 * (phi + std::asin(c[n] / a[n] * std::sin(phi)));
  const double sn = std::sin(phi);
  return {sn, std::cos(phi), std::sqrt(1 - k * k * sn * sn)};
}

}  // namespace rotule
