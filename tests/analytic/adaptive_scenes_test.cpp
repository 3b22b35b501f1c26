// Error control on whole mechanisms: what is asked for is what comes out, drift correction included; shocks at their instants.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"

namespace rotule {
namespace {

Recipe with(const Scene& scene, const std::string& integrator, double tolerance) {
  Recipe recipe = scene.recipe;
  set(recipe, "integrator", integrator);
  std::visit(
      [&](auto& settings) {
        if constexpr (requires { settings.relative_tolerance; }) {
          settings.relative_tolerance = tolerance;
          settings.absolute_tolerance = 0;
        }
      },
      recipe.integrator);
  return recipe;
}

struct StateOfAll {
  std::vector<Vec3> p, v, omega;
  std::vector<Quat> q;
};

StateOfAll motion(const World& world) {
  StateOfAll out;
  for (const BodyId body : world.bodies()) {
    out.p.push_back(world.center_of_mass(body));
    out.q.push_back(world.orientation(body));
    out.v.push_back(world.velocity(body));
    out.omega.push_back(world.angular_velocity(body));
  }
  return out;
}

/// Relative as the tolerance is: lengths to one metre's extent, turns in radians, velocities to the fastest of the run.
double difference(const StateOfAll& a, const StateOfAll& b, double speed, double spin) {
  double out = 0;
  for (std::size_t i = 0; i < a.p.size(); ++i)
    out = std::max({out, (a.p[i] - b.p[i]).norm(), a.q[i].angularDistance(b.q[i]), (a.v[i] - b.v[i]).norm() / speed,
                    (a.omega[i] - b.omega[i]).norm() / spin});
  return out;
}

/// What a method with error control is asked for, at its tightest: radau5 needs twice the steps for a thirtieth of an error.
double tightest(const std::string& integrator) { return integrator == "radau5" ? 1e-10 : 1e-12; }

/// The reference is checked by a method without error control in so many steps.
void expect_tolerance_met(const Scene& scene, const std::string& name, double duration, int steps, double reference_error,
                          const char* other = "rk4") {
  World exact(scene, with(scene, "dormand_prince_8", 1e-14));
  double speed = 0, spin = 0;
  for (int i = 0; i < 100; ++i) {
    exact.step(duration / 100);
    for (const BodyId body : exact.bodies()) {
      speed = std::max(speed, exact.velocity(body).norm());
      spin = std::max(spin, exact.angular_velocity(body).norm());
    }
  }
  const StateOfAll reference = motion(exact);
  World equal(scene, with(scene, other, 0));
  for (int i = 0; i < steps; ++i) equal.step(duration / steps);
  ASSERT_LT(difference(reference, motion(equal), speed, spin), reference_error) << "two methods, one answer";

  for (const char* integrator : {"dormand_prince", "dormand_prince_8", "radau5"})
    for (double tolerance = 1e-3; tolerance > 0.5 * tightest(integrator); tolerance /= 10) {
      World world(scene, with(scene, integrator, tolerance));
      world.step(duration);
      EXPECT_LT(difference(motion(world), reference, speed, spin), 10 * tolerance)
          << name << ", " << integrator << ", " << tolerance;
      for (const std::string& warning : world.warnings()) EXPECT_EQ(warning.find("converge"), warning.npos) << warning;
    }
}

void expect_tolerance_met(const std::string& name, double duration, int steps, double reference_error) {
  expect_tolerance_met(*scenes::build(name), name, duration, steps, reference_error);
}

TEST(AdaptiveScenes, DoublePendulumMeetsTheTolerance) { expect_tolerance_met("double_pendulum", 2, 8000, 1e-9); }
TEST(AdaptiveScenes, MannequinMeetsTheTolerance) { expect_tolerance_met("mannequin", 20, 4000, 1e-9); }
TEST(AdaptiveScenes, GyroscopeMeetsTheTolerance) { expect_tolerance_met("gyroscope", 1, 8000, 2e-8); }

TEST(AdaptiveScenes, TwoLoopsOfASixBarMeetTheTolerance) { expect_tolerance_met("six_bar_loop", 0.5, 8000, 1e-8); }

TEST(AdaptiveScenes, TwoLoopsOfAFastSixBarMeetTheTolerance) {
  Scene scene = scenes::six_bar_loop();
  for (BodyDef& body : scene.bodies) {  // joints allow ten times the speed as much as once
    body.velocity *= 10;
    body.angular_velocity *= 10;
  }
  expect_tolerance_met(scene, "fast six-bar", 0.5, 2048, 1e-10, "gauss6");
}

TEST(AdaptiveScenes, StiffGovernorMeetsTheTolerance) { expect_tolerance_met("flyball_governor", 0.2, 8000, 1e-8); }

TEST(AdaptiveScenes, AnEccentricOrbitMeetsTheTolerance) {
  // One and a half turns, to the far end, where the planet passes slowly: x = -1.9, v = sqrt(0.1 / 1.9).
  const Scene scene = scenes::kepler();
  for (const char* integrator : {"dormand_prince", "dormand_prince_8", "radau5"})
    for (double tolerance = 1e-3; tolerance > 0.5 * tightest(integrator); tolerance /= 10) {
      World world(scene, with(scene, integrator, tolerance));
      world.step(scene.recipe.duration);
      const double speed = std::sqrt(0.1 / 1.9);
      EXPECT_LT((world.center_of_mass("planet") - Vec3(-1.9, 0, 0)).norm() / 1.9, 10 * tolerance)
          << integrator << ", " << tolerance;
      EXPECT_LT((world.velocity("planet") - Vec3(0, -speed, 0)).norm() / speed, 10 * tolerance)
          << integrator << ", " << tolerance;
    }
}

/// Balls on springs of 1e6 N/m and dampers, hung up and let swing: fast along, slow across.
Scene spring_chain(int count) {
  Scene scene;
  std::string before = "world";
  for (int i = 0; i < count; ++i) {
    const std::string name = "ball_" + std::to_string(i);
    scene.add({.name = name, .mass = 0.5, .position = Vec3(0.2 * (i + 1), 0, 0), .shape = Sphere{0.02}});
    Spring spring{.between = {before, name}, .stiffness = 1e6, .damping = 500};
    if (i == 0) spring.from = Vec3::Zero();
    scene.add(spring);
    before = name;
  }
  return scene;
}

TEST(AdaptiveScenes, AStiffSpringChainMeetsTheTolerance) {
  const Scene scene = spring_chain(6);
  constexpr double duration = 0.5;
  World exact(scene, with(scene, "dormand_prince_8", 1e-13));
  exact.step(duration);
  double speed = 0;
  for (const BodyId body : exact.bodies()) speed = std::max(speed, exact.velocity(body).norm());
  const StateOfAll reference = motion(exact);
  for (double tolerance = 1e-4; tolerance > 0.5e-10; tolerance /= 10) {
    World world(scene, with(scene, "radau5", tolerance));
    const StepReport& report = world.step(duration);
    EXPECT_LT(difference(motion(world), reference, speed, 1), 10 * tolerance) << tolerance;
    // An explicit method stands at the edge of its stability: 6 / (2 d 4 / m) s per step at most.
    if (tolerance > 3e-7) {
      EXPECT_LT(report.inner_steps, 300) << tolerance;
    }
  }
}

/// Two balls of a kilogram on springs without dampers, started along them at 1 m/s or let go a little stretched. Their swings are
/// short: a hundred-thousandth of the mechanism's extent, so that accelerations say nothing of velocities to come.
Scene excited_springs(double stiffness, bool at_rest) {
  Scene scene;
  const double stretch = at_rest ? 1 / std::sqrt(stiffness) : 0, speed = at_rest ? 0 : 1;
  scene.add({.name = "near", .mass = 1, .position = Vec3(0.5, 0, 0), .velocity = Vec3(speed, 0, 0), .shape = Sphere{0.02}});
  scene.add(
      {.name = "far", .mass = 1, .position = Vec3(1 + stretch, 0, 0), .velocity = Vec3(-speed, 0, 0), .shape = Sphere{0.02}});
  scene.add(Spring{.between = {"world", "near"}, .from = Vec3::Zero(), .stiffness = stiffness, .rest_length = 0.5});
  scene.add(Spring{.between = {"near", "far"}, .stiffness = stiffness, .rest_length = 0.5});
  return scene;
}

TEST(AdaptiveScenes, ExcitedStiffSpringsMeetTheTolerance) {
  for (const double stiffness : {1e6, 1e8})
    for (const bool at_rest : {false, true}) {
      const Scene scene = excited_springs(stiffness, at_rest);
      const double duration = 40 * 2 * std::numbers::pi / std::sqrt(stiffness);
      World exact(scene, with(scene, "dormand_prince_8", 1e-13));
      double speed = 0;
      for (int i = 0; i < 200; ++i) {
        exact.step(duration / 200);
        for (const BodyId body : exact.bodies()) speed = std::max(speed, exact.velocity(body).norm());
      }
      for (const char* integrator : {"dormand_prince_8", "radau5"})
        for (double tolerance = 1e-4; tolerance > 0.5e-10; tolerance /= 100) {
          World world(scene, with(scene, integrator, tolerance));
          world.step(duration);
          EXPECT_LT(difference(motion(world), motion(exact), speed, 1), 10 * tolerance)
              << integrator << ", " << stiffness << ", " << (at_rest ? "at rest, " : "") << tolerance;
        }
    }
}

TEST(AdaptiveScenes, RadauHasItsOrderUnderJoints) {
  // Errors against numbers of steps that error control chose.
  const Scene scene = scenes::double_pendulum();
  World exact(scene, with(scene, "dormand_prince_8", 1e-13));
  exact.step(1);
  double errors[2];
  int steps[2];
  for (int k = 0; k < 2; ++k) {
    World world(scene, with(scene, "radau5", k == 0 ? 1e-5 : 1e-9));
    steps[k] = world.step(1).inner_steps;
    errors[k] = difference(motion(world), motion(exact), 5, 20);
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-8);
  }
  EXPECT_NEAR(std::log(errors[0] / errors[1]) / std::log(static_cast<double>(steps[1]) / steps[0]), 5, 1);
}

TEST(AdaptiveScenes, ALoneParticleIsHeldToTheRelativeTolerance) {
  // Thrown up from somewhere, with drag: the step must grow with the tolerance, as it does for two.
  Scene scene;
  scene.add_particles({.name = "p", .positions = {{3, 0, 1}}, .velocities = {{5, 0, 8}}, .mass = 1});
  scene.add(Drag{.quadratic = 0.05});
  int steps[2];
  for (int k = 0; k < 2; ++k) {
    World world(scene, with(scene, "dormand_prince_8", k == 0 ? 1e-4 : 1e-12));
    steps[k] = world.step(1).inner_steps;
  }
  EXPECT_LT(steps[0], steps[1]);
}

TEST(AdaptiveScenes, ManyShortStepsAreNoWorse) {
  // Whoever looks every 1/60 s gets the same motion.
  const Scene scene = scenes::double_pendulum();
  World whole(scene, with(scene, "dormand_prince_8", 1e-10)), parts(scene, with(scene, "dormand_prince_8", 1e-10));
  whole.step(2);
  for (int i = 0; i < 120; ++i) parts.step(1.0 / 60);
  EXPECT_LT(difference(motion(whole), motion(parts), 5, 20), 1e-9);
}

/// A ball of 0.1 m dropped from 1.1 m onto a floor.
Scene dropped_ball(double restitution) {
  Scene scene;
  scene.gravity = Vec3(0, 0, -10);
  scene.add({.name = "ball", .mass = 1.0, .position = Vec3(0, 0, 1.1), .shape = Sphere{0.1}});
  scene.walls.push_back({.name = "floor", .at = Vec3::Zero(), .normal = Vec3::UnitZ(), .restitution = restitution});
  return scene;
}

TEST(AdaptiveScenes, BouncesAreLocatedInTime) {
  // It falls for sqrt(0.2) s, then flies for 2 e^k of that: height after 2 s from the last of those instants.
  const double fall = std::sqrt(0.2), e = 0.8;
  double start = fall, speed = 10 * fall * e;
  while (start + 2 * speed / 10 < 2) {
    start += 2 * speed / 10;
    speed *= e;
  }
  const double height = 0.1 + speed * (2 - start) - 5 * (2 - start) * (2 - start);
  const Scene scene = dropped_ball(e);
  for (const double step : {2.0, 0.5, 0.01}) {
    World world(scene, with(scene, "dormand_prince", 1e-9));
    int shocks = 0;
    for (int i = 0; i < std::lround(2 / step); ++i) shocks += world.step(step).shocks;
    EXPECT_NEAR(world.position("ball").z(), height, 1e-8) << step;
    EXPECT_EQ(shocks, 3) << step;
    EXPECT_NEAR(world.diagnostics().energy() + world.diagnostics().shock_energy, 11, 1e-7);
  }
}

TEST(AdaptiveScenes, ABallThatComesToRestIsReported) {
  // e = 1/2: all bounces are over after 3 falls' times, 1.34 s.
  const Scene scene = dropped_ball(0.5);
  World world(scene, with(scene, "dormand_prince", 1e-6));
  int late = 0;
  for (int i = 0; i < 200; ++i) late += world.step(0.01).late_shocks;
  EXPECT_GT(late, 0);
  EXPECT_NEAR(world.position("ball").z(), 0.1, 0.02);
  ASSERT_EQ(world.warnings().size(), 1u);
  EXPECT_NE(world.warnings()[0].find("too fast to be located"), std::string::npos);
}

TEST(AdaptiveScenes, TheMannequinBouncesTheSameWhateverTheStep) {
  // Located shocks leave nothing to the step's length: the energy at the end agrees, as it does not with fixed steps.
  const Scene scene = scenes::mannequin_bounce();
  double first = 0;
  for (const double step : {4.0, 0.1}) {
    World world(scene, with(scene, "dormand_prince_8", 1e-10));
    for (int i = 0; i < std::lround(4 / step); ++i) world.step(step);
    const double energy = world.diagnostics().energy();
    EXPECT_NEAR(energy + world.diagnostics().shock_energy, 85.6777433, 1e-6);
    if (first > 0) {
      EXPECT_NEAR(energy, first, 1e-5);
    }
    first = energy;
  }
}

TEST(AdaptiveScenes, StabilisationThatScalesWithTheStepIsRefused) {
  const Scene scene = scenes::double_pendulum();
  Recipe recipe = with(scene, "dormand_prince", 1e-6);
  recipe.formulation = StabilisedAccelerationSettings{};
  EXPECT_THROW(World(scene, recipe), std::exception);
}

}  // namespace
}  // namespace rotule
