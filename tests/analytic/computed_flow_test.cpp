// What is thinner than the cells of a fluid: forces in the computed flow, and what the cells lose by them.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/scene.h>
#include <rotule/world.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fluid/kernel.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// A box of 4 by 1 by 2 m with a stream along x.
FluidDef stream(std::array<int, 3> grid, bool periodic) {
  FluidDef out{
      .grid = grid, .box = {Vec3(-1, -0.5, -1), Vec3(3, 0.5, 1)}, .density = 2, .viscosity = 1e-3, .velocity = Vec3(1, 0, 0)};
  const auto side = [&](const char* at, const char* kind, const Vec3& velocity = Vec3::Zero()) {
    out.walls.push_back({at, kind, velocity});
  };
  if (periodic) {
    for (const char* at : {"x_low", "x_high", "z_low", "z_high"}) side(at, "periodic");
    if (grid[1] > 1) side("y_low", "periodic"), side("y_high", "periodic");
  } else {
    side("x_low", "inflow", Vec3(1, 0, 0));
    side("x_high", "outflow");
    side("z_low", "no_slip", Vec3(0.5, 0, 0));
    side("z_high", "free_slip");
  }
  return out;
}

Scene empty_scene(const FluidDef& fluid) {
  Scene scene;
  scene.gravity.setZero();
  scene.fluid = fluid;
  scene.flows.emplace_back(ComputedFlow{"stream"});
  scene.dial.reset();
  scene.recipe = recipes::exact();
  set(scene.recipe, "integrator", "rk4");
  return scene;
}

TEST(GridKernel, GivesWhatItTakesAndKnowsWalls) {
  FluidDef def = stream({16, 8, 8}, false);
  const GridLayout layout(def, validated_sides(def, Place("fluid")));
  const GridKernel kernel(layout, def.density);
  Field3 u;
  for (auto& field : u) field.assign(layout.size, 0.0);
  // A linear profile over the wall at the bottom, which moves with 0.5: u = 0.5 + 3 (z + 1).
  const auto profile = [](double z) { return 0.5 + 3 * (z + 1); };
  Cell cell{};
  for (cell[0] = -1; cell[0] <= 16; ++cell[0])
    for (cell[1] = -1; cell[1] <= 8; ++cell[1])
      for (cell[2] = -1; cell[2] <= 8; ++cell[2]) u[0][layout.at(cell)] = profile(layout.place(cell, 0).z());
  for (const double z : {-1.0, -0.97, -0.9, -0.8, -0.61, 0.1})
    EXPECT_NEAR(kernel.velocity(u, Vec3(1.03, 0.2, z)).x(), profile(z), 1e-12) << z;

  // Away from the sides an impulse and a couple arrive whole; the couple is no impulse.
  const double mass = def.density * layout.cell_volume;
  for (const Vec3& x : {Vec3(0.37, -0.02, 0.11), Vec3(1.25, 0.06, -0.2)}) {
    Field3 v = u;
    std::vector<PushedFace> before;
    Deposit got;
    const Vec3 impulse(0.3, -0.2, 0.7), couple(0.05, 0.02, -0.03);
    kernel.push(v, x, impulse, couple, before, got);
    EXPECT_LT((got.momentum - impulse).norm(), 1e-14);
    EXPECT_LT((got.angular_momentum - x.cross(impulse) - couple).norm(), 1e-14);
    EXPECT_NEAR(got.of_sides, 0, 1e-15);
    double energy = 0;
    for (int c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < v[c].size(); ++i) energy += 0.5 * mass * (v[c][i] * v[c][i] - u[c][i] * u[c][i]);
    EXPECT_NEAR(got.energy, energy, 1e-12);
    for (std::size_t n = before.size(); n-- > 0;) v[before[n].component][before[n].index] = before[n].value;
    for (int c = 0; c < 3; ++c) EXPECT_EQ(v[c], u[c]);
  }
  // On the wall all of it is the wall's.
  std::vector<PushedFace> before;
  Deposit got;
  kernel.push(u, Vec3(1, 0.1, -1), Vec3(0.4, 0, 0), Vec3::Zero(), before, got);
  EXPECT_NEAR(got.momentum.x(), 0, 1e-15);
  EXPECT_NEAR(got.of_sides, 0.4 * 0.5, 1e-14);
}

