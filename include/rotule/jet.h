#pragma once
// Second-order jets: a number with its gradient and Hessian in 13 variables (six small motions of each of two bodies, and
// time). From a constraint written in jets follow C, its Jacobian, its rate of change and its geometric stiffness.
#include <Eigen/Core>
#include <array>
#include <cmath>

namespace rotule {

/// value + gradient . d + 1/2 d^T Hessian d. The Hessian is symmetric; its lower triangle is stored, row by row.
class Jet {
 public:
  static constexpr int variables = 13;
  static constexpr int pairs = variables * (variables + 1) / 2;

  double value = 0;
  Eigen::Array<double, variables, 1> gradient = Eigen::Array<double, variables, 1>::Zero();
  Eigen::Array<double, pairs, 1> hessian = Eigen::Array<double, pairs, 1>::Zero();

  Jet() = default;
  Jet(double v) : value(v) {}  // NOLINT: numbers are jets that do not vary

  [[nodiscard]] static constexpr int pair(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }
  [[nodiscard]] static Jet variable(int index, double v) {
    Jet jet(v);
    jet.gradient[index] = 1;
    return jet;
  }

  /// f(this), from the value of f and its first two derivatives here.
  [[nodiscard]] Jet chain(double f, double df, double ddf) const {
    Jet out(f);
    out.gradient = df * gradient;
    for (int i = 0, k = 0; i < variables; ++i)
      for (int j = 0; j <= i; ++j, ++k) out.hessian[k] = df * hessian[k] + ddf * gradient[i] * gradient[j];
    return out;
  }

  Jet& operator+=(const Jet& o) {
    value += o.value;
    gradient += o.gradient;
    hessian += o.hessian;
    return *this;
  }
  Jet& operator-=(const Jet& o) { return *this += -o; }
  Jet& operator*=(const Jet& o) { return *this = *this * o; }
  Jet& operator/=(const Jet& o) { return *this = *this / o; }

  friend Jet operator-(const Jet& a) {
    Jet out(-a.value);
    out.gradient = -a.gradient;
    out.hessian = -a.hessian;
    return out;
  }
  friend Jet operator+(Jet a, const Jet& b) { return a += b; }
  friend Jet operator-(Jet a, const Jet& b) { return a -= b; }
  friend Jet operator*(const Jet& a, const Jet& b) {
    Jet out(a.value * b.value);
    out.gradient = a.value * b.gradient + b.value * a.gradient;
    for (int i = 0, k = 0; i < variables; ++i)
      for (int j = 0; j <= i; ++j, ++k)
        out.hessian[k] =
            a.value * b.hessian[k] + b.value * a.hessian[k] + a.gradient[i] * b.gradient[j] + a.gradient[j] * b.gradient[i];
    return out;
  }
  friend Jet operator/(const Jet& a, const Jet& b) {
    const double r = 1 / b.value;
    return a * b.chain(r, -r * r, 2 * r * r * r);
  }
};

inline Jet sin(const Jet& x) { return x.chain(std::sin(x.value), std::cos(x.value), -std::sin(x.value)); }
inline Jet cos(const Jet& x) { return x.chain(std::cos(x.value), -std::sin(x.value), -std::cos(x.value)); }
inline Jet exp(const Jet& x) {
  const double e = std::exp(x.value);
  return x.chain(e, e, e);
}
inline Jet log(const Jet& x) { return x.chain(std::log(x.value), 1 / x.value, -1 / (x.value * x.value)); }
inline Jet sqrt(const Jet& x) {
  const double s = std::sqrt(x.value);
  return x.chain(s, 0.5 / s, -0.25 / (s * x.value));
}
inline Jet pow(const Jet& x, double p) {
  return x.chain(std::pow(x.value, p), p * std::pow(x.value, p - 1), p * (p - 1) * std::pow(x.value, p - 2));
}
inline Jet atan2(const Jet& y, const Jet& x) {
  // d atan2 = (x dy - y dx) / (x^2 + y^2); carried to second order by rotating (x, y) onto the first axis.
  const double a = std::atan2(y.value, x.value);
  const double c = std::cos(a), s = std::sin(a);
  const Jet t = (y * c - x * s) / (x * c + y * s);  // tangent of the remaining, infinitesimal angle: atan(t) = t to this order
  return t + Jet(a);
}

/// Three jets as a vector, with what geometry needs.
struct JetVec3 {
  std::array<Jet, 3> e;

  JetVec3() = default;
  JetVec3(Jet x, Jet y, Jet z) : e{std::move(x), std::move(y), std::move(z)} {}
  JetVec3(const Eigen::Vector3d& v) : e{Jet(v.x()), Jet(v.y()), Jet(v.z())} {}  // NOLINT: constants are jets too

  [[nodiscard]] const Jet& x() const { return e[0]; }
  [[nodiscard]] const Jet& y() const { return e[1]; }
  [[nodiscard]] const Jet& z() const { return e[2]; }
  [[nodiscard]] Jet dot(const JetVec3& o) const { return e[0] * o.e[0] + e[1] * o.e[1] + e[2] * o.e[2]; }
  [[nodiscard]] JetVec3 cross(const JetVec3& o) const {
    return {e[1] * o.e[2] - e[2] * o.e[1], e[2] * o.e[0] - e[0] * o.e[2], e[0] * o.e[1] - e[1] * o.e[0]};
  }
  [[nodiscard]] Jet norm() const { return sqrt(dot(*this)); }

  friend JetVec3 operator+(const JetVec3& a, const JetVec3& b) { return {a.e[0] + b.e[0], a.e[1] + b.e[1], a.e[2] + b.e[2]}; }
  friend JetVec3 operator-(const JetVec3& a, const JetVec3& b) { return {a.e[0] - b.e[0], a.e[1] - b.e[1], a.e[2] - b.e[2]}; }
  friend JetVec3 operator*(const Jet& s, const JetVec3& a) { return {s * a.e[0], s * a.e[1], s * a.e[2]}; }
};

struct JetMat3 {
  std::array<JetVec3, 3> columns;
  friend JetVec3 operator*(const JetMat3& m, const Eigen::Vector3d& v) {
    return Jet(v.x()) * m.columns[0] + Jet(v.y()) * m.columns[1] + Jet(v.z()) * m.columns[2];
  }
};

}  // namespace rotule
