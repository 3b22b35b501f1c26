// Solvers for users (rotule/solve.h): the same answers as inside a world, and refusals that say why.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solve.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/sor.h>
#include <rotule/world.h>

#include "model/solver_list.h"
#include "support/problem_builders.h"

namespace rotule {
namespace {

/// One step of a tower of three boxes, and of a chain of three links.
World stepped(bool tower) {
  Scene scene;
  if (tower) {
    scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
    for (int i = 0; i < 3; ++i) scene.add({.mass = 1.0, .position = {0, 0, 0.5 + i}, .shape = Box{}});
  } else {
    for (int i = 0; i < 3; ++i) {
      scene.add({.name = "link_" + std::to_string(i), .mass = 1.0, .position = {0.5 + i, 0, 0}, .shape = Box{{1, 0.1, 0.1}}});
      scene.add(Ball{.between = {i == 0 ? "world" : scene.bodies[i - 1].name, scene.bodies[i].name}, .at = {double(i), 0, 0}});
    }
  }
  World world(scene, tower ? recipes::realtime() : recipes::exact());
  world.keep_problems(true);
  world.step(1.0 / 60);
  return world;
}

TEST(Solver, GivesTheAnswerOfTheStep) {
  const World world = stepped(false);
  const ConstraintProblem& problem = world.problem(0);
  std::vector<double> x(problem.rows());
  for (const char* name : {"ldlt", "dense_ldlt", "articulated_body", "cg", "auto"}) {
    const SolveReport report = solve(problem, solver_named(name), x);
    EXPECT_TRUE(report.converged) << name;
    for (int i = 0; i < problem.rows(); ++i) EXPECT_NEAR(x[i], world.multipliers(0)[i], 1e-9) << name;
  }
}

TEST(Solver, KeepsItsMemoryFromCallToCall) {
  const World world = stepped(true);
  ConstraintProblem problem = world.problem(0);
  Solver solver(NncgSettings{.tolerance = 1e-10});
  std::vector<double> x(problem.rows()), again(problem.rows());
  EXPECT_TRUE(solver.solve(problem, x).converged);
  EXPECT_EQ(solver.solve(problem, again).solver, "nncg");
  EXPECT_EQ(x, again);
  problem.b *= 2;
  solver.solve(problem, again);
  EXPECT_LT(residual(problem, again).scale_free, 1e-9);
  Solver moved = std::move(solver);
  EXPECT_TRUE(moved.solve(problem, x).converged);
}

TEST(Solver, SaysWhyItCannot) {
  const World world = stepped(true);
  const ConstraintProblem& tower = world.problem(0);
  std::vector<double> x(tower.rows()), short_of_one(tower.rows() - 1);
  const auto message = [](auto&& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(why_not(tower, solver_named("ldlt")), "knows no bounds");
  EXPECT_EQ(why_not(tower, solver_named("lemke")), "knows no cones");
  EXPECT_EQ(why_not(tower, solver_named("prox_newton")), "");
  EXPECT_EQ(message([&] { solve(tower, solver_named("ldlt"), x); }),
            "solve: this solver knows no bounds; `auto` takes every problem");
  EXPECT_NE(message([&] { solve(tower, solver_named("nncg"), short_of_one); }).find("x must have a number for each"),
            std::string::npos);
  EXPECT_NE(message([&] { Solver(SorSettings{.relaxation = 3}); }).find("/solver/relaxation: must be"), std::string::npos);
  EXPECT_NE(message([] { solver_named("ldtl"); }).find("did you mean \"ldlt\"?"), std::string::npos);
  ConstraintProblem broken = tower;
  broken.blocks[0].body_b = 99;
  EXPECT_NE(message([&] { solve(broken, solver_named("nncg"), x); }), "no error");
}

}  // namespace
}  // namespace rotule
