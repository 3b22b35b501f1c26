// Bodies that meet at speed: blows follow one another, nothing tunnels, and restitution creates no energy. Counts can be raised:
// ROTULE_CASES multiplies them. Who passes whom: passes_test.cpp.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <numbers>
#include <random>

#include "dynamics/free_rotation.h"
#include "support/dice.h"

namespace rotule {
namespace {

using testing::cases;
using testing::Dice;

TEST(Blows, GoThroughACradleWithoutGaps) {
  Scene scene;
  scene.gravity.setZero();
  scene.materials = {{.name = "steel", .friction = 0, .restitution = 1}};
  for (int i = 0; i < 5; ++i)
    scene.add({.name = "ball" + std::to_string(i),
               .mass = 1.0,
               .position = {i == 0 ? -0.5 : 0.2 * i, 0, 0},
               .velocity = {i == 0 ? 1.0 : 0.0, 0, 0},
               .shape = Sphere{0.1},
               .material = "steel"});
  World world(scene, recipes::realtime());
  for (int i = 0; i < 60; ++i) world.step();
  for (int i = 0; i < 4; ++i) EXPECT_LT(world.velocity("ball" + std::to_string(i)).norm(), 1e-9);
  EXPECT_NEAR(world.velocity("ball4").x(), 1, 1e-9);
}

TEST(Blows, OfABigBallOnTheFloorThrowASmallOneUp) {
  Scene scene;
  scene.materials = {{.name = "rubber", .friction = 0, .restitution = 1}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  const double M = 3, m = 1, height = 0.5;
  scene.add({.name = "big", .mass = M, .position = {0, 0, 0.1 + height}, .shape = Sphere{0.1}, .material = "rubber"});
  scene.add({.name = "small", .mass = m, .position = {0, 0, 0.25 + height}, .shape = Sphere{0.05}, .material = "rubber"});
  World world(scene, recipes::realtime());
  // Up after both blows at (3M - m)/(M + m) times the speed of the fall: with M = 3 m twice that, four times the height.
  const double factor = (3 * M - m) / (M + m);
  double top = 0;
  for (int i = 0; i < 90; ++i) {
    world.step();
    top = std::max(top, world.position("small").z() - 0.25);
  }
  EXPECT_NEAR(top, factor * factor * height, 2e-3);
}

TEST(Bounce, OfASingleBallIsExactFromStepToStep) {
  Scene scene;
  scene.materials = {{.name = "rubber", .friction = 0, .restitution = 0.9}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 1.1}, .shape = Sphere{0.1}, .material = "rubber"});
  World world(scene, recipes::realtime());
  const double g = 9.81, fall = std::sqrt(2 / g);
  for (int i = 1; i <= 120; ++i) {
    world.step();
    const double t = i / 60.0;
    double start = fall, flight = 2 * fall * 0.9, up = g * fall * 0.9;
    double z = t < fall ? 1 - 0.5 * g * t * t : 0;
    for (; t >= fall && t > start + flight; start += flight, flight *= 0.9, up *= 0.9) {
    }
    if (t >= fall) z = up * (t - start) - 0.5 * g * (t - start) * (t - start);
    EXPECT_NEAR(world.position("ball").z() - 0.1, z, 2e-5) << "t = " << t;
  }
}

/// What bounces, and how it stands: everything is drawn for itself, so that each arrangement meets each law.
struct Bouncing {
  explicit Bouncing(int seed) {
    Dice dice(seed);
    const auto drawn = [&](double low, double high) {  // of both ends now and then
      const int pick = dice.below(5);
      return pick == 0 ? low : pick == 1 ? high : dice.in(low, high);
    };
    e = dice.below(4) == 0 ? 0.9 : drawn(0, 1);
    mu = drawn(0, 1);
    scene.materials = {{.name = "m", .friction = mu, .restitution = e}};
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
    const int sort = seed % 7;
    static constexpr const char* names[] = {"straight column", "crooked column", "heap of balls", "heap",
                                            "rack of balls",   "row of boxes",   "row of balls"};
    name = names[sort];
    if (sort < 2)
      column(dice, sort == 0 ? 0 : 0.02);
    else if (sort < 4)
      heap(dice, sort == 2);
    else if (sort == 4)
      rack(dice);
    else
      row(dice, sort == 5);
    for (BodyDef& body : scene.bodies) body.material = "m";
  }

