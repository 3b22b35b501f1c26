// Error asked for and error found, and what it costs, on stiff and fast mechanisms: the flyball governor with its stiff couplers,
// a six-bar of two loops with a fast crank, and balls on stiff springs. radau5 and dormand_prince_8 under error control; gauss6
// with the fewest equal steps, doubled from 8, that come as near as was asked. The reference is dormand_prince_8 at 1e-14. Errors
// are relative as tolerances are: lengths to the scene's own, turns to one radian, velocities to the fastest at the end.
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <string>

#include "report.h"
#include "scenes/builders.h"

namespace {

using namespace rotule;

struct StiffProblem {
  std::string name;
  Scene scene;
  double duration, length;
};

struct Found {
  double error = infinity, seconds = 0;
  std::int64_t evaluations = 0, steps = 0;
};

Scene springs() {
  Scene scene;
  std::string before = "world";
  for (int i = 0; i < 6; ++i) {
    const std::string name = fmt::format("ball_{}", i);
    scene.add({.name = name, .mass = 0.5, .position = Vec3(0.2 * (i + 1), 0, 0), .shape = Sphere{0.02}});
    Spring spring{.between = {before, name}, .stiffness = 1e6, .damping = 500};
    if (i == 0) spring.from = Vec3::Zero();
    scene.add(spring);
    before = name;
  }
  return scene;
}

/// Every body ten times as fast, which the joints allow as much as once.
Scene fast_loops() {
  Scene scene = scenes::six_bar_loop();
  for (BodyDef& body : scene.bodies) {
    body.velocity *= 10;
    body.angular_velocity *= 10;
  }
  return scene;
}

Recipe by(const Scene& scene, const std::string& integrator, double tolerance) {
  Recipe recipe = scene.recipe;
  recipe.contacts = NoContactSettings{};
  recipe.formulation = AccelerationSettings{};
  recipe.correction = ProjectionSettings{};
  set(recipe, "solver", "ldlt");
  set(recipe, "integrator", integrator);
  if (tolerance > 0) {
    set(recipe, "integrator.relative_tolerance", fmt::format("{}", tolerance));
    set(recipe, "integrator.absolute_tolerance", "0");
  }
  return recipe;
}

double error_of(const World& world, const World& exact, double length) {
  double speed = 1e-3, spin = 1e-3, out = 0;
  for (const BodyId body : exact.bodies()) {
    speed = std::max(speed, exact.velocity(body).norm());
    spin = std::max(spin, exact.angular_velocity(body).norm());
  }
  for (const BodyId body : exact.bodies())
    out = std::max({out, (world.center_of_mass(body) - exact.center_of_mass(body)).norm() / length,
                    world.orientation(body).angularDistance(exact.orientation(body)),
                    (world.velocity(body) - exact.velocity(body)).norm() / speed,
                    (world.angular_velocity(body) - exact.angular_velocity(body)).norm() / spin});
  return out;
}

Found run(const StiffProblem& problem, const World& exact, const std::string& integrator, double tolerance, int steps) {
  Found out;
  World world(problem.scene, by(problem.scene, integrator, tolerance));
  const double before = bench::cpu_seconds();
  try {
    for (int i = 0; i < steps; ++i) out.steps += world.step(problem.duration / steps).inner_steps;
    out.error = error_of(world, exact, problem.length);
  } catch (const Error&) {  // blew up: as wrong as can be
  }
  out.seconds = bench::cpu_seconds() - before;
  out.evaluations = world.evaluations();
  return out;
}

}  // namespace

int main() {
  const StiffProblem problems[] = {{"governor", scenes::flyball_governor(), 0.5, 1},
                                   {"fast six-bar", fast_loops(), 0.5, 1},
                                   {"spring chain", springs(), 0.5, 1.2}};
  fmt::print(
      "{}\n\n| scene | asked | radau5: error / asked, steps, evaluations, ms | dormand_prince_8 | gauss6, fewest steps |\n",
      bench::machine());
  fmt::print("| --- | --- | --- | --- | --- |\n");
  for (const StiffProblem& problem : problems) {
    World exact(problem.scene, by(problem.scene, "dormand_prince_8", 1e-14));
    exact.step(problem.duration);
    int steps = 8;
    for (const double asked : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
      const auto cell = [&](const Found& found) {
        return fmt::format("{:.2g}, {}, {}, {:.2g}", found.error / asked, found.steps, found.evaluations, 1e3 * found.seconds);
      };
      const std::string radau = cell(run(problem, exact, "radau5", asked, 1));
      const std::string explicit_pair = cell(run(problem, exact, "dormand_prince_8", asked, 1));
      constexpr int most_steps = 1 << 15;
      Found gauss;
      for (; steps <= most_steps; steps *= 2)
        if (gauss = run(problem, exact, "gauss6", 0, steps); gauss.error <= asked) break;
      fmt::print("| {} | {:.0e} | {} | {} | {} |\n", problem.name, asked, radau, explicit_pair,
                 steps > most_steps ? std::string("-") : cell(gauss));
      std::fflush(stdout);
    }
  }
}
