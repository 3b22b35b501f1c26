// Flow past cables, bars and hangers: the cosine law, cables in wind against their closed forms, terminal speeds, derivatives.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <numbers>

#include "dynamics/forces/force_set.h"
#include "linalg/decompositions.h"
#include "support/constants.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

VecX line_forces(const WorldImplementation& w, const State& s) {
  ForceScratch scratch;
  VecX f = VecX::Zero(s.u.size());
  add_forces(w.model, s, 0.7, 1, scratch, f);
  return f;
}

/// A line of unit length at an angle from the stream, both ends at rest: the sum of what they feel.
Vec3 force_on_line(double angle, const LineDrag& like) {
  Scene scene;
  scene.add(FlowDef(UniformFlow{.velocity = {7, 0, 0}}));
  scene.particles.push_back(
      ParticleGroup{.name = "line", .positions = {Vec3(0, 0, 0), Vec3(std::cos(angle), std::sin(angle), 0)}, .masses = {1, 1}});
  LineDrag line = like;
  line.between = {"line/0", "line/1"};
  scene.add(line);
  const World world(scene);
  const VecX f = line_forces(implementation_of(world), implementation_of(world).state);
  EXPECT_LT((f.head<3>() - f.tail<3>()).norm(), 1e-12);
  return f.head<3>() + f.tail<3>();
}

TEST(LineDrag, AnInclinedLineFollowsTheCosineLaw) {
  // What comes across it, U sin(angle), alone counts: drag falls as sin^3, and it is pushed aside by sin^2 cos.
  const double k = 0.5 * 1.3 * 0.02 * 1.1, U = 7;
  for (const double angle : {0.0, 0.3, 0.8, pi / 2, 2.0}) {
    const Vec3 F = force_on_line(angle, {.diameter = 0.02, .density = 1.3, .across = 1.1});
    const double s = std::sin(angle), c = std::cos(angle);
    EXPECT_NEAR(F.x(), k * U * U * s * s * s, 1e-12) << angle;
    EXPECT_NEAR(F.y(), -k * U * U * s * s * c, 1e-12) << angle;
    EXPECT_NEAR(F.z(), 0, 1e-12);
  }
  // Along it there is skin friction on pi d.
  const Vec3 F = force_on_line(0, {.diameter = 0.02, .density = 1.3, .across = 1.1, .along = 0.01});
  EXPECT_NEAR(F.x(), 0.5 * 1.3 * pi * 0.02 * 0.01 * U * U, 1e-14);
}

