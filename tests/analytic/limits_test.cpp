// Limits of joints, met at the right instant by methods with error control.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;
constexpr double rod_length = 0.8, start_angle = 2.0, stop_angle = 0.7;  // m, rad from the vertical

/// A bob on a weightless rod, let go at `start_angle` from the vertical; a limit stops it at `stop_angle`, before it is down.
Scene stopped_pendulum() {
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "bob",
             .mass = 2.0,
             .inertia = Vec3::Constant(1e-3).asDiagonal().toDenseMatrix(),
             .position = {rod_length * std::sin(start_angle), 0, -rod_length * std::cos(start_angle)}});
  // About y, a positive angle takes the bob from +x down towards the vertical.
  scene.add(Hinge{.name = "pivot", .between = {"world", "bob"}, .axis = {0, 1, 0}, .drive = {.upper = start_angle - stop_angle}});
  set(scene.recipe, "integrator", "dormand_prince_8");
  set(scene.recipe, "integrator.relative_tolerance", "1e-12");
  return scene;
}

double inertia() { return 2.0 * rod_length * rod_length + 1e-3; }

/// When the free pendulum passes `stop_angle`: from rest at A, sin(theta/2) = sin(A/2) sin(phi) gives a quarter period less
/// F(phi).
double passing_time() {
  const double omega = std::sqrt(2.0 * g * rod_length / inertia()), k = std::sin(start_angle / 2);
  const double phi = std::asin(std::sin(stop_angle / 2) / k);
  return (std::comp_ellint_1(k) - std::ellint_1(k, phi)) / omega;
}

double angle(const World& world) {
  const Vec3 p = world.position("bob");
  return std::atan2(p.x(), -p.z());
}

TEST(JointLimits, APendulumIsStoppedAtTheAnalyticInstant) {
  World world(stopped_pendulum());
  const double hit = passing_time();
  world.step(hit - 1e-9);
  // Still as fast as energy says.
  const double speed = std::sqrt(2 * 2.0 * g * rod_length * (std::cos(stop_angle) - std::cos(start_angle)) / inertia());
  EXPECT_NEAR(world.angular_velocity("bob").norm(), speed, 1e-7);
  EXPECT_GT(angle(world), stop_angle);
  const StepReport report = world.step(2e-9);
  EXPECT_EQ(report.shocks, 1);
  EXPECT_LT(world.angular_velocity("bob").norm(), 1e-8);
  EXPECT_NEAR(angle(world), stop_angle, 1e-9);
  // What the shock took out is all that was there.
  EXPECT_NEAR(world.diagnostics().shock_energy, 0.5 * inertia() * speed * speed, 1e-7);
}

TEST(JointLimits, ItStaysThereUnderItsWeightAndLeavesWhenPulled) {
  World world(stopped_pendulum());
  world.step(passing_time() + 0.5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(world.step(0.2).shocks, 0);
    EXPECT_NEAR(angle(world), stop_angle, 1e-9);
    EXPECT_LT(world.angular_velocity("bob").norm(), 1e-9);
  }
  // Just less than its weight pulls along the arc: it stays; just more: it leaves, at the acceleration of the difference.
  const Vec3 along(std::cos(stop_angle), 0, std::sin(stop_angle));
  const double pull = 2.0 * g * std::sin(stop_angle);
  world.set_force(world.body("bob"), 0.999 * pull * along);
  world.step(0.1);
  EXPECT_NEAR(angle(world), stop_angle, 1e-9);
  world.set_force(world.body("bob"), 1.01 * pull * along);
  constexpr double t = 1e-3;
  world.step(t);
  EXPECT_NEAR(angle(world) - stop_angle, 0.5 * 0.01 * pull * rod_length / inertia() * t * t, 1e-11);
}

TEST(JointLimits, ItIsReleasedInTheMiddleOfAStep) {
  // Pushed down onto a limit by a spring of its own that a second, moving body slackens: here a slider on its stop, held by
  // its weight against a spring whose far end a falling mass pulls down. Held until the pull exceeds the weight.
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "block", .mass = 1.0, .inertia = Mat3(Mat3::Identity() * 0.01), .position = {0, 0, 0}});
  scene.add(Slider{.name = "rail", .between = {"world", "block"}, .axis = {0, 0, 1}, .drive = {.lower = 0.0}});
  // A mass thrown up on a spring that is slack at first: the spring lifts the block once k x > m g.
  constexpr double k = 50, v = 6;
  scene.add_particles({.name = "ball", .positions = {{0, 0, 1}}, .velocities = {{0, 0, v}}, .mass = 0.5});
  scene.add(Spring{.between = {"block", "ball"}, .stiffness = k, .rest_length = 1});
  set(scene.recipe, "integrator", "dormand_prince_8");
  set(scene.recipe, "integrator.relative_tolerance", "1e-12");
  World world(scene);
  // While held: 0.5 x'' = -0.5 g - k x from x = 0 at v. Release at k x = 1 g.
  const double w = std::sqrt(k / 0.5), equilibrium = -0.5 * g / k, amplitude = std::hypot(equilibrium, v / w);
  const double phase = std::atan2(-equilibrium, v / w);
  const double released = (std::asin((g / k - equilibrium) / amplitude) - phase) / w;
  world.step(released - 1e-6);
  EXPECT_NEAR(world.position("block").z(), 0, 1e-9);
  EXPECT_LT(std::abs(world.velocity("block").z()), 1e-9);
  EXPECT_NEAR(world.particle_position(0).z(), 1 + equilibrium + amplitude * std::sin(w * (released - 1e-6) + phase), 1e-9);
  // Afterwards the pull grows at k x': z''' = k v_release / m, hence z = k v t^3 / 6 m for a short while.
  const double speed = amplitude * w * std::cos(w * released + phase);
  constexpr double t = 1e-3;
  world.step(1e-6 + t);
  EXPECT_NEAR(world.position("block").z(), k * speed * t * t * t / 6, 0.02 * k * speed * t * t * t / 6);
}

/// Whatever the method, the shock takes out what was there, and the bob rests on its limit.
TEST(JointLimits, OtherMethodsMeetThemToo) {
  const double energy = 2.0 * g * rod_length * (std::cos(stop_angle) - std::cos(start_angle));
  for (const char* method : {"rk4", "gauss4", "rattle", "ab4", "implicit_euler"}) {
    Scene scene = stopped_pendulum();
    set(scene.recipe, "integrator", method);
    Recipe recipe = scene.recipe;
    recipe.dt = 2e-3;
    World world(scene, recipe);
    for (int i = 0; i < 600; ++i) world.step();
    EXPECT_NEAR(angle(world), stop_angle, 1e-9) << method;
    EXPECT_NEAR(world.diagnostics().shock_energy, energy, method == std::string("implicit_euler") ? 0.1 * energy : 1e-4 * energy)
        << method;
  }
}

}  // namespace
}  // namespace rotule
