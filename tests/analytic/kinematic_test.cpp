// Kinematic bodies: they carry by friction, push, strike and drive joints, and nothing pushes them back. Belts likewise.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

Scene on_a_platform(double friction, BodyDef platform) {
  Scene scene;
  scene.materials = {{.name = "rubber", .friction = friction}};
  platform.name = "platform";
  platform.shape = Box{{4, 4, 0.2}};
  platform.material = "rubber";
  platform.position = {0, 0, -0.1};
  scene.add(platform);
  scene.add({.name = "crate", .mass = 3.0, .position = {0.3, -0.2, 0.25}, .shape = Box{{0.5, 0.5, 0.5}}, .material = "rubber"});
  scene.recipe = recipes::realtime();
  scene.recipe.dt = 1.0 / 240;
  scene.dial.reset();
  return scene;
}

TEST(Kinematic, ALiftCarriesItsRiderWithoutSlip) {
  // Up, along and round: within what friction and weight can hold.
  for (const bool prescribed : {true, false}) {
    BodyDef lift{.kinematic = true};
    if (prescribed)
      lift.motion =
          PrescribedMotion{.displacement = {"0.2*(1-cos(2*t))", "0.1*sin(t)^2", "0.3*(1-cos(3*t))"}, .angle = "0.2*(1-cos(t))"};
    World world(on_a_platform(0.8, lift));
    const BodyId platform = world.body("platform"), crate = world.body("crate");
    const auto seen = [&] {
      return Vec3(world.orientation(platform).conjugate() * (world.position(crate) - world.position(platform)));
    };
    run_for(world, 0.2);
    const Vec3 start = seen();
    double worst = 0;
    for (int i = 0; i < 720; ++i) {
      const double t = world.time() - 0.2 + world.recipe().dt;
      if (!prescribed)
        world.move_to(platform,
                      {{0.2 * (1 - std::cos(2 * t)), 0.1 * std::pow(std::sin(t), 2), -0.1 + 0.3 * (1 - std::cos(3 * t))},
                       Quat(Eigen::AngleAxisd(0.2 * (1 - std::cos(t)), Vec3::UnitZ()))},
                      world.recipe().dt);
      world.step();
      worst = std::max(worst, (seen() - start).norm());
    }
    EXPECT_LT(worst, 2e-3) << prescribed;
    EXPECT_GT(world.position(platform).norm(), 0.1);
  }
}

TEST(Kinematic, APrescribedMotionIsWhereItsExpressionsSay) {
  Scene scene = on_a_platform(
      0.5, {.motion = PrescribedMotion{.displacement = {"t^2/10", "sin(t)/5", "t/20"}, .axis = {1, 2, 2}, .angle = "0.1*t"}});
  World world(scene);
  run_for(world, 1);
  const double t = world.time();
  EXPECT_LT((world.position("platform") - Vec3(t * t / 10, std::sin(t) / 5, -0.1 + t / 20)).norm(), 1e-14);
  EXPECT_LT((world.velocity("platform") - Vec3(t / 5, std::cos(t) / 5, 0.05)).norm(), 1e-14);
  EXPECT_LT((world.angular_velocity("platform") - 0.1 * Vec3(1, 2, 2) / 3).norm(), 1e-14);
}

TEST(Kinematic, ABeltBringsACrateToItsSpeedInTheTimeThatFrictionGives) {
  constexpr double mu = 0.3, v = 1.2;
  Scene scene = on_a_platform(mu, {.fixed = true, .surface_velocity = {v, 0, 0}});
  scene.recipe.dt = 1e-3;
  World world(scene);
  const double slip_time = v / (mu * g);
  run_for(world, 0.5 * slip_time);
  EXPECT_NEAR(world.velocity("crate").x(), 0.5 * v, 0.01 * v);
  run_for(world, 0.48 * slip_time);
  EXPECT_LT(world.velocity("crate").x(), v);
  run_for(world, 0.04 * slip_time);
  EXPECT_NEAR(world.velocity("crate").x(), v, 1e-6);
  EXPECT_NEAR(world.position("crate").x() - 0.3, v * v / (2 * mu * g) + 0.02 * slip_time * v, 0.01);
  // The belt gave kinetic energy, and as much again went into heat.
  EXPECT_NEAR(world.diagnostics().kinematic_work, 3.0 * v * v, 0.02 * 3 * v * v);
  run_for(world, 0.5);
  EXPECT_NEAR(world.velocity("crate").x(), v, 1e-9);
  EXPECT_NEAR(world.angular_velocity("crate").norm(), 0, 1e-6);
}

