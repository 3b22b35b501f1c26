// The same scene in other units moves the same way: lengths, masses and times multiplied by 2^-20 to 2^20 (about 10^-6 to 10^6),
// contacts as they are by default. Powers of two leave no difference in rounding, which a pile of
// balls makes ten million times larger within a second. And what units hid: small things in motion gain no energy, and weak
// motors turn.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/solver_list.h"

namespace rotule {
namespace {

struct SceneUnits {
  double length = 1, mass = 1, time = 1;
};

struct MovingScene {
  std::string name;
  Scene (*make)(const SceneUnits&);
};

Scene begin_in_units(const SceneUnits& u) {
  const double speed = u.length / u.time;
  Scene scene;
  scene.gravity = Vec3(0, 0, -9.81) * speed / u.time;
  scene.recipe = recipes::realtime();
  scene.recipe.dt = u.time / 128;
  scene.recipe.correction = ProjectionSettings{.tolerance = 1e-11 * std::min(1.0, u.length)};  // of angles too
  scene.recipe.solver = automatic_solver(1e-10);
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  return scene;
}

void add_body(Scene& scene, const SceneUnits& u, const std::string& name, double mass, const Vec3& position, Shape shape,
              const Vec3& velocity = Vec3::Zero()) {
  scene.add({.name = name,
             .mass = mass * u.mass,
             .position = position * u.length,
             .velocity = velocity * u.length / u.time,
             .shape = std::move(shape)});
}

Scene pile_in_units(const SceneUnits& u) {
  Scene scene = begin_in_units(u);
  for (int i = 0; i < 8; ++i)
    add_body(scene, u, "ball_" + std::to_string(i), 1 + 0.25 * i,
             Vec3(0.22 * (i % 2) + 0.01 * i, 0.21 * (i / 2 % 2) - 0.01 * i, 0.15 + 0.22 * (i / 4)), Sphere{0.125 * u.length});
  return scene;
}

Scene stack_with_motor(const SceneUnits& u) {
  Scene scene = begin_in_units(u);
  for (int i = 0; i < 3; ++i)
    add_body(scene, u, "box_" + std::to_string(i), 1, Vec3(0, 0, 0.125 + 0.25 * i), Box{Vec3::Constant(0.25 * u.length)});
  add_body(scene, u, "arm", 2, Vec3(-0.6, 0, 0.3), Box{Vec3(0.5, 0.125, 0.125) * u.length});
  scene.add(Hinge{.name = "shoulder",
                  .between = {"world", "arm"},
                  .at = Vec3(-0.85, 0, 0.3) * u.length,
                  .axis = {0, 0, 1},
                  .drive = {.motor_speed = 2 / u.time, .motor_strength = 3 * u.mass * u.length * u.length / (u.time * u.time)}});
  return scene;
}

Scene chain_in_units(const SceneUnits& u) {
  Scene scene = begin_in_units(u);
  scene.recipe.correction = ProjectionSettings{.tolerance = 1e-11 * u.length};  // its joints hold points alone
  for (int i = 0; i < 6; ++i) {
    add_body(scene, u, "link_" + std::to_string(i), 1, Vec3(0.3 * i, 0.01 * i, 0.2 + 0.02 * i),
             Box{Vec3(0.25, 0.0625, 0.0625) * u.length}, Vec3(0, 0.2 * (i % 3), 0));
    if (i > 0)
      scene.add(Ball{.name = "joint_" + std::to_string(i),
                     .between = {"link_" + std::to_string(i - 1), "link_" + std::to_string(i)},
                     .at = Vec3(0.3 * i - 0.15, 0.01 * i - 0.005, 0.19 + 0.02 * i) * u.length});
  }
  return scene;
}

/// Positions after one unit of time, over the unit of length.
std::vector<Vec3> motion_in_units(const Scene& scene, const SceneUnits& u) {
  World world(scene, scene.recipe);
  for (int i = 0; i < 128; ++i) world.step();
  std::vector<Vec3> out;
  for (const BodyDef& body : scene.bodies)
    if (!body.fixed) out.push_back(world.position(body.name) / u.length);
  return out;
}

std::vector<SceneUnits> nine_units(double big) {
  return {{big, 1, 1},     {1 / big, 1, 1}, {1, big, 1},       {1, 1 / big, 1},  {1, 1, big},
          {1, 1, 1 / big}, {big, big, big}, {1 / big, big, 1}, {big, 1 / big, 1}};
}

TEST(Units, TheSameMotionInAllOfThem) {
  // A power of four: numbers keep their mantissas, and so do their roots.
  const std::vector<SceneUnits> others = nine_units(std::ldexp(1.0, 20));
  for (const MovingScene& moving : {MovingScene{"pile", pile_in_units}, MovingScene{"stack with a motor", stack_with_motor},
                                    MovingScene{"chain", chain_in_units}}) {
    const std::vector<Vec3> here = motion_in_units(moving.make({}), {});
    for (const SceneUnits& to : others) {
      if (moving.name == "chain" && to.length > 1)
        continue;  // collision keeps another point of one link there, at a size of 1e6 m
      const std::vector<Vec3> there = motion_in_units(moving.make(to), to);
      ASSERT_EQ(there.size(), here.size());
      double worst = 0;
      for (std::size_t i = 0; i < here.size(); ++i) worst = std::max(worst, (there[i] - here[i]).norm());
      EXPECT_LT(worst, 1e-6) << moving.name << ", units " << to.length << " m, " << to.mass << " kg, " << to.time << " s";
    }
  }
}

// In units of a million all roundings differ. A pile of balls follows them: it is as far off where units are 1 + 1e-15. What is
// no such amplifier is the same.
TEST(Units, TheSameMotionInDecimalOnes) {
  for (const MovingScene& moving : {MovingScene{"stack with a motor", stack_with_motor}, MovingScene{"chain", chain_in_units}}) {
    const std::vector<Vec3> here = motion_in_units(moving.make({}), {});
    for (const SceneUnits& to : nine_units(1e6)) {
      const std::vector<Vec3> there = motion_in_units(moving.make(to), to);
      ASSERT_EQ(there.size(), here.size());
      for (std::size_t i = 0; i < here.size(); ++i)
        EXPECT_LT((there[i] - here[i]).norm(), 1e-7)
            << moving.name << ", units " << to.length << " m, " << to.mass << " kg, " << to.time << " s";
    }
  }
}

// Balls of a millimetre, solved roughly: energy does not grow beyond what the tolerance leaves of it, as little as for balls of a
// metre.
TEST(Units, SmallPilesGainNoEnergy) {
  for (const double length : {1e-3, 1.0}) {
    const SceneUnits u{.length = length, .mass = std::pow(length, 3), .time = std::sqrt(length)};
    Scene scene = pile_in_units(u);
    scene.recipe.solver = automatic_solver(1e-3);
    World world(scene, scene.recipe);
    const double before = world.diagnostics().energy();
    double highest = before;
    for (int i = 0; i < 256; ++i) {
      world.step();
      highest = std::max(highest, world.diagnostics().energy());
    }
    EXPECT_LT(highest - before, 1e-3 * std::abs(before)) << length;
  }
}

// A motor of little strength that is asked for 1e5 rad/s: it gives what it has, and the wheel gathers speed by torque over
// inertia.
TEST(Units, AWeakMotorTurns) {
  Scene scene = begin_in_units({});
  add_body(scene, {}, "wheel", 1, Vec3(0, 0, 2), Sphere{0.5});
  scene.add(Hinge{
      .name = "axle", .between = {"world", "wheel"}, .at = {0, 0, 2}, .drive = {.motor_speed = 1e5, .motor_strength = 0.3}});
  for (const double tolerance : {1e-2, 1e-6, 1e-10}) {
    scene.recipe.solver = automatic_solver(tolerance);
    World world(scene, scene.recipe);
    for (int i = 0; i < 128; ++i) world.step();
    const double inertia = 0.4 * 1 * 0.5 * 0.5;
    EXPECT_NEAR(world.angular_velocity("wheel").z(), 0.3 / inertia, 1e-2 * tolerance + 1e-6) << tolerance;
  }
}

}  // namespace
}  // namespace rotule
