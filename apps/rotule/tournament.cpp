// rotule tournament: every solver on every recorded problem: iterations and time to each error.
#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "recorded.h"

namespace rotule::app {
namespace {

/// One line on a terminal, rewritten; nothing elsewhere.
void show_progress(std::size_t done, std::size_t total, const std::string& what) {
  if (::isatty(STDERR_FILENO) != 1) return;
  constexpr std::size_t width = 30;
  const std::size_t full = width * done / total;
  std::fprintf(stderr, "\r[%s%s] %-40.40s", std::string(full, '#').c_str(), std::string(width - full, '.').c_str(),
               done < total ? what.c_str() : "");
  if (done == total) std::fprintf(stderr, "\r%76s\r", "");
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

void tournament(const TournamentOptions& options) {
  const std::vector<double> goals =
      goals_from(options.goals.empty() ? std::vector<double>{1e-2, 1e-4, 1e-6, 1e-8} : options.goals);
  const std::vector<std::string> names = options.solvers.empty() ? std::vector<std::string>{"all"} : options.solvers;
  const std::vector<SolverSettings> solvers = solvers_by_name(names, options.settings);
  std::vector<NamedProblem> problems;
  for (const std::string& file : options.files)
    for (NamedProblem& problem : read_some_problems(file, options.frames)) problems.push_back(std::move(problem));

  Json results = Json::array();
  std::string text, csv = "problem,rows,solver,goal,reached,residual,iterations,seconds\n";
  std::vector<int> solved(goals.size(), 0);
  std::size_t done = 0;
  for (const NamedProblem& named : problems) {
    text += fmt::format("{}: {} rows\n  {:<20}", file_name(named.name), named.problem.rows(), "iterations, ms");
    for (const double goal : goals) text += fmt::format(" {:>20.0e}", goal);
    text += "\n";
    std::vector<bool> anyone(goals.size(), false);
    for (const SolverSettings& solver : solvers) {
      const std::string name(std::visit([](const auto& settings) { return settings.name; }, solver));
      show_progress(done++, problems.size() * solvers.size(), name + " on " + file_name(named.name));
      const Trial trial = measure(named.problem, solver, goals, options.limit);
      text += fmt::format("  {:<20}", trial.solver);
      for (std::size_t k = 0; k < goals.size(); ++k) {
        const bool tried = k < trial.attempts.size(), reached = tried && trial.attempts[k].reached;
        Json row = {{"problem", named.name},
                    {"rows", named.problem.rows()},
                    {"solver", trial.solver},
                    {"goal", goals[k]},
                    {"reached", reached}};
        if (reached) {
          const Attempt& a = trial.attempts[k];
          anyone[k] = true;
          row["residual"] = a.residual;
          row["iterations"] = a.iterations;
          row["seconds"] = a.seconds;
          text += fmt::format(" {:>9} {:>10.3f}", a.iterations, 1e3 * a.seconds);
          csv += fmt::format("{},{},{},{},1,{},{},{}\n", named.name, named.problem.rows(), trial.solver, goals[k], a.residual,
                             a.iterations, a.seconds);
        } else {
          const std::string why = tried                    ? "not reached"
                                  : trial.out_of_time      ? "out of time"
                                  : !trial.refusal.empty() ? "cannot"
                                                           : "not reached";
          row["reason"] = !tried && !trial.refusal.empty() ? trial.refusal : why;
          if (tried) row["residual"] = trial.attempts[k].residual;
          text += fmt::format(" {:>20}", why);
          csv += fmt::format("{},{},{},{},0,{},,\n", named.name, named.problem.rows(), trial.solver, goals[k],
                             tried ? fmt::format("{}", trial.attempts[k].residual) : "");
        }
        results.push_back(std::move(row));
      }
      text += "\n";
    }
    for (std::size_t k = 0; k < goals.size(); ++k) solved[k] += anyone[k] ? 1 : 0;
  }
  show_progress(1, 1, "");
  for (std::size_t k = 0; k < goals.size(); ++k)
    text += fmt::format("{:.0e}: {} of {} problems solved by at least one\n", goals[k], solved[k], problems.size());

  if (!options.csv.empty()) {
    std::ofstream file(options.csv);
    if (!(file << csv) || !file.flush()) throw Error(options.csv, "cannot be written");
  }
  print(options.json ? Json{{"results", results}}.dump(2) + "\n" : text);
}

}  // namespace rotule::app
