// Solvers of contact: what a sweep of pgs costs per non-zero, dense against sparse over sizes (D's figure 2.1), and time and
// sweeps of every solver to 1e-2, 1e-4, 1e-6 and 1e-8 on the files of data/fclib.
//
//   contact_solvers_bench [--json] [--benchmark_out=FILE] [--plot=PREFIX]
// --plot writes PREFIX.csv and PREFIX.svg with the comparison of dense and sparse.
#include <rotule/solvers/pgs.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.h"
#include "model/solver_list.h"
#include "problem/delassus.h"
#include "record/fclib_file.h"
#include "solve/solve.h"
#include "support/contact_problems.h"

namespace {

using namespace rotule;

struct Run {
  double seconds = 0;  // of CPU, median
  SolveReport report;
};

/// Repeats a solve until it has had enough time to be measured; structure and memory are kept, as in a simulation.
Run measure(const ConstraintProblem& p, const SolverChoice& settings, double enough) {
  Workspace workspace;
  Run out;
  std::vector<double> x(p.rows()), times;
  solve(p, settings, workspace, x, out.report);
  const double begin = bench::cpu_seconds();
  do {
    const double start = bench::cpu_seconds();
    solve(p, settings, workspace, x, out.report);
    times.push_back(bench::cpu_seconds() - start);
  } while (bench::cpu_seconds() - begin < enough && times.size() < 1000);
  out.seconds = bench::median(times);
  return out;
}

struct SweepCost {
  int rows = 0;
  double nonzeros = 0, dense = 0, sparse = 0, matrix_free = 0;  // seconds per sweep
};

/// The cost of a sweep by the difference of a long run and a short one, so that assembly does not count.
double seconds_per_sweep(const ConstraintProblem& p, const RowStorage& storage) {
  const auto run = [&](int sweeps) {
    PgsSettings settings;
    settings.storage = storage;
    settings.tolerance = 0;
    settings.max_iterations = sweeps;
    return measure(p, settings, 0.03).seconds;
  };
  return (run(45) - run(5)) / 40;
}

SweepCost sweep_cost(const ConstraintProblem& p) {
  SweepCost out{.rows = p.rows()};
  Delassus delassus;
  delassus.assemble(p);
  for (int i = 0; i < delassus.blocks(); ++i)
    for (const Delassus::Entry& entry : delassus.row(i))
      for (int k = 0; k < delassus.rows(i) * delassus.rows(entry.column); ++k) out.nonzeros += delassus.values(entry)[k] != 0;
  out.dense = seconds_per_sweep(p, DenseStorage{});
  out.sparse = seconds_per_sweep(p, SparseStorage{});
  out.matrix_free = seconds_per_sweep(p, MatrixFreeStorage{});
  return out;
}

/// Time per sweep over rows, both axes logarithmic.
void plot(const std::vector<SweepCost>& costs, const std::string& prefix) {
  std::ofstream csv(prefix + ".csv"), svg(prefix + ".svg");
  csv << "rows,nonzeros,dense_us,sparse_us,matrix_free_us\n";
  for (const SweepCost& c : costs)
    csv << fmt::format("{},{:.0f},{:.3f},{:.3f},{:.3f}\n", c.rows, c.nonzeros, 1e6 * c.dense, 1e6 * c.sparse,
                       1e6 * c.matrix_free);
  const auto x = [&](double rows) {
    return 60 + 480 * std::log(rows / costs.front().rows) / std::log(double(costs.back().rows) / costs.front().rows);
  };
  double low = 1e9, high = 0;
  for (const SweepCost& c : costs)
    for (const double t : {c.dense, c.sparse, c.matrix_free}) low = std::min(low, t), high = std::max(high, t);
  const auto y = [&](double t) { return 330 - 300 * std::log(t / low) / std::log(high / low); };
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='640' height='380' font-family='sans-serif' font-size='12'>\n"
      << "<rect width='640' height='380' fill='white'/>\n<path d='M60 30V330H540' fill='none' stroke='black'/>\n";
  const auto line = [&](double SweepCost::*member, const char* colour, const char* name) {
    svg << "<polyline fill='none' stroke-width='2' stroke='" << colour << "' points='";
    for (const SweepCost& c : costs) svg << fmt::format("{:.1f},{:.1f} ", x(c.rows), y(c.*member));
    svg << fmt::format("'/>\n<text x='545' y='{:.0f}' fill='{}'>{}</text>\n", y(costs.back().*member) + 4, colour, name);
  };
  line(&SweepCost::dense, "#c0392b", "dense");
  line(&SweepCost::sparse, "#2471a3", "sparse");
  line(&SweepCost::matrix_free, "#1e8449", "matrix-free");
  for (const SweepCost& c : costs)
    svg << fmt::format("<text x='{:.0f}' y='346' text-anchor='middle'>{}</text>\n", x(c.rows), c.rows);
  for (double t = 1e-6; t < 1; t *= 10)
    if (t > low && t < high) svg << fmt::format("<text x='54' y='{:.0f}' text-anchor='end'>{:g} us</text>\n", y(t) + 4, 1e6 * t);
  svg << "<text x='300' y='368' text-anchor='middle'>rows of a pile of spheres; time per sweep of pgs</text>\n</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::string prefix;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--plot="))
      prefix = argument.substr(7);
    else
      rest.push_back(argv[i]);
  }
  const bench::Options options = bench::parse(static_cast<int>(rest.size()), rest.data());
  std::string json = fmt::format("{{\"machine\": \"{}\", \"sweeps\": [", bench::machine());
  const auto say = [&](const std::string& line) {
    if (!options.json) fmt::print("{}\n", line);
  };

  std::vector<SweepCost> costs;
  say("pgs, box friction, piles of spheres: time per sweep\n  rows  non-zeros   dense us  sparse us  matrix-free us  ns per "
      "non-zero");
  for (const int spheres : {27, 64, 125, 216, 343}) {
    costs.push_back(sweep_cost(testing::sphere_pile(spheres, {.mu = 0.5, .cone = false})));
    const SweepCost& c = costs.back();
    const double per_nonzero = 1e9 * c.sparse / c.nonzeros;
    say(fmt::format("{:6} {:10.0f} {:10.1f} {:10.2f} {:15.2f} {:16.2f}", c.rows, c.nonzeros, 1e6 * c.dense, 1e6 * c.sparse,
                    1e6 * c.matrix_free, per_nonzero));
    json += fmt::format(
        "{}{{\"rows\": {}, \"nonzeros\": {:.0f}, \"dense_s\": {:.4g}, \"sparse_s\": {:.4g}, \"matrix_free_s\": {:.4g}}}",
        costs.size() > 1 ? ", " : "", c.rows, c.nonzeros, c.dense, c.sparse, c.matrix_free);
  }
  if (!prefix.empty()) plot(costs, prefix);
  json += "], \"fclib\": [";

  bool first = true;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ROTULE_SOURCE_DIR "/data/fclib"))
    if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const ConstraintProblem p = read_fclib(file.string());
    say(fmt::format("\n{}: {} contacts; ms (iterations) to", file.stem().string(), p.blocks.size()));
    say(fmt::format("  {:24}{:>18}{:>18}{:>18}{:>18}", "", "1e-2", "1e-4", "1e-6", "1e-8"));
    for (NamedSolver solver : solver_list()) {
      SolverChoice& settings = solver.settings;
      std::string line;
      for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8}) {
        if (!settings.traits().cone) break;
        if (auto* its_own = settings.find<double>("tolerance")) *its_own = tolerance;
        if (line.empty()) line = fmt::format("  {:24}", solver.name);
        std::string cell = "-";
        try {
          const Run run = measure(p, settings, 0.01);
          if (run.report.residual <= tolerance) {
            cell = fmt::format("{:.2f} ({})", 1e3 * run.seconds, run.report.iterations);
            json +=
                fmt::format("{}{{\"file\": \"{}\", \"solver\": \"{}\", \"tolerance\": {:g}, \"s\": {:.4g}, \"iterations\": {}}}",
                            first ? "" : ", ", file.stem().string(), solver.name, tolerance, run.seconds, run.report.iterations);
            first = false;
          }
        } catch (const std::exception&) {
          cell = "refused";
        }
        line += fmt::format("{:>18}", cell);
        if (cell == "-" || cell == "refused") break;  // what it cannot reach, it cannot reach more exactly
      }
      if (!line.empty()) say(line);
    }
  }
  bench::publish(options, json + "]}");
}