TEST(LineDrag, DerivativesAreThoseOfTheForces) {
  Scene scene;
  scene.add({.name = "bar",
             .mass = 3.0,
             .position = {0.3, 0.2, 4},
             .orientation = Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, -1).normalized())),
             .velocity = {0.5, -1, 0.2},
             .angular_velocity = {0.4, 0.8, -0.6},
             .shape = Box{{0.6, 1.2, 0.1}}});
  scene.particles.push_back(ParticleGroup{.name = "node",
                                          .positions = {Vec3(1.4, 0.9, 3.1), Vec3(2, -1, 5)},
                                          .velocities = {Vec3(0.3, 0.4, -0.9)},
                                          .masses = {1, 1}});
  scene.add(FlowDef(PowerLawFlow{.speed = 9}));
  scene.add(FlowDef(WaveFlow{.direction = {1, 0.5, 0}, .amplitude = 0.4, .depth = 6.0, .level = 5.05}));
  const LineDrag line{.diameter = 0.3, .density = 20, .across = 1.2, .along = 0.4};
  for (const auto& [a, b, from, to] : {std::tuple("bar", "node/0", std::optional(Vec3(0.5, 0.1, 4.1)), std::optional<Vec3>()),
                                       std::tuple("node/0", "node/1", std::optional<Vec3>(), std::optional<Vec3>()),
                                       std::tuple("node/1", "world", std::optional<Vec3>(), std::optional(Vec3(0, 0, 1)))}) {
    LineDrag one = line;
    one.between = {a, b};
    one.from = from;
    one.to = to;
    scene.add(one);
  }
  const World world(scene);
  const WorldImplementation& w = implementation_of(world);
  const State& s = w.state;
  const auto size = s.u.size();
  MatX by_q = MatX::Zero(size, size), by_u = by_q, positive = by_q;
  const auto into = [](MatX& to) {
    return [&to](int row, int column, const Mat3& block) { to.block<3, 3>(3 * row, 3 * column) += block; };
  };
  auto q_sink = into(by_q), u_sink = into(by_u), positive_sink = into(positive);
  add_force_derivatives(w.model, s, 0.7, 0, 1, false, q_sink);
  add_force_derivatives(w.model, s, 0.7, 1, 0, false, u_sink);
  constexpr double step = 1e-6;
  for (Eigen::Index k = 0; k < size; ++k) {
    VecX sigma = VecX::Zero(size);
    sigma[k] = step;
    State more = s, less = s;
    displace(s, sigma, more);
    displace(s, -sigma, less);
    const VecX by_place = (line_forces(w, more) - line_forces(w, less)) / (2 * step);
    EXPECT_LT((by_place - by_q.col(k)).norm(), 1e-6 * by_q.norm()) << "motion " << k;
    more = less = s;
    more.u[k] += step;
    less.u[k] -= step;
    const VecX by_velocity = (line_forces(w, more) - line_forces(w, less)) / (2 * step);
    EXPECT_LT((by_velocity - by_u.col(k)).norm(), 1e-7 * by_u.norm()) << "velocity " << k;
  }
  // What a positive matrix takes is symmetric and takes energy away.
  add_force_derivatives(w.model, s, 0.7, 1, 1, true, positive_sink);
  EXPECT_LT((positive - positive.transpose()).norm(), 1e-12 * positive.norm());
  EXPECT_LT(symmetric_eigen(positive).values.maxCoeff(), 1e-9 * positive.norm());
}

/// A cable of 10 m between two points, of this length, in wind across it, come to rest.
struct BlownCable {
  std::vector<Vec3> points;
  double tension = 0;  // N, of the element in the middle

  BlownCable(Cable cable, double wind, double gravity) {
    Scene scene;
    scene.gravity = {0, 0, -gravity};
    scene.add(cable);
    scene.add(FlowDef(UniformFlow{.velocity = {0, wind, 0}}));
    World world(scene, recipes::exact());
    const RelaxationReport report = relax(world, {.force_tolerance = 1e-6, .linear_tolerance = 1e-4, .max_iterations = 6000});
    EXPECT_TRUE(report.reached) << report.force;
    for (int k = 0; k <= cable.elements; ++k) points.push_back(world.particle_position(k));
    const auto middle = static_cast<std::size_t>(cable.elements / 2);
    const double rest = cable.length.value_or(10) / cable.elements;
    tension = cable.youngs_modulus * cable.area * ((points[middle] - points[middle - 1]).norm() / rest - 1);
  }
};

TEST(LineDrag, ASlackCableInWindIsACatenary) {
  // Wind across it alone pushes each piece along its normal by k U^2 cos^2 of its inclination: the tension T is the same
  // everywhere, T dphi/ds = k U^2 cos^2 phi, tan phi = s / a with a = T/(k U^2), which is a catenary.
  constexpr double span = 10, length = 12, wind = 30, E = 1e10, A = 1e-3;
  // It is stretched by the same T/(E A) everywhere.
  const double k = 0.5 * 1.225 * 0.04 * 1.2, stretch = length * k * wind * wind / (E * A);
  double a = 5;
  for (int i = 0; i < 100; ++i) {
    const double f = 2 * a * std::sinh(span / (2 * a)) - length - stretch * a;
    a -= f / (2 * std::sinh(span / (2 * a)) - span / a * std::cosh(span / (2 * a)));
  }
  const double sag = a * (std::cosh(span / (2 * a)) - 1);
  std::array<double, 2> errors{};
  for (std::size_t n = 0; n < 2; ++n) {
    Cable cable{.name = "cable",
                .to = {span, 0, 0},
                .elements = n == 0 ? 32 : 64,
                .length = length,
                .youngs_modulus = E,
                .area = A,
                .drag = LineCoefficients{.diameter = 0.04}};
    const BlownCable found(cable, wind, 1e-9);
    for (const Vec3& p : found.points)
      errors[n] = std::max(errors[n], std::abs(p.y() - (sag - a * (std::cosh((p.x() - span / 2) / a) - 1))));
    EXPECT_NEAR(found.tension, k * wind * wind * a, 2e-3 * k * wind * wind * a) << cable.elements;
  }
  EXPECT_LT(errors[1], 1e-3 * sag);
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.5);
}

