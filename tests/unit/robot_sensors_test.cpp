// Sensors of MJCF files against closed forms: what a pendulum, a thrown stick, a block on the ground and motors make of them, and
// what the laws of motion say of forces that nobody computed for it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/recipe.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <cmath>
#include <fstream>

#include "support/files.h"

namespace rotule {
namespace {

Robot robot_with_sensors(const std::string& world, const std::string& sensors, const std::string& more = "",
                         const RobotOptions& options = {}) {
  const testing::Folder folder("robot_sensors");
  const std::string path = (folder.path / "s.xml").string();
  std::ofstream(path) << fmt::format(
      R"(<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody>{}</worldbody><sensor>{}</sensor>{}</mujoco>)",
      world, sensors, more);
  return read_robot(path, options);
}

Vec3 said(const Sensors& sensors, std::string_view name) {
  const std::span<const double> x = sensors.of(name);
  return {x[0], x[1], x[2]};
}

/// A mass on a rod of 0.5 m that swings about y; the site at the mass has its x axis along the rod.
const std::string sensed_pendulum = R"(<body name="rod" pos="0 0 2"><joint name="j" axis="0 1 0"/>
  <inertial pos="0.5 0 0" mass="2" diaginertia="0.001 0.001 0.001"/><site name="bob" pos="0.5 0 0"/><site name="pivot"/></body>)";

TEST(RobotSensors, APendulumFeelsItsOwnSwing) {
  const Robot robot =
      robot_with_sensors(sensed_pendulum,
                         R"(<jointpos name="q" joint="j"/><jointvel name="w" joint="j"/><gyro name="gyro" site="bob"/>
         <velocimeter name="v" site="bob"/><accelerometer name="a" site="bob"/><framepos name="p" objtype="site" objname="bob"/>
         <framelinvel name="pv" objtype="site" objname="bob"/><force name="f" site="pivot"/><torque name="t" site="pivot"/>
         <framexaxis name="x" objtype="xbody" objname="rod"/><clock name="clock"/>
         <subtreecom name="com" body="rod"/><subtreeangmom name="spin" body="rod"/><magnetometer name="north" site="bob"/>)");
  World world(robot.scene, recipes::exact());
  Sensors sensors(robot, world);
  for (int k = 0; k < 200; ++k) world.step(0.002);
  sensors.read(world);
  const double q = sensors.of("q")[0], w = sensors.of("w")[0], g = 9.81, l = 0.5, m = 2, I = 0.001;
  EXPECT_GT(std::abs(w), 1);
  // From rest: (I + m l^2) w^2 / 2 = m g l sin q, and the angular acceleration.
  EXPECT_NEAR(0.5 * (I + m * l * l) * w * w, m * g * l * std::sin(q), 1e-8);
  const double alpha = m * g * l * std::cos(q) / (I + m * l * l);
  EXPECT_NEAR((said(sensors, "gyro") - Vec3(0, w, 0)).norm(), 0, 1e-12);
  EXPECT_NEAR((said(sensors, "v") - Vec3(0, 0, -l * w)).norm(), 0, 1e-12);
  // Along the rod the pull to the centre and weight, across it what is left of falling.
  const Vec3 proper(-l * w * w - g * std::sin(q), 0, g * std::cos(q) - l * alpha);
  EXPECT_NEAR((said(sensors, "a") - proper).norm(), 0, 1e-8);
  EXPECT_NEAR((said(sensors, "f") - m * proper).norm(), 0, 2e-8);
  EXPECT_NEAR(said(sensors, "t").norm(), 0, 1e-7);  // a hinge without friction
  EXPECT_NEAR((said(sensors, "p") - Vec3(l * std::cos(q), 0, 2 - l * std::sin(q))).norm(), 0, 1e-10);
  EXPECT_NEAR((said(sensors, "pv") - w * l * Vec3(-std::sin(q), 0, -std::cos(q))).norm(), 0, 1e-10);
  EXPECT_NEAR((said(sensors, "x") - Vec3(std::cos(q), 0, -std::sin(q))).norm(), 0, 1e-10);
  EXPECT_NEAR((said(sensors, "com") - said(sensors, "p")).norm(), 0, 1e-12);
  EXPECT_NEAR((said(sensors, "spin") - Vec3(0, I * w, 0)).norm(), 0, 1e-12);
  EXPECT_NEAR((said(sensors, "north") - Vec3(0, -0.5, 0)).norm(), 0, 1e-12);
  EXPECT_NEAR(sensors.of("clock")[0], 0.4, 1e-12);
  EXPECT_EQ(sensors.values().size(), 36u);
  EXPECT_THROW(static_cast<void>(sensors.of("gyr0")), Error);
}

TEST(RobotSensors, FramesAreToldInOthers) {
  const Robot robot = robot_with_sensors(
      R"(<body name="turntable"><joint name="j" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
           <site name="seat" pos="0 1 0"/></body>
         <body name="stone" pos="2 0 0.5" euler="0 0 0.3"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/>
           <site name="corner" pos="0.2 0 0"/></body><site name="wall" pos="1 1 1"/>)",
      R"(<framepos name="p" objtype="site" objname="corner" reftype="site" refname="seat"/>
         <framequat name="R" objtype="xbody" objname="stone" reftype="xbody" refname="turntable"/>
         <framelinvel name="v" objtype="site" objname="corner" reftype="site" refname="seat"/>
         <frameangvel name="w" objtype="body" objname="stone" reftype="site" refname="seat"/>
         <framepos name="centre" objtype="body" objname="stone"/><framepos name="wall" objtype="site" objname="wall"/>
         <framequat name="no order" objtype="body" objname="stone"/>)");
  EXPECT_EQ(robot.sensors.size(), 6u);
  EXPECT_TRUE(std::ranges::any_of(robot.remarks,
                                  [](const RobotRemark& r) { return r.text.find("principal axes") != std::string::npos; }));
  World world(robot.scene, recipes::exact());
  world.set_motor(world.joint("j"), MotorTorque{3});
  Sensors sensors(robot, world);
  const auto seen = [&] {
    sensors.read(world);
    return said(sensors, "p");
  };
  EXPECT_NEAR((said(sensors, "centre")).norm(), 0, 0);  // nothing was read yet
  seen();
  EXPECT_NEAR((said(sensors, "centre") - Vec3(2 + 0.1 * std::cos(0.3), 0.1 * std::sin(0.3), 0.5)).norm(), 0, 1e-12);
  EXPECT_NEAR((said(sensors, "wall") - Vec3(1, 1, 1)).norm(), 0, 0);
  for (int k = 0; k < 30; ++k) world.step(0.01);
  // What is told as a rate is the rate of what is told.
  const double h = 1e-4;
  const Vec3 before = seen(), v = said(sensors, "v"), w = said(sensors, "w");
  const double angle = world.joint_position(world.joint("j"));
  EXPECT_NEAR(sensors.of("R")[0], std::cos(0.5 * (0.3 - angle)), 1e-9);
  EXPECT_NEAR((w - Vec3(0, 0, -world.joint_rate(world.joint("j")))).norm(), 0, 1e-9);
  world.step(h);
  const Vec3 after = seen();
  EXPECT_NEAR(((after - before) / h - 0.5 * (v + said(sensors, "v"))).norm(), 0, 1e-6);
}

