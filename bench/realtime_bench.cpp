// The real-time stepper by itself: what further threads are worth, how time and memory grow with the number of bodies, and what
// bodies cost that sleep.
//
//   realtime_bench [threads] [growth] [sleep] [cloth] [--most N] [--rounds N] [--csv FILE]
//
// threads  scenes of bench/peers, with 1, 2, 4 ... threads in turn, a few steps each: the best of many short rounds, so that what
//          else the machine does counts little; and by CPU time how much of a step is shared, which does not depend on luck
// growth   piles of 1,000 bodies and ten times as many, up to N: time and memory per body
// sleep    N bodies in piles of ten: a step while all sleep, and while one pile is awake
// cloth    10,000 particles fall over 20 bodies that stand on the ground: a step while they fall, drape and lie; and by how much
//          hanging cloths stretch beyond what their springs say
#include <fmt/format.h>
#include <rotule/rotule.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <vector>

#include "base/gang.h"
#include "bench/report.h"
#include "peers/engines.h"

namespace {

using namespace rotule;

struct Arguments {
  bool threads = false, growth = false, sleep = false, cloth = false;
  int most = 100000, rounds = 60;
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
    if (word == "threads") {
      out.threads = true;
    } else if (word == "growth") {
      out.growth = true;
    } else if (word == "sleep") {
      out.sleep = true;
    } else if (word == "cloth") {
      out.cloth = true;
    } else if (word == "--most") {
      out.most = std::stoi(value());
    } else if (word == "--rounds") {
      out.rounds = std::stoi(value());
    } else if (word == "--csv") {
      out.csv = value();
    } else if (word.starts_with("--benchmark_out=")) {
      out.csv = word.substr(16) + ".csv";
    } else if (!word.starts_with("--benchmark_")) {
      throw std::runtime_error("what is " + word + "?");
    }
  }
  if (!out.threads && !out.growth && !out.sleep && !out.cloth) out.threads = out.growth = out.sleep = out.cloth = true;
  return out;
}

/// Seconds of CPU that this thread has had.
double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Bytes of this process that are in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double all = 0, in_memory = 0;
  file >> all >> in_memory;
  return in_memory * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void compare_threads(const Arguments& arguments, std::ostream& csv) {
  constexpr int turn = 4;
  std::cout << "\nthreads: milliseconds a step, best of short rounds in turn, and what that gains; shared: part of the step's "
               "CPU time\n"
               "that threads can share; possible: the gain by CPU time, work of all threads counted\n";
  std::cout << fmt::format("{:<20} {:>8} {:>10} {:>8} {:>8} {:>9}\n", "scene", "threads", "ms", "gain", "shared", "possible");
  for (const auto& [name, from] : {std::pair("pile_5000_boxes", 150), std::pair("pile_5000_boxes", 400),
                                   std::pair("ragdolls_200", 60), std::pair("ragdolls_200", 400), std::pair("pyramid_40", 60)}) {
    const peers::Scene scene = peers::read_scene(std::string(ROTULE_SOURCE_DIR) + "/bench/peers/scenes/" + name + ".json");
    std::vector<int> counts{1, 2};
    for (int n = 4; n <= static_cast<int>(std::thread::hardware_concurrency()); n *= 2) counts.push_back(n);
    std::vector<std::unique_ptr<peers::Engine>> engines;
    for (const int threads : counts) {
      engines.push_back(peers::make_rotule(scene, {.threads = threads}));
      for (int k = 0; k < from; ++k) engines.back()->step();
    }
    // All make the same steps: by steps of a turn, so that each turn's best is comparable, and their sum is the time of the
    // window.
    std::vector<double> sum(counts.size(), 0), cpu(counts.size(), 0), busy(counts.size(), 0), stages(counts.size(), 0);
    for (int round = 0; round < arguments.rounds; ++round)
      for (std::size_t k = 0; k < counts.size(); ++k) {
        double best = std::numeric_limits<double>::infinity();
        Gang::watch(true);
        for (int step = 0; step < turn; ++step) {
          const double begun = now(), cpu_begun = cpu_now();
          engines[k]->step();
          cpu[k] += cpu_now() - cpu_begun;
          best = std::min(best, now() - begun);
        }
        sum[k] += best;
        busy[k] += Gang::effort().busy;
        stages[k] += Gang::effort().stages;
        Gang::watch(false);
      }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      // What is not shared, by the one that steps; what is, by all alike: without others on the machine, and without waiting.
      const double ms = 1e3 * sum[k] / arguments.rounds, shared = stages[k] / cpu[k],
                   possible = cpu[0] / (cpu[k] - stages[k] + busy[k] / counts[k]);
      const std::string title = fmt::format("{} {}", name, from);
      std::cout << fmt::format("{:<20} {:>8} {:>10.3f} {:>8.2f} {:>8.2f} {:>9.2f}\n", title, counts[k], ms, sum[0] / sum[k],
                               shared, possible);
      csv << fmt::format("threads,{},{},{},{},{},{}\n", title, counts[k], ms, sum[0] / sum[k], shared, possible);
    }
    std::cout.flush();
  }
}

