// The same scenes in several engines, side by side: each engine makes a few steps in turn, so that what else the machine does
// falls on all alike. CPU milliseconds per step (median), ratio to Bullet, and what the motion was worth: the deepest overlap,
// how far anything moved, how wide joints came open. Figures go to a CSV file as well.
//
//   peers [SCENE]... [--steps N] [--threads N] [--substeps N] [--engines a,b] [--csv FILE]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

#include "bench/report.h"
#include "peers/engines.h"

namespace {

using namespace peers;

/// What of a scene is measured: steps from, to. A pile is another thing while it falls than when it rests.
struct Window {
  std::string name;
  int from, to;
};
std::vector<Window> windows_of(const Scene& scene) {
  if (scene.name == "pile_5000_boxes") return {{"in motion", 150, 300}, {"at rest", 400, 600}};
  if (scene.name == "ragdolls_200") return {{"", 400, 600}};
  return {{"", 0, scene.steps}};
}

struct Arguments {
  std::vector<std::string> scenes, engines{"rotule", "bullet"};
  int steps = 0, threads = 1, substeps = 0;
  std::string csv;
};

Arguments read(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(word + " needs a value");
      return argv[++i];
    };
    if (word == "--steps") {
      out.steps = std::stoi(value());
    } else if (word == "--threads") {
      out.threads = std::stoi(value());
    } else if (word == "--substeps") {
      out.substeps = std::stoi(value());
    } else if (word == "--engines") {
      out.engines.clear();
      std::istringstream list(value());
      for (std::string name; std::getline(list, name, ',');) out.engines.push_back(name);
    } else if (word == "--csv") {
      out.csv = value();
    } else if (word.starts_with("--benchmark_out=")) {
      out.csv = word.substr(16) + ".csv";
    } else if (!word.starts_with("--")) {
      out.scenes.push_back(word);
    }
  }
  if (out.scenes.empty())
    out.scenes = {"brick_wall", "tripods", "marble_box", "chain_on_floor", "pyramid_40", "pile_5000_boxes", "ragdolls_200"};
  return out;
}

struct Runner {
  std::string name;
  std::unique_ptr<Engine> engine;
  std::string refusal;
  std::vector<double> ms;  // per step
  double widest = 0;
};

std::vector<Runner> runners(const Scene& scene, const Arguments& arguments) {
  const std::map<std::string, std::function<std::unique_ptr<Engine>()>> known{
      {"rotule", [&] { return make_rotule(scene, {.threads = arguments.threads, .substeps = arguments.substeps}); }},
      {"reference", [&] { return make_rotule(scene, {.realtime = false, .threads = arguments.threads}); }},
#ifdef ROTULE_BENCH_BULLET
      {"bullet", [&] { return make_bullet(scene); }},
#endif
  };
  std::vector<Runner> out;
  for (const std::string& name : arguments.engines) {
    const auto found = known.find(name);
    if (found == known.end()) continue;
    Runner& runner = out.emplace_back();
    runner.name = name;
    try {
      runner.engine = found->second();
    } catch (const std::exception& error) {
      runner.refusal = error.what();
    }
  }
  return out;
}

std::vector<Pose> poses(const Scene& scene, const Engine& engine) {
  std::vector<Pose> out;
  for (int i = 0; i < int(scene.bodies.size()); ++i) out.push_back(engine.pose(i));
  return out;
}

void compare(const std::string& name, const Arguments& arguments, std::ostream& csv) {
  const Scene scene = read_scene(std::string(ROTULE_SOURCE_DIR) + "/bench/peers/scenes/" + name + ".json");
  const int steps = arguments.steps > 0 ? arguments.steps : scene.steps;
  std::vector<Runner> all = runners(scene, arguments);
  constexpr int turn = 10;  // steps that one makes before it is the next one's
  for (int done = 0; done < steps; done += turn)
    for (Runner& runner : all) {
      if (!runner.engine) continue;
      for (int k = done; k < std::min(steps, done + turn); ++k) {
        const double before = rotule::bench::cpu_seconds();
        runner.engine->step();
        runner.ms.push_back(1e3 * (rotule::bench::cpu_seconds() - before));
        if (!scene.joints.empty()) runner.widest = std::max(runner.widest, widest_joint(scene, poses(scene, *runner.engine)));
      }
    }
  for (const Window& window : windows_of(scene)) {
    const int from = std::min(window.from, steps), to = std::min(window.to, steps);
    if (from >= to) continue;
    const auto time = [&](const Runner& r) { return rotule::bench::median({r.ms.begin() + from, r.ms.begin() + to}); };
    double bullet = 0;
    for (const Runner& r : all)
      if (r.name == "bullet" && r.engine) bullet = time(r);
    for (const Runner& r : all) {
      const std::string title = name + (window.name.empty() ? "" : ", " + window.name);
      if (!r.engine) {
        std::cout << fmt::format("{:<30} {:<10} {}\n", title, r.name, r.refusal);
        continue;
      }
      const Quality q = quality_of(scene, poses(scene, *r.engine));
      std::cout << fmt::format("{:<30} {:<10} {:>9.4f} {:>7.3f} {:>9.2f} {:>9.2f} {:>9.1f} {:>9.2f} {:>9.2f}{}\n", title, r.name,
                               time(r), bullet > 0 ? time(r) / bullet : 0, 1e3 * q.deepest, 1e3 * q.mean_depth, 1e3 * q.moved,
                               1e3 * q.joint_gap, 1e3 * r.widest, q.finite ? "" : "  not finite");
      csv << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", title, r.name, arguments.threads, time(r),
                         bullet > 0 ? time(r) / bullet : 0, q.deepest, q.mean_depth, q.moved, q.joint_gap, r.widest);
    }
  }
  std::cout.flush();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = read(argc, argv);
    std::ofstream csv;
    if (!arguments.csv.empty()) csv.open(arguments.csv);
    csv << "# " << rotule::bench::machine()
        << "\nscene,engine,threads,ms_per_step,ratio_to_bullet,deepest,mean_depth,moved,joint_gap,widest_joint\n";
    std::cout << fmt::format(
        "{:<30} {:<10} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}\n{:<30} {:<10} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "scene", "engine", "CPU ms", "/Bullet", "deepest", "mean", "moved", "joints", "widest", "", "", "a step", "", "mm", "mm",
        "mm", "mm", "mm");
    for (const std::string& scene : arguments.scenes) compare(scene, arguments, csv);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "peers: " << error.what() << "\n";
    return 2;
  }
}
