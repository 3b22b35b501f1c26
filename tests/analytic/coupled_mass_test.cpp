// Fluid that couples bodies: one mass matrix over several of them. Against dense matrices made by hand, closed forms of two
// coupled oscillators, conserved momenta, differences, and bodies that are not coupled where the two must agree.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/inverse_dynamics.h>
#include <rotule/world.h>

#include <array>
#include <cmath>

#include "dynamics/forces/force_set.h"
#include "dynamics/forces/gyroscopic.h"
#include "linalg/decompositions.h"
#include "problem/operators.h"
#include "support/constants.h"
#include "support/coupled_masses.h"
#include "support/runs.h"
#include "support/source_dir.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using testing::g;

TEST(CoupledMass, FreeMotionKeepsEnergyAndImpulses) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Scene scene = three_coupled(seed);
    World world(scene, coupled_recipe("dormand_prince_8", 5e-3));
    const Diagnostics before = world.diagnostics();
    const VecX u = velocities_of(world);
    EXPECT_NEAR(before.energy(), 0.5 * u.dot(dense_mass(world) * u), 1e-12 * before.energy());
    run_for(world, 1);
    const Diagnostics after = world.diagnostics();
    EXPECT_NEAR(after.energy(), before.energy(), 1e-10 * before.energy());
    EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-10 * before.linear_momentum.norm());
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-10 * (1 + before.angular_momentum.norm()));
    EXPECT_GT((velocities_of(world) - u).norm(), 0.1 * u.norm());

    World implicit(scene, coupled_recipe("gauss6", 5e-3));
    run_for(implicit, 1);
    EXPECT_LT(difference(implicit, world), 1e-7);
  }
}

TEST(CoupledMass, OrdersOfMethodsStay) {
  const Scene scene = three_coupled(4);
  World fine(scene, coupled_recipe("dormand_prince_8", 1e-3));
  run_for(fine, 0.25);
  for (const auto& [method, order] : {std::pair("rk4", 4.0), std::pair("gauss4", 4.0), std::pair("implicit_midpoint", 2.0),
                                      std::pair("bdf2", 2.0), std::pair("generalised_alpha", 2.0), std::pair("trapezoid", 2.0),
                                      std::pair("linear_implicit_euler", 1.0), std::pair("ab4", 4.0)}) {
    std::array<double, 2> error{};
    for (int k = 0; k < 2; ++k) {
      World world(scene, coupled_recipe(method, k == 0 ? 0.0125 : 0.00625));
      run_for(world, 0.25);
      error[static_cast<std::size_t>(k)] = difference(world, fine);
    }
    EXPECT_NEAR(std::log2(error[0] / error[1]), order, 0.35) << method;
  }
}

TEST(CoupledMass, DerivativesAreThoseOfTheInertia) {
  const World world(three_coupled(5));
  const WorldImplementation& w = implementation_of(world);
  const Model& model = w.model;
  Chance chance(6);
  VecX udot(18);
  for (double& x : udot) x = chance.number();
  const auto inertia = [&](const State& s) {
    VecX out = VecX::Zero(18);
    add_added_gyroscopic(model, motion_of(s), out);
    out = -out;
    add_added_momentum(model, motion_of(s), udot, 1, out);
    return out;
  };
  Kinematics kinematics;
  kinematics.update(model, w.state);
  MatX by_q = MatX::Zero(18, 18), by_u = by_q, mass = by_q;
  const auto into = [&](MatX& to, double a, double b) {
    visit_added_derivatives(model, kinematics, udot, a, b,
                            [&](int i, int j, const Mat6& part) { to.block<6, 6>(6 * i, 6 * j) += part; });
  };
  into(mass, 0, 0);
  into(by_q, 0, 1);
  into(by_u, 1, 0);
  constexpr double step = 1e-6;
  for (int k = 0; k < 18; ++k) {
    VecX sigma = VecX::Zero(18);
    sigma[k] = step;
    State more = w.state, less = w.state;
    displace(w.state, sigma, more);
    displace(w.state, -sigma, less);
    EXPECT_LT(((inertia(more) - inertia(less)) / (2 * step) - (by_q - mass).col(k)).norm(), 1e-7 * by_q.norm()) << k;
    more = less = w.state;
    more.u[k] += step;
    less.u[k] -= step;
    EXPECT_LT(((inertia(more) - inertia(less)) / (2 * step) - (by_u - mass).col(k)).norm(), 1e-7 * by_u.norm()) << k;
  }
}

