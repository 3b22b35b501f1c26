// Bodies in a fluid: added mass, drag, buoyancy, and momentum that the one gains when the other loses it.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "support/allocation_counter.h"
#include "world/fluid_coupling.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using std::numbers::pi;

std::vector<FluidWall> sides_of_kind(const std::string& kind) {
  return {{"x_low", kind}, {"x_high", kind}, {"z_low", kind}, {"z_high", kind}};
}

/// A disc of diameter 1 across the flat axis, of this density relative to the fluid's, in a square of `size` diameters.
Scene disc_scene(int cells, double size, double density, double viscosity, const std::string& sides) {
  Scene scene;
  scene.fluid = FluidDef{.grid = {cells, 1, cells},
                         .box = {Vec3(-size / 2, -0.5, -size / 2), Vec3(size / 2, 0.5, size / 2)},
                         .density = 1,
                         .viscosity = viscosity,
                         .walls = sides_of_kind(sides)};
  scene.add(BodyDef{.name = "disc",
                    .density = density,
                    .orientation = Quat(Eigen::AngleAxisd(pi / 2, Vec3::UnitX())),
                    .shape = Cylinder{.radius = 0.5, .height = 1}});
  scene.dial.reset();
  scene.recipe.dt = 0.005;
  return scene;
}

TEST(FluidBodies, ADiscBeginsToFallWithItsAddedMass) {
  // (m + m_a) a = (m - m_f) g, and m_a = m_f for a disc far from walls; walls 8 diameters apart add pi/2 (D/L)^2 to that, by
  // images. Lighter than a quarter of the fluid it blows up unless fluid and body are solved for together.
  for (const auto& [density, bound] :
       {std::pair(0.02, 0.06), std::pair(0.1, 0.015), std::pair(0.5, 0.015), std::pair(1.5, 0.015), std::pair(8.0, 0.015)}) {
    Scene scene = disc_scene(128, 8, density, 1e-4, "free_slip");
    scene.gravity = {0, 0, -1};
    World world(scene);
    const int steps = 20;
    for (int i = 0; i < steps; ++i) {
      world.step();
      ASSERT_TRUE(world.fluid()->report().converged) << density << " step " << i;
    }
    const double added = 1 + pi / 2 / 64;
    const double expected = -(density - 1) / (density + added) * steps * scene.recipe.dt;
    EXPECT_NEAR(world.velocity("disc").z(), expected, bound * std::abs(expected)) << density;
    EXPECT_LT(std::abs(world.velocity("disc").x()), 1e-9) << density;
  }
}

TEST(FluidBodies, ABallBeginsToMoveWithItsAddedMass) {
  // Half of what it displaces; in a shell of b radii (b^3 + 2)/(b^3 - 1) times that, and a cube's sides act as one of about its
  // volume.
  constexpr int cells = 40, steps = 5;
  constexpr double size = 4;
  for (const auto& [density, bound] : {std::pair(0.1, 0.13), std::pair(0.3, 0.03), std::pair(3.0, 0.03)}) {
    Scene scene;
    scene.gravity = {0, 0, -1};
    std::vector<FluidWall> sides = sides_of_kind("free_slip");
    sides.push_back({"y_low", "free_slip"});
    sides.push_back({"y_high", "free_slip"});
    scene.fluid = FluidDef{.grid = {cells, cells, cells},
                           .box = {Vec3::Constant(-size / 2), Vec3::Constant(size / 2)},
                           .density = 1,
                           .viscosity = 1e-4,
                           .walls = sides};
    scene.add(BodyDef{.name = "ball", .density = density, .shape = Sphere{0.5}});
    scene.dial.reset();
    World world(scene);
    for (int i = 0; i < steps; ++i) world.step(0.01);
    const double shell = 3 / (4 * pi) * std::pow(2 * size, 3), added = 0.5 * (shell + 2) / (shell - 1);
    const double expected = (1 - density) / (density + added) * steps * 0.01;
    EXPECT_NEAR(world.velocity("ball").z(), expected, bound * std::abs(expected)) << density;
  }
}

