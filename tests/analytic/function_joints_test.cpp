// Joints that are written as functions: screw, rack and pinion, pulley, differential, rail, cam, constant velocity, cone limits;
// and joints that break. Each against what statics, kinematics or the calculus of one variable says of it.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/inverse.h>
#include <rotule/relaxation.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

Recipe fine(double dt = 1e-3) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  return recipe;
}
BodyDef block(const std::string& name, double mass, const Vec3& at, const Vec3& inertia) {
  return {.name = name, .mass = mass, .inertia = Mat3(inertia.asDiagonal()), .position = at};
}

TEST(Screw, ANutFallsAsItsThreadLetsIt) {
  // (m + I (2 pi / pitch)^2) z'' = -m g over many turns, and the angle goes with the height.
  const double m = 0.5, I = 2e-4, pitch = 0.01, per = 2 * pi / pitch;
  Scene scene;
  scene.add(block("nut", m, Vec3(0.2, 0, 0), Vec3(I, I, I)));
  scene.add(Screw{.name = "thread", .between = {"world", "nut"}, .at = Vec3(0.2, 0, 0), .pitch = pitch});
  World world(scene, fine());
  const double fall = -m * g / (m + I * per * per);
  for (int i = 0; i < 2000; ++i) world.step(1e-3);
  const double t = world.time();
  EXPECT_NEAR(world.position("nut").z(), 0.5 * fall * t * t, 1e-9);
  EXPECT_NEAR(world.velocity("nut").z() * per, world.angular_velocity("nut").z(), 1e-9);
  EXPECT_GT(std::abs(world.position("nut").z()) / pitch, 2.0) << "turns";
  EXPECT_LT(world.joint_error(world.joint("thread")).position, 1e-12);
}

TEST(RackAndPinion, TravelGoesWithTheTurn) {
  // A torque on the pinion moves the rack: (m + I / r^2) x'' = torque / r, by a weight on a second rack's side.
  const double m = 2, I = 0.03, r = 0.05;
  Scene scene;
  scene.gravity = Vec3(3.0, 0, 0);  // pulls at the rack
  scene.add(block("pinion", 1, Vec3(0, 0, 0), Vec3(I, I, I)));
  scene.add(block("rack", m, Vec3(0, -r, 0), Vec3(1, 1, 1)));
  scene.add(Hinge{.between = {"world", "pinion"}});
  scene.add(Slider{.between = {"world", "rack"}, .axis = Vec3(1, 0, 0)});
  scene.add(RackAndPinion{.name = "teeth", .between = {"pinion", "rack"}, .direction = Vec3(1, 0, 0), .radius = r});
  World world(scene, fine());
  for (int i = 0; i < 1000; ++i) world.step(1e-3);
  const double a = m * 3.0 / (m + I / (r * r)), t = world.time();
  EXPECT_NEAR(world.position("rack").x(), 0.5 * a * t * t, 1e-9);
  EXPECT_NEAR(world.angular_velocity("pinion").z(), a * t / r, 1e-7);
  EXPECT_NEAR(world.joint_force("teeth").force.x(), m * a - m * 3.0, 1e-7);
}

TEST(Pulley, AtwoodsMachineAndItsTackle) {
  // m1 and m2 hang from a rope; with a tackle of ratio 2 the second moves half as far.
  for (const double ratio : {1.0, 2.0}) {
    const double m1 = 1, m2 = 3;
    Scene scene;
    scene.add({.name = "one", .mass = m1, .position = Vec3(-0.5, 0, 0)});
    scene.add({.name = "two", .mass = m2, .position = Vec3(0.5, 0, 0.5)});
    scene.add(
        Pulley{.name = "rope", .between = {"one", "two"}, .over_a = Vec3(-0.5, 0, 2), .over_b = Vec3(0.5, 0, 2), .ratio = ratio});
    World world(scene, fine());
    for (int i = 0; i < 500; ++i) world.step(1e-3);
    // Tension T: m1 z1'' = T - m1 g, m2 z2'' = ratio T - m2 g, z1'' + ratio z2'' = 0.
    const double T = (1 + ratio) * g / (1 / m1 + ratio * ratio / m2), a1 = T / m1 - g, t = world.time();
    EXPECT_NEAR(world.position("one").z(), 0.5 * a1 * t * t, 1e-9) << ratio;
    EXPECT_NEAR(world.position("two").z(), 0.5 - 0.5 * a1 / ratio * t * t, 1e-9) << ratio;
    EXPECT_NEAR(world.joint_force("rope").force.norm(), ratio * T, 1e-6) << ratio;
  }
}

