// Books of a fluid and of the bodies in it: what the one loses the other gains.
#include <gtest/gtest.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <numbers>

namespace rotule {
namespace {

using std::numbers::pi;

/// All kinds of sides at once: a stream from one side to the other, a wall that moves, one without friction.
FluidDef mixed_box(int cells, bool flat) {
  return {.grid = {cells, flat ? 1 : cells / 2, cells / 2},
          .box = {Vec3(0, 0, 0), Vec3(2, 1, 1)},
          .density = 3,
          .viscosity = 0.02,
          .velocity = Vec3(0.5, 0, 0),
          .walls = {{"x_low", "inflow", Vec3(0.5, 0, 0.1)},
                    {"x_high", "outflow"},
                    {"z_low", "free_slip"},
                    {"z_high", "no_slip", Vec3(0.8, 0, 0)}}};
}

Scene ball_in_box(int cells, bool flat, double density) {
  Scene scene;
  scene.gravity = {0.3, 0, -1};
  scene.fluid = mixed_box(cells, flat);
  BodyDef body{.name = "body",
               .density = density,
               .position = {0.7, 0.5, 0.5},
               .velocity = {0.2, 0, 0.1},
               .angular_velocity = {0, 1.5, 0},
               .shape = Sphere{0.2}};
  if (flat) {
    body.orientation = Quat(Eigen::AngleAxisd(pi / 2, Vec3::UnitX()));
    body.shape = Cylinder{.radius = 0.2, .height = 1};
  }
  scene.add(body);
  scene.dial.reset();
  scene.recipe.dt = 0.01;
  return scene;
}

TEST(FluidBooks, MomentumClosesInEveryStepWhateverTheSides) {
  for (const bool flat : {true, false})
    for (const double density : {0.3, 9.0}) {
      World world(ball_in_box(flat ? 48 : 24, flat, density));
      world.keep_books(true);
      const double mass = world.mass(world.body("body"));
      FluidBalance before = world.fluid()->balance();
      for (int i = 0; i < 10; ++i) {
        const Vec3 u = world.velocity("body");
        world.step();
        const FluidBalance now = world.fluid()->balance();
        EXPECT_LT((now.momentum_left_over - before.momentum_left_over).norm(), 1e-12) << density << " step " << i;
        EXPECT_LT((now.angular_momentum_left_over - before.angular_momentum_left_over).norm(), 1e-12) << density << " step " << i;
        // What the body gained is what the fluid gave it, weight, and the buoyancy of what the grid sees of it.
        const Vec3 got = mass * (world.velocity("body") - u), given = now.momentum_bodies - before.momentum_bodies;
        const Vec3 borne = now.buoyancy - before.buoyancy, weight = mass * world.recipe().dt * world.gravity();
        EXPECT_LT((got - given - borne - weight).norm(), 1e-12) << density << " step " << i;
        EXPECT_NEAR(now.displaced_mass, 3 * (flat ? pi * 0.04 : 4 * pi / 3 * 0.008), 0.08 * now.displaced_mass);
        before = now;
      }
      EXPECT_GT(before.momentum_sides.norm(), 0.01);
      EXPECT_GT(before.momentum_bodies.norm(), 1e-3);
      EXPECT_GT(before.angular_momentum_sides.norm(), 0.01);
      EXPECT_GT(before.angular_momentum_bodies.norm(), 1e-3);
    }
}

/// Two bodies, a joint between them, that swing in a stream.
Scene jointed_in_box(int cells, bool flat, double density, const Recipe& recipe) {
  Scene scene = ball_in_box(cells, flat, density);
  BodyDef& first = scene.bodies[0];
  first.position = {0.7, 0.5, 0.35};
  first.angular_velocity.setZero();
  BodyDef second = first;
  second.name = "second";
  second.position = {0.9, 0.5, 0.75};
  for (Shape* shape : {&first.shape, &second.shape})
    if (flat)
      *shape = Cylinder{.radius = 0.15, .height = 1};
    else
      *shape = Sphere{0.17};
  scene.add(second);
  if (flat)
    scene.add(Hinge{.between = {"body", "second"}, .at = Vec3(0.85, 0.5, 0.5), .axis = Vec3(0, 1, 0)});
  else
    scene.add(Ball{.between = {"body", "second"}, .at = Vec3(0.85, 0.5, 0.5)});
  scene.recipe = recipe;
  scene.recipe.dt = flat ? 0.01 : 0.025;
  scene.fluid->cfl = 0.06;
  return scene;
}

TEST(FluidBooks, WhatTheFluidLosesAJointedStructureGains) {
  // Linear and angular momentum, in every step of several substeps, whether or not the coupling converged to the last bit.
  for (const bool flat : {true, false})
    for (const double density : {0.3, 9.0})
      for (const char* method : {"rk4", "gauss4", "impulses"}) {
        Recipe recipe = method == std::string("impulses") ? recipes::balanced() : recipes::exact();
        if (method != std::string("impulses")) set(recipe, "integrator", method);
        Scene scene = jointed_in_box(flat ? 48 : 24, flat, density, recipe);
        World world(scene);
        world.keep_books(true);
        FluidBalance before = world.fluid()->balance();
        Diagnostics then = world.diagnostics();
        double linear = 0, angular = 0, moved = 0;
        for (int i = 0; i < 5; ++i) {
          world.step();
          ASSERT_GE(world.fluid()->report().substeps, 3);
          const FluidBalance now = world.fluid()->balance();
          const Diagnostics here = world.diagnostics();
          const Vec3 given = now.momentum_bodies - before.momentum_bodies + now.buoyancy - before.buoyancy;
          const Vec3 turned =
              now.angular_momentum_bodies - before.angular_momentum_bodies + now.angular_buoyancy - before.angular_buoyancy;
          const Vec3 got = here.momentum_balance.applied - then.momentum_balance.applied;
          Vec3 spun = here.angular_momentum_balance.applied - then.angular_momentum_balance.applied - turned;
          if (flat) spun = Vec3(0, spun.y(), 0);
          linear = std::max(linear, (got - given).norm());
          angular = std::max(angular, spun.norm());
          moved = std::max(moved, turned.norm());
          // The structure as a whole: what it has is what it got, of weight and of the fluid.
          const Vec3 fell = here.momentum_balance.weight - then.momentum_balance.weight;
          linear = std::max(linear, (here.linear_momentum - then.linear_momentum - given - fell).norm());
          linear = std::max(linear, (now.momentum_left_over - before.momentum_left_over).norm());
          angular = std::max(angular, (now.angular_momentum_left_over - before.angular_momentum_left_over).norm());
          before = now;
          then = here;
        }
        EXPECT_LT(linear, 1e-10) << flat << " " << density << " " << method;
        EXPECT_LT(angular, 1e-10) << flat << " " << density << " " << method;
        EXPECT_GT(moved, 1e-4);
      }
}

TEST(FluidBooks, EnergyOfFluidAloneClosesByTheOrderOfTheSteps) {
  // Sides, viscosity and what is left are all there is; what is left falls with the steps.
  std::array<double, 2> left{};
  for (int n = 0; n < 2; ++n) {
    FluidGrid fluid(mixed_box(32, true));
    fluid.set_velocity([](const Vec3& x) { return Vec3(0.5 + 0.2 * std::sin(2 * pi * x.z()), 0, 0.1 * std::cos(pi * x.x())); });
    for (int i = 0; i < 20; ++i) fluid.step(0.005);  // what is set in motion at once shakes the first steps
    fluid.keep_books(true);
    for (int i = 0; i < 20 << n; ++i) fluid.step(0.01 / (1 << n));
    const FluidBalance books = fluid.balance();
    EXPECT_LT(books.momentum_left_over.norm(), 1e-12);
    EXPECT_GT(books.viscosity, 1e-3);
    EXPECT_GT(std::abs(books.energy_sides), 1e-3);
    left[n] = std::abs(books.energy_left_over) / books.viscosity;
  }
  EXPECT_LT(left[0], 1e-5);
  EXPECT_LT(left[1], 0.25 * left[0]);
}

/// A disc that a spring swings to and fro in still water, with so many cells across 4 of its diameters and steps of h.
struct Swing {
  Diagnostics bodies;
  FluidBalance fluid;