TEST(FluidBodies, ADiscFeelsTheAddedMassOfAnother) {
  // One is pulled away from rest, away from the other, 3 radii between the centres; the other follows. Outside of circles at rest
  // a doublet mu at the distance D is answered by -mu a^2/D^2 at a^2/D from the centre; the moving one begins with U a^2. Of all
  // that are in it the fluid's impulse about a circle is 2 pi rho sum(mu), less rho pi a^2 U of its own.
  constexpr double radius = 0.5, distance = 1.5, force = 0.5, h = 0.005;
  constexpr int steps = 10;
  double own = -pi * radius * radius, other = 0, doublet = radius * radius, offset = 0;
  for (int k = 0; k < 60; ++k) {
    (k % 2 == 0 ? own : other) += 2 * pi * doublet;
    const double D = distance - offset;
    doublet *= -radius * radius / (D * D);
    offset = radius * radius / D;
  }
  EXPECT_NEAR(other, -2 * pi * std::pow(radius, 4) / (distance * distance), 0.05 * std::abs(other));
  Scene scene = disc_scene(320, 20, 1, 1e-4, "free_slip");
  scene.gravity.setZero();
  scene.bodies[0].position = {-distance / 2, 0, 0};
  BodyDef second = scene.bodies[0];
  second.name = "other";
  second.position = {distance / 2, 0, 0};
  scene.add(second);
  World world(scene);
  world.set_force(world.body("disc"), Vec3(-force, 0, 0));
  for (int i = 0; i < steps; ++i) world.step(h);
  // (m + M) (v1, v2) = (-F t, 0), of the fluid's density.
  const double mass = pi * radius * radius, whole = mass + own;
  const double first = -force * steps * h * whole / (whole * whole - other * other), led = -other / whole * first;
  EXPECT_NEAR(world.velocity("disc").x(), first, 0.02 * std::abs(first));
  EXPECT_NEAR(world.velocity("other").x(), led, 0.06 * std::abs(led));
}

TEST(FluidBodies, ALightDiscRisesWithoutBlowingUp) {
  Scene scene = disc_scene(64, 8, 0.1, 0.01, "no_slip");
  scene.gravity = {0, 0, -1};
  scene.bodies[0].position = {0, 0, -2};
  scene.recipe.dt = 0.02;
  World world(scene);
  double fastest = 0;
  int iterations = 0;
  for (int i = 0; i < 150; ++i) {
    world.step();
    fastest = std::max(fastest, world.velocity("disc").norm());
    iterations = std::max(iterations, world.fluid()->report().coupling_iterations / world.fluid()->report().substeps);
  }
  EXPECT_GT(world.position("disc").z(), -1.2);
  EXPECT_LT(fastest, 2);  // drag holds it: terminal speed about sqrt(pi/2 0.9 g D / C_d)
  EXPECT_LT(iterations, 12);
}

TEST(FluidBodies, MomentumGoesFromOneToTheOther) {
  // In a periodic box nothing else takes any: fluid plus bodies, less the fluid that they displace, changes by weight and
  // buoyancy alone.
  for (const double density : {0.1, 1.0, 3.0}) {
    Scene scene = disc_scene(32, 4, density, 0.01, "periodic");
    scene.gravity = {0.3, 0, -1};
    scene.bodies[0].velocity = {0.5, 0, 0.2};
    scene.bodies[0].angular_velocity = {0, 1.5, 0};
    scene.recipe.dt = 0.02;
    World world(scene);
    const FluidCoupling& coupling = *implementation_of(world).fluid;
    const double mass = world.mass(world.body("disc"));
    for (int i = 0; i < 25; ++i) {
      const Vec3 fluid = world.fluid()->ledger().momentum, body = mass * world.velocity("disc");
      const Vec6 inside = coupling.inside_velocity(0);
      world.step();
      ASSERT_EQ(world.fluid()->report().substeps, 1);
      const Mat6& displaced = coupling.obstacles().displaced(0);
      const Vec6 carried = displaced * (coupling.inside_velocity(0) - inside);
      const Vec3 centripetal = coupling.obstacles().turning(0, coupling.inside_velocity(0).tail<3>()).head<3>();
      const double displaced_mass = coupling.obstacles().buoyant_mass(0);
      const Vec3 expected = carried.head<3>() + (centripetal + (mass - displaced_mass) * scene.gravity) * 0.02;
      const Vec3 changed = world.fluid()->ledger().momentum - fluid + mass * world.velocity("disc") - body;
      EXPECT_LT((changed - expected).norm(), 1e-10) << density << " step " << i;
      EXPECT_LT((world.velocity("disc") - coupling.inside_velocity(0).head<3>()).norm(), 1e-7);
    }
  }
}

TEST(FluidBodies, ABodyOfTheFluidsDensityStaysAtRest) {
  Scene scene = disc_scene(40, 5, 1, 0.01, "no_slip");
  World world(scene);
  // The grid sees the disc's area up to a thousandth.
  for (int i = 0; i < 5; ++i) world.step(0.01);
  EXPECT_LT(world.velocity("disc").norm(), 0.01 * 9.81 * 0.05);
}