TEST(Pulley, ASlackRopePullsOnlyWhenTaut) {
  // The rope is long enough: both fall freely until it is taut, and lengths never exceed it.
  Scene scene;
  scene.add({.name = "one", .mass = 1, .position = Vec3(-0.5, 0, 0), .velocity = Vec3(0, 0, 3)});
  scene.add({.name = "two", .mass = 1, .position = Vec3(0.5, 0, 0)});
  scene.add(
      Pulley{.name = "rope", .between = {"one", "two"}, .over_a = Vec3(-0.5, 0, 2), .over_b = Vec3(0.5, 0, 2), .slack = true});
  for (const bool impulses : {false, true}) {
    SCOPED_TRACE(impulses);
    Recipe recipe = impulses ? recipes::balanced() : fine();
    recipe.dt = 1e-3;
    recipe.contacts = NoContactSettings{};
    World world(scene, recipe);
    double longest = 0;
    bool loose = false, held = false;
    for (int i = 0; i < 600; ++i) {
      world.step(1e-3);
      const double length = (world.position("one") - Vec3(-0.5, 0, 2)).norm() + (world.position("two") - Vec3(0.5, 0, 2)).norm();
      longest = std::max(longest, length);
      loose = loose || length < 3.9;
      held = held || (loose && length > 4 - 1e-6 && world.joint_force("rope").force.norm() > 0.1);
    }
    EXPECT_LT(longest, 4 + 1e-6);
    EXPECT_TRUE(loose);
    EXPECT_TRUE(held);
  }
}

TEST(Differential, WheelsShareWhatTheCaseGives) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  for (const auto& [name, I] : {std::pair("left", 0.1), std::pair("right", 0.3), std::pair("case", 0.2)})
    scene.add(block(name, 1, Vec3(0, 0, 0), Vec3(I, I, I)));
  for (const char* name : {"left", "right"}) scene.add(Hinge{.between = {"world", name}});
  scene.add(Hinge{.name = "motor", .between = {"world", "case"}, .drive = {.motor_torque = 2.0}});
  scene.add(Differential{.name = "gears", .between = {"left", "right"}, .housing = "case"});
  World world(scene, fine());
  for (int i = 0; i < 2000; ++i) world.step(1e-3);
  // The same torque on both wheels, L = -lambda: 2 (case) = left + right.
  const double t = world.time(), L = 2.0 / (2 + 0.2 / 2 * (1 / 0.1 + 1 / 0.3));
  EXPECT_NEAR(world.angular_velocity("left").z(), L / 0.1 * t, 1e-7);
  EXPECT_NEAR(world.angular_velocity("right").z(), L / 0.3 * t, 1e-7);
  EXPECT_NEAR(2 * world.angular_velocity("case").z(), world.angular_velocity("left").z() + world.angular_velocity("right").z(),
              1e-10);
}

TEST(Rail, ABeadKeepsItsEnergyOnASpline) {
  Scene scene;
  std::vector<Vec3> points;
  for (int k = 0; k < 12; ++k)
    points.emplace_back(std::cos(k * pi / 6), std::sin(k * pi / 6), 0.3 * std::sin(k * pi / 3) + 0.1 * std::cos(k * pi / 6));
  scene.add({.name = "bead", .mass = 0.4, .position = points[1]});
  scene.add(Rail{.name = "track", .between = {"world", "bead"}, .points = points, .closed = true});
  World world(scene, fine());
  const double before = world.diagnostics().energy();
  double worst = 0, error = 0;
  for (int i = 0; i < 800; ++i) {
    world.step(1e-3);
    worst = std::max(worst, std::abs(world.diagnostics().energy() - before));
    error = std::max(error, world.joint_error(world.joint("track")).position);
  }
  EXPECT_LT(worst, 1e-7);
  EXPECT_LT(error, 1e-10);

  // One that is carried: the same curve on a cart moves with it.
  Scene carried = scene;
  carried.gravity = Vec3::Zero();
  carried.bodies[0].velocity = Vec3(0.4, 0.2, 0);
  carried.add({.name = "cart", .mass = 3, .velocity = Vec3(0.4, 0.2, 0), .shape = Box{}});
  std::get<Rail>(carried.joints[0]).between = {"cart", "bead"};
  World moving(carried, fine());
  for (int i = 0; i < 200; ++i) moving.step(1e-3);
  EXPECT_LT((moving.position("bead") - points[1] - 0.2 * Vec3(0.4, 0.2, 0)).norm(), 1e-10);
}