TEST(RobotSensors, WhatLiesIsFeltWhereItTouches) {
  const Robot robot = robot_with_sensors(
      R"(<geom type="plane" size="1 1 1"/><body name="table" pos="0 0 0.1"><freejoint/><geom type="box" size="0.5 0.5 0.1" mass="6"/>
           <site name="all" type="box" size="0.6 0.6 0.2"/><site name="half" type="box" pos="0.3 0 -0.1" size="0.3 0.6 0.01"/>
           <site name="top" type="sphere" pos="0 0 5" size="0.1"/><site name="eye" pos="0 0 0.3"/>
           <site name="down" pos="0.7 0 0.3" zaxis="0 0 -1"/></body>)",
      R"(<touch name="all" site="all"/><touch name="half" site="half"/><touch name="top" site="top"/>
         <accelerometer name="a" site="eye"/><rangefinder name="up" site="eye"/><rangefinder name="down" site="down"/>
         <rangefinder name="near" site="down" cutoff="0.25"/><force name="f" site="eye"/>)");
  Recipe recipe = recipe_for(robot.scene, Dial::balanced);
  World world(robot.scene, recipe);
  Sensors sensors(robot, world);
  for (int k = 0; k < 200; ++k) world.step(1e-3);
  sensors.read(world);
  EXPECT_NEAR(sensors.of("all")[0], 6 * 9.81, 1e-4);
  EXPECT_NEAR(sensors.of("half")[0], 3 * 9.81, 0.01);
  EXPECT_EQ(sensors.of("top")[0], 0);
  EXPECT_NEAR((said(sensors, "a") - Vec3(0, 0, 9.81)).norm(), 0, 1e-4);
  EXPECT_EQ(sensors.of("up")[0], -1);
  EXPECT_NEAR(sensors.of("down")[0], 0.4, 1e-4);
  EXPECT_EQ(sensors.of("near")[0], 0.25);
  // Nothing holds it but the ground.
  EXPECT_NEAR(said(sensors, "f").norm(), 0, 1e-3);
}

