#pragma once
// The root of a continuous function between two points of opposite sign by ITP (Oliveira and Takahashi, ACM TOMS 47, 2020):
// the secant's point, truncated towards the middle and kept within what bisection would have reached. Never slower than
// bisection by more than one round; superlinear where the function is smooth.
#include <algorithm>
#include <cmath>
#include <utility>

namespace rotule {

/// An interval of at most `tolerance` around the change of sign: f(first) >= 0 > f(second), given f(a) >= 0 > f(b).
template <class F>
std::pair<double, double> bracket_root(F&& f, double a, double f_a, double b, double f_b, double tolerance) {
  constexpr int slack = 1;
  const double k1 = 0.2 / std::abs(b - a);
  const int most = static_cast<int>(std::ceil(std::log2(std::max(std::abs(b - a) / tolerance, 2.0)))) + slack;
  double allowed = tolerance * std::ldexp(0.5, most);
  for (int i = 0; i <= most && std::abs(b - a) > tolerance; ++i, allowed /= 2) {
    const double middle = 0.5 * (a + b), secant = (f_b * a - f_a * b) / (f_b - f_a);
    const double sign = middle > secant ? 1 : -1, delta = std::min(k1 * (b - a) * (b - a), std::abs(middle - secant));
    const double truncated = secant + sign * delta;
    const double reach = std::max(allowed - 0.5 * std::abs(b - a), 0.0);
    double x = std::abs(truncated - middle) <= reach ? truncated : middle - sign * reach;
    if (!(x > std::min(a, b) && x < std::max(a, b))) x = middle;
    const double f_x = f(x);
    if (f_x >= 0) {
      a = x;
      f_a = f_x;
    } else {
      b = x;
      f_b = f_x;
    }
  }
  return {a, b};
}

}  // namespace rotule
