// Bodies that meet at speed: passing bodies do not touch, those that touch do so in the pose in which they meet, blows follow one
// another, nothing tunnels, and restitution creates no energy. Counts can be raised: ROTULE_CASES multiplies them.
#include <gtest/gtest.h>
#include <rotule/queries.h>
#include <rotule/world.h>

#include <cstdlib>
#include <numbers>
#include <random>

#include "dynamics/free_rotation.h"

namespace rotule {
namespace {

int cases(int count) {
  const char* factor = std::getenv("ROTULE_CASES");
  return factor ? count * std::max(1, std::atoi(factor)) : count;
}

/// Everything that a random scene draws from.
struct Dice {
  explicit Dice(int seed) : engine(static_cast<unsigned>(seed)) {}
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); }
  Vec3 vector(double most) { return {in(-most, most), in(-most, most), in(-most, most)}; }
  Vec3 direction() {
    for (;;)
      if (const Vec3 d = vector(1); d.norm() < 1 && d.norm() > 0.1) return d.normalized();
  }
  Quat orientation() { return Quat(Eigen::AngleAxisd(in(0, 2 * std::numbers::pi), direction())); }
  Shape shape(double size) {
    switch (below(4)) {
      case 0:
        return Sphere{size};
      case 1:
        return Box{Vec3(2 * size, 1.4 * size, size)};
      case 2:
        return Capsule{0.5 * size, 1.5 * size};
      default:
        return Cylinder{0.7 * size, 1.5 * size};
    }
  }
  std::mt19937 engine;
};

double degrees_between(const Vec3& a, const Vec3& b) { return std::atan2(a.cross(b).norm(), a.dot(b)) * 180 / std::numbers::pi; }

/// Two balls without friction, one of them thrown past or at the other at 1 to 100 m/s: the exact answer is known.
struct Pass {
  Pass(int seed, double e) {
    Dice dice(seed);
    const double r_a = dice.in(0.05, 0.3), r_b = dice.in(0.05, 0.3), m_a = dice.in(0.1, 5), m_b = dice.in(0.1, 5);
    v = std::pow(10, dice.in(0, 2));
    const Vec3 d = dice.direction(), side = d.unitOrthogonal(), at = dice.vector(1);
    const double r = r_a + r_b, off = dice.in(0, 1.5) * r, distance = dice.in(1.2, 4) * r + dice.in(0, 1) * v / 60;
    v_b = dice.in(0, 1) * dice.direction();
    v_a = v * d + v_b;
    scene.gravity.setZero();
    scene.materials = {{.name = "m", .friction = 0, .restitution = e}};
    scene.add({.name = "a", .mass = m_a, .position = at - distance * d + off * side, .velocity = v_a, .shape = Sphere{r_a}});
    scene.add({.name = "b", .mass = m_b, .position = at, .velocity = v_b, .shape = Sphere{r_b}});
    for (BodyDef& body : scene.bodies) body.material = "m";
    steps = static_cast<int>(60 * 2 * (distance + r) / v) + 5;
    hits = off < r;
    after_a = v_a;
    after_b = v_b;
    if (!hits) return;
    const Vec3 n = (std::sqrt(r * r - off * off) * d - off * side).normalized();
    const double impulse = (1 + e) * v * d.dot(n) / (1 / m_a + 1 / m_b);
    after_a -= impulse / m_a * n;
    after_b += impulse / m_b * n;
  }
  Scene scene;
  double v;
  Vec3 v_a, v_b, after_a, after_b;
  int steps;
  bool hits;
};

class BallsThatPass : public ::testing::TestWithParam<double> {};

TEST_P(BallsThatPass, ExchangeMomentumOnlyWhereTheyTouchAndThenInTheRightDirection) {
  int touched = 0;
  for (int seed = 0; seed < cases(300); ++seed) {
    const Pass pass(seed, GetParam());
    World world(pass.scene, recipes::realtime());
    for (int i = 0; i < pass.steps; ++i) world.step();
    const Vec3 a = world.velocity("a"), b = world.velocity("b");
    if (!pass.hits) {
      EXPECT_LT((a - pass.v_a).norm(), 1e-9 * pass.v) << "seed " << seed;
      continue;
    }
    ++touched;
    for (const auto& [got, exact] : {std::pair(a, pass.after_a), std::pair(b, pass.after_b)}) {
      if ((exact - pass.v_b).norm() < 1e-3 * pass.v) continue;
      EXPECT_LT(degrees_between(got - pass.v_b, exact - pass.v_b), 0.5) << "seed " << seed;
    }
    EXPECT_LT((b - pass.after_b).norm(), 0.01 * pass.v) << "seed " << seed;
  }
  EXPECT_GT(touched, cases(100));
}

INSTANTIATE_TEST_SUITE_P(Restitution, BallsThatPass, ::testing::Values(0.0, 0.5, 1.0),
                         [](const auto& info) { return "e" + std::to_string(int(10 * info.param)); });

