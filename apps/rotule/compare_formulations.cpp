// rotule compare-formulations (C7): energy lost, joint error and cost of each right-hand side, at equal step and at equal cost.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/formulation_study.h>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/json_text.h"
#include "record/svg_plot.h"

namespace rotule::app {
namespace {

std::string label_of(const FormulationTrial& trial) {
  return trial.stabilised ? trial.formulation + ", stabilised" : trial.formulation;
}

/// Errors against solves, one line per formulation.
std::string to_picture(const std::vector<FormulationTrial>& trials, const std::string& scene) {
  std::vector<Plot> plots;
  for (const bool energy : {true, false}) {
    Plot plot;
    plot.title = fmt::format("{}: {} against cost", scene, energy ? "energy error" : "joint error");
    plot.x = {.label = "constraint systems solved", .logarithmic = true};
    plot.y = {.label = energy ? "largest relative energy error" : "largest joint error [m, rad]", .logarithmic = true};
    for (const FormulationTrial& trial : trials) {
      if (trial.blew_up) continue;
      if (plot.series.empty() || plot.series.back().name != label_of(trial))
        plot.series.push_back({.name = label_of(trial), .x = {}, .y = {}, .markers = true});
      plot.series.back().x.push_back(static_cast<double>(trial.solves));
      plot.series.back().y.push_back(energy ? trial.energy_error : trial.joint_error);
    }
    plots.push_back(std::move(plot));
  }
  return to_svg(plots);
}

}  // namespace

void compare(const CompareOptions& options) {
  const NamedScene named = find_scene(options.scene);
  std::vector<FormulationTrial> trials;
  FormulationStudy study;
  study.dt = options.dt.value_or(0);
  study.duration = options.duration.value_or(0);
  try {
    if (options.dt && !(*options.dt > 0)) throw Error("--dt: must be greater than 0");
    if (options.duration && !(*options.duration > 0)) throw Error("--duration: must be greater than 0");
    trials = compare_formulations(named.scene, study);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  if (!options.svg.empty()) write_text_file(options.svg, to_picture(trials, named.name));
  if (options.json) {
    Json rows = Json::array();
    for (const FormulationTrial& t : trials)
      rows.push_back({{"formulation", t.formulation},
                      {"stabilised", t.stabilised},
                      {"dt", t.dt},
                      {"energy_lost", t.blew_up ? Json() : Json(t.energy_lost)},
                      {"energy_error", t.blew_up ? Json() : Json(t.energy_error)},
                      {"joint_error", t.blew_up ? Json() : Json(t.joint_error)},
                      {"solves", t.solves},
                      {"seconds", t.seconds}});
    return print(Json{{"scene", named.name}, {"rows", rows}}.dump(2) + "\n");
  }
  std::string text =
      fmt::format("{}: formulations compared\n{:<26} {:>10} {:>12} {:>12} {:>12} {:>9} {:>10}\n", shown(named.name),
                  "formulation", "dt [s]", "energy lost", "energy error", "joint error", "solves", "seconds");
  for (const FormulationTrial& t : trials) {
    const std::string start = fmt::format("{:<26} {:>10}", label_of(t), shortest(t.dt));
    text += t.blew_up ? fmt::format("{} {:>12}\n", start, "blew up")
                      : fmt::format("{} {:>12.3e} {:>12.3e} {:>12.3e} {:>9} {:>10.4f}\n", start, t.energy_lost, t.energy_error,
                                    t.joint_error, t.solves, t.seconds);
  }
  print(text);
}

}  // namespace rotule::app
