// What a whole step costs per link on chains of 100 to 100,000 links, and how much memory a link takes: the model with its names
// and shapes, state, constraints, solver and integrator, all that a World holds. Lengths alternate, each is repeated, and medians
// are printed: the machine may drift, ratios do not.
#include <malloc.h>
#include <rotule/world.h>

#include <functional>
#include <memory>

#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;

std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Way {
  std::string name;
  std::function<void(Recipe&)> choose;
};

struct Case {
  std::string way;
  int links = 0;
  std::unique_ptr<World> world = {};
  double bytes_per_link = 0;
  std::vector<double> seconds_per_link_and_step = {};
  std::int64_t solves = 0, steps = 0;

  [[nodiscard]] double nanoseconds() const { return 1e9 * bench::median(seconds_per_link_and_step); }
};

Case prepare(const Way& way, int links) {
  const Scene scene = scenes::chain(links);
  Recipe recipe = scene.recipe;
  way.choose(recipe);
  const std::size_t before = bytes_in_use();
  Case out{way.name, links, std::make_unique<World>(scene, recipe)};
  for (int i = 0; i < 3; ++i) out.world->step();
  out.bytes_per_link = static_cast<double>(bytes_in_use() - before) / links;
  return out;
}

/// Steps for about as long whatever the length.
void measure(Case& c) {
  const int steps = std::max(1, 100'000 / c.links);
  const double start = bench::cpu_seconds();
  for (int i = 0; i < steps; ++i) c.solves += c.world->step().solves;
  c.seconds_per_link_and_step.push_back((bench::cpu_seconds() - start) / steps / c.links);
  c.steps += steps;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  constexpr int repetitions = 7;
  const std::vector<Way> ways{
      {"velocity, projection",
       [](Recipe& r) {
         r = recipes::realtime();
         r.dt = 1e-3;
       }},
      {"velocity, no correction",
       [](Recipe& r) {
         r = recipes::realtime();
         r.dt = 1e-3;
         r.correction = NoCorrectionSettings{};
       }},
      {"rk4, projection",
       [](Recipe& r) {
         r = recipes::exact();
         r.dt = 1e-3;
       }},
      {"rk4, no correction",
       [](Recipe& r) {
         r = recipes::exact();
         r.dt = 1e-3;
         r.correction = NoCorrectionSettings{};
       }},
  };
  std::vector<Case> cases;
  for (const Way& way : ways)
    for (const int links : {100, 1000, 10'000, 100'000}) cases.push_back(prepare(way, links));
  for (int i = 0; i < repetitions; ++i)
    for (Case& c : cases) measure(c);

  std::string rows;
  for (const Case& c : cases)
    rows += fmt::format(
        R"({}    {{"recipe": "{}", "links": {}, "ns_per_link_and_step": {:.5g}, "solves_per_step": {:.3g}, "bytes_per_link": {:.5g}}})",
        rows.empty() ? "" : ",\n", c.way, c.links, c.nanoseconds(), static_cast<double>(c.solves) / static_cast<double>(c.steps),
        c.bytes_per_link);
  publish(options, fmt::format("{{\n  \"machine\": \"{}\",\n  \"rows\": [\n{}\n  ]\n}}", bench::machine(), rows));
  if (options.json) return 0;

  fmt::print("chains of links of 1 kg on ball joints on {}, median of {}\n", bench::machine(), repetitions);
  fmt::print("{:<26} {:>8} {:>14} {:>12} {:>16} {:>12} {:>8}\n", "recipe", "links", "ns/link/step", "solves/step",
             "ns/link/solve", "bytes/link", "growth");
  for (const Case& c : cases) {
    const Case& shortest = *std::find_if(cases.begin(), cases.end(), [&](const Case& other) { return other.way == c.way; });
    const double solves = static_cast<double>(c.solves) / static_cast<double>(c.steps);
    fmt::print("{:<26} {:>8} {:>14.1f} {:>12.2f} {:>16.1f} {:>12.0f} {:>8.2f}\n", c.way, c.links, c.nanoseconds(), solves,
               c.nanoseconds() / solves, c.bytes_per_link, c.nanoseconds() / shortest.nanoseconds());
  }
}
