// Rotors that are geared to axes of joints (Drive::armature), by methods of accelerations and by impulses, by bodies and by
// joints: against rotors that are bodies, against the mass matrix with their inertia on its diagonal, and against each other.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/reduced.h>
#include <rotule/world.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "support/random_trees.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::RandomTrees;

Recipe by_accelerations(const char* coordinates) {
  Recipe recipe = recipes::exact();
  recipe.dt = 0.01;
  set(recipe, "integrator", "dormand_prince_8");
  set(recipe, "integrator.relative_tolerance", "1e-13");
  set(recipe, "coordinates", coordinates);
  return recipe;
}

Recipe by_impulses(const char* coordinates, double h) {
  Recipe recipe = recipes::realtime();
  recipe.dt = h;
  set(recipe, "contacts", "none");
  set(recipe, "coordinates", coordinates);
  return recipe;
}

/// A rotor on every hinge and slider.
Scene with_rotors(Scene scene, RandomTrees& random) {
  for (JointDef& joint : scene.joints) {
    if (auto* hinge = std::get_if<Hinge>(&joint)) hinge->drive.armature = random.number(0.05, 1);
    if (auto* slider = std::get_if<Slider>(&joint)) slider->drive.armature = random.number(0.5, 4);
    if (auto* universal = std::get_if<Universal>(&joint))
      universal->drives = {{"rx", {.armature = random.number(0.05, 1)}}, {"ry", {.armature = random.number(0.05, 1)}}};
  }
  return scene;
}

/// An arm that turns and reaches: a slider on a hinge, both with rotors, and a hinge at its end.
Scene reaching_arm(double turning = 0.8, double reaching = 1.5) {
  Scene scene;
  scene.add({.name = "boom", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}, .contacts = false});
  scene.add({.name = "sledge", .mass = 1, .position = {0.8, 0, 0}, .shape = Box{Vec3(0.4, 0.08, 0.08)}, .contacts = false});
  scene.add({.name = "hand", .mass = 0.5, .position = {1.2, 0, 0}, .shape = Box{Vec3(0.3, 0.05, 0.05)}, .contacts = false});
  scene.add(Hinge{.name = "turn", .between = {"world", "boom"}, .axis = {0, 1, 0}, .drive = {.armature = turning}});
  scene.add(Slider{
      .name = "reach", .between = {"boom", "sledge"}, .at = {0.6, 0, 0}, .axis = {1, 0, 0}, .drive = {.armature = reaching}});
  scene.add(Hinge{
      .name = "wrist", .between = {"sledge", "hand"}, .at = {1.05, 0, 0}, .axis = {0, 0.6, 0.8}, .drive = {.armature = 0.02}});
  return scene;
}

TEST(Armature, IsARotorBehindAGear) {
  // A pendulum, and a wheel on an axis of the ground that its joint turns five times as fast the other way: on the ground there
  // is nothing else that a rotor could do, and both are the same motion exactly.
  const auto pendulum = [](double armature) {
    Scene scene;
    scene.add({.name = "bob", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}, .contacts = false});
    scene.add(Hinge{.name = "axis", .between = {"world", "bob"}, .axis = {0, 1, 0}, .drive = {.armature = armature}});
    return scene;
  };
  constexpr double spinning = 0.03;  // kg m^2
  Scene geared = pendulum(0);
  geared.add(
      {.name = "wheel", .mass = 1, .inertia = Mat3(spinning * Mat3::Identity()), .position = {0, 0, 3}, .contacts = false});
  geared.add(Hinge{.name = "shaft", .between = {"world", "wheel"}, .at = {0, 0, 3}, .axis = {0, 1, 0}});
  geared.add(Gear{.between = {"bob", "wheel"}, .axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}, .teeth_a = 50, .teeth_b = 10});
  World wheel(geared, by_accelerations("maximal"));
  run_for(wheel, 1);
  for (const char* coordinates : {"maximal", "reduced"}) {
    World world(pendulum(25 * spinning), by_accelerations(coordinates));
    run_for(world, 1);
    EXPECT_NEAR(world.joint_position(world.joint("axis")), wheel.joint_position(wheel.joint("axis")), 1e-11) << coordinates;
    EXPECT_NEAR(world.joint_rate(world.joint("axis")), wheel.joint_rate(wheel.joint("axis")), 1e-10) << coordinates;
    EXPECT_NEAR(world.diagnostics().kinetic_energy, wheel.diagnostics().kinetic_energy, 1e-9);
  }
}