TEST(ComputedFlow, AWeakLineFeelsWhatItWouldInAGivenFlow) {
  // One that stands still and one that moves; without influence the stream stays what it was.
  for (const bool moves : {false, true}) {
    std::array<Vec3, 2> velocity;
    Vec3 force = Vec3::Zero();
    for (const bool computed : {false, true}) {
      Scene scene = empty_scene(stream({16, 8, 8}, true));
      if (!computed) {
        scene.flows = {UniformFlow{"stream", {1, 0, 0}}};
        scene.fluid.reset();
      }
      ParticleGroup rod{.name = "rod", .positions = {Vec3(0, -0.2, -0.1), Vec3(0, 0.2, 0.2)}, .mass = 1e-6};
      if (moves)
        rod.velocities = {Vec3(0, 0, 0.4)};
      else
        rod.pinned = {0, 1};
      scene.add_particles(rod);
      scene.add(LineDrag{.between = {"rod/0", "rod/1"}, .diameter = 1e-6, .density = 2});
      scene.recipe.dt = 0.01;
      World world(scene);
      world.keep_books(true);
      for (int i = 0; i < 20; ++i) world.step();
      velocity[computed] = world.particle_velocity(0);
      if (computed) force = world.fluid()->balance().momentum_bodies / world.time();
    }
    if (moves) {
      EXPECT_GT((velocity[0] - Vec3(0, 0, 0.4)).norm(), 0.03);
      EXPECT_LT((velocity[1] - velocity[0]).norm(), 1e-6 * velocity[0].norm());
    } else {
      EXPECT_NEAR(force.x(), 0.5 * 2 * 1e-6 * 1.2 * 0.5, 1e-6 * 6e-7);
      EXPECT_NEAR(force.norm(), force.x(), 1e-12);
    }
  }
}

TEST(ComputedFlow, FreeParticlesAreSlowedBySecondOrderOfTheStep) {
  // w' = -q/m |w| w in still fluid: w = w0 / (1 + q/m w0 t).
  std::array<double, 3> error{};
  for (int n = 0; n < 3; ++n) {
    FluidDef fluid = stream({8, 4, 4}, true);
    fluid.velocity.setZero();
    Scene scene = empty_scene(fluid);
    scene.add_particles({.name = "grain", .positions = {Vec3(-0.9, 0, 0)}, .velocities = {Vec3(1, 0, 0)}, .mass = 1e-9});
    scene.add(Drag{.on = {"grain"}, .quadratic = 2e-9});
    scene.recipe.dt = 0.25 / (1 << n);
    World world(scene);
    for (int i = 0; i < 4 << n; ++i) world.step();
    error[n] = std::abs(world.particle_velocity(0).x() - 1.0 / 3);
  }
  EXPECT_LT(error[2], 1e-3);
  EXPECT_NEAR(error[0] / error[1], 4, 0.8);
  EXPECT_NEAR(error[1] / error[2], 4, 0.5);
}

TEST(ComputedFlow, WhatHasNoMassMovesWithTheFluid) {
  // Up to a million times what would stop it within a step: it neither swings nor overshoots.
  for (const double stiffness : {1.0, 30.0, 1e3, 1e6}) {
    Scene scene = empty_scene(stream({16, 1, 8}, true));
    scene.recipe.dt = 0.05;
    scene.add_particles({.name = "dust", .positions = {Vec3(0, 0, 0.1)}, .velocities = {Vec3(0, 0, 0)}, .mass = 1e-7});
    scene.add(Drag{.on = {"dust"}, .viscous = stiffness * 1e-7 / 0.05});
    World world(scene);
    double before = 0;
    for (int i = 0; i < 12; ++i) {
      world.step();
      const double v = world.particle_velocity(0).x();
      EXPECT_GE(v, before - 1e-9) << stiffness;
      EXPECT_LE(v, 1 + 1e-9) << stiffness;
      before = v;
      ASSERT_TRUE(world.fluid()->report().converged);
    }
    EXPECT_NEAR(before, stiffness == 1 ? 1 - std::pow(1.0 / 3, 12) : 1, 1e-6) << stiffness;
  }
}

