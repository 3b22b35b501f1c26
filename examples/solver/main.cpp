#include <rotule/solve.h>
#include <rotule/world.h>

#include <cstdio>
#include <vector>

int main() {
  using namespace rotule;
  Scene scene;
  scene.materials = {{.name = "wood", .friction = 0.5}};
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wood"});
  for (int i = 0; i < 5; ++i) scene.add({.mass = 2.0, .position = {0, 0, 0.5 + i}, .shape = Box{}, .material = "wood"});
  World world(scene, recipes::realtime());
  world.keep_problems(true);
  world.step(1.0 / 60);

  // The tower's equations and inequalities of that step, by other solvers: impulses that hold five boxes of 2 kg.
  const ConstraintProblem& problem = world.problem(0);
  std::vector<double> x(problem.rows());
  for (const char* name : {"prox_newton", "nncg"}) {
    Solver solver(solver_named(name));
    const SolveReport& report = solver.solve(problem, x);
    double weight = 0;  // what the ground's four contacts carry, in newtons
    for (const ConstraintBlock& block : problem.blocks)
      if (block.body_a < 0 || block.body_b < 0) weight += x[block.first_row] / problem.h;
    std::printf("%.*s: %d rows, %s, the ground carries %.1f N\n", int(report.solver.size()), report.solver.data(), problem.rows(),
                residual(problem, x).scale_free < 1e-6 ? "solved" : "not solved", weight);
  }
}