TEST(Rail, SaysWhereItEnds) {
  Scene scene;
  scene.add({.name = "bead", .mass = 1, .position = Vec3(0.5, 0, -0.05)});
  scene.add(
      Rail{.name = "slope", .between = {"world", "bead"}, .points = {Vec3(0, 0, 0), Vec3(0.5, 0, -0.05), Vec3(1, 0, -0.2)}});
  // Methods that control their error try shorter and shorter steps first, and then say why none of them did.
  Recipe controlled = fine(1e-2);
  controlled.integrator = DormandPrince8Settings{};
  for (const Recipe& recipe : {fine(1e-2), controlled}) {
    World world(scene, recipe);
    try {
      for (int i = 0; i < 1000; ++i) world.step(1e-2);
      FAIL() << "it ran off its rail";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("slope"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("end"), std::string::npos);
    }
  }
}

TEST(Cam, AnEccentricLiftsAsItsCosine) {
  // The edge is a circle of radius r about a point that is e off the axis; followers with a roller follow the larger circle.
  for (const double roller : {0.0, 0.05}) {
    SCOPED_TRACE(roller);
    const double r = 0.3, e = 0.1, speed = 3;
    Scene scene;
    scene.add({.name = "cam", .mass = 1, .inertia = Mat3(Mat3::Identity()), .angular_velocity = Vec3(0, 0, speed)});
    std::vector<Vec3> edge;
    for (int k = 0; k < 60; ++k) edge.emplace_back(e + r * std::cos(k * pi / 30), r * std::sin(k * pi / 30), 0);
    scene.add({.name = "rod", .mass = 0.5, .inertia = Mat3(Mat3::Identity()), .position = Vec3(e + r + roller, 0, 0.2)});
    scene.add(Hinge{.between = {"world", "cam"}, .drive = {.motion = GivenMotion{.speed = speed}}});
    scene.add(Slider{.between = {"world", "rod"}, .axis = Vec3(1, 0, 0)});
    scene.add(Cam{.name = "edge", .between = {"cam", "rod"}, .profile = edge, .roller = roller});
    World world(scene, fine(5e-3));
    double worst = 0;
    for (int i = 0; i < 400; ++i) {
      world.step(5e-3);
      const double phi = speed * world.time(), R = r + roller;
      const double lift = e * std::cos(phi) + std::sqrt(R * R - e * e * std::sin(phi) * std::sin(phi));
      worst = std::max(worst, std::abs(world.position("rod").x() - lift));
    }
    EXPECT_LT(worst, 1e-6) << "the spline through 60 points of a circle";
  }
}

TEST(ConstantVelocity, ShaftsTurnEquallyFastAtAnyAngle) {
  // Two shafts in bearings at an angle, described straight and bent before the start: a universal joint would make the second
  // uneven.
  const double bend = 0.6;
  const Vec3 axis(std::sin(bend), 0, std::cos(bend));
  Recipe recipe = fine();
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add(block("first", 1, Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.1)));
  scene.add(block("second", 1, Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.1)));
  scene.add(Hinge{.between = {"world", "first"}});
  World world(scene, recipe);
  const JointId joint = world.add(ConstantVelocity{.name = "homokinetic", .between = {"first", "second"}});
  world.set_pose(world.body("second"), {Vec3::Zero(), Quat(Eigen::AngleAxisd(bend, Vec3::UnitY()))});
  world.add(Hinge{.name = "bearing", .between = {"world", "second"}, .axis = axis});
  world.set_velocity(world.body("first"), Vec3::Zero(), 5 * Vec3::UnitZ());
  world.set_velocity(world.body("second"), Vec3::Zero(), 5 * axis);
  double worst = 0, error = 0;
  for (int i = 0; i < 1500; ++i) {
    world.step(1e-3);
    worst = std::max(worst, std::abs(world.angular_velocity("second").dot(axis) - world.angular_velocity("first").z()));
    error = std::max(error, world.joint_error(joint).position);
  }
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(error, 1e-10);
  EXPECT_NEAR(world.angular_velocity("first").z(), 5, 1e-9);

  // The joint itself: a shaft hangs from a driven one and is swung aside; it turns as fast about itself.
  Scene hanging;
  hanging.add(block("driver", 1, Vec3(0, 0, 0.5), Vec3(0.1, 0.1, 0.1)));
  hanging.add(block("shaft", 1, Vec3(0, 0, -0.5), Vec3(0.1, 0.1, 0.02)));
  hanging.bodies[1].angular_velocity = Vec3(1.0, 0, 0);
  hanging.bodies[1].velocity = Vec3(0, 0.5, 0);
  hanging.add(Weld{.between = {"world", "driver"}});
  hanging.add(ConstantVelocity{.name = "joint", .between = {"driver", "shaft"}});
  World swings(hanging, recipe);
  const double before = swings.diagnostics().energy();
  for (int i = 0; i < 1000; ++i) swings.step(1e-3);
  EXPECT_NEAR(swings.diagnostics().energy(), before, 1e-9);
  EXPECT_LT(swings.joint_error(swings.joint("joint")).position, 1e-12);
}

