// rotule tournament: every solver on every recorded problem: iterations and time to each error.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/text.h"
#include "progress.h"
#include "record/json_text.h"
#include "record/svg_plot.h"
#include "tournament_page.h"

namespace rotule::app {
namespace {

constexpr std::string_view csv_columns = "problem,rows,solver,goal,reached,residual,iterations,seconds";

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
std::string summary(const std::vector<Bout>& bouts, const std::vector<double>& goals) {
  std::vector<std::vector<double>> best;
  for (const Bout& bout : bouts) best.push_back(fastest(bout, goals.size()));

  std::string text = fmt::format("all {} problems\n  {:<22}", bouts.size(), "solved, times fastest");
  for (const double goal : goals) text += fmt::format(" {:>20.0e}", goal);
  for (std::size_t j = 0; j < bouts.front().trials.size(); ++j) {
    text += fmt::format("\n  {:<22}", bouts.front().trials[j].solver);
    for (std::size_t k = 0; k < goals.size(); ++k) {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < bouts.size(); ++i) {
        const Trial& trial = bouts[i].trials[j];
        if (shortfall(trial, k).empty()) ratios.push_back(trial.attempts[k].seconds / best[i][k]);
      }
      std::sort(ratios.begin(), ratios.end());
      text +=
          fmt::format(" {:>9} {:>10}", ratios.size(), ratios.empty() ? "-" : fmt::format("{:.1f}", ratios[ratios.size() / 2]));
    }
  }
  text += fmt::format("\n  {:<22}", "at least one");
  for (std::size_t k = 0; k < goals.size(); ++k)
    text +=
        fmt::format(" {:>9} {:>10}", std::count_if(best.begin(), best.end(), [&](const auto& f) { return f[k] < infinity; }), "");
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
  std::string csv = std::string(csv_columns) + "\n";
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

/// A problem's name without folders and the file's ending.
std::string stem(const std::string& name) {
  std::string out = file_name(name);
  for (const char* ending : {".hdf5", ".h5"})
    if (const auto at = out.find(ending); at != out.npos) out.erase(at, std::string_view(ending).size());
  return out;
}

/// Contestants that were measured elsewhere, of another program, say: a table with the columns of --csv. Problems are told by
/// the names of their files, goals by their numbers; what is not in this tournament is passed over.
void join_others(const std::string& path, const std::vector<double>& goals, std::vector<Bout>& bouts) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line) || !line.starts_with(csv_columns))
    throw Error(path, fmt::format("must be a table with the columns {}", csv_columns));
  const std::size_t own = bouts.front().trials.size();
  for (int number = 2; std::getline(file, line); ++number) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    const auto refuse = [&] { throw Error(path, fmt::format("line {} has other columns than {}", number, csv_columns)); };
    if (cells.size() != 8) refuse();
    const std::optional<double> goal = to_double(cells[3]), residual = to_double(cells[5]), seconds = to_double(cells[7]);
    if (!goal) refuse();
    const auto k = std::find_if(goals.begin(), goals.end(), [&](double g) { return std::abs(g / *goal - 1) < 1e-6; });
    if (k == goals.end()) continue;
    for (Bout& bout : bouts) {
      auto at = std::find_if(bout.trials.begin() + static_cast<std::ptrdiff_t>(own), bout.trials.end(),
                             [&](const Trial& trial) { return trial.solver == cells[2]; });
      if (at == bout.trials.end()) {
        bout.trials.emplace_back().solver = cells[2];
        at = bout.trials.end() - 1;
        for (const double g : goals) at->attempts.push_back({.goal = g});
      }
      if (stem(bout.problem->name) != stem(cells[0])) continue;
      Attempt& attempt = at->attempts[static_cast<std::size_t>(k - goals.begin())];
      attempt.reached = cells[4] == "1" && seconds && *seconds > 0;
      attempt.seconds = seconds.value_or(0);
      attempt.residual = residual.value_or(-1);
      attempt.iterations = static_cast<int>(to_double(cells[6]).value_or(0));
    }
  }
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
  if (options.open && options.html.empty()) throw Error("--open: shows the page; give --html too");

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
  if (!options.others.empty()) join_others(options.others, goals, bouts);
  if (!options.csv.empty()) write_text_file(options.csv, to_csv(bouts, goals));
  if (!options.svg.empty()) write_text_file(options.svg, to_svg(performance_profiles(bouts, goals)));
  if (!options.html.empty()) write_text_file(options.html, tournament_page(bouts, goals, options.limit));
  if (options.open) show_page(options.html);
  Json json = to_json(bouts, goals);
  if (!left_out.empty()) json["left_out"] = left_out;
  print(options.json ? json.dump(2) + "\n" : text + summary(bouts, goals));
  for (std::string& why : left_out) complain("left out: " + why);
  return left_out.empty();
}

}  // namespace rotule::app