/// A mast of two bodies under a hinge with sections, a cable from its top, a sail, and a ball that is an obstacle.
Scene rig(bool flat, bool ball) {
  Scene scene = empty_scene(stream(flat ? std::array{64, 1, 32} : std::array{32, 8, 16}, false));
  scene.gravity = {0, 0, -1};
  for (const char* name : {"lower", "upper"}) {
    const double z = name == std::string("lower") ? -0.7 : -0.3;
    scene.add(BodyDef{.name = name, .mass = 0.02, .inertia = Mat3(Vec3(3e-4, 3e-4, 1e-4).asDiagonal()), .position = {0, 0, z}});
    scene.add(FlowSection{.name = std::string("of ") + name,
                          .on = name,
                          .at = Vec3(0.02, 0.05, z + 0.05),
                          .chord = {1, 0, 0},
                          .normal = {0, 0, 1},
                          .width = 0.1,
                          .length = 0.4,
                          .density = 2,
                          .angles = {-pi, -0.5, 0, 0.5, pi},
                          .drag = {1, 1, 0.2, 1, 1},
                          .lift = {0, -1, 0.1, 1, 0},
                          .moment = {0, -0.2, 0.05, 0.2, 0}});
  }
  scene.add(Hinge{.between = {"world", "lower"}, .at = Vec3(0, 0, -0.9), .axis = Vec3(0, 1, 0)});
  scene.add(Hinge{.between = {"lower", "upper"}, .at = Vec3(0, 0, -0.5), .axis = Vec3(0, 1, 0)});
  scene.add(Cable{.name = "rope",
                  .from = {0, 0, -0.1},
                  .to = {0.8, 0, -0.2},
                  .elements = 6,
                  .youngs_modulus = 5e3,
                  .area = 1e-4,
                  .density = 500,
                  .start_on = "upper",
                  .end_on = "",
                  .drag = LineCoefficients{.diameter = 0.03, .density = 2, .along = 0.02}});
  scene.add(Cloth{.name = "sail",
                  .at = {0.6, -0.2, 0.2},
                  .along_x = {0.1, 0.4, 0},
                  .along_y = {0, 0, 0.4},
                  .columns = 4,
                  .rows = 4,
                  .mass = 0.02,
                  .stiffness = 2,
                  .shear_stiffness = 1,
                  .bending_stiffness = 0.1});
  scene.add(Air{.on = {"sail"}, .density = 2});
  if (ball) {
    scene.add(BodyDef{.name = "ball",
                      .density = 1,
                      .position = {1.9, 0, 0},
                      .orientation = Quat(Eigen::AngleAxisd(pi / 2, Vec3::UnitX())),
                      .shape = flat ? Shape(Cylinder{.radius = 0.25, .height = 1}) : Shape(Sphere{0.3})});
  }
  scene.recipe.dt = 0.01;
  return scene;
}

TEST(ComputedFlow, WhatTheFluidLosesThinStructuresGain) {
  for (const bool flat : {true, false})
    for (const bool ball : {false, true})
      for (const char* method : {"rk4", "gauss4", "impulses"}) {
        Scene scene = rig(flat, ball);
        if (method == std::string("impulses")) {
          scene.recipe = recipes::balanced();
          scene.recipe.dt = 0.01;
        } else {
          set(scene.recipe, "integrator", method);
        }
        World world(scene);
        world.keep_books(true);
        FluidBalance before = world.fluid()->balance();
        Diagnostics then = world.diagnostics();
        double linear = 0, angular = 0, moved = 0;
        for (int i = 0; i < 6; ++i) {
          world.step();
          const FluidBalance now = world.fluid()->balance();
          const Diagnostics here = world.diagnostics();
          const Vec3 given = now.momentum_bodies - before.momentum_bodies + now.buoyancy - before.buoyancy;
          const Vec3 turned =
              now.angular_momentum_bodies - before.angular_momentum_bodies + now.angular_buoyancy - before.angular_buoyancy;
          Vec3 got = here.momentum_balance.applied - then.momentum_balance.applied - given;
          Vec3 spun = here.angular_momentum_balance.applied - then.angular_momentum_balance.applied - turned;
          if (flat) spun = Vec3(0, spun.y(), 0);
          linear = std::max({linear, got.norm(), (now.momentum_left_over - before.momentum_left_over).norm()});
          angular = std::max({angular, spun.norm(), (now.angular_momentum_left_over - before.angular_momentum_left_over).norm()});
          moved = std::max(moved, turned.norm());
          before = now;
          then = here;
        }
        EXPECT_LT(linear, 1e-10) << flat << ball << method;
        EXPECT_LT(angular, 1e-10) << flat << ball << method;
        EXPECT_GT(moved, 1e-4);
        EXPECT_GT(before.drag, 0);
        // What is on no list is the error of the steps.
        EXPECT_LT(std::abs(before.energy_left_over), 0.02 * before.drag) << flat << ball << method;
      }
}

