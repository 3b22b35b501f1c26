// Steps in reduced coordinates: the same motion as in maximal ones, joints that cannot open, drives, loops, walls and books as
// ever; and refusals that name a remedy.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>

#include "mechanism/jointed_mechanism.h"
#include "mechanism/reduced/reduced_mechanism.h"
#include "scenes/builders.h"
#include "support/allocation_counter.h"
#include "support/random_trees.h"
#include "support/runs.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using testing::RandomTrees;

int random_mechanisms() {
  const char* asked = std::getenv("ROTULE_RANDOM_TREES");
  return asked ? std::max(1, std::atoi(asked)) : 20;
}

Recipe in(const char* coordinates, const char* integrator = "dormand_prince_8") {
  Recipe recipe = recipes::exact();
  recipe.dt = 0.01;
  set(recipe, "integrator", integrator);
  if (std::string_view(integrator) == "dormand_prince_8") set(recipe, "integrator.relative_tolerance", "1e-13");
  set(recipe, "coordinates", coordinates);
  return recipe;
}

/// Bodies of the scene that move no faster than joints allow.
World begun(const Scene& scene, const Recipe& recipe) {
  World world(scene, recipe);
  world.project();
  return world;
}

double fastest(const World& world) {
  double out = 1;
  for (const BodyId id : world.bodies())
    out = std::max({out, world.velocity(id).norm(), world.angular_velocity(id).norm(), world.position(id).norm()});
  return out;
}

/// How far both run apart, over the largest of positions and velocities.
double apart_after(const Scene& scene, double time, const char* integrator = "dormand_prince_8", double dt = 0.01) {
  Recipe maximal = in("maximal", integrator), reduced = in("reduced", integrator);
  maximal.dt = reduced.dt = dt;
  World a = begun(scene, maximal), b = begun(scene, reduced);
  EXPECT_EQ(a.coordinates(), "maximal");
  EXPECT_EQ(b.coordinates(), "reduced");
  run_for(a, time);
  run_for(b, time);
  return difference(a, b) / fastest(a);
}

/// Accelerations of bodies found in both, apart, over the largest.
double accelerations_apart(const Scene& scene) {
  World world = begun(scene, recipes::exact());
  static_cast<void>(world.islands());
  const WorldImplementation& w = implementation_of(world);
  JointedMechanism bodies(w.model, w.recipe);
  bodies.external.setZero(w.model.velocity_count());
  bodies.begin_step(w.state, 0);
  VecX udot, joints;
  bodies.accelerations(0, w.state, udot);
  ReducedMechanism reduced(bodies);
  reduced.find_trees(w.state);
  ReducedState r;
  reduced.read(w.state, r);
  reduced.begin_step(r, 0);
  reduced.accelerations(0, r, joints);
  double worst = 0;
  for (int i = 0; i < w.model.body_count(); ++i)
    if (w.model.movable(i))
      worst = std::max(worst, (reduced.body_accelerations() - udot).segment<6>(6 * i).cwiseAbs().maxCoeff());
  return worst / (1 + udot.cwiseAbs().maxCoeff());
}

TEST(ReducedMotion, AccelerationsAreThoseOfBodies) {
  for (int n = 0; n < random_mechanisms(); ++n) {
    RandomTrees random(n);
    EXPECT_LT(accelerations_apart(random.tree(random.whole(1, 12), n % 2 == 1, n % 3 == 0)), 1e-10) << "tree " << n;
  }
  EXPECT_LT(accelerations_apart(scenes::mannequin()), 1e-10);
  EXPECT_LT(accelerations_apart(RandomTrees(1).hinges(100, false)), 1e-10);
  EXPECT_LT(accelerations_apart(scenes::chain(100)), 1e-9);
  Scene falling = scenes::chain_fall();  // ball joints in an arc, tied to nothing
  EXPECT_LT(accelerations_apart(falling), 1e-9);
}

TEST(ReducedMotion, AccelerationsOfLoopsAreThoseOfBodies) {
  for (const Scene& scene : {scenes::four_bar(), scenes::slider_crank(), scenes::six_bar_loop(), scenes::bricard(),
                             scenes::rod_pendulum(), scenes::newton_cradle_joints(), scenes::flyball_governor()})
    EXPECT_LT(accelerations_apart(scene), 1e-9) << scene.bodies.front().name;
}

TEST(ReducedMotion, TreesMoveAsInMaximalCoordinates) {
  for (int n = 0; n < random_mechanisms() / 2; ++n) {
    RandomTrees random(40 + n);
    EXPECT_LT(apart_after(random.tree(random.whole(1, 6), n % 2 == 1, n % 3 == 0), 0.3), 1e-10) << "tree " << n;
  }
  for (const Scene& scene : {scenes::pendulum(), scenes::double_pendulum(), scenes::chain(6), scenes::gyroscope()})
    EXPECT_LT(apart_after(scene, 0.3), 1e-10) << scene.bodies.back().name;
  EXPECT_LT(apart_after(scenes::mannequin(), 0.2), 1e-10);
}