TEST(CoupledMass, WhatIsNotCoupledIsAddedMassOfEach) {
  // Blocks on the diagonal alone; those of the second body look the same in any axes.
  Chance chance(7);
  const MatX first = chance.mass(6, 2);
  MatX both = MatX::Zero(12, 12);
  both.topLeftCorner<6, 6>() = first;
  both.diagonal().segment<3>(6).setConstant(0.7);
  both.diagonal().tail<3>().setConstant(0.2);
  Scene alone, together;
  for (const char* name : {"a", "b"}) alone.add(tumbler(name, chance));
  alone.add(Spring{.between = {"a", "b"}, .stiffness = 20});
  together = alone;
  together.add(coupled({"a", "b"}, both));
  alone.add(AddedMass{.on = "a",
                      .translation = first.topLeftCorner<3, 3>(),
                      .rotation = first.bottomRightCorner<3, 3>(),
                      .coupling = first.topRightCorner<3, 3>()});
  alone.add(AddedMass{.on = "b", .translation = 0.7 * Mat3::Identity(), .rotation = 0.2 * Mat3::Identity()});
  for (const char* method : {"rk4", "gauss4"}) {
    World x(alone, coupled_recipe(method, 2e-3)), y(together, coupled_recipe(method, 2e-3));
    run_for(x, 1);
    run_for(y, 1);
    EXPECT_LT(difference(x, y), 1e-11) << method;
  }
}

/// Two floating boxes side by side that heave: m_a and m_b, and a 2 x 2 mass of water.
Scene heaving(double heave_a, double heave_b) {
  Scene scene;
  const Box box{Vec3(1.0, 0.8, 0.6)}, small{Vec3(0.6, 0.8, 0.6)};
  scene.add({.name = "a", .mass = 1000 * 0.8 * 0.3, .position = {0, 0, heave_a}, .shape = box, .contacts = false});
  scene.add({.name = "b", .mass = 1000 * 0.48 * 0.3, .position = {1.2, 0, heave_b}, .shape = small, .contacts = false});
  scene.add(Buoyancy{.on = "a", .density = 1000, .surface = 0.0});
  scene.add(Buoyancy{.on = "b", .density = 1000, .surface = 0.0});
  CoupledAddedMass water{.on = {"a", "b"}, .translation = MatX::Zero(6, 6)};
  water.translation(2, 2) = 160;
  water.translation(5, 5) = 110;
  water.translation(2, 5) = water.translation(5, 2) = -70;
  scene.add(std::move(water));
  return scene;
}

TEST(CoupledMass, TwoFloatsHeaveAtTheFrequenciesOfTheirMatrix) {
  MatX M(2, 2), K(2, 2);
  M << 240 + 160, -70, -70, 144 + 110;
  K << 1000 * g * 0.8, 0, 0, 1000 * g * 0.48;
  const SymmetricEigen exact = symmetric_eigen(K, M);
  World still(heaving(0, 0), coupled_recipe("rk4", 1e-3));
  const auto values = eigenvalues(linearise(still));
  for (int k = 0; k < 2; ++k) {
    const double omega = std::sqrt(exact.values[k]);
    double nearest = infinity;
    for (const auto& lambda : values) nearest = std::min(nearest, std::abs(lambda.imag() - omega));
    EXPECT_LT(nearest, 1e-6 * omega);
  }
  // One is lifted, both move.
  const auto at = [&](double t) {
    VecX swings = exact.vectors.transpose() * M * Eigen::Vector2d(0.05, 0);
    for (int k = 0; k < 2; ++k) swings[k] *= std::cos(std::sqrt(exact.values[k]) * t);
    return VecX(exact.vectors * swings);
  };
  for (const char* method : {"rk4", "gauss4", "dormand_prince"}) {
    World world(heaving(0.05, 0), coupled_recipe(method, 1e-3));
    for (const double t : {0.4, 1.1, 2.0}) {
      run_for(world, t - world.time());
      EXPECT_NEAR(world.position("a").z(), at(world.time())[0], 1e-7) << method << t;
      EXPECT_NEAR(world.position("b").z(), at(world.time())[1], 1e-7) << method << t;
    }
  }
}

