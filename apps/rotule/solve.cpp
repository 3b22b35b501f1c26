// rotule solve: a recorded problem, solved again by any solver without the scene (D6).
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/solve.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "record/fclib_file.h"
#include "record/json_text.h"
#include "record/svg_plot.h"
#include "recorded.h"
#include "signals.h"
#include "solve/solve.h"

namespace rotule::app {
namespace {

/// Solves once more, here, for at most the time that a solver has, and keeps the best x; returns its residual.
double write_answer(const SolveOptions& options, const ConstraintProblem& problem, const NamedSolver& solver, double goal) {
  if (const std::string why = why_not(problem, solver.settings); !why.empty())
    throw Error(fmt::format("--write: {} {}", solver.name, why));
  SolverChoice chosen = solver.settings;
  if (auto* tolerance = chosen.find<double>("tolerance"); tolerance != nullptr && goal > 0) *tolerance = goal;
  std::vector<double> answer(static_cast<std::size_t>(problem.rows()), 0.0);
  Workspace workspace;
  SolveReport report;
  {
    const Budget in_time(signal_bell(), options.limit);
    const SolveBudget one_solve;
    solve(problem, chosen, workspace, answer, report);
  }
  if (is_fclib_file(options.file)) {
    write_fclib_solution(options.file, options.write, problem, answer);
  } else {
    const RecordedProblem recorded = read_problem(options.file, options.frame, options.island);
    ProblemWriter out(options.write, "", "", {});
    out.append(options.frame, recorded.time, options.island, recorded.problem, answer);
    out.finish();
  }
  return residual(problem, answer).relative;
}

/// How the residual falls with iterations and time: one solver cut off after more and more of them, each time anew, until it is
/// done or its time is up. One that takes no bound of iterations gives one point.
struct Curve {
  std::string solver;
  std::vector<double> iterations, milliseconds, residual;
};

double cpu_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

Curve curve_of(const ConstraintProblem& problem, const NamedSolver& solver, double goal, double limit) {
  using SteadyClock = std::chrono::steady_clock;
  constexpr double worth_repeating = 100;  // ms
  Curve out{.solver = std::string(solver.name), .iterations = {}, .milliseconds = {}, .residual = {}};
  if (!why_not(problem, solver.settings).empty()) return out;
  SolverChoice chosen = solver.settings;
  if (auto* tolerance = chosen.find<double>("tolerance"); tolerance != nullptr && goal > 0) *tolerance = goal;
  int* const bound = chosen.find<int>("max_iterations");
  const int most = bound != nullptr ? *bound : 1;
  std::vector<double> x(static_cast<std::size_t>(problem.rows()));
  Workspace workspace;
  SolveReport report;
  const Budget in_time(signal_bell(), limit);
  const SolveBudget one_solve;
  const auto start = SteadyClock::now();
  for (int count = 1; count <= most; count = std::max(count + 1, count * 5 / 4)) {
    if (bound != nullptr) *bound = count;
    double least = infinity;  // ms of CPU, of the faster of two where they are short
    for (int again = 0; again < 2; ++again) {
      const double before = cpu_milliseconds();
      solve(problem, chosen, workspace, x, report);
      least = std::min(least, cpu_milliseconds() - before);
      if (least > worth_repeating) break;
    }
    if (out.iterations.empty() || report.iterations > out.iterations.back()) {
      out.iterations.push_back(report.iterations);
      out.milliseconds.push_back(least);
      out.residual.push_back(residual(problem, x).scale_free);
    }
    if (report.converged || std::chrono::duration<double>(SteadyClock::now() - start).count() > limit) break;
  }
  return out;
}

std::string curves_svg(const std::string& name, const std::vector<Curve>& curves) {
  Plot by_iterations{.title = name, .x = {"iterations", true}, .y = {"residual", true}, .series = {}}, by_time = by_iterations;
  by_time.title = "";
  by_time.x.label = "CPU time [ms]";
  for (const Curve& curve : curves) {
    if (curve.iterations.empty()) continue;
    const bool alone = curve.iterations.size() == 1;
    by_iterations.series.push_back({curve.solver, curve.iterations, curve.residual, alone});
    by_time.series.push_back({curve.solver, curve.milliseconds, curve.residual, alone});
  }
  return to_svg(std::vector<Plot>{by_iterations, by_time});
}

}  // namespace

void solve_recorded(const SolveOptions& options) {
  const NamedProblem named = read_named_problem(options.file, options.frame, options.island);
  const std::vector<std::string> names = options.solvers.empty() ? std::vector<std::string>{"prox_newton"} : options.solvers;
  const std::vector<NamedSolver> solvers = solvers_by_name(names, options.settings);
  if (!options.write.empty()) {
    require_other_file(options.write, options.file);
    if (solvers.size() != 1) throw Error("--write: keeps one answer; give one solver");
  }
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
  Json result = {{"problem", named.name}, {"rows", named.problem.rows()}, {"results", rows}};
  if (!options.write.empty()) {
    const double reached = write_answer(options, named.problem, solvers.front(), goals.back());
    result["written"] = {{"file", options.write}, {"residual", reached}};
    text += fmt::format("{}: written, at a residual of {:.3e}\n", options.write, reached);
  }
  if (!options.svg.empty()) {
    std::vector<Curve> curves;
    for (const NamedSolver& solver : solvers) curves.push_back(curve_of(named.problem, solver, goals.back(), options.limit));
    write_text_file(options.svg, curves_svg(named.name, curves));
  }
  print(options.json ? result.dump(2) + "\n" : text);
}

}  // namespace rotule::app
