#include "model/expression.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/text.h"

namespace rotule {

namespace {

using Op = Expression::Op;

struct NamedFunction {
  std::string_view name;
  Op op;
  int arguments;
};
constexpr std::array functions{
    NamedFunction{"sin", Op::sin, 1},   NamedFunction{"cos", Op::cos, 1},   NamedFunction{"tan", Op::tan, 1},
    NamedFunction{"exp", Op::exp, 1},   NamedFunction{"log", Op::log, 1},   NamedFunction{"sqrt", Op::sqrt, 1},
    NamedFunction{"abs", Op::abs, 1},   NamedFunction{"min", Op::min, 2},   NamedFunction{"max", Op::max, 2},
    NamedFunction{"asin", Op::asin, 1}, NamedFunction{"acos", Op::acos, 1}, NamedFunction{"atan", Op::atan, 1},
    NamedFunction{"tanh", Op::tanh, 1}, NamedFunction{"wrap", Op::wrap, 1}, NamedFunction{"atan2", Op::atan2, 2}};

/// A coefficient of zero wins over whatever it multiplies.
double weighted(double coefficient, double x) { return coefficient == 0 ? 0 : coefficient * x; }

/// f(g) by the chain rule, f and its derivatives being those at g.
TimeJet chain(double f, double f_1, double f_2, const TimeJet& g) {
  return {f, weighted(g.first, f_1), weighted(g.first * g.first, f_2) + weighted(g.second, f_1)};
}

TimeJet product(const TimeJet& p, const TimeJet& q) {
  return {p.value * q.value, p.first * q.value + p.value * q.first,
          p.second * q.value + 2 * p.first * q.first + p.value * q.second};
}

TimeJet power(const TimeJet& base, const TimeJet& exponent) {
  if (exponent.first == 0 && exponent.second == 0) {
    const double n = exponent.value, x = base.value;
    return chain(std::pow(x, n), weighted(n, std::pow(x, n - 1)), weighted(n * (n - 1), std::pow(x, n - 2)), base);
  }
  // exp(n log x)
  const double x = base.value;
  const TimeJet y = product(exponent, chain(std::log(x), 1 / x, -1 / (x * x), base));
  const double e = std::exp(y.value);
  return chain(e, e, e, y);
}

TimeJet apply_in_time(Op op, const TimeJet& p, const TimeJet& q) {
  const double x = p.value;
  switch (op) {
    case Op::plus:
      return {x + q.value, p.first + q.first, p.second + q.second};
    case Op::minus:
      return {x - q.value, p.first - q.first, p.second - q.second};
    case Op::times:
      return product(p, q);
    case Op::over: {
      const double y = 1 / q.value;
      const TimeJet inverse = chain(y, -y * y, 2 * y * y * y, q);
      TimeJet out = product(p, inverse);
      out.value = x / q.value;  // rounded once
      return out;
    }
    case Op::power:
      return power(p, q);
    case Op::negate:
      return {-x, -p.first, -p.second};
    case Op::sin:
      return chain(std::sin(x), std::cos(x), -std::sin(x), p);
    case Op::cos:
      return chain(std::cos(x), -std::sin(x), -std::cos(x), p);
    case Op::tan: {
      const double y = std::tan(x), slope = 1 + y * y;
      return chain(y, slope, 2 * y * slope, p);
    }
    case Op::exp:
      return chain(std::exp(x), std::exp(x), std::exp(x), p);
    case Op::log:
      return chain(std::log(x), 1 / x, -1 / (x * x), p);
    case Op::sqrt: {
      const double y = std::sqrt(x);
      return chain(y, 0.5 / y, -0.25 / (y * x), p);
    }
    case Op::asin:
    case Op::acos: {
      const double c = 1 / std::sqrt(1 - x * x), sign = op == Op::asin ? 1 : -1;
      return chain(op == Op::asin ? std::asin(x) : std::acos(x), sign * c, sign * x * c * c * c, p);
    }
    case Op::atan: {
      const double slope = 1 / (1 + x * x);
      return chain(std::atan(x), slope, -2 * x * slope * slope, p);
    }
    case Op::tanh: {
      const double y = std::tanh(x), slope = 1 - y * y;
      return chain(y, slope, -2 * y * slope, p);
    }
    case Op::wrap:
      return {x - 2 * std::numbers::pi * std::round(x / (2 * std::numbers::pi)), p.first, p.second};
    case Op::atan2: {
      const double squares = x * x + q.value * q.value, fy = q.value / squares, fx = -x / squares;
      return {std::atan2(x, q.value), fy * p.first + fx * q.first,
              fy * p.second + fx * q.second + 2 * fy * fx * (p.first * p.first - q.first * q.first) +
                  2 * (fx * fx - fy * fy) * p.first * q.first};
    }
    case Op::abs:
      return x < 0 ? TimeJet{-x, -p.first, -p.second} : p;
    case Op::min:
      return q.value < x ? q : p;
    case Op::max:
      return q.value > x ? q : p;
    default:
      return p;
  }
}

/// Recursive descent; what knows no time is worked out at once.
class Parser {
 public:
  explicit Parser(std::string_view text, const VariableNames* names = nullptr) : text_(text), names_(names) {}

