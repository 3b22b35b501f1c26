// Elastic elements and gas in the real-time stepper: as stiff as the exact path has them, at rest to its mesh; momentum kept,
// energy never grown; contact with bodies; the same bits on any number of threads.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>
#include <string>

#include "support/constants.h"
#include "support/soft_scenes.h"

namespace rotule {
namespace {

using testing::fast;
using testing::follow;
using testing::g;
using testing::lowest;
using testing::woollen;

/// Where it is in equilibrium: one endless step of the exact path.
double lowest_at_rest(const Scene& scene) {
  Recipe recipe = recipes::exact();
  recipe.integrator = ImplicitEulerSettings{};
  recipe.dt = 1e6;
  World world(scene, recipe);
  for (int i = 0; i < 3; ++i) world.step(1e6);
  return lowest(world);
}

ElasticBlock beam(double youngs_modulus, const std::string& law) {
  return {.name = "beam",
          .size = {1, 0.2, 0.2},
          .counts = {11, 3, 3},
          .material = {.youngs_modulus = youngs_modulus, .viscosity = 0.05, .law = law},
          .pinned = {"x0"}};
}

TEST(RealtimeElastic, ABeamOfTetrahedraSagsAsTheExactPathHasIt) {
  for (const char* law : {"neo_hookean", "corotated"})
    for (const double E : {1e6, 1e7, 1e8}) {
      Scene scene;
      ElasticBlock block = beam(E, law);
      if (E > 5e7) block.material.viscosity = 0.01;
      scene.add(block);
      World world(scene, fast(16));
      follow(world, 5);
      const double expected = lowest_at_rest(scene);
      EXPECT_NEAR(lowest(world), expected, 0.01 * std::abs(expected)) << law << " " << E;
    }
}

TEST(RealtimeElastic, AStripStretchesByItsModulus) {
  // It hangs from its end: rho g L^2/(2 E) longer, 4.9 mm, and its last particle as much lower.
  Scene scene;
  scene.add(ElasticSheet{.name = "strip",
                         .along_x = {0, 0, -1},
                         .along_y = {0, 0.2, 0},
                         .columns = 21,
                         .rows = 5,
                         .thickness = 2e-3,
                         .material = {.youngs_modulus = 1e6, .poisson_ratio = 0, .viscosity = 0.05},
                         .pinned = {"x0"}});
  World world(scene, fast(16));
  follow(world, 4);
  const double expected = 1000 * g / (2 * 1e6);
  EXPECT_NEAR(-1 - lowest(world), expected, 0.04 * expected);  // neo-Hookean: softer by its strain of 1 %
}

TEST(RealtimeElastic, AShelfBendsByItsThickness) {
  // A strip supported at both ends: 5 w L^4/(384 E I), 1.2 mm, an eighth of its thickness.
  Scene scene;
  const double E = 1e8, thickness = 0.01, length = 0.3;
  scene.add(ElasticSheet{.name = "shelf",
                         .along_x = {length, 0, 0},
                         .along_y = {0, 0.06, 0},
                         .columns = 21,
                         .rows = 5,
                         .thickness = thickness,
                         .material = {.youngs_modulus = E, .poisson_ratio = 0, .viscosity = 0.01},
                         .pinned = {"x0", "x1"}});
  World world(scene, fast(16));
  follow(world, 3);
  const double load = 1000 * g * thickness, stiffness = E * std::pow(thickness, 3) / 12;
  const double expected = 5 * load * std::pow(length, 4) / (384 * stiffness);
  EXPECT_NEAR(-lowest(world), expected, 0.06 * expected);  // pinned ends pull, too, as it sags
  EXPECT_NEAR(lowest(world), lowest_at_rest(scene), 0.01 * expected);
}

TEST(RealtimeElastic, ABlockThatSpinsKeepsMomentumAndGainsNoEnergy) {
  for (const double E : {1e4, 1e6}) {
    Scene scene;
    scene.gravity = Vec3::Zero();
    ElasticBlock block = beam(E, "neo_hookean");
    block.pinned.clear();
    block.material.viscosity = 0;
    scene.add(block);
    World world(scene, fast(16));
    const Vec3 centre(0.5, 0.1, 0.1);
    for (int k = 0; k < world.particles(); ++k) {
      const Vec3 x = world.particle_position(k), r = x - centre;
      world.set_particle(k, Vec3(centre + Vec3(1.1 * r.x(), 0.95 * r.y(), r.z())), Vec3(1, 3, 4).cross(r) + Vec3(1, 2, 3));
    }
    const Vec3 linear = world.diagnostics().linear_momentum, angular = world.diagnostics().angular_momentum;
    const double start = world.diagnostics().energy();
    double before = start;
    for (int i = 0; i < 120; ++i) {
      world.step(1.0 / 60);
      EXPECT_LT(world.diagnostics().energy() - before, 1e-4 * start) << E << " " << i;
      before = world.diagnostics().energy();
    }
    // Of 1,920 substeps, each to a float's rounding.
    EXPECT_LT((world.diagnostics().linear_momentum - linear).norm(), 5e-5 * linear.norm()) << E;
    EXPECT_LT((world.diagnostics().angular_momentum - angular).norm(), 0.01 * angular.norm()) << E;
  }
}

TEST(RealtimeElastic, ABalloonIsAsLargeAsTheExactPathHasIt) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add(Balloon{.name = "ball",
                    .radius = 0.2,
                    .subdivisions = 2,
                    .thickness = 1e-3,
                    .material = {.youngs_modulus = 1e6, .viscosity = 5e-4}});
  scene.add(Pressure{.on = {"ball"}, .pressure = 1000, .outside = 101325, .exponent = 1.4});
  World world(scene, fast(16));
  follow(world, 2);
  Recipe exact = recipes::exact();
  exact.integrator = ImplicitEulerSettings{};
  exact.dt = 1.0 / 60;
  World reference(scene, exact);
  follow(reference, 2);
  const double expected = lowest(reference);
  EXPECT_LT(expected, -0.2004);  // it has grown
  EXPECT_NEAR(lowest(world), expected, 1e-5);
}

TEST(RealtimeElastic, ABlockFallsAndComesToRestOnTheGround) {
  Scene scene = woollen();
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wool"});
  scene.add(ElasticBlock{.name = "jelly",
                         .at = {0, 0, 0.3},
                         .size = {0.2, 0.2, 0.2},
                         .counts = {5, 5, 5},
                         .material = {.youngs_modulus = 1e5, .density = 1000, .viscosity = 0.01},
                         .contact = ParticleContact{.material = "wool"}});
  World world(scene, fast(16));
  double before = world.diagnostics().energy();
  const double scale = before;
  for (int i = 0; i < 180; ++i) {
    world.step(1.0 / 60);
    ASSERT_GT(lowest(world), 0) << i;
    const double now = world.diagnostics().energy();
    EXPECT_LT(now - before, 5e-3 * scale) << i;
    before = now;
  }
  EXPECT_LT(world.diagnostics().kinetic_energy, 1e-4 * scale);
  // It lies on its faces: what carries it is its weight, and it is lower by rho g h/(2 E) of its height, 1 %, or more at the rim.
  double highest = 0;
  for (int k = 0; k < world.particles(); ++k) highest = std::max(highest, world.particle_position(k).z());
  EXPECT_LT(highest, 0.2 + 0.01);
  EXPECT_GT(highest, 0.2 - 2 * 0.01 * 0.2);
}

/// How far a block on a slope goes in a second, along it.
double way_of_block(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  Scene scene = woollen();
  scene.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.add({.name = "slope", .fixed = true, .shape = Plane{}, .material = "wool"});
  scene.add(ElasticBlock{.name = "block",
                         .at = {0, 0, 0.005},
                         .size = {0.3, 0.3, 0.1},
                         .counts = {7, 7, 3},
                         .material = {.youngs_modulus = 1e5, .viscosity = 0.01},
                         .contact = ParticleContact{.material = "wool", .thickness = 0.01}});
  World world(scene, fast(16));
  follow(world, 1);  // until it lies as it will
  const auto mean = [&] {
    double sum = 0;
    for (int k = 0; k < world.particles(); ++k) sum += world.particle_position(k).x() / world.particles();
    return sum;
  };
  const double before = mean();
  follow(world, 1);
  return mean() - before;
}

TEST(RealtimeElastic, ABlockHoldsOnASlopeUpToItsAngleAndSlidesBeyond) {
  const double limit = std::atan(0.5) * 180 / std::numbers::pi;
  EXPECT_LT(std::abs(way_of_block(limit - 3)), 1e-4);
  const double angle = (limit + 5) * std::numbers::pi / 180;
  const double expected = 1.5 * g * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR(way_of_block(limit + 5), expected, 0.05 * expected);
}

TEST(RealtimeElastic, BitsAreTheSameOnThreadsAndAfterASnapshot) {
  Scene scene = woollen();
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wool"});
  for (int n = 0; n < 3; ++n)
    scene.add(ElasticBlock{.name = "jelly" + std::to_string(n),
                           .at = {0.3 * n, 0, 0.05},
                           .size = {0.2, 0.2, 0.2},
                           .counts = {4, 4, 4},
                           .material = {.youngs_modulus = 1e5, .viscosity = 0.01},
                           .contact = ParticleContact{.material = "wool"}});
  Recipe threads = fast(16);
  threads.threads = 3;
  World world(scene, fast(16)), shared(scene, threads), other(scene, fast(16));
  follow(world, 0.25);
  const Snapshot saved = world.save();
  follow(world, 0.25);
  follow(shared, 0.5);
  EXPECT_EQ(world.state_hash(), shared.state_hash());
  other.load(saved);
  follow(other, 0.25);
  EXPECT_EQ(world.state_hash(), other.state_hash());
}

TEST(RealtimeElastic, ViscosityIsOnTheBooks) {
  // A beam swings out, and what is lost is the dampers' but for a little.
  Scene scene;
  scene.add(beam(1e6, "neo_hookean"));
  World world(scene, fast(16));
  world.keep_books(true);
  const double start = world.diagnostics().energy();
  follow(world, 1);
  const Diagnostics end = world.diagnostics();
  const double lost = start - end.energy();
  EXPECT_GT(lost, 0);
  EXPECT_NEAR(end.energy_balance.dampers, lost, 0.2 * lost);
}

}  // namespace
}  // namespace rotule