TEST(ReducedMotion, LoopsMoveAsInMaximalCoordinates) {
  for (const Scene& scene :
       {scenes::four_bar(), scenes::slider_crank(), scenes::six_bar_loop(), scenes::rod_pendulum(), scenes::flyball_governor()})
    EXPECT_LT(apart_after(scene, 0.3), 1e-10) << scene.bodies.front().name;
}

TEST(ReducedMotion, EveryMethodGoesToTheSamePlace) {
  // At a step at which each is within its own error of the exact motion.
  const Scene scene = scenes::double_pendulum();
  World exact = begun(scene, in("maximal"));
  run_for(exact, 0.2);
  const auto error = [&](const char* integrator, double dt) {
    Recipe recipe = in("reduced", integrator);
    recipe.dt = dt;
    World world = begun(scene, recipe);
    run_for(world, 0.2);
    return difference(exact, world);
  };
  struct Case {
    const char* integrator;
    double order;
  };
  for (const Case& c : {Case{"explicit_euler", 1},
                        {"semi_implicit_euler", 1},
                        {"rk2", 2},
                        {"modified_euler", 2},
                        {"two_thirds", 2},
                        {"taylor2", 2},
                        {"leapfrog", 2},
                        {"verlet", 2},
                        {"taylor3", 3},
                        {"rk4", 4},
                        {"ab4", 4}}) {
    const double coarse = error(c.integrator, 2e-3), fine = error(c.integrator, 1e-3);
    EXPECT_GT(std::log2(coarse / fine), c.order - 0.3) << c.integrator;
    EXPECT_LT(std::log2(coarse / fine), c.order + 1.3) << c.integrator;
  }
  EXPECT_LT(error("dormand_prince", 0.01), 1e-6);
}

TEST(ReducedMotion, JointsCannotOpenAndEnergyStays) {
  Recipe recipe = in("reduced", "rk4");
  recipe.dt = 1e-3;
  recipe.correction = NoCorrectionSettings{};
  World world = begun(scenes::mannequin(), recipe);
  const double before = world.diagnostics().energy();
  double open = 0;
  for (int i = 0; i < 500; ++i) {
    world.step();
    open = std::max(open, world.diagnostics().joint_error.position);
  }
  EXPECT_LT(open, 1e-14);
  EXPECT_NEAR(world.diagnostics().energy(), before, 1e-8 * std::abs(before));
}

/// A bar on a hinge that falls on a stop, bounces and comes to rest; one more hangs on it, with dry friction and a motor.
Scene driven_bars() {
  Scene scene;
  scene.add({.name = "upper", .mass = 1, .position = {0.25, 0, 0}, .shape = Box{Vec3(0.5, 0.05, 0.05)}});
  scene.add({.name = "lower", .mass = 0.5, .position = {0.7, 0, 0}, .shape = Box{Vec3(0.4, 0.05, 0.05)}});
  scene.add({.name = "wheel", .mass = 0.3, .position = {0.9, 0, 0}, .shape = Cylinder{0.1, 0.05}});
  scene.add(Hinge{.name = "stop", .between = {"world", "upper"}, .axis = {0, 1, 0}, .drive = {.upper = 0.4, .restitution = 0.3}});
  scene.add(
      Hinge{.name = "dry", .between = {"lower", "upper"}, .at = {0.5, 0, 0}, .axis = {0, 1, 0}, .drive = {.friction = 0.3}});
  scene.add(Hinge{.name = "motor",
                  .between = {"lower", "wheel"},
                  .at = {0.9, 0, 0},
                  .axis = {0, 1, 0},
                  .drive = {.motor_speed = 5, .motor_strength = 0.02}});
  return scene;
}

TEST(ReducedMotion, StopsFrictionAndMotorsAsEver) {
  EXPECT_LT(apart_after(driven_bars(), 0.6), 1e-8);
  // Of fixed steps each has its own error of fourth order.
  EXPECT_LT(apart_after(driven_bars(), 0.6, "rk4", 1e-3), 1e-6);
}

TEST(ReducedMotion, GivenMotionsAndWallsAsEver) {
  Scene scene = scenes::double_pendulum();
  scene.joints.clear();
  scene.bodies.clear();
  scene.add({.name = "arm", .mass = 1, .position = {0.25, 0, 0}, .shape = Box{Vec3(0.5, 0.05, 0.05)}});
  scene.add({.name = "bob", .mass = 0.5, .position = {0.5, 0, -0.4}, .shape = Sphere{0.05}});
  scene.add(Hinge{.name = "led",
                  .between = {"world", "arm"},
                  .axis = {0, 1, 0},
                  .drive = {.motion = GivenMotion{.amplitude = 0.5, .frequency = 4}}});
  scene.add(Ball{.name = "hang", .between = {"arm", "bob"}, .at = {0.5, 0, 0}});
  EXPECT_LT(apart_after(scene, 0.5), 1e-9);
  Scene bouncing = scenes::double_pendulum();
  bouncing.walls.push_back({.at = {0, 0, -0.8}, .normal = {0, 0, 1}, .restitution = 0.5});
  EXPECT_LT(apart_after(bouncing, 0.5), 1e-7);
}

