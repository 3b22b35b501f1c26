// `rotule modes` as a user calls it: along a motion, with contacts as springs, and as a file for the design of control, all
// against textbook figures.
#include <gtest/gtest.h>
#include <rotule/scene.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "support/cli.h"
#include "support/constants.h"

namespace rotule {
namespace {

using testing::content;
using testing::g;
using testing::Result;
using ModesCli = testing::Cli;
using Json = nlohmann::json;
using std::numbers::pi;

/// A bar that hangs from a hinge about y, turned by an angle.
struct Bar {
  double mass = 2, inertia = 0.1, length = 0.6, stiffness = 0, damping = 0, angle = 0;

  [[nodiscard]] double about_pin() const { return mass * length * length + inertia; }
  [[nodiscard]] std::string json() const {
    Scene scene;
    scene.gravity = {0, 0, -g};
    scene.add({.name = "bar",
               .mass = mass,
               .inertia = Mat3(inertia * Mat3::Identity()),
               .position = {-length * std::sin(angle), 0, -length * std::cos(angle)}});
    scene.add(Hinge{
        .name = "pin", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = {.stiffness = stiffness, .damping = damping}});
    scene.recipe = recipes::exact();
    scene.recipe.dt = 1e-3;
    scene.recipe.duration = 1;
    return to_json(scene);
  }
  /// Its angle after so many seconds, from rest, by steps of its own.
  [[nodiscard]] double angle_at(double t) const {
    constexpr int steps = 20000;
    const double h = t / steps;
    const auto f = [&](double q) { return -mass * g * length / about_pin() * std::sin(q); };
    double q = angle, w = 0;
    for (int i = 0; i < steps; ++i) {
      const double q1 = w, w1 = f(q), q2 = w + h / 2 * w1, w2 = f(q + h / 2 * q1), q3 = w + h / 2 * w2, w3 = f(q + h / 2 * q2),
                   q4 = w + h * w3, w4 = f(q + h * q3);
      q += h / 6 * (q1 + 2 * q2 + 2 * q3 + q4);
      w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
    return q;
  }
};

TEST_F(ModesCli, AlongAMotionAreThoseOfItsPoses) {
  const Bar bar{.angle = 0.9};
  const std::string scene = file("bar.json", bar.json());
  const Result result = rotule("modes " + scene + " --every 0.25 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json poses = Json::parse(result.out)["poses"];
  ASSERT_EQ(poses.size(), 5u);
  double slowest = infinity, fastest = 0;
  for (int k = 0; k < 5; ++k) {
    const double t = 0.25 * k, q = bar.angle_at(t);
    EXPECT_NEAR(poses[k]["time"].get<double>(), t, 1e-12);
    ASSERT_EQ(poses[k]["modes"].size(), 1u);
    // At rest in this pose: J w^2 = m g l cos q, and it would fall by m g l sin q / J.
    const double expected = std::sqrt(bar.mass * g * bar.length * std::cos(q) / bar.about_pin()) / (2 * pi);
    const double found = poses[k]["modes"][0]["frequency"].get<double>();
    EXPECT_NEAR(found, expected, 1e-7) << t;
    slowest = std::min(slowest, found);
    fastest = std::max(fastest, found);
  }
  EXPECT_GT(fastest - slowest, 0.05);

  const Result table = rotule("modes " + scene + " --every 0.5 --at 0.5");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 4) << table.out;  // two lines of heading, and two poses
  expect_refusal(rotule("modes " + scene + " --every -1"), "--every", "a step back");
  expect_refusal(rotule("modes " + scene + " --every 1e-9"), "more than 100000 poses", "too many poses");
}

TEST_F(ModesCli, ContactsAreSprings) {
  constexpr double m = 12, a = 0.3, b = 0.2, h = 0.25, k = 5e4;
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.materials.push_back({.name = "rough", .friction = 0.6});
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rough"});
  scene.add({.name = "box", .mass = m, .position = {0, 0, h}, .shape = Box{Vec3(2 * a, 2 * b, 2 * h)}, .material = "rough"});
  const std::string name = file("box.json", to_json(scene));
  const Result result = rotule("modes " + name + " --contacts --contact-stiffness 50000 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json out = Json::parse(result.out);
  EXPECT_EQ(out["contacts"]["pressed"], 4);
  EXPECT_EQ(out["contacts"]["slipping"], 0);
  // What sticks heaves, and rocks about the floor along its two edges, the weight tipping it over.
  const double Ix = m * (b * b + h * h) / 3 + m * h * h, Iy = m * (a * a + h * h) / 3 + m * h * h;
  std::vector<double> expected{std::sqrt(4 * k / m), std::sqrt((4 * k * b * b - m * g * h) / Ix),
                               std::sqrt((4 * k * a * a - m * g * h) / Iy)};
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(out["modes"].size(), 3u);
  std::vector<double> found;
  for (const Json& mode : out["modes"]) found.push_back(2 * pi * mode["frequency"].get<double>());
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6 * expected[i]);
  EXPECT_NE(rotule("modes " + name + " --contacts --contact-stiffness 50000").out.find("contacts held: 4\n"), std::string::npos);
  // Rigid as they are, nothing is left to move; without contacts the box falls freely.
  EXPECT_EQ(Json::parse(rotule("modes " + name + " --contacts --json").out)["modes"].size(), 0u);
  EXPECT_EQ(Json::parse(rotule("modes " + name + " --json").out).count("contacts"), 0u);
  expect_refusal(rotule("modes " + name + " --contact-stiffness 50000"), "--contacts", "a stiffness of nothing");
}

TEST_F(ModesCli, AStateSpaceIsWrittenForTheDesignOfControl) {
  const Bar bar{.stiffness = 5, .damping = 0.7};
  const std::string scene = file("bar.json", bar.json());
  const double J = bar.about_pin(), K = bar.stiffness + bar.mass * g * bar.length;
  expect_refusal(rotule("modes " + scene + " --state-space out.txt"), "must end in .json, .csv or .h5", "another ending");
  expect_refusal(rotule("modes " + scene + " --state-space out.json --every 0.5"), "--every", "along a motion");
  expect_refusal(rotule("modes " + scene + " --state-space out.json --axes nobody"), "nobody", "an axis that is not there");

  ASSERT_EQ(rotule("modes " + scene + " --state-space out.json").status, 0);
  const Json s = Json::parse(content(cwd() / "out.json"));
  ASSERT_EQ(s["states"].size(), 2u);
  ASSERT_EQ(s["inputs"].size(), 1u);
  EXPECT_NE(s["inputs"][0].get<std::string>().find("pin"), std::string::npos);
  const auto at = [&](const char* M, std::size_t i, std::size_t k) { return s[M][i][k].get<double>(); };
  // J q'' = u - K q - d q': whatever the states are, what goes from u to q has these markers: C B = 0, C A B = 1/J, and A the
  // trace -d/J and the determinant K/J.
  double CB = 0, CAB = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    CB += at("C", 0, i) * at("B", i, 0);
    for (std::size_t k = 0; k < 2; ++k) CAB += at("C", 0, i) * at("A", i, k) * at("B", k, 0);
  }
  EXPECT_NEAR(CB, 0, 1e-12);
  EXPECT_NEAR(CAB, 1 / J, 1e-10);
  EXPECT_NEAR(at("A", 0, 0) + at("A", 1, 1), -bar.damping / J, 1e-10);
  EXPECT_NEAR(at("A", 0, 0) * at("A", 1, 1) - at("A", 0, 1) * at("A", 1, 0), K / J, 1e-9);
  EXPECT_NEAR(at("D", 0, 0), 0, 1e-12);

  // The same numbers as a table: a line per row, the matrix's name first.
  ASSERT_EQ(rotule("modes " + scene + " --state-space out.csv").status, 0);
  std::istringstream table(content(cwd() / "out.csv"));
  std::string line;
  ASSERT_TRUE(std::getline(table, line));
  double first = 0, second = 0;
  ASSERT_EQ(std::sscanf(line.c_str(), "A,%lf,%lf", &first, &second), 2) << line;
  EXPECT_EQ(first, at("A", 0, 0));
  EXPECT_EQ(second, at("A", 0, 1));
}

}  // namespace
}  // namespace rotule
