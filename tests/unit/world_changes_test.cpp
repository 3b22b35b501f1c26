// Bodies, joints and forces that come and go between steps: who is not concerned goes on as if nothing had happened.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include "scenes/builders.h"
#include "step/reference/reference_stepper.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

const ReferenceStepper& stepper_of(const World& world) { return *implementation_of(world).stepper->reference(); }

/// Two stacks of boxes on a floor, and a chain of three rods beside them.
Scene stacks_and_chain() {
  Scene scene;
  scene.recipe = recipes::realtime();
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  for (const int stack : {0, 1})
    for (int k = 0; k < 4; ++k)
      scene.add({.name = "box_" + std::to_string(stack) + std::to_string(k),
                 .mass = 1.0,
                 .position = Vec3(5.0 * stack, 0, 0.5 + k),
                 .shape = Box{.size = Vec3::Ones()}});
  for (int k = 0; k < 3; ++k)
    scene.add({.name = "link_" + std::to_string(k),
               .mass = 0.5,
               .position = Vec3(20 + k + 0.5, 0, 6),
               .shape = Capsule{.radius = 0.05, .length = 0.8}});
  scene.add(Ball{.name = "pin_0", .between = {"world", "link_0"}, .at = Vec3(20, 0, 6)});
  for (int k = 1; k < 3; ++k)
    scene.add(Ball{.name = "pin_" + std::to_string(k),
                   .between = {"link_" + std::to_string(k - 1), "link_" + std::to_string(k)},
                   .at = Vec3(20 + k, 0, 6)});
  return scene;
}

std::vector<double> normal_impulses(const World& world, const std::string& of) {
  std::vector<double> out;
  for (const ContactResult& c : world.contacts())
    if (world.name(c.body_a).starts_with(of) || world.name(c.body_b).starts_with(of)) out.push_back(c.force.norm());
  return out;
}

TEST(WorldChanges, ANewBodyLeavesContactsAndJointsWarm) {
  World world(stacks_and_chain());
  for (int i = 0; i < 60; ++i) world.step();
  const std::vector<double> before = normal_impulses(world, "box_");
  const VecX joints = stepper_of(world).mechanism.now.joints.at(0).x;
  ASSERT_EQ(before.size(), 32u);
  ASSERT_GT(joints.norm(), 0);

  world.add(BodyDef{.name = "ball", .mass = 1.0, .position = Vec3(-8, 0, 9), .shape = Sphere{0.3}});
  EXPECT_EQ(normal_impulses(world, "box_"), before);
  EXPECT_EQ(stepper_of(world).mechanism.now.joints.at(0).x, joints);
  const StepReport& report = world.step();
  EXPECT_TRUE(report.converged);

  // Far from everything the ball falls by itself; all others move to the bit as they would without it.
  World alone(stacks_and_chain());
  for (int i = 0; i < 61; ++i) alone.step();
  for (const BodyId id : alone.bodies()) {
    EXPECT_EQ(world.position(alone.name(id)), alone.position(id)) << alone.name(id);
    EXPECT_EQ(world.velocity(alone.name(id)), alone.velocity(id)) << alone.name(id);
  }
}

