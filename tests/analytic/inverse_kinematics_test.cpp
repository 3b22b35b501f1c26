// Inverse kinematics (A9): poses that meet their targets, quadratically at the end; closest poses against geometry; limits,
// loops, weights; scenes described anew.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/inverse.h>

#include <cmath>
#include <numbers>
#include <random>

#include "math/rotation.h"
#include "scenes/builders.h"
#include "support/allocation_counter.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// Links of these lengths along z on joints that `joint` makes of number, between and place.
template <class MakeJoint>
Scene upright(const std::vector<double>& lengths, MakeJoint&& joint) {
  Scene scene;
  std::string before = "world";
  double z = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::string name = "link" + std::to_string(k);
    scene.add({.name = name, .mass = 2, .position = {0, 0, z + lengths[k] / 2}, .shape = Box{Vec3(0.08, 0.08, lengths[k])}});
    scene.add(joint(static_cast<int>(k), Between{before, name}, Vec3(0, 0, z)));
    before = name;
    z += lengths[k];
  }
  return scene;
}

Scene robot(const std::vector<double>& lengths, double limit = 0) {
  return upright(lengths, [&](int k, const Between& between, const Vec3& at) {
    Hinge hinge{.name = "axis" + std::to_string(k), .between = between, .at = at, .axis = k % 2 ? Vec3(0, 1, 0) : Vec3(0, 0, 1)};
    if (limit > 0) {
      hinge.drive.lower = -limit;
      hinge.drive.upper = limit;
    }
    return hinge;
  });
}

/// The mannequin with all limbs straight down.
World standing() {
  World world(scenes::mannequin());
  const Quat down(Eigen::AngleAxisd(pi, Vec3::UnitX()));
  std::vector<Target> pose;
  for (const BodyId body : world.bodies()) {
    const std::string& name = world.name(body);
    const bool arm = name.find("arm") != std::string::npos || name.find("hand") != std::string::npos;
    pose.emplace_back(OrientationTarget{.body = name, .orientation = arm ? down : Quat::Identity()});
  }
  EXPECT_TRUE(inverse_kinematics(world, pose).reached);
  EXPECT_NEAR(world.position("left_shin").x(), world.position("left_thigh").x(), 1e-12);
  return world;
}

TEST(InverseKinematics, TheMannequinGrabsItsFootFromStanding) {
  for (const char* side : {"left_", "right_"}) {
    World world = standing();
    const std::vector<Target> grab{PointTarget{.body = std::string(side) + "hand", .onto = std::string(side) + "foot"}};
    const InverseReport report = inverse_kinematics(world, grab);
    EXPECT_TRUE(report.reached);
    EXPECT_LE(report.iterations, 26);
    EXPECT_LT(report.error, 1e-12);
    EXPECT_LT(report.joint_error, 1e-12);
    // Quadratic at the end: each error about the square of the one before.
    const std::size_t n = report.course.size();
    ASSERT_GE(n, 3u);
    for (std::size_t k = n - 2; k < n; ++k)
      EXPECT_LT(report.course[k].error, 10 * report.course[k - 1].error * report.course[k - 1].error) << k;
  }
}

TEST(InverseKinematics, WhatWasGrabbedIsHeldInTheMotionThatFollows) {
  World world(scenes::mannequin());
  const std::vector<Target> grab{PointTarget{.body = "left_hand", .onto = "left_foot"}};
  ASSERT_TRUE(inverse_kinematics(world, grab).reached);
  Scene scene = posed(scenes::mannequin(), world);
  scene.add(Ball{.name = "grip", .between = {"left_foot", "left_hand"}, .at = world.position("left_hand")});
  Recipe recipe = recipes::exact();
  recipe.dt = 5e-3;
  World closed(scene, recipe);
  closed.project();
  const double energy = closed.diagnostics().energy();
  double apart = 0;
  for (int i = 0; i < 200; ++i) {
    closed.step();
    apart = std::max(apart, (closed.position("left_hand") - closed.position("left_foot")).norm());
  }
  EXPECT_LT(apart, 1e-11);
  EXPECT_NEAR(closed.diagnostics().energy(), energy, 1e-8 * energy);
  EXPECT_LT(closed.diagnostics().joint_error.position, 1e-11);
}