TEST(LineDrag, ATautCableHangsInTheResultantOfWeightAndWind) {
  // q^2 = (rho A g)^2 + (k U^2)^2 in its direction, a parabola of the sag q L^2/(8 T); T = E A (e + (q L/T)^2/24), e being the
  // strain that it is laid out with.
  constexpr double span = 10, strain = 1e-3, wind = 35, E = 1.6e11, A = 1e-4;
  const double weight = 7850 * A / (1 + strain) * g, push = 0.5 * 1.225 * 0.03 * 1.2 * wind * wind, q = std::hypot(weight, push);
  double T = E * A * strain;
  for (int i = 0; i < 50; ++i) T = E * A * (strain + q * q * span * span / (24 * T * T));
  const double sag = q * span * span / (8 * T);
  Cable cable{.name = "cable",
              .to = {span, 0, 0},
              .elements = 40,
              .length = span / (1 + strain),
              .area = A,
              .drag = LineCoefficients{.diameter = 0.03}};
  const BlownCable found(cable, wind, g);
  const Vec3 direction = Vec3(0, push, -weight) / q;
  for (const Vec3& p : found.points) {
    const double s = p.x() / span;
    EXPECT_LT((Vec3(0, p.y(), p.z()) - 4 * sag * s * (1 - s) * direction).norm(), 2e-3 * sag);
  }
  EXPECT_NEAR(found.tension, T, 1e-3 * T);
}

TEST(LineDrag, AFallingCableReachesItsTerminalSpeed) {
  // v = v_t tanh(g t / v_t), v_t^2 = m g / (k L), lying flat.
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add(Cable{.name = "cable",
                  .to = {2, 0, 0},
                  .elements = 4,
                  .youngs_modulus = 1e6,
                  .area = 1e-4,
                  .density = 900,
                  .start_on = "",
                  .end_on = "",
                  .drag = LineCoefficients{}});
  Recipe recipe = recipes::exact();
  recipe.dt = 1e-3;
  World world(scene, recipe);
  const double d = std::sqrt(4e-4 / pi), k = 0.5 * 1.225 * d * 1.2, v_t = std::sqrt(900 * 1e-4 * g / k);
  for (int i = 0; i < 2000; ++i) world.step();
  for (int n = 0; n <= 4; ++n) EXPECT_NEAR(world.particle_velocity(n).z(), -v_t * std::tanh(2 * g / v_t), 1e-7 * v_t) << n;
}

TEST(LineDrag, LightLinesInStrongWindTakeLongImplicitSteps) {
  // The stream takes a thread along within a microsecond: implicit methods need not follow that.
  for (const char* integrator : {"implicit_euler", "bdf2"}) {
    Scene scene;
    scene.gravity.setZero();
    scene.add(Cable{.name = "thread",
                    .to = {1, 0, 0},
                    .elements = 8,
                    .length = 1.2,
                    .youngs_modulus = 1e11,
                    .area = 1e-6,
                    .density = 100,
                    .drag = LineCoefficients{.diameter = 0.05, .density = 1000}});
    scene.add(FlowDef(UniformFlow{.velocity = {0, 4, 0}}));
    Recipe recipe = recipes::exact();
    recipe.dt = 0.01;
    set(recipe, "integrator", integrator);
    World world(scene, recipe);
    for (int i = 0; i < 300; ++i) world.step();
    // It has come to rest as a catenary of any drag has: the sag of 1.2 m on 1 m.
    double a = 0.5;
    for (int i = 0; i < 100; ++i) a -= (2 * a * std::sinh(0.5 / a) - 1.2) / (2 * std::sinh(0.5 / a) - std::cosh(0.5 / a) / a);
    EXPECT_NEAR(world.particle_position(4).y(), a * (std::cosh(0.5 / a) - 1), 0.02) << integrator;
    EXPECT_LT(world.particle_velocity(4).norm(), 0.02) << integrator;
  }
}

