// A world's run cut into slices of time that go on at the same time (integrate/parareal.h).
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <cmath>

#include "integrate/adaptive/adaptive.h"
#include "integrate/parareal.h"
#include "step/stepper.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

/// A stepper of its own for one slice, so that slices can be run at the same time.
struct Propagator {
  Propagator(const WorldImplementation& w, const Recipe& chosen) : world(w), recipe(chosen) {}

  /// The state at `t` moved on by `duration`, in equal steps of about the recipe's dt. Begins afresh each time, so that the
  /// result depends on the state alone.
  void run(State& s, double t, double duration, StepPlan* plan = nullptr) {
    stepper.emplace(world.model, recipe);
    stepper->keep_plan(plan);
    stepper->set_external(world.external);
    const bool adaptive = std::visit([](const auto& settings) { return settings.traits.adaptive; }, recipe.integrator);
    const std::int64_t steps = adaptive ? 1 : std::max<std::int64_t>(1, std::llround(duration / recipe.dt));
    const double h = duration / static_cast<double>(steps);
    for (std::int64_t i = 0; i < steps; ++i) stepper->step(s, t + static_cast<double>(i) * h, h);
  }

  /// Closes the joints again, as the recipe would.
  void close(State& s, double t) {
    const auto* projection = std::get_if<ProjectionSettings>(&recipe.correction);
    if (projection && stepper) stepper->project(*projection, s, t);
  }

  const WorldImplementation& world;
  Recipe recipe;
  std::optional<Stepper> stepper;
};

double distance(const State& a, const State& b) {
  VecX sigma(a.u.size());
  difference(a, b, sigma);
  return std::max(sigma.cwiseAbs().maxCoeff(), (a.u - b.u).cwiseAbs().maxCoeff());
}

}  // namespace

Recipe coarser(const Recipe& recipe) {
  Recipe out = recipe;
  out.dt *= 16;
  std::visit(
      [](auto& settings) {
        if constexpr (requires { settings.relative_tolerance; })
          settings.relative_tolerance = std::sqrt(settings.relative_tolerance);
      },
      out.integrator);
  return out;
}

PararealReport run_parareal(World& world, double duration, const PararealSettings& settings) {
  WorldImplementation& w = implementation_of(world);
  if (settings.slices < 1 || settings.slices > 100000) throw Error("parareal", "slices must be from 1 to 100000");
  if (w.fluid) throw Error("parareal", "does not know fluids yet; run the scene without");
  if (!(duration > 0) || !std::isfinite(duration)) throw Error("parareal", "the duration must be a positive number of seconds");
  if (!w.model.walls.empty())
    throw Error("parareal", "the scene has walls, and shocks have no difference to carry on; run it without");
  check_combination(settings.coarse);
  w.ready();

  const auto slices = static_cast<std::size_t>(settings.slices);
  const double slice = duration / settings.slices, start = w.time;
  const auto time_of = [&](int n) { return start + n * slice; };
  const auto make = [&](Recipe recipe) {
    recipe.threads = 1;
    return std::make_unique<Propagator>(w, recipe);
  };
  const std::unique_ptr<Propagator> coarse = make(settings.coarse);
  std::vector<std::unique_ptr<Propagator>> fine;
  for (std::size_t n = 0; n < slices; ++n) fine.push_back(make(w.recipe));

  std::vector<State> at(slices + 1, w.state);
  VecX sigma(w.state.u.size());
  // Differences of coarse runs mean something where these are made of the same steps.
  std::vector<StepPlan> plans(slices);
  const PararealReport report = parareal(
      at, settings.threads, settings.tolerance,
      [&](int n, const State& from, State& to) {
        to = from;
        StepPlan& plan = plans[static_cast<std::size_t>(n)];
        plan.next = 0;
        coarse->run(to, time_of(n), slice, &plan);
        plan.written = true;
      },
      [&](int n, const State& from, State& to) {
        to = from;
        fine[static_cast<std::size_t>(n)]->run(to, time_of(n), slice);
      },
      [&](int n, const State& g, const State& f_before, const State& g_before, State& out) {
        difference(f_before, g_before, sigma);
        out = g;
        displace(g, sigma, out);
        out.u += f_before.u - g_before.u;
        coarse->close(out, time_of(n + 1));
      },
      distance);

  w.state = at.back();
  ++w.revision;
  w.time = start + duration;
  w.steps += std::max<std::int64_t>(1, std::llround(duration / w.recipe.dt));
  w.ready().forget();
  return report;
}

}  // namespace rotule