  void column(Dice& dice, double aside) {
    const int count = 2 + dice.below(6), kinds = dice.below(3);  // balls, boxes or both in turn
    const double gap = dice.below(2) ? 0.01 : 0.2;
    double z = dice.in(0.25, 0.75);
    for (int i = 0; i < count; ++i) {
      const double r = dice.in(0.05, 0.2);
      z += r;
      const bool box = kinds == 1 || (kinds == 2 && i % 2);
      scene.add({.mass = std::pow(10, dice.in(-1, 1)),
                 .position = {dice.in(-aside, aside), dice.in(-aside, aside), z},
                 .shape = box ? Shape(Box{Vec3(2 * r, 2 * r, 2 * r)}) : Shape(Sphere{r})});
      z += r + dice.in(0, gap);
    }
  }

  void heap(Dice& dice, bool balls) {
    const int count = 6 + 3 * dice.below(6);
    for (int i = 0; i < count; ++i) {
      const double r = dice.in(0.05, 0.15);
      scene.add({.mass = std::pow(10, dice.in(-1, 1)),
                 .position = {dice.in(-0.4, 0.4), dice.in(-0.4, 0.4), 0.3 + 0.35 * i},
                 .orientation = dice.orientation(),
                 .velocity = {dice.in(-1, 1), dice.in(-1, 1), dice.in(-3, 0)},
                 .angular_velocity = dice.vector(5),
                 .shape = balls ? Shape(Sphere{r}) : dice.shape(r)});
    }
  }

  /// Balls of a triangle in a frame, with hairs of gaps or none, and one that is shot at them.
  void rack(Dice& dice) {
    const double r = 0.1, apart = 2 * r + (dice.below(2) ? 0 : dice.in(0, 1e-3));
    const int rows = 3 + dice.below(2);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k <= i; ++k)
        scene.add({.mass = std::pow(10, dice.in(-0.3, 0.3)),
                   .position = {apart * i * std::sqrt(0.75), apart * (k - 0.5 * i), r},
                   .shape = Sphere{r}});
    scene.add({.mass = 1.0,
               .position = {-dice.in(0.3, 1), dice.in(-0.05, 0.05), r},
               .velocity = {dice.in(1, 10), 0, 0},
               .angular_velocity = dice.vector(20),
               .shape = Sphere{r}});
    const double far = 1.2;
    for (const double side : {-1.0, 1.0}) {
      scene.add({.fixed = true, .position = {side * far, 0, 0.1}, .shape = Box{Vec3(0.1, 2 * far, 0.4)}});
      scene.add({.fixed = true, .position = {0, side * far, 0.1}, .shape = Box{Vec3(2 * far, 0.1, 0.4)}});
    }
  }

  /// A Newton's cradle on the floor, between two walls.
  void row(Dice& dice, bool boxes) {
    const int count = 3 + dice.below(5);
    const double r = 0.1, gap = dice.below(2) ? 0 : 1e-3;
    double x = 0;
    for (int i = 0; i < count; ++i) {
      scene.add({.mass = dice.below(2) ? 1.0 : std::pow(10, dice.in(-1, 1)),
                 .position = {x, 0, r},
                 .velocity = {i == 0 ? dice.in(1, 5) : 0.0, 0, 0},
                 .shape = boxes ? Shape(Box{Vec3::Constant(2 * r)}) : Shape(Sphere{r})});
      x += 2 * r + (i == 0 ? 0.2 : dice.in(0, gap));
    }
    for (const double wall : {-0.3, x + 0.2}) scene.add({.fixed = true, .position = {wall, 0, 0}, .shape = Box{Vec3(0.1, 2, 2)}});
  }

  Scene scene;
  std::string name;
  double e = 0, mu = 0;
};

TEST(Restitution, NeverCreatesEnergyInColumnsPilesAndRacks) {
  for (int seed = 0; seed < cases(100); ++seed) {
    const Bouncing bouncing(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + bouncing.name);
    World world(bouncing.scene, recipes::realtime());
    const double start = world.diagnostics().energy();
    double least = start, worst = 0;
    int at = 0;
    for (int i = 0; i < 180; ++i) {
      ASSERT_NO_THROW(world.step());
      const double energy = world.diagnostics().energy();
      if (energy - least > worst) worst = energy - least, at = i;
      least = std::min(least, energy);
    }
    EXPECT_LT(worst, 1e-9 * start) << "step " << at << ", e = " << bouncing.e << ", mu = " << bouncing.mu;
  }
}