Scene paddle_and_ball(double restitution) {
  Scene scene;
  scene.gravity.setZero();
  scene.materials = {{.name = "m", .friction = 0, .restitution = restitution}};
  scene.add({.name = "paddle",
             .position = {-1, 0, 0},
             .velocity = {2, 0, 0},
             .shape = Box{{0.2, 1, 1}},
             .material = "m",
             .kinematic = true});
  scene.add({.name = "ball", .mass = 0.5, .shape = Sphere{0.1}, .material = "m"});
  scene.recipe = recipes::realtime();
  scene.dial.reset();
  return scene;
}

TEST(Kinematic, AnElasticBlowGivesTwiceTheSpeedAndCostsWhatTheBallHas) {
  World world(paddle_and_ball(1));
  run_for(world, 0.6);
  EXPECT_NEAR(world.velocity("ball").x(), 4, 1e-9);
  EXPECT_NEAR(world.velocity("paddle").x(), 2, 0);
  EXPECT_NEAR(world.diagnostics().kinematic_work, 0.5 * 0.5 * 16, 1e-9);
}

TEST(Kinematic, APushWithoutBounceCostsTwiceWhatTheBallHas) {
  World world(paddle_and_ball(0));
  run_for(world, 0.8);
  EXPECT_NEAR(world.velocity("ball").x(), 2, 1e-9);
  EXPECT_NEAR(world.diagnostics().kinematic_work, 0.5 * 2 * 2, 1e-9);
  EXPECT_NEAR(world.position("ball").x() - world.position("paddle").x(), 0.2, 1e-6);
}

