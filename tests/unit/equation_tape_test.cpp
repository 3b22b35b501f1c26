// Equations in text by their walk back, against the same numbers carried forwards; and vectors that bodies carry against the same
// vectors component by component.
#include "model/equation_tape.h"

#include <gtest/gtest.h>

#include <random>

namespace rotule {
namespace {

std::vector<MovingBody> random_bodies(std::mt19937& random, bool by_motion, bool by_velocity) {
  std::normal_distribution<double> normal;
  const auto draw = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  std::vector<MovingBody> bodies(3);
  for (int b = 0; b < 3; ++b) {
    MovingBody& body = bodies[static_cast<std::size_t>(b)];
    body.p = draw();
    body.offset = 0.3 * draw();
    body.R = Eigen::AngleAxisd(0.4 * normal(random), draw().normalized()).toRotationMatrix();
    body.v = body.dp = draw();
    body.omega = body.turn = draw();
    body.index = b;
    body.by_motion = by_motion;
    body.by_velocity = by_velocity;
    body.turns = b != 2;
  }
  return bodies;
}

void expect_same(const Moving& a, const Moving& b, const std::string& what) {
  const double size = 1 + std::abs(b.value) + std::abs(b.first) + std::abs(b.second);
  EXPECT_NEAR(a.value, b.value, 1e-14 * size) << what;
  EXPECT_NEAR(a.first, b.first, 1e-14 * size) << what;
  EXPECT_NEAR(a.second, b.second, 1e-13 * size) << what;
  EXPECT_NEAR(a.by_time, b.by_time, 1e-14 * size) << what;
  EXPECT_EQ(a.of_velocities, b.of_velocities) << what;
  EXPECT_EQ(a.of_time, b.of_time) << what;
  for (std::size_t k = 0; k < Moving::most_parameters; ++k)
    EXPECT_NEAR(a.by_parameter[k], b.by_parameter[k], 1e-13 * size) << what;
  for (int body = 0; body < 3; ++body)
    for (std::size_t k = 0; k < 6; ++k) {
      const auto by = [&](const Moving& m) { return body < m.bodies ? m.by_body[static_cast<std::size_t>(body)][k] : 0.0; };
      EXPECT_NEAR(by(a), by(b), 1e-13 * (size + std::abs(by(b)))) << what << " body " << body << " motion " << k;
    }
}

/// All of what an equation may ask for, gradients too.
Moving value_of(const EquationLeaf& leaf, MovingBodies q, std::span<const Moving> s) {
  using Kind = EquationLeaf::Kind;
  if (leaf.kind == Kind::parameter) return s[static_cast<std::size_t>(leaf.body)];
  const MovingBody& body = q[static_cast<std::size_t>(leaf.body)];
  if (leaf.kind == Kind::velocity) return body.velocity(leaf.at).component(leaf.component);
  if (leaf.kind == Kind::spin) return body.spin().component(leaf.component);
  if (leaf.kind == Kind::axis) return body.direction(Vec3::Unit(leaf.axis)).component(leaf.component);
  if (leaf.kind == Kind::point) return body.point(leaf.at).component(leaf.component);
  const int i = (leaf.component + 1) % 3, j = (leaf.component + 2) % 3;
  const CarriedVec3 x = body.direction(Vec3::Unit(i)), y = body.direction(Vec3::Unit(j));
  return atan2(x.component(j) - y.component(i), x.component(i) + y.component(j));
}

/// The program as it stands, on numbers that carry all their derivatives.
template <class Variable>
Moving forwards_through(const Expression& expression, const Moving& t, Variable&& variable) {
  std::vector<Moving> stack;
  for (const Expression::Step& step : expression.program()) {
    if (step.op == Expression::Op::number) {
      stack.emplace_back(step.number);
    } else if (step.op == Expression::Op::time) {
      stack.push_back(t);
    } else if (step.op == Expression::Op::variable) {
      stack.push_back(variable(step.variable));
    } else if (Expression::takes_two(step.op)) {
      const Moving second = stack.back();
      stack.pop_back();
      stack.back() = Expression::apply(step.op, stack.back(), second);
    } else {
      stack.back() = Expression::apply(step.op, stack.back(), 0.0);
    }
  }
  return stack.back();
}

TEST(EquationTape, WalksBackToTheGradientsThatGoForwards) {
  using Kind = EquationLeaf::Kind;
  const std::vector<EquationLeaf> leaves = {{.kind = Kind::point, .body = 0, .at = Vec3(0.1, 0.2, -0.3), .component = 0},
                                            {.kind = Kind::point, .body = 0, .at = Vec3(0.1, 0.2, -0.3), .component = 2},
                                            {.kind = Kind::point, .body = 1, .component = 1},
                                            {.kind = Kind::axis, .body = 1, .axis = 2, .component = 0},
                                            {.kind = Kind::angle, .body = 1, .component = 2},
                                            {.kind = Kind::parameter, .body = 0},
                                            {.kind = Kind::velocity, .body = 2, .component = 1},
                                            {.kind = Kind::spin, .body = 0, .component = 1}};
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "s", "v", "w"};
  VariableNames known;
  known.known = names;
  known.find = [&](const std::vector<std::string>& parts) -> std::optional<NamedVariable> {
    const auto found = std::ranges::find(names, parts[0]);
    if (found == names.end()) return std::nullopt;
    return NamedVariable{static_cast<int>(found - names.begin())};
  };
  const std::vector<std::string> texts = {"a - cos(c)",
                                          "a*b*c + a^2 - b^3 + c^0 + d^1",
                                          "sqrt((a - c)^2 + (b - d)^2 + 1) - 0.7",
                                          "a / (2 + b^2) - 3 / (4 + c^2)",
                                          "sin(a) * tan(0.3 * d) + exp(-a^2) + log(2 + a^2)",
                                          "asin(0.9 * d / 1.5) + acos(0.5 * d) + atan(a * b) + tanh(c)",
                                          "min(a, c) + max(b, d) + abs(a) - abs(-c)",
                                          "atan2(a, c) + wrap(5 * e) + e",
                                          "(2 + sin(a))^(1 + 0.1 * b)",
                                          "-a + -(-b) - (c - d)",
                                          "a * s + cos(s) * b + s^2",
                                          "t * a + sin(t) - t^2 * d",
                                          "v + a * w - t * v",
                                          "2 * v - b * w + 3 * w * c",
                                          "3 + 2 * pi * a - a"};
  std::mt19937 random(4);
  for (int turn = 0; turn < 20; ++turn)
    for (const std::string& text : texts) {
      const bool rate = text.find('v') != std::string::npos || text.find('w') != std::string::npos;
      const bool of_rates = rate && text.find("wrap") == std::string::npos;
      const std::vector<MovingBody> bodies = random_bodies(random, !of_rates, of_rates);
      Moving t(0.7);
      t.of_time = true;
      t.first = t.by_time = 1;
      std::vector<Moving> s{Moving(0.3)};
      s[0].first = 0.4;
      s[0].by_parameter[0] = 1;
      const Expression expression(text, known);
      const Moving forwards =
          forwards_through(expression, t, [&](int k) { return value_of(leaves[static_cast<std::size_t>(k)], bodies, s); });
      const EquationTape tape({&expression, 1}, leaves);
      std::vector<Moving> back(1);
      tape.evaluate(bodies, t, s, back);
      expect_same(back[0], forwards, text);
    }
}

TEST(EquationTape, DoesNothingTwice) {
  VariableNames known;
  known.find = [](const std::vector<std::string>& parts) -> std::optional<NamedVariable> {
    return NamedVariable{parts[0] == "a" ? 0 : 1};
  };
  const std::vector<EquationLeaf> leaves = {{.component = 0}, {.component = 1}};
  const std::vector<Expression> equations{Expression("sin(a - b)^2 + (a - b)", known), Expression("2 * sin(a - b)", known)};
  const EquationTape tape(equations, leaves);
  EXPECT_EQ(tape.vectors().size(), 1U);
  EXPECT_EQ(tape.slots() - tape.time() - 1, 5);  // a - b, its sine, the square, the sum, twice the sine
}

TEST(CarriedVec3, IsTheVectorOfItsComponents) {
  std::mt19937 random(9);
  for (int turn = 0; turn < 50; ++turn) {
    const bool rates = turn % 2 == 1;
    const std::vector<MovingBody> q = random_bodies(random, !rates, rates);
    const Vec3 r(0.3, -0.2, 0.5), d(0.1, 0.9, -0.4);
    const CarriedVec3 a = rates ? q[0].velocity(r) : q[0].point(r), b = rates ? q[1].spin() : q[1].direction(d),
                      c = rates ? q[2].velocity() : q[2].point(), e = rates ? q[0].spin() : q[0].direction(d);
    const MovingVec3 A = a, B = b, C = c, E = e;
    expect_same((a - b).dot(c + 0.5 * e), (A - B).dot(C + 0.5 * E), "dot");
    expect_same((a + e - c).squared_norm(), (A + E - C).squared_norm(), "square");
    expect_same((2.0 * a - (-b)).norm(), (2.0 * A - (-B)).norm(), "norm");
    expect_same((a - c).cross(b).x(), (A - C).cross(B).x(), "cross");
    expect_same((a - r).dot(d), (A - MovingVec3(r)).dot(d), "by numbers");
    expect_same((r - a + d).y(), (MovingVec3(r) - A + MovingVec3(d)).y(), "and numbers before it");
    expect_same((a.x() * b).z(), (A.x() * B).z(), "scaled");
  }
}

}  // namespace
}  // namespace rotule
