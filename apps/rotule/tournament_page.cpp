#include "tournament_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "problem/features.h"
#include "record/html_page.h"

namespace rotule::app {

namespace {

constexpr std::size_t most_curves = 8;  // colours of a plot

/// One solver over all problems, for one goal.
struct Standing {
  std::string solver;
  std::vector<double> ratios;  // to the fastest, of the problems it solved, rising
  int wins = 0;                // fastest, or within a twentieth of it

  [[nodiscard]] double median() const { return ratios.empty() ? infinity : ratios[ratios.size() / 2]; }
  /// The area under the profile over log tau up to 100: one number for speed and reliability together.
  [[nodiscard]] double area(std::size_t problems) const {
    double sum = 0;
    for (const double ratio : ratios) sum += std::max(0.0, 2 - std::log10(ratio));
    return problems > 0 ? sum / (2 * static_cast<double>(problems)) : 0;
  }
};

/// Standings for one goal, best first, and how many problems anybody solved.
std::vector<Standing> standings(const std::vector<Bout>& bouts, std::size_t goal, std::size_t goals, std::size_t& solved) {
  std::vector<Standing> out;
  solved = 0;
  for (const Trial& trial : bouts.front().trials) out.push_back({.solver = trial.solver, .ratios = {}});
  for (const Bout& bout : bouts) {
    const double best = fastest(bout, goals)[goal];
    if (!(best < infinity)) continue;
    ++solved;
    for (std::size_t j = 0; j < out.size(); ++j) {
      const Trial& trial = bout.trials[j];
      if (!shortfall(trial, goal).empty()) continue;
      out[j].ratios.push_back(std::max(1.0, trial.attempts[goal].seconds / best));
      out[j].wins += out[j].ratios.back() <= 1.05 ? 1 : 0;
    }
  }
  for (Standing& one : out) std::sort(one.ratios.begin(), one.ratios.end());
  std::stable_sort(out.begin(), out.end(), [&](const Standing& a, const Standing& b) { return a.area(solved) > b.area(solved); });
  return out;
}

std::string cell(const std::string& text) { return fmt::format("<td class=\"number\">{}</td>", markup_escaped(text)); }

std::string number_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Who won, in words, for one goal.
std::string verdict(const std::vector<Standing>& all, double goal, std::size_t solved) {
  if (solved == 0) return fmt::format("<p>Nobody reached {:.0e} on any problem.</p>", goal);
  const Standing& first = all.front();
  const auto& most =
      *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ratios.size() < b.ratios.size(); });
  const auto& quick = *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.wins < b.wins; });
  std::string out = fmt::format(
      "<p>To {:.0e}: <b>{}</b> does best all in all: it solves {} of the {} problems that anybody solves, in {:.1f} times the "
      "time of the fastest (median).",
      goal, markup_escaped(first.solver), first.ratios.size(), solved, first.median());
  if (quick.solver != first.solver)
    out += fmt::format(" The fastest most often is <b>{}</b>, on {} of them.", markup_escaped(quick.solver), quick.wins);
  if (most.ratios.size() > first.ratios.size())
    out += fmt::format(" The most reliable is <b>{}</b>, with {} solved.", markup_escaped(most.solver), most.ratios.size());
  return out + "</p>\n";
}

std::string standings_table(const std::vector<Standing>& all, std::size_t solved) {
  std::string out =
      "<table class=\"numbers\"><tr><th>solver</th><th class=\"number\">solved</th><th class=\"number\">fastest</th><th "
      "class=\"number\">times fastest, median</th><th class=\"number\">worst</th></tr>\n";
  for (const Standing& one : all) {
    const bool none = one.ratios.empty();
    const char* grade = one.ratios.size() == solved ? "good" : 2 * one.ratios.size() >= solved ? "fair" : "bad";
    out += fmt::format("<tr><td>{}</td><td class=\"number {}\">{} of {}</td>{}{}{}</tr>\n", markup_escaped(one.solver), grade,
                       one.ratios.size(), solved, cell(one.wins > 0 ? std::to_string(one.wins) : ""),
                       cell(none ? "" : fmt::format("{:.1f}", one.median())),
                       cell(none ? "" : fmt::format("{:.0f}", one.ratios.back())));
  }
  return out + "</table>\n";
}

