// A light chain under high tension: 20 links of 1 kg that carry 1000 or 1e6 kg, plucked sideways. Frame-rate steps must hold it
// (F1), and small steps must show the frequencies of the string.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "scenes/builders.h"
#include "support/constants.h"

namespace rotule {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
using testing::g;

struct Pluck {
  std::string body;
  Vec3 impulse;
};

Scene plucked(double weight, double dt, const std::vector<Pluck>& plucks) {
  Scene scene = scenes::hanging_chain(weight);
  scene.recipe.dt = dt;
  if (!plucks.empty()) scene.impulses.clear();
  for (const Pluck& p : plucks) scene.impulses.push_back({.body = p.body, .impulse = p.impulse});
  return scene;
}

struct Outcome {
  double joint_error = 0;  // largest over all steps
  double growth = 0;       // by how much the energy ever rose above its least value so far, J
  double start_kinetic = 0, end_kinetic = 0;
  double magnitude = 0;  // sum of the sizes of the terms that make up the energy, J
  bool blew_up = false;
};

Outcome swing(const Scene& scene, double seconds) {
  Outcome out;
  World world(scene);
  Diagnostics now = world.diagnostics();
  out.start_kinetic = now.kinetic_energy;
  out.magnitude = now.kinetic_energy + std::abs(now.potential_energy);
  double least = now.energy();
  const int steps = int(std::lround(seconds / scene.recipe.dt));
  try {
    for (int i = 0; i < steps; ++i) {
      world.step();
      now = world.diagnostics();
      out.joint_error = std::max(out.joint_error, now.joint_error.position);
      out.growth = std::max(out.growth, now.energy() - least);
      least = std::min(least, now.energy());
    }
  } catch (const Error&) {
    out.blew_up = true;
  }
  out.end_kinetic = now.kinetic_energy;
  return out;
}

TEST(HangingChain, HoldsAnyTensionAtSixtyStepsPerSecond) {
  for (const double weight : {1000.0, 1e6}) {
    const Outcome run = swing(plucked(weight, 1.0 / 60, {}), 60);  // 10 N s in the middle
    EXPECT_FALSE(run.blew_up);
    EXPECT_LT(run.joint_error, 1e-8) << weight;
    // Nothing but the rounding of positions and of the sum: m g z of 21 bodies, of which the weight's is almost all.
    EXPECT_LE(run.growth, 10 * epsilon * run.magnitude) << weight;
    EXPECT_NEAR(run.start_kinetic, 61.285, 1e-3) << weight;
  }
}

TEST(HangingChain, HoldsAtOtherStepsAndHarderPlucks) {
  const std::vector<std::vector<Pluck>> ways{
      {{"link_10", Vec3(100, 0, 0)}},
      {{"link_10", Vec3(10, 0, 0)}, {"link_7", Vec3(0, 10, 0)}},
      {{"link_10", Vec3(100, 0, 0)}, {"link_7", Vec3(0, 100, 0)}},
      {{"link_17", Vec3(0, 100, 0)}},
      {{"link_3", Vec3(-20, 30, 5)}},
  };
  for (const double weight : {1000.0, 1e6})
    for (const double dt : {1.0 / 30, 1.0 / 60, 1.0 / 120})
      for (const auto& way : ways) {
        const Outcome run = swing(plucked(weight, dt, way), 10);
        EXPECT_FALSE(run.blew_up);
        EXPECT_LT(run.joint_error, 1e-8) << weight << " " << dt << " " << way[0].body;
        // Projection may leave 1e-13 m in each of 21 joints, through which the tension works.
        const double projection = 21 * 1e-13 * (weight + 20) * g;
        EXPECT_LE(run.growth, 10 * epsilon * run.magnitude + projection) << weight << " " << dt << " " << way[0].body;
        EXPECT_LT(run.end_kinetic, run.start_kinetic);
      }
}

TEST(HangingChain, WithoutGeometricStiffnessFliesApart) {
  for (const double weight : {1000.0, 1e6})
    for (const double dt : {1.0 / 30, 1.0 / 60, 1.0 / 120}) {
      Scene scene = plucked(weight, dt, {});
      scene.recipe.formulation = VelocitySettings{.geometric_stiffness = false};
      const Outcome run = swing(scene, 60);
      EXPECT_TRUE(run.blew_up || (run.joint_error > 1 && run.growth > 1)) << weight << " " << dt;
    }
}

/// Transverse motion of a string of `mass` kg and length `length` under its own weight and that of a body hung from its end:
///   (T y')' + mu w^2 y = 0,   T = (M + mu (L - z)) g,   y(0) = 0.
/// The body of mass M and inertia I (about its centre, `arm` below the hook) turns by theta:
///   w^2 (y + arm theta) = g y',   theta (1 - I w^2 / (M g arm)) = y'      at z = L.
struct HeavyString {
  double mass, length, M, I, arm;