TEST(FastBodies, AreStoppedByAThinPlate) {
  for (const double speed : {100.0, 1000.0, 5000.0})
    for (const double e : {0.0, 0.5})
      for (int k = 0; k < 20; ++k) {
        Scene scene;
        scene.gravity.setZero();
        scene.materials = {{.name = "m", .friction = 0.3, .restitution = e}};
        const double at = 3 + 0.37 * k;
        scene.add({.name = "plate", .fixed = true, .position = {at, 0, 0}, .shape = Box{Vec3(0.001, 4, 4)}, .material = "m"});
        scene.add({.name = "bullet",
                   .mass = 0.01,
                   .position = {0, 0.3, 0.1},
                   .velocity = {speed, 0.02 * speed * (k % 5) / 5, 0},
                   .shape = k % 2 ? Shape(Sphere{0.004}) : Shape(Box{Vec3(0.01, 0.004, 0.004)}),
                   .material = "m"});
        World world(scene, recipes::realtime());
        for (int i = 0; i < 20; ++i) world.step();
        EXPECT_LT(world.position("bullet").x(), at) << speed << " m/s, e = " << e;
      }
}

TEST(FastTurning, OfAHingedRodIsStoppedByAPost) {
  for (const double speed : {1.0, 20.0, 30.0, 100.0, 500.0}) {
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "rod",
               .mass = 1.0,
               .position = {0.5, 0, 0},
               .velocity = {0, 0.5 * speed, 0},
               .angular_velocity = {0, 0, speed},
               .shape = Box{Vec3(1, 0.02, 0.02)}});
    scene.add({.name = "post", .fixed = true, .position = {0, 0.8, 0}, .shape = Cylinder{0.02, 0.5}});
    scene.add(Hinge{.name = "hinge", .between = {"world", "rod"}});
    World world(scene, recipes::realtime());
    for (int i = 0; i < 240; ++i) world.step();
    const Vec3 along = world.orientation("rod") * Vec3::UnitX();
    // The rod, half as wide as 0.02 m, lies against the post, of that radius, 0.8 m away.
    EXPECT_NEAR(std::atan2(along.y(), along.x()), std::numbers::pi / 2 - std::asin(0.03 / 0.8), 1e-3) << speed << " rad/s";
    EXPECT_LT(world.angular_velocity("rod").norm(), 1e-6);
  }
}

// A wheel beside a wall, which jointed bodies near others pass in parts of 0.4 rad: at any speed there is an end to them.
TEST(FastTurning, OfAWheelDoesNotCutAStepWithoutEnd) {
  for (const double speed : {1e3, 1e7, 1e12}) {
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "wheel", .mass = 1.0, .angular_velocity = {0, 0, speed}, .shape = Cylinder{0.5, 0.05}});
    scene.add({.name = "wall", .fixed = true, .position = {0.62, 0, 0}, .shape = Box{Vec3(0.2, 1, 1)}});
    scene.add(Hinge{.name = "axle", .between = {"world", "wheel"}});
    World world(scene);
    for (int i = 0; i < 2; ++i) world.step();
    EXPECT_NEAR(world.angular_velocity("wheel").z() / speed, 1, 1e-9);
  }
}

TEST(FreeRotor, GlidesWithoutGainOrLoss) {
  Dice dice(1);
  for (int k = 0; k < 2000; ++k) {
    const Vec3 part(dice.in(0.1, 1), dice.in(0.1, 1), dice.in(0.1, 1));  // of the trace: any of these is a possible body
    const Vec3 moments(part.y() + part.z(), part.z() + part.x(), part.x() + part.y());
    const FreeRotor rotor(moments.asDiagonal());
    Quat theta = dice.orientation();
    Vec3 omega = dice.vector(100);
    const auto momentum = [&] { return Vec3(theta * moments.cwiseProduct(theta.conjugate() * omega)); };
    const Vec3 L = momentum();
    const double energy = L.dot(omega);
    for (int i = 0; i < 10; ++i) rotor.glide(theta, omega, 1.0 / 60);
    EXPECT_LT((momentum() - L).norm(), 1e-9 * L.norm());
    EXPECT_NEAR(momentum().dot(omega) / energy, 1, 1e-9);
  }
}

}  // namespace
}  // namespace rotule