TEST(LineDrag, StructuresTakeItAndScenesKeepIt) {
  const Scene scene = parse_scene(R"({"rotule": 1, "structures": [
      {"truss": {"name": "bridge", "to": [8, 0, 0], "bays": 2, "drag": {"across": 1.1}}},
      {"cable": {"name": "guy", "from": [0, 9, 0], "to": [3, 9, 0], "elements": 3, "drag": {"diameter": 0.05, "along": 0.01}}},
      {"suspension_bridge": {"name": "deck", "from": [0, 50, 0], "to": [100, 50, 0], "elements": 4, "shear_modulus": 5e10,
          "cable_drag": {}, "hanger_drag": {"across": 1}}}],
      "flows": [{"power_law": {"speed": 10}}]})");
  int bars = 0, cables = 0, hangers = 0;
  double twist = 0;
  for (const ForceDef& force : scene.forces) {
    if (const auto* spring = std::get_if<TorsionSpring>(&force); spring != nullptr && spring->name == "deck_deck/1/twist")
      twist = spring->stiffness;
    const auto* line = std::get_if<LineDrag>(&force);
    if (line == nullptr) continue;
    bars += line->name.starts_with("bridge") ? 1 : 0;
    cables += line->name.starts_with("guy") ? 1 : 0;
    if (line->name.find("hanger") != line->name.npos) {
      ++hangers;
      EXPECT_NEAR(line->diameter, std::sqrt(4e-3 / pi), 1e-12);
    }
  }
  // 5 bars at each of 3 stations, 8 in each of 2 bays.
  EXPECT_EQ(bars, 31);
  EXPECT_EQ(cables, 3);
  EXPECT_EQ(hangers, 8);
  EXPECT_NEAR(twist, 5e10 * 0.05 / 25, 1);
  EXPECT_EQ(to_json(parse_scene(to_json(scene))), to_json(scene));
  World world(scene, recipes::exact());
  world.step(1e-5);
}

std::string refusal_of_line(const std::string& line) {
  try {
    const Scene scene = parse_scene(R"({"rotule": 1, "particles": [{"name": "p", "positions": [[0, 0, 0], [1, 0, 0], [1, 0, 0]],
        "masses": [1, 1, 1]}], "forces": [{"line_drag": )" +
                                    line + "}]}");
    World world(scene, recipes::exact());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LineDrag, WhatMakesNoSenseIsRefusedByPlace) {
  EXPECT_NE(refusal_of_line(R"({"between": ["p/0", "p/1"]})").find("diameter"), std::string::npos);
  EXPECT_NE(refusal_of_line(R"({"between": ["p/0", "p/0"], "diameter": 1})").find("two different ends"), std::string::npos);
  EXPECT_NE(refusal_of_line(R"({"between": ["p/1", "p/2"], "diameter": 1})").find("in the same place"), std::string::npos);
  EXPECT_NE(refusal_of_line(R"({"between": ["p/0", "world"], "diameter": 1})").find("missing key \"to\""), std::string::npos);
  EXPECT_NE(refusal_of_line(R"({"between": ["p/0", "p/1"], "diameter": -1})").find("diameter"), std::string::npos);
  EXPECT_EQ(refusal_of_line(R"({"between": ["p/0", "p/1"], "diameter": 1})"), "");
}

}  // namespace
}  // namespace rotule
