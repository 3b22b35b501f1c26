// Parareal on two threads against the same fine run in order (A12): wall time, and the error of both against a reference. The
// fine run and the parareal run alternate and are repeated; the shortest of each counts. Beside it, what two free cores would
// take: the CPU time of the coarse runs and half of that of the fine ones, for machines that are busy otherwise.
// --repeat=N (5 unless told).
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "report.h"
#include "scenes/builders.h"
#include "world/world_implementation.h"

namespace {

using namespace rotule;

struct Case {
  const char* scene;
  double duration;
  const char* fine;
  double fine_step;    // s, or the tolerance of an adaptive method
  const char* coarse;  // likewise
  double coarse_step;
  int slices;
};

Recipe recipe_of(const Scene& scene, const char* method, double step) {
  Recipe out = scene.recipe;
  set(out, "integrator", method);
  if (std::string_view(method).starts_with("dormand")) {
    set(out, "integrator.relative_tolerance", fmt::format("{}", step));
    out.dt = 1e9;
  } else {
    out.dt = step;
  }
  return out;
}

double apart(const World& a, const World& b) {
  const State &p = implementation_of(a).state, &q = implementation_of(b).state;
  VecX sigma(p.u.size());
  difference(p, q, sigma);
  return std::max(sigma.cwiseAbs().maxCoeff(), (p.u - q.u).cwiseAbs().maxCoeff());
}

/// The whole run in order.
void run_in_order(World& world, double duration) {
  const double dt = world.recipe().dt;
  const auto steps = dt > duration ? 1 : std::llround(duration / dt);
  for (std::int64_t i = 0; i < steps; ++i) world.step(duration / static_cast<double>(steps));
}

template <class Work>
std::array<double, 2> wall_and_cpu(Work&& work) {
  const double cpu = bench::cpu_seconds();
  const auto before = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
  return {taken.count(), bench::cpu_seconds() - cpu};
}

void measure(const Case& c, int repeat) {
  const Scene scene = *scenes::build(c.scene);
  World reference(scene, recipe_of(scene, "dormand_prince_8", 1e-14));
  reference.step(c.duration);

  const Recipe fine = recipe_of(scene, c.fine, c.fine_step);
  PararealSettings settings{.slices = c.slices, .threads = 2, .coarse = recipe_of(scene, c.coarse, c.coarse_step)};
  double wall_serial = infinity, wall_parareal = infinity, cpu_serial = infinity, cpu_parareal = infinity;
  double error_serial = 0, error_parareal = 0;
  PararealReport report;
  for (int i = 0; i < repeat; ++i) {
    World in_order(scene, fine), in_slices(scene, fine);
    // As close to the fine run as that is to the truth.
    const auto [wall, cpu] = wall_and_cpu([&] { run_in_order(in_order, c.duration); });
    error_serial = apart(in_order, reference);
    settings.tolerance = 0.1 * error_serial;
    const auto [wall_2, cpu_2] = wall_and_cpu([&] { report = run_parareal(in_slices, c.duration, settings); });
    error_parareal = apart(in_slices, reference);
    wall_serial = std::min(wall_serial, wall);
    cpu_serial = std::min(cpu_serial, cpu);
    wall_parareal = std::min(wall_parareal, wall_2);
    cpu_parareal = std::min(cpu_parareal, cpu_2);
  }
  const double fine_cpu = cpu_serial * report.fine_slices / c.slices;
  const double free_cores = std::max(0.0, cpu_parareal - fine_cpu) + 0.5 * fine_cpu;
  fmt::print("{:<16} {:>6g} {:>20} {:>20} {:>6} {:>6} {:>10.1e} {:>10.1e} {:>10.3f} {:>8.2f} {:>10.2f}\n", c.scene, c.duration,
             fmt::format("{} {:g}", c.fine, c.fine_step), fmt::format("{} {:g}", c.coarse, c.coarse_step), c.slices,
             report.rounds, error_serial, error_parareal, wall_serial, wall_serial / wall_parareal, cpu_serial / free_cores);
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--repeat=")) {
      repeat = std::max(1, std::atoi(argv[i] + 9));
    } else if (!std::string_view(argv[i]).starts_with("--benchmark_")) {
      fmt::print(stderr, "usage: {} [--repeat=N]\n", argv[0]);
      return 2;
    }
  }
  fmt::print("parareal on two threads, on {}\n{:<16} {:>6} {:>20} {:>20} {:>6} {:>6} {:>10} {:>10} {:>10} {:>8} {:>10}\n",
             bench::machine(), "scene", "s", "fine", "coarse", "slices", "rounds", "error", "parareal's", "serial, s", "faster",
             "free cores");
  for (const Case& c : {
           // An orbit, a spinning top and limbs that sway: one round is enough, and the coarse run costs little.
           Case{"kepler", 12, "rk4", 1e-4, "dormand_prince_8", 1e-7, 2},
           Case{"gyroscope", 10, "rk4", 2e-4, "dormand_prince_8", 1e-7, 2},
           Case{"mannequin", 20, "rk4", 0.004, "dormand_prince_8", 1e-6, 2},
           Case{"mannequin", 20, "rk4", 0.004, "dormand_prince_8", 1e-6, 8},
           Case{"mannequin", 60, "rk4", 0.004, "dormand_prince_8", 1e-6, 2},
           // A coarse run of the same method: rougher for the same cost, and a second round takes all back.
           Case{"mannequin", 20, "rk4", 0.004, "rk4", 0.032, 2},
           Case{"mannequin", 20, "rk4", 0.004, "rk4", 0.064, 2},
           Case{"gyroscope", 10, "rk4", 2e-4, "rk4", 3.2e-3, 2},
           // A fine method that is cheap already leaves the coarse one little to save.
           Case{"kepler", 120, "dormand_prince_8", 1e-12, "dormand_prince_8", 1e-7, 2},
           Case{"mannequin", 60, "dormand_prince_8", 1e-12, "dormand_prince_8", 1e-8, 2},
           // A chaotic motion, before and after it has lost all digits.
           Case{"double_pendulum", 4, "rk4", 2e-4, "dormand_prince_8", 1e-8, 2},
           Case{"double_pendulum", 20, "rk4", 2e-4, "dormand_prince_8", 1e-7, 2},
       })
    measure(c, repeat);
}
