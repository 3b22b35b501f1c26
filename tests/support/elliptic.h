#pragma once
// Complete elliptic integrals of the first kind by the arithmetic-geometric mean (Abramowitz and Stegun 17.6).
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

}  // namespace rotule
