#pragma once
// Numbers that know how they change as bodies move: what constraint functions are written in. Besides its value each carries
//   first, second    its first two derivatives along the motion, velocities being constant,
//   by_body          its gradient by the small motions of each body (three of translation, three of rotation, in world axes), or
//                    by its velocities where a function is on velocities,
//   by_time, by_parameter   its partial derivatives by the time and by the function's own parameters.
// From a constraint C(q, t) written in them follow the row J, its explicit rate and J-dot u; from one on velocities, w(q, u, t),
// the row dw/du and what is left of dw/dt. Nothing allocates, and only bodies that a number depends on cost anything. Where
// second derivatives in all directions are asked for, numbers write down how they were made (moving_record.h), in place of
// gradients.
#include <rotule/moving_record.h>
#include <rotule/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>

namespace rotule {

class Moving {
 public:
  static constexpr int most_bodies = 8, most_parameters = 2;
  using Gradient = std::array<double, 6>;

  double value = 0, first = 0, second = 0;
  double by_time = 0;
  std::array<double, most_parameters> by_parameter{};
  bool of_velocities = false, of_time = false;  // what it was made of
  int bodies = 0;                               // it does not depend on those from here on
  int slot = -1;                                // in the record
  MovingRecord* record = nullptr;               // null where none is kept, or it does not depend on positions
  std::array<Gradient, most_bodies> by_body;    // NOLINT: those before `bodies` alone have a meaning

  Moving() = default;             // NOLINT: by_body has no meaning yet
  Moving(double v) : value(v) {}  // NOLINT: numbers are those that do not change
  Moving(const Moving& o)         // NOLINT: by_body as far as it has a meaning
      : value(o.value),
        first(o.first),
        second(o.second),
        by_time(o.by_time),
        by_parameter(o.by_parameter),
        of_velocities(o.of_velocities),
        of_time(o.of_time),
        bodies(o.bodies),
        slot(o.slot),
        record(o.record) {
    copy_gradients(o);
  }
  ~Moving() = default;
  Moving& operator=(const Moving& o) {  // NOLINT: to itself it changes nothing
    copy_scalars(o);
    bodies = o.bodies;
    slot = o.slot;
    record = o.record;
    copy_gradients(o);
    return *this;
  }

  /// f(this), from the value of f and its first two derivatives here.
  [[nodiscard]] Moving chain(double f, double df, double ddf) const {
    Moving out(f);
    out.first = df * first;
    out.second = df * second + ddf * first * first;
    out.by_time = df * by_time;
    for (int k = 0; k < most_parameters; ++k) out.by_parameter[k] = df * by_parameter[k];
    out.of_velocities = of_velocities;
    out.of_time = of_time;
    out.bodies = bodies;
    for (int b = 0; b < bodies; ++b)
      for (int k = 0; k < 6; ++k) out.by_body[b][k] = df * by_body[b][k];
    if (record) out.write_down(*this, {slot, -1, df, 0, ddf, 0, 0});
    return out;
  }

  Moving& operator+=(const Moving& o) { return *this = *this + o; }
  Moving& operator-=(const Moving& o) { return *this = *this - o; }
  Moving& operator*=(const Moving& o) { return *this = *this * o; }
  Moving& operator/=(const Moving& o) { return *this = *this / o; }

  friend Moving operator-(const Moving& a) { return a.chain(-a.value, -1, 0); }
  friend Moving operator+(const Moving& a, const Moving& b) { return sum<1>(a, b); }
  friend Moving operator-(const Moving& a, const Moving& b) { return sum<-1>(a, b); }
  friend Moving operator*(const Moving& a, const Moving& b) {
    Moving out(a.value * b.value);
    out.first = a.value * b.first + a.first * b.value;
    out.second = a.value * b.second + 2 * a.first * b.first + a.second * b.value;
    out.mix(a, b, b.value, a.value);
    out.made_of(a, b, b.value, a.value, 0, 1, 0);
    return out;
  }
  friend Moving operator/(const Moving& a, const Moving& b) {
    const double r = 1 / b.value, v = a.value * r;
    Moving out(a.value / b.value);
    out.first = (a.first - v * b.first) * r;
    out.second = (a.second - 2 * out.first * b.first - v * b.second) * r;
    out.mix(a, b, r, -v * r);
    out.made_of(a, b, r, -v * r, 0, -r * r, 2 * v * r * r);
    return out;
  }
  // Numbers that do not change cost next to nothing.
  friend Moving operator+(const Moving& a, double b) {
    Moving out(a);
    out.value += b;
    return out;
  }
  friend Moving operator+(double a, const Moving& b) { return b + a; }
  friend Moving operator-(const Moving& a, double b) { return a + -b; }
  friend Moving operator-(double a, const Moving& b) { return b.chain(a - b.value, -1, 0); }
  friend Moving operator*(const Moving& a, double b) { return a.chain(a.value * b, b, 0); }
  friend Moving operator*(double a, const Moving& b) { return b.chain(a * b.value, a, 0); }
  friend Moving operator/(double a, const Moving& b) {
    const double r = 1 / b.value;
    return b.chain(a * r, -a * r * r, 2 * a * r * r * r);
  }
  friend Moving operator/(const Moving& a, double b) { return a.chain(a.value / b, 1 / b, 0); }
  friend bool operator<(const Moving& a, const Moving& b) { return a.value < b.value; }
  friend bool operator>(const Moving& a, const Moving& b) { return a.value > b.value; }