// Particles that joints hold are numbered behind the bodies: a new body moves their numbers on.
TEST(WorldChanges, ANewBodyLeavesParticlesOnTheirJoints) {
  const auto board_with_weight = [] {
    Scene scene;
    scene.recipe = recipes::realtime();
    scene.add({.name = "board", .mass = 2.0, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.2, 0.1)}});
    scene.add_particles({.name = "weight", .positions = {Vec3(1, 0, 0)}, .mass = 0.7});
    scene.add(Hinge{.name = "hinge", .between = {"world", "board"}, .axis = {0, 1, 0}});
    scene.add(Ball{.name = "held", .between = {"board", "weight"}, .at = {1, 0, 0}});
    return World(scene);
  };
  World world = board_with_weight(), alone = board_with_weight();
  for (int i = 0; i < 10; ++i) world.step();
  const BodyId late = world.add(BodyDef{.name = "late", .mass = 1.0, .position = Vec3(-8, 0, 9), .shape = Sphere{0.3}});

  // What is asked before the next step speaks of the partners by their new numbers: the board and the weight behind both bodies.
  ASSERT_EQ(world.islands(), 1);
  const IslandView island = implementation_of(world).stepper->island(0);
  EXPECT_EQ(std::vector<int>(island.bodies.begin(), island.bodies.end()), (std::vector<int>{0, 2}));
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);

  for (int i = 0; i < 10; ++i) world.step();
  for (int i = 0; i < 20; ++i) alone.step();
  EXPECT_EQ(world.particle_position(0), alone.particle_position(0));
  EXPECT_EQ(world.position("board"), alone.position("board"));
  EXPECT_LT(world.position(late).z(), 9);
}

TEST(WorldChanges, ABodyThatLeavesLeavesTheRestWarm) {
  Scene scene = stacks_and_chain();
  scene.bodies.insert(scene.bodies.begin() + 1,
                      BodyDef{.name = "ball", .mass = 1.0, .position = Vec3(-8, 0, 0.3), .shape = Sphere{0.3}});
  World world(scene);
  for (int i = 0; i < 60; ++i) world.step();
  const std::vector<double> before = normal_impulses(world, "box_");
  const VecX joints = stepper_of(world).mechanism.now.joints.at(0).x;
  world.remove(world.body("ball"));
  EXPECT_EQ(normal_impulses(world, "box_"), before) << "numbers moved up, impulses with them";
  EXPECT_EQ(stepper_of(world).mechanism.now.joints.at(0).x, joints);
  World alone(stacks_and_chain());
  for (int i = 0; i < 60; ++i) alone.step();
  for (int i = 0; i < 30; ++i) {
    world.step();
    alone.step();
  }
  for (const BodyId id : alone.bodies()) EXPECT_EQ(world.position(alone.name(id)), alone.position(id)) << alone.name(id);
}

TEST(WorldChanges, LinkagesThatAreNotConcernedAreNotMadeAnew) {
  Scene scene;
  scene.recipe.dt = 1e-3;
  for (const int chain : {0, 1, 2})
    for (int k = 0; k < 3; ++k) {
      const std::string name = "rod_" + std::to_string(chain) + std::to_string(k);
      scene.add(
          {.name = name, .mass = 1.0, .position = Vec3(k + 0.5, 3.0 * chain, 0), .shape = Box{.size = Vec3(0.9, 0.1, 0.1)}});
      scene.add(Ball{.name = "pin_" + std::to_string(chain) + std::to_string(k),
                     .between = {k == 0 ? "world" : "rod_" + std::to_string(chain) + std::to_string(k - 1), name},
                     .at = Vec3(k, 3.0 * chain, 0)});
    }
  World world(scene);
  for (int i = 0; i < 20; ++i) world.step();
  const auto& mechanism = stepper_of(world).mechanism;
  ASSERT_EQ(mechanism.linkages.size(), 3u);
  // The memory in which a linkage's rows stand tells whether it is still the same one.
  const double* const first = mechanism.islands[0].problem.J_a.data();
  const double* const last = mechanism.islands[2].problem.J_a.data();
  const VecX answer = mechanism.now.joints[2].x;

  world.remove(world.joint("pin_12"));  // cuts the middle chain
  ASSERT_EQ(mechanism.linkages.size(), 3u);
  EXPECT_EQ(mechanism.islands[0].problem.J_a.data(), first);
  EXPECT_EQ(mechanism.islands[2].problem.J_a.data(), last);
  EXPECT_EQ(mechanism.now.joints[2].x, answer);
  EXPECT_GT(mechanism.now.joints[1].x.norm(), 0) << "joints in a changed linkage keep what they gave";

  world.remove(world.body("rod_00"));  // the first chain falls off the world; the last moves up in all lists
  EXPECT_EQ(mechanism.linkages.size(), 3u);
  EXPECT_EQ(mechanism.now.joints[2].x, answer);
  EXPECT_EQ(mechanism.islands[2].problem.J_a.data(), last);
  for (int i = 0; i < 100; ++i) world.step();
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);

  // Two chains tied together are one linkage.
  world.add(Rod{.name = "tie", .between = {"rod_11", "rod_20"}});
  EXPECT_EQ(mechanism.linkages.size(), 2u);
  for (int i = 0; i < 100; ++i) world.step();
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
}