TEST(Armature, StandsOnTheDiagonalOfTheMassMatrix) {
  double worst_matrix = 0, worst_newton = 0, worst_articulated = 0;
  for (unsigned n = 0; n < 20; ++n) {
    RandomTrees random(n);
    const Scene plain = random.tree(random.whole(1, 8), n % 2 == 1, false), geared = with_rotors(plain, random);
    World without(plain, recipes::exact()), with(geared, recipes::exact());
    without.project();
    with.project();
    ReducedModel a(without), b(with);
    const int count = a.velocities();
    if (count == 0) continue;
    VecX rotors = VecX::Zero(count);
    for (const ReducedAxis& axis : b.axes())
      for (const JointDef& joint : geared.joints)
        std::visit(
            [&](const auto& j) {
              if (j.name != axis.joint) return;
              if constexpr (requires { j.drive; }) rotors[axis.velocity] = j.drive.armature;
              if constexpr (requires { j.drives; })
                for (const AxisDrive& each : j.drives)
                  if (each.axis == axis.axis || "r" + each.axis == axis.axis) rotors[axis.velocity] = each.drive.armature;
            },
            joint);
    const VecX q = a.position(without);
    VecX u(count), acceleration(count);
    for (double& x : u) x = random.number(-2, 2);
    for (double& x : acceleration) x = random.number(-5, 5);
    const MatX H = MatX(a.mass_matrix(q)) + MatX(rotors.asDiagonal());
    worst_matrix = std::max(worst_matrix, (H - b.mass_matrix(q)).cwiseAbs().maxCoeff());
    const VecX tau = a.inverse_dynamics(q, u, acceleration) + rotors.cwiseProduct(acceleration);
    worst_newton = std::max(worst_newton, (tau - b.inverse_dynamics(q, u, acceleration)).norm() / (1 + tau.norm()));
    worst_articulated = std::max(worst_articulated, (b.forward_dynamics(q, u, tau) - acceleration).norm());
    EXPECT_LT((VecX(b.bias(q, u)) - a.bias(q, u)).norm(), 1e-12);
  }
  EXPECT_LT(worst_matrix, 1e-13);
  EXPECT_LT(worst_newton, 1e-13);
  EXPECT_LT(worst_articulated, 1e-9);
}

TEST(Armature, MovesTheSameByBodiesAndByJoints) {
  for (unsigned n = 0; n < 8; ++n) {
    RandomTrees random(60 + n);
    const Scene scene = with_rotors(random.tree(random.whole(2, 5), n % 2 == 1, n % 3 == 0), random);
    World a(scene, by_accelerations("maximal")), b(scene, by_accelerations("reduced"));
    a.project();
    b.project();
    EXPECT_EQ(a.diagnostics().kinetic_energy, b.diagnostics().kinetic_energy);
    run_for(a, 0.2);
    run_for(b, 0.2);
    EXPECT_LT(difference(a, b), 1e-9) << "tree " << n;
  }
}

TEST(Armature, KeepsEnergyAndTheBooks) {
  for (const char* coordinates : {"maximal", "reduced"}) {
    World world(reaching_arm(), by_accelerations(coordinates));
    world.keep_books(true);
    const double before = world.diagnostics().energy();
    run_for(world, 0.6);
    EXPECT_NEAR(world.diagnostics().energy(), before, 1e-9) << coordinates;
    EXPECT_NEAR(world.diagnostics().energy_balance.left_over, 0, 1e-9) << coordinates;
  }
  // A motor that leads an axis turns its rotor as well: work that goes in is energy that is there.
  Scene led = reaching_arm();
  std::get<Hinge>(led.joints[0]).drive.motion = GivenMotion{.amplitude = 0.7, .frequency = 3};
  led.bodies[0].angular_velocity = Vec3(0, 2.1, 0);
  for (const char* coordinates : {"maximal", "reduced"}) {
    World world(led, by_accelerations(coordinates));
    world.project();
    world.keep_books(true);
    run_for(world, 0.6);
    EXPECT_NEAR(world.diagnostics().energy_balance.left_over, 0, 1e-6) << coordinates;
  }
}

