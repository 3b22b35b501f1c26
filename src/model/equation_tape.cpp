#include "model/equation_tape.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace rotule {

namespace {

using Op = Expression::Op;

/// Derivatives of a step's result by what it worked on.
std::pair<double, double> slopes(Op op, const Moving& p, const Moving& q, double result) {
  const double x = p.value, y = q.value;
  switch (op) {
    case Op::plus:
      return {1, 1};
    case Op::minus:
      return {1, -1};
    case Op::times:
      return {y, x};
    case Op::over:
      return {1 / y, -result / y};
    case Op::negate:
      return {-1, 0};
    case Op::sin:
      return {std::cos(x), 0};
    case Op::cos:
      return {-std::sin(x), 0};
    case Op::tan:
      return {1 + result * result, 0};
    case Op::exp:
      return {result, 0};
    case Op::log:
      return {1 / x, 0};
    case Op::sqrt:
      return {0.5 / result, 0};
    case Op::asin:
      return {1 / std::sqrt(1 - x * x), 0};
    case Op::acos:
      return {-1 / std::sqrt(1 - x * x), 0};
    case Op::atan:
      return {1 / (1 + x * x), 0};
    case Op::tanh:
      return {1 - result * result, 0};
    case Op::abs:
      return {x < 0 ? -1 : 1, 0};
    case Op::min:
      return y < x ? std::pair(0.0, 1.0) : std::pair(1.0, 0.0);
    case Op::max:
      return y > x ? std::pair(0.0, 1.0) : std::pair(1.0, 0.0);
    case Op::atan2: {
      const double squares = x * x + y * y;
      return {y / squares, -x / squares};
    }
    default:  // wrap
      return {1, 0};
  }
}

/// Of a power: of one by a number, whose base may be anything, or of two variables.
std::pair<double, double> slopes_of_power(double x, double p, double result, bool by_number) {
  if (!by_number) return {result * p / x, result * std::log(x)};
  if (p == 2) return {2 * x, 0};
  return {p == 0 ? 0 : p * std::pow(x, p - 1), 0};
}

}  // namespace

CarriedVec3 EquationLeaf::vector(MovingBodies q) const {
  const MovingBody& from = q[static_cast<std::size_t>(body)];
  switch (kind) {
    case Kind::velocity:
      return from.velocity(at);
    case Kind::spin:
      return from.spin();
    case Kind::axis:
      return from.direction(Vec3::Unit(axis));
    default:
      return from.point(at);
  }
}

Moving EquationLeaf::value(MovingBodies q, std::span<const Moving> s) const {
  if (kind == Kind::parameter) return s[static_cast<std::size_t>(body)];
  if (kind != Kind::angle) return vector(q).component(component);
  // The turn about a world's axis, as gears have it: regular while the body leans less than half a turn.
  const MovingBody& from = q[static_cast<std::size_t>(body)];
  const int i = (component + 1) % 3, j = (component + 2) % 3;
  const CarriedVec3 x = from.direction(Vec3::Unit(i)), y = from.direction(Vec3::Unit(j));
  return atan2(x.component(j) - y.component(i), x.component(i) + y.component(j));
}

EquationTape::EquationTape(std::vector<Expression> equations, std::vector<EquationLeaf> leaves)
    : equations_(std::move(equations)), leaves_(std::move(leaves)) {
  // Leaves that are components of the same vector.
  std::vector<int> vector_of(leaves_.size(), -1);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    EquationLeaf leaf = leaves_[i];
    if (leaf.kind == EquationLeaf::Kind::angle || leaf.kind == EquationLeaf::Kind::parameter) continue;
    const auto same = std::ranges::find_if(vectors_, [&](int other) {
      leaf.component = leaves_[other].component;
      return leaves_[other] == leaf;
    });
    vector_of[i] = static_cast<int>(same - vectors_.begin());
    if (same == vectors_.end()) vectors_.push_back(static_cast<int>(i));
  }
  if (vectors_.size() > most_vectors) return;
  if (std::ranges::any_of(equations_, [](const Expression& e) { return e.program().size() > most_steps; })) return;

  for (const Expression& equation : equations_) {
    std::vector<Step>& steps = programs_.emplace_back();
    std::vector<int> stack;
    for (const Expression::Step& from : equation.program()) {
      Step step{.op = from.op, .number = from.number};
      if (from.op == Op::variable) {
        step.leaf = from.variable;
        step.vector = vector_of[from.variable];
        step.k = leaves_[from.variable].component;
        step.of_bodies = leaves_[from.variable].kind != EquationLeaf::Kind::parameter;
      } else if (from.op != Op::number && from.op != Op::time) {
        if (Expression::takes_two(from.op)) {
          step.b = stack.back();
          stack.pop_back();
        }
        step.a = stack.back();
        stack.pop_back();
        step.of_bodies = steps[step.a].of_bodies || (step.b >= 0 && steps[step.b].of_bodies);
      }
      stack.push_back(static_cast<int>(steps.size()));
      steps.push_back(step);
    }
  }
}

