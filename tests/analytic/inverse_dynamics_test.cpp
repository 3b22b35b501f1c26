// Inverse dynamics (A11): torques against closed forms, against the multipliers of given motions, recursion against rows; and fed
// forward, the motion comes back.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/inverse_dynamics.h>

#include <cmath>
#include <numbers>

#include "math/rotation.h"
#include "scenes/builders.h"
#include "support/constants.h"

namespace rotule {
namespace {

using std::numbers::pi;

Recipe recorded_by(double dt = 2e-3) {
  Recipe recipe = recipes::exact();
  set(recipe, "integrator", "dormand_prince_8");
  recipe.dt = dt;
  return recipe;
}

/// A robot of six axes, shoulder and elbow bent, the wrist's three axes close together; each axis sways.
Scene six_axes() {
  Scene scene;
  const std::vector<Vec3> points{{0, 0, 0},       {0, 0, 0.4},    {0.3, 0, 0.6}, {0.6, 0, 0.5},
                                 {0.75, 0, 0.45}, {0.85, 0, 0.4}, {0.95, 0, 0.4}};
  const std::vector<Vec3> axes{{0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  std::string before = "world";
  for (int k = 0; k < 6; ++k) {
    const std::string name = "link" + std::to_string(k);
    const Vec3 to = points[k + 1] - points[k];
    scene.add({.name = name,
               .mass = 12.0 / (k + 1),
               .position = 0.5 * (points[k] + points[k + 1]),
               .orientation = rotation_between(Vec3::UnitZ(), to),
               .shape = Box{Vec3(0.14, 0.14, to.norm() + 0.05)}});
    scene.add(Hinge{.name = "axis" + std::to_string(k),
                    .between = {before, name},
                    .at = points[k],
                    .axis = axes[k],
                    .drive = {.damping = 0.2, .motion = GivenMotion{.amplitude = 0.4 + 0.05 * k, .frequency = 3.0 + 0.7 * k}}});
    before = name;
  }
  return scene;
}

/// A platform on six legs that become longer and shorter.
Scene stewart() {
  Scene scene;
  scene.add({.name = "platform", .mass = 20, .position = {0, 0, 1}, .shape = Cylinder{0.4, 0.05}});
  for (int k = 0; k < 6; ++k) {
    const double a = k / 2 * 2 * pi / 3 + (k % 2 ? 0.3 : -0.3), b = k / 2 * 2 * pi / 3 + (k % 2 ? 0.7 : -0.7);
    const Vec3 foot(0.8 * std::cos(a), 0.8 * std::sin(a), 0), head(0.4 * std::cos(b), 0.4 * std::sin(b), 1);
    const Quat along = rotation_between(Vec3::UnitZ(), head - foot);
    const std::string n = std::to_string(k);
    for (const auto& [name, share] : {std::pair("lower", 0.25), std::pair("upper", 0.75)})
      scene.add({.name = name + n,
                 .mass = 2.5,
                 .position = foot + share * (head - foot),
                 .orientation = along,
                 .shape = Cylinder{0.03, 0.5 * (head - foot).norm()}});
    scene.add(Universal{.name = "foot" + n,
                        .between = {"world", "lower" + n},
                        .at = foot,
                        .axis_a = along * Vec3::UnitX(),
                        .axis_b = along * Vec3::UnitY()});
    scene.add(Slider{.name = "leg" + n,
                     .between = {"lower" + n, "upper" + n},
                     .at = 0.5 * (foot + head),
                     .axis = head - foot,
                     .drive = {.motion = GivenMotion{.amplitude = 0.05 + 0.01 * k, .frequency = 4 + 0.3 * k}}});
    scene.add(Ball{.name = "head" + n, .between = {"upper" + n, "platform"}, .at = head});
  }
  return scene;
}

/// The mannequin's joints, with torques of muscles about axes of their first bodies.
Scene with_muscles(Scene scene) {
  const std::vector<JointDef> joints = scene.joints;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const Vec3 axis = 0.02 * Vec3(std::sin(k), std::cos(k), 0.5);
    const double frequency = 2 + 0.3 * static_cast<double>(k);
    scene.add(UserForce{.between = std::get<Ball>(joints[k]).between, .values = [=](const Motion& a, const Motion&, double t) {
                          Vec12 out = Vec12::Zero();
                          const Vec3 torque = std::sin(frequency * t) * (a.pose.orientation * axis);
                          out.segment<3>(3) = -torque;
                          out.segment<3>(9) = torque;
                          return out;
                        }});
  }
  return scene;
}

struct RoundTrip {
  double largest = 0;      // force of a motor
  double rows_differ = 0;  // recursion against rows
  double reactions_differ = 0;
  double multipliers_differ = 0;
  double unexplained = 0;
  double forward = 0;  // how far the motion is from itself
  bool recursive = false;
};

/// `moving` has the motion, `plain` the mechanism whose motors are asked for.
RoundTrip round_trip(const Scene& moving, const Scene& plain, int steps, double dt) {
  World world(moving, recorded_by(dt));
  world.project();
  const World mechanism(plain, recorded_by(dt));
  InverseDynamics inverse(mechanism), rows(mechanism, {.by_rows = true});
  RoundTrip out;
  out.recursive = inverse.recursive();
  EXPECT_FALSE(rows.recursive());
  DriveHistory history{.actuators = inverse.actuators()};
  std::vector<MotionState> motion;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) world.step();
    motion.push_back(motion_of(world));
    const InverseForces &a = inverse.solve(motion.back()), &b = rows.solve(motion.back());
    out.unexplained = std::max({out.unexplained, a.unexplained, b.unexplained});
    for (std::size_t k = 0; k < a.drives.size(); ++k) {
      out.largest = std::max(out.largest, std::abs(a.drives[k]));
      out.rows_differ = std::max(out.rows_differ, std::abs(a.drives[k] - b.drives[k]));
      const Actuator& actuator = history.actuators[k];
      const int axis = actuator.axis == "rz" ? 5 : 2;
      // What keeps a motion is its multiplier; the passive part of the axis is counted with it there.
      const JointForce measured = world.joint_force(actuator.joint);
      const double damper = moving.joints.size() == 6 ? 0.2 * world.joint_rate(world.joint(actuator.joint), actuator.axis) : 0;
      out.multipliers_differ = std::max(out.multipliers_differ, std::abs(measured.drive[axis] + damper - a.drives[k]));
    }
    for (std::size_t k = 0; k < a.joints.size(); ++k)
      out.reactions_differ = std::max({out.reactions_differ, (a.joints[k].force - b.joints[k].force).norm(),
                                       (a.joints[k].torque - b.joints[k].torque).norm()});
    history.times.push_back(motion.back().time);
    history.forces.push_back(a.drives);
  }