TEST(FluidBodies, BodiesDisplaceTheirVolumeWhereverTheyAre) {
  // A body of nearly the fluid's density weighs what its volume on the grid lacks. A ball of six cells once had 2.8 % too much.
  struct Case {
    Shape shape;
    double volume;
  };
  for (const Case& c : {Case{Sphere{0.5}, pi / 6}, Case{Capsule{.radius = 0.4, .length = 0.5}, pi * 0.16 * (0.5 + 1.6 / 3)},
                        Case{Box{Vec3(0.8, 0.9, 1.1)}, 0.8 * 0.9 * 1.1}})
    for (int n = 0; n < 6; ++n) {
      Scene scene;
      scene.fluid =
          FluidDef{.grid = {14, 15, 14}, .box = {Vec3(-1.2, -1, -1.1), Vec3(1.1, 1.2, 1.2)}, .density = 2, .viscosity = 0.01};
      scene.add(BodyDef{.name = "body",
                        .density = 1,
                        .position = Vec3(0.013 * n, -0.029 * n, 0.021 * n),
                        .orientation = Quat(Eigen::AngleAxisd(0.4 * n, Vec3(1, 2, 3).normalized())),
                        .shape = c.shape});
      scene.dial.reset();
      const World world(scene);
      EXPECT_NEAR(implementation_of(world).fluid->obstacles().buoyant_mass(0) / (2 * c.volume), 1, 5e-3) << n;
    }
}

TEST(FluidBodies, ABallSinksInABoxAsMeasured) {
  // A. ten Cate, C. H. Nieuwstad, J. J. Derksen and H. E. A. Van den Akker, Phys. Fluids 14 (2002): a ball of 15 mm in silicone
  // oil, in a box of 100 x 100 x 160 mm. At Reynolds number 32 its largest speed was 0.955 of 0.128 m/s.
  constexpr int cells = 6;
  constexpr double diameter = 0.015, h = diameter / cells;
  Scene scene;
  scene.gravity = {0, 0, -9.81};
  scene.fluid =
      FluidDef{.grid = {40, 40, 64}, .box = {Vec3::Zero(), Vec3(40 * h, 40 * h, 64 * h)}, .density = 960, .viscosity = 0.058};
  scene.add(BodyDef{.name = "ball", .density = 1120, .position = {0.05, 0.05, 0.1275}, .shape = Sphere{diameter / 2}});
  scene.dial.reset();
  World world(scene);
  double fastest = 0;
  while (world.time() < 0.8) {
    world.step(0.02);
    fastest = std::max(fastest, -world.velocity("ball").z());
  }
  EXPECT_NEAR(fastest, 0.955 * 0.128, 0.05 * 0.128);
}

TEST(FluidBodies, AKinematicDiscIsDraggedByTheFluidItStirs) {
  // Slow rotation in a viscous fluid: torque per length 4 pi mu omega R^2 / (1 - R^2/b^2) with a round wall at radius b; a square
  // of the same conductance has b = 1.08 times its half width. The grid sees the disc's surface up to a cell.
  Scene scene = disc_scene(32, 4, 1, 1.0, "no_slip");
  scene.bodies[0].kinematic = true;
  scene.bodies[0].angular_velocity = {0, 0.1, 0};
  World world(scene);
  for (int i = 0; i < 30; ++i) world.step(0.1);
  const auto torque = [](double radius) { return 4 * pi * 0.1 * radius * radius / (1 - radius * radius / (2.16 * 2.16)); };
  const double found = -world.fluid_torque(world.body("disc")).y(), cell = world.fluid()->spacing().x();
  EXPECT_GT(found, torque(0.5 - 0.75 * cell));
  EXPECT_LT(found, torque(0.5 + 0.25 * cell));
  EXPECT_LT(world.fluid_force(world.body("disc")).norm(), 1e-9 + std::abs(0.25 * pi * world.gravity().z()) * 1.02);
}