void EquationTape::evaluate(MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out) const {
  if (programs_.empty()) {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = equations_[k].at(t, [&](int number) { return leaves_[static_cast<std::size_t>(number)].value(q, s); });
    return;
  }
  union Vectors {
    Vectors() {}   // NOLINT: only as many are made as there are
    ~Vectors() {}  // NOLINT
    CarriedVec3 vector[most_vectors];
  } vectors;
  for (std::size_t v = 0; v < vectors_.size(); ++v)
    new (&vectors.vector[v]) CarriedVec3(leaves_[static_cast<std::size_t>(vectors_[v])].vector(q));
  for (std::size_t k = 0; k < out.size(); ++k)
    if (programs_[k].empty())
      out[k] = equations_[k].at(0).value;
    else
      walk(programs_[k], {vectors.vector, vectors_.size()}, q, t, s, out[k]);
}

void EquationTape::walk(const std::vector<Step>& steps, std::span<const CarriedVec3> vectors, MovingBodies q, const Moving& t,
                        std::span<const Moving> s, Moving& out) const {
  // Forwards, without gradients by bodies.
  union Values {
    Values() {}   // NOLINT: made step by step
    ~Values() {}  // NOLINT
    Moving value[most_steps];
  } values;
  Moving* const value = values.value;
  const auto angle = [&](const Step& step) { return leaves_[static_cast<std::size_t>(step.leaf)].value(q, s); };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.op == Op::number) {
      std::construct_at(&value[i], step.number);
    } else if (step.op == Op::time) {
      std::construct_at(&value[i], t);
    } else if (step.vector >= 0) {
      const CarriedVec3& from = vectors[static_cast<std::size_t>(step.vector)];
      Moving& to = *std::construct_at(&value[i], from.now[step.k]);
      to.first = from.first[step.k];
      to.second = from.second[step.k];
      to.of_velocities = from.of_velocities;
    } else if (step.op == Op::variable) {
      std::construct_at(&value[i], angle(step));
      value[i].bodies = 0;
    } else {
      new (&value[i]) Moving(Expression::apply(step.op, value[step.a], step.b >= 0 ? value[step.b] : Moving(0.0)));
    }
  }
  const std::size_t last = steps.size() - 1;
  out = value[last];

  // And back: what each step's value is worth to the result.
  bool wanted = false;
  for (const MovingBody& body : q) wanted = wanted || body.by_motion || body.by_velocity;
  if (!wanted || !steps[last].of_bodies) return;
  std::array<double, most_steps> worth;
  std::fill_n(worth.begin(), steps.size(), 0.0);
  worth[last] = 1;
  std::array<Vec3, most_vectors> along;
  std::fill_n(along.begin(), vectors.size(), Vec3::Zero());
  const auto gradient = [&](int body) -> Moving::Gradient& {
    for (; out.bodies <= body; ++out.bodies) out.by_body[static_cast<std::size_t>(out.bodies)].fill(0);
    return out.by_body[static_cast<std::size_t>(body)];
  };
  for (std::size_t i = last + 1; i-- > 0;) {
    const Step& step = steps[i];
    if (!step.of_bodies) continue;
    const double own = worth[i];
    if (step.vector >= 0) {
      along[static_cast<std::size_t>(step.vector)][step.k] += own;
    } else if (step.op == Op::variable) {
      const Moving whole = angle(step);
      for (int b = 0; b < whole.bodies; ++b) {
        Moving::Gradient& by = gradient(b);
        for (std::size_t k = 0; k < 6; ++k) by[k] += own * whole.by_body[static_cast<std::size_t>(b)][k];
      }
    } else {
      const Moving& p = value[step.a];
      const Moving& r = step.b >= 0 ? value[step.b] : p;
      const bool by_number = step.op == Op::power && steps[step.b].op == Op::number;
      const auto [by_a, by_b] = step.op == Op::power ? slopes_of_power(p.value, r.value, value[i].value, by_number)
                                                     : slopes(step.op, p, r, value[i].value);
      if (steps[step.a].of_bodies) worth[step.a] += own * by_a;
      if (step.b >= 0 && steps[step.b].of_bodies) worth[step.b] += own * by_b;
    }
  }
  for (std::size_t v = 0; v < vectors.size(); ++v)
    for (int n = 0; n < vectors[v].parts; ++n) {
      const CarriedVec3::Part& part = vectors[v].part[n];
      const Vec3 turned = part.lever.cross(along[v]) + part.turn * along[v];
      Moving::Gradient& by = gradient(part.body);
      for (int k = 0; k < 3; ++k) {
        by[k] += part.move * along[v][k];
        by[3 + k] += turned[k];
      }
    }
}

}  // namespace rotule