TEST(RobotSensors, MotorsAndTendonsSayWhatTheyDo) {
  const Robot robot = robot_with_sensors(
      R"(<body name="a"><joint name="j" axis="0 0 1" actuatorfrcrange="-7 7"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
           <body name="b" pos="1 0 0"><joint name="k" axis="0 0 1" ref="0.1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
             <body name="c" pos="1 0 0"><joint name="ball" type="ball"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
           </body></body>)",
      R"(<actuatorpos name="L" actuator="servo"/><actuatorvel name="L'" actuator="servo"/><actuatorfrc name="f" actuator="servo"/>
         <actuatorfrc name="g" actuator="motor"/><jointactuatorfrc name="both" joint="j"/><tendonpos name="t" tendon="sum"/>
         <tendonvel name="t'" tendon="sum"/><jointpos name="k" joint="k"/><ballquat name="turn" joint="ball"/>
         <ballangvel name="spin" joint="ball"/><user name="mine" dim="2"/>)",
      R"(<tendon><fixed name="sum"><joint joint="j" coef="2"/><joint joint="k" coef="-1"/></fixed></tendon>
         <actuator><position name="servo" joint="j" gear="2" kp="10" kv="1"/><motor name="motor" joint="j" ctrlrange="-5 5" gear="3"/></actuator>
         <keyframe><key qpos="0.3 0.2 0.9 0.43588989435406736 0 0" ctrl="1 9"/></keyframe>)",
      {.motors_act = false});
  EXPECT_TRUE(std::ranges::any_of(robot.remarks, [](const RobotRemark& r) { return r.what.find("user") != std::string::npos; }));
  World world(robot.scene, recipes::exact());
  Sensors sensors(robot, world);
  Actuators motors(robot.actuators, world);
  sensors.read(world);
  EXPECT_NEAR(sensors.of("L")[0], 0.6, 1e-12);
  EXPECT_NEAR(sensors.of("f")[0], 10 * (1 - 0.6), 1e-12);
  EXPECT_NEAR(sensors.of("g")[0], 5, 1e-12);
  EXPECT_NEAR(sensors.of("both")[0], 7, 1e-12);  // 2 * 4 + 3 * 5, bounded
  EXPECT_NEAR(sensors.of("t")[0], 0.6 - 0.2, 1e-12);
  EXPECT_NEAR(sensors.of("k")[0], 0.2, 1e-12);
  EXPECT_NEAR(sensors.of("turn")[0], 0.9, 1e-12);
  EXPECT_NEAR(sensors.of("turn")[1], std::sqrt(0.19), 1e-12);
  motors.tell(world, std::vector<double>{0.7, -1}, 1e-3);
  for (int k = 0; k < 10; ++k) world.step(1e-3);
  sensors.read(world, &motors);
  const double rate = world.joint_rate(world.joint("j")), other = world.joint_rate(world.joint("k"));
  EXPECT_NEAR(sensors.of("L'")[0], 2 * rate, 1e-12);
  EXPECT_NEAR(sensors.of("t'")[0], 2 * rate - other, 1e-12);
  EXPECT_NEAR(sensors.of("f")[0], 10 * (0.7 - sensors.of("L")[0]) - 2 * rate, 1e-12);
  EXPECT_NEAR(sensors.of("g")[0], -1, 1e-12);
  const Vec3 spin = world.angular_velocity("c") - world.angular_velocity("b");
  EXPECT_NEAR((world.orientation("c") * said(sensors, "spin") - spin).norm(), 0, 1e-12);
  EXPECT_GT(spin.norm(), 1e-3);
}

TEST(RobotSensors, AWristFeelsWhatItCarriesAndWhatItPushesAgainst) {
  // An arm that stands on its motor: the wrist's joint bears what is beyond it, less what the ground bears.
  const auto wrist = [](double height) {
    return robot_with_sensors(
        fmt::format(
            R"(<geom type="plane" size="1 1 1"/><body name="post" pos="0 0 {}"><joint name="lift" type="slide" axis="0 0 1"/>
          <inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/><body name="hand"><joint name="turn" axis="0 0 1"/>
          <site name="wrist"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
          <body name="finger" pos="0 0 -0.1"><inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
          <geom type="sphere" size="0.05"/></body></body></body>)",
            height),
        R"(<force name="f" site="wrist"/><torque name="t" site="wrist"/><touch name="touch" site="wrist"/>)");
  };
  {  // The finger stands on the ground and carries all.
    const Robot robot = wrist(0.15);
    World world(robot.scene, recipe_for(robot.scene, Dial::balanced));
    Sensors sensors(robot, world);
    for (int k = 0; k < 200; ++k) world.step(1e-3);
    sensors.read(world);
    EXPECT_NEAR((said(sensors, "f") - Vec3(0, 0, -3 * 9.81)).norm(), 0, 1e-3);
  }
  {  // It falls: nothing bears anything.
    const Robot robot = wrist(3);
    World world(robot.scene, recipe_for(robot.scene, Dial::balanced));
    Sensors sensors(robot, world);
    for (int k = 0; k < 100; ++k) world.step(1e-3);
    sensors.read(world);
    EXPECT_NEAR(said(sensors, "f").norm(), 0, 1e-6);
    EXPECT_NEAR(said(sensors, "t").norm(), 0, 1e-6);
  }
}

}  // namespace
}  // namespace rotule