TEST(CoupledMass, BuoysHandTheirSwingToEachOtherThroughTheWater) {
  // omega^2 = (rho V - m) g / (l (m + M -+ C)) of the two that swing along their line, alike and against each other.
  Scene scene = load_scene(testing::source_dir() + "/scenes/buoy_pair.json");
  const double lift = (1000 * 4 * M_PI / 3 * 0.027 - 40) * g, M = 40 + 57.02, C = -8.946, length = 2;
  const double alike = std::sqrt(lift / (length * (M + C))), against = std::sqrt(lift / (length * (M - C)));
  World world(scene, coupled_recipe("rk4", 1e-2));
  const double start = world.position("left").x();
  for (const double t : {5.0, 17.0, 30.0}) {
    run_for(world, t - world.time());
    const double sum = std::cos(alike * world.time()), rest = std::cos(against * world.time());
    // What is not small is of third order, and shifts the phase by a sixteenth of the square of the angle.
    EXPECT_NEAR(world.position("left").x(), start * (sum + rest) / 2, 2.5e-2 * std::abs(start)) << t;
    EXPECT_NEAR(world.position("right").x() - 0.8, start * (sum - rest) / 2, 2.5e-2 * std::abs(start)) << t;
  }
}

TEST(CoupledMass, ABlowMovesBothAsTheDenseMatrixSays) {
  const Scene scene = three_coupled(8);
  World world(scene, coupled_recipe("rk4", 1e-3));
  const VecX before = velocities_of(world);
  const Vec3 impulse(0.4, -1, 0.7), at = world.position("a") + Vec3(0.1, 0.3, -0.2);
  VecX push = VecX::Zero(18);
  push.head<3>() = impulse;
  push.segment<3>(3) = (at - world.position("a")).cross(impulse);
  const VecX wanted = before + lu_solve(dense_mass(world), push).col(0);
  world.apply_impulse(world.body("a"), impulse, at);
  EXPECT_LT((velocities_of(world) - wanted).norm(), 1e-12 * wanted.norm());
}

TEST(CoupledMass, JointsHoldUnderBlowsAndShocksAsTheDenseSystemSays) {
  // A ball joint between the world and b; the blow is on c, which no joint holds.
  Scene scene = three_coupled(9);
  for (BodyDef& body : scene.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
  const Vec3 pivot = scene.bodies[1].position + Vec3(0.5, -0.2, 0.3);
  scene.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = pivot});
  World world(scene, coupled_recipe("rk4", 1e-3));
  const MatX M = dense_mass(world);
  MatX J = MatX::Zero(3, 18);
  const Vec3 r = pivot - world.position("b");
  J.block<3, 3>(0, 6) = Mat3::Identity();
  J.block<3, 3>(0, 9) << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
  MatX system = MatX::Zero(21, 21);
  system << M, J.transpose(), J, MatX::Zero(3, 3);
  const Vec3 impulse(0.4, -1, 0.7);
  VecX rhs = VecX::Zero(21);
  rhs.segment<3>(12) = impulse;
  const VecX wanted = lu_solve(system, rhs).col(0).head(18);
  world.apply_impulse(world.body("c"), impulse, world.position("c"));
  EXPECT_LT((velocities_of(world) - wanted).norm(), 1e-11 * wanted.norm());

  // A shock stops c's centre: one more ball joint for a moment, the velocities being what they are.
  MatX held = MatX::Zero(6, 18);
  held.topRows(3) = J;
  held.block<3, 3>(3, 12) = Mat3::Identity();
  MatX stopped = MatX::Zero(24, 24);
  stopped << M, held.transpose(), held, MatX::Zero(6, 6);
  VecX of_momentum = VecX::Zero(24);
  of_momentum.head(18) = M * wanted;
  const VecX after = lu_solve(stopped, of_momentum).col(0).head(18);
  const double lost = world.shock(world.body("c"), world.position("c"), 0);
  EXPECT_LT((velocities_of(world) - after).norm(), 1e-11 * wanted.norm());
  EXPECT_NEAR(lost, 0.5 * wanted.dot(M * wanted) - 0.5 * after.dot(M * after), 1e-12);
}

