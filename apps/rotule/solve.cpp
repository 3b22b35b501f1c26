// rotule solve: a recorded problem, solved again by any solver without the scene (D6).
#include <fmt/format.h>
#include <rotule/error.h>

#include "recorded.h"

namespace rotule::app {

void solve_recorded(const SolveOptions& options) {
  const NamedProblem named = read_named_problem(options.file, options.frame, options.island);
  const std::vector<std::string> names = options.solvers.empty() ? std::vector<std::string>{"prox_newton"} : options.solvers;
  const std::vector<NamedSolver> solvers = solvers_by_name(names, options.settings);
  std::vector<double> goals = goals_from(options.goals);
  if (goals.empty()) goals.push_back(0);

  Json rows = Json::array();
  std::string text = fmt::format("{}: {} rows, {} blocks, {} groups of friction\n{:<20} {:>9} {:>12} {:>12} {:>10} {:>10}\n",
                                 named.name, named.problem.rows(), named.problem.blocks.size(), named.problem.friction.size(),
                                 "solver", "goal", "residual", "natural map", "iterations", "ms");
  for (const NamedSolver& solver : solvers) {
    const Trial trial = measure(named.problem, solver, goals, options.limit);
    for (const Attempt& a : trial.attempts) {
      rows.push_back({{"solver", trial.solver},
                      {"goal", a.goal > 0 ? Json(a.goal) : Json()},
                      {"residual", a.residual},
                      {"natural_map", a.natural_map},
                      {"sum", a.sum},
                      {"max", a.max},
                      {"iterations", a.iterations},
                      {"seconds", a.seconds},
                      {"reached", a.reached}});
      text += fmt::format("{:<20} {:>9} {:>12.3e} {:>12.3e} {:>10} {:>10.3f}{}\n", trial.solver,
                          a.goal > 0 ? fmt::format("{:.0e}", a.goal) : "own", a.residual, a.natural_map, a.iterations,
                          1e3 * a.seconds, a.reached ? "" : "  not reached");
    }
    const std::string end = trial.out_of_time        ? fmt::format("out of time after {} s", options.limit)
                            : !trial.refusal.empty() ? trial.refusal
                                                     : std::string();
    if (end.empty()) continue;
    rows.push_back({{"solver", trial.solver}, {"reached", false}, {"reason", end}});
    text += fmt::format("{:<20} {}\n", trial.solver, end);
  }
  if (options.json)
    print(Json{{"problem", named.name}, {"rows", named.problem.rows()}, {"results", rows}}.dump(2) + "\n");
  else
    print(text);
}

}  // namespace rotule::app
