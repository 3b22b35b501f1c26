// Motors of MJCF files: ranges, ratios of damping, tendons, lags, and what Actuators tell a world, against closed forms and
// against the same motors acting in the scene.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/recipe.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "support/files.h"

namespace rotule {
namespace {

using std::numbers::pi;

struct Files : testing::Folder {
  using testing::Folder::Folder;
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  [[nodiscard]] Robot read(const std::string& text, const RobotOptions& options = {}) const {
    return read_robot(write("r.xml", text), options);
  }
};

/// A rod that turns about z, without weight: its inertia seen from the axis is 0.5 kg m^2, rotor included.
std::string rotor(const std::string& joint, const std::string& actuator, const std::string& key = "") {
  return fmt::format(R"(<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body name="rod">
    <joint name="j" axis="0 0 1" {}/><inertial pos="0.5 0 0" mass="1" diaginertia="0.1 0.1 0.15"/></body></worldbody>
    <actuator>{}</actuator>{}</mujoco>)",
                     joint, actuator, key);
}

TEST(RobotMotors, OfAllMotorsTogetherTheJointTakesWhatItsRangeSays) {
  const Files files("robot_ranges");
  const auto drive = [&](const std::string& joint, const std::string& actuator, const std::string& control) {
    const Robot robot = files.read(rotor(joint, actuator, fmt::format(R"(<keyframe><key ctrl="{}"/></keyframe>)", control)));
    return std::get<Hinge>(robot.scene.joints.at(0)).drive;
  };
  const std::string two = R"(<motor joint="j" gear="3"/><motor joint="j"/>)";
  EXPECT_EQ(drive(R"(actuatorfrcrange="-5 5")", two, "1 1").motor_torque, 4);
  EXPECT_EQ(drive(R"(actuatorfrcrange="-5 5")", two, "2 1").motor_torque, 5);
  EXPECT_EQ(drive(R"(actuatorfrcrange="-5 5" actuatorfrclimited="false")", two, "2 1").motor_torque, 7);
  const std::string servo = R"(<position joint="j" kp="10" forcerange="-8 8"/>)";
  EXPECT_EQ(drive("", servo, "0").spring_strength, 8);
  EXPECT_EQ(drive(R"(actuatorfrcrange="-5 5")", servo, "0").spring_strength, 5);
}

TEST(RobotMotors, ARatioOfDampingIsOfTheInertiaThatTheServoMoves) {
  const Files files("robot_dampratio");
  // Critically damped, kv = 2 sqrt(kp I): of x0 = 0.1 rad, (1 + w t) exp(-w t) is left.
  for (const char* actuator : {R"(<position joint="j" kp="50" dampratio="1"/>)",
                               R"(<general joint="j" gainprm="50" biastype="affine" biasprm="0 -50 1"/>)"}) {
    const Robot robot = files.read(rotor(R"(armature="0.1")", actuator, R"(<keyframe><key qpos="0.1"/></keyframe>)"));
    const Drive& drive = std::get<Hinge>(robot.scene.joints.at(0)).drive;
    EXPECT_EQ(drive.stiffness, 50);
    EXPECT_NEAR(drive.damping, 2 * std::sqrt(50 * 0.5), 1e-12);
    World world(robot.scene, recipes::exact());
    for (int i = 0; i < 200; ++i) world.step(1e-3);
    EXPECT_NEAR(world.joint_position(world.joint("j")), 0.1 * (1 + 10 * 0.2) * std::exp(-10 * 0.2), 1e-9);
  }
}

TEST(RobotMotors, AServoAtHalfATurnHasTheEnergyOfItsShorterWay) {
  const Files files("robot_half_turn");
  const Robot robot = files.read(
      rotor("", R"(<position joint="j" kp="2000"/>)", R"(<keyframe><key qpos="3.14159" ctrl="3.14159265"/></keyframe>)"));
  World world(robot.scene, recipes::exact());
  for (int i = 0; i < 100; ++i) {
    world.step(1e-3);
    // It swings about half a turn by 2.7e-6 rad, across the angle at which q jumps.
    EXPECT_LT(std::abs(world.diagnostics().energy()), 1e-7);
    EXPECT_GT(std::abs(world.joint_position(world.joint("j"))), pi - 1e-5);
  }
}

constexpr const char* two_sliders = R"(<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="a"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  <body name="b" pos="0 1 0"><joint name="y" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <tendon><fixed name="sum" {}><joint joint="x" coef="1"/><joint joint="y" coef="-2"/></fixed></tendon>
  <actuator>{}</actuator><keyframe><key ctrl="3"/></keyframe></mujoco>)";

