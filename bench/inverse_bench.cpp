// Inverse problems: solves per second of an arm of seven axes, with and without limits, from near a solution, from zero and from
// a random posture; a chain of a thousand links led to points within its reach; the mannequin's inverse dynamics per evaluation.
#include <rotule/inverse.h>
#include <rotule/inverse_dynamics.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;
using bench::cpu_seconds;

constexpr int axes = 7;
constexpr int solves = 20000;
using Posture = std::array<double, axes>;

/// Axes along and across the links in turn; limits of 170 and 120 degrees where asked for.
Scene arm_scene(bool limits) {
  constexpr std::array lengths{0.34, 0.2, 0.2, 0.2, 0.2, 0.2, 0.126};
  Scene scene;
  std::string before = "world";
  double z = 0;
  for (int k = 0; k < axes; ++k) {
    const double length = lengths[static_cast<std::size_t>(k)];
    const std::string name = "link" + std::to_string(k);
    scene.add({.name = name, .mass = 2, .position = {0, 0, z + length / 2}, .shape = Box{Vec3(0.08, 0.08, length)}});
    Hinge hinge{.name = "axis" + std::to_string(k),
                .between = {before, name},
                .at = {0, 0, z},
                .axis = k % 2 ? Vec3::UnitY() : Vec3::UnitZ()};
    if (limits) {
      const double most = (k % 2 ? 120 : 170) * std::numbers::pi / 180;
      hinge.drive.lower = -most;
      hinge.drive.upper = most;
    }
    scene.add(hinge);
    before = name;
    z += length;
  }
  return scene;
}
const Vec3 tip(0, 0, 0.063);

enum class Start { near, zero, random };

struct ArmFigures {
  std::string name;
  double per_second = 0, iterations = 0;
  int missed = 0, of = solves;
};

ArmFigures time_arm(bool limits, Start from) {
  const Arm chain(World(arm_scene(limits)), "link6", tip);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(-1, 1);
  std::vector<Pose> targets;
  std::vector<Posture> starts;
  for (int n = 0; n < solves; ++n) {
    Posture goal{}, start{};
    for (std::size_t k = 0; k < axes; ++k) {
      const double most = (k % 2 ? 120 : 170) * std::numbers::pi / 180;
      goal[k] = most * share(random);
      const double other = most * share(random);
      start[k] = from == Start::zero ? 0 : from == Start::random ? other : goal[k] + 0.3 * share(random);
    }
    targets.push_back(chain.tip(goal));
    starts.push_back(start);
  }
  ArmFigures out{.name = fmt::format("arm of 7 axes, {} limits, from {}", limits ? "with" : "without",
                                     from == Start::near   ? "near"
                                     : from == Start::zero ? "zero"
                                                           : "anywhere")};
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    out.missed = 0;
    out.iterations = 0;
    const double begin = cpu_seconds();
    for (std::size_t n = 0; n < solves; ++n) {
      Posture q = starts[n];
      const Arm::Outcome outcome = chain.solve(targets[n], q);
      out.missed += outcome.reached ? 0 : 1;
      out.iterations += outcome.iterations / static_cast<double>(solves);
    }
    seconds.push_back(cpu_seconds() - begin);
  }
  out.per_second = solves / *std::min_element(seconds.begin(), seconds.end());
  return out;
}

/// The same arm as bodies and joints, from zero.
ArmFigures time_bodies(bool limits) {
  constexpr int few = 200;
  const Scene scene = arm_scene(limits);
  const Arm chain(World(scene), "link6", tip);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(-1, 1);
  ArmFigures out{.name = fmt::format("the same by inverse_kinematics, {} limits, from zero", limits ? "with" : "without"),
                 .of = few};
  double seconds = 0;
  for (int n = 0; n < few; ++n) {
    Posture goal{};
    for (std::size_t k = 0; k < axes; ++k) goal[k] = (k % 2 ? 120 : 170) * std::numbers::pi / 180 * share(random);
    const Pose to = chain.tip(goal);
    World world(scene);
    const std::vector<Target> targets{PointTarget{.body = "link6", .at = tip, .to = to.position},
                                      OrientationTarget{.body = "link6", .orientation = to.orientation}};
    const double begin = cpu_seconds();
    const InverseReport report = inverse_kinematics(world, targets, {.tolerance = 1e-10});
    seconds += cpu_seconds() - begin;
    out.iterations += report.iterations / static_cast<double>(few);
    out.missed += report.reached ? 0 : 1;
  }
  out.per_second = few / seconds;
  return out;
}