TEST(ConeLimit, ABallJointStaysWithinItsCone) {
  for (const bool impulses : {false, true}) {
    SCOPED_TRACE(impulses);
    Scene scene;
    scene.add(block("arm", 1, Vec3(0, 0, -0.5), Vec3(0.08, 0.08, 0.01)));
    scene.bodies[0].velocity = Vec3(2.0, 0, 0);
    scene.bodies[0].angular_velocity = Vec3(0, -4.0, 0);
    scene.add(Ball{.name = "shoulder", .between = {"world", "arm"}});
    scene.add(ConeLimit{.name = "cone", .between = {"world", "arm"}, .axis = Vec3(0, 0, -1), .angle = 0.5});
    Recipe recipe = impulses ? recipes::balanced() : fine();
    recipe.dt = 1e-3;
    recipe.contacts = NoContactSettings{};
    World world(scene, recipe);
    double widest = 0;
    for (int i = 0; i < 1500; ++i) {
      world.step(1e-3);
      const Vec3 axis = world.orientation("arm") * Vec3(0, 0, -1);
      widest = std::max(widest, std::acos(std::clamp(-axis.z(), -1.0, 1.0)));
    }
    EXPECT_GT(widest, 0.499);
    EXPECT_LT(widest, 0.5 + 1e-5);
  }
}

TEST(ConeLimit, AtItsMiddleInAMechanismWithLoopsItHoldsNothing) {
  // A cone has no gradient at its middle, and where there are loops redundant rows are looked for in every step: a row of zeros
  // must neither stop the mechanism nor change its motion.
  Scene free;
  free.gravity = Vec3(2, 1, -9.81);
  const Vec3 I(0.02, 0.03, 0.04);
  free.add(block("crank", 1, Vec3(0, 0, 0.25), I));
  free.add(block("coupler", 1, Vec3(0.5, 0, 0.5), I));
  free.add(block("rocker", 1, Vec3(1, 0, 0.25), I));
  free.add(block("arm", 1, Vec3(0.5, 0, 0.2), I));
  free.add(Hinge{.between = {"world", "crank"}, .at = Vec3(0, 0, 0), .axis = Vec3(0, 1, 0)});
  free.add(Hinge{.between = {"crank", "coupler"}, .at = Vec3(0, 0, 0.5), .axis = Vec3(0, 1, 0)});
  free.add(Hinge{.between = {"coupler", "rocker"}, .at = Vec3(1, 0, 0.5), .axis = Vec3(0, 1, 0)});
  free.add(Hinge{.between = {"world", "rocker"}, .at = Vec3(1, 0, 0), .axis = Vec3(0, 1, 0)});
  free.add(Ball{.between = {"coupler", "arm"}, .at = Vec3(0.5, 0, 0.5)});
  Scene limited = free;
  limited.add(ConeLimit{.between = {"coupler", "arm"}, .axis = Vec3(0, 0, -1), .angle = 1.2});
  World without(free, fine()), with(limited, fine());
  for (int i = 0; i < 300; ++i) {
    without.step(1e-3);
    with.step(1e-3);
    ASSERT_LT((with.position("arm") - without.position("arm")).norm(), 1e-9) << i;
  }
  EXPECT_GT((with.position("arm") - Vec3(0.5, 0, 0.2)).norm(), 0.01);
}

