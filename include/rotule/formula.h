#pragma once
// A number, or an expression of the time t in seconds, as scenes give loads and motions: "0.5 * sin(2 * pi * t)".
//   numbers, t, pi;  + - * / ^ and parentheses;  sin cos tan asin acos atan tanh exp log sqrt abs (radians, natural
//   logarithm);  wrap, an angle less whole turns;  min max atan2 of two
// It is read where it is used: when a world is made, which throws Error, with a mark at the place, where it makes no sense.
#include <array>
#include <string>
#include <type_traits>
#include <utility>

namespace rotule {

struct Formula {
  std::string text = "0";

  Formula() = default;
  Formula(const char* expression) : text(expression) {}             // NOLINT: meant to be implicit, as in {"sin(t)", 0, 0}
  Formula(std::string expression) : text(std::move(expression)) {}  // NOLINT
  template <class Number>
  requires std::is_arithmetic_v<Number> Formula(Number value)  // NOLINT
      : text(text_of(static_cast<double>(value))) {}

  friend bool operator==(const Formula&, const Formula&) = default;

 private:
  /// The shortest text that reads back as the same number.
  static std::string text_of(double value);
};

using Formula3 = std::array<Formula, 3>;

}  // namespace rotule