TEST(Passes, OfAnyShapeBesideFixedBoxesTouchWhereTheExactPathsDo) {
  int touched = 0, missed = 0;
  for (int seed = 0; seed < cases(300); ++seed) {
    Dice dice(1000 + seed);
    const double v = std::pow(10, dice.in(0, 2)), size = dice.in(0.05, 0.3);
    const Vec3 d = dice.direction(), side = d.unitOrthogonal(), at = dice.vector(1);
    const Vec3 spin = seed % 5 ? Vec3(dice.in(0, 20) * dice.direction()) : Vec3(Vec3::Zero());
    const double off = dice.in(0, 2) * size + dice.in(0, 0.6);
    Scene scene;
    scene.gravity.setZero();
    scene.materials = {{.name = "m", .friction = 0.3, .restitution = seed % 2 ? 0.5 : 0.0}};
    const auto wall = [&](const std::string& name, const Vec3& position) {
      const Box box{Vec3(dice.in(0.1, 1), dice.in(0.1, 1), dice.in(0.05, 0.5))};
      scene.add({.name = name, .fixed = true, .position = position, .orientation = dice.orientation(), .shape = box});
    };
    wall("wall", at);
    if (seed % 3 == 0) wall("gate", at + 2 * off * side);
    // All moments equal: the free motion is a straight line and a steady turn.
    scene.add({.name = "a",
               .mass = 1.0,
               .inertia = Mat3(0.01 * Mat3::Identity()),
               .position = at + off * side - (dice.in(1.5, 4) + dice.in(0, 1) * v / 60) * d,
               .orientation = dice.orientation(),
               .velocity = v * d,
               .angular_velocity = spin,
               .shape = dice.shape(size)});
    for (BodyDef& body : scene.bodies) body.material = "m";
    const int steps = static_cast<int>(60 * (10 / v + 0.1)) + 1;

    // The least distance along the exact path, by going as far as nothing can be met.
    const BodyDef& a = scene.bodies.back();
    const double speed = v + 2 * size * spin.norm();
    double least = infinity;
    for (std::size_t k = 0; k + 1 < scene.bodies.size(); ++k)
      for (double t = 0; t < steps / 60.0 && least > 0;) {
        const Vec3 turn = t * spin;
        const Quat turned = turn.isZero() ? Quat::Identity() : Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
        const auto apart = distance(a.shape, {a.position + t * a.velocity, turned * a.orientation}, scene.bodies[k].shape,
                                    {scene.bodies[k].position, scene.bodies[k].orientation});
        ASSERT_TRUE(apart);
        least = std::min(least, apart->distance);
        t += std::max(apart->distance, 1e-5) / speed;
      }

    World world(scene, recipes::realtime());
    for (int i = 0; i < steps; ++i) world.step();
    const double change =
        (world.velocity("a") - v * d).norm() / v + (world.angular_velocity("a") - spin).norm() / (1 + spin.norm());
    if (least > 1e-4 * size) {
      EXPECT_LT(change, 1e-8) << "seed " << seed << ": passes at " << least << " m";
    } else if (least <= 0) {
      ++touched;
      missed += change < 1e-8;
    }
  }
  EXPECT_GT(touched, cases(100));
  EXPECT_EQ(missed, 0);
}

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

TEST(Restitution, NeverCreatesEnergyInColumnsAndPiles) {
  for (int seed = 0; seed < cases(100); ++seed) {
    Dice dice(seed);
    const double e = seed % 4 == 0 ? 1 : dice.in(0, 1), mu = seed % 3 == 0 ? 0 : dice.in(0, 1);
    Scene scene;
    scene.materials = {{.name = "m", .friction = mu, .restitution = e}};
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
    const int kind = seed % 4, count = 2 + dice.below(6);
    double z = dice.in(0.25, 0.75);
    if (kind < 2) {  // a column, straight or a little crooked, with small gaps
      for (int i = 0; i < count; ++i) {
        const double r = dice.in(0.05, 0.2), aside = kind ? 0.02 : 0;
        z += r;
        const Shape shape = i % 2 && seed % 5 ? Shape(Box{Vec3(2 * r, 2 * r, 2 * r)}) : Shape(Sphere{r});
        scene.add({.name = "b" + std::to_string(i),
                   .mass = std::pow(10, dice.in(-1, 1)),
                   .position = {dice.in(-aside, aside), dice.in(-aside, aside), z},
                   .shape = shape});
        z += r + dice.in(0, seed % 2 ? 0.01 : 0.2);
      }
    } else {  // a heap, of balls or of anything
      for (int i = 0; i < 3 * count; ++i) {
        const double r = dice.in(0.05, 0.15);
        scene.add({.name = "b" + std::to_string(i),
                   .mass = std::pow(10, dice.in(-1, 1)),
                   .position = {dice.in(-0.4, 0.4), dice.in(-0.4, 0.4), 0.3 + 0.35 * i},
                   .orientation = dice.orientation(),
                   .velocity = {dice.in(-1, 1), dice.in(-1, 1), dice.in(-3, 0)},
                   .angular_velocity = dice.vector(5),
                   .shape = kind == 2 ? Shape(Sphere{r}) : dice.shape(r)});
      }
    }
    for (BodyDef& body : scene.bodies) body.material = "m";
    World world(scene, recipes::realtime());
    const double start = world.diagnostics().energy();
    double least = start;
    for (int i = 0; i < 180; ++i) {
      world.step();
      const double energy = world.diagnostics().energy();
      EXPECT_LT(energy, least + 1e-9 * start) << "seed " << seed << ", step " << i << ", e = " << e << ", mu = " << mu;
      least = std::min(least, energy);
    }
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