TEST(InverseKinematics, OutOfReachTheClosestPoseIsFound) {
  const std::vector<double> lengths{0.5, 0.4, 0.3, 0.2};
  const Scene scene = upright(lengths, [](int k, const Between& between, const Vec3& at) {
    return Ball{.name = "ball" + std::to_string(k), .between = between, .at = at};
  });
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int trial = 0; trial < 20; ++trial) {
    World world(scene);
    const Vec3 to = (2 + 3 * std::abs(number(random))) * Vec3(number(random), number(random), number(random)).normalized();
    const std::vector<Target> target{PointTarget{.body = "link3", .at = {0, 0, 0.1}, .to = to}};
    const InverseReport report = inverse_kinematics(world, target);
    EXPECT_FALSE(report.reached);
    EXPECT_TRUE(report.closest) << trial;
    EXPECT_NEAR(report.target_errors[0], to.norm() - 1.4, 1e-9) << to.transpose();
    EXPECT_LT((world.orientation("link0") * Vec3::UnitZ() - to.normalized()).norm(), 1e-4) << to.transpose();
    EXPECT_LT(report.joint_error, 1e-12);
  }
}

TEST(InverseKinematics, ASaddleIsNoClosestPose) {
  // Straight away from the target: no gradient, but the worst pose of all.
  const Scene scene = upright({0.5, 0.5}, [](int k, const Between& between, const Vec3& at) {
    return Ball{.name = "ball" + std::to_string(k), .between = between, .at = at};
  });
  for (const InverseMethod method : {InverseMethod::automatic, InverseMethod::damped}) {
    World world(scene);
    const std::vector<Target> target{PointTarget{.body = "link1", .at = {0, 0, 0.25}, .to = {0, 0, -3}}};
    const InverseReport report = inverse_kinematics(world, target, {.method = method});
    EXPECT_TRUE(report.closest);
    EXPECT_NEAR(report.error, 2, 1e-9);
  }
  World world(scene);
  const std::vector<Target> within{PointTarget{.body = "link1", .at = {0, 0, 0.25}, .to = {0, 0, 0.4}}};
  EXPECT_TRUE(inverse_kinematics(world, within).reached);
}

TEST(InverseKinematics, AThousandLinksReachTheirTarget) {
  for (const Vec3& to : {Vec3(60, 40, -90), Vec3(0, 0, -20), Vec3(-100, 3, 0), Vec3(190, 0, -5)}) {
    World world(scenes::chain(1000));
    const std::vector<Target> target{PointTarget{.body = world.name(world.bodies().back()), .to = to}};
    const InverseReport report = inverse_kinematics(world, target);
    EXPECT_TRUE(report.reached) << to.transpose();
    EXPECT_LT(report.iterations, 150) << to.transpose();
    EXPECT_LT((world.position(world.bodies().back()) - to).norm(), 2e-12) << to.transpose();
  }
}

TEST(InverseKinematics, RobotsReachPosesWithinTheirLimits) {
  const double limit = 2.2;
  const Scene scene = robot({0.3, 0.25, 0.25, 0.2, 0.2, 0.1, 0.1}, limit);
  const Arm arm(World(scene), "link6", {0, 0, 0.05});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> angle(-0.9 * limit, 0.9 * limit);
  int reached = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> q(7);
    for (double& each : q) each = angle(random);
    const Pose to = arm.tip(q);
    World world(scene);
    const std::vector<Target> target{PointTarget{.body = "link6", .at = {0, 0, 0.05}, .to = to.position},
                                     OrientationTarget{.body = "link6", .orientation = to.orientation}};
    const InverseReport report = inverse_kinematics(world, target);
    for (const JointId joint : world.joints()) EXPECT_LE(std::abs(world.joint_position(joint)), limit + 1e-11);
    EXPECT_LT(report.joint_error, 1e-11);
    EXPECT_TRUE(report.reached || report.closest || report.iterations == 500);
    reached += report.reached;
  }
  EXPECT_GE(reached, 56);  // the others end at a stop, in a pose that is closest to those near it
}

