// Mass-spring solids, explicit against implicit (E4).
//   1. The step at which explicit methods explode: predicted from the largest frequency, observed by bisection; implicit Euler at
//      100 times that step, and with 1000 times the stiffness.
//   2. A stiff cloth of 100 x 100, hung by two corners: CPU time until its sag stays within 1 % of the equilibrium's, by explicit
//      methods and by implicit steps that begin at rest; and 300 x 300 by the latter.
//   3. One implicit step on larger and larger cloths, and the memory held.
//   4. Nonlinear implicit Euler steps of 1/60 s and 0.1 s on cloths of 1 to 1e4 times the shipped stiffness, solved as minima.
// --quick leaves out all but small sizes; --part=2, 3 and 4 begin there.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <sys/resource.h>

#include <array>
#include <cmath>

#include "analyse/relaxation.h"
#include "bench/report.h"
#include "mechanism/jointed_mechanism.h"
#include "scenes/builders.h"
#include "world/world_implementation.h"

using namespace rotule;

namespace {

/// Implicit Euler by Newton's method, u+ = u + h a(q + h u+, u+).
struct ImplicitEuler {
  explicit ImplicitEuler(const World& world)
      : mechanism(implementation_of(world).model, world.recipe()), s(implementation_of(world).state) {}
  void step(double h, int newton_steps) {
    start = s;
    for (int k = 0; k < newton_steps; ++k) {
      sigma = h * s.u;
      mechanism.displace(start, sigma, s);
      mechanism.accelerations(0, s, udot);
      mechanism.linearise(0, s);
      rest = start.u + h * udot - s.u;
      mechanism.solve_implicit(h, h * h, rest, delta);
      s.u += delta;
    }
    sigma = h * s.u;
    mechanism.displace(start, sigma, s);
  }
  JointedMechanism mechanism;
  State s, start;
  VecX udot, sigma, rest, delta;
};

double energy(const Model& model, const State& s) {
  double twice = 0;
  for (int k = 0; k < s.particles(); ++k) twice += model.particles.mass[k] * s.particle_velocity(k).squaredNorm();
  return 0.5 * twice;
}

bool explodes(Scene scene, const IntegratorSettings& method, double h) {
  scene.recipe.dt = h;
  scene.recipe.integrator = method;
  World world(scene);
  for (int k = 0; k < world.particles(); k += 3)
    world.set_particle(k, world.particle_position(k), 1e-6 * Vec3(std::sin(k), std::cos(k), 0.5));
  const double start = energy(implementation_of(world).model, implementation_of(world).state);
  try {
    for (int i = 0; i < 1500; ++i) world.step();
  } catch (const Error&) {
    return true;
  }
  return energy(implementation_of(world).model, implementation_of(world).state) > 1e6 * start;
}

double explosion_step(const Scene& scene, const IntegratorSettings& method, double predicted) {
  double stable = 0.5 * predicted, unstable = 2 * predicted;
  while (unstable - stable > 0.002 * predicted) {
    const double h = 0.5 * (stable + unstable);
    (explodes(scene, method, h) ? unstable : stable) = h;
  }
  return stable;
}

/// Springs alone, weightless: the system whose frequencies are known.
Scene undamped(Scene scene) {
  scene.gravity.setZero();
  scene.forces.clear();
  for (SolidDef& solid : scene.solids)
    std::visit(
        [](auto& s) {
          if constexpr (requires { s.damping; }) s.damping = 0;
        },
        solid);
  return scene;
}

std::string explosions(bool quiet) {
  std::string rows;
  if (!quiet)
    fmt::print("1. largest stable step\n{:<10} {:<20} {:>13} {:>13} {:>8}   implicit Euler\n", "scene", "method", "predicted, s",
               "observed, s", "ratio");
  for (const Scene& full : {scenes::cloth(20), scenes::block(4)}) {
    const Scene scene = undamped(full);
    const double omega = largest_frequency(World(scene)).frequency;
    // Under its weight, at 100 times the largest explicit step, and there with 1000 times the stiffness.
    const auto survives = [&](double stiffer) {
      Scene stiff = full;
      for (SolidDef& solid : stiff.solids)
        std::visit(
            [&](auto& s) {
              if constexpr (requires { s.stiffness; }) s.stiffness *= stiffer;
              if constexpr (requires { s.shear_stiffness; }) s.shear_stiffness *= stiffer;
              if constexpr (requires { s.bending_stiffness; }) s.bending_stiffness *= stiffer;
            },
            solid);
      World world(stiff);
      ImplicitEuler implicit(world);
      double largest = 0;
      for (int i = 0; i < 100; ++i) {
        implicit.step(100 * 2 / omega, 3);
        largest = std::max(largest, implicit.s.u.cwiseAbs().maxCoeff());
      }
      return std::isfinite(largest) && largest < 20 && implicit.s.u.cwiseAbs().maxCoeff() < 5;
    };
    const bool large_step = survives(1), stiff = survives(1000);
    for (const auto& [method, limit] :
         {std::pair(IntegratorSettings(SemiImplicitEulerSettings{}), 2.0), std::pair(IntegratorSettings(LeapfrogSettings{}), 2.0),
          std::pair(IntegratorSettings(Rk4Settings{}), 2 * std::sqrt(2.0))}) {
      const double predicted = limit / omega, observed = explosion_step(scene, method, predicted);
      rows += fmt::format(
          R"({}    {{"scene": "{}", "method": "{}", "predicted": {:.6g}, "observed": {:.6g}, "implicit_at_100_steps": {}, "implicit_at_1000_stiffness": {}}})",
          rows.empty() ? "" : ",\n", full.name, name_of(method), predicted, observed, large_step, stiff);
      if (!quiet)
        fmt::print("{:<10} {:<20} {:>13.4g} {:>13.4g} {:>8.3f}   100 x step: {}, 1000 x stiffness: {}\n", full.name,
                   name_of(method), predicted, observed, observed / predicted, large_step ? "stable" : "EXPLODES",
                   stiff ? "stable" : "EXPLODES");
    }
  }
  return rows;
}

/// A cloth so stiff that explicit methods need steps below 1e-4 s.
Scene stiff_cloth(int side) {
  Scene scene = scenes::cloth(side);
  auto& cloth = std::get<Cloth>(scene.solids[0]);
  const double factor = 10 * 100.0 * 100 / (static_cast<double>(side) * side);
  cloth.stiffness *= factor;
  cloth.shear_stiffness *= factor;
  cloth.bending_stiffness *= factor;
  return scene;
}

/// How the free corner came down, followed over CPU time.
struct Hanging {
  std::string method;
  double h = 0, cpu = 0, speed = 0;
  int steps = 0;
  std::vector<std::array<double, 2>> history{};  // CPU seconds, sag

