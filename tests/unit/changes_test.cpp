// Bodies and joints that come and go between steps, for both steppers: whoever has nothing to do with it does not feel it, and
// what rests keeps its impulses.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <string>

#include "support/runs.h"

namespace rotule {
namespace {

Recipe realtime(double sleep_after) {
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = sleep_after};
  return recipe;
}

const Vec3 far_away(40, 40, 5);

/// A column that rests, and beside it a pendulum whose hinge has a motor against a stop: both have impulses to lose.
Scene column_and_pendulum() {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  for (int k = 0; k < 4; ++k)
    scene.add(
        {.name = "box" + std::to_string(k), .mass = 1.0, .position = {0, 0, 0.25 + 0.5 * k}, .shape = Box{{0.5, 0.5, 0.5}}});
  scene.add({.name = "arm", .mass = 2.0, .position = {5, 0, 4}, .shape = Box{{1, 0.2, 0.2}}});
  Hinge hinge{.name = "pivot", .between = {"world", "arm"}, .at = Vec3(4.5, 0, 4), .axis = Vec3(0, 1, 0)};
  hinge.drive.motor_strength = 50;
  hinge.drive.motor_speed = 1;
  hinge.drive.upper = 0.3;
  scene.add(hinge);
  return scene;
}

/// How far the bodies of two worlds are from each other.
double distance(const World& a, const World& b) {
  double most = 0;
  for (const char* name : {"box0", "box3", "arm"})
    most = std::max({most, (a.position(a.body(name)) - b.position(b.body(name))).norm(),
                     (a.velocity(a.body(name)) - b.velocity(b.body(name))).norm()});
  return most;
}

void expect_untouched(const Recipe& recipe, double tolerance) {
  World left_alone(column_and_pendulum(), recipe), changed(column_and_pendulum(), recipe);
  run_for(left_alone, 0.5);
  run_for(changed, 0.5);
  ASSERT_EQ(distance(left_alone, changed), 0);
  const auto step_both = [&](const char* what) {
    for (int i = 0; i < 5; ++i) {
      left_alone.step();
      changed.step();
      EXPECT_LE(distance(left_alone, changed), tolerance) << what << ", step " << i;
    }
  };
  const BodyId one = changed.add(BodyDef{.name = "one", .mass = 1.0, .position = far_away, .shape = Sphere{0.3}});
  const BodyId two = changed.add(BodyDef{.name = "two", .mass = 1.0, .position = far_away + Vec3(1, 0, 0), .shape = Sphere{0.3}});
  step_both("bodies added");
  const JointId joint = changed.add(Rod{.name = "rod", .between = {"one", "two"}, .length = 1});
  step_both("a joint added");
  changed.remove(joint);
  step_both("the joint removed");
  changed.remove(one);
  changed.remove(two);
  step_both("bodies removed");
}

// Bodies are loaded anew, and rounded to floats.
TEST(Changes, NobodyElseFeelsThemInRealTime) { expect_untouched(realtime(0), 1e-5); }
TEST(Changes, NobodyElseFeelsThemInTheReference) { expect_untouched(recipes::balanced(), 1e-9); }

TEST(Changes, WakeThoseConcernedAlone) {
  World world(column_and_pendulum(), realtime(0.3));
  world.add(BodyDef{.name = "lone", .mass = 1.0, .position = Vec3(10, 0, 0.25), .shape = Box{{0.5, 0.5, 0.5}}});
  run_for(world, 2);
  ASSERT_EQ(world.step().asleep, 5);  // the arm is driven
  world.add(BodyDef{.name = "one", .mass = 1.0, .position = far_away, .shape = Sphere{0.3}});
  world.add(BodyDef{.name = "two", .mass = 1.0, .position = far_away + Vec3(1, 0, 0), .shape = Sphere{0.3}});
  EXPECT_EQ(world.step().asleep, 5);
  const JointId far = world.add(Rod{.name = "rod", .between = {"one", "two"}});
  EXPECT_EQ(world.step().asleep, 5);
  world.remove(far);
  EXPECT_EQ(world.step().asleep, 5);
  // A joint on the topmost box wakes its column, and nobody else.
  const JointId tie = world.add(Rod{.name = "tie", .between = {"world", "box3"}, .from = Vec3(0, 0, 4.25), .length = 2.5});
  EXPECT_EQ(world.step().asleep, 1);
  run_for(world, 3);
  ASSERT_EQ(world.step().asleep, 7);  // the two have fallen, and lie
  // And so does its leaving.
  world.remove(tie);
  EXPECT_EQ(world.step().asleep, 3);
}

TEST(Changes, WhatRestsBearsItsWeightInTheNextStep) {
  for (const Recipe& recipe : {realtime(0), recipes::balanced()}) {
    World world(column_and_pendulum(), recipe);
    run_for(world, 1);
    world.add(BodyDef{.name = "one", .mass = 1.0, .position = far_away, .shape = Sphere{0.3}});
    world.step();
    double borne = 0;
    for (const ContactResult& c : world.contacts())
      if (c.body_a == world.body("ground") || c.body_b == world.body("ground")) borne += std::abs(c.force.z());
    EXPECT_NEAR(borne, 4 * 9.81, 1e-3 * 4 * 9.81);
    EXPECT_LT(world.velocity("box3").norm(), 1e-3);
  }
}

}  // namespace
}  // namespace rotule