TEST(ReducedMotion, AutomaticTakesTreesAndLeavesTheRest) {
  EXPECT_EQ(World(scenes::mannequin(), in("automatic")).coordinates(), "reduced");
  EXPECT_EQ(World(scenes::four_bar(), in("automatic")).coordinates(), "maximal");
  EXPECT_EQ(World(scenes::mannequin(), in("automatic", "implicit_midpoint")).coordinates(), "maximal");
  Recipe touching = in("automatic", "rk4");
  touching.contacts = ConeContactSettings{};
  EXPECT_EQ(World(scenes::mannequin(), touching).coordinates(), "maximal");
}

TEST(ReducedMotion, RefusalsNameARemedy) {
  const auto refusal = [](const Scene& scene, const Recipe& recipe) {
    try {
      World world(scene, recipe);
      world.step();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Recipe touching = in("reduced", "rk4");
  touching.contacts = ConeContactSettings{};
  EXPECT_NE(refusal(scenes::mannequin(), touching).find("--set "), std::string::npos);
  Recipe implicit = in("reduced", "gauss4");
  EXPECT_NE(refusal(scenes::mannequin(), implicit).find("coordinates=maximal"), std::string::npos);
  Scene scene;
  scene.add({.name = "hand", .mass = 1, .shape = Box{}, .kinematic = true});
  scene.add({.name = "bob", .mass = 1, .position = {1, 0, 0}});
  scene.add(Ball{.between = {"hand", "bob"}});
  const std::string kinematic = refusal(scene, in("reduced"));
  EXPECT_NE(kinematic.find("hand"), std::string::npos);
  EXPECT_NE(kinematic.find("coordinates=maximal"), std::string::npos);
}

TEST(ReducedMotion, SnapshotsAreExact) {
  for (const char* integrator : {"rk4", "ab4", "leapfrog", "dormand_prince"}) {
    World world = begun(scenes::mannequin(), in("reduced", integrator));
    for (int i = 0; i < 5; ++i) world.step(1e-3);
    const Snapshot middle = world.save();
    for (int i = 0; i < 5; ++i) world.step(1e-3);
    const std::uint64_t end = world.state_hash();
    world.load(middle);
    for (int i = 0; i < 5; ++i) world.step(1e-3);
    EXPECT_EQ(world.state_hash(), end) << integrator;
    World other = begun(scenes::mannequin(), in("reduced", integrator));
    other.load(middle);
    for (int i = 0; i < 5; ++i) other.step(1e-3);
    EXPECT_EQ(other.state_hash(), end) << integrator << ", another world";
  }
}

TEST(ReducedMotion, BooksCloseAndNothingIsAllocated) {
  Recipe recipe = in("reduced", "rk4");
  recipe.dt = 1e-3;
  Scene scene = RandomTrees(3).tree(6, false, true);
  World world = begun(scene, recipe);
  world.keep_books(true);
  for (int i = 0; i < 100; ++i) world.step();
  const Diagnostics now = world.diagnostics();
  EXPECT_LT(std::abs(now.energy_balance.left_over), 1e-7 * (1 + std::abs(now.energy())));
  world.keep_books(false);
  if (!testing::counts_allocations()) GTEST_SKIP();
  for (const Scene& each : {scene, scenes::four_bar()}) {
    World quiet = begun(each, recipe);
    for (int i = 0; i < 10; ++i) quiet.step();
    const std::size_t before = testing::allocations();
    for (int i = 0; i < 10; ++i) quiet.step();
    EXPECT_EQ(testing::allocations(), before);
  }
}

TEST(ReducedMotion, JointsMayComeAndGo) {
  World world = begun(scenes::double_pendulum(), in("reduced", "rk4"));
  for (int i = 0; i < 10; ++i) world.step(1e-3);
  const JointId last = world.joints().back();
  world.remove(last);
  for (int i = 0; i < 10; ++i) world.step(1e-3);
  EXPECT_EQ(world.coordinates(), "reduced");
  World maximal = begun(scenes::double_pendulum(), in("maximal", "rk4"));
  for (int i = 0; i < 10; ++i) maximal.step(1e-3);
  maximal.remove(maximal.joints().back());
  for (int i = 0; i < 10; ++i) maximal.step(1e-3);
  EXPECT_LT(difference(world, maximal), 1e-9);
}

TEST(ReducedMotion, ParticlesGoAlong) {
  // A cloth hung on a bar by joints that no tree has: rows, as in maximal coordinates.
  EXPECT_LT(apart_after(scenes::trapeze(), 0.01, "rk4", 5e-4), 1e-8);
}

}  // namespace
}  // namespace rotule