TEST(ConeLimit, CarriesWhatRestsOnIt) {
  // A damped pendulum comes to rest on a stop, on a bound, on its cone: each is in equilibrium there, and none where it swings.
  const double angle = 0.3;
  const Quat tilted(Eigen::AngleAxisd(-0.5, Vec3::UnitY()));
  Scene plain;
  plain.add(
      {.name = "arm", .mass = 1, .position = tilted * Vec3(0, 0, -0.5), .orientation = tilted, .shape = Box{Vec3(0.1, 0.1, 1)}});
  plain.add(Hinge{.name = "pin", .between = {"world", "arm"}, .axis = Vec3(0, 1, 0), .drive = {.damping = 5}});
  Scene stop = plain, bound = plain, cone = plain;
  Drive& drive = std::get<Hinge>(stop.joints[0]).drive;
  drive.lower = -0.1;
  drive.upper = 0.5 - angle;
  bound.add(Constraint{.between = {"world", "arm"}, .at_least = 0.5 * std::sin(angle), .equation = "arm.x"});
  cone.add(ConeLimit{.between = {"world", "arm"},
                     .axis = tilted * Vec3(0, 0, -1),
                     .center = Vec3(std::sin(1.0), 0, -std::cos(1.0)),
                     .angle = 1 - angle});
  for (const Scene& scene : {stop, bound, cone}) {
    World world(scene, fine());
    EXPECT_GT(world.balance(1e-3, 1e-3).force, 1);
    for (int i = 0; i < 12000; ++i) world.step();
    EXPECT_NEAR(world.position("arm").x(), 0.5 * std::sin(angle), 1e-6);
    const Balance rest = world.balance(1e-3, 1e-3);
    EXPECT_EQ(rest.restless_count, 0);
    EXPECT_LT(rest.force, 1e-6);
    World led(scene, fine());
    relax(led);
    EXPECT_NEAR(led.position("arm").x(), 0.5 * std::sin(angle), 1e-6);
  }
}