  std::vector<Expression::Step> parse() {
    sum(0);
    skip_space();
    if (at_ < text_.size()) fail(at_, fmt::format("{} is not expected here", in_quotes(text_.substr(at_, 1))));
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    // Of long texts, what is near the place; errors are one line, so that the mark stands within.
    constexpr std::size_t around = 30;
    const std::size_t first = at > around ? at - around : 0;
    throw Error(
        fmt::format("{}, at character {}, behind >>> in {}", what, at + 1,
                    in_quotes(std::string(text_.substr(first, at - first)) + ">>>" + std::string(text_.substr(at, around)))));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void require(char c, std::size_t opened) {
    if (take(c)) return;
    fail(std::min(at_, text_.size()), fmt::format("'{}' is missing for what begins at character {}", c, opened + 1));
  }
  void look_at_level(int level) const {
    if (level > Expression::most_levels) fail(at_, fmt::format("is nested more than {} deep", Expression::most_levels));
  }

  void push(Expression::Step step) {
    if (program_.size() == Expression::most_steps) fail(at_, fmt::format("has more than {} terms", Expression::most_steps));
    program_.push_back(step);
  }
  /// An operation on the last one or two results; on constants it is made at once.
  void add(Op op, std::size_t at) {
    const std::size_t operands = Expression::takes_two(op) ? 2 : 1, last = program_.size() - 1;
    const auto known = [&](std::size_t k) { return program_[last - k].op == Op::number; };
    if (!known(0) || (operands == 2 && !known(1))) return push({op});
    const double result = operands == 2 ? apply_in_time(op, {program_[last - 1].number}, {program_[last].number}).value
                                        : apply_in_time(op, {program_[last].number}, {}).value;
    if (!std::isfinite(result)) fail(at, "comes to what is not a finite number");
    program_.resize(last + 1 - operands);
    push({Op::number, result});
  }

  void sum(int level) {
    look_at_level(level);
    product(level);
    for (;;) {
      skip_space();
      const std::size_t at = at_;
      if (take('+')) {
        product(level);
        add(Op::plus, at);
      } else if (take('-')) {
        product(level);
        add(Op::minus, at);
      } else {
        return;
      }
    }
  }
  void product(int level) {
    factor(level);
    for (;;) {
      skip_space();
      const std::size_t at = at_;
      if (take('*')) {
        factor(level);
        add(Op::times, at);
      } else if (take('/')) {
        factor(level);
        add(Op::over, at);
      } else {
        return;
      }
    }
  }
  /// -a^b is -(a^b), and a^b^c is a^(b^c).
  void factor(int level) {
    look_at_level(level);
    skip_space();
    const std::size_t at = at_;
    if (take('-')) {
      factor(level + 1);
      return add(Op::negate, at);
    }
    if (take('+')) return factor(level + 1);
    atom(level);
    skip_space();
    const std::size_t hat = at_;
    if (!take('^')) return;
    factor(level + 1);
    add(Op::power, hat);
  }

  void atom(int level) {
    skip_space();
    const std::size_t at = at_;
    if (at == text_.size()) fail(at, "a number, t, pi, a function or '(' is missing");
    if (take('(')) {
      sum(level + 1);
      return require(')', at);
    }
    const char c = text_[at];
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c == '\'' && names_)) return name(level);
    fail(at, fmt::format("{} is not expected here", in_quotes(text_.substr(at, 1))));
  }

  void number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail(at_, "is a number beyond what can be represented");
    if (error != std::errc() || !std::isfinite(value)) fail(at_, "is not a number");
    at_ += static_cast<std::size_t>(end - begin);
    push({Op::number, value});
  }

  static bool in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
  std::string_view take_word() {
    const std::size_t at = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    return text_.substr(at, at_ - at);
  }
  /// crank.axis_x.y, 'left arm'.x: what stands before the dots, and all that follows.
  std::vector<std::string> take_parts(std::string_view first) {
    std::vector<std::string> parts{std::string(first)};
    while (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      const std::size_t at = at_;
      const std::string_view word = take_word();
      if (word.empty()) fail(at, "a name is missing behind '.'");
      parts.emplace_back(word);
    }
    return parts;
  }
  void variable(std::size_t at, const std::vector<std::string>& parts) {
    if (const std::optional<NamedVariable> found = names_->find(parts)) {
      return found->variable < 0 ? push({Op::number, found->number}) : push({Op::variable, 0, found->variable});
    }
    std::string shown;
    for (const std::string& part : parts) shown += (shown.empty() ? "" : ".") + part;
    shown = shown.substr(0, 40);
    std::vector<std::string> known = names_->known;
    known.insert(known.end(), {"t", "pi"});
    fail(at, fmt::format("unknown name {}; {}", in_quotes(shown), suggestion(shown, known)));
  }

