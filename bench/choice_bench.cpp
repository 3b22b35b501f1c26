// The choice that `auto` makes, against every single solver: problems of shipped scenes (the first step in which anything
// touches, the one with the largest impulses, one in the middle and the last; the largest island of each) and the files of
// data/fclib, each from its recorded start and from nothing, to several tolerances. CPU time with memory and structure known, the
// best three and `auto` in turns, least of several. Says, for each half of the scenes (thresholds may be looked for on the first
// alone), on how many problems `auto` is within 1.3 and 1.5 of the fastest, and where it is worst.
//
//   choice_bench [--json] [--benchmark_out=FILE] [--scenes=A,B,...] [--solvers=A,B,...] [--to=1e-3,1e-6] [--all]
// --all prints every problem, and not only those where `auto` takes more than 1.3 times as long.
#include <rotule/solve.h>
#include <rotule/solvers/auto.h>
#include <rotule/world.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/budget.h"
#include "model/solver_list.h"
#include "record/fclib_file.h"
#include "report.h"
#include "scenes/builders.h"
#include "solve/solve.h"

namespace {

using namespace rotule;

struct Named {
  std::string name;
  bool held_out = false;
  ConstraintProblem problem;
};

struct SceneSteps {
  const char* name;
  int steps;
};
// Every second one is held out.
constexpr SceneSteps all_scenes[] = {{"brick_wall", 60},     {"brackets", 120},    {"card_house", 60},    {"chain_fall", 90},
                                     {"chain_on_floor", 60}, {"domino_run", 90},   {"gripper_pinch", 60}, {"heavy_on_light", 60},
                                     {"marble_box", 60},     {"masonry_arch", 60}, {"newton_cradle", 90}, {"ragdoll_heap", 60},
                                     {"pyramid_10", 40},     {"rock_pile", 60},    {"rolling_mill", 60},  {"tower_50", 40},
                                     {"tripods", 90},        {"tower_10", 40},     {"pyramid_40", 12},    {"sliding_block", 30}};

/// The largest island of a step, where anything besides joints is in it.
const ConstraintProblem* largest(const World& world, int& island) {
  const ConstraintProblem* out = nullptr;
  for (int i = 0; i < world.islands(); ++i) {
    const ConstraintProblem& p = world.problem(i);
    bool bounded = false;
    for (int r = 0; r < p.rows() && !bounded; ++r) bounded = std::isfinite(p.lower[r]) || std::isfinite(p.upper[r]);
    if (bounded && (!out || p.rows() > out->rows())) {
      out = &p;
      island = i;
    }
  }
  return out;
}

void collect(const SceneSteps& from, bool held_out, std::vector<Named>& out) {
  const std::optional<Scene> scene = scenes::build(from.name);
  if (!scene) return;
  Recipe recipe = recipe_of(*scene);
  recipe.threads = 1;
  World world(*scene, recipe);
  world.keep_problems(true);
  std::vector<Named> picked;
  double most = 0;
  std::size_t hit = 0;
  const auto keep = [&](int step, const ConstraintProblem& p) {
    picked.push_back({fmt::format("{}:{}", from.name, step), held_out, p});
  };
  for (int step = 1; step <= from.steps; ++step) {
    world.step();
    int island = 0;
    const ConstraintProblem* p = largest(world, island);
    if (!p) continue;
    double impulse = 0;
    for (const double x : world.multipliers(island)) impulse = std::max(impulse, std::abs(x));
    if (picked.empty()) {
      keep(step, *p);
    } else if (impulse > most && step != from.steps) {
      if (hit > 0) picked.erase(picked.begin() + static_cast<std::ptrdiff_t>(hit));
      hit = picked.size();
      keep(step, *p);
    } else if (step == from.steps / 2 || step == from.steps) {
      keep(step, *p);
    }
    most = std::max(most, impulse);
  }
  std::ranges::move(picked, std::back_inserter(out));
}

struct Contender {
  std::string name;
  SolverChoice settings;
  Workspace workspace{};
  SolveReport report{};
  double seconds = infinity;
};

/// CPU seconds of a solve; short ones are repeated.
double time_of(const ConstraintProblem& problem, Contender& who, std::span<double> x) {
  constexpr double enough = 1e-3;
  const double begin = bench::cpu_seconds();
  int count = 0;
  double took = 0;
  do {
    solve(problem, who.settings, who.workspace, x, who.report);
    ++count;
    took = bench::cpu_seconds() - begin;
  } while (took < enough);
  return took / count;
}

struct Result {
  std::string problem{}, start{}, best{}, chosen{}, others{};  // others: JSON, seconds by solver
  double tolerance = 0, automatic = infinity, fastest = infinity, reached = 0;
  int rows = 0;
  bool held_out = false, solved = false;
  [[nodiscard]] double ratio() const { return automatic / fastest; }
};

Result compare(const Named& named, const ConstraintProblem& problem, double tolerance, const std::vector<std::string>& rivals) {
  std::vector<double> x(static_cast<std::size_t>(problem.rows()));
  Contender automatic{.name = "auto", .settings = AutoSettings{.rest = false, .tolerance = tolerance, .max_iterations = 30000}};
  static const Bell bell;
  const auto passes = [&](Contender& who, double limit) {
    try {
      const Budget budget(bell, limit);
      solve(problem, who.settings, who.workspace, x, who.report);
    } catch (const std::exception&) {
      return false;
    }
    return residual(problem, x).scale_free <= tolerance * (1 + 1e-9);
  };
  Result out{.problem = named.name, .tolerance = tolerance, .rows = problem.rows(), .held_out = named.held_out};
  out.solved = passes(automatic, 0);
  out.reached = automatic.report.residual;
  out.chosen = automatic.report.solver;
  automatic.seconds = time_of(problem, automatic, x);

  std::vector<Contender> others;
  double best = automatic.seconds;
  for (const NamedSolver& solver : solver_list()) {
    if (solver.name == "auto" || !solver.settings.traits().bounds || !why_not(problem, solver.settings).empty()) continue;
    if (!rivals.empty() && std::ranges::find(rivals, solver.name) == rivals.end()) continue;
    Contender who{.name = std::string(solver.name), .settings = solver.settings};
    if (auto* its_own = who.settings.find<double>("tolerance")) *its_own = tolerance;
    if (auto* most = who.settings.find<int>("max_iterations")) *most = std::max(*most, 100000);
    const double patience = rivals.empty() ? 2 : 10;  // times the best so far
    if (!passes(who, patience * best + 2e-3)) continue;
    const Budget budget(bell, 2 * (patience * best + 2e-3));
    who.seconds = time_of(problem, who, x);
    if (budget.cut()) continue;
    best = std::min(best, who.seconds);
    out.others += fmt::format("{}\"{}\": {:.3g}", out.others.empty() ? "" : ", ", who.name, who.seconds);
    others.push_back(std::move(who));
  }
  std::ranges::sort(others, {}, &Contender::seconds);
  if (others.size() > 3) others.erase(others.begin() + 3, others.end());
  double spent = 0;
  for (int round = 0; round < 9 && (round < 2 || spent < 0.1); ++round) {
    automatic.seconds = std::min(automatic.seconds, time_of(problem, automatic, x));
    spent += automatic.seconds;
    for (Contender& who : others) who.seconds = std::min(who.seconds, time_of(problem, who, x));
  }
  std::ranges::sort(others, {}, &Contender::seconds);
  out.automatic = automatic.seconds;
  out.fastest = automatic.seconds;
  out.best = "auto";
  if (!others.empty() && others.front().seconds < automatic.seconds) {
    out.fastest = others.front().seconds;
    out.best = others.front().name;
  }
  if (!out.solved) out.automatic = others.empty() ? out.fastest : infinity;
  return out;
}

std::string share(const std::vector<Result>& results, auto&& belongs) {
  int count = 0, close = 0, near = 0;
  const Result* worst = nullptr;
  for (const Result& r : results) {
    if (!belongs(r)) continue;
    ++count;
    close += r.ratio() <= 1.3;
    near += r.ratio() <= 1.5;
    if (!worst || r.ratio() > worst->ratio()) worst = &r;
  }
  if (!worst) return "none";
  return fmt::format("{:3} of {:3} within 1.3 ({:.0f} %), {:3} within 1.5, worst {:.1f} ({} from {} to {:.0e})", close, count,
                     100.0 * close / count, near, worst->ratio(), worst->problem, worst->start, worst->tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> rest;
  std::vector<double> tolerances;
  std::vector<std::string> wanted, rivals;
  bool all = false;
  const auto split = [](std::string_view list, auto&& take) {
    std::stringstream words{std::string(list)};
    for (std::string word; std::getline(words, word, ',');) take(word);
  };
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--scenes="))
      split(argument.substr(9), [&](const std::string& word) { wanted.push_back(word); });
    else if (argument.starts_with("--to="))
      split(argument.substr(5), [&](const std::string& word) { tolerances.push_back(std::stod(word)); });
    else if (argument.starts_with("--solvers="))
      split(argument.substr(10), [&](const std::string& word) { rivals.push_back(word); });
    else if (argument == "--all")
      all = true;
    else
      rest.push_back(argv[i]);
  }
  const bench::Options options = bench::parse(static_cast<int>(rest.size()), rest.data());
  if (tolerances.empty()) tolerances = {1e-3, 1e-6, 1e-10};
  const auto is_wanted = [&](std::string_view name) { return wanted.empty() || std::ranges::find(wanted, name) != wanted.end(); };

  std::vector<Named> problems;
  int index = 0;
  for (const SceneSteps& scene : all_scenes) {
    const bool held_out = ++index % 2 == 0;
    if (is_wanted(scene.name)) collect(scene, held_out, problems);
  }
  if (is_wanted("fclib")) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(ROTULE_SOURCE_DIR "/data/fclib"))
      if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& file : files) problems.push_back({file.stem().string(), ++index % 2 == 0, read_fclib(file.string())});
  }

  std::vector<Result> results;
  const auto say = [&](const std::string& line) {
    if (options.json) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  say(fmt::format("{:<40}{:>6} {:8}{:>7} {:>9} {:<16} {:>9} {:<20} {:>6}", "problem", "rows", "start", "to", "auto, ms", "whose",
                  "best, ms", "whose", "times"));
  for (const Named& named : problems)
    for (const char* start : {"recorded", "nothing"}) {
      ConstraintProblem problem = named.problem;
      const bool nothing = std::string_view(start) == "nothing";
      if (!nothing && problem.x0.isZero(0)) continue;
      if (nothing) problem.x0.setZero();
      for (const double tolerance : tolerances) {
        Result r = compare(named, problem, tolerance, rivals);
        r.start = start;
        if (all || r.ratio() > 1.3)
          say(fmt::format("{:<40}{:>6} {:8}{:>7.0e} {:>9.3f} {:<16} {:>9.3f} {:<20} {:>6.2f}{}", r.problem.substr(0, 39), r.rows,
                          r.start, tolerance, 1e3 * r.automatic, r.chosen, 1e3 * r.fastest, r.best, r.ratio(),
                          r.held_out ? " *" : ""));
        results.push_back(std::move(r));
      }
    }
  for (const char* start : {"recorded", "nothing"})
    for (const double tolerance : tolerances)
      say(fmt::format("from {:8} to {:.0e}: {}", start, tolerance,
                      share(results, [&](const Result& r) { return r.start == start && r.tolerance == tolerance; })));
  say("looked at: " + share(results, [](const Result& r) { return !r.held_out; }));
  say("held out:  " + share(results, [](const Result& r) { return r.held_out; }));
  say("all:       " + share(results, [](const Result&) { return true; }));
  std::string json;
  for (const Result& r : results)
    json += fmt::format(
        "{}\n  {{\"problem\": \"{}\", \"rows\": {}, \"start\": \"{}\", \"tolerance\": {}, \"auto_s\": {}, \"chosen\": \"{}\", "
        "\"best_s\": {}, \"best\": \"{}\", "
        "\"held_out\": {}, \"solved\": {}, \"residual\": {}, \"others_s\": {{{}}}}}",
        json.empty() ? "" : ",", r.problem, r.rows, r.start, r.tolerance, r.solved ? r.automatic : -1.0, r.chosen, r.fastest,
        r.best, r.held_out, r.solved, r.reached, r.others);
  bench::publish(options, fmt::format("{{\"machine\": \"{}\", \"results\": [{}\n]}}", bench::machine(), json));
}