struct ChainFigures {
  Vec3 to;
  double seconds = 0, error = 0;
  int iterations = 0;
  bool reached = false;
};

ChainFigures time_chain(const Vec3& to) {
  World world(scenes::chain(1000));
  const std::vector<Target> target{PointTarget{.body = world.name(world.bodies().back()), .to = to}};
  const double begin = cpu_seconds();
  const InverseReport report = inverse_kinematics(world, target);
  return {to, cpu_seconds() - begin, report.error, report.iterations, report.reached};
}

/// Microseconds per evaluation.
double time_mannequin(bool by_rows) {
  World world(scenes::mannequin(), recipes::exact());
  for (int i = 0; i < 20; ++i) world.step(5e-3);
  const MotionState motion = motion_of(world);
  InverseDynamics inverse(world, {.by_rows = by_rows});
  const int evaluations = by_rows ? 500 : 20000;
  std::vector<double> seconds;
  for (int round = 0; round < 7; ++round) {
    const double begin = cpu_seconds();
    for (int i = 0; i < evaluations; ++i) inverse.solve(motion);
    seconds.push_back(cpu_seconds() - begin);
  }
  return 1e6 * *std::min_element(seconds.begin(), seconds.end()) / evaluations;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  std::string rows;
  const auto row = [&](const std::string& json, const std::string& text) {
    rows += (rows.empty() ? "    " : ",\n    ") + json;
    if (!options.json) fmt::print("{}\n", text);
  };
  if (!options.json)
    fmt::print("inverse problems on {}; seconds of processor time, the fastest of some rounds\n", bench::machine());
  const auto arm_row = [&](const ArmFigures& f) {
    row(fmt::format(R"({{"what": "{}", "per_second": {:.0f}, "iterations": {:.2f}, "missed": {}, "of": {}}})", f.name,
                    f.per_second, f.iterations, f.missed, f.of),
        fmt::format("{:<52} {:8.0f} solves/s  {:5.1f} iterations  {} of {} missed", f.name, f.per_second, f.iterations, f.missed,
                    f.of));
  };
  for (const bool limits : {false, true})
    for (const Start from : {Start::near, Start::zero, Start::random}) arm_row(time_arm(limits, from));
  for (const bool limits : {false, true}) arm_row(time_bodies(limits));
  for (const Vec3& to : {Vec3(60, 40, -90), Vec3(0, 0, -20), Vec3(-100, 3, 0), Vec3(190, 0, -5), Vec3(900, 0, 900)}) {
    const ChainFigures f = time_chain(to);
    row(fmt::format(
            R"({{"what": "chain of 1,000 links", "to": [{}, {}, {}], "seconds": {:.4f}, "iterations": {}, "reached": {}, "error": {:.3g}}})",
            to.x(), to.y(), to.z(), f.seconds, f.iterations, f.reached, f.error),
        fmt::format("chain of 1,000 links to ({:g}, {:g}, {:g}): {:.3f} s, {} iterations, {}, error {:.1e}", to.x(), to.y(),
                    to.z(), f.seconds, f.iterations, f.reached ? "reached" : "closest pose", f.error));
  }
  for (const bool by_rows : {false, true}) {
    const double us = time_mannequin(by_rows);
    row(fmt::format(R"({{"what": "inverse dynamics of the mannequin{}", "microseconds": {:.3f}}})", by_rows ? " by rows" : "",
                    us),
        fmt::format("inverse dynamics of the mannequin, {}: {:.2f} us per evaluation", by_rows ? "by rows" : "by recursion", us));
  }
  publish(options, fmt::format("{{\n  \"machine\": \"{}\",\n  \"rows\": [\n{}\n  ]\n}}", bench::machine(), rows));
}