  void name(int level) {
    const std::size_t at = at_;
    if (text_[at_] == '\'') {
      const std::size_t end = text_.find('\'', at_ + 1);
      if (end == text_.npos) fail(at, "the name that begins here has no closing '");
      const std::string_view quoted = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return variable(at, take_parts(quoted));
    }
    const std::string_view word = take_word();
    if (names_ && at_ < text_.size() && text_[at_] == '.') return variable(at, take_parts(word));
    if (word == "t") return push({Op::time});
    if (word == "pi") return push({Op::number, std::numbers::pi});
    const auto* const found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == word; });
    if (found == functions.end() && names_) return variable(at, {std::string(word)});
    if (found == functions.end()) {
      std::vector<std::string> known{"t", "pi"};
      for (const NamedFunction& f : functions) known.emplace_back(f.name);
      const std::string shown(word.substr(0, 40));
      fail(at, fmt::format("unknown name {}; {}", in_quotes(shown), suggestion(shown, known)));
    }
    if (!take('(')) fail(at_, fmt::format("'(' is missing: {} is a function", word));
    sum(level + 1);
    if (found->arguments == 2) {
      if (!take(',')) fail(at_, fmt::format("',' is missing: {} takes two", word));
      sum(level + 1);
    }
    require(')', at);
    add(found->op, at);
  }

  std::string_view text_;
  const VariableNames* names_ = nullptr;
  std::size_t at_ = 0;
  std::vector<Expression::Step> program_;
};

}  // namespace

bool Expression::takes_two(Op op) {
  return op == Op::plus || op == Op::minus || op == Op::times || op == Op::over || op == Op::power || op == Op::min ||
         op == Op::max || op == Op::atan2;
}

Moving Expression::apply(Op op, const Moving& p, const Moving& q) {
  switch (op) {
    case Op::plus:
      return p + q;
    case Op::minus:
      return p - q;
    case Op::times:
      return p * q;
    case Op::over:
      return p / q;
    case Op::power: {
      const bool constant = q.first == 0 && q.second == 0 && q.bodies == 0 && q.by_time == 0 &&
                            q.by_parameter == std::array<double, Moving::most_parameters>{};
      return constant ? pow(p, q.value) : pow(p, q);
    }
    case Op::negate:
      return -p;
    case Op::sin:
      return sin(p);
    case Op::cos:
      return cos(p);
    case Op::tan:
      return tan(p);
    case Op::exp:
      return exp(p);
    case Op::log:
      return log(p);
    case Op::sqrt:
      return sqrt(p);
    case Op::asin:
      return asin(p);
    case Op::acos:
      return acos(p);
    case Op::atan:
      return atan(p);
    case Op::tanh:
      return tanh(p);
    case Op::wrap:
      return wrap(p);
    case Op::abs:
      return abs(p);
    case Op::min:
      return min(p, q);
    case Op::max:
      return max(p, q);
    case Op::atan2:
      return atan2(p, q);
    default:
      return p;
  }
}

Expression::Expression(std::string_view text) : Expression(text, VariableNames{}) {}

Expression::Expression(std::string_view text, const VariableNames& names) {
  std::vector<Step> program = Parser(text, names.find ? &names : nullptr).parse();
  if (program.size() == 1 && program[0].op == Op::number)
    constant_ = program[0].number;
  else
    program_ = std::move(program);
}

TimeJet Expression::at(double t) const {
  if (program_.empty()) return {constant_};
  std::array<TimeJet, most_results> stack;
  std::size_t size = 0;
  for (const Step& step : program_) {
    if (step.op == Op::number) {
      stack[size++] = {step.number};
    } else if (step.op == Op::time) {
      stack[size++] = {t, 1, 0};
    } else if (takes_two(step.op)) {
      --size;
      stack[size - 1] = apply_in_time(step.op, stack[size - 1], stack[size]);
    } else {
      stack[size - 1] = apply_in_time(step.op, stack[size - 1], {});
    }
  }
  return stack[0];
}

Expression3::Expression3(const Formula3& formulas) {
  for (std::size_t k = 0; k < 3; ++k) try {
      part[k] = Expression(formulas[k].text);
    } catch (const Error& error) {
      throw Error(std::to_string(k), error.what());
    }
}

void Expression3::at(double t, Vec3& value, Vec3* first, Vec3* second) const {
  for (int k = 0; k < 3; ++k) {
    const TimeJet f = part[static_cast<std::size_t>(k)].at(t);
    value[k] = f.value;
    if (first) (*first)[k] = f.first;
    if (second) (*second)[k] = f.second;
  }
}

std::string Formula::text_of(double value) {
  std::array<char, 32> out{};
  const auto [end, error] = std::to_chars(out.data(), out.data() + out.size(), value);
  return {out.data(), end};
}

}  // namespace rotule