TEST(CoupledMass, AccelerationsUnderJointsAreThoseOfTheDenseSystem) {
  Scene scene = three_coupled(10);
  scene.gravity = Vec3(0, 0, -g);
  for (BodyDef& body : scene.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
  const Vec3 pivot = scene.bodies[1].position + Vec3(0.5, -0.2, 0.3);
  scene.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = pivot});
  for (const char* solver : {"ldlt", "schur", "cg", "dense_ldlt"}) {
    Recipe recipe = coupled_recipe("rk4", 1e-3);
    set(recipe, "solver", solver);
    World world(scene, recipe);
    const MatX M = dense_mass(world);
    MatX J = MatX::Zero(3, 18);
    const Vec3 r = pivot - world.position("b");
    J.block<3, 3>(0, 6) = Mat3::Identity();
    J.block<3, 3>(0, 9) << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
    MatX system = MatX::Zero(21, 21);
    system << M, J.transpose(), J, MatX::Zero(3, 3);
    VecX rhs = VecX::Zero(21);
    for (int i = 0; i < 3; ++i) rhs[6 * i + 2] = -g * scene.bodies[static_cast<std::size_t>(i)].mass.value();
    const VecX wanted = lu_solve(system, rhs).col(0);
    for (int i = 0; i < 3; ++i) {
      const BodyId id = world.body(scene.bodies[static_cast<std::size_t>(i)].name);
      EXPECT_LT((world.acceleration(id) - wanted.segment<3>(6 * i)).norm(), 1e-8) << solver;
      EXPECT_LT((world.angular_acceleration(id) - wanted.segment<3>(6 * i + 3)).norm(), 1e-8) << solver;
    }
    EXPECT_LT((world.joint_force(world.joint("pivot")).force + wanted.tail<3>()).norm(), 1e-8) << solver;
  }
}

TEST(CoupledMass, ProblemsThatAreKeptHaveTheOperatorOfTheDenseMatrix) {
  Scene scene = three_coupled(22);
  const Vec3 pivot = scene.bodies[1].position + Vec3(0.5, -0.2, 0.3);
  scene.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = pivot});
  World world(scene, coupled_recipe("semi_implicit_euler", 1e-6));
  world.project();
  MatX J = MatX::Zero(3, 18);
  const Vec3 r = pivot - world.position("b");
  J.block<3, 3>(0, 6) = Mat3::Identity();
  J.block<3, 3>(0, 9) << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
  const MatX wanted = J * lu_solve(dense_mass(world), J.transpose());
  world.keep_problems(true);
  world.step();
  const ConstraintProblem& problem = world.problem(0);
  ASSERT_EQ(problem.rows(), 3);
  ASSERT_EQ(problem.bodies(), 3);
  Mat3 A;
  for (int k = 0; k < 3; ++k) {
    const Vec3 unit = Vec3::Unit(k);
    std::array<double, 18> velocities{};
    multiply(problem, {unit.data(), 3}, velocities, {A.col(k).data(), 3});
  }
  // Whatever axes the rows are along.
  EXPECT_NEAR(A.trace(), wanted.trace(), 1e-5 * wanted.trace());
  EXPECT_NEAR(A.norm(), wanted.norm(), 1e-5 * wanted.norm());
  EXPECT_LT(residual(problem, world.multipliers(0)).scale_free, 1e-10);
}

