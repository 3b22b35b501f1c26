// rotule convergence (A6): the same span of time in ever more steps, by several methods.
//   energy error = |E_end - E_start| / scale; the scale is all the energy where there is no weight, else the largest kinetic
//   energy of the run. State error = the largest difference from a reference (rk4 at 8 times the finest count), over all bodies
//   and components of position, orientation, velocity and angular velocity at the end.
//   order = log(error before / error) / log(steps / steps before).
// A run blew up where a number overflowed, or where its energy changed by more than ten times the scale.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <chrono>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/json_text.h"
#include "record/svg_plot.h"

namespace rotule::app {
namespace {

constexpr double blown_up = 10;
constexpr int reference_factor = 8;

struct Outcome {
  bool finished = false;
  double energy_change = 0;  // relative, signed: below zero where energy was lost
  std::int64_t evaluations = 0;
  double seconds = 0;
  std::vector<double> state;  // 13 numbers per body, then 6 per particle
  std::size_t bodies = 0;
};

std::vector<double> state_of(const World& world) {
  std::vector<double> out;
  const auto put = [&](const auto& v) { out.insert(out.end(), v.data(), v.data() + v.size()); };
  for (const BodyId body : world.bodies()) {
    put(world.position(body));
    put(world.orientation(body).coeffs());
    put(world.velocity(body));
    put(world.angular_velocity(body));
  }
  for (int i = 0; i < world.particles(); ++i) {
    put(world.particle_position(i));
    put(world.particle_velocity(i));
  }
  return out;
}

double state_error(const std::vector<double>& a, const std::vector<double>& b, std::size_t bodies) {
  double out = 0;
  for (std::size_t i = 13 * bodies; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  for (std::size_t i = 0; i < 13 * bodies; i += 13) {
    double dot = 0;  // q and -q are the same rotation
    for (std::size_t k = 3; k < 7; ++k) dot += a[i + k] * b[i + k];
    for (std::size_t k = 0; k < 13; ++k) {
      const double sign = k >= 3 && k < 7 && dot < 0 ? -1 : 1;
      out = std::max(out, std::abs(a[i + k] - sign * b[i + k]));
    }
  }
  return out;
}

Outcome simulate(const NamedScene& named, Recipe recipe, const IntegratorSettings& integrator, std::int64_t steps) {
  recipe.integrator = integrator;
  recipe.dt = recipe.duration / static_cast<double>(steps);
  Outcome out;
  try {
    World world(named.scene, recipe);
    const Diagnostics start = world.diagnostics();
    const bool weightless = named.scene.gravity.isZero(0);
    double largest_kinetic = start.kinetic_energy;
    const std::int64_t evaluations = world.evaluations();
    const auto before = std::chrono::steady_clock::now();
    std::chrono::steady_clock::duration aside{};
    try {
      for (std::int64_t i = 0; i < steps; ++i) {
        world.step();
        if (weightless) continue;  // the scale is known; looking at the books would only cost time
        const auto pause = std::chrono::steady_clock::now();
        largest_kinetic = std::max(largest_kinetic, world.diagnostics().kinetic_energy);
        aside += std::chrono::steady_clock::now() - pause;
      }
    } catch (const Error&) {
      return out;
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before - aside).count();
    out.evaluations = world.evaluations() - evaluations;
    const Diagnostics end = world.diagnostics();
    const double scale = energy_scale(named.scene.gravity, start.energy(),
                                      weightless ? std::max(largest_kinetic, end.kinetic_energy) : largest_kinetic);
    const double change = end.energy() + end.shock_energy - start.energy();
    out.energy_change = scale > 0 ? change / scale : change;
    out.state = state_of(world);
    out.bodies = world.bodies().size();
    out.finished = std::isfinite(out.energy_change) && std::abs(out.energy_change) <= blown_up;
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  return out;
}

Json order(const Json& before, const Json& error, std::int64_t steps_before, std::int64_t steps) {
  if (!before.is_number() || !error.is_number() || steps == steps_before) return nullptr;
  const double a = before.get<double>(), b = error.get<double>();
  if (!(a > 0) || !(b > 0)) return nullptr;
  return std::log(a / b) / std::log(static_cast<double>(steps) / static_cast<double>(steps_before));
}

std::string cell(const Json& value, const char* format) {
  return value.is_null() ? "-" : fmt::format(fmt::runtime(format), value.get<double>());
}

/// Error against what it cost, in seconds and in evaluations, one line per method: two plots, one above the other.
std::string work_precision(const std::string& scene, const Json& rows, bool fine) {
  const std::string error = fine ? "state_error" : "energy_error";
  std::vector<Plot> plots;
  for (const auto& [cost, label] :
       {std::pair("seconds", "time [s]"), std::pair("evaluations", "evaluations of the accelerations")}) {
    Plot& plot = plots.emplace_back();
    plot.title = fmt::format("{}: {} against cost", scene, fine ? "error of the state" : "error of the energy");
    plot.x = {.label = label, .logarithmic = true};
    plot.y = {.label = fine ? "largest error [m, m/s, rad/s]" : "relative error", .logarithmic = true};
    for (const Json& row : rows) {
      const auto name = row["integrator"].get<std::string>();
      if (plot.series.empty() || plot.series.back().name != name)
        plot.series.push_back({.name = name, .x = {}, .y = {}, .markers = true});
      if (!row[error].is_number() || !row[cost].is_number()) continue;
      plot.series.back().x.push_back(row[cost].get<double>());
      plot.series.back().y.push_back(row[error].get<double>());
    }
    std::erase_if(plot.series, [](const PlotSeries& series) { return series.x.empty(); });
  }
  return to_svg(plots);
}

}  // namespace

void convergence(const ConvergenceOptions& options) {
  NamedScene named = find_scene(options.scene);
  apply_exactness(named.scene, options.exactness);
  Recipe recipe = named.scene.recipe;
  apply_settings(recipe, options.settings);
  std::vector<IntegratorSettings> integrators;
  for (const std::string& name : options.integrators) {
    Recipe chosen;
    try {
      set(chosen, "integrator", name);
    } catch (const Error& error) {
      throw Error(fmt::format("--integrators: {}", error.what()));
    }
    integrators.push_back(chosen.integrator);
  }
  std::int64_t finest = 0;
  for (const std::int64_t n : options.steps) {
    if (n < 1 || n > 1'000'000'000) throw Error(fmt::format("--steps: must be from 1 to 1000000000, is {}", n));
    finest = std::max(finest, n);
  }

  // The reference solves the constraints exactly, whatever formulation is being measured.
  Recipe exact = recipe;
  exact.formulation = AccelerationSettings{};
  exact.correction = ProjectionSettings{};
  const bool fine = options.reference == "fine";
  if (!fine && options.reference != "invariant")
    throw Error(fmt::format("--reference: must be fine or invariant, is {}", in_quotes(options.reference)));
  const Outcome reference = fine ? simulate(named, exact, Rk4Settings{}, reference_factor * finest) : Outcome{};
  if (fine && !reference.finished)
    throw Error(named.origin,
                fmt::format("even the reference (rk4, {} steps) blows up; take more steps", reference_factor * finest));

  Json rows = Json::array();
  std::vector<double> changes;
  for (const IntegratorSettings& integrator : integrators) {
    Json before;
    for (const std::int64_t n : options.steps) {
      const Outcome outcome = simulate(named, recipe, integrator, n);
      Json row = {{"integrator", name_of(integrator)}, {"steps", n}};
      row["energy_error"] = outcome.finished ? Json(std::abs(outcome.energy_change)) : Json();
      row["energy_order"] = nullptr;
      row["state_error"] = outcome.finished && fine ? Json(state_error(outcome.state, reference.state, outcome.bodies)) : Json();
      row["state_order"] = nullptr;
      row["evaluations"] = outcome.finished ? Json(outcome.evaluations) : Json();
      row["seconds"] = outcome.finished ? Json(outcome.seconds) : Json();
      if (!before.is_null())
        for (const char* what : {"energy", "state"}) {
          const std::string error = fmt::format("{}_error", what);
          row[fmt::format("{}_order", what)] = order(before[error], row[error], before["steps"].get<std::int64_t>(), n);
        }
      before = row;
      changes.push_back(outcome.energy_change);
      rows.push_back(std::move(row));
    }
  }

  if (!options.svg.empty()) write_text_file(options.svg, work_precision(named.name, rows, fine));
  if (options.json) {
    print(Json{{"rows", rows}}.dump(2) + "\n");
    return;
  }
  std::string text =
      fmt::format("{}: {} s; errors against rk4 with {} steps\n{:<20} {:>8} {:>12} {:>6} {:>7} {:>12} {:>6} {:>12} {:>10}\n",
                  shown(named.name), shortest(recipe.duration), reference_factor * finest, "integrator", "steps", "energy error",
                  "order", "energy", "state error", "order", "evaluations", "seconds");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& r = rows[i];
    const char* sign = r["energy_error"].is_null() ? "blew up" : changes[i] > 0 ? "gained" : changes[i] < 0 ? "lost" : "kept";
    text += fmt::format("{:<20} {:>8} {:>12} {:>6} {:>7} {:>12} {:>6} {:>12} {:>10}\n", r["integrator"].get<std::string>(),
                        r["steps"].get<std::int64_t>(), cell(r["energy_error"], "{:.3e}"), cell(r["energy_order"], "{:.2f}"),
                        sign, cell(r["state_error"], "{:.3e}"), cell(r["state_order"], "{:.2f}"),
                        cell(r["evaluations"], "{:.0f}"), cell(r["seconds"], "{:.4f}"));
  }
  print(text);
}

}  // namespace rotule::app
