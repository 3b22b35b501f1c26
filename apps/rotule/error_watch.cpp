// rotule run --estimate-error: the same run a second time, finer, and what both differ by.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "commands.h"

namespace rotule::app {
namespace {

constexpr double tighter = 0.01;  // of the tolerance

}  // namespace

struct ErrorWatch::Inside {
  /// The recipe of the second run, how many of its steps make one of the first, and in words.
  struct Second {
    Recipe recipe = {};
    int steps = 1;
    double order = 1;
    bool other_method = false;
    std::string words = {};
  };
  static Second second_of(const Scene& scene, const Recipe& recipe);

  Inside(const Scene& scene, const Recipe& recipe) : second(second_of(scene, recipe)), world(scene, second.recipe) {
    if (!second.other_method) return;
    Recipe twice = second.recipe;
    twice.dt *= 2;
    coarser.emplace(scene, twice);
  }
  /// Moves on by a step of the first run.
  void step() {
    for (int i = 0; i < second.steps; ++i) world.step();
    for (int i = 0; coarser && i < second.steps / 2; ++i) coarser->step();
  }
  /// What is compared with: the second run, or where two of them come to at no step at all.
  template <class Number>
  auto reference(Number&& of) const {
    auto fine = of(world);
    return coarser ? decltype(fine)(2 * fine - of(*coarser)) : fine;
  }
  [[nodiscard]] Vec3 center(BodyId body) const {
    return reference([&](const World& other) { return Vec3(other.center_of_mass(body)); });
  }
  [[nodiscard]] Vec3 place(int particle) const {
    return reference([&](const World& other) { return Vec3(other.particle_position(particle)); });
  }
  [[nodiscard]] Quat orientation(BodyId body) const {
    const Quat fine = world.orientation(body);
    return coarser ? fine * (coarser->orientation(body).conjugate() * fine) : fine;
  }
  Second second;
  World world;
  std::optional<World> coarser;  // another method errs too, in first order of its steps: with twice as long ones
  double worst = 0;

  /// From a difference to an error.
  [[nodiscard]] double factor() const { return 1 / (1 - std::pow(2.0, -second.order)); }
};

ErrorWatch::Inside::Second ErrorWatch::Inside::second_of(const Scene& scene, const Recipe& recipe) {
  Second out;
  out.recipe = recipe;
  if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper)) {
    // Its sweeps leave errors that no shorter step takes away: only another method can tell.
    out.other_method = true;
    out.recipe = recipe_for(scene, Dial::balanced);
    out.recipe.contacts = recipe.contacts;
    out.recipe.threads = recipe.threads;
    out.steps = 2 * static_cast<int>(std::ceil(recipe.dt / out.recipe.dt));
    out.recipe.dt = recipe.dt / out.steps;
    out.order = infinity;
    out.words =
        fmt::format("the reference stepper, extrapolated from steps of {:.3g} and {:.3g} s", 2 * out.recipe.dt, out.recipe.dt);
    return out;
  }
  const IntegratorTraits traits = std::visit([](const auto& method) { return method.traits; }, recipe.integrator);
  if (traits.adaptive) {
    std::visit(
        [&](auto& method) {
          if constexpr (requires { method.relative_tolerance; }) {
            method.relative_tolerance = std::max(tighter * method.relative_tolerance, 1e-14);
            method.absolute_tolerance *= tighter;
            out.words = fmt::format("a tolerance of {:.3g} and half the step", method.relative_tolerance);
          }
        },
        out.recipe.integrator);
    // Where steps are as long as dt, a tolerance alone would change nothing.
    out.recipe.dt = recipe.dt / 2;
    out.steps = 2;
    out.order = infinity;  // the second run is taken for exact
    return out;
  }
  out.recipe.dt = recipe.dt / 2;
  out.steps = 2;
  // Impulses, and walls that are met at the end of a step, are of first order whatever the method.
  out.order = by_impulses(recipe.formulation) || !scene.walls.empty() ? 1 : traits.order;
  out.words = fmt::format("steps of {} s", shortest(out.recipe.dt));
  return out;
}

ErrorWatch::ErrorWatch(const Scene& scene, const Recipe& recipe) : inside_(std::make_unique<Inside>(scene, recipe)) {}
ErrorWatch::~ErrorWatch() = default;

void ErrorWatch::follow(const World& world) {
  Inside& w = *inside_;
  try {
    w.step();
  } catch (const Error& error) {
    throw Error(fmt::format("--estimate-error, the second run with {}", w.second.words), error.what());
  }
  for (const BodyId body : world.bodies()) w.worst = std::max(w.worst, (world.center_of_mass(body) - w.center(body)).norm());
  for (int k = 0; k < world.particles(); ++k) w.worst = std::max(w.worst, (world.particle_position(k) - w.place(k)).norm());
}

ErrorEstimate ErrorWatch::estimate(const World& world) const {
  const Inside& w = *inside_;
  ErrorEstimate out;
  const auto at = [&](double distance, const std::string& name) {
    if (distance <= out.position) return;
    out.position = distance;
    out.whose = name;
  };
  for (const BodyId body : world.bodies()) {
    at((world.center_of_mass(body) - w.center(body)).norm(), world.name(body));
    out.angle = std::max(out.angle, world.orientation(body).angularDistance(w.orientation(body)));
    const Vec3 velocity = w.reference([&](const World& other) { return Vec3(other.velocity(body)); });
    out.speed = std::max(out.speed, (world.velocity(body) - velocity).norm());
  }
  for (int k = 0; k < world.particles(); ++k) {
    at((world.particle_position(k) - w.place(k)).norm(), world.particle_name(k));
    const Vec3 velocity = w.reference([&](const World& other) { return Vec3(other.particle_velocity(k)); });
    out.speed = std::max(out.speed, (world.particle_velocity(k) - velocity).norm());
  }
  const double energy = w.reference([](const World& other) { return other.diagnostics().energy(); });
  out.energy = std::abs(world.diagnostics().energy() - energy);
  out.worst_position = w.worst;
  for (double* value : {&out.position, &out.worst_position, &out.angle, &out.speed, &out.energy}) *value *= w.factor();
  out.order = w.second.order;
  out.second = w.second.words;
  return out;
}

}  // namespace rotule::app
