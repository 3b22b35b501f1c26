// Relaxation "auto" in running simulations, against constants at equal CPU time: 50 sweeps with alpha = 1 and with alpha = 1.4,
// and as many sweeps of the race as take no longer per step than alpha = 1. Geometric means over the steps of what the
// worst solve of each step left over. The scenes took no part in learning the race's runners (data/learned/relaxation.json),
// except where marked.
#include <rotule/solvers/pgs.h>
#include <rotule/world.h>

#include <cmath>
#include <optional>

#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;

constexpr double counts_as_solved = 1e-8;
constexpr int sweeps = 50;

struct Outcome {
  double residual = 0, milliseconds = 0;
};

Outcome run(const Scene& scene, double relaxation, int most_sweeps, int steps) {
  Recipe recipe = recipe_of(scene);
  recipe.solver = PgsSettings{.relaxation = relaxation, .tolerance = counts_as_solved, .max_iterations = most_sweeps};
  recipe.threads = 1;
  World world(scene, recipe);
  double logarithms = 0, seconds = 0;
  int count = 0;
  for (int i = 0; i < steps; ++i) {
    const double before = bench::cpu_seconds();
    const StepReport report = world.step();
    seconds += bench::cpu_seconds() - before;
    if (!(report.residual > 0)) continue;
    logarithms += std::log10(std::max(report.residual, counts_as_solved));
    ++count;
  }
  return {count > 0 ? std::pow(10.0, logarithms / count) : 0, 1e3 * seconds / steps};
}

struct Named {
  const char* name;
  bool taught;  // whether it took part in learning
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  constexpr Named names[] = {{"tower_10", false},  {"tower_50", false},   {"rock_pile", false},  {"ragdoll_heap", false},
                             {"card_house", true}, {"domino_run", false}, {"pyramid_10", false}, {"masonry_arch", false},
                             {"brick_wall", true}, {"marble_box", true},  {"tripods", true},     {"chain_fall", true}};
  constexpr int steps = 60;
  std::string rows;
  double to_one = 0, to_constant = 0;
  int count = 0;
  if (!options.json)
    fmt::print(
        "| scene | alpha = 1 | alpha = 1.4 | auto | of alpha = 1 | ms per step: 1, 1.4, auto | sweeps of auto |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Named& named : names) {
    const std::optional<Scene> scene = scenes::build(named.name);
    if (!scene) continue;
    const Outcome one = run(*scene, 1, sweeps, steps), constant = run(*scene, 1.4, sweeps, steps);
    Outcome raced;
    int used = sweeps;
    for (; used >= 5; used = used * 9 / 10) {
      raced = run(*scene, automatic_relaxation, used, steps);
      if (raced.milliseconds <= one.milliseconds) break;
    }
    if (!options.json)
      fmt::print("| {}{} | {:.2e} | {:.2e} | {:.2e} | {:.3f} | {:.2f}, {:.2f}, {:.2f} | {} |\n", named.name,
                 named.taught ? " (taught)" : "", one.residual, constant.residual, raced.residual,
                 one.residual > 0 ? raced.residual / one.residual : 1.0, one.milliseconds, constant.milliseconds,
                 raced.milliseconds, used);
    rows += fmt::format(
        "{}\n  {{\"scene\": \"{}\", \"taught\": {}, \"one\": {}, \"constant\": {}, \"auto\": {}, \"ms\": [{}, {}, {}]}}",
        rows.empty() ? "" : ",", named.name, named.taught, one.residual, constant.residual, raced.residual, one.milliseconds,
        constant.milliseconds, raced.milliseconds);
    if (named.taught || !(one.residual > 0)) continue;
    to_one += std::log(raced.residual / one.residual);
    to_constant += std::log(raced.residual / constant.residual);
    ++count;
  }
  const double mean_one = std::exp(to_one / count), mean_constant = std::exp(to_constant / count);
  if (!options.json)
    fmt::print("geometric means over the {} scenes that did not teach: {:.3f} of alpha = 1, {:.3f} of alpha = 1.4\n", count,
               mean_one, mean_constant);
  bench::publish(options, fmt::format("{{\"machine\": \"{}\", \"of_one\": {}, \"of_constant\": {}, \"rows\": [{}\n]}}",
                                      bench::machine(), mean_one, mean_constant, rows));
}
