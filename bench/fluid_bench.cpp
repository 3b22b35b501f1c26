// A substep of the fluid (C6): time per cell, from small grids to large ones, alone and with a body that moves in it.
#include <benchmark/benchmark.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <cstdint>

using namespace rotule;

namespace {

FluidDef box(int n, bool flat) {
  return {.grid = {n, flat ? 1 : n, n},
          .box = {Vec3::Zero(), Vec3::Ones()},
          .density = 1,
          .viscosity = 1e-3,
          .walls = {{"z_high", "no_slip", Vec3(1, 0, 0)}}};
}

/// Short enough for one substep.
double one_substep(int n) { return 0.25 / n; }

void tell(benchmark::State& state, const FluidGrid& fluid) {
  state.counters["cells/s"] =
      benchmark::Counter(static_cast<double>(fluid.cells()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes/cell"] = fluid.bytes_per_cell();
  state.counters["substeps"] = fluid.report().substeps;
}

void alone(benchmark::State& state, bool flat) {
  const int n = static_cast<int>(state.range(0));
  FluidGrid fluid(box(n, flat), 0);
  fluid.step(one_substep(n));
  for (auto _ : state) fluid.step(one_substep(n));
  tell(state, fluid);
}
void fluid_2d(benchmark::State& state) { alone(state, true); }
void fluid_3d(benchmark::State& state) { alone(state, false); }

/// A ball of half the fluid's density, set free.
void fluid_3d_with_ball(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Scene scene;
  scene.fluid = box(n, false);
  scene.add(BodyDef{.name = "ball", .density = 0.5, .position = {0.5, 0.5, 0.4}, .shape = Sphere{0.15}});
  scene.recipe.threads = 0;
  World world(scene, scene.recipe);
  world.step(one_substep(n));
  for (auto _ : state) world.step(one_substep(n));
  tell(state, *world.fluid());
  state.counters["trials"] = world.fluid()->report().coupling_iterations;
}

}  // namespace

BENCHMARK(fluid_2d)->Arg(128)->Arg(256)->Arg(512)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fluid_3d)->Arg(32)->Arg(64)->Arg(128)->Arg(192)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(fluid_3d_with_ball)->Arg(32)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_MAIN();