TEST(CoupledMass, ImpulsesComeNearTheExactMotion) {
  // First order: halving the step halves what is missing.
  Scene scene = three_coupled(11);
  scene.gravity = Vec3(0, 0, -g);
  scene.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = scene.bodies[1].position + Vec3(0.5, -0.2, 0.3)});
  World exact(scene, coupled_recipe("dormand_prince_8", 1e-3));
  // What starts with open joints is closed by each in its own way.
  Recipe recipe = recipes::balanced();
  std::array<double, 2> error{};
  for (int k = 0; k < 2; ++k) {
    recipe.dt = k == 0 ? 4e-4 : 2e-4;
    World coarse(scene, recipe);
    World fine(scene, coupled_recipe("dormand_prince_8", 1e-3));
    coarse.project();
    fine.project();
    run_for(coarse, 0.2);
    run_for(fine, 0.2);
    error[static_cast<std::size_t>(k)] = (coarse.position("c") - fine.position("c")).norm();
  }
  EXPECT_LT(error[0], 1e-2);
  EXPECT_NEAR(error[0] / error[1], 2, 0.3);
}

/// Two balls that fluid couples, side by side; the second one at rest, the first one meets it.
Scene meeting(double restitution) {
  Scene scene;
  scene.gravity.setZero();
  scene.materials = {{.name = "m", .friction = 0, .restitution = restitution}};
  // Hard to turn: the moment of the water once they go askew is another matter.
  const Mat3 inertia = 100 * Mat3::Identity();
  scene.add(
      {.name = "a", .mass = 1.0, .inertia = inertia, .position = {-0.3, 0, 0}, .velocity = {1, 0.2, 0}, .shape = Sphere{0.1}});
  scene.add({.name = "b", .mass = 2.0, .inertia = inertia, .shape = Sphere{0.1}});
  for (BodyDef& body : scene.bodies) body.material = "m";
  MatX water = MatX::Zero(12, 12);
  water.diagonal().setConstant(0.8);
  for (int k = 0; k < 3; ++k) water(k, 6 + k) = water(6 + k, k) = k == 0 ? -0.5 : 0.3;
  water.block<3, 3>(3, 3) *= 0.01;
  water.block<3, 3>(9, 9) *= 0.01;
  scene.add(coupled({"a", "b"}, water));
  return scene;
}

TEST(CoupledMass, ContactsBetweenCoupledBodiesKeepMomentumAndKnowRestitution) {
  for (const double e : {0.0, 0.6, 1.0})
    for (const char* solver : {"auto", "block_gauss_seidel", "pgs", "nncg", "lemke", "interior_point", "hybrid", "prox_newton"}) {
      Recipe recipe = recipes::balanced();
      recipe.dt = 1e-3;
      set(recipe, "contacts", "box");  // there is no friction, and not all solvers know cones
      set(recipe, "solver", solver);
      World world(meeting(e), recipe);
      const Diagnostics start = world.diagnostics();
      double closing = 0;
      Vec3 normal = Vec3::Zero();
      VecX before;
      bool met = false;
      for (int k = 0; k < 600 && !met; ++k) {
        before = velocities_of(world);
        normal = (world.position("b") - world.position("a")).normalized();
        closing = normal.dot(world.velocity("a") - world.velocity("b"));
        const MatX M = dense_mass(world);
        world.step();
        met = (velocities_of(world) - before).norm() > 0.05;
        if (!met) continue;
        // M du = (-n, n) times one impulse, which gives the closing velocity back.
        VecX row = VecX::Zero(12);
        row.head<3>() = -normal;
        row.segment<3>(6) = normal;
        const VecX answer = lu_solve(M, row).col(0);
        const VecX wanted = before + (1 + e) * closing / row.dot(answer) * answer;
        EXPECT_LT((velocities_of(world) - wanted).norm(), 2e-4) << solver << e;  // the normal turns within the step
        const double parting = normal.dot(world.velocity("b") - world.velocity("a"));
        EXPECT_NEAR(parting, e * closing, 2e-4) << solver << e;
      }
      EXPECT_TRUE(met) << solver;
      const Diagnostics end = world.diagnostics();
      EXPECT_LT((end.linear_momentum - start.linear_momentum).norm(), 1e-8) << solver << e;
      EXPECT_LE(end.energy(), start.energy() * (1 + 1e-8)) << solver << e;
    }
}

