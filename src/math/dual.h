#pragma once
// Dual numbers, several at a time: a value and its first derivatives along N directions, so that one pass of an algorithm gives
// N columns of its Jacobian. Where second derivatives are wanted too there are jets (rotule/jet.h).
#include <Eigen/Core>
#include <array>
#include <cmath>

namespace rotule {

template <int N>
struct Dual {
  double value = 0;
  std::array<double, N> along{};

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: numbers are duals that do not vary

  /// f(this), from the value of f and its derivative here.
  [[nodiscard]] Dual chain(double f, double df) const {
    Dual out(f);
    for (int k = 0; k < N; ++k) out.along[k] = df * along[k];
    return out;
  }

  Dual& operator+=(const Dual& o) {
    value += o.value;
    for (int k = 0; k < N; ++k) along[k] += o.along[k];
    return *this;
  }
  Dual& operator-=(const Dual& o) {
    value -= o.value;
    for (int k = 0; k < N; ++k) along[k] -= o.along[k];
    return *this;
  }
  Dual& operator*=(const Dual& o) {
    for (int k = 0; k < N; ++k) along[k] = value * o.along[k] + o.value * along[k];
    value *= o.value;
    return *this;
  }
  friend Dual operator-(const Dual& a) { return a.chain(-a.value, -1); }
  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
};

template <int N>
Dual<N> sin(const Dual<N>& x) {
  return x.chain(std::sin(x.value), std::cos(x.value));
}
template <int N>
Dual<N> cos(const Dual<N>& x) {
  return x.chain(std::cos(x.value), -std::sin(x.value));
}

}  // namespace rotule

template <int N>
struct Eigen::NumTraits<rotule::Dual<N>> : Eigen::NumTraits<double> {
  using Real = rotule::Dual<N>;
  using NonInteger = rotule::Dual<N>;
  using Nested = rotule::Dual<N>;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = N + 1,
    AddCost = N + 1,
    MulCost = 3 * N
  };
};