/// Boxes in layers over a square, none quite above another, that fall into a pit.
Scene pile(int bodies) {
  Scene scene;
  const int side = static_cast<int>(std::ceil(std::cbrt(2.0 * bodies)));
  const double pitch = 0.62, half = 0.5 * pitch * side;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  for (int k = 0; k < 4; ++k) {
    const Vec3 along = k < 2 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 size = k < 2 ? Vec3(1, 2 * half + 4, 200) : Vec3(2 * half + 4, 1, 200);
    scene.add({.name = fmt::format("wall_{}", k),
               .fixed = true,
               .position = (k % 2 == 0 ? 1 : -1) * (half + 0.5) * along + Vec3(0, 0, 100),
               .shape = Box{.size = size}});
  }
  for (int i = 0; i < bodies; ++i) {
    const int layer = i / (side * side), x = i % side, y = i / side % side;
    scene.add({.mass = 1.0,
               .position = {pitch * (x + 0.5) - half + 0.05 * std::sin(1.7 * i),
                            pitch * (y + 0.5) - half + 0.05 * std::cos(2.3 * i), 0.4 + 0.6 * layer},
               .orientation = Quat(1, 0.1 * std::sin(i), 0.1 * std::cos(3 * i), 0.2 * std::sin(2 * i)).normalized(),
               .shape = Box{.size = {0.5, 0.5, 0.5}}});
  }
  return scene;
}

void grow(const Arguments& arguments, std::ostream& csv) {
  std::cout
      << "\ngrowth: a pile of boxes; microseconds of CPU of a step per body (best of rounds), bytes of the process per body\n";
  std::cout << fmt::format("{:>8} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "bodies", "falls, us", "rests, us", "bytes", "contacts",
                           "per body");
  constexpr int settle = 400, rounds = 40;
  double first = 0;
  for (int bodies = 1000; bodies <= arguments.most; bodies *= 10) {
    const double before = resident();
    auto world = [&] { return std::make_unique<World>(pile(bodies), recipes::fastest()); }();
    double falls = std::numeric_limits<double>::infinity(), rests = falls;
    int contacts = 0;
    for (int k = 0; k < settle; ++k) {
      const double begun = cpu_now();
      contacts = world->step().contacts;
      const double taken = cpu_now() - begun;
      if (k >= 60 && k < 60 + rounds) falls = std::min(falls, taken);
      if (k >= settle - rounds) rests = std::min(rests, taken);
    }
    const double bytes = (resident() - before) / bodies, falls_each = 1e6 * falls / bodies, rests_each = 1e6 * rests / bodies;
    if (first == 0) first = rests_each;
    std::cout << fmt::format("{:>8} {:>10.3f} {:>10.3f} {:>10.0f} {:>10} {:>12.2f}\n", bodies, falls_each, rests_each, bytes,
                             contacts, double(contacts) / bodies);
    csv << fmt::format("growth,{},{},{},{},{},\n", bodies, falls_each, rests_each, bytes, contacts);
    std::cout.flush();
  }
}

void sleep(const Arguments& arguments, std::ostream& csv) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  constexpr int height = 10;
  const int piles = arguments.most / height, side = static_cast<int>(std::ceil(std::sqrt(piles)));
  for (int i = 0; i < piles * height; ++i) {
    const int number = i / height;
    scene.add({.name = fmt::format("b{}", i),
               .mass = 1.0,
               .position = {2.0 * (number % side), 2.0 * (number / side), 0.25 + 0.5 * (i % height)},
               .shape = Box{.size = {0.5, 0.5, 0.5}}});
  }
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = 0.2};
  World world(scene, recipe);
  const int all = piles * height;
  int steps = 0;
  int asleep_then = 0;
  while ((asleep_then = world.step().asleep) < all && ++steps < 600) continue;
  const auto best_of = [&](int count) {
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < count; ++k) {
      const double begun = cpu_now();
      world.step();
      best = std::min(best, cpu_now() - begun);
    }
    return best;
  };
  const double quiet = best_of(50);
  const BodyId top = world.body(fmt::format("b{}", height - 1));
  const double begun = cpu_now();
  world.set_velocity(top, {1.5, 0, 0}, Vec3::Zero());
  const int asleep = world.step().asleep;
  const double waking = cpu_now() - begun, awake = best_of(5);
  std::cout << fmt::format("\nsleep: {} bodies, all asleep after {} steps ({} of them)\n", all, steps, asleep_then);
  std::cout << fmt::format(
      "  a step, all asleep       {:>9.4f} ms\n  the step that wakes one pile ({} awake) {:>9.4f} ms\n"
      "  a step with it awake     {:>9.4f} ms\n",
      1e3 * quiet, all - asleep, 1e3 * waking, 1e3 * awake);
  csv << fmt::format("sleep,{},{},{},{},,\n", all, 1e3 * quiet, 1e3 * waking, 1e3 * awake);
}