TEST(CoupledMass, ContactsByAccelerationsKeepMomentumAndEnergy) {
  for (const double e : {0.5, 1.0}) {
    Recipe recipe = coupled_recipe("dormand_prince", 5e-3);
    set(recipe, "contacts", "cone");
    World world(meeting(e), recipe);
    const Diagnostics start = world.diagnostics();
    run_for(world, 0.5);
    const Diagnostics end = world.diagnostics();
    EXPECT_LT((end.linear_momentum - start.linear_momentum).norm(), 1e-8);
    EXPECT_LT((end.angular_momentum - start.angular_momentum).norm(), 1e-8);
    EXPECT_GT((world.velocity("b") - Vec3::Zero()).norm(), 0.05);
    if (e == 1.0) {
      EXPECT_NEAR(end.energy(), start.energy(), 1e-8 * start.energy());
    } else {
      EXPECT_LT(end.energy(), start.energy());
    }
  }
}

TEST(CoupledMass, WhatTouchesOneMovesTheOther) {
  // A third ball, outside of the water, hits a from behind: b is set moving in the same step.
  Scene scene = meeting(0);
  scene.bodies[0].velocity.setZero();
  scene.bodies[0].position = {-1, 0, 0};
  scene.add({.name = "c", .mass = 3.0, .position = {-1.2, 0, 0}, .velocity = {1, 0, 0}, .shape = Sphere{0.1}, .material = "m"});
  Recipe recipe = recipes::balanced();
  recipe.dt = 1e-3;
  World world(scene, recipe);
  const MatX M = dense_mass(world);
  VecX row = VecX::Zero(18);
  row[0] = 1;
  row[12] = -1;
  const VecX answer = lu_solve(M, row).col(0);
  VecX wanted = velocities_of(world);
  wanted += 1 / row.dot(answer) * answer;
  world.step();
  EXPECT_LT((velocities_of(world) - wanted).norm(), 1e-6);
  EXPECT_GT(std::abs(world.velocity("b").x()), 0.01);
}

TEST(CoupledMass, ADockTakesWhatItsWallsGive) {
  // Axes of a body that does not move: energy stays, the books' supports have all of the rest.
  Chance chance(12);
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "dock", .fixed = true, .orientation = chance.turn()});
  for (const char* name : {"a", "b"}) scene.add(tumbler(name, chance));
  scene.add(coupled({"dock", "a", "b"}, chance.mass(18, 2)));
  Recipe recipe = coupled_recipe("dormand_prince_8", 5e-3);
  World world(scene, recipe);
  const Diagnostics before = world.diagnostics();
  run_for(world, 1);
  const Diagnostics after = world.diagnostics();
  EXPECT_NEAR(after.energy(), before.energy(), 1e-10 * before.energy());
  EXPECT_GT((after.angular_momentum - before.angular_momentum).norm(), 1e-3);
  EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-10 * before.linear_momentum.norm());
}

TEST(CoupledMass, FluidThatSpeedsUpTakesBodiesOfItsDensityAlong) {
  Scene scene;
  scene.gravity.setZero();
  constexpr double rho = 1000, radius = 0.1, V = 4 * 3.14159265358979323846 / 3 * radius * radius * radius;
  scene.add({.name = "a", .mass = rho * V, .velocity = {1, 0, 0.5}, .shape = Sphere{radius}, .contacts = false});
  scene.add({.name = "b",
             .mass = rho * V,
             .position = {0.3, 0, 0},
             .velocity = {1, 0, 0.5},
             .shape = Sphere{radius},
             .contacts = false});
  scene.add(FlowDef(UniformFlow{.velocity = {"1 + sin(2*t)", "t^2", "0.5*cos(t)"}}));
  scene.add(Buoyancy{.on = "a", .density = rho});
  scene.add(Buoyancy{.on = "b", .density = rho});
  Chance chance(13);
  MatX water = MatX::Zero(12, 12);
  const MatX pushes = chance.mass(6, 3);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) water.block<3, 3>(6 * i, 6 * j) = pushes.block<3, 3>(3 * i, 3 * j);
  scene.add(coupled({"a", "b"}, water));
  for (const char* method : {"rk4", "gauss4"}) {
    World world(scene, coupled_recipe(method, 1e-3));
    run_for(world, 2);
    for (const char* name : {"a", "b"})
      EXPECT_LT((world.velocity(name) - Vec3(1 + std::sin(4), 4, 0.5 * std::cos(2))).norm(), 1e-8) << method;
  }
}