/// A cylinder of diameter 1 fixed in a stream of speed 1, `cells` to the diameter: mean drag and frequency of the lift. Its wake
/// is a source of the strength C_d/2: a wall or an inflow nearby that holds the stream's speed makes the flow beside it faster,
/// by 2 % and the drag by 5 % where the sides are 32 and the inflow 12 diameters away. So the sides are open, and the inflow is
/// far.
Scene cylinder_in_stream(double reynolds, int cells, double length, double height, double ahead) {
  Scene scene;
  scene.gravity.setZero();
  scene.fluid =
      FluidDef{.grid = {static_cast<int>(length * cells), 1, static_cast<int>(height * cells)},
               .box = {Vec3(-ahead, -0.5, -height / 2), Vec3(length - ahead, 0.5, height / 2)},
               .density = 1,
               .viscosity = 1 / reynolds,
               .velocity = Vec3(1, 0, 0),
               .walls = {{"x_low", "inflow", Vec3(1, 0, 0)}, {"x_high", "outflow"}, {"z_low", "outflow"}, {"z_high", "outflow"}}};
  // A little off the middle, so that shedding begins.
  scene.add(BodyDef{.name = "cylinder",
                    .position = {0, 0, 0.05},
                    .orientation = Quat(Eigen::AngleAxisd(pi / 2, Vec3::UnitX())),
                    .shape = Cylinder{.radius = 0.5, .height = 1}});
  scene.dial.reset();
  return scene;
}

struct Shedding {
  double drag = 0, lift = 0, strouhal = 0;
};
Shedding shedding(double reynolds, int cells, double length, double height, double duration, double from) {
  Scene scene = cylinder_in_stream(reynolds, cells, length, height, 0.6 * length);
  scene.bodies[0].fixed = true;
  scene.recipe.threads = 0;
  World world(scene);
  const double h = 0.8 / cells;
  Shedding out;
  double last = 0, first_crossing = 0, last_crossing = 0;
  int samples = 0, crossings = 0;
  for (double t = 0; t < duration; t += h) {
    world.step(h);
    const Vec3 force = world.fluid_force(world.body("cylinder"));
    if (t >= from) {
      out.drag += 2 * force.x();
      out.lift = std::max(out.lift, std::abs(2 * force.z()));
      ++samples;
      if (last < 0 && force.z() >= 0) {
        last_crossing = t - h * force.z() / (force.z() - last);
        if (crossings++ == 0) first_crossing = last_crossing;
      }
    }
    last = force.z();
  }
  out.drag /= samples;
  if (crossings > 1) out.strouhal = (crossings - 1) / (last_crossing - first_crossing);
  return out;
}

TEST(FluidBodies, ACylinderAtReynoldsFortyHasThePublishedDrag) {
  // Steady, unbounded: C_d 1.52 (S. C. R. Dennis and G.-Z. Chang, J. Fluid Mech. 42, 1970), to 5 %.
  EXPECT_NEAR(shedding(40, 8, 24, 12, 24, 23).drag, 1.52, 0.05 * 1.52);
}

// Published at Re 100: C_d 1.33 to 1.36, Strouhal number 0.164 to 0.166. With 8 cells to a diameter the boundary layer is thinner
// than a cell, and drag 9 % high; with 12 cells, as here, it is 4 %.
constexpr double published_drag = 1.345, published_strouhal = 0.165;

TEST(FluidBodies, ACylinderAtReynoldsHundredShedsVortices) {
  const Shedding found = shedding(100, 12, 24, 14, 65, 45);
  EXPECT_NEAR(found.drag, published_drag, 0.05 * published_drag);
  EXPECT_NEAR(found.strouhal, published_strouhal, 0.05 * published_strouhal);
}

/// ROTULE_FLUID_STUDY: cells to a diameter; 0 where nobody asks for what takes minutes.
int cells_of_study() {
  const char* cells = std::getenv("ROTULE_FLUID_STUDY");
  return cells == nullptr ? 0 : std::atoi(cells);
}

TEST(FluidBodies, StudyOfACylinderThatSheds) {
  if (cells_of_study() == 0) GTEST_SKIP() << "long; ROTULE_FLUID_STUDY=16 runs it";
  // At Re 150, likewise: C_d 1.33, Strouhal number 0.183 to 0.184. Its boundary layer takes more cells: with 12, drag is 6 %
  // high.
  for (const auto& [reynolds, drag, strouhal] :
       {std::array{100.0, published_drag, published_strouhal}, std::array{150.0, 1.33, 0.1835}}) {
    const Shedding found = shedding(reynolds, cells_of_study(), 36, 24, 110, 70);
    std::printf("Re %.0f: C_d %.4f, C_l %.4f, St %.4f\n", reynolds, found.drag, found.lift, found.strouhal);
    EXPECT_NEAR(found.drag, drag, 0.05 * drag);
    EXPECT_NEAR(found.strouhal, strouhal, 0.05 * strouhal);
  }
}

