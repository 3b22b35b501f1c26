// The real-time stepper where one sweep per substep is far from the solution: nothing gains energy out of nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace rotule {
namespace {

struct Course {
  double gain = 0;   // J, the most in one step
  double scale = 0;  // J, between the most and the least energy of the run
  double rise = 0;   // J, of the most above the first
  double left = 0;   // J of motion in the end
};

Course course_of(const Scene& scene, int steps) {
  World world(scene, recipes::fastest());
  const double first = world.diagnostics().energy();
  double last = first, most = first, least = first;
  Course out;
  for (int i = 0; i < steps; ++i) {
    world.step();
    const double now = world.diagnostics().energy();
    out.gain = std::max(out.gain, now - last);
    most = std::max(most, now);
    least = std::min(least, now);
    last = now;
  }
  out.scale = most - least;
  out.rise = most - first;
  out.left = world.diagnostics().kinetic_energy;
  return out;
}

Scene floor_alone() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -5}, .shape = Box{.size = {100, 100, 10}}});
  return scene;
}

Scene column(double size, double gap, const std::vector<double>& masses, std::mt19937& random) {
  std::uniform_real_distribution<> aside(-0.05, 0.05);
  Scene scene = floor_alone();
  double z = 0;
  for (const double mass : masses) {
    scene.add({.name = "box_" + std::to_string(scene.bodies.size()),
               .mass = mass,
               .position = {size * aside(random), size * aside(random), z + gap + 0.5 * size},
               .shape = Box{.size = {size, size, size}}});
    z += gap + size;
  }
  return scene;
}

TEST(RealtimeEnergy, WhatComesDownOnAThousandthOfItsMassIsNotThrownUp) {
  std::mt19937 random(3);
  for (int k = 0; k < 6; ++k)
    for (const auto& masses : {std::vector<double>{1, 3000},
                               {1, 1, 1, 3000},
                               {2, 740, 780, 400},
                               {3000, 80, 4, 2, 2, 4, 60, 1350},
                               {1, 10000},
                               {1, 1, 10000}}) {
      const Course course = course_of(column(0.5, 0.1, masses, random), 240);
      EXPECT_LT(course.rise, 0.01 * course.scale) << k << ", " << masses.size();
      EXPECT_LT(course.gain, 0.15 * course.scale) << k << ", " << masses.size();
    }
}

/// Links of thin capsules in a zigzag, each a ball joint from the next.
Scene zigzag(int links, double radius, double height, double mass, double sideways, double upwards, std::mt19937& random) {
  constexpr double length = 0.2;
  std::uniform_real_distribution<> unit(-1, 1);
  Scene scene = floor_alone();
  Vec3 p(-0.5 * links * length, 0, height);
  std::string last;
  for (int i = 0; i < links; ++i) {
    const Vec3 along = Vec3(1, sideways * unit(random), upwards * unit(random)).normalized();
    const std::string name = "link_" + std::to_string(i);
    scene.add({.name = name,
               .mass = mass,
               .position = p + 0.5 * length * along,
               .orientation = Quat::FromTwoVectors(Vec3::UnitZ(), along),
               .shape = Capsule{.radius = radius, .length = length - 2 * radius - 0.02}});
    if (i > 0) scene.add(Ball{.between = {last, name}, .at = p});
    last = name;
    p += length * along;
  }
  return scene;
}

TEST(RealtimeEnergy, AChainThatFallsOnAFloorGainsNone) {
  std::mt19937 random(11);
  for (int k = 0; k < 24; ++k) {
    const Scene scene = zigzag(60, 0.01, 2 + k % 3, 0.1, 0.5 * (k % 2), 0.2 + 0.3 * (k % 2), random);
    const Course course = course_of(scene, 120);
    EXPECT_LT(course.gain, 0.03 * course.scale) << k;
    EXPECT_LE(course.rise, 1e-6 * course.scale) << k;
  }
}

/// On four legs of two links, whose feet are much lighter than all, with an arm of light links; sprung hips and knees, or none.
Scene quadruped(double mass, double foot_share, bool sprung, std::mt19937& random) {
  std::uniform_real_distribution<> exponent(-4, -0.5);
  Scene scene = floor_alone();
  constexpr double height = 0.51;
  const auto part = [&](const std::string& name, double m, const Vec3& at, const Quat& turned, const Shape& shape) {
    scene.add({.name = name, .mass = m, .position = at, .orientation = turned, .shape = shape, .group = 1});
  };
  const auto hinge = [&](const std::string& a, const std::string& b, const Vec3& at, bool on) {
    Hinge joint{.between = {a, b}, .at = at, .axis = Vec3(0, 1, 0)};
    if (on) joint.drive.stiffness = 20 * mass, joint.drive.damping = 0.5 * mass;
    scene.add(joint);
  };
  part("trunk", mass, {0, 0, height}, Quat::Identity(), Box{.size = {0.6, 0.3, 0.15}});
  for (const int leg : {0, 1, 2, 3}) {
    const double x = leg < 2 ? 0.25 : -0.25, y = leg % 2 == 0 ? 0.18 : -0.18;
    const std::string thigh = "thigh_" + std::to_string(leg), foot = "foot_" + std::to_string(leg);
    part(thigh, 0.05 * mass, {x, y, height - 0.12}, Quat::Identity(), Capsule{.radius = 0.02, .length = 0.2});
    part(foot, 0.05 * foot_share * mass, {x, y, height - 0.36}, Quat::Identity(), Capsule{.radius = 0.02, .length = 0.2});
    hinge("trunk", thigh, {x, y, height}, sprung);
    hinge(thigh, foot, {x, y, height - 0.24}, sprung);
  }
  const Quat level(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY()));
  std::string last = "trunk";
  for (int i = 0; i < 4; ++i) {
    const std::string name = "arm_" + std::to_string(i);
    part(name, mass * std::pow(10, exponent(random)), {0.4 + 0.2 * i, 0, height + 0.08}, level,
         Capsule{.radius = 0.02, .length = 0.16});
    hinge(last, name, {0.3 + 0.2 * i, 0, height + 0.08}, false);
    last = name;
  }
  return scene;
}