  Swing(int cells, double h) {
    Scene scene;
    scene.gravity.setZero();
    scene.fluid =
        FluidDef{.grid = {cells, 1, cells}, .box = {Vec3(-2, -0.5, -2), Vec3(2, 0.5, 2)}, .density = 1, .viscosity = 0.02};
    scene.add(BodyDef{.name = "disc",
                      .density = 2,
                      .position = {-0.4, 0, 0},
                      .orientation = Quat(Eigen::AngleAxisd(pi / 2, Vec3::UnitX())),
                      .shape = Cylinder{.radius = 0.5, .height = 1}});
    scene.add(Spring{.between = {"world", "disc"}, .from = Vec3(-50, 0, 0), .stiffness = 20, .rest_length = 50});
    scene.dial.reset();
    scene.recipe.integrator = Rk4Settings{};
    scene.recipe.dt = h;
    World world(scene);
    world.keep_books(true);
    while (world.time() < 0.5 - h / 2) world.step();
    bodies = world.diagnostics();
    fluid = world.fluid()->balance();
  }
};

TEST(FluidBooks, WorkOnBodiesIsTheFluidsLoss) {
  // The disc's books say what the fluid took, the fluid's what it got and what became of it.
  std::array<double, 3> left{}, coupling{}, grip{};
  for (std::size_t n = 0; n < 3; ++n) {
    const Swing swing(n == 2 ? 128 : 64, n == 0 ? 0.01 : 0.005);
    const FluidBalance& fluid = swing.fluid;
    const EnergyBalance& bodies = swing.bodies.energy_balance;
    EXPECT_LT(bodies.forces, -0.01);
    EXPECT_NEAR(bodies.forces, fluid.energy_bodies, 2e-3 * std::abs(fluid.energy_bodies));
    EXPECT_LT(std::abs(bodies.left_over), 1e-6);
    const double lost = -fluid.energy_bodies;
    EXPECT_GT(fluid.energy, 0.5 * lost);
    EXPECT_GT(fluid.viscosity, 0.2 * lost);
    EXPECT_GT(fluid.grip, 0);
    left[n] = std::abs(fluid.energy_left_over) / lost;
    coupling[n] = std::abs(fluid.coupling) / lost;
    grip[n] = fluid.grip / lost;
  }
  // What is left over is the error of the stages; what the coupling takes falls with the step, the grip with the cells too.
  EXPECT_LT(left[0], 2e-4);
  EXPECT_LT(left[1], 0.3 * left[0]);
  EXPECT_LT(left[2], 1e-3);
  EXPECT_NEAR(coupling[0] / coupling[1], 2, 0.2);
  EXPECT_LT(grip[1], 0.85 * grip[0]);
  EXPECT_LT(grip[2], 0.8 * grip[1]);
}

TEST(FluidBooks, SnapshotsHoldThem) {
  World world(ball_in_box(24, true, 2));
  world.keep_books(true);
  world.step();
  const Snapshot then = world.save();
  world.step();
  const FluidBalance once = world.fluid()->balance();
  world.load(then);
  world.step();
  const FluidBalance again = world.fluid()->balance();
  EXPECT_EQ(once.momentum_sides, again.momentum_sides);
  EXPECT_EQ(once.energy_bodies, again.energy_bodies);
  EXPECT_EQ(once.viscosity, again.viscosity);
}

}  // namespace
}  // namespace rotule
