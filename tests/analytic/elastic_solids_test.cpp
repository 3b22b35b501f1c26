// Elastic solids against textbooks: beams, membranes, vibrating bars, energy that adds up. A step of implicit Euler so long that
// inertia is nothing finds equilibrium.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

namespace rotule {
namespace {

ElasticMaterial material(double youngs_modulus, double poisson_ratio, double density, double viscosity = 0,
                         const std::string& law = "neo_hookean") {
  ElasticMaterial out;
  out.youngs_modulus = youngs_modulus;
  out.poisson_ratio = poisson_ratio;
  out.density = density;
  out.viscosity = viscosity;
  out.law = law;
  return out;
}

Scene still(const SolidDef& solid, const Vec3& gravity) {
  Scene scene;
  scene.gravity = gravity;
  scene.add(solid);
  set(scene.recipe, "integrator", "implicit_euler");
  scene.recipe.dt = 1e6;
  return scene;
}

/// Sag of the free end's middle of a clamped beam of length 1 and section 0.2 x 0.2 under its weight, n cells across.
double beam_sag(int n, const char* law, double gravity) {
  World world(still(ElasticBlock{.name = "beam",
                                 .at = {0, -0.1, -0.1},
                                 .size = {1, 0.2, 0.2},
                                 .counts = {5 * n + 1, n + 1, n + 1},
                                 .material = material(1e6, 0, 1000, 0, law),
                                 .pinned = {"x0"}},
                    {0, 0, -gravity}));
  const StepReport report = world.step();
  EXPECT_TRUE(report.converged);
  double sum = 0;
  int count = 0;
  for (int k = 0; k < world.particles(); ++k)
    if (k % (5 * n + 1) == 5 * n) {
      sum -= world.particle_position(k).z();
      ++count;
    }
  return sum / count;
}

TEST(ElasticSolids, CantileverTendsToTheBeamOfTimoshenko) {
  // q L^4 / (8 E I) + q L^2 / (2 k G A) with k = 5/6, G = E/2; small enough to be linear.
  const double gravity = 0.01, q = 1000 * 0.04 * gravity, I = std::pow(0.2, 4) / 12;
  const double exact = q / (8 * 1e6 * I) + q / (2 * 5.0 / 6 * 0.5e6 * 0.04);
  const double coarse = beam_sag(1, "neo_hookean", gravity), middle = beam_sag(2, "neo_hookean", gravity),
               fine = beam_sag(4, "neo_hookean", gravity);
  // Elements of linear displacement are too stiff in bending, by the square of their size.
  EXPECT_LT(coarse, middle);
  EXPECT_LT(middle, fine);
  EXPECT_LT(fine, exact);
  const double order = std::log2((1 / middle - 1 / exact) / (1 / fine - 1 / exact));
  EXPECT_NEAR(order, 2, 0.2);
  EXPECT_NEAR((4 / fine - 1 / middle) / 3 * exact, 1, 0.02);  // compliance, extrapolated
  EXPECT_NEAR(beam_sag(4, "corotated", gravity), fine, 1e-3 * fine);
}

TEST(ElasticSolids, StretchedMembraneHasTheStiffnessOfItsMaterialOnAnyMesh) {
  // A strip of 1 x 0.1 m hung by one end under its weight: mean strain rho g L / (2 E), narrow enough for uniaxial stress.
  double before = 0;
  for (const int columns : {11, 21, 41}) {
    World world(still(ElasticSheet{.name = "strip",
                                   .along_x = {0, 0, -1},
                                   .along_y = {0, 0.1, 0},
                                   .columns = columns,
                                   .rows = columns / 10 + 1,
                                   .thickness = 1e-3,
                                   .material = material(1e7, 0.3, 1000),
                                   .pinned = {"x0"}},
                      {0, 0, -9.81}));
    world.step();
    const double stretch = -1 - world.particle_position(columns - 1).z();
    EXPECT_NEAR(stretch / (1000 * 9.81 / (2 * 1e7)), 1, 0.04) << columns;
    if (before > 0) {
      EXPECT_NEAR(stretch, before, 0.02 * before) << columns;
    }
    before = stretch;
  }
}

TEST(ElasticSolids, PlateSagsAsAPlate) {
  // A strip clamped at one end, nu = 0: a beam, q L^4 / (8 E I). The first two columns are clamped, in the middle between them.
  constexpr int columns = 41, rows = 5;
  const double cell = 1 / (columns - 1.5);
  const double thickness = 0.01, density = 1000, gravity = 0.01;
  ParticleGroup group = build(ElasticSheet{.name = "strip",
                                           .at = {-cell / 2, 0, 0},
                                           .along_x = {(columns - 1) * cell, 0, 0},
                                           .along_y = {0, 0.1, 0},
                                           .columns = columns,
                                           .rows = rows,
                                           .thickness = thickness,
                                           .material = material(1e7, 0, density)});
  for (int j = 0; j < rows; ++j)
    for (const int i : {0, 1}) group.pinned.push_back(j * columns + i);
  Scene scene;
  scene.gravity = {0, 0, -gravity};
  scene.add_particles(group);
  set(scene.recipe, "integrator", "implicit_euler");
  scene.recipe.dt = 1e6;
  World world(scene);
  EXPECT_TRUE(world.step().converged);
  const double exact = density * thickness * gravity * 12 / (8 * 1e7 * std::pow(thickness, 3));
  EXPECT_NEAR(-world.particle_position(columns - 1).z() / exact, 1, 0.03);
}

TEST(ElasticSolids, BarRingsAtItsFrequency) {
  // Clamped at one end and let go from a stretch along sin(pi x / 2 L): the quarter wave, sqrt(E / rho) / (4 L).
  Scene scene;
  scene.gravity.setZero();
  ParticleGroup group = build(ElasticBlock{
      .name = "bar", .size = {1, 0.05, 0.05}, .counts = {41, 3, 3}, .material = material(1e6, 0, 1000), .pinned = {"x0"}});
  group.rest_positions = group.positions;
  for (Vec3& x : group.positions) x.x() += 1e-4 * std::sin(0.5 * std::numbers::pi * x.x());
  scene.add_particles(group);
  scene.recipe.dt = 2e-4;
  set(scene.recipe, "integrator", "implicit_midpoint");
  World world(scene);
  const double start = world.diagnostics().energy(), period = 4 / std::sqrt(1e6 / 1000);
  double least = 1e9, when = 0;
  while (world.time() < 0.75 * period) {
    world.step();
    const double x = world.particle_position(40).x();
    if (x < least) {
      least = x;
      when = world.time();
    }
  }
  EXPECT_NEAR(when, 0.5 * period, 0.01 * period);
  EXPECT_NEAR(world.diagnostics().energy(), start, 1e-4 * start);
}

TEST(ElasticSolids, WhatViscosityTakesIsOnTheBooks) {
  double before = 0;
  for (const double dt : {4e-3, 2e-3}) {
    Scene scene;
    scene.add(ElasticBlock{.name = "beam",
                           .size = {0.4, 0.1, 0.1},
                           .counts = {9, 3, 3},
                           .material = material(1e5, 0.3, 1000, 0.01),
                           .pinned = {"x0"}});
    set(scene.recipe, "integrator", "implicit_midpoint");
    scene.recipe.dt = dt;
    World world(scene);
    world.keep_books(true);
    for (double t = 0; t < 0.4; t += dt) world.step();
    const EnergyBalance books = world.diagnostics().energy_balance;
    EXPECT_GT(books.dampers, 0);
    const double left = std::abs(books.left_over) / books.dampers;
    EXPECT_LT(left, 0.02);
    if (before > 0) {
      EXPECT_LT(left, 0.35 * before);  // of second order
    }
    before = left;
  }
}

TEST(ElasticSolids, AirBringsAFallingSheetToItsTerminalSpeed) {
  // m g = rho/2 c A v^2.
  Scene scene;
  scene.add(ElasticSheet{.name = "sheet", .columns = 4, .rows = 4, .thickness = 1e-3, .material = material(1e7, 0.3, 200)});
  scene.add(Air{.density = 1.2, .across = 1.1});
  set(scene.recipe, "integrator", "implicit_euler");
  scene.recipe.dt = 0.01;
  World world(scene);
  for (int i = 0; i < 400; ++i) world.step();
  double speed = 0;
  for (int k = 0; k < world.particles(); ++k) speed -= world.particle_velocity(k).z() * world.particle_mass(k) / 0.2;
  EXPECT_NEAR(speed, std::sqrt(2 * 0.2 * 9.81 / (1.2 * 1.1)), 0.01);
}

std::string refusal(const ParticleGroup& group) {
  Scene scene;
  scene.add_particles(group);
  try {
    World world(scene);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ElasticSolids, WhatIsNoElementIsRefusedByName) {
  const ParticleGroup good = build(ElasticBlock{.name = "block", .counts = {2, 2, 2}});
  EXPECT_EQ(refusal(good), "");
  ParticleGroup inverted = good;
  std::swap(inverted.tetrahedra[0].tetrahedra[2][0], inverted.tetrahedra[0].tetrahedra[2][1]);
  EXPECT_NE(refusal(inverted).find("/particles/0/tetrahedra/0/tetrahedra/2: is turned inside out"), std::string::npos)
      << refusal(inverted);
  ParticleGroup mirrored = good;
  for (auto& corners : mirrored.tetrahedra[0].tetrahedra) std::swap(corners[0], corners[1]);
  EXPECT_EQ(refusal(mirrored), "");
  ParticleGroup sliver = good;
  for (Vec3& x : sliver.positions) x.z() *= 1e-6;
  EXPECT_NE(refusal(sliver).find("is a sliver"), std::string::npos) << refusal(sliver);
  ParticleGroup lonely = good;
  lonely.positions.emplace_back(3, 3, 3);
  EXPECT_NE(refusal(lonely).find("belongs to no element"), std::string::npos) << refusal(lonely);
  ParticleGroup locked = good;
  locked.tetrahedra[0].material.poisson_ratio = 0.5;
  EXPECT_NE(refusal(locked).find("poisson_ratio"), std::string::npos) << refusal(locked);
  ParticleGroup unknown = good;
  unknown.tetrahedra[0].material.law = "hooke";
  EXPECT_NE(refusal(unknown).find("must be \"neo_hookean\" or \"corotated\""), std::string::npos) << refusal(unknown);

  ParticleGroup book{.name = "book", .positions = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}}};
  book.triangles = {{.triangles = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}}};
  EXPECT_NE(refusal(book).find("/particles/0/triangles/0/triangles/2: is the third triangle at the edge from 0 to 1"),
            std::string::npos)
      << refusal(book);
}

TEST(ElasticSolids, RecoverFromBeingTurnedInsideOut) {
  // Every corner of a free block is moved at random by more than its cells: it comes back to rest, however it is turned by then.
  for (const char* law : {"neo_hookean", "corotated"}) {
    ParticleGroup group = build(ElasticBlock{
        .name = "block", .size = {0.3, 0.3, 0.3}, .counts = {4, 4, 4}, .material = material(1e5, 0.3, 1000, 0.01, law)});
    group.rest_positions = group.positions;
    for (std::size_t k = 0; k < group.positions.size(); ++k) {
      const auto n = static_cast<double>(k);
      group.positions[k] += 0.15 * Vec3(std::sin(7 * n), std::sin(11 * n + 1), std::sin(13 * n + 2));
    }
    Scene scene;
    scene.gravity.setZero();
    scene.add_particles(group);
    set(scene.recipe, "integrator", "implicit_euler");
    scene.recipe.dt = 0.02;
    World world(scene);
    const double start = world.diagnostics().spring_energy;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(world.step().halvings, 0);
    EXPECT_LT(world.diagnostics().spring_energy, 1e-6 * start) << law;
  }
}

}  // namespace
}  // namespace rotule
