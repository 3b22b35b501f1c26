// rotule stability (B5): where methods are stable, and the largest step that a scene stands.
//   rotule stability            the methods themselves: limits on the real and imaginary axis, the border |R(z)| = 1 as a plot
//   rotule stability SCENE      the largest stable step, predicted from the eigenvalues of the linearised scene and observed by
//                               bisection of runs, side by side
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>

#include "analyse/remarks.h"
#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "integrate/stability.h"
#include "model/choices.h"
#include "record/json_text.h"
#include "record/svg_plot.h"

namespace rotule::app {
namespace {

std::vector<IntegratorSettings> chosen_integrators(const std::vector<std::string>& names) {
  std::vector<IntegratorSettings> out;
  for (const std::string& name : names) {
    Recipe recipe;
    try {
      set(recipe, "integrator", name);
    } catch (const Error& error) {
      throw Error(fmt::format("--integrators: {}", error.what()));
    }
    if (!amplification(recipe.integrator, {-0.1, 0})) {
      throw Error(fmt::format("--integrators: {} has no fixed step, so no region of stability", name));
    }
    out.push_back(recipe.integrator);
  }
  if (!names.empty()) return out;
  for_each_alternative<IntegratorSettings>([&]<class S>(const S& settings) {
    if (amplification(settings, {-0.1, 0})) out.emplace_back(settings);
  });
  return out;
}

// ---- Regions

constexpr double drawn_left = -8, drawn_right = 4, drawn_top = 6;  // of the complex plane that is drawn
constexpr int drawn_columns = 480, drawn_rows = 480;

/// The border |R(z)| = 1 by marching squares: pieces of line, one behind the other, with breaks between.
PlotSeries border(const IntegratorSettings& integrator) {
  const auto at = [](int i, int j) {
    return Complex(drawn_left + (drawn_right - drawn_left) * i / drawn_columns, -drawn_top + 2 * drawn_top * j / drawn_rows);
  };
  std::vector<double> level(static_cast<std::size_t>((drawn_columns + 1) * (drawn_rows + 1)));
  const auto value = [&](int i, int j) -> double& {
    return level[static_cast<std::size_t>(j) * static_cast<std::size_t>(drawn_columns + 1) + static_cast<std::size_t>(i)];
  };
  for (int j = 0; j <= drawn_rows; ++j)
    for (int i = 0; i <= drawn_columns; ++i) {
      const double a = amplification(integrator, at(i, j)).value_or(1);
      value(i, j) = std::isfinite(a) ? std::min(a, 1e3) - (1 + 1e-9) : 1e3;
    }
  PlotSeries out{.name = std::string(name_of(integrator)), .x = {}, .y = {}};
  const auto add = [&](const Complex& p, const Complex& q) {
    for (const Complex& z : {p, q}) {
      out.x.push_back(z.real());
      out.y.push_back(z.imag());
    }
    out.x.push_back(std::nan(""));
    out.y.push_back(std::nan(""));
  };
  for (int j = 0; j < drawn_rows; ++j)
    for (int i = 0; i < drawn_columns; ++i) {
      const std::pair<int, int> corner[4] = {{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
      std::vector<Complex> crossings;
      for (int k = 0; k < 4; ++k) {
        const auto [i0, j0] = corner[k];
        const auto [i1, j1] = corner[(k + 1) % 4];
        const double a = value(i0, j0), b = value(i1, j1);
        if ((a > 0) != (b > 0)) crossings.push_back(at(i0, j0) + (a / (a - b)) * (at(i1, j1) - at(i0, j0)));
      }
      for (std::size_t k = 0; k + 1 < crossings.size(); k += 2) add(crossings[k], crossings[k + 1]);
    }
  return out;
}

void regions(const StabilityOptions& options) {
  Json table = Json::array();
  Plot plot{.title = "Stable where |R(z)| <= 1, z = h lambda",
            .x = {.label = "Re z"},
            .y = {.label = "Im z"},
            .series = {},
            .width = 820,
            .height = 820};
  for (const IntegratorSettings& integrator : chosen_integrators(options.integrators)) {
    const std::optional<StabilityLimits> limits = stability_limits(integrator);
    const auto number = [](double x) { return x < 1e6 ? Json(x) : Json("infinite"); };  // explicit methods grow without bound
    table.push_back({{"integrator", name_of(integrator)},
                     {"real", number(limits ? limits->real : 0)},
                     {"imaginary", number(limits ? limits->imaginary : 0)},
                     {"at_infinity", number(limits ? limits->at_infinity : 0)}});
    if (!options.svg.empty()) {
      PlotSeries series = border(integrator);
      if (!series.x.empty()) plot.series.push_back(std::move(series));
    }
  }
  if (!options.svg.empty()) write_text_file(options.svg, to_svg(plot));
  if (options.json) return print(Json{{"integrators", table}}.dump(2) + "\n");
  std::string text = fmt::format("largest stable |z|, z = h lambda\n{:<24} {:>12} {:>12} {:>14}\n", "integrator", "real axis",
                                 "imaginary", "at -infinity");
  const auto cell = [](const Json& x) { return x.is_string() ? x.get<std::string>() : fmt::format("{:.4g}", x.get<double>()); };
  for (const Json& row : table)
    text += fmt::format("{:<24} {:>12} {:>12} {:>14}\n", row["integrator"].get<std::string>(), cell(row["real"]),
                        cell(row["imaginary"]), cell(row["at_infinity"]));
  print(text);
}

// ---- Scenes

constexpr int most_dense_unknowns = 1200;

/// Whether a run of `steps` steps of `h` stays bounded, from the scene's start with a slight disturbance of all velocities.
bool stays_bounded(const NamedScene& named, const Recipe& recipe, double h, int steps) {
  try {
    Recipe trial = recipe;
    trial.dt = h;
    World world(named.scene, trial);
    const Diagnostics start = world.diagnostics();
    unsigned state = 1;
    const auto dice = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<double>(state) / 2147483648.0 - 1;
    };
    const auto push = [&](const Vec3& v) -> Vec3 { return v + 1e-6 * Vec3(dice(), dice(), dice()); };
    for (const BodyId body : world.bodies())
      if (world.mass(body) > 0) world.set_velocity(body, push(world.velocity(body)), push(world.angular_velocity(body)));
    for (int i = 0; i < world.particles(); ++i)
      if (!world.particle_pinned(i)) world.set_particle(i, world.particle_position(i), push(world.particle_velocity(i)));
    world.project();
    // Nothing passive gains energy; a thousand times what its weight can set free is no rounding.
    double mass = 0;
    for (const BodyId body : world.bodies()) mass += world.mass(body);
    for (int i = 0; i < world.particles(); ++i) mass += world.particle_mass(i);
    const double most = start.energy() + 1e3 * (mass * (world.gravity().norm() + 1) + start.kinetic_energy);
    for (int i = 1; i <= steps; ++i) {
      world.step();
      if ((i % 50 == 0 || i == steps) && !(world.diagnostics().energy() < most)) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

void scene_steps(const StabilityOptions& options) {
  NamedScene named = find_scene(options.scene);
  apply_exactness(named.scene, options.exactness);
  Recipe recipe = named.scene.recipe;
  apply_settings(recipe, options.settings);
  std::vector<IntegratorSettings> methods =
      options.integrators.empty() ? std::vector<IntegratorSettings>{recipe.integrator} : chosen_integrators(options.integrators);

  std::vector<Complex> spectrum;
  double fastest = 0;
  try {
    const World world(named.scene, recipe);
    const std::size_t unknowns = 6 * world.bodies().size() + 3 * static_cast<std::size_t>(world.particles());
    if (unknowns <= most_dense_unknowns) {
      spectrum = eigenvalues(linearise(world));
    } else {
      // Too large for all of them: the highest frequency, as if nothing damped it.
      const LargestFrequency largest = largest_frequency(world);
      spectrum = {Complex(0, largest.frequency), Complex(0, -largest.frequency)};
    }
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  for (const Complex& lambda : spectrum) fastest = std::max(fastest, std::abs(lambda));

  Json table = Json::array();
  for (const IntegratorSettings& integrator : methods) {
    Recipe trial = recipe;
    trial.integrator = integrator;
    check_combination(trial);
    const double predicted = largest_stable_step(integrator, spectrum);
    Json row = {{"integrator", name_of(integrator)}};
    row["predicted"] = std::isfinite(predicted) ? Json(predicted) : Json("infinite");
    row["observed"] = nullptr;
    // Observed where there is a border to find: bracket it, then halve.
    if (std::isfinite(predicted) && predicted > 0) {
      const int steps = options.steps;
      double low = 0.5 * predicted, high = 2 * predicted;
      while (low > 1e-3 * predicted && !stays_bounded(named, trial, low, steps)) low /= 2;
      while (high < 1e3 * predicted && stays_bounded(named, trial, high, steps)) high *= 2;
      for (int i = 0; i < 12; ++i) {
        const double middle = 0.5 * (low + high);
        (stays_bounded(named, trial, middle, steps) ? low : high) = middle;
      }
      row["observed"] = low;
    }
    table.push_back(std::move(row));
  }
  if (options.json) return print(Json{{"scene", named.name}, {"fastest", fastest}, {"rows", table}}.dump(2) + "\n");
  std::string text = fmt::format("{}: fastest mode {:.6g} rad/s\n{:<24} {:>16} {:>16} {:>9}\n", shown(named.name), fastest,
                                 "integrator", "predicted [s]", "observed [s]", "ratio");
  for (const Json& row : table) {
    const auto cell = [](const Json& x) {
      return x.is_null() ? "-" : x.is_string() ? x.get<std::string>() : fmt::format("{:.6g}", x.get<double>());
    };
    const bool both = row["predicted"].is_number() && row["observed"].is_number();
    text += fmt::format("{:<24} {:>16} {:>16} {:>9}\n", row["integrator"].get<std::string>(), cell(row["predicted"]),
                        cell(row["observed"]),
                        both ? fmt::format("{:.3f}", row["observed"].get<double>() / row["predicted"].get<double>()) : "-");
  }
  print(text);
}

}  // namespace

void stability(const StabilityOptions& options) {
  if (options.steps < 10 || options.steps > 1'000'000)
    throw Error(fmt::format("--steps: must be from 10 to 1000000, is {}", options.steps));
  if (options.scene.empty()) return regions(options);
  if (!options.svg.empty()) throw Error("--svg: regions are drawn without a scene; leave out one of the two");
  scene_steps(options);
}

}  // namespace rotule::app
