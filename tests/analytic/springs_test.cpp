// Springs, drag, gravitation and penalty planes against closed forms.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

namespace rotule {
namespace {

using std::numbers::pi;

Scene weightless() {
  Scene scene;
  scene.gravity.setZero();
  scene.recipe.dt = 1e-3;
  scene.dial.reset();  // RK4, whatever could meet
  return scene;
}

void run(World& world, double seconds) {
  const auto steps = std::lround(seconds / world.recipe().dt);
  for (long i = 0; i < steps; ++i) world.step();
}

TEST(Springs, TwoBodiesOscillateAtTheirReducedMass) {
  // x'' = -k (1/m1 + 1/m2) (x - l0).
  Scene scene = weightless();
  scene.add({.name = "a", .mass = 2.0, .position = {0, 0, 0}, .shape = Sphere{0.1}});
  scene.add({.name = "b", .mass = 3.0, .position = {1.2, 0, 0}, .shape = Sphere{0.1}});
  scene.add(Spring{.between = {"a", "b"}, .stiffness = 50, .rest_length = 1.0});
  World world(scene);
  const double omega = std::sqrt(50 * (1 / 2.0 + 1 / 3.0)), start = world.diagnostics().energy();
  EXPECT_NEAR(start, 0.5 * 50 * 0.04, 1e-12);
  run(world, 0.7);
  EXPECT_NEAR(world.position("b").x() - world.position("a").x(), 1 + 0.2 * std::cos(omega * 0.7), 1e-9);
  EXPECT_NEAR(world.diagnostics().energy(), start, 1e-10);
  EXPECT_LT(world.diagnostics().linear_momentum.norm(), 1e-13);
}

TEST(Springs, DampedOscillator) {
  Scene scene = weightless();
  scene.add_particles({.name = "p", .positions = {{1.1, 0, 0}}, .mass = 2});
  scene.add(Spring{.between = {"world", "p"}, .from = Vec3::Zero(), .stiffness = 80, .damping = 4, .rest_length = 1});
  World world(scene);
  run(world, 1);
  const double decay = 4 / (2 * 2.0), omega = std::sqrt(80 / 2.0 - decay * decay);
  const double x = 0.1 * std::exp(-decay) * (std::cos(omega) + decay / omega * std::sin(omega));
  EXPECT_NEAR(world.particle_position(0).x() - 1, x, 1e-9);
}

TEST(Springs, TorsionPendulum) {
  Scene scene = weightless();
  scene.add({.name = "rotor",
             .mass = 1.0,
             .inertia = Vec3(0.1, 0.1, 0.2).asDiagonal().toDenseMatrix(),
             .angular_velocity = {0, 0, 0.5}});
  scene.add(TorsionSpring{.between = {"world", "rotor"}, .axis = Vec3::UnitZ(), .stiffness = 3});
  World world(scene);
  const double omega = std::sqrt(3 / 0.2);
  run(world, 0.9);
  const Quat q = world.orientation("rotor");
  EXPECT_NEAR(2 * std::atan2(q.z(), q.w()), 0.5 / omega * std::sin(omega * 0.9), 1e-9);
}

TEST(Springs, HangingRopeStretchesAsItsWeight) {
  // n equal masses on springs k: the i-th spring from below carries i masses; with the first particle pinned, total stretch is
  // m g / k (1 + 2 + ... + n).
  constexpr int n = 10;
  Scene scene;
  scene.add(Rope{.name = "rope",
                 .from = {0, 0, 0},
                 .to = {0, 0, -1},
                 .count = n + 1,
                 .mass = 1.1,
                 .stiffness = 500,
                 .damping = 2,
                 .pinned = {"x0"}});
  scene.add(Drag{.viscous = 0.5});
  scene.recipe = {.dt = 2e-3, .duration = 1};
  World world(scene);
  run(world, 20);
  EXPECT_NEAR(world.particle_position(n).z(), -1 - 0.1 * 9.81 / 500 * n * (n + 1) / 2, 1e-6);
}

TEST(Springs, LevelRopeHangsAsAFunicularCurve) {
  // Statics of each particle: the horizontal tension is the same everywhere, the vertical one changes by a weight m g from link
  // to link.
  constexpr int n = 21;
  Scene scene;
  scene.add(Rope{.name = "rope",
                 .from = {0, 0, 0},
                 .to = {1, 0, 0},
                 .count = n,
                 .mass = 1,
                 .stiffness = 2000,
                 .damping = 2,
                 .pinned = {"x0", "x1"}});
  scene.add(Drag{.viscous = 0.3});
  scene.recipe = {.dt = 1e-3, .duration = 1};
  World world(scene);
  run(world, 8);
  const double weight = 9.81 / n;
  std::vector<Vec3> tension;
  for (int k = 0; k + 1 < n; ++k) {
    const Vec3 e = world.particle_position(k + 1) - world.particle_position(k);
    tension.push_back(2000 * (e.norm() - 1.0 / (n - 1)) * e.normalized());
  }
  for (std::size_t k = 1; k < tension.size(); ++k) {
    EXPECT_NEAR(tension[k].x(), tension[0].x(), 1e-4);
    EXPECT_NEAR(tension[k].z() - tension[k - 1].z(), weight, 1e-4);
  }
  EXPECT_GT(world.particle_position(0).z() - world.particle_position(n / 2).z(), 0.05);
  EXPECT_TRUE(world.balance(1e-3, 1e-3).reached());
}

TEST(Drag, TerminalVelocities) {
  Scene scene;
  scene.add_particles({.name = "p", .positions = {{0, 0, 0}, {1, 0, 0}}, .mass = 2});
  scene.add({.name = "body", .mass = 3.0, .shape = Sphere{0.1}});
  scene.add(Drag{.on = {"p/0"}, .viscous = 4});
  scene.add(Drag{.on = {"p/1", "body"}, .quadratic = 0.5});
  scene.recipe.dt = 1e-2;
  World world(scene);
  run(world, 30);
  EXPECT_NEAR(world.particle_velocity(0).z(), -2 * 9.81 / 4, 1e-9);
  EXPECT_NEAR(world.particle_velocity(1).z(), -std::sqrt(2 * 9.81 / 0.5), 1e-9);
  EXPECT_NEAR(world.velocity(world.body("body")).z(), -std::sqrt(3 * 9.81 / 0.5), 1e-8);
}

TEST(Gravitation, KeplersThirdLaw) {
  // A light body round a fixed one: the period of an ellipse of half axis a is 2 pi sqrt(a^3 / (G M)).
  for (const double eccentricity : {0.0, 0.4}) {
    Scene scene = weightless();
    scene.add({.name = "sun", .fixed = true, .mass = 5.0});
    const double a = 2, G = 1.5, r = a * (1 - eccentricity), v = std::sqrt(G * 5 * (2 / r - 1 / a));
    scene.add_particles({.name = "planet", .positions = {{r, 0, 0}}, .velocities = {{0, v, 0}}, .mass = 1e-3});
    scene.add(Gravitation{.constant = G});
    const double period = 2 * pi * std::sqrt(a * a * a / (G * 5));
    scene.recipe.dt = period / 2000;
    World world(scene);
    const double energy = world.diagnostics().energy();
    EXPECT_NEAR(energy, -G * 5 * 1e-3 / (2 * a), 1e-12);
    for (int i = 0; i < 2000; ++i) world.step();
    EXPECT_LT((world.particle_position(0) - Vec3(r, 0, 0)).norm(), 1e-7) << eccentricity;
    EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-10);
  }
}

TEST(Gravitation, TwoBodiesTurnAboutTheirCentreOfMass) {
  Scene scene = weightless();
  const double G = 1, m1 = 3, m2 = 1, d = 2, omega = std::sqrt(G * (m1 + m2) / (d * d * d));
  scene.add({.name = "a",
             .mass = m1,
             .position = {-d * m2 / (m1 + m2), 0, 0},
             .velocity = {0, -omega * d * m2 / (m1 + m2), 0},
             .shape = Sphere{0.1}});
  scene.add({.name = "b",
             .mass = m2,
             .position = {d * m1 / (m1 + m2), 0, 0},
             .velocity = {0, omega * d * m1 / (m1 + m2), 0},
             .shape = Sphere{0.1}});
  scene.add(Gravitation{.constant = G});
  World world(scene);
  const double quarter = pi / (2 * omega);
  for (int i = 0; i < 1000; ++i) world.step(quarter / 1000);
  EXPECT_LT((world.position("b") - Vec3(0, d * m1 / (m1 + m2), 0)).norm(), 1e-9);
  EXPECT_LT((world.position("a") + Vec3(0, d * m2 / (m1 + m2), 0)).norm(), 1e-9);
}

TEST(PenaltyPlane, BounceOfOneParticle) {
  // Below the plane x'' = -w^2 x - 2 c x' (weightless): leaves after pi/w' with the speed times exp(-c pi/w').
  for (const double damping : {0.0, 2.0}) {
    Scene scene = weightless();
    scene.recipe.dt = 1e-4;
    scene.add_particles({.name = "p", .positions = {{0, 0, 0.1}}, .velocities = {{0, 0, -1}}, .mass = 2});
    scene.add(PenaltyPlane{.stiffness = 1000, .damping = damping});
    World world(scene);
    run(world, 0.5);
    const double c = damping / (2 * 2.0), omega = std::sqrt(1000 / 2.0 - c * c);
    // With damping the force pulls for the last moments below the surface: F = -k depth n - b v is the law, not one-sided.
    EXPECT_NEAR(world.particle_velocity(0).z(), std::exp(-c * pi / omega), 1e-4) << damping;
  }
}

TEST(Cloth, EquilibriumBalancesItsWeight) {
  // What the two pinned corners' springs carry is the weight of all that moves.
  Scene scene;
  scene.add(Cloth{.name = "cloth",
                  .columns = 6,
                  .rows = 6,
                  .mass = 0.6,
                  .stiffness = 300,
                  .shear_stiffness = 100,
                  .bending_stiffness = 5,
                  .damping = 0.5,
                  .pinned = {"x0y0", "x1y0"}});
  scene.add(Drag{.viscous = 0.05});
  scene.recipe = {.dt = 2e-3, .duration = 1};
  World world(scene);
  run(world, 25);
  const Balance balance = world.balance(1e-4, 1e-3);
  EXPECT_TRUE(balance.reached()) << balance.force << " N, " << balance.speed << " m/s";
  const ParticleGroup group = build(scene.solids[0]);
  double carried = 0;
  for (const SpringSet& set : group.springs)
    for (const auto& [i, j] : set.pairs)
      for (const int corner : {0, 5}) {
        if (i != corner && j != corner) continue;
        const Vec3 e = world.particle_position(i == corner ? j : i) - world.particle_position(corner);
        const double rest = (group.positions[static_cast<std::size_t>(i)] - group.positions[static_cast<std::size_t>(j)]).norm();
        carried -= set.stiffness * (e.norm() - rest) * e.z() / e.norm();
      }
  EXPECT_NEAR(carried, 0.6 * 34 / 36 * 9.81, 1e-3);
}

TEST(Particles, BlockFallsAsAWholeAndKeepsItsEnergy) {
  Scene scene;
  scene.add(Block{.name = "block",
                  .size = Vec3(0.2, 0.3, 0.1),
                  .counts = {3, 4, 2},
                  .mass = 2,
                  .stiffness = 500,
                  .shear_stiffness = 200,
                  .velocity = Vec3(1, 0, 0)});
  // Pulled out of shape: it must ring without losing energy or momentum.
  scene.recipe.dt = 5e-4;
  World world(scene);
  world.set_particle(0, world.particle_position(0) - Vec3(0.02, 0.01, 0), Vec3(1, 0, 0.3));
  const Diagnostics start = world.diagnostics();
  run(world, 0.5);
  const Diagnostics end = world.diagnostics();
  EXPECT_NEAR(end.energy(), start.energy(), 1e-6 * end.kinetic_energy);
  EXPECT_LT((end.linear_momentum - start.linear_momentum - 2 * 0.5 * Vec3(0, 0, -9.81)).norm(), 1e-9);
}

}  // namespace
}  // namespace rotule
