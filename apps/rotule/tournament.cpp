// rotule tournament: every solver on every recorded problem: iterations and time to each error.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "progress.h"
#include "record/json_text.h"
#include "recorded.h"

namespace rotule::app {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// Why the goal with index k was missed; empty where it was reached.
std::string shortfall(const Trial& trial, std::size_t k) {
  if (k < trial.attempts.size()) return trial.attempts[k].reached ? "" : "not reached";
  return trial.out_of_time ? "out of time" : !trial.refusal.empty() ? "cannot" : "not reached";
}

struct Bout {
  const NamedProblem* problem;
  std::vector<Trial> trials;  // one per solver
};

/// One problem: who reached which goal, after how many iterations, in how many milliseconds.
std::string table_of(const Bout& bout, const std::vector<double>& goals) {
  std::string text =
      fmt::format("{}: {} rows\n  {:<22}", file_name(bout.problem->name), bout.problem->problem.rows(), "iterations, ms");
  for (const double goal : goals) text += fmt::format(" {:>20.0e}", goal);
  text += "\n";
  for (const Trial& trial : bout.trials) {
    text += fmt::format("  {:<22}", trial.solver);
    for (std::size_t k = 0; k < goals.size(); ++k) {
      const std::string why = shortfall(trial, k);
      text += why.empty() ? fmt::format(" {:>9} {:>10.3f}", trial.attempts[k].iterations, 1e3 * trial.attempts[k].seconds)
                          : fmt::format(" {:>20}", why);
    }
    text += "\n";
  }
  return text;
}

/// All problems: how many each solver solved, and how many times longer than the fastest it took where it did (median).
std::string summary(const std::vector<Bout>& bouts, const std::vector<NamedSolver>& solvers, const std::vector<double>& goals) {
  std::vector<std::vector<double>> fastest(bouts.size(), std::vector<double>(goals.size(), infinity));
  for (std::size_t i = 0; i < bouts.size(); ++i)
    for (const Trial& trial : bouts[i].trials)
      for (std::size_t k = 0; k < trial.attempts.size(); ++k)
        if (trial.attempts[k].reached) fastest[i][k] = std::min(fastest[i][k], trial.attempts[k].seconds);

  std::string text = fmt::format("all {} problems\n  {:<22}", bouts.size(), "solved, times fastest");
  for (const double goal : goals) text += fmt::format(" {:>20.0e}", goal);
  for (std::size_t j = 0; j < solvers.size(); ++j) {
    text += fmt::format("\n  {:<22}", solvers[j].name);
    for (std::size_t k = 0; k < goals.size(); ++k) {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < bouts.size(); ++i) {
        const Trial& trial = bouts[i].trials[j];
        if (shortfall(trial, k).empty()) ratios.push_back(trial.attempts[k].seconds / fastest[i][k]);
      }
      std::sort(ratios.begin(), ratios.end());
      text +=
          fmt::format(" {:>9} {:>10}", ratios.size(), ratios.empty() ? "-" : fmt::format("{:.1f}", ratios[ratios.size() / 2]));
    }
  }
  text += fmt::format("\n  {:<22}", "at least one");
  for (std::size_t k = 0; k < goals.size(); ++k)
    text += fmt::format(" {:>9} {:>10}",
                        std::count_if(fastest.begin(), fastest.end(), [&](const auto& f) { return f[k] < infinity; }), "");
  return text + "\n";
}

Json to_json(const std::vector<Bout>& bouts, const std::vector<double>& goals) {
  Json results = Json::array();
  for (const Bout& bout : bouts)
    for (const Trial& trial : bout.trials)
      for (std::size_t k = 0; k < goals.size(); ++k) {
        const std::string why = shortfall(trial, k);
        Json row = {{"problem", bout.problem->name},
                    {"rows", bout.problem->problem.rows()},
                    {"solver", trial.solver},
                    {"goal", goals[k]},
                    {"reached", why.empty()}};
        if (k < trial.attempts.size()) {
          row["residual"] = trial.attempts[k].residual;
          row["iterations"] = trial.attempts[k].iterations;
          row["seconds"] = trial.attempts[k].seconds;
        }
        if (!why.empty()) row["reason"] = why == "cannot" ? trial.refusal : why;
        results.push_back(std::move(row));
      }
  return {{"results", results}};
}

std::string to_csv(const std::vector<Bout>& bouts, const std::vector<double>& goals) {
  std::string csv = "problem,rows,solver,goal,reached,residual,iterations,seconds\n";
  for (const Bout& bout : bouts)
    for (const Trial& trial : bout.trials)
      for (std::size_t k = 0; k < goals.size(); ++k) {
        csv += fmt::format("{},{},{},{},{},", bout.problem->name, bout.problem->problem.rows(), trial.solver, goals[k],
                           shortfall(trial, k).empty() ? 1 : 0);
        if (k < trial.attempts.size()) {
          const Attempt& a = trial.attempts[k];
          csv += fmt::format("{},{},{}\n", a.residual, a.iterations, a.seconds);
        } else {
          csv += ",,\n";
        }
      }
  return csv;
}

}  // namespace

bool tournament(const TournamentOptions& options) {
  const std::vector<double> goals =
      goals_from(options.goals.empty() ? std::vector<double>{1e-2, 1e-4, 1e-6, 1e-8} : options.goals);
  const std::vector<std::string> names = options.solvers.empty() ? std::vector<std::string>{"all"} : options.solvers;
  const std::vector<NamedSolver> solvers = solvers_by_name(names, options.settings);
  std::vector<NamedProblem> problems;
  std::vector<std::string> left_out;
  for (const std::string& file : options.files) {
    try {
      for (NamedProblem& problem : read_some_problems(file, options.frames)) problems.push_back(std::move(problem));
    } catch (const Error& error) {
      left_out.emplace_back(error.what());
    }
  }
  if (problems.empty()) throw Error(left_out.front());

  std::vector<Bout> bouts;
  std::string text;
  ProgressBar bar(static_cast<std::int64_t>(problems.size() * solvers.size()), true, "trial");
  for (const NamedProblem& named : problems) {
    Bout& bout = bouts.emplace_back(Bout{.problem = &named, .trials = {}});
    for (const NamedSolver& solver : solvers) {
      bar.at(static_cast<std::int64_t>((bouts.size() - 1) * solvers.size() + bout.trials.size()));
      bout.trials.push_back(measure(named.problem, solver, goals, options.limit));
    }
    text += table_of(bout, goals) + "\n";
  }
  if (!options.csv.empty()) write_text_file(options.csv, to_csv(bouts, goals));
  Json json = to_json(bouts, goals);
  if (!left_out.empty()) json["left_out"] = left_out;
  print(options.json ? json.dump(2) + "\n" : text + summary(bouts, solvers, goals));
  for (std::string& why : left_out) complain("left out: " + why);
  return left_out.empty();
}

}  // namespace rotule::app