TEST(InverseKinematics, AStopHoldsAndIsNamed) {
  Scene scene;
  scene.add({.name = "bar", .mass = 1, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  scene.add(Hinge{.name = "pin", .between = {"world", "bar"}, .drive = {.lower = -0.5, .upper = 0.5}});
  World world(scene);
  const std::vector<Target> target{PointTarget{.body = "bar", .at = {0.5, 0, 0}, .to = {std::cos(1.0), std::sin(1.0), 0}}};
  const InverseReport report = inverse_kinematics(world, target);
  EXPECT_TRUE(report.closest);
  EXPECT_NEAR(world.joint_position(world.joint("pin")), 0.5, 1e-9);
  EXPECT_NEAR(report.target_errors[0], 2 * std::sin(0.25), 1e-9);
  ASSERT_EQ(report.at_limits, std::vector<std::string>{"pin"});
  EXPECT_TRUE(inverse_kinematics(world, target, {.limits = false}).reached);
}

TEST(InverseKinematics, WeightsDecideBetweenTargetsThatDisagree) {
  Scene scene;
  scene.add({.name = "sledge", .mass = 3, .shape = Sphere{0.1}});
  scene.add(Slider{.name = "rail", .between = {"world", "sledge"}, .axis = {1, 0, 0}});
  World world(scene);
  const std::vector<Target> targets{PointTarget{.body = "sledge", .to = {1, 0, 0}, .weight = 2},
                                    PointTarget{.body = "sledge", .to = {-3, 0, 0}, .weight = 1}};
  const InverseReport report = inverse_kinematics(world, targets);
  EXPECT_TRUE(report.closest);
  EXPECT_NEAR(world.position("sledge").x(), (4 * 1 + 1 * -3) / 5.0, 1e-9);
}

TEST(InverseKinematics, LoopsStayClosed) {
  // The crank of a four-bar by its middle, and a platform on six legs by its pose.
  World four(scenes::four_bar());
  const double r = four.position("crank").norm(), to = 2.5;
  const std::vector<Target> crank{PointTarget{.body = "crank", .to = r * Vec3(std::cos(to), 0, std::sin(to))}};
  const InverseReport turned = inverse_kinematics(four, crank);
  EXPECT_TRUE(turned.reached);
  EXPECT_LT(four.diagnostics().joint_error.position, 1e-12);

  Scene scene;
  scene.add({.name = "platform", .mass = 20, .position = {0, 0, 1}, .shape = Cylinder{0.4, 0.05}});
  for (int k = 0; k < 6; ++k) {
    const double a = k / 2 * 2 * pi / 3 + (k % 2 ? 0.3 : -0.3), b = k / 2 * 2 * pi / 3 + (k % 2 ? 0.7 : -0.7);
    const Vec3 foot(0.8 * std::cos(a), 0.8 * std::sin(a), 0), head(0.4 * std::cos(b), 0.4 * std::sin(b), 1);
    const Quat along = rotation_between(Vec3::UnitZ(), head - foot);
    const std::string n = std::to_string(k);
    const double length = (head - foot).norm();
    for (const auto& [name, share] : {std::pair("lower", 0.25), std::pair("upper", 0.75)})
      scene.add({.name = name + n,
                 .mass = 2,
                 .position = foot + share * (head - foot),
                 .orientation = along,
                 .shape = Cylinder{0.03, length / 2}});
    scene.add(Universal{
        .between = {"world", "lower" + n}, .at = foot, .axis_a = along * Vec3::UnitX(), .axis_b = along * Vec3::UnitY()});
    scene.add(Slider{.name = "leg" + n,
                     .between = {"lower" + n, "upper" + n},
                     .at = 0.5 * (foot + head),
                     .axis = head - foot,
                     .drive = {.lower = -0.4, .upper = 0.4}});
    scene.add(Ball{.between = {"upper" + n, "platform"}, .at = head});
  }
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int trial = 0; trial < 10; ++trial) {
    World world(scene);
    const Vec3 place = Vec3(0, 0, 1) + 0.15 * Vec3(number(random), number(random), number(random));
    const Quat tilt(Eigen::AngleAxisd(0.3 * number(random), Vec3(number(random), number(random), number(random)).normalized()));
    const std::vector<Target> pose{PointTarget{.body = "platform", .to = place},
                                   OrientationTarget{.body = "platform", .orientation = tilt}};
    const InverseReport report = inverse_kinematics(world, pose);
    EXPECT_TRUE(report.reached) << trial;
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
    // Geometry: each leg is as long as its ends are apart.
    for (int k = 0; k < 6; ++k) {
      const double a = k / 2 * 2 * pi / 3 + (k % 2 ? 0.3 : -0.3), b = k / 2 * 2 * pi / 3 + (k % 2 ? 0.7 : -0.7);
      const Vec3 foot(0.8 * std::cos(a), 0.8 * std::sin(a), 0), head(0.4 * std::cos(b), 0.4 * std::sin(b), 0);
      const double before = (head + Vec3(0, 0, 1) - foot).norm(), now = (place + tilt * head - foot).norm();
      EXPECT_NEAR(world.joint_position(world.joint("leg" + std::to_string(k))), now - before, 1e-11);
    }
  }
}

constexpr std::array methods{InverseMethod::automatic, InverseMethod::newton, InverseMethod::damped};

/// From hanging straight down by `polar` (rad), towards an azimuth of 0.7.
Vec3 hanging(double polar) { return {std::sin(polar) * std::cos(0.7), std::sin(polar) * std::sin(0.7), -std::cos(polar)}; }

TEST(InverseKinematics, AConeHoldsAndLetsGo) {
  // The gradient of the cone vanishes in its middle, where this begins.
  Scene scene;
  scene.add({.name = "arm", .mass = 1, .position = {0, 0, -0.5}, .shape = Box{Vec3(0.1, 0.1, 1)}});
  scene.add(Ball{.name = "shoulder", .between = {"world", "arm"}});
  scene.add(ConeLimit{.name = "cone", .between = {"world", "arm"}, .axis = Vec3(0, 0, -1), .angle = 0.8});
  for (const InverseMethod method : methods)
    for (const bool impulses : {false, true})
      for (const double polar : {0.5, 0.8, 1.3, 2.9}) {
        SCOPED_TRACE(polar);
        World world(scene, impulses ? recipes::balanced() : recipes::exact());
        const std::vector<Target> target{PointTarget{.body = "arm", .at = {0, 0, -0.5}, .to = hanging(polar)}};
        const InverseReport report = inverse_kinematics(world, target, {.method = method});
        const Vec3 along = world.orientation("arm") * Vec3(0, 0, -1);
        if (method == InverseMethod::newton && polar > 0.8) {
          EXPECT_FALSE(report.reached || report.closest);
          continue;
        }
        EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
        if (polar <= 0.8) {
          EXPECT_TRUE(report.reached);
          EXPECT_LT((along - hanging(polar)).norm(), 1e-11);
          EXPECT_EQ(report.at_limits.size(), polar == 0.8 ? 1u : 0u);
        } else {
          // The nearest pose is on the edge, on the target's side.
          EXPECT_FALSE(report.reached);
          EXPECT_TRUE(report.closest);
          EXPECT_NEAR(report.target_errors[0], 2 * std::sin((polar - 0.8) / 2), 1e-9);
          EXPECT_LT((along - hanging(0.8)).norm(), 1e-6);
          EXPECT_LT(report.limit_error, 1e-11);
          EXPECT_EQ(report.at_limits, std::vector<std::string>{"cone"});
        }
      }
  // Unless they are asked not to hold.
  World world(scene);
  const std::vector<Target> target{PointTarget{.body = "arm", .at = {0, 0, -0.5}, .to = hanging(1.3)}};
  EXPECT_TRUE(inverse_kinematics(world, target, {.limits = false}).reached);
}

TEST(InverseKinematics, ARopeIsNoRod) {
  Scene scene;
  scene.add({.name = "one", .mass = 1, .position = {-0.5, 0, 0}, .shape = Sphere{0.1}});
  scene.add({.name = "two", .mass = 1, .position = {0.5, 0, 0}, .shape = Sphere{0.1}});
  const Vec3 over_a(-0.5, 0, 2), over_b(0.5, 0, 2);
  scene.add(Pulley{.name = "rope", .between = {"one", "two"}, .over_a = over_a, .over_b = over_b, .slack = true});
  for (const InverseMethod method : methods)
    for (const double height : {0.4, 0.0, -1.0}) {
      SCOPED_TRACE(height);
      const std::vector<Target> target{PointTarget{.body = "two", .to = {0.5, 0, height}}};
      // Held at its other end: slack, taut, too short.
      World held(scene);
      const InverseReport short_of = inverse_kinematics(held, target, {.method = method, .hold = {"one"}});
      EXPECT_EQ(held.position("one"), scene.bodies[0].position);
      EXPECT_EQ(short_of.reached, height >= 0);
      if (height < 0 && method != InverseMethod::newton) {
        EXPECT_TRUE(short_of.closest);
        EXPECT_LT((held.position("two") - Vec3(0.5, 0, 0)).norm(), 1e-6);
        EXPECT_NEAR(short_of.error, 1, 1e-9);
      }
      // Free: what hangs there is lifted, and stays where it is while there is rope enough.
      World free(scene);
      EXPECT_TRUE(inverse_kinematics(free, target, {.method = method}).reached);
      const double sum = (free.position("one") - over_a).norm() + (free.position("two") - over_b).norm();
      EXPECT_LE(sum, 4 + 1e-9);
      const double lifted = (free.position("one") - scene.bodies[0].position).norm();
      EXPECT_TRUE(height < 0 ? lifted > 0.1 : lifted < 1e-12) << lifted;
    }
}

TEST(InverseKinematics, BoundsOfOnesOwnHoldAndLetGo) {
  // A pendulum whose middle may not come nearer to x = 0 than 0.15, as text, as a function, and by the other side.
  const auto with = [](auto&& add) {
    Scene scene;
    scene.add({.name = "a",
               .mass = 1,
               .position = {0.5 * std::sin(0.5), 0, -0.5 * std::cos(0.5)},
               .orientation = Quat(Eigen::AngleAxisd(-0.5, Vec3::UnitY())),
               .shape = Box{Vec3(0.1, 0.1, 1)}});
    scene.add(Hinge{.name = "pin", .between = {"world", "a"}, .axis = {0, 1, 0}});
    add(scene);
    return scene;
  };
  const std::vector<Scene> scenes{
      with([](Scene& s) {
        s.add(Constraint{.name = "wall", .between = {"world", "a"}, .at_least = 0.15, .equation = "a.x"});
      }),
      with([](Scene& s) {
        s.add(Constraint{.name = "wall", .between = {"world", "a"}, .at_most = -0.15, .equation = "-a.x"});
      }),
      with([](Scene& s) { s.add_constraint({"a"}, [](auto q, auto) { return q[0].x(); }, {.name = "wall", .at_least = 0.15}); }),
      with([](Scene& s) {
        s.add(Constraint{.name = "far", .between = {"world", "a"}, .at_least = -10, .equation = "a.x"});
        s.add(Constraint{.name = "wall", .between = {"world", "a"}, .at_least = 0.15, .equation = "a.x"});
        s.add(Constraint{.name = "slow", .between = {"world", "a"}, .at_least = 0, .equation = "a.wy"});  // no matter of poses
      })};
  const double edge = std::asin(0.3);
  for (const Scene& scene : scenes)
    for (const InverseMethod method : methods)
      for (const double angle : {1.0, 0.4, edge, 0.1, -0.6}) {
        SCOPED_TRACE(angle);
        World world(scene);
        const std::vector<Target> target{
            PointTarget{.body = "a", .at = {0, 0, -0.5}, .to = {std::sin(angle), 0, -std::cos(angle)}}};
        const InverseReport report = inverse_kinematics(world, target, {.method = method});
        EXPECT_EQ(report.reached, angle >= edge);
        if (method == InverseMethod::newton && angle < edge) continue;
        EXPECT_NEAR(world.position("a").x(), 0.5 * std::sin(std::max(angle, edge)), 1e-9);
        EXPECT_EQ(report.at_limits.size(), angle <= edge ? 1u : 0u);
      }
}

TEST(InverseKinematics, FunctionsAreWhatJointsAre) {
  // Crank and rocker, coupled by a rod, by a function of the user's and by text: the same poses, within reach and out of it.
  const auto with = [](auto&& couple) {
    Scene scene;
    const auto bar = [&](const char* name, double x, double length) {
      scene.add({.name = name, .mass = 1, .position = {x, 0, length / 2}, .shape = Box{Vec3(0.05, 0.05, length)}});
      scene.add(Hinge{.name = std::string(name) + "_pin", .between = {"world", name}, .at = {x, 0, 0}, .axis = {0, 1, 0}});
    };
    bar("crank", 0, 0.4);
    bar("rocker", 1, 0.8);
    couple(scene);
    return scene;
  };
  const double length = Vec3(1, 0, 0.4).norm();
  const std::vector<Scene> scenes{with([](Scene& s) {
                                    s.add(Rod{.between = {"crank", "rocker"}, .from = Vec3(0, 0, 0.4), .to = Vec3(1, 0, 0.8)});
                                  }),
                                  with([&](Scene& s) {
                                    s.add_constraint({"crank", "rocker"}, [=](auto q, auto) {
                                      return (q[0].point({0, 0, 0.2}) - q[1].point({0, 0, 0.4})).norm() - length;
                                    });
                                  }),
                                  with([&](Scene& s) {
                                    s.add(Constraint{.between = {"crank", "rocker"},
                                                     .equation = "sqrt((p.x - q.x)^2 + (p.y - q.y)^2 + (p.z - q.z)^2) - length",
                                                     .points = {{"p", "crank", {0, 0, 0.2}}, {"q", "rocker", {0, 0, 0.4}}},
                                                     .constants = {{"length", length}}});
                                  })};
  for (const InverseMethod method : methods)
    for (const double angle : {0.6, -1.2}) {
      const Vec3 to(0.4 * std::sin(angle), 0, 0.4 * std::cos(angle));
      for (const double reach : {1.0, 3.0}) {
        SCOPED_TRACE(angle);
        std::vector<Vec3> rockers;
        for (const Scene& scene : scenes) {
          World world(scene);
          const std::vector<Target> target{PointTarget{.body = "crank", .at = {0, 0, 0.2}, .to = reach * to}};
          const InverseReport report = inverse_kinematics(world, target, {.method = method});
          EXPECT_EQ(report.reached, reach == 1);
          if (method == InverseMethod::newton && reach > 1) continue;
          EXPECT_NEAR(report.target_errors[0], (reach - 1) * to.norm(), 1e-9);
          EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
          rockers.push_back(world.position("rocker"));
          const Vec3 p = world.position("crank") + world.orientation("crank") * Vec3(0, 0, 0.2);
          const Vec3 q = world.position("rocker") + world.orientation("rocker") * Vec3(0, 0, 0.4);
          EXPECT_LT((p - to).norm(), 1e-7);
          EXPECT_NEAR((p - q).norm(), length, 1e-12);
        }
        for (const Vec3& rocker : rockers) EXPECT_LT((rocker - rockers[0]).norm(), 1e-7);
      }
    }
}

TEST(InverseKinematics, EyesLookAndTheCentreOfMassComesOverTheFoot) {
  World world = standing();
  const Vec3 foot = world.position("left_foot");
  const std::vector<Target> targets{
      LookTarget{.body = "head", .direction = {1, 0, 0}, .from = {0.09, 0, 0.03}, .onto = "right_hand"},
      CenterOfMassTarget{.to = {foot.x(), foot.y(), 0}, .axes = {true, true, false}},
      PointTarget{.body = "right_hand", .to = foot + Vec3(0.5, -0.3, 1.2)}};
  const InverseReport report = inverse_kinematics(world, targets, {.hold = {"left_foot"}});
  EXPECT_TRUE(report.reached);
  EXPECT_EQ(world.position("left_foot"), foot);
  Vec3 moment = Vec3::Zero();
  double mass = 0;
  for (const BodyId body : world.bodies()) {
    moment += world.mass(body) * world.center_of_mass(body);
    mass += world.mass(body);
  }
  EXPECT_NEAR(moment.x() / mass, foot.x(), 1e-11);
  EXPECT_NEAR(moment.y() / mass, foot.y(), 1e-11);
  const Vec3 eye = world.position("head") + world.orientation("head") * Vec3(0.09, 0, 0.03);
  const Vec3 sight = world.orientation("head") * Vec3::UnitX(), line = (world.position("right_hand") - eye).normalized();
  EXPECT_LT((sight - line).norm(), 1e-11);
}

TEST(InverseKinematics, AScenePosedAnewMovesLikeTheOneThatWasPosed) {
  // Springs, limits and zeros of coordinates stay where they were in space.
  Scene scene = robot({0.4, 0.3, 0.3});
  for (int k = 0; k < 3; ++k) {
    Drive& drive = std::get<Hinge>(scene.joints[k]).drive;
    drive.lower = -1.8;
    drive.upper = 1.8;
    drive.stiffness = 40;
    drive.damping = 0.5;
    drive.rest = 0.2 + 0.1 * k;
  }
  scene.add({.name = "bob", .mass = 0.5, .position = {0.2, 0, 1}, .shape = Sphere{0.05}});
  Universal cross{.name = "cross", .between = {"link2", "bob"}, .at = {0, 0, 1}, .drives = {{.axis = "rx"}, {.axis = "ry"}}};
  for (AxisDrive& each : cross.drives) {
    each.drive.stiffness = 3;
    each.drive.damping = 0.1;
  }
  scene.add(cross);
  Recipe recipe = recipes::exact();
  recipe.dt = 1e-3;
  World world(scene, recipe);
  const std::vector<Target> target{PointTarget{.body = "bob", .to = {0.4, 0.3, 0.5}}};
  ASSERT_TRUE(inverse_kinematics(world, target).reached);
  const Scene anew = parse_scene(to_json(posed(scene, world)));
  World other(anew, recipe);
  EXPECT_LT(other.diagnostics().joint_error.position, 1e-12);
  EXPECT_EQ(*std::get<Hinge>(anew.joints[1]).drive.upper, 1.8);
  EXPECT_NEAR(std::get<Hinge>(anew.joints[1]).start, world.joint_position(world.joint("axis1")), 1e-12);
  for (int i = 0; i < 300; ++i) {
    world.step();
    other.step();
  }
  for (const char* body : {"link0", "link1", "link2", "bob"}) {
    EXPECT_LT((world.position(body) - other.position(body)).norm(), 1e-9) << body;
    EXPECT_LT((world.angular_velocity(body) - other.angular_velocity(body)).norm(), 1e-7) << body;
  }
}

TEST(InverseKinematics, MistakesHaveNamesAndRemedies) {
  World world(scenes::mannequin());
  const auto message = [&](const Target& target, const InverseSettings& settings = {}) -> std::string {
    try {
      const std::vector<Target> targets{target};
      inverse_kinematics(world, targets, settings);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(PointTarget{.body = "left_hnd"}).find("did you mean \"left_hand\"?"), std::string::npos);
  EXPECT_NE(message(PointTarget{.body = "left_hand", .weight = 0}).find("weight must be greater than 0"), std::string::npos);
  EXPECT_NE(message(PointTarget{.body = "left_hand", .onto = "left_hand"}).find("its own target"), std::string::npos);
  EXPECT_NE(message(LookTarget{.body = "head", .direction = {0, 0, 0}}).find("direction"), std::string::npos);
  EXPECT_NE(message(CenterOfMassTarget{.axes = {false, false, false}}).find("no coordinate"), std::string::npos);
  EXPECT_NE(message(PointTarget{.body = "head"}, {.hold = {"haed"}}).find("did you mean \"head\"?"), std::string::npos);
  EXPECT_NE(message(PointTarget{.body = "head"}, {.max_rotation = 0}).find("max_rotation"), std::string::npos);
}

TEST(Arm, StandsWhereTheWorldDoes) {
  const Scene scene = robot({0.3, 0.25, 0.25, 0.2, 0.2, 0.1, 0.1});
  World world(scene);
  const Arm arm(world, "link6", {0.01, 0.02, 0.05});
  const std::vector<Target> target{PointTarget{.body = "link6", .to = {0.5, 0.2, 0.6}}};
  ASSERT_TRUE(inverse_kinematics(world, target).reached);
  std::vector<double> q;
  for (const std::string& joint : arm.joints()) q.push_back(world.joint_position(world.joint(joint)));
  const Pose tip = arm.tip(q);
  EXPECT_LT((tip.position - world.position("link6") - world.orientation("link6") * Vec3(0.01, 0.02, 0.05)).norm(), 1e-12);
  EXPECT_LT(tip.orientation.angularDistance(world.orientation("link6")), 1e-7);
}

TEST(Arm, RefusesWhatItWouldOverlook) {
  const auto message = [](auto&& add) -> std::string {
    Scene scene = robot({0.3, 0.3, 0.3});
    add(scene);
    try {
      Arm(World(scene), "link2");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](Scene&) {}), "");
  // What hangs on the chain does not bind it.
  EXPECT_EQ(message([](Scene& s) {
              s.add({.name = "tool", .mass = 1, .position = {0, 0, 1}});
              s.add(Ball{.between = {"link2", "tool"}, .at = {0, 0, 1}});
            }),
            "");
  EXPECT_NE(message([](Scene& s) {
              s.add(Constraint{.name = "floor", .between = {"world", "link2"}, .at_least = 0, .equation = "link2.z"});
            }).find("joint \"floor\" binds"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.add(Gear{.name = "mesh", .between = {"link0", "link2"}, .carrier = "link1"});
            }).find("joint \"mesh\" binds"),
            std::string::npos);
  // A screw has as many equations as a hinge.
  Scene scene;
  scene.add({.name = "nut", .mass = 1, .shape = Sphere{0.1}});
  scene.add(Screw{.name = "thread", .between = {"world", "nut"}});
  EXPECT_THROW(Arm(World(scene), "nut"), Error);
}

