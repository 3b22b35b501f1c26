// Equations of constraints as text: what they mean, how they come back from files, and what is said of those that make no sense.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <string>

#include "support/runs.h"

namespace rotule {
namespace {

std::string constrained_scene(const std::string& constraint) {
  return R"js({"rotule": 1, "bodies": [
    {"name": "crank", "mass": 1, "inertia": [1, 1, 1], "position": [0.5403023058681398, 1, 0]},
    {"name": "left arm", "mass": 2, "inertia": [1, 1, 1], "position": [0, 3, 0]},
    {"name": "third", "mass": 2, "inertia": [1, 1, 1], "position": [0, 5, 0]}],
    "joints": [{"constraint": )js" +
         constraint + R"js(}], "recipe": "exact"})js";
}

std::string complaint_about(const std::string& constraint) {
  try {
    const Scene scene = parse_scene(constrained_scene(constraint));
    World world(scene);
    for (int i = 0; i < 400; ++i) world.step(1e-2);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ConstraintText, MeansWhatTheSameFunctionDoes) {
  const Scene text =
      parse_scene(constrained_scene(R"js({"between": ["world", "crank"], "equation": "crank.x - cos(crank.y)"})js"));
  Scene function = text;
  function.joints.clear();
  function.add_constraint({"crank"}, [](auto q, auto) { return q[0].x() - cos(q[0].y()); });
  Recipe recipe = recipes::exact();
  World a(text, recipe), b(function, recipe);
  run_for(a, 0.5);
  run_for(b, 0.5);
  EXPECT_EQ(difference(a, b), 0.0);
}

TEST(ConstraintText, KnowsPointsAxesAnglesVelocitiesConstantsAndParameters) {
  const Scene text = parse_scene(constrained_scene(
      R"js({"between": ["crank", "left arm"], "more": ["third"],
          "equation": ["tip.x * 'left arm'.axis_x.y + k * third.angle_z - 0.1 * t", "max(third.x, -5) + atan2(tip.y, 2)"],
          "points": [{"name": "tip", "body": "crank", "at": [0.1, 0.2, 0.3]}],
          "constants": [{"name": "k", "value": 2.5}], "breaking_force": 100})js"));
  Scene function = text;
  function.joints.clear();
  function.add_constraint({"crank", "left arm", "third"}, [](auto q, auto t) {
    const auto tip = q[0].point(Vec3(0.1, 0.2, 0.3));
    const auto x = q[2].direction(Vec3::UnitX()), y = q[2].direction(Vec3::UnitY());
    return std::array{tip.x() * q[1].direction(Vec3::UnitX()).y() + 2.5 * atan2(x.y() - y.x(), x.x() + y.y()) - 0.1 * t,
                      max(q[2].x(), Moving(-5.0)) + atan2(tip.y(), Moving(2.0))};
  });
  // Closed by projection first, the same way.
  World a(text, recipes::exact()), b(function, recipes::exact());
  run_for(a, 0.1);
  run_for(b, 0.1);
  EXPECT_LT(difference(a, b), 1e-12);

  const Scene rate =
      parse_scene(constrained_scene(R"js({"between": ["world", "crank"], "equation": "crank.vx + crank.y * crank.wz"})js"));
  EXPECT_NO_THROW(World(rate, recipes::exact()));
  const Scene curve = parse_scene(constrained_scene(
      R"js({"between": ["world", "crank"], "equation": ["crank.x - cos(s)", "crank.y - s", "crank.z"],
          "parameters": [{"name": "s", "from": -20, "to": 20}]})js"));
  World on_curve(curve, recipes::exact());
  run_for(on_curve, 0.1);
  EXPECT_NEAR(on_curve.position("crank").x(), std::cos(on_curve.position("crank").y()), 1e-12);
}

TEST(ConstraintText, ComesBackFromAFile) {
  const std::string one =
      R"js({"between": ["world", "crank"], "equation": "crank.x - cos(crank.y)", "at_least": 0, "restitution": 0.5})js";
  const std::string many = R"js({"between": ["crank", "left arm"], "more": ["third"], "equation": ["third.x + s", "tip.y - k"],
    "points": [{"name": "tip", "body": "crank", "at": [1, 0, 0]}], "constants": [{"name": "k", "value": 1}],
    "parameters": [{"name": "s", "from": -1, "to": 1, "periodic": true}]})js";
  for (const std::string& constraint : {one, many}) {
    const Scene scene = parse_scene(constrained_scene(constraint));
    const std::string written = to_json(scene);
    EXPECT_EQ(to_json(parse_scene(written)), written);
    const auto& was = std::get<Constraint>(scene.joints[0]);
    const Scene again = parse_scene(written);
    const auto& is = std::get<Constraint>(again.joints[0]);
    EXPECT_EQ(was.equation, is.equation);
    EXPECT_EQ(was.points, is.points);
    EXPECT_EQ(was.constants, is.constants);
    EXPECT_EQ(was.parameters, is.parameters);
    EXPECT_EQ(was.at_least, is.at_least);
    EXPECT_EQ(was.more, is.more);
  }
}

TEST(ConstraintText, SaysWhatMakesNoSense) {
  const auto equation = [](const std::string& text) {
    return complaint_about(R"js({"between": ["world", "crank"], "equation": ")js" + text + R"js("})js");
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(equation("crnk.x"), "unknown name \"crnk.x\"; did you mean");
  has(equation("crank.x + crank.q"), "behind >>>");
  has(equation("crank.x + crank.q"), ">>>crank.q");
  has(equation("crank.x +"), "missing");
  has(equation("(crank.x"), "missing");
  has(equation("crank.x / 0"), "not a finite number where its bodies stand");
  has(equation("crank.x * 1/0"), "not a finite number");
  has(equation("crank.x * 10^999"), "not a finite number");
  has(equation(std::string(50, '(') + "crank.x" + std::string(50, ')')), "nested more than");
  std::string long_sum = "crank.x";
  for (int i = 0; i < 6000; ++i) long_sum += " + crank.y";
  has(equation(long_sum), "more than 10000 terms");
  has(equation("sqrt(-1 - crank.x^2)"), "not a finite number where its bodies stand");
  has(equation("crank.vx^2 - 1"), "not linear in velocities");
  has(equation("crank.angle_z * crank.vy"), "asks nothing of velocities where its bodies stand");
  // What has no gradient where it is zero holds nothing; of what is at least something it is only out of force there.
  has(equation("(crank.x - 0.5403023058681398)^2"), "does not change to first order where its bodies stand");
  EXPECT_EQ(
      complaint_about(R"js({"between": ["world", "crank"], "equation": "(crank.x - 0.5403023058681398)^2", "at_least": -1})js"),
      "");
  has(equation("'left arm.x"), "closing");
  has(complaint_about(R"js({"between": ["world", "crank"]})js"), "missing key \"equation\"");
  has(complaint_about(R"js({"between": ["world", "crank"], "equation": []})js"), "must be an equation");
  has(complaint_about(R"js({"between": ["world", "crank"], "equation": "s", "parameters": [{"name": "s"}]})js"), "take away");
  has(complaint_about(
          R"js({"between": ["world", "crank"], "equation": "crank.x - k", "constants": [{"name": "t", "value": 1}]})js"),
      "taken already");
  has(complaint_about(R"js({"between": ["world", "crank"], "equation": "p.x", "points": [{"name": "p", "body": "nobody"}]})js"),
      "none of the constraint's bodies");
}

TEST(ConstraintText, ThatTurnsIntoNoNumberEndsTheRunByName) {
  // It holds the crank's height on a curve that ends where the root does.
  const std::string text = complaint_about(
      R"js({"name": "edge", "between": ["world", "crank"], "equation": "crank.x - 0.5403023058681398 + sqrt(0.3 + crank.z) - sqrt(0.3)"})js");
  EXPECT_NE(text.find("edge"), std::string::npos) << text;
  EXPECT_NE(text.find("no longer"), std::string::npos) << text;
}

}  // namespace
}  // namespace rotule