/// A screen along z of width D in the middle of a stream, of lines held by pinned particles, with the force K rho/2 u^2 per area.
struct Screen {
  double force = 0, through = 0, C_T = 0, upstream = 0, downstream = 0;
};
Screen screen_in_stream(double K, double D, double height, int cells, bool open, double until) {
  const double h = D / cells, ahead = open ? 6 * D : 2 * D, behind = open ? 10 * D : 2 * D;
  FluidDef fluid{.grid = {static_cast<int>(std::lround((ahead + behind) / h)), 1, static_cast<int>(std::lround(height / h))},
                 .box = {Vec3(-ahead, -0.5, -height / 2), Vec3(behind, 0.5, height / 2)},
                 .density = 1,
                 .viscosity = 1e-3,
                 .velocity = Vec3(1, 0, 0),
                 .walls = {{"x_low", "inflow", Vec3(1, 0, 0)},
                           {"x_high", "outflow"},
                           {"z_low", open ? "outflow" : "free_slip"},
                           {"z_high", open ? "outflow" : "free_slip"}}};
  Scene scene = empty_scene(fluid);
  const int pieces = 2 * cells;
  ParticleGroup posts{.name = "screen", .mass = 1};
  for (int k = 0; k <= pieces; ++k) {
    posts.positions.emplace_back(0, 0, -D / 2 + D * k / pieces);
    posts.pinned.push_back(k);
  }
  scene.add_particles(posts);
  for (int k = 0; k < pieces; ++k)
    scene.add(LineDrag{.between = {"screen/" + std::to_string(k), "screen/" + std::to_string(k + 1)},
                       .diameter = 0.1 * h,
                       .density = 1,
                       .across = K / (0.1 * h)});
  scene.recipe.dt = 0.5 * h;
  World world(scene);
  world.keep_books(true);
  double start = 0;
  const int steps = static_cast<int>(std::lround(until / scene.recipe.dt)), counted = steps / 4;
  for (int i = 0; i < steps; ++i) {
    if (i == steps - counted) start = world.fluid()->balance().momentum_bodies.x();
    world.step();
  }
  Screen out;
  out.force = (world.fluid()->balance().momentum_bodies.x() - start) / (counted * scene.recipe.dt);
  out.C_T = out.force / (0.5 * D);
  out.through = std::sqrt(out.C_T / K);  // u at the screen over U, as its own force says
  out.upstream = world.fluid()->pressure(Vec3(-1.5 * D, 0, 0.1));
  out.downstream = world.fluid()->pressure(Vec3(1.5 * D, 0, 0.1));
  return out;
}

TEST(ComputedFlow, AScreenAcrossAChannelHasThePressureDropOfItsForce) {
  // Nothing can go around it, so that it meets the whole stream: K rho/2 U^2, and the pressure drops by that.
  const Screen found = screen_in_stream(3, 1, 1, 16, false, 6);
  EXPECT_NEAR(found.C_T, 3, 3e-3);
  EXPECT_NEAR(found.upstream - found.downstream, 1.5, 3e-3);
}

TEST(ComputedFlow, AFreeScreenSlowsTheStreamAsAnActuatorDisc) {
  // u = U (1 - a), C_T = 4 a (1 - a) = K (1 - a)^2: a = K/(4 + K). The kernel blurs the screen's edges, by less with finer cells.
  const auto a = [](double K) { return K / (4 + K); };
  EXPECT_NEAR(screen_in_stream(0.25, 1, 12, 8, true, 24).through, 1 - a(0.25), 0.01);
  const double coarse = screen_in_stream(1, 1, 12, 8, true, 24).through - (1 - a(1));
  const Screen fine = screen_in_stream(1, 1, 12, 16, true, 24);
  EXPECT_NEAR(fine.through, 1 - a(1), 0.025);
  EXPECT_NEAR(fine.C_T, 4 * a(1) * (1 - a(1)), 0.06 * fine.C_T);
  EXPECT_LT(std::abs(fine.through - (1 - a(1))), 0.85 * std::abs(coarse));
}

