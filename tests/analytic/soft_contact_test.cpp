// Particles that touch: nobody ends inside anything, energy never grows, momentum is kept, friction holds up to its angle.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <random>

#include "collide/collision_world.h"
#include "support/constants.h"
#include "support/soft_scenes.h"

namespace rotule {
namespace {

using testing::all_shapes;
using testing::napkin;
using testing::woollen;

Recipe sixty_hertz() {
  Recipe recipe = recipes::realtime();
  recipe.dt = 1.0 / 60;
  return recipe;
}

int drops() {
  const char* text = std::getenv("ROTULE_SOFT_DROPS");
  return text != nullptr ? std::max(std::atoi(text), 1) : 1;
}

/// Follows a fall; nothing may be inside the body at any step, and energy may only fall.
void expect_clean_fall(Scene scene, int steps, const std::string& what) {
  World world(scene, sixty_hertz());
  const CollisionShape shape(scene.bodies[0].shape);
  const Frame X(Pose{scene.bodies[0].position, scene.bodies[0].orientation});
  double before = world.diagnostics().energy();
  const double scale = std::abs(before) + world.particle_mass(0) * world.particles() * testing::g;
  for (int i = 0; i < steps; ++i) {
    world.step(1.0 / 60);
    int inside = 0;
    for (int k = 0; k < world.particles(); ++k) inside += contains_point(shape, X, world.particle_position(k));
    ASSERT_EQ(inside, 0) << what << " step " << i;
    const double now = world.diagnostics().energy();
    ASSERT_LT(now - before, 1e-4 * scale) << what << " step " << i;
    before = now;
  }
}

TEST(SoftContact, NoClothEndsInsideAnyShape) {
  for (int drop = 0; drop < drops(); ++drop)
    for (const auto& [name, shape] : all_shapes()) {
      std::mt19937 random(17 + drop);
      std::uniform_real_distribution<double> any(-1, 1);
      Scene scene = woollen();
      scene.add({.name = "ground", .fixed = true, .shape = shape, .material = "wool"});
      if (name == "hills") scene.bodies[0].position = {-0.6, -0.6, 0};
      if (name != "plane" && name != "hills")
        scene.bodies[0].orientation = Quat(1, 0.3 * any(random), 0.3 * any(random), 0.3 * any(random)).normalized();
      Cloth cloth = napkin(7, 0.5, Vec3(0.1 * any(random), 0.1 * any(random), 0.5));
      cloth.velocity = Vec3(any(random), any(random), -4 + 3 * any(random));
      scene.add(cloth);
      expect_clean_fall(scene, 30, name + " " + std::to_string(drop));
    }
}

TEST(SoftContact, NoElasticBlockEndsInsideAnyShape) {
  for (int drop = 0; drop < drops(); ++drop)
    for (const auto& [name, shape] : all_shapes()) {
      std::mt19937 random(31 + drop);
      std::uniform_real_distribution<double> any(-1, 1);
      Scene scene = woollen();
      scene.add({.name = "ground", .fixed = true, .shape = shape, .material = "wool"});
      if (name == "hills") scene.bodies[0].position = {-0.6, -0.6, 0};
      ElasticBlock block{.name = "block",
                         .at = Vec3(-0.1, -0.1, 0.3) + 0.05 * Vec3(any(random), any(random), 0),
                         .size = {0.2, 0.2, 0.2},
                         .counts = {3, 3, 3},
                         .material = {.youngs_modulus = 2e4, .density = 300, .viscosity = 0.01},
                         .velocity = Vec3(any(random), any(random), -2 + any(random)),
                         .contact = ParticleContact{.material = "wool"}};
      scene.add(block);
      expect_clean_fall(scene, 20, name + " " + std::to_string(drop));
    }
}

TEST(SoftContact, NothingPassesAThinPlateAtAnySpeed) {
  for (const double speed : {10.0, 100.0, 1000.0}) {
    Scene scene = woollen();
    scene.add({.name = "plate", .fixed = true, .shape = Box{Vec3(4, 4, 1e-3)}, .material = "ice"});
    Cloth cloth = napkin(5, 0.4, Vec3(0, 0, 0.8));
    cloth.velocity = {0, 0, -speed};
    scene.add(cloth);
    World world(scene, sixty_hertz());
    for (int i = 0; i < 10; ++i) {
      world.step(1.0 / 60);
      for (int k = 0; k < world.particles(); ++k) ASSERT_GT(world.particle_position(k).z(), 5e-4) << speed << " " << i;
    }
  }
}

/// The height of a cloth of `side` x `side` particles over a point of the plane; nothing where it does not cover it.
std::optional<double> height_over(const World& world, int side, double x, double y) {
  const auto at = [&](int i, int j) { return world.particle_position(i + side * j); };
  for (int j = 0; j + 1 < side; ++j)
    for (int i = 0; i + 1 < side; ++i)
      for (const auto& [a, b, c] :
           {std::array{at(i, j), at(i + 1, j), at(i + 1, j + 1)}, std::array{at(i, j), at(i + 1, j + 1), at(i, j + 1)}}) {
        const Vec3 u = b - a, v = c - a, r = Vec3(x, y, 0) - a;
        const double area = u.x() * v.y() - u.y() * v.x();
        const double p = (r.x() * v.y() - r.y() * v.x()) / area, q = (u.x() * r.y() - u.y() * r.x()) / area;
        if (p >= 0 && q >= 0 && p + q <= 1) return a.z() + p * u.z() + q * v.z();
      }
  return {};
}

TEST(SoftContact, ATipDoesNotPassBetweenParticles) {
  // A spike, thinner than the cells, under the middle of one: no particle ever comes near its tip.
  Scene scene = woollen();
  scene.add({.name = "spike", .fixed = true, .position = {0.05, 0.04, 0}, .shape = Cone{0.03, 0.3}, .material = "wool"});
  Cloth cloth = napkin(5, 0.5, Vec3(0, 0, 0.32));
  cloth.stiffness = 20;
  cloth.pinned = {"x0y0", "x1y0", "x0y1", "x1y1"};
  scene.add(cloth);
  World world(scene, sixty_hertz());
  double lowest = 1;
  for (int i = 0; i < 60; ++i) {
    world.step(1.0 / 60);
    const std::optional<double> height = height_over(world, 5, 0.05, 0.04);
    ASSERT_TRUE(height) << i;
    ASSERT_GT(*height, 0.3) << i;
    for (int k = 0; k < world.particles(); ++k) lowest = std::min(lowest, world.particle_position(k).z());
  }
  EXPECT_LT(lowest, 0.3);  // it does hang on the tip
}

TEST(SoftContact, MomentumIsKeptInFreeSpace) {
  for (const Shape& shape : {Shape(Sphere{0.1}), Shape(Box{Vec3(0.2, 0.15, 0.1)})}) {
    Scene scene = woollen();
    scene.gravity = Vec3::Zero();
    scene.add({.name = "stone",
               .mass = 0.5,
               .position = {0.05, 0.03, 0},
               .velocity = {0, 0, 3},
               .angular_velocity = {2, 1, 3},
               .shape = shape,
               .material = "wool"});
    scene.add(napkin(8, 0.6, Vec3(0, 0, 0.2)));
    World world(scene, sixty_hertz());
    const Vec3 start = world.diagnostics().linear_momentum;
    double before = world.diagnostics().energy();
    for (int i = 0; i < 25; ++i) {
      world.step(1.0 / 60);
      EXPECT_LT((world.diagnostics().linear_momentum - start).norm(), 1e-5 * start.norm()) << i;
      EXPECT_LT(world.diagnostics().energy() - before, 1e-6 * 2.25) << i;
      before = world.diagnostics().energy();
    }
    // It did hit: the stone is slower, and the cloth goes with it.
    EXPECT_LT(world.velocity("stone").z(), 2.9);
    EXPECT_GT(world.particle_velocity(0).norm() + world.particle_velocity(27).norm(), 0.1);
  }
}

/// How far a scarf on a slope goes in a second.
double slid(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  Scene scene = woollen();
  scene.gravity = testing::g * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.add({.name = "slope", .fixed = true, .position = {0, 0, -0.05}, .shape = Box{Vec3(20, 4, 0.1)}, .material = "wool"});
  Cloth scarf = napkin(6, 0.4, Vec3(0, 0, 0.004));
  scarf.contact->thickness = 0.008;
  scene.add(scarf);
  World world(scene, sixty_hertz());
  for (int i = 0; i < 60; ++i) world.step(1.0 / 60);
  double mean = 0;
  for (int k = 0; k < world.particles(); ++k) mean += world.particle_position(k).x() / world.particles();
  return mean;
}

TEST(SoftContact, AScarfHoldsOnASlopeUpToItsAngleAndSlidesBeyond) {
  const double limit = std::atan(0.5) * 180 / std::numbers::pi;
  EXPECT_LT(std::abs(slid(limit - 1)), 1e-4);
  const double angle = (limit + 3) * std::numbers::pi / 180;
  const double expected = 0.5 * testing::g * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR(slid(limit + 3), expected, 0.03 * expected);
}

TEST(SoftContact, AClothThatIsHeldBearsABall) {
  Scene scene = woollen();
  scene.add({.name = "ball", .mass = 0.3, .position = {0, 0, 0.2}, .shape = Sphere{0.08}, .material = "wool"});
  Cloth cloth = napkin(9, 0.8, Vec3(0, 0, 0));
  cloth.pinned = {"x0", "x1", "y0", "y1"};
  cloth.stiffness = 1000;
  cloth.damping = 0.2;
  scene.add(cloth);
  World world(scene, sixty_hertz());
  world.keep_books(true);
  for (int i = 0; i < 240; ++i) world.step(1.0 / 60);
  EXPECT_LT(world.velocity("ball").norm(), 0.02);
  EXPECT_GT(world.position("ball").z(), -0.4);
  for (int k = 0; k < world.particles(); ++k) EXPECT_GT((world.particle_position(k) - world.position("ball")).norm(), 0.08);
}

TEST(SoftContact, BodiesOnBodiesUnderClothStayPut) {
  // A table that stands on the ground by rigid contact, with a cloth thrown over it.
  Scene scene = woollen();
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wool"});
  scene.add({.name = "table", .mass = 1, .position = {0, 0, 0.1}, .shape = Box{Vec3(0.3, 0.3, 0.2)}, .material = "wool"});
  scene.add(napkin(7, 0.6, Vec3(0.02, 0.01, 0.3)));
  World world(scene, sixty_hertz());
  for (int i = 0; i < 60; ++i) world.step(1.0 / 60);
  EXPECT_LT((world.position("table") - Vec3(0, 0, 0.1)).norm(), 2e-3);
  double lowest = 1;
  for (int k = 0; k < world.particles(); ++k) lowest = std::min(lowest, world.particle_position(k).z());
  EXPECT_GT(lowest, 0);
}

TEST(SoftContact, AHammockHoldsBodiesThatAJointTies) {
  World world(testing::hammock(10, 5, 0.5), sixty_hertz());
  for (int i = 0; i < 45; ++i) {
    world.step(1.0 / 60);
    for (int k = 0; k < world.particles(); ++k)
      ASSERT_GT((world.particle_position(k) - world.position("head")).norm(), 0.08) << i;
    ASSERT_LT(world.diagnostics().joint_error.position, 1e-6) << i;
  }
  for (const char* name : {"chest", "head"}) {
    EXPECT_GT(world.position(name).z(), -0.4) << name;
    EXPECT_LT(world.velocity(name).norm(), 2) << name;  // a fall of 0.4 m would be 2.8
  }
}

TEST(SoftContact, OneClothLiesOnAnother) {
  Scene scene = woollen();
  Cloth below = napkin(9, 0.8, Vec3(0, 0, 0));
  below.name = "below";
  below.pinned = {"x0", "x1", "y0", "y1"};
  scene.add(below);
  Cloth above = napkin(6, 0.37, Vec3(0.021, 0.013, 0.1));
  above.name = "above";
  above.velocity = {0, 0, -3};
  scene.add(above);
  World world(scene, sixty_hertz());
  const int first = world.particle("above/0"), columns = 9;
  for (int i = 0; i < 60; ++i) {
    world.step(1.0 / 60);
    // Above the cell of the lower cloth that each stands over, whose particles hardly move sideways.
    for (int k = first; k < world.particles(); ++k) {
      const Vec3 x = world.particle_position(k);
      const int c = static_cast<int>(std::floor((x.x() + 0.4) / 0.1)), r = static_cast<int>(std::floor((x.y() + 0.4) / 0.1));
      if (c < 0 || r < 0 || c > 7 || r > 7) continue;
      double lowest = infinity;
      for (const int corner : {c + columns * r, c + 1 + columns * r, c + columns * (r + 1), c + 1 + columns * (r + 1)})
        lowest = std::min(lowest, world.particle_position(corner).z());
      ASSERT_GT(x.z(), lowest) << i << " " << k;
    }
  }
  double mean = 0;
  for (int k = first; k < world.particles(); ++k) mean += world.particle_position(k).z() / 36;
  EXPECT_GT(mean, -0.4);
}

TEST(SoftContact, TheSameBitsOnAnyNumberOfThreadsAndFromASnapshot) {
  Scene scene = woollen();
  scene.add({.name = "ball", .fixed = true, .shape = Sphere{0.2}, .material = "wool"});
  scene.add(napkin(7, 0.5, Vec3(0.01, 0.02, 0.23)));
  std::vector<std::vector<double>> ends;
  for (const int threads : {1, 4}) {
    Recipe recipe = sixty_hertz();
    recipe.threads = threads;
    World world(scene, recipe);
    for (int i = 0; i < 6; ++i) world.step(1.0 / 60);
    const auto saved = world.save();
    for (int i = 0; i < 6; ++i) world.step(1.0 / 60);
    ends.emplace_back(world.particle_positions().begin(), world.particle_positions().end());
    world.load(saved);
    for (int i = 0; i < 6; ++i) world.step(1.0 / 60);
    ends.emplace_back(world.particle_positions().begin(), world.particle_positions().end());
  }
  for (const std::vector<double>& end : ends) EXPECT_EQ(end, ends.front());
}

std::string refusal(const Scene& scene, const Recipe& recipe) {
  try {
    World world(scene, recipe);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(SoftContact, WhatCannotBeDoneIsRefusedByName) {
  Scene scene = woollen();
  scene.add({.name = "ball", .fixed = true, .shape = Sphere{0.2}, .material = "wool"});
  scene.add(napkin(5, 0.5, Vec3(0, 0, 0.4)));
  Recipe exact = recipes::exact();
  exact.contacts = ConeContactSettings{};
  EXPECT_NE(refusal(scene, exact).find("particles that touch"), std::string::npos) << refusal(scene, exact);
  Scene jointed = scene;
  jointed.add(Ball{.name = "ring", .between = {"world", "cloth/0"}});
  EXPECT_NE(refusal(jointed, sixty_hertz()).find("cloth/0"), std::string::npos);
  Scene unknown = scene;
  std::get<Cloth>(unknown.solids[0]).contact->material = "wol";
  EXPECT_NE(refusal(unknown, sixty_hertz()).find("wool"), std::string::npos);
  Scene thick = scene;
  std::get<Cloth>(thick.solids[0]).contact->thickness = 0.1;
  EXPECT_NE(refusal(thick, sixty_hertz()).find("shortest edge"), std::string::npos);
}

}  // namespace
}  // namespace rotule