  /// a_0 b_0 + a_1 b_1 + ..., without the numbers in between.
  template <std::size_t count>
  static Moving sum_of_products(const std::array<const Moving*, count>& a, const std::array<const Moving*, count>& b) {
    Moving out(a[0]->value * b[0]->value);
    out.first = a[0]->value * b[0]->first + a[0]->first * b[0]->value;
    out.second = a[0]->value * b[0]->second + 2 * a[0]->first * b[0]->first + a[0]->second * b[0]->value;
    out.mix(*a[0], *b[0], b[0]->value, a[0]->value);
    out.made_of(*a[0], *b[0], b[0]->value, a[0]->value, 0, 1, 0);
    for (std::size_t k = 1; k < count; ++k) {
      out.value += a[k]->value * b[k]->value;
      out.first += a[k]->value * b[k]->first + a[k]->first * b[k]->value;
      out.second += a[k]->value * b[k]->second + 2 * a[k]->first * b[k]->first + a[k]->second * b[k]->value;
      out.mix_in(*a[k], b[k]->value);
      out.mix_in(*b[k], a[k]->value);
      out.add_product(*a[k], *b[k], 1);
    }
    return out;
  }
  /// a b - c d.
  static Moving difference_of_products(const Moving& a, const Moving& b, const Moving& c, const Moving& d) {
    Moving out(a.value * b.value - c.value * d.value);
    out.first = (a.value * b.first + a.first * b.value) - (c.value * d.first + c.first * d.value);
    out.second = (a.value * b.second + 2 * a.first * b.first + a.second * b.value) -
                 (c.value * d.second + 2 * c.first * d.first + c.second * d.value);
    out.mix(a, b, b.value, a.value);
    out.mix_in(c, -d.value);
    out.mix_in(d, -c.value);
    out.made_of(a, b, b.value, a.value, 0, 1, 0);
    out.add_product(c, d, -1);
    return out;
  }
  /// The sum of the squares of three, or its root.
  static Moving sum_of_squares(const std::array<Moving, 3>& e) {
    Moving out(0.0);
    for (const Moving& x : e) {
      out.value += x.value * x.value;
      out.first += 2 * x.value * x.first;
      out.second += 2 * (x.first * x.first + x.value * x.second);
    }
    out.mix(e[0], e[1], 2 * e[0].value, 2 * e[1].value);
    out.mix_in(e[2], 2 * e[2].value);
    out.made_of(e[0], e[1], 2 * e[0].value, 2 * e[1].value, 2, 0, 2);
    out.add_square(e[2]);
    return out;
  }
  static Moving length(const std::array<Moving, 3>& e) {
    double squares = 0, first = 0, second = 0;
    for (const Moving& x : e) {
      squares += x.value * x.value;
      first += x.value * x.first;
      second += x.first * x.first + x.value * x.second;
    }
    Moving out(std::sqrt(squares));
    const double inverse = 1 / out.value;
    out.first = first * inverse;
    out.second = (second - out.first * out.first) * inverse;
    out.mix(e[0], e[1], e[0].value * inverse, e[1].value * inverse);
    out.mix_in(e[2], e[2].value * inverse);
    if (e[0].record || e[1].record || e[2].record) out.note_root(sum_of_squares(e));
    return out;
  }