  /// Zero at the frequencies: the end condition, cleared of its pole.
  [[nodiscard]] double end_condition(double w) const {
    const double mu = mass / length;
    const auto tension = [&](double z) { return (M + mu * (length - z)) * g; };
    // y' = s / T, s' = -mu w^2 y by the classical Runge-Kutta method.
    constexpr int n = 400;
    const double h = length / n;
    double y = 0, s = 1;
    for (int i = 0; i < n; ++i) {
      const double z = i * h, c = -mu * w * w;
      const double k1 = s / tension(z), l1 = c * y;
      const double k2 = (s + 0.5 * h * l1) / tension(z + 0.5 * h), l2 = c * (y + 0.5 * h * k1);
      const double k3 = (s + 0.5 * h * l2) / tension(z + 0.5 * h), l3 = c * (y + 0.5 * h * k2);
      const double k4 = (s + h * l3) / tension(z + h), l4 = c * (y + h * k3);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      s += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    const double slope = s / tension(length), free = 1 - I * w * w / (M * g * arm);
    return free * (w * w * y - g * slope) + w * w * arm * slope;
  }

  [[nodiscard]] std::vector<double> frequencies(int count) const {
    std::vector<double> out;
    const double step = 0.01;
    for (double w = step; static_cast<int>(out.size()) < count; w += step) {
      double a = w, b = w + step;
      const bool sign = end_condition(a) > 0;
      if (sign == (end_condition(b) > 0)) continue;
      for (int i = 0; i < 50; ++i) {
        const double middle = 0.5 * (a + b);
        ((end_condition(middle) > 0) == sign ? a : b) = middle;
      }
      out.push_back(a);
    }
    return out;
  }
};

/// The chain at rest, with a fine step of the acceleration level.
Scene resolved(double dt) {
  Scene scene = scenes::hanging_chain(1000);
  scene.impulses.clear();
  scene.recipe = recipes::exact();
  scene.recipe.dt = dt;
  return scene;
}

struct Mode {
  double frequency = 0;
  VecX shape;
};

/// The transverse modes, each once: they come in pairs across and along, and only those along x are kept.
std::vector<Mode> transverse_modes(const Linearisation& l, int count) {
  const Modes modes = normal_modes(l);
  std::vector<Mode> out;
  for (Eigen::Index i = 0; static_cast<int>(out.size()) < count; ++i) {
    if (modes.squared_frequencies[i] < 0.1) continue;  // links that spin freely about their own axes
    const auto first = modes.shapes.col(i), second = modes.shapes.col(i + 1);
    const Eigen::Index y = 6 * 9 + 1;  // how far link 10 goes along y
    out.push_back({std::sqrt(modes.squared_frequencies[i]), first * second[y] - second * first[y]});
    EXPECT_NEAR(modes.squared_frequencies[i + 1] / modes.squared_frequencies[i], 1, 1e-9);
    ++i;
  }
  return out;
}

/// The frequency of a motion that starts at rest in a mode, from the first to the last of its passages through zero.
double simulated_frequency(const Linearisation& l, const Mode& mode, double dt, int passages) {
  World world(resolved(dt));
  std::vector<Vec3> rest;
  std::vector<Quat> upright;
  for (const BodyId body : l.bodies) {
    rest.push_back(world.position(body));
    upright.push_back(world.orientation(body));
  }
  // No link leans by more than 1e-4 rad: in the modes of the string every swing lifts the weight, and the frequency changes by
  // some fifty times the square of that.
  double lean = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) lean = std::max(lean, mode.shape.segment<3>(6 * i + 3).norm());
  const VecX start = mode.shape * (1e-4 / lean);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Vec3 turn = start.segment<3>(6 * i + 3);
    const Quat q(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
    world.set_pose(l.bodies[i], {rest[i] + start.segment<3>(6 * i), q * upright[i]});
  }
  world.project();

  const VecX weights = l.M * start;
  const auto amplitude = [&] {
    double a = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const Eigen::AngleAxisd turn(world.orientation(l.bodies[i]) * upright[i].conjugate());
      a += weights.segment<3>(6 * i).dot(world.position(l.bodies[i]) - rest[i]) +
           weights.segment<3>(6 * i + 3).dot(turn.angle() * turn.axis());
    }
    return a;
  };
  double before = amplitude(), first = 0, last = 0;
  for (int seen = 0; seen < passages;) {
    world.step();
    const double after = amplitude();
    if (before * after < 0) {
      last = world.time() - dt * after / (after - before);  // close to zero a sine is straight: wrong by (w dt)^3
      if (seen++ == 0) first = last;
    }
    before = after;
  }
  return std::numbers::pi * (passages - 1) / (last - first);
}

TEST(HangingChain, HasTheFrequenciesOfItsLinearisationAndOfTheString) {
  World world(resolved(1e-3));
  const Linearisation l = linearise(world);
  ASSERT_LT(l.unbalance, 1e-9);
  const std::vector<Mode> modes = transverse_modes(l, 5);
  const Modes all = normal_modes(l);
  const double fastest = std::sqrt(all.squared_frequencies.maxCoeff());
  const double dt = 0.25 / fastest;

  // The lowest: the pendulum, the weight rocking on its hook, and the first mode of the string between its two ends.
  const HeavyString theory{.mass = 20, .length = 4, .M = 1000, .I = 0.4 * 1000 * 0.3 * 0.3, .arm = 0.3};
  const std::vector<double> w = theory.frequencies(5);
  for (int i = 0; i < 3; ++i) {
    const double simulated = simulated_frequency(l, modes[i], dt, 7);
    EXPECT_NEAR(simulated / modes[i].frequency, 1, 1e-5) << i;
    EXPECT_NEAR(simulated / w[i], 1, 0.01) << i;
    RecordProperty("mode_" + std::to_string(i),
                   fmt::format("simulated {:.9g}, linearised {:.9g}, string {:.9g} rad/s", simulated, modes[i].frequency, w[i]));
  }
  // The next are modes of the string too, a little lower for links that do not bend.
  for (int i = 3; i < 5; ++i) EXPECT_NEAR(modes[i].frequency / w[i], 1, 0.01) << i;
  // Far above what a step of 1/60 s can follow.
  EXPECT_GT(fastest, 450);
}

}  // namespace
}  // namespace rotule