/// Bodies of five shapes on the ground, and a cloth of side x side particles over them.
Scene draped(int side) {
  Scene scene;
  scene.materials = {{.name = "wool", .friction = 0.4}};
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}, .material = "wool"});
  for (int i = 0; i < 20; ++i) {
    const std::vector<Shape> shapes{Sphere{0.12}, Box{Vec3(0.2, 0.2, 0.3)}, Capsule{0.09, 0.2}, Cylinder{0.1, 0.3},
                                    Ellipsoid{Vec3(0.12, 0.12, 0.15)}};
    const std::vector<double> high{0.12, 0.15, 0.19, 0.15, 0.15};
    const auto kind = static_cast<std::size_t>(i % 5);
    scene.add({.mass = 3.0,
               .position = {0.45 * (i % 5) - 0.9, 0.5 * (i / 5) - 0.75, high[kind]},
               .shape = shapes[kind],
               .material = "wool"});
  }
  scene.add(Cloth{.name = "cloth",
                  .at = {-1.2, -1.2, 0.4},
                  .along_x = {2.4, 0, 0},
                  .along_y = {0, 2.4, 0},
                  .columns = side,
                  .rows = side,
                  .mass = 1.2,
                  .stiffness = 1000,
                  .shear_stiffness = 500,
                  .bending_stiffness = 5,
                  .damping = 0.05,
                  .contact = ParticleContact{.material = "wool", .thickness = 0.004}});
  return scene;
}

/// The longest spring along a cloth's rows and columns over its rest length, and the mean one.
std::pair<double, double> stretch(const World& world, int side, double edge) {
  double longest = 0, sum = 0;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i + 1 < side; ++i)
      for (const auto& [a, b] : {std::pair(i + side * j, i + 1 + side * j), std::pair(j + side * i, j + side * (i + 1))}) {
        const double length = (world.particle_position(a) - world.particle_position(b)).norm() / edge;
        longest = std::max(longest, length);
        sum += length;
      }
  return {longest - 1, sum / (2 * side * (side - 1)) - 1};
}

void drape(std::ostream& csv) {
  constexpr int side = 100;
  std::cout << "\ncloth: 10,000 particles over 20 bodies on the ground; milliseconds of CPU of a step on one thread\n"
            << fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "substeps", "falls", "drapes", "lies", "worst",
                           "longest, %", "contacts");
  for (const int substeps : {8, 16}) {
    Recipe recipe = recipes::fastest();
    recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
    World world(draped(side), recipe);
    double falls = 0, drapes = 0, lies = 0, worst = 0;
    int contacts = 0;
    for (int k = 0; k < 300; ++k) {
      const double begun = cpu_now();
      contacts = world.step().contacts;
      const double taken = 1e3 * (cpu_now() - begun);
      if (k > 0) worst = std::max(worst, taken);
      if (k < 10) falls += taken / 10;
      if (k >= 20 && k < 60) drapes += taken / 40;
      if (k >= 240) lies += taken / 60;
    }
    const auto [longest, mean] = stretch(world, side, 2.4 / (side - 1));
    std::cout << fmt::format("{:>10} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.3f} {:>12}\n", substeps, falls, drapes, lies,
                             worst, 100 * longest, contacts);
    csv << fmt::format("cloth,{},{},{},{},{},{}\n", substeps, falls, drapes, lies, worst, longest);
  }
  std::cout << "\nhung by two corners for 10 s: stretch of springs along rows and columns, mean and longest, %\n"
            << fmt::format("{:>10} {:>10} {:>12} {:>12}\n", "particles", "substeps", "mean", "longest");
  for (const int count : {16, 32, 64})
    for (const int substeps : {8, 16, 64}) {
      Scene scene;
      scene.add({.name = "ground", .fixed = true, .position = {0, 0, -9}, .shape = Plane{}});
      scene.add(Cloth{.name = "cloth",
                      .columns = count,
                      .rows = count,
                      .mass = 1,
                      .stiffness = 5000,
                      .shear_stiffness = 2500,
                      .bending_stiffness = 10,
                      .damping = 1,
                      .pinned = {"x0y0", "x1y0"}});
      scene.add(Drag{.on = {"cloth"}, .viscous = 0.5 / (count * count)});
      Recipe recipe = recipes::fastest();
      recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
      World world(scene, recipe);
      for (int k = 0; k < 600; ++k) world.step();
      const auto [longest, mean] = stretch(world, count, 1.0 / (count - 1));
      std::cout << fmt::format("{:>10} {:>10} {:>12.4f} {:>12.3f}\n", count * count, substeps, 100 * mean, 100 * longest);
      csv << fmt::format("stretch,{},{},{},{},,\n", count * count, substeps, mean, longest);
    }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = read(argc, argv);
    std::ofstream csv;
    if (!arguments.csv.empty()) csv.open(arguments.csv);
    csv << "# " << bench::machine() << "\n";
    if (arguments.threads) compare_threads(arguments, csv);
    if (arguments.growth) grow(arguments, csv);
    if (arguments.sleep) sleep(arguments, csv);
    if (arguments.cloth) drape(csv);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "realtime_bench: " << error.what() << "\n";
    return 2;
  }
}