  /// f(a, b), from the value of f and its derivatives here: by a, by b, and the second ones.
  static Moving chain2(const Moving& a, const Moving& b, double f, double fa, double fb, double faa, double fab, double fbb) {
    Moving out(f);
    out.first = fa * a.first + fb * b.first;
    out.second = fa * a.second + fb * b.second + faa * a.first * a.first + 2 * fab * a.first * b.first + fbb * b.first * b.first;
    out.mix(a, b, fa, fb);
    out.made_of(a, b, fa, fb, faa, fab, fbb);
    return out;
  }
  /// Of a record alone: that this is the root of that number.
  void note_root(const Moving& square) {
    const double s = 1 / std::sqrt(square.value);
    if (square.record) write_down(square, {square.slot, -1, 0.5 * s, 0, -0.25 * s * s * s, 0, 0});
  }

 private:
  void write_down(const Moving& from, const MovingRecord::Step& step) {
    record = from.record;
    slot = record->add(step);
  }
  /// That this is f(a, b), by its derivatives.
  void made_of(const Moving& a, const Moving& b, double fa, double fb, double faa, double fab, double fbb) {
    if (a.record && b.record)
      write_down(a, {a.slot, b.slot, fa, fb, faa, fab, fbb});
    else if (a.record)
      write_down(a, {a.slot, -1, fa, 0, faa, 0, 0});
    else if (b.record)
      write_down(b, {b.slot, -1, fb, 0, fbb, 0, 0});
  }
  /// That `more` times a step was added to this.
  void add_step(const Moving& made, double more) {
    if (!made.record) return;
    if (record)
      write_down(made, {slot, made.slot, 1, more, 0, 0, 0});
    else
      write_down(made, {made.slot, -1, more, 0, 0, 0, 0});
  }
  void add_product(const Moving& a, const Moving& b, double times) {
    if (!a.record && !b.record) return;
    Moving product(0.0);
    product.made_of(a, b, b.value, a.value, 0, 1, 0);
    add_step(product, times);
  }
  void add_square(const Moving& a) {
    if (!a.record) return;
    Moving square(0.0);
    square.write_down(a, {a.slot, -1, 2 * a.value, 0, 2, 0, 0});
    add_step(square, 1);
  }
  void copy_scalars(const Moving& o) {
    value = o.value;
    first = o.first;
    second = o.second;
    by_time = o.by_time;
    by_parameter = o.by_parameter;
    of_velocities = o.of_velocities;
    of_time = o.of_time;
  }
  /// Those of one or two bodies, as nearly all have, without a loop.
  void copy_gradients(const Moving& o) {
    if (bodies == 1) {
      by_body[0] = o.by_body[0];
    } else if (bodies == 2) {
      by_body[0] = o.by_body[0];
      by_body[1] = o.by_body[1];
    } else {
      for (int b = 0; b < bodies; ++b) by_body[b] = o.by_body[b];
    }
  }
  /// Never below zero, which compilers cannot know.
  static int in_both(const Moving& a, const Moving& b) { return std::max(0, std::min(a.bodies, b.bodies)); }
  template <int sign>
  static double plus(double a, double b) {
    return sign > 0 ? a + b : a - b;
  }
  template <int sign>
  static Moving sum(const Moving& a, const Moving& b) {
    Moving out(plus<sign>(a.value, b.value));
    out.first = plus<sign>(a.first, b.first);
    out.second = plus<sign>(a.second, b.second);
    out.by_time = plus<sign>(a.by_time, b.by_time);
    for (int k = 0; k < most_parameters; ++k) out.by_parameter[k] = plus<sign>(a.by_parameter[k], b.by_parameter[k]);
    out.of_velocities = a.of_velocities || b.of_velocities;
    out.of_time = a.of_time || b.of_time;
    const int both = in_both(a, b);
    for (int n = 0; n < both; ++n)
      for (int k = 0; k < 6; ++k) out.by_body[n][k] = plus<sign>(a.by_body[n][k], b.by_body[n][k]);
    for (int n = both; n < a.bodies; ++n) out.by_body[n] = a.by_body[n];
    for (int n = both; n < b.bodies; ++n)
      for (int k = 0; k < 6; ++k) out.by_body[n][k] = sign * b.by_body[n][k];
    out.bodies = std::max(a.bodies, b.bodies);
    out.made_of(a, b, 1, sign, 0, 0, 0);
    return out;
  }
  /// Adds f times the first partial derivatives of a.
  void mix_in(const Moving& a, double f) {
    by_time += f * a.by_time;
    for (int k = 0; k < most_parameters; ++k) by_parameter[k] += f * a.by_parameter[k];
    of_velocities = of_velocities || a.of_velocities;
    of_time = of_time || a.of_time;
    const int both = in_both(*this, a);
    for (int n = 0; n < both; ++n)
      for (int k = 0; k < 6; ++k) by_body[n][k] += f * a.by_body[n][k];
    for (int n = both; n < a.bodies; ++n)
      for (int k = 0; k < 6; ++k) by_body[n][k] = f * a.by_body[n][k];
    bodies = std::max(bodies, a.bodies);
  }
  /// All first partial derivatives: fa times those of a and fb times those of b.
  void mix(const Moving& a, const Moving& b, double fa, double fb) {
    by_time = fa * a.by_time + fb * b.by_time;
    for (int k = 0; k < most_parameters; ++k) by_parameter[k] = fa * a.by_parameter[k] + fb * b.by_parameter[k];
    of_velocities = a.of_velocities || b.of_velocities;
    of_time = a.of_time || b.of_time;
    const int both = in_both(a, b);
    for (int n = 0; n < both; ++n)
      for (int k = 0; k < 6; ++k) by_body[n][k] = fa * a.by_body[n][k] + fb * b.by_body[n][k];
    for (int n = both; n < a.bodies; ++n)
      for (int k = 0; k < 6; ++k) by_body[n][k] = fa * a.by_body[n][k];
    for (int n = both; n < b.bodies; ++n)
      for (int k = 0; k < 6; ++k) by_body[n][k] = fb * b.by_body[n][k];
    bodies = std::max(a.bodies, b.bodies);
  }
};

inline Moving sin(const Moving& x) { return x.chain(std::sin(x.value), std::cos(x.value), -std::sin(x.value)); }
inline Moving cos(const Moving& x) { return x.chain(std::cos(x.value), -std::sin(x.value), -std::cos(x.value)); }
inline Moving tan(const Moving& x) {
  const double t = std::tan(x.value), slope = 1 + t * t;
  return x.chain(t, slope, 2 * t * slope);
}
inline Moving exp(const Moving& x) {
  const double e = std::exp(x.value);
  return x.chain(e, e, e);
}
inline Moving log(const Moving& x) { return x.chain(std::log(x.value), 1 / x.value, -1 / (x.value * x.value)); }
inline Moving sqrt(const Moving& x) {
  const double s = std::sqrt(x.value);
  return x.chain(s, 0.5 / s, -0.25 / (s * x.value));
}
inline Moving asin(const Moving& x) {
  const double c = 1 / std::sqrt(1 - x.value * x.value);
  return x.chain(std::asin(x.value), c, x.value * c * c * c);
}
inline Moving acos(const Moving& x) {
  const double c = 1 / std::sqrt(1 - x.value * x.value);
  return x.chain(std::acos(x.value), -c, -x.value * c * c * c);
}
inline Moving atan(const Moving& x) {
  const double d = 1 / (1 + x.value * x.value);
  return x.chain(std::atan(x.value), d, -2 * x.value * d * d);
}
inline Moving tanh(const Moving& x) {
  const double t = std::tanh(x.value), slope = 1 - t * t;
  return x.chain(t, slope, -2 * t * slope);
}
inline Moving abs(const Moving& x) { return x.value < 0 ? -x : x; }
/// A derivative whose coefficient is zero is none, whatever the power that it multiplies.
inline Moving pow(const Moving& x, double p) {
  if (p == 2) return x.chain(x.value * x.value, 2 * x.value, 2);
  const double df = p == 0 ? 0 : p * std::pow(x.value, p - 1);
  const double ddf = p == 0 || p == 1 ? 0 : p * (p - 1) * std::pow(x.value, p - 2);
  return x.chain(std::pow(x.value, p), df, ddf);
}
inline Moving pow(const Moving& x, const Moving& p) { return exp(p * log(x)); }
inline Moving atan2(const Moving& y, const Moving& x) {
  const double squares = x.value * x.value + y.value * y.value, fy = x.value / squares, fx = -y.value / squares;
  return Moving::chain2(y, x, std::atan2(y.value, x.value), fy, fx, 2 * fy * fx, fx * fx - fy * fy, -2 * fy * fx);
}
inline Moving min(const Moving& a, const Moving& b) { return b.value < a.value ? b : a; }
inline Moving max(const Moving& a, const Moving& b) { return b.value > a.value ? b : a; }
/// An angle, or a sum of angles in whole multiples, less whole turns: from -pi to pi. Smooth but where it is half a turn.
inline Moving wrap(const Moving& x) { return x - 2 * std::numbers::pi * std::round(x.value / (2 * std::numbers::pi)); }

}  // namespace rotule