TEST(ComputedFlow, ALineFeelsItsOwnWakeByAsMuchAsIsSaid) {
  // u = U (1 - 0.1375 C_d d/h) in a steady stream, whatever the Reynolds number.
  for (const double d : {0.1, 0.4}) {
    const double h = 0.125, across = 1.2;
    FluidDef fluid = stream({96, 1, 64}, false);
    fluid.box = {Vec3(-4, -0.5, -4), Vec3(8, 0.5, 4)};
    fluid.density = 1;
    fluid.walls[2] = {"z_low", "outflow"};
    fluid.walls[3] = {"z_high", "outflow"};
    Scene scene = empty_scene(fluid);
    scene.add_particles({.name = "rod", .positions = {Vec3(0, -0.5, 0.03), Vec3(0, 0.5, 0.03)}, .mass = 1, .pinned = {0, 1}});
    scene.add(LineDrag{.between = {"rod/0", "rod/1"}, .diameter = d * h, .density = 1});
    scene.recipe.dt = 0.1;
    World world(scene);
    const std::vector<std::string> warnings = world.warnings();
    const bool told = std::any_of(warnings.begin(), warnings.end(),
                                  [](const std::string& text) { return text.find("feels its own wake") != text.npos; });
    EXPECT_EQ(told, 0.1375 * across * d > 0.05) << d;
    for (int i = 0; i < 120; ++i) world.step();
    world.keep_books(true);
    world.step();
    const double force = world.fluid()->balance().momentum_bodies.x() / scene.recipe.dt;
    const double felt = std::sqrt(force / (0.5 * across * d * h));
    EXPECT_NEAR((1 - felt) / (0.1375 * across * d), 1, 0.2) << d;
  }
}

TEST(ComputedFlow, BitsDoNotDependOnThreads) {
  std::array<std::vector<Vec3>, 2> ends;
  for (int n = 0; n < 2; ++n) {
    Scene scene = rig(false, true);
    scene.recipe.threads = n == 0 ? 1 : 3;
    World world(scene);
    for (int i = 0; i < 3; ++i) world.step();
    for (const char* name : {"lower", "upper", "ball"}) ends[n].push_back(world.velocity(name));
    for (int k = 0; k < 16; ++k) ends[n].push_back(world.particle_velocity(world.particle("sail/" + std::to_string(k))));
    ends[n].push_back(world.fluid()->velocity({0.5, 0.1, 0.2}));
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(ComputedFlow, SaysWhatCannotBe) {
  const auto refusal = [](const Scene& scene, int steps = 0) -> std::string {
    try {
      World world(scene);
      for (int i = 0; i < steps; ++i) world.step();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto expect = [&](const Scene& scene, const char* words, int steps = 0) {
    const std::string said = refusal(scene, steps);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  const Scene good = rig(true, true);
  EXPECT_EQ(refusal(good, 1), "");
  Scene scene = good;
  scene.fluid.reset();
  expect(scene, "there is none");
  scene = good;
  scene.flows.emplace_back(ComputedFlow{"another"});
  expect(scene, "one fluid");
  scene = good;
  scene.add(LineDrag{.between = {"upper", "rope/3"}, .diameter = 0.07, .density = 2});
  expect(scene, "more than 0.0625 m, a cell");
  scene = good;
  std::get<FlowSection>(scene.forces[0]).width = 0.2;
  expect(scene, "3 cells of the fluid's");
  scene = good;
  scene.add(Air{.on = {"sail"}});
  expect(scene, "is 1.2 kg/m^3, and 2 is that of the computed fluid");
  scene = good;
  std::get<FlowSection>(scene.forces[0]).unsteady = true;
  expect(scene, "remembers the wake itself");
  scene = good;
  scene.add(Drag{.on = {"ball"}, .quadratic = 1});
  scene.fluid->obstacles = {"ball"};
  expect(scene, "leave out one of them");
  scene = good;
  scene.add_particles({.name = "far", .positions = {Vec3(2.97, 0, 0)}, .velocities = {Vec3(2, 0, 0)}, .mass = 1});
  scene.add(Drag{.on = {"far"}, .quadratic = 1});
  expect(scene, "particle \"far/0\" feels the fluid and is outside of its box", 3);
}

}  // namespace
}  // namespace rotule