TEST(RobotMotors, AMotorOnAFixedTendonPullsItsJointsByTheirShares) {
  const Files files("robot_tendon_motor");
  const Robot robot = files.read(fmt::format(two_sliders, "", R"(<motor tendon="sum" gear="2" forcerange="-2 2"/>)"));
  EXPECT_EQ(std::get<Slider>(robot.scene.joints.at(0)).drive.motor_torque, 4);
  EXPECT_EQ(std::get<Slider>(robot.scene.joints.at(1)).drive.motor_torque, -8);
  // A servo on it couples the joints, which no sum of drives does: it is left out, and told.
  const Robot servo = files.read(fmt::format(two_sliders, "", R"(<position name="p" tendon="sum" kp="3"/>)"));
  EXPECT_TRUE(servo.actuators.empty());
  EXPECT_TRUE(std::any_of(servo.remarks.begin(), servo.remarks.end(), [](const RobotRemark& r) {
    return r.what == "position \"p\"" && r.text.find("left out") != r.text.npos;
  }));
}

TEST(RobotMotors, AFixedTendonKeepsBothEndsOfItsRange) {
  const Files files("robot_tendon_range");
  for (const bool reduced : {false, true})
    for (const double pull : {3.0, -3.0}) {
      Robot robot = files.read(
          fmt::format(two_sliders, R"(range="-0.05 0.1")", fmt::format(R"(<motor tendon="sum" gear="{}"/>)", pull / 3)));
      Recipe recipe = recipe_for(robot.scene, Dial::balanced);
      recipe.coordinates = MaximalCoordinatesSettings{};
      if (reduced) recipe.coordinates = ReducedCoordinatesSettings{};
      World world(robot.scene, recipe);
      const auto length = [&] { return world.joint_position(world.joint("x")) - 2 * world.joint_position(world.joint("y")); };
      double least = 0, most = 0;
      for (int i = 0; i < 300; ++i) {
        world.step(1e-3);
        least = std::min(least, length());
        most = std::max(most, length());
      }
      // 3 N along it move L by 1/2 3 (1 + 4) t^2: without the range 0.675 m. What ties the two ends is no redundancy.
      EXPECT_NEAR(pull > 0 ? most : least, pull > 0 ? 0.1 : -0.05, 1e-6) << reduced;
    }
}

TEST(RobotMotors, WhatActuatorsTellIsWhatActsInTheScene) {
  const Files files("robot_actuators");
  const std::string text = rotor(
      R"(damping="0.1" stiffness="2" springref="0.3" range="0.5 4.5" actuatorfrcrange="-6 6")",
      R"(<position joint="j" kp="40" kv="3" ctrlrange="0 5" forcerange="-8 8"/><motor joint="j" gear="2" ctrlrange="-1 1"/>)",
      R"(<keyframe><key qpos="2" ctrl="2.4 0.3"/></keyframe>)");
  const Robot acting = files.read(text), waiting = files.read(text, {.motors_act = false});
  ASSERT_EQ(waiting.actuators.size(), 2u);
  World one(acting.scene), other(waiting.scene);
  Actuators motors(waiting.actuators, other);
  EXPECT_EQ(motors.controls(), (std::vector<double>{2.4, 0.3}));
  for (int i = 0; i < 500; ++i) {
    motors.tell(other, motors.controls(), 1e-3);
    one.step(1e-3);
    other.step(1e-3);
  }
  EXPECT_NEAR(one.joint_position(one.joint("j")), other.joint_position(other.joint("j")), 1e-12);
  EXPECT_GT(one.joint_position(one.joint("j")), -0.4);  // measured from the middle of its stops, 2.5
  // Another control: at rest 40 (c - q) + 2 a = 2 (q - 0.3).
  for (int i = 0; i < 8000; ++i) {
    motors.tell(other, std::vector<double>{3.0, -9.0}, 1e-3);
    other.step(1e-3);
  }
  EXPECT_NEAR(other.joint_position(other.joint("j")) + 2.5, (40 * 3.0 - 2 * 1.0 + 2 * 0.3) / 42, 1e-9);
  EXPECT_THROW(motors.tell(other, std::vector<double>{1.0}, 1e-3), Error);
}

TEST(RobotMotors, LagIsAnExponentialAndWhatIntegratesIsARamp) {
  const Files files("robot_lag");
  const Robot robot = files.read(rotor("", R"(<general joint="j" dyntype="filterexact" dynprm="0.05"/>
    <position joint="j" kp="10" timeconst="0.02"/><intvelocity joint="j" kp="10" actrange="-1 0.015"/>)"),
                                 {.motors_act = false});
  World world(robot.scene);
  Actuators motors(robot.actuators, world);
  for (int i = 0; i < 20; ++i) motors.tell(world, std::vector<double>{2.0, 1.0, 1.0}, 1e-3);
  EXPECT_NEAR(motors.activations()[0], 2 * (1 - std::exp(-0.4)), 1e-14);
  EXPECT_NEAR(motors.activations()[1], 1 - std::exp(-1.0), 1e-14);
  EXPECT_EQ(motors.activations()[2], 0.015);
}

}  // namespace
}  // namespace rotule
