#pragma once
// Expressions of time, compiled (formula.h says what they may hold): a small program over a stack, which gives the value and its
// first two derivatives by t at once, by the rules of differentiation, and allocates nothing.
#include <rotule/formula.h>
#include <rotule/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace rotule {

/// A function of time where it stands: f, df/dt, d2f/dt2.
struct TimeJet {
  double value = 0, first = 0, second = 0;
};

class Expression {
 public:
  /// Zero.
  Expression() = default;
  /// Throws Error, with the text and a mark at the place, where it makes no sense: what is no expression, unknown names,
  /// parts that know no time and are not finite (1/0, 10^999), more than so many levels or terms.
  explicit Expression(std::string_view text);

  [[nodiscard]] TimeJet at(double t) const;
  [[nodiscard]] bool constant() const { return program_.empty(); }

  /// One step of the program: `number` is what a constant pushes.
  enum class Op : std::uint8_t {
    number,
    time,
    plus,
    minus,
    times,
    over,
    power,
    negate,
    sin,
    cos,
    tan,
    exp,
    log,
    sqrt,
    abs,
    min,
    max
  };
  struct Step {
    Op op = Op::number;
    double number = 0;
  };
  static constexpr int most_levels = 20;    // of parentheses, functions, signs and powers within each other
  static constexpr int most_steps = 10000;  // of the program

 private:
  std::vector<Step> program_;  // none: a constant
  double constant_ = 0;
};

/// Three of them, as vectors. Throws Error with the place of the one that makes no sense.
struct Expression3 {
  Expression3() = default;
  explicit Expression3(const Formula3& formulas);
  /// Values and derivatives; those that are not wanted may be left out.
  void at(double t, Vec3& value, Vec3* first = nullptr, Vec3* second = nullptr) const;
  [[nodiscard]] bool constant() const { return part[0].constant() && part[1].constant() && part[2].constant(); }

  std::array<Expression, 3> part;
};

}  // namespace rotule