TEST(CoupledMass, AStreamIsAsFluidAtRestToWhoGoesWithIt) {
  Scene still = three_coupled(14), moving = still;
  const Vec3 stream(0.7, -0.4, 0.2);
  moving.add(FlowDef(UniformFlow{.velocity = {0.7, -0.4, 0.2}}));
  for (BodyDef& body : moving.bodies) body.velocity += stream;
  World x(still, coupled_recipe("dormand_prince_8", 5e-3)), y(moving, coupled_recipe("dormand_prince_8", 5e-3));
  run_for(x, 1);
  run_for(y, 1);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_LT((y.position(name) - x.position(name) - stream).norm(), 1e-9);
    EXPECT_LT((y.angular_velocity(name) - x.angular_velocity(name)).norm(), 1e-9);
  }
}

TEST(CoupledMass, PushesOfFlowsHaveTheDerivativesTheySay) {
  Scene scene = three_coupled(15);
  scene.add(FlowDef(
      VortexFlow{.velocity = {1, 0, 0}, .axis = {0, 1, 0.2}, .circulation = 4, .core = 0.5, .count = 2, .spacing = {2, 0, 0.3}}));
  World world(scene);
  const WorldImplementation& w = implementation_of(world);
  ForceScratch scratch;
  const auto force = [&](const State& at) {
    VecX f = VecX::Zero(18);
    add_forces(w.model, at, 0.7, 1, scratch, f);
    return f;
  };
  MatX by_q = MatX::Zero(18, 18), by_u = by_q;
  const auto into = [](MatX& to) {
    return [&to](int row, int column, const Mat3& block) { to.block<3, 3>(3 * row, 3 * column) += block; };
  };
  auto q_sink = into(by_q), u_sink = into(by_u);
  add_force_derivatives(w.model, w.state, 0.7, 0, 1, false, q_sink);
  add_force_derivatives(w.model, w.state, 0.7, 1, 0, false, u_sink);
  constexpr double step = 1e-6;
  for (int k = 0; k < 18; ++k) {
    VecX sigma = VecX::Zero(18);
    sigma[k] = step;
    State more = w.state, less = w.state;
    displace(w.state, sigma, more);
    displace(w.state, -sigma, less);
    EXPECT_LT(((force(more) - force(less)) / (2 * step) - by_q.col(k)).norm(), 1e-5 * by_q.norm()) << k;
    more = less = w.state;
    more.u[k] += step;
    less.u[k] -= step;
    EXPECT_LT(((force(more) - force(less)) / (2 * step) - by_u.col(k)).norm(), 1e-6 * by_u.norm()) << k;
  }
}

TEST(CoupledMass, BooksOfEnergyAndMomentumClose) {
  Scene scene = heaving(0.05, 0);
  for (const char* method : {"rk4", "gauss4"}) {
    Recipe recipe = coupled_recipe(method, 1e-3);
    World world(scene, recipe);
    world.keep_books(true);
    run_for(world, 1);
    const Diagnostics d = world.diagnostics();
    EXPECT_LT(std::abs(d.energy_balance.left_over), 1e-8 * 0.5 * 7850 * 0.05 * 0.05) << method;
  }
}

