// Relaxation "auto" in running simulations, against constants at equal CPU time: 50 sweeps with alpha = 1 and with alpha = 1.4,
// and as many of the race as take no longer per step than alpha = 1. Geometric means over the steps of what the worst
// solve of each step left over. Small differences grow in heaps and arches, and one run says little: each scene runs several
// times, under a gravity that is turned by a thousandth, another way each time. The three run step by step in turn, so that
// whatever else keeps the machine busy takes from all of them. The scenes took no part in learning the race's runners
// (data/learned/relaxation.json), except where marked.
//
//   self_tuning_bench [--json] [--benchmark_out=FILE] [SCENE.json ...]     scenes of one's own in place of the shipped ones
#include <rotule/solvers/pgs.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;

constexpr double counts_as_solved = 1e-8;
constexpr int sweeps = 50, steps = 60, copies = 4;
constexpr std::array relaxations{1.0, 1.4, automatic_relaxation};

struct Outcome {
  double logarithms = 0, seconds = 0;
  int count = 0;
  [[nodiscard]] double residual() const { return count > 0 ? std::pow(10.0, logarithms / count) : 0; }
  [[nodiscard]] double milliseconds() const { return 1e3 * seconds / (copies * steps); }
};
using Outcomes = std::array<Outcome, relaxations.size()>;

void run(Scene scene, int copy, int sweeps_of_race, Outcomes& out) {
  const double tilt = copy == 0 ? 0.0 : 1e-3 * scene.gravity.norm(), heading = 2.4 * copy;
  scene.gravity += tilt * Vec3(std::cos(heading), std::sin(heading), 0);
  std::vector<World> worlds;
  for (const double relaxation : relaxations) {
    Recipe recipe = recipe_of(scene);
    recipe.solver = PgsSettings{.relaxation = relaxation,
                                .tolerance = counts_as_solved,
                                .max_iterations = relaxation == automatic_relaxation ? sweeps_of_race : sweeps};
    recipe.threads = 1;
    worlds.emplace_back(scene, recipe);
  }
  for (int i = 0; i < steps; ++i)
    for (std::size_t k = 0; k < worlds.size(); ++k) {
      const double before = bench::cpu_seconds();
      const StepReport report = worlds[k].step();
      out[k].seconds += bench::cpu_seconds() - before;
      if (!(report.residual > 0)) continue;
      out[k].logarithms += std::log10(std::max(report.residual, counts_as_solved));
      ++out[k].count;
    }
}

/// All copies, with as many sweeps of the race as take no longer than those of alpha = 1: found on the first copy, and fewer
/// where all of them say otherwise.
Outcomes at_equal_time(const Scene& scene, int& used) {
  constexpr double equal = 1.05;  // what a step costs besides solving follows the motion, and differs by as much
  const auto fits = [&](const Outcomes& out) { return out.back().seconds <= equal * out.front().seconds; };
  const auto first_fits = [&](int count) {
    Outcomes out;
    run(scene, 0, count, out);
    return fits(out);
  };
  const auto fewer = [](int count) { return std::max(5, count * 9 / 10); };
  used = sweeps;
  if (first_fits(used))
    while (used < 4 * sweeps && first_fits(used * 14 / 10)) used = used * 14 / 10;
  else
    do used = fewer(used);
    while (used > 5 && !first_fits(used));
  for (;; used = fewer(used)) {
    Outcomes out;
    for (int copy = 0; copy < copies; ++copy) run(scene, copy, used, out);
    if (used == 5 || fits(out)) return out;
  }
}

struct Named {
  std::string name;
  bool taught;  // whether it took part in learning
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> flags;
  std::vector<Named> names;
  for (int i = 0; i < argc; ++i)
    if (i > 0 && argv[i][0] != '-')
      names.push_back({argv[i], false});
    else
      flags.push_back(argv[i]);
  const bench::Options options = bench::parse(static_cast<int>(flags.size()), flags.data());
  const bool own = !names.empty();
  if (!own)
    names = {{"tower_10", false},  {"tower_50", false},   {"rock_pile", false},  {"ragdoll_heap", false},
             {"card_house", true}, {"domino_run", false}, {"pyramid_10", false}, {"masonry_arch", false},
             {"brick_wall", true}, {"marble_box", true},  {"tripods", true},     {"chain_fall", true}};
  std::string rows;
  double to_one = 0, to_constant = 0;
  int count = 0;
  if (!options.json)
    fmt::print(
        "| scene | alpha = 1 | alpha = 1.4 | auto | of alpha = 1 | of alpha = 1.4 | ms per step: 1, 1.4, auto | sweeps of auto "
        "|\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Named& named : names) {
    const std::optional<Scene> scene = own ? std::optional(load_scene(named.name)) : scenes::build(named.name);
    if (!scene) continue;
    int used = 0;
    const auto [one, constant, raced] = at_equal_time(*scene, used);
    const auto ratio = [&, &raced = raced](const Outcome& to) {
      return to.residual() > 0 ? raced.residual() / to.residual() : 1;
    };
    if (!options.json) {
      fmt::print("| {}{} | {:.2e} | {:.2e} | {:.2e} | {:.3f} | {:.3f} | {:.2f}, {:.2f}, {:.2f} | {} |\n", named.name,
                 named.taught ? "\\*" : "", one.residual(), constant.residual(), raced.residual(), ratio(one), ratio(constant),
                 one.milliseconds(), constant.milliseconds(), raced.milliseconds(), used);
      std::fflush(stdout);
    }
    rows += fmt::format(
        "{}\n  {{\"scene\": \"{}\", \"taught\": {}, \"one\": {}, \"constant\": {}, \"auto\": {}, \"ms\": [{}, {}, {}]}}",
        rows.empty() ? "" : ",", named.name, named.taught, one.residual(), constant.residual(), raced.residual(),
        one.milliseconds(), constant.milliseconds(), raced.milliseconds());
    if (named.taught || !(one.residual() > 0)) continue;
    to_one += std::log(ratio(one));
    to_constant += std::log(ratio(constant));
    ++count;
  }
  const double mean_one = std::exp(to_one / count), mean_constant = std::exp(to_constant / count);
  if (!options.json)
    fmt::print("geometric means over the {} scenes that did not teach: {:.3f} of alpha = 1, {:.3f} of alpha = 1.4\n", count,
               mean_one, mean_constant);
  bench::publish(options, fmt::format("{{\"machine\": \"{}\", \"of_one\": {}, \"of_constant\": {}, \"rows\": [{}\n]}}",
                                      bench::machine(), mean_one, mean_constant, rows));
}