/// A physical pendulum whose pivot moves along x as a sin(w t); theta from the vertical.
struct DrivenPendulum {
  double m = 2, L = 0.7, I = 0.13, a = 0.1, w = 5;
  [[nodiscard]] double acceleration(double t, double theta) const {
    return -m * L * (g * std::sin(theta) - a * w * w * std::sin(w * t) * std::cos(theta)) / (I + m * L * L);
  }
  /// By itself: RK4 with tiny steps.
  [[nodiscard]] std::pair<double, double> at(double end, double theta, double rate) const {
    const int steps = 200000;
    const double h = end / steps;
    for (int i = 0; i < steps; ++i) {
      const double t = i * h;
      const double k1 = acceleration(t, theta), k2 = acceleration(t + h / 2, theta + h / 2 * rate),
                   k3 = acceleration(t + h / 2, theta + h / 2 * rate + h * h / 4 * k1),
                   k4 = acceleration(t + h, theta + h * rate + h * h / 2 * k2);
      theta += h * rate + h * h / 6 * (k1 + k2 + k3);
      rate += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return {theta, rate};
  }
  [[nodiscard]] Scene scene() const {
    Scene out;
    out.add({.name = "pivot", .motion = PrescribedMotion{.displacement = {"0.1*sin(5*t)", 0, 0}}});
    BodyDef bar{.name = "bar", .mass = m, .position = {0, 0, -L}};
    bar.inertia = I * Mat3::Identity();
    bar.velocity = {0.5, 0, 0};  // of the pivot at the start
    out.add(bar);
    out.add(Hinge{.name = "hinge", .between = {"pivot", "bar"}, .axis = {0, -1, 0}});
    out.dial.reset();
    return out;
  }
};

double error_of(const IntegratorSettings& integrator, double dt) {
  const DrivenPendulum pendulum;
  static const auto want = pendulum.at(2, 0, 0);
  Scene scene = pendulum.scene();
  scene.recipe.integrator = integrator;
  scene.recipe.dt = dt;
  World world(scene);
  run_for(world, 2);
  const JointId hinge = world.joint("hinge");
  EXPECT_LT(std::abs(world.joint_error(hinge).position), 1e-9);
  return std::hypot(world.joint_position(hinge) - want.first, world.joint_rate(hinge) - want.second);
}

TEST(Kinematic, JointsFollowAPrescribedMotionAtFullOrder) {
  const double rk4 = error_of(Rk4Settings{}, 0.01), rk4_half = error_of(Rk4Settings{}, 0.005);
  EXPECT_LT(rk4, 1e-5);
  EXPECT_GT(rk4 / rk4_half, 12);
  const double gauss = error_of(Gauss4Settings{}, 0.02), gauss_half = error_of(Gauss4Settings{}, 0.01);
  EXPECT_LT(gauss, 1e-4);
  EXPECT_GT(gauss / gauss_half, 11);
  EXPECT_LT(error_of(DormandPrinceSettings{}, 0.05), 1e-6);
}

TEST(Kinematic, StepsByImpulsesFollowItToFirstOrder) {
  const DrivenPendulum pendulum;
  const auto want = pendulum.at(1, 0, 0);
  const auto error = [&](double dt) {
    Scene scene = pendulum.scene();
    scene.recipe = recipes::realtime();
    scene.recipe.dt = dt;
    World world(scene);
    run_for(world, 1);
    return std::abs(world.joint_position(world.joint("hinge")) - want.first);
  };
  const double coarse = error(4e-3), fine = error(1e-3);
  EXPECT_LT(fine, 2e-3);
  EXPECT_GT(coarse / fine, 2.5);
}

TEST(Kinematic, ARotorOfGivenSpeedDrivesASliderAsGeometrySays) {
  constexpr double r = 0.1, l = 0.35;
  for (const bool impulses : {false, true}) {
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "crank", .angular_velocity = {0, 0, 3}, .kinematic = true});
    BodyDef rod{.name = "rod",
                .mass = 1.0,
                .position = {r + l / 2, 0, 0},
                .velocity = {0, 0.15, 0},
                .angular_velocity = {0, 0, -3 * r / l}};
    rod.inertia = 0.01 * Mat3::Identity();
    scene.add(rod);
    BodyDef piston{.name = "piston", .mass = 2.0, .position = {r + l, 0, 0}};
    piston.inertia = 0.01 * Mat3::Identity();
    scene.add(piston);
    scene.add(Hinge{.between = {"crank", "rod"}, .at = {r, 0, 0}});
    scene.add(Hinge{.between = {"rod", "piston"}, .at = {r + l, 0, 0}});
    scene.add(Slider{.name = "slide", .between = {"world", "piston"}, .at = {r + l, 0, 0}, .axis = {1, 0, 0}});
    scene.recipe = impulses ? recipes::realtime() : recipes::exact();
    scene.recipe.dt = 2e-3;
    scene.dial.reset();
    World world(scene);
    run_for(world, 1.5, [&] {
      const double angle = 3 * world.time();
      EXPECT_NEAR(world.position("piston").x(), r * std::cos(angle) + std::sqrt(l * l - std::pow(r * std::sin(angle), 2)), 1e-8);
    });
    EXPECT_NEAR(world.joint_position(world.joint("slide")), world.position("piston").x() - r - l, 1e-9);
  }
}

TEST(Kinematic, AFixedBodyWithAVelocityIsRefusedWithTheRemedy) {
  Scene scene;
  scene.add({.name = "lift", .fixed = true, .velocity = {0, 0, 1}, .shape = Box{}});
  try {
    World world(scene);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"kinematic\": true"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("lift"), std::string::npos);
  }
}

}  // namespace
}  // namespace rotule
