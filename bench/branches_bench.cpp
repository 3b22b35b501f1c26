// One large mechanism over several threads (A12): wall time of a step on one thread and on more, the same bits, and how much of
// the work is shared out. A tree of 1,000 bodies with loops; each figure is the best of several runs, one after the other in
// turn.
#include <fmt/format.h>
#include <rotule/world.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "base/gang.h"

namespace {

using namespace rotule;

/// Every body has `children` below it; every few pairs of neighbours are tied by a rod, which closes a loop.
Scene tree(int bodies, int children, bool hinges) {
  Scene scene;
  std::vector<Vec3> at;
  const auto name = [](int i) { return fmt::format("b{}", i); };
  for (int i = 0; i < bodies; ++i) {
    const int parent = (i - 1) / children, child = (i - 1) % children;
    at.emplace_back(i == 0 ? Vec3(0, 0, 0)
                           : Vec3(at[parent] + Vec3(child - 0.4 * children, 0.3 + 0.1 * (i % 3), -0.5 - 0.01 * (i % 7))));
    scene.add({.name = name(i),
               .mass = 1 + 0.1 * (i % 5),
               .position = at.back(),
               .shape = Box{Vec3(0.2, 0.15, 0.1)},
               .contacts = false});
    const Vec3 where = i == 0 ? Vec3(0, 0, 0.3) : Vec3(0.5 * (at[parent] + at[i]));
    const std::string other = i == 0 ? "world" : name(parent);
    if (hinges)
      scene.add(Hinge{.between = {other, name(i)}, .at = where, .axis = i % 2 ? Vec3(0, 1, 0) : Vec3(0, 0, 1)});
    else
      scene.add(Ball{.between = {other, name(i)}, .at = where});
    if (i > 1 && i % 4 == 0 && (i - 2) / children == parent)
      scene.add(Rod{.between = {name(i - 1), name(i)}, .from = at[i - 1], .to = at[i]});
  }
  return scene;
}

struct Run {
  std::vector<double> wall, cpu;  // s, of each step, the shortest of all rounds
  std::uint64_t hash = 0;
};

/// Steps are short, so that some of many find the machine's cores free, even where others are at work.
void measure(const Scene& scene, Recipe recipe, int threads, int steps, Run& best) {
  recipe.threads = threads;
  World world(scene, recipe);
  world.step();
  best.wall.resize(static_cast<std::size_t>(steps), infinity);
  best.cpu.resize(static_cast<std::size_t>(steps), infinity);
  for (std::size_t i = 0; i < best.wall.size(); ++i) {
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    world.step();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    best.wall[i] = std::min(best.wall[i], wall.count());
    best.cpu[i] = std::min(best.cpu[i], static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  best.hash = world.state_hash();
}

double mean(const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size()); }

/// CPU seconds per step that threads spend at work in the stages that they share, waiting left out.
double shared_out(const Scene& scene, Recipe recipe, int steps) {
  recipe.threads = 2;
  World world(scene, recipe);
  world.step();
  Gang::watch(true);
  for (int i = 0; i < steps; ++i) world.step();
  Gang::watch(false);
  return Gang::effort().busy / steps;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 10;
  fmt::print("{:<34} {:>10} {:>10} {:>8} {:>12} {:>6}\n", "1,000 bodies", "1: ms/step", "2: ms/step", "faster", "shared out",
             "hash");
  for (const bool hinges : {true, false})
    for (const char* method : {"dormand_prince_8", "rk4", "velocity"}) {
      const Scene scene = tree(1000, hinges ? 2 : 3, hinges);
      Recipe recipe = std::string(method) == "velocity" ? recipes::balanced() : recipes::exact();
      if (std::string(method) == "dormand_prince_8") recipe.integrator = DormandPrince8Settings{};
      Run one, two;
      for (int round = 0; round < rounds; ++round) {
        measure(scene, recipe, 1, 10, one);
        measure(scene, recipe, 2, 10, two);
      }
      fmt::print("{:<34} {:>10.3f} {:>10.3f} {:>8.2f} {:>11.0f}% {:>6}\n",
                 fmt::format("{}, {}", hinges ? "hinges" : "balls", method), 1e3 * mean(one.wall), 1e3 * mean(two.wall),
                 mean(one.wall) / mean(two.wall), 100 * shared_out(scene, recipe, 10) / mean(one.cpu),
                 one.hash == two.hash ? "same" : "DIFFERS");
    }
}
