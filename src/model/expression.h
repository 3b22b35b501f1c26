#pragma once
// Expressions of time, compiled (formula.h says what they may hold): a small program over a stack, which gives the value and its
// first two derivatives by t at once, by the rules of differentiation, and allocates nothing. With names of other variables they
// are the equations of constraints (constraint_text.h), whose programs are made into tapes (equation_tape.h).
#include <rotule/formula.h>
#include <rotule/moving.h>
#include <rotule/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// A function of time where it stands: f, df/dt, d2f/dt2.
struct TimeJet {
  double value = 0, first = 0, second = 0;
};

/// What a name beyond those of formula.h stands for: a variable by its number, or a number.
struct NamedVariable {
  int variable = -1;
  double number = 0;
};
/// Names as they are written, crank.axis_x.y as its three parts.
struct VariableNames {
  /// Nothing where there is no such name.
  std::function<std::optional<NamedVariable>(const std::vector<std::string>& parts)> find;
  /// For suggestions.
  std::vector<std::string> known;
};

class Expression {
 public:
  /// Zero.
  Expression() = default;
  /// Throws Error, with the text and a mark at the place, where it makes no sense: what is no expression, unknown names,
  /// parts that know no time and are not finite (1/0, 10^999), more than so many levels or terms.
  explicit Expression(std::string_view text);
  /// With variables of those names besides.
  Expression(std::string_view text, const VariableNames& names);

  [[nodiscard]] TimeJet at(double t) const;
  [[nodiscard]] bool constant() const { return program_.empty(); }

  /// One step of the program: `number` is what a constant pushes.
  enum class Op : std::uint8_t {
    number,
    time,
    variable,
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
    asin,
    acos,
    atan,
    tanh,
    wrap,
    abs,
    min,
    max,
    atan2
  };
  struct Step {
    Op op = Op::number;
    double number = 0;
    int variable = 0;
  };
  /// In the order in which a stack takes them; none of a constant.
  [[nodiscard]] std::span<const Step> program() const { return program_; }
  static constexpr int most_levels = 20;    // of parentheses, functions, signs and powers within each other
  static constexpr int most_steps = 10000;  // of the program
  // Every level leaves at most four results behind while the next one is worked out: of a sum, a product, a power, a function.
  static constexpr int most_results = 4 * (most_levels + 2);
  static bool takes_two(Op op);
  /// On numbers that know how they change (rotule/moving.h).
  static Moving apply(Op op, const Moving& p, const Moving& q);

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