TEST(WorldChanges, BodiesThatAJointTiedTouchOnceItIsGone) {
  Scene scene;
  scene.recipe = recipes::realtime();
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "lower", .mass = 1.0, .position = Vec3(0, 0, 0.5), .shape = Box{.size = Vec3::Ones()}});
  scene.add({.name = "upper", .mass = 1.0, .position = Vec3(0, 0, 1.5), .shape = Box{.size = Vec3::Ones()}});
  scene.add(Weld{.name = "glue", .between = {"lower", "upper"}, .at = Vec3(0, 0, 1)});
  World world(scene);
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_EQ(world.contacts().size(), 4u);
  world.remove(world.joint("glue"));
  EXPECT_EQ(world.contacts().size(), 8u);
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_NEAR(world.position("upper").z(), 1.5, 1e-4) << "it rests on the lower one";
  world.add(Weld{.name = "glue_again", .between = {"lower", "upper"}, .at = Vec3(0, 0, 1)});
  EXPECT_EQ(world.contacts().size(), 4u);
}

TEST(WorldChanges, ForcesComeAndGo) {
  Scene scene;
  scene.gravity.setZero();
  scene.recipe.dt = 1e-3;
  scene.add({.name = "ball", .mass = 2.0, .position = Vec3(1, 0, 0), .shape = Sphere{0.1}});
  scene.forces.push_back(Drag{.viscous = 0.5});
  World world(scene);
  const ForceId drag{0, 0};
  EXPECT_TRUE(world.contains(drag)) << "those of the scene are numbered as in its list";
  world.remove(drag);
  EXPECT_FALSE(world.contains(drag));
  EXPECT_THROW(world.remove(drag), Error);

  // x = cos(w t) while the spring is there, and straight on afterwards.
  const ForceId spring =
      world.add(Spring{.between = {"world", "ball"}, .from = Vec3::Zero(), .stiffness = 8.0, .rest_length = 0.0});
  for (int i = 0; i < 500; ++i) world.step();
  EXPECT_NEAR(world.position("ball").x(), std::cos(2 * 0.5), 1e-9);
  world.remove(spring);
  const Vec3 v = world.velocity("ball"), from = world.position("ball");
  for (int i = 0; i < 500; ++i) world.step();
  EXPECT_LT((world.position("ball") - (from + 0.5 * v)).norm(), 1e-12);
  EXPECT_THROW(world.add(Spring{.between = {"world", "nobody"}, .from = Vec3::Zero(), .stiffness = 1.0}), Error);
  EXPECT_THROW(world.add(Spring{.between = {"world", "ball"}, .from = Vec3::Zero()}), Error) << "does nothing";
}

TEST(WorldChanges, ADragOnEverythingTakesInThoseWhoComeLater) {
  Scene scene;
  scene.gravity.setZero();
  scene.recipe.dt = 1e-3;
  scene.forces.push_back(Drag{.viscous = 3.0});
  World world(scene);
  world.add(BodyDef{.name = "late", .mass = 1.0, .velocity = Vec3(1, 0, 0), .shape = Sphere{0.1}});
  for (int i = 0; i < 1000; ++i) world.step();
  EXPECT_NEAR(world.velocity("late").x(), std::exp(-3.0), 1e-9);
}

}  // namespace
}  // namespace rotule
