// Damped modes and linear state spaces against textbooks, and against the motion itself.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/state_space.h>

#include <cmath>
#include <numbers>

#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;

/// A bar that hangs from a hinge about y with a spring and a damper.
Scene sprung_pendulum(double stiffness, double damping) {
  Scene scene;
  scene.add({.name = "bar", .mass = 2, .inertia = Mat3(0.1 * Mat3::Identity()), .position = {0, 0, -0.6}});
  scene.add(Hinge{
      .name = "pin", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = {.stiffness = stiffness, .damping = damping}});
  return scene;
}

TEST(DampedModes, ASpringOfAJointCounts) {
  const double I = 2 * 0.36 + 0.1, k = 5, d = 0.7, stiffness = k + 2 * g * 0.6;
  const World world(sprung_pendulum(k, d), recipes::exact());
  const std::vector<DampedMode> modes = damped_modes(linearise(world));
  ASSERT_EQ(modes.size(), 1u);
  const double omega = std::sqrt(stiffness / I), zeta = d / (2 * std::sqrt(stiffness * I));
  EXPECT_NEAR(std::abs(modes[0].eigenvalue), omega, 1e-10);
  EXPECT_NEAR(modes[0].damping_ratio, zeta, 1e-10);
  EXPECT_NEAR(modes[0].frequency, omega * std::sqrt(1 - zeta * zeta) / (2 * std::numbers::pi), 1e-10);
}

TEST(DampedModes, AFreeTurnNeitherSwingsNorGrows) {
  // A bar held by a ball at each end turns about itself as it likes, whatever it weighs; stiffnesses of its load cancel there.
  Scene scene;
  const Vec3 end(0.31, 0.42, 0.53);
  scene.add({.name = "bar", .mass = 2, .inertia = Mat3(0.02 * Mat3::Identity()), .position = 0.5 * end});
  scene.add(Ball{.between = {"world", "bar"}});
  scene.add(Ball{.between = {"world", "bar"}, .at = end});
  const World world(scene, recipes::exact());
  for (const DampedMode& mode : damped_modes(linearise(world))) {
    EXPECT_EQ(std::abs(mode.eigenvalue), 0);
    EXPECT_EQ(mode.damping_ratio, 0);
  }
}

TEST(DampedModes, OfALoadedJointSpringToo) {
  // Where the spring carries weight its force turns with the joint: an arm held out by a spring, against the motion's own
  // stiffness by differences of accelerations.
  Scene scene;
  scene.add({.name = "upper", .mass = 1, .inertia = Mat3(0.05 * Mat3::Identity()), .position = {0.3, 0, 0}});
  scene.add({.name = "lower", .mass = 1, .inertia = Mat3(0.05 * Mat3::Identity()), .position = {0.6, 0.3, 0}});
  Hinge shoulder{.name = "shoulder", .between = {"world", "upper"}, .axis = {0, 1, 0}};
  shoulder.drive.stiffness = 60;
  shoulder.drive.rest = -(g * 0.3 + g * 0.6) / 60;
  Hinge elbow{.name = "elbow", .between = {"upper", "lower"}, .at = {0.6, 0, 0}, .axis = {1, 0, 0}};
  elbow.drive.stiffness = 20;
  elbow.drive.rest = g * 0.3 / 20;
  scene.add(shoulder);
  scene.add(elbow);
  const World world(scene, recipes::exact());
  const Linearisation l = linearise(world);
  EXPECT_LT(l.unbalance, 1e-10);
  // Let it go from a small displacement along the slower mode: it comes back after a period.
  const Modes modes = normal_modes(l);
  ASSERT_EQ(modes.squared_frequencies.size(), 2);
  ASSERT_GT(modes.squared_frequencies[0], 0);
  for (int mode = 0; mode < 2; ++mode) {
    Recipe recipe = recipes::exact();
    set(recipe, "integrator", "dormand_prince_8");
    World moving(scene, recipe);
    const double small = 1e-5;
    for (int i = 0; i < 2; ++i) {
      const BodyId body = l.bodies[i];
      const Vec3 turn = small * modes.shapes.col(mode).segment<3>(6 * i + 3);
      const Quat q(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
      moving.set_pose(body,
                      {moving.position(body) + small * modes.shapes.col(mode).segment<3>(6 * i), q * moving.orientation(body)});
    }
    moving.project();
    const Vec3 start = moving.position("lower");
    const double period = 2 * std::numbers::pi / std::sqrt(modes.squared_frequencies[mode]);
    for (int i = 0; i < 200; ++i) moving.step(period / 200);
    const double moved = small * modes.shapes.col(mode).segment<3>(6).norm();
    EXPECT_LT((moving.position("lower") - start).norm(), 1e-3 * moved) << mode;
  }
}

TEST(StateSpace, AnswersAsTheMechanismDoes) {
  // x' = A x + B i from rest under a constant small torque: the angle after some time, against the run.
  const double torque = 1e-4, end = 0.5;
  const World world(sprung_pendulum(5, 0.7), recipes::exact());
  const StateSpace s = state_space(world);
  ASSERT_EQ(s.inputs, std::vector<std::string>{"pin.rz"});
  ASSERT_EQ(s.outputs, (std::vector<std::string>{"pin.rz", "pin.rz rate"}));
  VecX x = VecX::Zero(s.A.rows());
  const int steps = 5000;
  const VecX input = VecX::Constant(1, torque);
  for (int i = 0; i < steps; ++i) {  // RK4
    const double h = end / steps;
    const auto f = [&](const VecX& at) { return VecX(s.A * at + s.B * input); };
    const VecX k1 = f(x), k2 = f(x + 0.5 * h * k1), k3 = f(x + 0.5 * h * k2), k4 = f(x + h * k3);
    x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  World moving(sprung_pendulum(5, 0.7), recipes::exact());
  moving.set_motor(moving.joint("pin"), MotorTorque{torque});
  for (int i = 0; i < 500; ++i) moving.step(end / 500);
  const VecX y = s.C * x;
  EXPECT_NEAR(y[0], moving.joint_position(moving.joint("pin")), 1e-7 * std::abs(y[0]));
  EXPECT_NEAR(y[1], moving.joint_rate(moving.joint("pin")), 1e-6 * std::abs(y[1]) + 1e-11);
  const std::vector<std::string> wrong{"pim"};
  EXPECT_THROW(state_space(world, wrong), Error);
}

}  // namespace
}  // namespace rotule