/// One mechanism of each kind that is a function, side by side, all on the move.
Scene all_kinds() {
  Scene scene;
  const Vec3 I(0.02, 0.03, 0.04);
  const auto add = [&](const std::string& name, const Vec3& at, const Vec3& v = Vec3::Zero(), const Vec3& omega = Vec3::Zero()) {
    scene.add(block(name, 1, at, I));
    scene.bodies.back().velocity = v;
    scene.bodies.back().angular_velocity = omega;
  };
  add("nut", {0, 0, 0});
  scene.add(Screw{.name = "thread", .between = {"world", "nut"}, .pitch = 0.5});
  add("pinion", {0, 2, 0}, Vec3::Zero(), {0, 0, 2});
  add("rack", {0, 2.3, 0}, {0.4, 0, 0});
  scene.add(Hinge{.between = {"world", "pinion"}, .at = {0, 2, 0}});
  scene.add(Slider{.between = {"world", "rack"}, .at = {0, 2.3, 0}, .axis = {1, 0, 0}, .drive = {.stiffness = 30}});
  scene.add(RackAndPinion{.name = "mesh", .between = {"pinion", "rack"}, .radius = 0.2});
  for (const bool slack : {false, true}) {
    const std::string n = slack ? "_slack" : "_taut";
    const double y = slack ? 5 : 4;
    add("one" + n, {-0.5, y, 0}, {0, 0, slack ? 3.0 : 0.0});
    add("two" + n, {0.5, y, 0.1});
    scene.add(Pulley{.name = "rope" + n,
                     .between = {"one" + n, "two" + n},
                     .from = Vec3(-0.5, y, 0.05),
                     .over_a = {-0.5, y, 2},
                     .over_b = {0.5, y, 2},
                     .ratio = 2,
                     .slack = slack});
  }
  for (const auto& [name, spin] : {std::pair("left", 3.0), std::pair("right", 1.0), std::pair("case", 2.0)}) {
    add(name, {0, 7, 0}, Vec3::Zero(), {0, 0, spin});
    scene.add(Hinge{.between = {"world", name}, .at = {0, 7, 0}, .drive = {.damping = spin}});
  }
  scene.add(Differential{.name = "differential", .between = {"left", "right"}, .housing = "case"});
  add("bead", {0, 9, 0});
  scene.add(Rail{.name = "wire", .between = {"world", "bead"}, .points = {{-1, 9, 0.5}, {0, 9, 0}, {1, 9.3, 0.2}, {2, 9, 1}}});
  add("cam", {0, 11, 0}, Vec3::Zero(), {0, 0, 3});
  add("rod", {0.4, 11, 0.2});
  std::vector<Vec3> edge;
  for (int k = 0; k < 24; ++k) edge.emplace_back(0.1 + 0.3 * std::cos(k * pi / 12), 11 + 0.3 * std::sin(k * pi / 12), 0);
  scene.add(Hinge{.between = {"world", "cam"},
                  .at = {0, 11, 0},
                  .drive = {.motion = GivenMotion{.speed = 3, .amplitude = 0.1, .frequency = 5}}});
  scene.add(Slider{.between = {"world", "rod"}, .at = {0.4, 11, 0.2}, .axis = {1, 0, 0}});
  scene.add(Cam{.name = "edge", .between = {"cam", "rod"}, .profile = edge});
  add("driver", {0, 13, 0.5});
  add("shaft", {0, 13, -0.5}, {0, 0.5, 0}, {1, 0, 0.5});
  scene.add(Hinge{.between = {"world", "driver"}, .at = {0, 13, 0}});
  scene.add(ConstantVelocity{.name = "homokinetic", .between = {"driver", "shaft"}, .at = {0, 13, 0}});
  add("coin", {0, 15, 0.3}, {0.6, 0, 0}, {0.3, 2, 1});
  scene.add(Rolling{.name = "rolls", .between = {"world", "coin"}, .axis = Vec3(0, 1, 0), .radius = 0.3});
  add("sled", {0, 17, 0}, {1, -0.1, 0}, {0, 0, 0.5});
  scene.add(Planar{.between = {"world", "sled"}, .at = {0, 17, 0}});
  scene.add(KnifeEdge{.name = "blade", .between = {"world", "sled"}, .at = {0.2, 17, 0}});
  add("swing", {0, 19, -0.5}, {2, 0, 0}, {0, -4, 0});
  scene.add(Ball{.between = {"world", "swing"}, .at = {0, 19, 0}});
  scene.add(ConeLimit{.name = "cone", .between = {"world", "swing"}, .axis = {0, 0, -1}, .angle = 0.5});
  add("small", {0, 21, 0}, Vec3::Zero(), {0, 0, 2});
  add("large", {0.3, 21, 0}, Vec3::Zero(), {0, 0, -1});
  scene.add(Hinge{.between = {"world", "small"}, .at = {0, 21, 0}});
  scene.add(Hinge{.between = {"world", "large"}, .at = {0.3, 21, 0}, .drive = {.stiffness = 1}});
  scene.add(Gear{.name = "gear", .between = {"small", "large"}, .teeth_a = 10, .teeth_b = 20});
  add("pearl", {std::cos(0.3), 0.3, -0.09});
  scene.add(
      Constraint{.name = "curve", .between = {"world", "pearl"}, .equation = {"pearl.x - cos(pearl.y)", "pearl.z + pearl.y^2"}});
  return scene;
}

TEST(FunctionJoints, ASceneMovesOnWhenItIsDescribedAnew) {
  const Scene scene = all_kinds();
  World world(scene, fine());
  world.project();
  for (int i = 0; i < 200; ++i) world.step();
  const Scene anew = parse_scene(to_json(posed(scene, world)));
  // A rope that hangs loose and shafts at an angle have no kind of their own.
  for (std::size_t j = 0; j < scene.joints.size(); ++j) {
    const std::string& name = std::visit([](const auto& joint) -> const std::string& { return joint.name; }, anew.joints[j]);
    const bool as_text = name == "rope_slack" || name == "homokinetic" || name == "curve";
    EXPECT_EQ(std::holds_alternative<Constraint>(anew.joints[j]), as_text) << name;
  }
  World other(anew, fine());
  other.project();
  EXPECT_LT(other.diagnostics().joint_error.position, 1e-9);
  for (int i = 0; i < 400; ++i) {
    world.step();
    other.step();
  }
  for (const BodyDef& body : scene.bodies)
    EXPECT_LT((world.position(body.name) - other.position(body.name)).norm(), 1e-7) << body.name;
}