  [[nodiscard]] double sag() const { return history.back()[1]; }
  /// CPU time after which it stays within 1 % of `level`; infinity where it does not.
  [[nodiscard]] double settled(double level) const {
    double since = infinity;
    for (auto at = history.rbegin(); at != history.rend() && std::abs((*at)[1] - level) <= 0.01 * level; ++at) since = (*at)[0];
    return since;
  }
};

Hanging hang_explicitly(Scene scene, const IntegratorSettings& method, double h, int corner, double seconds) {
  scene.recipe.integrator = method;
  scene.recipe.dt = h;
  World world(scene);
  Hanging out{std::string(name_of(method)), h};
  const double start = bench::cpu_seconds();
  for (double next = 0.05; world.time() < seconds;) {
    world.step();
    if (world.time() < next) continue;
    out.history.push_back({bench::cpu_seconds() - start, -world.particle_position(corner).z()});
    next += 0.05;
  }
  out.cpu = bench::cpu_seconds() - start;
  out.steps = static_cast<int>(world.steps());
  out.speed = implementation_of(world).state.u.cwiseAbs().maxCoeff();
  return out;
}

/// By implicit Euler steps that begin at rest (analyse/relaxation.h), until forces are below a tenth of a particle's weight.
Hanging hang_implicitly(const Scene& scene, int corner) {
  World world(scene);
  Hanging out{"relaxation"};
  const double start = bench::cpu_seconds();
  Relaxation relaxation(world, {.force_tolerance = 0.1 * world.particle_mass(corner) * scene.gravity.norm()});
  while (!relaxation.iterate() && relaxation.report().iterations < 300)
    out.history.push_back({bench::cpu_seconds() - start, -relaxation.state().particle_position(corner).z()});
  out.cpu = bench::cpu_seconds() - start;
  out.steps = relaxation.report().iterations;
  return out;
}

std::string hanging(int side, double seconds, bool quiet) {
  const Scene scene = stiff_cloth(side);
  const double omega = largest_frequency(World(scene)).frequency;
  const int corner = side * (side - 1);
  std::vector<Hanging> found{hang_implicitly(scene, corner)};
  const double level = found.front().sag();
  // The air's drag and the springs' dampers take something off the limit.
  if (seconds > 0) found.push_back(hang_explicitly(scene, SemiImplicitEulerSettings{}, 0.85 * 2 / omega, corner, seconds));
  if (seconds > 0) found.push_back(hang_explicitly(scene, Rk4Settings{}, 0.85 * 2.828 / omega, corner, seconds));
  std::string rows;
  if (!quiet)
    fmt::print("\n2. cloth {0} x {0}, hung by two corners\n{1:<22} {2:>10} {3:>8} {4:>10} {5:>10} {6:>12} {7:>18} {8:>8}\n", side,
               "method", "step, s", "steps", "CPU, s", "sag, m", "speed, m/s", "within 1 %: CPU, s", "times");
  for (const Hanging& h : found) {
    const double settled = h.settled(level), times = settled / found.front().settled(level);
    rows += fmt::format(
        R"({}    {{"side": {}, "method": "{}", "h": {:.4g}, "steps": {}, "cpu_seconds": {:.5g}, "sag": {:.6g}, "speed": {:.3g}, "cpu_seconds_within_1_percent": {:.5g}, "times": {:.4g}}})",
        rows.empty() ? "" : ",\n", side, h.method, h.h, h.steps, h.cpu, h.sag(), h.speed, settled, times);
    if (!quiet)
      fmt::print("{:<22} {:>10.3g} {:>8} {:>10.2f} {:>10.5f} {:>12.2g} {:>18.2f} {:>8.1f}\n", h.method, h.h, h.steps, h.cpu,
                 h.sag(), h.speed, settled, times);
  }
  return rows;
}

/// The most memory this process has held so far.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string growth(const std::vector<int>& sides, bool quiet) {
  std::string rows;
  if (!quiet)
    fmt::print("\n3. one implicit step of 1/60 s\n{:>12} {:>14} {:>16} {:>12} {:>12}\n", "particles", "CPU, s", "us per particle",
               "iterations", "peak, MB");
  for (const int side : sides) {
    Scene scene = scenes::cloth(side);
    scene.recipe.implicit_solver = ImplicitCgSettings{.tolerance = 1e-3};
    World world(scene);
    ImplicitEuler implicit(world);
    implicit.step(1.0 / 60, 1);
    implicit.mechanism.now.report = {};
    constexpr int steps = 3;
    const double start = bench::cpu_seconds();
    for (int i = 0; i < steps; ++i) implicit.step(1.0 / 60, 1);
    const double cpu = (bench::cpu_seconds() - start) / steps, count = static_cast<double>(side) * side;
    const double iterations = implicit.mechanism.now.report.iterations / static_cast<double>(steps);
    rows += fmt::format(
        R"({}    {{"side": {}, "cpu_seconds_per_step": {:.5g}, "iterations_per_step": {:.4g}, "peak_megabytes": {:.0f}}})",
        rows.empty() ? "" : ",\n", side, cpu, iterations, peak_megabytes());
    if (!quiet)
      fmt::print("{:>12.0f} {:>14.4f} {:>16.3f} {:>12.0f} {:>12.0f}\n", count, cpu, 1e6 * cpu / count, iterations,
                 peak_megabytes());
  }
  return rows;
}