TEST(FluidBodies, StudyOfACylinderThatLocksIn) {
  if (cells_of_study() == 0) GTEST_SKIP() << "long; ROTULE_FLUID_STUDY=16 runs it";
  // Re 150, twice rho D^2, no damping, free across the stream: largest amplitude over the diameter by the speed in diameters per
  // period of the spring, by H. T. Ahn and Y. Kallinderis (J. Comput. Phys. 219, 2006) and by I. Borazjani and F. Sotiropoulos
  // (J. Fluid Mech. 621, 2009). Below 3 and beyond 8 it hardly moves.
  constexpr double mass = 2;
  for (const auto& [speed, ahn, borazjani] :
       {std::array{3.0, 0.071, 0.071}, std::array{4.0, 0.562, 0.529}, std::array{5.0, 0.523, 0.489},
        std::array{6.0, 0.451, 0.435}, std::array{7.0, 0.371, 0.381}}) {
    Scene scene = cylinder_in_stream(150, cells_of_study(), 24, 16, 9);
    scene.bodies[0].density = mass / (pi / 4);
    scene.add(Slider{.between = {"world", "cylinder"}, .axis = Vec3(0, 0, 1)});
    // So long that it is one spring across the stream alone.
    const double stiffness = mass * std::pow(2 * pi / speed, 2);
    scene.add(Spring{.between = {"world", "cylinder"}, .from = Vec3(0, 0, -1000), .stiffness = stiffness, .rest_length = 1000});
    World world(scene);
    double most = 0;
    while (world.time() < 150) {
      world.step(0.8 / cells_of_study());
      if (world.time() > 100) most = std::max(most, std::abs(world.position("cylinder").z()));
    }
    std::printf("%.0f: %.4f of a diameter, published %.3f and %.3f\n", speed, most, ahn, borazjani);
    EXPECT_NEAR(most, (ahn + borazjani) / 2, 0.15 * (ahn + borazjani) / 2) << speed;
  }
}

TEST(FluidBodies, SnapshotsHoldTheFluidAndThreadsDoNotMatter) {
  const auto make = [](int threads) {
    Scene scene = disc_scene(32, 4, 0.3, 0.01, "no_slip");
    scene.bodies[0].velocity = {0.3, 0, 0.1};
    scene.recipe.threads = threads;
    return World(scene);
  };
  World one = make(1), three = make(3);
  for (int i = 0; i < 3; ++i) {
    one.step();
    three.step();
  }
  EXPECT_EQ(one.state_hash(), three.state_hash());
  const Snapshot snapshot = one.save();
  one.step();
  const std::uint64_t after = one.state_hash();
  one.step();
  one.load(snapshot);
  one.step();
  EXPECT_EQ(one.state_hash(), after);
  three.load(snapshot);
  three.step();
  EXPECT_EQ(three.state_hash(), after);
}

TEST(FluidBodies, StepsWithABodyThatStaysInItsCellsAllocateNothing) {
  if (!testing::counts_allocations()) GTEST_SKIP();
  Scene scene = disc_scene(32, 4, 1.2, 0.01, "no_slip");
  scene.gravity = {0, 0, -1e-3};
  World world(scene);
  for (int i = 0; i < 3; ++i) world.step();
  const std::size_t before = testing::allocations();
  for (int i = 0; i < 3; ++i) world.step();
  EXPECT_EQ(testing::allocations(), before);
}

std::string refusal(const Scene& scene) {
  try {
    World world(scene);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FluidBodies, WhatCannotBeIsRefusedByName) {
  Scene scene = disc_scene(8, 8, 1, 0.01, "no_slip");
  EXPECT_NE(refusal(scene).find("\"disc\" is 1 m thin, less than 2 cells of 1 m"), std::string::npos) << refusal(scene);
  scene = disc_scene(32, 4, 1, 0.01, "no_slip");
  scene.bodies[0].position = {0, 0, 5};
  EXPECT_NE(refusal(scene).find("\"disc\" is outside of it"), std::string::npos) << refusal(scene);
  scene.bodies[0].position = {0, 0, 1.8};
  ASSERT_EQ(refusal(scene), "");
  const std::vector<std::string> warnings = World(scene).warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings[0].find("reaches out of the fluid's box"), std::string::npos);
  scene.fluid->obstacles = {"disk"};
  EXPECT_NE(refusal(scene).find("did you mean \"disc\""), std::string::npos);
  scene.fluid->obstacles.clear();
  scene.recipe = recipes::fastest();
  EXPECT_NE(refusal(scene).find("does not know fluids yet"), std::string::npos) << refusal(scene);
}

}  // namespace
}  // namespace rotule