TEST(FunctionJoints, WhatCannotBeDescribedAnewIsNamed) {
  const auto message = [](Scene scene, int steps) -> std::string {
    World world(scene, fine());
    for (int i = 0; i < steps; ++i) world.step();
    try {
      static_cast<void>(posed(scene, world));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Scene timed;
  timed.add(block("bead", 1, Vec3::Zero(), Vec3::Ones()));
  timed.add(Constraint{.name = "lift", .between = {"world", "bead"}, .equation = "bead.z - 0.1 * sin(t)"});
  EXPECT_EQ(message(timed, 0), "");
  EXPECT_NE(message(timed, 3).find("joint \"lift\": it speaks of the time"), std::string::npos);
  // A bowl that falls, and the ball in it.
  Scene bowl;
  bowl.add(block("bowl", 1, Vec3::Zero(), Vec3::Ones()));
  bowl.add(block("ball", 1, Vec3(0, 0, -0.8), Vec3::Ones()));
  bowl.add(Rolling{.name = "rolls", .between = {"bowl", "ball"}, .surface = "x^2 + y^2 + z^2 - 1", .radius = 0.2});
  EXPECT_EQ(message(bowl, 0), "");
  EXPECT_NE(message(bowl, 3).find("joint \"rolls\": its surface has moved with body \"bowl\""), std::string::npos);
}

TEST(Breaking, ARodTearsWhereItsPullIsTooLarge) {
  // A pendulum let go level pulls with 3 m g sin(angle): a rod that bears 2 m g tears at sin(angle) = 2/3.
  Scene scene;
  scene.add({.name = "bob", .mass = 1, .position = Vec3(1, 0, 0)});
  scene.add(Rod{.name = "string", .between = {"world", "bob"}, .from = Vec3(0, 0, 0), .breaks = {.force = 2 * g}});
  World world(scene, fine());
  int broke = 0;
  Vec3 at = Vec3::Zero();
  for (int i = 0; i < 1000; ++i) {
    if (world.step(1e-3).broken > 0) {
      ++broke;
      at = world.position("bob");
      ASSERT_EQ(world.broken().size(), 1u);
      EXPECT_EQ(world.broken()[0].joint, "string");
      EXPECT_NEAR(world.broken()[0].force, 2 * g, 0.1);
    }
  }
  EXPECT_EQ(broke, 1);
  EXPECT_NEAR(-at.z(), 2.0 / 3, 0.01);
  EXPECT_TRUE(world.broken().empty()) << "of the last step alone";
  EXPECT_GT((world.position("bob") - at).norm(), 1.0) << "it flies on";
}

TEST(Clockwork, OfTwelveGearsKeepsItsRatios) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  const int wheels = 13;
  for (int k = 0; k < wheels; ++k) {
    scene.add(block("wheel" + std::to_string(k), 1, Vec3(k, 0, 0), Vec3(0.1, 0.1, 0.1)));
    scene.add(Hinge{.between = {"world", "wheel" + std::to_string(k)}, .at = Vec3(k, 0, 0)});
  }
  std::vector<double> ratio{1};
  for (int k = 0; k + 1 < wheels; ++k) {
    const int a = 10 + k, b = 23 - k;
    scene.add(Gear{.between = {"wheel" + std::to_string(k), "wheel" + std::to_string(k + 1)}, .teeth_a = a, .teeth_b = b});
    ratio.push_back(-ratio.back() * a / b);
  }
  for (int k = 0; k < wheels; ++k)
    scene.bodies[static_cast<std::size_t>(k)].angular_velocity = Vec3(0, 0, 40 * ratio[static_cast<std::size_t>(k)]);
  // A million steps where somebody asks for them.
  const char* given = std::getenv("ROTULE_CLOCKWORK_STEPS");
  const int steps = given ? std::atoi(given) : 3000;
  World world(scene, fine());
  double worst = 0, slip = 0;
  for (int i = 0; i < steps; ++i) {
    world.step(1e-3);
    for (int k = 0; k < wheels; ++k)
      worst = std::max(
          worst, std::abs(world.angular_velocity("wheel" + std::to_string(k)).z() - 40 * ratio[static_cast<std::size_t>(k)]));
  }
  for (const JointId joint : world.joints()) slip = std::max(slip, world.joint_error(joint).position);
  EXPECT_LT(worst, 1e-9);
  EXPECT_LT(slip, 1e-11);
}

}  // namespace
}  // namespace rotule