TEST(Armature, ByImpulsesGoesToTheSameMotion) {
  World exact(reaching_arm(), by_accelerations("reduced"));
  run_for(exact, 0.4);
  const auto error = [&](double h) {
    World world(reaching_arm(), by_impulses("reduced", h));
    run_for(world, 0.4);
    return difference(exact, world);
  };
  const double coarse = error(1e-3), fine = error(2.5e-4);
  EXPECT_LT(coarse, 0.02);
  EXPECT_NEAR(coarse / fine, 4, 0.5) << coarse << " and " << fine;
}

TEST(Armature, SlowsABlow) {
  // A ball meets the tip of a bar that hangs from a hinge: with I of bar and rotor about that, impulse p = (1 + e) v /
  // (1/m + r^2/I).
  constexpr double r = 0.9, m = 0.5, v = 4, e = 0.6, rotor = 0.7;
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.materials.push_back({.name = "hard", .friction = 0, .restitution = e});
  scene.add({.name = "bar", .mass = 2, .position = {0, 0, -0.5}, .shape = Box{Vec3(0.1, 0.1, 1)}, .material = "hard"});
  scene.add(
      {.name = "ball", .mass = m, .position = {-0.2, 0, -r}, .velocity = {v, 0, 0}, .shape = Sphere{0.1}, .material = "hard"});
  scene.add(Hinge{.name = "axis", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = {.armature = rotor}});
  const double I = 2 * (0.25 + (1 + 0.01) / 12) + rotor, p = (1 + e) * v / (1 / m + r * r / I);
  Recipe recipe = by_impulses("reduced", 1e-3);
  set(recipe, "contacts", "cone");
  World world(scene, recipe);
  run_for(world, 0.05);
  EXPECT_NEAR(world.velocity(world.body("ball")).x(), v - p / m, 1e-3);
  EXPECT_NEAR(std::abs(world.joint_rate(world.joint("axis"))), p * r / I, 1e-3);
  EXPECT_NEAR(world.diagnostics().kinetic_energy, 0.5 * m * (v - p / m) * (v - p / m) + 0.5 * p * p * r * r / I, 1e-2);
}

TEST(Armature, SlowsASpring) {
  constexpr double k = 40, rotor = 1.25;
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "bar", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  scene.add(Hinge{.name = "axis", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = {.stiffness = k, .armature = rotor}});
  const World world(scene, recipes::exact());
  const Modes modes = normal_modes(linearise(world));
  ASSERT_EQ(modes.squared_frequencies.size(), 1);
  const double I = 2 * (0.25 + 1.01 / 12) + rotor;
  EXPECT_NEAR(modes.squared_frequencies[0], k / I, 1e-9);
}

TEST(Armature, IsRefusedWhereItIsNotKnown) {
  for (const char* integrator : {"implicit_midpoint", "rattle"}) {
    Recipe recipe = recipes::exact();
    set(recipe, "integrator", integrator);
    EXPECT_THROW(World(reaching_arm(), recipe).step(), Error) << integrator;
  }
  EXPECT_THROW(World(reaching_arm(), recipes::fastest()).step(), Error);
  EXPECT_THROW(World(reaching_arm(), by_impulses("maximal", 1e-3)).step(), Error);
  World automatic(reaching_arm(), by_impulses("automatic", 1e-3));
  automatic.step();
  EXPECT_EQ(automatic.coordinates(), "reduced");
  Scene dialled = reaching_arm();
  dialled.dial = Dial::realtime;
  World chosen(dialled);
  chosen.step();
  EXPECT_EQ(chosen.coordinates(), "reduced");
  Scene balls = reaching_arm();
  balls.joints[2] = Ball{.name = "wrist", .between = {"sledge", "hand"}, .at = {1.05, 0, 0}, .drives = {{"rx", {.armature = 1}}}};
  EXPECT_THROW(World{balls}, Error);
}

}  // namespace
}  // namespace rotule
