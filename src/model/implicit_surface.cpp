#include "model/implicit_surface.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <cmath>
#include <memory>

namespace rotule {

namespace {

using Op = Expression::Op;

constexpr int most_touch_steps = 60;   // of Newton's method
constexpr int derivatives_wanted = 2;  // along the motion
constexpr double last_step = 1e-11;    // of the radius, rad: after it the error is its square
constexpr double small_step = 1e-8;    // likewise, where rounding leaves no smaller one

VariableNames coordinates() {
  VariableNames out;
  out.known = {"x", "y", "z"};
  out.find = [known = out.known](const std::vector<std::string>& parts) -> std::optional<NamedVariable> {
    if (parts.size() != 1) return std::nullopt;
    const auto found = std::find(known.begin(), known.end(), parts[0]);
    if (found == known.end()) return std::nullopt;
    return NamedVariable{static_cast<int>(found - known.begin())};
  };
  return out;
}

/// Adds to the adjoints of p and q what an operation on them hands back of its own.
void hand_back(Op op, const Moving& adjoint, const Moving& value, const Moving& p, const Moving& q, Moving& of_p, Moving& of_q) {
  switch (op) {
    case Op::plus:
      of_p += adjoint;
      of_q += adjoint;
      return;
    case Op::minus:
      of_p += adjoint;
      of_q -= adjoint;
      return;
    case Op::times:
      of_p += adjoint * q;
      of_q += adjoint * p;
      return;
    case Op::over:
      of_p += adjoint / q;
      of_q -= adjoint * value / q;
      return;
    case Op::negate:
      of_p -= adjoint;
      return;
    case Op::sin:
      of_p += adjoint * cos(p);
      return;
    case Op::cos:
      of_p -= adjoint * sin(p);
      return;
    case Op::tan:
      of_p += adjoint * (value * value + 1.0);
      return;
    case Op::exp:
      of_p += adjoint * value;
      return;
    case Op::log:
      of_p += adjoint / p;
      return;
    case Op::sqrt:
      of_p += adjoint / (2.0 * value);
      return;
    case Op::asin:
      of_p += adjoint / sqrt(1.0 - p * p);
      return;
    case Op::acos:
      of_p -= adjoint / sqrt(1.0 - p * p);
      return;
    case Op::atan:
      of_p += adjoint / (p * p + 1.0);
      return;
    case Op::tanh:
      of_p += adjoint * (1.0 - value * value);
      return;
    case Op::wrap:
      of_p += adjoint;
      return;
    case Op::abs:
      p.value < 0 ? of_p -= adjoint : of_p += adjoint;
      return;
    case Op::min:
      (q.value < p.value ? of_q : of_p) += adjoint;
      return;
    case Op::max:
      (q.value > p.value ? of_q : of_p) += adjoint;
      return;
    case Op::atan2: {
      const Moving squares = p * p + q * q;
      of_p += adjoint * q / squares;
      of_q -= adjoint * p / squares;
      return;
    }
    default:
      return;
  }
}

MovingVec3 constant(const Vec3& x) { return {Moving(x.x()), Moving(x.y()), Moving(x.z())}; }

/// A x, the matrix being of numbers.
MovingVec3 times(const Mat3& A, const MovingVec3& x) {
  MovingVec3 out;
  for (int k = 0; k < 3; ++k) out.e[static_cast<std::size_t>(k)] = x.dot(Vec3(A.row(k).transpose()));
  return out;
}

[[noreturn]] void no_touch() {
  throw Error("what rolls has no single place nearest to its surface here; it must be smaller than the surface is curved");
}

}  // namespace

ImplicitSurface::ImplicitSurface(std::string_view text) {
  const Expression expression(text, coordinates());
  if (expression.constant()) throw Error("is a number; a surface is where an expression of x, y and z is zero");
  if (expression.program().size() > most_terms) throw Error(fmt::format("has more than {} terms", most_terms));
  std::vector<int> stack;
  for (const Expression::Step& step : expression.program()) {
    if (step.op == Op::time) throw Error("knows the time; a surface moves with the body that carries it");
    Term term{step};
    if (step.op != Op::number && step.op != Op::variable) {
      if (Expression::takes_two(step.op)) {
        term.b = stack.back();
        stack.pop_back();
      }
      term.a = stack.back();
      stack.pop_back();
      // Powers are of fixed exponent: others have no derivative where the base is negative.
      if (step.op == Op::power && terms_[static_cast<std::size_t>(term.b)].step.op != Op::number)
        throw Error("has a power whose exponent changes; write exp(b * log(a))");
    }
    stack.push_back(static_cast<int>(terms_.size()));
    terms_.push_back(term);
  }
}

ImplicitSurface::Value ImplicitSurface::at(const MovingVec3& x) const {
  // Only those that there are come to be; they have nothing to undo.
  union Store {
    Store() {}                  // NOLINT(modernize-use-equals-default): the numbers are made one by one
    Moving number[most_terms];  // NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
  } values, adjoints;
  const int count = static_cast<int>(terms_.size());
  Moving nothing(0.0);
  for (int i = 0; i < count; ++i) {
    const auto& [step, a, b] = terms_[static_cast<std::size_t>(i)];
    std::construct_at(&adjoints.number[i], 0.0);
    if (step.op == Op::number)
      std::construct_at(&values.number[i], step.number);
    else if (step.op == Op::variable)
      std::construct_at(&values.number[i], x.e[static_cast<std::size_t>(step.variable)]);
    else
      std::construct_at(&values.number[i], Expression::apply(step.op, values.number[a], b < 0 ? nothing : values.number[b]));
  }
  Value out;
  out.F = values.number[count - 1];
  adjoints.number[count - 1] = Moving(1.0);
  for (int i = count - 1; i >= 0; --i) {
    const auto& [step, a, b] = terms_[static_cast<std::size_t>(i)];
    if (step.op == Op::variable) {
      out.gradient.e[static_cast<std::size_t>(step.variable)] += adjoints.number[i];
    } else if (step.op == Op::power) {
      const double n = values.number[b].value;
      if (n != 0) adjoints.number[a] += n * adjoints.number[i] * pow(values.number[a], n - 1);
    } else if (step.op != Op::number) {
      hand_back(step.op, adjoints.number[i], values.number[i], values.number[a], b < 0 ? nothing : values.number[b],
                adjoints.number[a], b < 0 ? nothing : adjoints.number[b]);
    }
  }
  return out;
}

void ImplicitSurface::numbers(const Vec3& x, double& F, Vec3& g, Mat3& H) const {
  MovingVec3 variable = constant(x);
  for (std::size_t k = 0; k < 3; ++k) {
    variable.e[k].bodies = 1;
    variable.e[k].by_body[0].fill(0);
    variable.e[k].by_body[0][k] = 1;
  }
  const Value value = at(variable);
  F = value.F.value;
  g = value.gradient.value();
  H.setZero();
  for (int k = 0; k < 3; ++k)
    if (const Moving& e = value.gradient.e[static_cast<std::size_t>(k)]; e.bodies > 0)
      H.row(k) << e.by_body[0][0], e.by_body[0][1], e.by_body[0][2];
}

MovingVec3 ImplicitSurface::normal(const MovingVec3& x, double side) const {
  const MovingVec3 gradient = at(x).gradient;
  return (side / gradient.norm()) * gradient;
}

ImplicitSurface::Touch ImplicitSurface::touch_at(const MovingVec3& x, double side) const {
  const Value value = at(x);
  const Moving scale = side / value.gradient.norm();
  return {x, scale * value.gradient, scale * value.F};
}

ImplicitSurface::Touch ImplicitSurface::touch_of_ball(const MovingVec3& center, double radius, double side) const {
  const Vec3 c = center.value();
  Vec3 x = c, g, n;
  double F = 0;
  Mat3 H, inverse;
  bool found = false, nearest = false;  // the latter: 1 + r times either curvature is positive
  double before = infinity;
  for (int round = 0; round < most_touch_steps && !found; ++round) {
    numbers(x, F, g, H);
    const double length = g.norm();
    n = side / length * g;
    const Mat3 turned = Mat3::Identity() + radius * side / length * (H - n * (n.transpose() * H));
    inverse = turned.inverse();
    nearest = turned.determinant() > 0 && turned.trace() > 1;
    Vec3 step = inverse * (c - x - radius * n);
    if (!step.allFinite()) no_touch();
    // Far from the answer no further than the ball reaches. The last step is small: its matrix serves the derivatives too.
    const double size = step.norm();
    if (size > radius) step *= radius / size;
    x += step;
    found = size < last_step * radius || (size < small_step * radius && size >= before);
    before = size;
  }
  if (!found || !nearest) no_touch();
  MovingVec3 moving = constant(x);
  for (int k = 0; k < derivatives_wanted; ++k) moving = moving - times(inverse, moving + radius * normal(moving, side) - center);
  return touch_at(moving, side);
}

ImplicitSurface::Touch ImplicitSurface::touch_of_disc(const MovingVec3& center, const MovingVec3& e, const MovingVec3& f,
                                                      double radius, double side) const {
  const Vec3 c = center.value(), u = e.value(), v = f.value();
  double F = 0;
  Vec3 g;
  Mat3 H;
  // From where a plane as the surface lies at the centre would be touched.
  numbers(c, F, g, H);
  double phi = std::atan2(-side * g.dot(v), -side * g.dot(u)), slope = 0, before = infinity;
  bool found = false;
  for (int round = 0; round < most_touch_steps && !found; ++round) {
    const Vec3 out = std::cos(phi) * u + std::sin(phi) * v, along = std::cos(phi) * v - std::sin(phi) * u;
    numbers(c + radius * out, F, g, H);
    const double change = side * g.dot(along);
    slope = side * (radius * along.dot(H * along) - g.dot(out));
    // Uphill of an inflection Newton's step would lead to the highest point.
    const double step = slope > 0 ? std::clamp(-change / slope, -0.5, 0.5) : (change > 0 ? -0.5 : 0.5);
    if (!std::isfinite(step)) no_touch();
    phi += step;
    found = slope > 0 && (std::abs(step) < last_step || (std::abs(step) < small_step && std::abs(step) >= before));
    before = std::abs(step);
  }
  if (!found) no_touch();
  Moving angle(phi);
  const auto rim = [&] { return center + radius * (cos(angle) * e + sin(angle) * f); };
  for (int k = 0; k < derivatives_wanted; ++k) {
    const MovingVec3 along = cos(angle) * f - sin(angle) * e;
    angle = angle - (side / slope) * at(rim()).gradient.dot(along);
  }
  return touch_at(rim(), side);
}

}  // namespace rotule