std::string problems_table(const std::vector<Bout>& bouts, const std::vector<double>& goals) {
  std::string out = "<table class=\"numbers\"><tr><th>problem</th>";
  for (const char* quantity : {"rows", "contacts", "per body", "mass ratio", "coupling"})
    out += fmt::format("<th class=\"number\" style=\"width:auto\">{}</th>", quantity);
  out += "<th>fastest to each</th></tr>\n";
  FeatureFinder finder;
  for (const Bout& bout : bouts) {
    const ProblemFeatures f = finder.find(bout.problem->problem);
    std::string winners;
    for (std::size_t k = 0; k < goals.size(); ++k) {
      const double best = fastest(bout, goals.size())[k];
      std::string who = "nobody";
      for (const Trial& trial : bout.trials)
        if (best < infinity && shortfall(trial, k).empty() && trial.attempts[k].seconds == best)
          who = best < 1e-3 ? fmt::format("{} in {:.3g} µs", trial.solver, 1e6 * best)
                            : fmt::format("{} in {:.3g} ms", trial.solver, 1e3 * best);
      winners += fmt::format("{}{:.0e}: {}", k > 0 ? "<br>" : "", goals[k], markup_escaped(who));
    }
    out += fmt::format("<tr><td>{}</td>{}{}{}{}{}<td style=\"white-space:nowrap\">{}</td></tr>\n",
                       markup_escaped(file_name(bout.problem->name)), cell(fmt::format("{}", f.rows)),
                       cell(fmt::format("{}", f.contacts)), cell(f.bodies > 0 ? fmt::format("{:.1f}", f.contacts_per_body) : ""),
                       cell(f.bodies > 0 ? fmt::format("{:.3g}", f.mass_ratio) : ""), cell(fmt::format("{:.1f}", f.coupling)),
                       winners);
  }
  return out + "</table>\n";
}

}  // namespace

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string shortfall(const Trial& trial, std::size_t k) {
  if (k < trial.attempts.size()) return trial.attempts[k].reached ? "" : "not reached";
  return trial.out_of_time ? "out of time" : !trial.refusal.empty() ? "cannot" : "not reached";
}

std::vector<double> fastest(const Bout& bout, std::size_t goals) {
  std::vector<double> out(goals, infinity);
  for (const Trial& trial : bout.trials)
    for (std::size_t k = 0; k < trial.attempts.size(); ++k)
      if (trial.attempts[k].reached) out[k] = std::min(out[k], trial.attempts[k].seconds);
  return out;
}

std::vector<Plot> performance_profiles(const std::vector<Bout>& bouts, const std::vector<double>& goals) {
  std::vector<Plot> plots;
  for (std::size_t k = 0; k < goals.size(); ++k) {
    std::size_t solved = 0;
    std::vector<Standing> all = standings(bouts, k, goals.size(), solved);
    std::erase_if(all, [](const Standing& one) { return one.ratios.empty(); });
    if (all.empty()) continue;
    if (all.size() > most_curves) all.resize(most_curves);
    double farthest = 10;
    for (const Standing& one : all) farthest = std::max(farthest, one.ratios.back());
    Plot plot{
        .title = fmt::format("To a residual of {:.0e}: share of {} solved", goals[k], number_of(solved, "problem", "problems")),
        .x = {"at most so many times the time of the fastest", true},
        .y = {"share of the problems", false},
        .series = {}};
    for (const Standing& one : all) {
      PlotSeries series{.name = one.solver, .x = {}, .y = {}};
      double share = 0;
      const auto step_to = [&](double ratio, double next) {
        series.x.insert(series.x.end(), {ratio, ratio});
        series.y.insert(series.y.end(), {share, next});
        share = next;
      };
      for (std::size_t i = 0; i < one.ratios.size(); ++i)
        step_to(one.ratios[i], static_cast<double>(i + 1) / static_cast<double>(solved));
      step_to(1.1 * farthest, share);
      plot.series.push_back(std::move(series));
    }
    plots.push_back(std::move(plot));
  }
  return plots;
}

std::string tournament_page(const std::vector<Bout>& bouts, const std::vector<double>& goals, double limit) {
  const std::size_t solvers = bouts.front().trials.size();
  std::string body = fmt::format("<h1>A tournament of solvers</h1>\n<p class=\"quiet\">{} on {}, each for at most {} s.</p>\n",
                                 number_of(solvers, "solver", "solvers"), number_of(bouts.size(), "problem", "problems"), limit);
  body += "<h2>Who won</h2>\n";
  std::string tables;
  const std::vector<Plot> plots = performance_profiles(bouts, goals);
  for (std::size_t k = 0; k < goals.size(); ++k) {
    std::size_t solved = 0;
    const std::vector<Standing> all = standings(bouts, k, goals.size(), solved);
    body += verdict(all, goals[k], solved);
    tables +=
        fmt::format("<details><summary>All solvers, to {:.0e}</summary>\n{}</details>\n", goals[k], standings_table(all, solved));
  }
  body +=
      "<h2>Performance profiles</h2>\n<p>How to read them (Dolan and Moré 2002): a curve's height at 1 is how often its solver "
      "is the fastest; at 10, how many problems it solves within ten times the time of the fastest; at the right, how many it "
      "solves at all. Higher is better, and further left is faster. The eight best solvers are drawn.</p>\n";
  for (const Plot& plot : plots) body += to_figure(plot);
  body += "<h2>Standings</h2>\n" + tables;
  body +=
      "<h2>The problems</h2>\n<p class=\"quiet\">Contacts per body: how many touch each body that moves. Mass ratio: the largest "
      "between two bodies that a constraint ties. Coupling: the largest eigenvalue of A with its diagonal scaled to 1; 1 where "
      "constraints do not feel each other.</p>\n" +
      problems_table(bouts, goals);
  body +=
      "<h2>How it was measured</h2>\n<p>Each solver starts from nothing on each problem and goal, in a process of its own; the "
      "time "
      "is that of the faster of two solves, assembly included, the second with the problem's structure known, as it is from "
      "step to step in a simulation. A goal counts as reached where one judge, the same for all, says so of the x that was "
      "returned: the largest, over all rows, of the velocity that is wrong over the velocity that is at stake.</p>\n";
  return html_page("A tournament of solvers", body);
}

}  // namespace rotule::app