  Scene driven = plain;
  for (std::size_t i = 0; i < driven.bodies.size(); ++i) {
    driven.bodies[i].velocity = motion[0].velocities[i];
    driven.bodies[i].angular_velocity = motion[0].angular_velocities[i];
  }
  feed_forward(driven, history);
  World again(driven, recorded_by(dt));
  for (int i = 1; i <= steps; ++i) {
    again.step();
    const MotionState now = motion_of(again);
    for (std::size_t k = 0; k < now.poses.size(); ++k)
      out.forward = std::max({out.forward, (now.poses[k].position - motion[i].poses[k].position).norm(),
                              now.poses[k].orientation.angularDistance(motion[i].poses[k].orientation),
                              (now.velocities[k] - motion[i].velocities[k]).norm()});
  }
  return out;
}

TEST(InverseDynamics, ARobotOfSixAxesComesBack) {
  const RoundTrip trip = round_trip(six_axes(), six_axes(), 500, 2e-3);
  EXPECT_TRUE(trip.recursive);
  EXPECT_LT(trip.rows_differ, 1e-12 * trip.largest);
  EXPECT_LT(trip.reactions_differ, 1e-12 * trip.largest);
  EXPECT_LT(trip.multipliers_differ, 1e-11 * trip.largest);
  EXPECT_LT(trip.unexplained, 1e-11 * trip.largest);
  EXPECT_LT(trip.forward, 1e-8);
}

TEST(InverseDynamics, AStewartPlatformComesBack) {
  const RoundTrip trip = round_trip(stewart(), stewart(), 500, 2e-3);
  EXPECT_FALSE(trip.recursive);
  EXPECT_LT(trip.multipliers_differ, 1e-11 * trip.largest);
  EXPECT_LT(trip.unexplained, 1e-10 * trip.largest);
  EXPECT_LT(trip.forward, 1e-8);
}

TEST(InverseDynamics, TheMannequinComesBack) {
  const RoundTrip trip = round_trip(with_muscles(scenes::mannequin()), scenes::mannequin(), 500, 2e-3);
  EXPECT_TRUE(trip.recursive);
  EXPECT_GT(trip.largest, 0.01);
  EXPECT_LT(trip.rows_differ, 1e-12);
  EXPECT_LT(trip.unexplained, 1e-11);
  EXPECT_LT(trip.forward, 1e-8);
}

TEST(InverseDynamics, APendulumAgainstItsEquation) {
  // I q'' = tau - m g l sin q - k (q - rest) - d q' - F sgn q', the angle from straight down.
  constexpr double m = 2, l = 0.7, k = 3, d = 0.4, friction = 0.25;
  Scene scene;
  scene.add({.name = "bob", .mass = m, .inertia = Mat3(0.05 * Mat3::Identity()), .position = {0, 0, -l}});
  scene.add(Hinge{.name = "pin",
                  .between = {"world", "bob"},
                  .axis = {0, -1, 0},
                  .drive = {.friction = friction, .stiffness = k, .damping = d, .rest = 0.3}});
  const World world(scene, recorded_by());
  InverseDynamics inverse(world);
  for (const double q : {-2.0, -0.4, 0.0, 0.9, 2.5})
    for (const double rate : {-1.5, 0.8})
      for (const double acceleration : {-3.0, 0.0, 7.0}) {
        const Vec3 axis(0, -1, 0), arm(l * std::sin(q), 0, -l * std::cos(q));
        MotionState motion;
        motion.poses = {{arm, Quat(Eigen::AngleAxisd(q, axis))}};
        motion.velocities = {rate * axis.cross(arm)};
        motion.angular_velocities = {rate * axis};
        motion.accelerations = {acceleration * axis.cross(arm) - rate * rate * arm};
        motion.angular_accelerations = {acceleration * axis};
        const double expected = (m * l * l + 0.05) * acceleration + m * testing::g * l * std::sin(q) + k * (q - 0.3) + d * rate +
                                friction * (rate > 0 ? 1 : -1);
        const InverseForces& forces = inverse.solve(motion);
        EXPECT_NEAR(forces.drives.at(0), expected, 1e-12 * (1 + std::abs(expected)));
        EXPECT_LT(forces.unexplained, 1e-12);
        // The pin carries what is left of m (a - g).
        EXPECT_LT((forces.joints[0].force - m * (motion.accelerations[0] + Vec3(0, 0, testing::g))).norm(), 1e-12);
      }
}

TEST(InverseDynamics, MotorsThatALoopMakesRedundantShareTheWork) {
  // Crank and rocker of a four-bar both driven: tau_1 w_1 + tau_2 w_2 = P, and the least |tau| is P w / |w|^2.
  Scene scene = scenes::four_bar();
  World world(scene, recorded_by());
  std::vector<std::string> pins;
  for (const JointId joint : world.joints())
    for (const JointDef& def : scene.joints)
      if (const auto* hinge = std::get_if<Hinge>(&def))
        if (hinge->name == world.name(joint) && (hinge->between[0] == "world" || hinge->between[1] == "world"))
          pins.push_back(hinge->name);
  ASSERT_EQ(pins.size(), 2u);
  InverseDynamics both(world, {.actuators = {{pins[0], ""}, {pins[1], ""}}}), one(world, {.actuators = {{pins[0], "rz"}}});
  for (int i = 0; i < 50; ++i) {
    world.step();
    MotionState motion = motion_of(world);
    // Twice as fast along the same path: velocities times 2, accelerations times 4; weight stays, so that motors are needed.
    for (Vec3& v : motion.velocities) v *= 2;
    for (Vec3& w : motion.angular_velocities) w *= 2;
    for (Vec3& a : motion.accelerations) a *= 4;
    for (Vec3& a : motion.angular_accelerations) a *= 4;
    const std::vector<double> shared = both.solve(motion).drives;
    EXPECT_LT(both.solve(motion).unexplained, 1e-9);
    const double alone = one.solve(motion).drives[0];
    const double w1 = 2 * world.joint_rate(world.joint(pins[0])), w2 = 2 * world.joint_rate(world.joint(pins[1]));
    const double power = alone * w1;
    EXPECT_NEAR(shared[0], power * w1 / (w1 * w1 + w2 * w2), 1e-8 * (1 + std::abs(alone))) << i;
    EXPECT_NEAR(shared[1], power * w2 / (w1 * w1 + w2 * w2), 1e-8 * (1 + std::abs(alone))) << i;
  }
}

TEST(InverseDynamics, WhatBoundsAndIsNotMetExertsNothing) {
  const Scene plain = six_axes();
  World moving(plain, recorded_by());
  moving.project();
  const std::vector<JointDef> bounds{
      Constraint{.name = "bound", .between = {"world", "link3"}, .at_least = -100, .equation = "link3.z"},
      Constraint{.name = "bound", .between = {"link1", "link3"}, .at_most = 5, .equation = "link3.z - link1.x"},
      ConeLimit{.name = "bound", .between = {"link0", "link4"}, .angle = 3}};
  std::vector<std::pair<InverseDynamics, InverseDynamics>> bounded;
  InverseDynamics without(World(plain, recorded_by()));
  for (const JointDef& bound : bounds) {
    Scene scene = plain;
    scene.add(bound);
    const World world(scene, recorded_by());
    bounded.emplace_back(InverseDynamics(world), InverseDynamics(world, {.by_rows = true}));
    EXPECT_TRUE(bounded.back().first.recursive());
  }
  for (int i = 0; i < 20; ++i) {
    moving.step();
    const MotionState motion = motion_of(moving);
    const InverseForces expected = without.solve(motion);
    for (std::size_t k = 0; k < bounds.size(); ++k)
      for (InverseDynamics* inverse : {&bounded[k].first, &bounded[k].second}) {
        const InverseForces& forces = inverse->solve(motion);
        for (std::size_t a = 0; a < expected.drives.size(); ++a) EXPECT_NEAR(forces.drives[a], expected.drives[a], 1e-11) << k;
        EXPECT_LT(forces.unexplained, 1e-10);
        EXPECT_EQ(forces.joints.back().force.norm() + forces.joints.back().torque.norm(), 0) << k;
      }
  }
}

TEST(InverseDynamics, WhatBoundsAndIsMetPushes) {
  // A bar lies with its tip on a bound: the bound carries half its weight, and its motor rests.
  constexpr double m = 2, weight = m * testing::g;
  Scene lying;
  lying.add({.name = "bar", .mass = m, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  lying.add(Hinge{.name = "pin", .between = {"world", "bar"}, .axis = {0, 1, 0}});
  lying.add(Constraint{.name = "table",
                       .between = {"world", "bar"},
                       .at_least = 0,
                       .equation = "tip.z",
                       .points = {{.name = "tip", .body = "bar", .at = {0.5, 0, 0}}}});
  InverseDynamics inverse(World(lying, recorded_by()));
  MotionState motion = motion_of(World(lying, recorded_by()));
  motion.accelerations = motion.angular_accelerations = {Vec3::Zero()};
  const InverseForces rests = inverse.solve(motion);
  EXPECT_NEAR(rests.drives[0], 0, 1e-9);
  EXPECT_LT((rests.joints[1].force - Vec3(0, 0, weight / 2)).norm(), 1e-9);
  EXPECT_LT((rests.joints[0].force - Vec3(0, 0, weight / 2)).norm(), 1e-9);
  EXPECT_LT(rests.unexplained, 1e-11);
  // Lifted off, it is the motor's: I alpha + m g l / 2, about y downwards.
  const double alpha = -3;
  motion.angular_accelerations = {Vec3(0, alpha, 0)};
  motion.accelerations = {Vec3(0, 0, -0.5 * alpha)};
  const double I = m * (1 + 0.01) / 12 + m * 0.25;
  const InverseForces lifted = inverse.solve(motion);
  EXPECT_NEAR(lifted.drives[0], I * alpha - 0.5 * weight, 1e-11);
  EXPECT_EQ(lifted.joints[1].force.norm(), 0);
  EXPECT_LT(lifted.unexplained, 1e-11);
  // It does not pull: held down by a force of its own, the bar would need a motor that is not there.
  Scene hung = lying;
  std::get<Constraint>(hung.joints[1]).at_least.reset();
  std::get<Constraint>(hung.joints[1]).at_most = 0;
  motion.accelerations = motion.angular_accelerations = {Vec3::Zero()};
  InverseDynamics above(World(hung, recorded_by()));
  const InverseForces held = above.solve(motion);
  EXPECT_NEAR(held.drives[0], -0.5 * weight, 1e-9);
  EXPECT_EQ(held.joints[1].force.norm(), 0);

  // Atwood's machine on a rope that may be slack: its pull is 2 m1 m2 g / (m1 + m2).
  Scene atwood;
  atwood.add({.name = "one", .mass = 1, .position = {-0.5, 0, 0}, .shape = Sphere{0.1}});
  atwood.add({.name = "two", .mass = 3, .position = {0.5, 0, 0}, .shape = Sphere{0.1}});
  atwood.add(Pulley{.name = "rope", .between = {"one", "two"}, .over_a = {-0.5, 0, 2}, .over_b = {0.5, 0, 2}, .slack = true});
  InverseDynamics rope(World(atwood, recorded_by()));
  MotionState falls = motion_of(World(atwood, recorded_by()));
  falls.accelerations = {Vec3(0, 0, testing::g / 2), Vec3(0, 0, -testing::g / 2)};
  falls.angular_accelerations = {Vec3::Zero(), Vec3::Zero()};
  const InverseForces& pulls = rope.solve(falls);
  EXPECT_LT((pulls.joints[0].force - Vec3(0, 0, 1.5 * testing::g)).norm(), 1e-11);
  EXPECT_LT(pulls.unexplained, 1e-11);
  // Loose, both fall.
  for (Pose& pose : falls.poses) pose.position.z() += 0.1;
  falls.accelerations = {Vec3(0, 0, -testing::g), Vec3(0, 0, -testing::g)};
  EXPECT_EQ(rope.solve(falls).joints[0].force.norm(), 0);
  EXPECT_LT(rope.solve(falls).unexplained, 1e-11);

  // An arm leans on its cone: m g l sin(angle).
  Scene leaning;
  leaning.add({.name = "arm", .mass = m, .position = {0, 0, -0.5}, .shape = Box{Vec3(0.1, 0.1, 1)}});
  leaning.add(Ball{.name = "shoulder", .between = {"world", "arm"}});
  leaning.add(ConeLimit{.name = "cone",
                        .between = {"world", "arm"},
                        .axis = Vec3(0, 0, -1),
                        .center = Vec3(std::sin(0.9), 0, -std::cos(0.9)),
                        .angle = 0.6});
  MotionState leans;
  leans.poses = {{0.5 * Vec3(std::sin(0.3), 0, -std::cos(0.3)), Quat(Eigen::AngleAxisd(-0.3, Vec3::UnitY()))}};
  leans.velocities = leans.angular_velocities = leans.accelerations = leans.angular_accelerations = {Vec3::Zero()};
  InverseDynamics cone(World(leaning, recorded_by()));
  const InverseForces& carried = cone.solve(leans);
  EXPECT_NEAR(carried.joints[1].torque.norm(), 0.5 * weight * std::sin(0.3), 1e-9);
  for (const double drive : carried.drives) EXPECT_NEAR(drive, 0, 1e-9);
  EXPECT_LT(carried.unexplained, 1e-11);
}

TEST(InverseDynamics, WhatNothingCanExertIsSaid) {
  Scene scene;
  scene.add({.name = "stone", .mass = 3, .shape = Sphere{0.1}});
  const World world(scene, recorded_by());
  InverseDynamics inverse(world);
  EXPECT_TRUE(inverse.actuators().empty());
  MotionState motion = motion_of(world);
  EXPECT_LT(inverse.solve(motion).unexplained, 1e-12);
  motion.accelerations[0] = Vec3::Zero();  // it hovers
  EXPECT_NEAR(inverse.solve(motion).unexplained, 3 * testing::g, 1e-12);

  const World arm(six_axes(), recorded_by());
  try {
    InverseDynamics wrong(arm, {.actuators = {{"axs1", ""}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"axis"), std::string::npos) << error.what();
  }
  EXPECT_THROW(InverseDynamics(arm, {.actuators = {{"axis1", "x"}}}), Error);
}

}  // namespace
}  // namespace rotule
