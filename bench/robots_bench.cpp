// What a step of a robot with contacts costs, and MuJoCo's beside it where its package is installed: the same file, the same
// step, in one process, turn by turn, in CPU time. Phases: the first second, in which it falls, and the fifth, in which it lies.
// Answers of both are judged by the same judge, each by the laws of its own problem: hard contacts here, soft ones there.
//   robots_bench [FILE] [--rounds N] [--setting realtime|balanced] [--steps N: ours alone, once, for a profiler]
//   robots_bench [FILE] --sensors SECONDS: what sensors say after so long, here and there
#include <rotule/error.h>
#include <rotule/recipe.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>

#include "report.h"
#ifdef ROTULE_BENCH_MUJOCO
#include "mujoco_peer.h"
#endif

namespace {

using namespace rotule;
using bench::cpu_seconds;

struct Phase {
  std::vector<double> seconds;  // per step, one per round
  double contacts = 0, residual = 0, worst = 0;
};

constexpr int phases = 2;
constexpr double phase_begins[phases] = {0, 4}, phase_length = 1;

struct Run {
  explicit Run(const Scene& scene, const Recipe& recipe) : world(scene, recipe) {}
  void go(int count, Phase* phase) {
    double sum = 0, contacts = 0, worst = 0;
    const double start = cpu_seconds();
    for (int k = 0; k < count; ++k) {
      const StepReport& report = world.step();
      sum += report.residual;
      worst = std::max(worst, report.residual);
      contacts += report.contacts;
    }
    if (!phase) return;
    phase->seconds.push_back((cpu_seconds() - start) / count);
    phase->contacts = contacts / count;
    phase->residual = sum / count;
    phase->worst = worst;
  }
  World world;
};

#ifdef ROTULE_BENCH_MUJOCO
/// What sensors say here and there after falling freely, motors at the controls of the start.
void compare_sensors(const std::string& file, Robot robot, double seconds) {
  for (JointDef& joint : robot.scene.joints)
    std::visit(
        [](auto& def) {
          if constexpr (requires { def.drive; }) {
            def.drive.lower.reset();
            def.drive.upper.reset();
            def.drive.friction = 0;
          }
        },
        joint);
  Recipe recipe = recipes::exact();
  recipe.integrator = DormandPrince8Settings{{.relative_tolerance = 1e-12}};
  World world(robot.scene, recipe);
  world.step(seconds);
  Sensors sensors(robot, world);
  sensors.read(world);
  bench::MujocoPeer peer(file, 1e-4);
  peer.fall(seconds);
  fmt::print("{}: sensors after {} s of free motion\n", robot.scene.name, seconds);
  for (const RobotSensor& sensor : sensors.list()) {
    const std::span<const double> ours = sensors.of(sensor.name), theirs = peer.sensed(sensor.name);
    if (theirs.size() != ours.size()) continue;
    double size = 0, apart = 0;
    for (std::size_t k = 0; k < ours.size(); ++k) {
      size = std::max(size, std::abs(theirs[k]));
      apart = std::max(apart, std::abs(ours[k] - theirs[k]));
    }
    fmt::print("  {:<16} {:<28} at most {:>9.3g} {:<8} apart {:.1e}\n", sensor.type, sensor.name, size, sensor.unit, apart);
  }
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  std::string file = ROTULE_SOURCE_DIR "/scenes/robots/humanoid.xml", setting = "balanced";
  int rounds = 5, steps = 0;
  double sensed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--rounds" && more)
      rounds = std::atoi(argv[++i]);
    else if (argument == "--setting" && more)
      setting = argv[++i];
    else if (argument == "--steps" && more)
      steps = std::atoi(argv[++i]);
    else if (argument == "--sensors" && more)
      sensed = std::atof(argv[++i]);
    else if (!argument.starts_with("-"))
      file = argument;
    else if (!argument.starts_with("--benchmark_"))
      throw Error(std::string(argument),
                  "unknown; robots_bench [FILE] [--rounds N] [--setting realtime|balanced] [--steps N] [--sensors SECONDS]");
  }
  const Robot robot = read_robot(file);
  if (sensed > 0) {
#ifdef ROTULE_BENCH_MUJOCO
    compare_sensors(file, robot, sensed);
    return 0;
#else
    throw Error("robots_bench", "has no MuJoCo to compare with (package libmujoco-dev)");
#endif
  }
  Recipe recipe = recipe_for(robot.scene, setting == "realtime" ? Dial::realtime : Dial::balanced);
  recipe.dt = robot.scene.recipe.dt;
  if (steps > 0) {
    Run run(robot.scene, recipe);
    run.go(steps, nullptr);
    return 0;
  }
  fmt::print("{}: {}, steps of {} s, CPU time, median of {} rounds\n", robot.scene.name, bench::machine(), recipe.dt, rounds);
  const auto at = [&](double seconds) { return static_cast<int>(std::lround(seconds / recipe.dt)); };
  Phase ours[phases];
#ifdef ROTULE_BENCH_MUJOCO
  std::vector<bench::PeerPhase> theirs(phases);
#endif
  for (int round = 0; round < rounds; ++round) {
    Run run(robot.scene, recipe);
#ifdef ROTULE_BENCH_MUJOCO
    bench::MujocoPeer peer(file, recipe.dt);
#endif
    int done = 0;
    for (int p = 0; p < phases; ++p) {
      const int first = at(phase_begins[p]), count = at(phase_length);
      run.go(first - done, nullptr);
      run.go(count, &ours[p]);
#ifdef ROTULE_BENCH_MUJOCO
      peer.go(first - done, nullptr);
      peer.go(count, &theirs[p]);
#endif
      done = first + count;
    }
  }
#ifdef ROTULE_BENCH_MUJOCO
  bench::MujocoPeer judged(file, recipe.dt);
  for (int p = 0, done = 0; p < phases; ++p) {
    const int first = at(phase_begins[p]), count = at(phase_length);
    judged.judge(first - done, nullptr);
    judged.judge(count, &theirs[p]);
    done = first + count;
  }
#endif
  for (int p = 0; p < phases; ++p) {
    fmt::print("second {}: {:.1f} us a step, {:.1f} contacts, residual {:.1e} mean, {:.1e} at most\n", phase_begins[p] + 1,
               1e6 * bench::median(ours[p].seconds), ours[p].contacts, ours[p].residual, ours[p].worst);
#ifdef ROTULE_BENCH_MUJOCO
    fmt::print(
        "  MuJoCo: {:.1f} us a step, {:.1f} contacts, residual {:.1e} mean, {:.1e} at most (its gradient {:.1e}); ours over "
        "theirs {:.2f}\n",
        1e6 * bench::median(theirs[p].seconds), theirs[p].contacts, theirs[p].residual, theirs[p].worst, theirs[p].gradient,
        bench::median(ours[p].seconds) / bench::median(theirs[p].seconds));
#endif
  }
  return 0;
} catch (const Error& error) {
  fmt::print(stderr, "robots_bench: {}\n", error.what());
  return 2;
}