std::string minima(const std::vector<int>& sides, bool quiet) {
  std::string rows;
  if (!quiet)
    fmt::print("\n4. implicit_euler, solved to its end\n{:>6} {:>10} {:>8} {:>12} {:>12} {:>10} {:>8} {:>8} {:>12}\n", "side",
               "stiffness", "step, s", "CPU, s", "worst, s", "Newton", "halved", "failed", "residual");
  for (const int side : sides)
    for (const double stiffer : {1.0, 100.0, 1e4})
      for (const double h : {1.0 / 60, 0.1}) {
        Scene scene = scenes::cloth(side);
        auto& cloth = std::get<Cloth>(scene.solids[0]);
        for (double* stiffness : {&cloth.stiffness, &cloth.shear_stiffness, &cloth.bending_stiffness}) *stiffness *= stiffer;
        scene.recipe.integrator = ImplicitEulerSettings{};
        scene.recipe.dt = h;
        scene.recipe.threads = 0;
        World world(scene);
        const int steps = side > 150 ? 3 : 20;
        double sum = 0, worst = 0, residual = 0;
        int newton = 0, halved = 0, failed = 0;
        for (int i = 0; i < steps; ++i) {
          const double start = bench::cpu_seconds();
          const StepReport& report = world.step();
          const double cpu = bench::cpu_seconds() - start;
          sum += cpu;
          worst = std::max(worst, cpu);
          newton += report.newton_iterations;
          halved += report.halvings;
          failed += !report.converged;
          residual = std::max(residual, report.residual);
        }
        rows += fmt::format(
            R"({}    {{"side": {}, "stiffness": {:g}, "h": {:.4g}, "cpu_seconds_per_step": {:.5g}, "worst": {:.5g}, "newton_iterations_per_step": {:.4g}, "halvings": {}, "not_converged": {}, "residual": {:.3g}}})",
            rows.empty() ? "" : ",\n", side, stiffer, h, sum / steps, worst, newton / static_cast<double>(steps), halved, failed,
            residual);
        if (!quiet)
          fmt::print("{:>6} {:>10g} {:>8.4f} {:>12.4f} {:>12.4f} {:>10.1f} {:>8} {:>8} {:>12.2g}\n", side, stiffer, h,
                     sum / steps, worst, newton / static_cast<double>(steps), halved, failed, residual);
      }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  int from_part = 1;
  std::vector<char*> others{argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick")
      quick = true;
    else if (argument == "--part=2" || argument == "--part=3" || argument == "--part=4")
      from_part = argument.back() - '0';
    else
      others.push_back(argv[i]);
  }
  const bench::Options options = bench::parse(static_cast<int>(others.size()), others.data());
  if (!options.json) fmt::print("mass-spring solids on {}\n", bench::machine());
  const std::string first = from_part == 1 ? explosions(options.json) : "";
  const std::string second = from_part >= 3 ? "" : hanging(quick ? 30 : 100, 6, options.json);
  const std::string larger = from_part >= 3 || quick ? "" : ",\n" + hanging(300, 0, options.json);
  const std::string third =
      from_part >= 4 ? "" : growth(quick ? std::vector{50, 100} : std::vector{100, 300, 1000}, options.json);
  const std::string fourth = minima(quick ? std::vector{30} : std::vector{30, 100, 300}, options.json);
  publish(options, fmt::format("{{\n  \"machine\": \"{}\",\n  \"explosions\": [\n{}\n  ],\n  \"hanging\": [\n{}{}\n  ],\n  "
                               "\"growth\": [\n{}\n  ],\n  \"minima\": [\n{}\n  ]\n}}",
                               bench::machine(), first, second, larger, third, fourth));
}