TEST(CoupledMass, InverseDynamicsFindsTheForcesOfAMotion) {
  // Driven by a torque on its hinge: the forces that the resulting accelerations need are that torque and the joint's own.
  Scene scene = three_coupled(16);
  scene.add(Hinge{.name = "hinge",
                  .between = {"world", "b"},
                  .at = scene.bodies[1].position + Vec3(0.5, -0.2, 0.3),
                  .axis = {0.3, 1, 0.2},
                  .drive = {.motor_torque = 2.5}});
  World world(scene, coupled_recipe("rk4", 1e-3));
  world.project();
  for (const bool by_rows : {false, true}) {
    const InverseForces forces = InverseDynamics(world, {.actuators = {}, .by_rows = by_rows}).solve(motion_of(world));
    ASSERT_EQ(forces.drives.size(), 1u);
    EXPECT_NEAR(forces.drives[0], 2.5, 1e-8) << by_rows;
    EXPECT_LT(forces.unexplained, 1e-8) << by_rows;
  }
}

TEST(CoupledMass, ComesAndGoesBetweenSteps) {
  Scene bare = three_coupled(17);
  bare.forces.clear();
  bare.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = bare.bodies[1].position});
  Scene full = bare;
  Chance chance(18);
  const CoupledAddedMass water = coupled({"a", "b"}, chance.mass(12, 2));
  full.add(water);
  for (Recipe recipe : {coupled_recipe("rk4", 1e-3), recipes::balanced()}) {
    recipe.dt = 1e-3;
    World later(bare, recipe), there(full, recipe);
    const ForceId id = later.add(ForceDef(water));
    run_for(later, 0.1);
    run_for(there, 0.1);
    EXPECT_LT(difference(later, there), 1e-13);
    later.remove(id);
    const Vec3 v = later.velocity("a");
    later.apply_impulse(later.body("b"), Vec3(1, 2, 3), later.position("b"));
    EXPECT_EQ((later.velocity("a") - v).norm(), 0);
    run_for(later, 0.05);
    later.add(ForceDef(water));
    later.remove(later.body("a"));
    run_for(later, 0.05);
  }
}

TEST(CoupledMass, IsTheSameOnAnyNumberOfThreads) {
  for (Recipe recipe : {coupled_recipe("gauss4", 2e-3), recipes::balanced()}) {
    Scene scene = three_coupled(19);
    scene.add(Ball{.name = "pivot", .between = {"world", "b"}, .at = scene.bodies[1].position});
    recipe.threads = 1;
    World one(scene, recipe);
    recipe.threads = 4;
    World four(scene, recipe);
    run_for(one, 0.2);
    run_for(four, 0.2);
    EXPECT_EQ(difference(one, four), 0);
  }
}

TEST(CoupledMass, ScenesWithItAreReadAndWritten) {
  const Scene scene = three_coupled(20);
  const Scene again = parse_scene(to_json(scene));
  World x(scene, coupled_recipe("rk4", 1e-3)), y(again, coupled_recipe("rk4", 1e-3));
  run_for(x, 0.1);
  run_for(y, 0.1);
  EXPECT_EQ(difference(x, y), 0);
}

TEST(CoupledMass, IsRefusedByNameWhereItIsNotKnown) {
  const auto refusal = [](const Scene& scene, const Recipe& recipe) -> std::string {
    try {
      World world(scene, recipe);
      world.step();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const Scene scene = three_coupled(21);
  EXPECT_NE(refusal(scene, coupled_recipe("rattle", 1e-3)).find("has added mass"), std::string::npos);
  Recipe fast = recipes::realtime();
  fast.stepper = RealtimeStepperSettings{};
  set(fast, "correction", "none");
  set(fast, "solver", "ldlt");
  EXPECT_NE(refusal(scene, fast).find("does not know added mass"), std::string::npos) << refusal(scene, fast);
  Recipe reduced = coupled_recipe("rk4", 1e-3);
  set(reduced, "coordinates", "reduced");
  EXPECT_NE(refusal(scene, reduced).find("has added mass, which trees do not know"), std::string::npos);
  Recipe recursive = coupled_recipe("rk4", 1e-3);
  set(recursive, "solver", "articulated_body");
  EXPECT_NE(refusal(scene, recursive).find("knows no fluid that couples bodies"), std::string::npos);
}

}  // namespace
}  // namespace rotule