TEST(Arm, ReachesWhatCanBeReachedAndAllocatesNothing) {
  std::mt19937 random(5);
  for (const double limit : {0.0, 2.6}) {
    const Arm arm(World(robot({0.34, 0.2, 0.2, 0.2, 0.2, 0.2, 0.126}, limit)), "link6", {0, 0, 0.06});
    std::uniform_real_distribution<double> angle(-2.5, 2.5);
    int missed = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::array<double, 7> goal{}, q{};
      for (int k = 0; k < 7; ++k) {
        goal[k] = angle(random);
        q[k] = trial % 2 == 0 ? angle(random) : 0.0;
      }
      const Pose to = arm.tip(goal);
      const auto before = testing::allocations();
      const Arm::Outcome outcome = arm.solve(to, q);
      EXPECT_EQ(testing::allocations(), before);
      missed += !outcome.reached;
      if (!outcome.reached) continue;
      EXPECT_LT((arm.tip(q).position - to.position).norm(), 2e-10);
      EXPECT_LT(arm.tip(q).orientation.angularDistance(to.orientation), 2e-7);
      for (const double each : q) EXPECT_LE(std::abs(each), limit > 0 ? limit : infinity);
    }
    EXPECT_LE(missed, 6) << limit;
  }
}

TEST(Arm, ClosestWhereNothingReaches) {
  const Arm arm(World(robot({0.3, 0.3, 0.3, 0.3})), "link3", {0, 0, 0.15});
  std::array<double, 4> q{0.1, 0.4, -0.2, 0.3};
  const Vec3 to(2, 1, 1.5);  // the first two joints' centres are at a height of 0 and 0.3
  const Arm::Outcome outcome = arm.solve({to, Quat::Identity()}, q, false);
  EXPECT_FALSE(outcome.reached);
  EXPECT_LT((arm.tip(q).position - to).norm(), (to - Vec3(0, 0, 0.3)).norm() - 0.9 + 1e-6);
}

}  // namespace
}  // namespace rotule
