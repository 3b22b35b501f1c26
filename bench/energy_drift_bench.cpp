// Energy over many steps: symplectic methods against the classical one, on three mechanisms. Prints the largest relative error in
// each tenth of the run, and draws it where --svg=PREFIX says (PREFIXdouble_pendulum.svg ...). --steps=N, a million unless told;
// --scene=NAME for one of them alone.
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "record/svg_plot.h"
#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;

struct Case {
  const char* scene;
  double h;
};

/// Largest relative energy errors in 200 equal parts of the run.
PlotSeries drift(const Scene& scene, const char* method, double h, std::int64_t steps, double& seconds) {
  Recipe recipe = scene.recipe;
  set(recipe, "integrator", method);
  World world(scene, recipe);
  const double start = world.diagnostics().energy();
  PlotSeries out{.name = method, .x = {}, .y = {}};
  const double before = bench::cpu_seconds();
  constexpr std::int64_t parts = 200, looks = 50;
  double scale = scene.gravity.isZero() ? start : 0;
  try {
    for (std::int64_t part = 0; part < parts; ++part) {
      double worst = 0;
      const std::int64_t here = steps / parts;
      for (std::int64_t i = 0; i < here; ++i) {
        world.step(h);
        if (i % std::max<std::int64_t>(1, here / looks) != 0) continue;
        const Diagnostics now = world.diagnostics();
        scale = std::max(scale, now.kinetic_energy);
        worst = std::max(worst, std::abs(now.energy() - start));
      }
      out.x.push_back(static_cast<double>((part + 1) * here));
      out.y.push_back(worst);
    }
  } catch (const Error&) {  // it blew up: the line ends there
  }
  for (double& y : out.y) y /= scale;
  seconds = bench::cpu_seconds() - before;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t steps = 1'000'000;
  std::string svg, only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--steps="))
      steps = std::atoll(argv[i] + 8);
    else if (argument.starts_with("--svg="))
      svg = argument.substr(6);
    else if (argument.starts_with("--scene="))
      only = argument.substr(8);
    else if (!argument.starts_with("--benchmark_")) {
      fmt::print(stderr, "usage: {} [--steps=N] [--scene=NAME] [--svg=PREFIX]\n", argv[0]);
      return 2;
    }
  }
  fmt::print("largest relative energy error in tenths of {} steps, on {}\n", steps, bench::machine());
  for (const Case& c : {Case{"double_pendulum", 0.005}, Case{"mannequin", 0.2}, Case{"gyroscope", 0.002}}) {
    if (!only.empty() && only != c.scene) continue;
    const Scene scene = *scenes::build(c.scene);
    Plot plot{.title = fmt::format("{}, steps of {} s", c.scene, c.h),
              .x = {.label = "steps"},
              .y = {.label = "relative energy error", .logarithmic = true},
              .series = {}};
    fmt::print("\n{}, h = {} s\n", c.scene, c.h);
    for (const char* method : {"rk4", "rattle", "rattle4", "rattle6"}) {
      double seconds = 0;
      plot.series.push_back(drift(scene, method, c.h, steps, seconds));
      const std::vector<double>& y = plot.series.back().y;
      fmt::print("  {:<8} {:6.1f} s CPU ", method, seconds);
      for (std::size_t k = 0; k + 20 <= y.size(); k += 20)
        fmt::print(" {:.1e}", *std::max_element(y.begin() + static_cast<std::ptrdiff_t>(k),
                                                y.begin() + static_cast<std::ptrdiff_t>(k + 20)));
      fmt::print("\n");
    }
    if (!svg.empty()) std::ofstream(svg + c.scene + ".svg") << to_svg(plot);
  }
}
