// Small motions about an equilibrium against textbook frequencies.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <cmath>
#include <numbers>

#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;

BodyDef rod(const char* name, double mass, double length, const Vec3& center) {
  const double I = mass * length * length / 12;
  return {.name = name, .mass = mass, .inertia = Mat3(Vec3(I, I, 1e-3 * I).asDiagonal()), .position = center};
}

TEST(Linearisation, GivesTheFrequencyOfAPendulumHangingAndStandingOnItsHead) {
  for (const double up : {-1.0, 1.0}) {
    Scene scene;
    scene.add(rod("rod", 2, 1, Vec3(0, 0, 0.5 * up)));
    scene.add(Hinge{.between = {"world", "rod"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
    const Linearisation l = linearise(World(scene));
    EXPECT_LT(l.unbalance, 1e-12);
    const Modes modes = normal_modes(l);
    ASSERT_EQ(modes.squared_frequencies.size(), 1);
    EXPECT_NEAR(modes.squared_frequencies[0], -up * 1.5 * g, 1e-12);  // m g l/2 over m l^2/3
    EXPECT_NEAR(modes.shapes.col(0).dot(l.M * modes.shapes.col(0)), 1, 1e-12);
    EXPECT_LT((l.J * modes.shapes).norm(), 1e-12);
  }
}

TEST(Linearisation, GivesBothFrequenciesOfTwoRodsOnHinges) {
  Scene scene;
  scene.add(rod("upper", 1, 1, Vec3(0, 0, -0.5)));
  scene.add(rod("lower", 1, 1, Vec3(0, 0, -1.5)));
  scene.add(Hinge{.between = {"world", "upper"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
  scene.add(Hinge{.between = {"upper", "lower"}, .at = Vec3(0, 0, -1), .axis = Vec3::UnitY()});
  const Modes modes = normal_modes(linearise(World(scene)));
  ASSERT_EQ(modes.squared_frequencies.size(), 2);
  // Equal uniform rods: omega^2 = (3 -+ 6/sqrt 7) g/l.
  EXPECT_NEAR(modes.squared_frequencies[0], (3 - 6 / std::sqrt(7.0)) * g, 1e-10);
  EXPECT_NEAR(modes.squared_frequencies[1], (3 + 6 / std::sqrt(7.0)) * g, 1e-10);
}

TEST(Linearisation, ARopeThatIsTautHoldsAndOneThatIsSlackDoesNot) {
  for (const double rope : {1.0, 1.5}) {
    Scene scene;
    scene.gravity = Vec3(0, 0, -g);
    scene.add({.name = "ball", .mass = 2, .position = {0, 0, -1}, .shape = Sphere{0.05}, .contacts = false});
    scene.add_constraint({"ball"}, [](auto q, auto) { return q[0].point().norm(); }, {.at_most = rope});
    const Linearisation l = linearise(World(scene));
    const Modes modes = normal_modes(l);
    if (rope == 1) {  // two swings, three free turns
      EXPECT_LT(l.unbalance, 1e-12);
      ASSERT_EQ(modes.squared_frequencies.size(), 5);
      for (int k = 3; k < 5; ++k) EXPECT_NEAR(modes.squared_frequencies[k], g, 1e-11);
    } else {
      EXPECT_NEAR(l.unbalance, g, 1e-12);
      EXPECT_EQ(modes.squared_frequencies.size(), 6);
    }
  }
}

TEST(Linearisation, AStopHoldsWhatLeansOnItAndFrictionDoesNot) {
  // A bar that lies on its stop, and what hangs from its end.
  for (const double way : {1.0, -1.0}) {
    Scene scene;
    scene.add(rod("bar", 2, 1, Vec3(0.5, 0, 0)));
    scene.bodies[0].inertia = Mat3(Vec3(0.01, 2.0 / 12, 2.0 / 12).asDiagonal());
    scene.add(rod("tail", 1, 1, Vec3(1, 0, -0.5)));
    scene.add(Hinge{.between = {"world", "bar"}, .axis = {0, way, 0}, .drive = {.upper = 0}});
    scene.add(Hinge{.between = {"bar", "tail"}, .at = {1, 0, 0}, .axis = Vec3::UnitY(), .drive = {.friction = 5}});
    const Modes modes = normal_modes(linearise(World(scene)));
    if (way > 0) {
      ASSERT_EQ(modes.squared_frequencies.size(), 1);
      EXPECT_NEAR(modes.squared_frequencies[0], 1.5 * g, 1e-11);
    } else {
      EXPECT_EQ(modes.squared_frequencies.size(), 2);
    }
  }
}

/// A board on two parallel wires swings without turning, as a simple pendulum does; wires are rods, so that the second
/// derivative of a distance counts. Turning about the vertical it goes by the radius of gyration.
TEST(Linearisation, GivesTheFrequenciesOfABoardOnWires) {
  const double wire = 2, half = 0.5;
  Scene scene;
  const Mat3 inertia = Vec3(0.2, 0.3, 0.45).asDiagonal();
  scene.add({.name = "board", .mass = 3, .inertia = inertia, .position = Vec3(0, 0, -wire)});
  for (const double x : {-half, half})
    for (const double y : {-half, half})
      scene.add(Rod{.between = {"world", "board"}, .from = Vec3(x, y, 0), .to = Vec3(x, y, -wire)});
  const Linearisation l = linearise(World(scene));
  const Modes modes = normal_modes(l);
  // Four wires, one redundant: three freedoms. Torque of turning: m g (2 half^2) / wire.
  ASSERT_EQ(modes.squared_frequencies.size(), 3);
  const double turning = 3 * g * 2 * half * half / (wire * 0.45);
  EXPECT_NEAR(modes.squared_frequencies[0], g / wire, 1e-9);
  EXPECT_NEAR(modes.squared_frequencies[1], g / wire, 1e-9);
  EXPECT_NEAR(modes.squared_frequencies[2], turning, 1e-9);
}

TEST(Linearisation, TellsWhereThereIsNoEquilibriumAndRefusesTorques) {
  Scene scene;
  scene.add(rod("rod", 2, 1, Vec3(0.5, 0, 0)));
  scene.add(Ball{.between = {"world", "rod"}, .at = Vec3::Zero()});
  World world(scene);
  EXPECT_GT(linearise(world).unbalance, 1);
  world.set_force(world.body("rod"), Vec3::Zero(), Vec3(1, 0, 0));
  EXPECT_THROW(linearise(world), Error);
}

TEST(Linearisation, OfAFreeBodyIsNothingButItsMass) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "ball", .mass = 2, .shape = Sphere{0.5}});
  const Modes modes = normal_modes(linearise(World(scene)));
  ASSERT_EQ(modes.squared_frequencies.size(), 6);
  EXPECT_EQ(modes.squared_frequencies.cwiseAbs().maxCoeff(), 0);
}

}  // namespace
}  // namespace rotule