TEST(RealtimeEnergy, AQuadrupedWithLightFeetAndArmComesToRest) {
  std::mt19937 random(5);
  for (const bool sprung : {false, true})
    for (const double foot_share : {1.0, 0.1, 0.01, 0.001})
      for (int k = 0; k < 3; ++k) {
        const Course course = course_of(quadruped(20, foot_share, sprung, random), 480);
        EXPECT_LT(course.rise, 0.1 * course.scale) << sprung << " " << foot_share << " " << k;
        EXPECT_LT(course.left, 0.05 * course.scale) << sprung << " " << foot_share << " " << k;
      }
}

// What is slowed has no more energy of motion after the step than it had before it and than weight gave it; what was taken is
// told, by the report and by the world.
TEST(RealtimeEnergy, WhatIsTakenIsTold) {
  std::mt19937 random(3);
  World world(column(0.5, 0.1, {1, 1, 10000}, random), recipes::fastest());
  int slowed = 0;
  double taken = 0;
  Diagnostics before = world.diagnostics();
  for (int i = 0; i < 240; ++i) {
    const StepReport report = world.step();
    const Diagnostics after = world.diagnostics();
    EXPECT_EQ(report.slowed > 0, report.energy_taken > 0);
    if (report.slowed == 3) {
      const double fallen = std::max(before.potential_energy - after.potential_energy, 0.0);
      EXPECT_LT(after.kinetic_energy, 1.03 * (before.kinetic_energy + fallen)) << i;
    }
    slowed += report.slowed;
    taken += report.energy_taken;
    before = after;
  }
  ASSERT_GT(slowed, 0);
  const std::vector<std::string> warnings = world.warnings();
  const auto told = std::ranges::find_if(warnings, [](const std::string& text) { return text.find("slowed") != text.npos; });
  ASSERT_NE(told, warnings.end());
  EXPECT_NE(told->find(fmt::format("{:.3g} J", taken)), told->npos) << *told;
}

TEST(RealtimeEnergy, NothingIsTakenFromWhatFallsBouncesAndRolls) {
  Scene scene = floor_alone();
  scene.materials.push_back({.name = "hard", .restitution = 0.8});
  for (int i = 0; i < 5; ++i)
    scene.add({.name = "ball_" + std::to_string(i),
               .mass = 1.0 + i,
               .position = {2.0 * i, 0, 1.0 + 0.3 * i},
               .velocity = {1, 0, 0},
               .angular_velocity = {0, 3.0 * i, 0},
               .shape = Sphere{.radius = 0.2},
               .material = "hard"});
  World world(scene, recipes::fastest());
  for (int i = 0; i < 240; ++i) EXPECT_EQ(world.step().slowed, 0) << i;
}

// Limbs that nothing holds, which flex while they turn by up to half a radian per step: what is taken is taken from what they do
// against each other. Their momentum stays, and angular momentum as well as it does without the guard.
TEST(RealtimeEnergy, WhatNothingHoldsKeepsItsMomentumWhenSlowed) {
  std::mt19937 random(5);
  std::uniform_real_distribution<> unit(-1, 1);
  int slowed = 0;
  for (int k = 0; k < 20; ++k) {
    Scene scene = zigzag(6, 0.03, 0, 1.0, 0.8, 0.8, random);
    scene.gravity.setZero();
    scene.bodies.erase(scene.bodies.begin());  // the floor
    const Vec3 spin = 30 * Vec3(unit(random), unit(random), unit(random));
    for (BodyDef& link : scene.bodies) {
      link.velocity = spin.cross(link.position);
      link.angular_velocity = spin + 30 * Vec3(unit(random), unit(random), unit(random));
    }
    World world(scene, recipes::fastest());
    world.step();  // joints take what velocities had apart
    Diagnostics before = world.diagnostics();
    const double first = before.kinetic_energy;
    for (int i = 0; i < 60; ++i) {
      const StepReport report = world.step();
      const Diagnostics after = world.diagnostics();
      EXPECT_LT(after.kinetic_energy - before.kinetic_energy, 0.05 * first) << k << " " << i;
      if (report.slowed > 0) {
        ++slowed;
        const double push = std::sqrt(2 * 6 * before.kinetic_energy);  // the most that 6 kg may have
        EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-5 * push) << k << " " << i;
      }
      before = after;
    }
  }
  EXPECT_GT(slowed, 0);
}

}  // namespace
}  // namespace rotule
