// What it costs to add a body to a world, and to take one away, against a step of that world, in both steppers: balls that rest
// on a floor, and pendulums above them.
#include <benchmark/benchmark.h>
#include <rotule/world.h>

#include <cmath>

namespace rotule {
namespace {

World resting_world(int bodies, const Recipe& recipe) {
  Scene scene;
  scene.recipe = recipe;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  const int side = static_cast<int>(std::ceil(std::sqrt(bodies)));
  for (int k = 0; k < bodies; ++k) {
    const Vec3 place(1.5 * (k % side), 1.5 * (k / side), 0.5);
    const std::string name = "body_" + std::to_string(k);
    const bool hangs = k % 2 == 1;
    scene.add({.name = name, .mass = 1.0, .position = place + Vec3(0, 0, hangs ? 2 : 0), .shape = Sphere{0.5}});
    if (hangs) scene.add(Ball{.between = {"world", name}, .at = place + Vec3(0, 0, 3)});
  }
  World world(scene);
  for (int i = 0; i < 5; ++i) world.step();
  return world;
}

void step(benchmark::State& state, const Recipe& recipe) {
  World world = resting_world(static_cast<int>(state.range(0)), recipe);
  for (auto _ : state) world.step();
}

void add_a_body(benchmark::State& state, const Recipe& recipe) {
  World world = resting_world(static_cast<int>(state.range(0)), recipe);
  for (auto _ : state) {
    const BodyId id = world.add(BodyDef{.mass = 1.0, .position = Vec3(-5, -5, 5), .shape = Sphere{0.5}});
    state.PauseTiming();
    world.remove(id);
    state.ResumeTiming();
  }
}

void remove_a_body(benchmark::State& state, const Recipe& recipe) {
  World world = resting_world(static_cast<int>(state.range(0)), recipe);
  for (auto _ : state) {
    state.PauseTiming();
    const BodyId id = world.add(BodyDef{.mass = 1.0, .position = Vec3(-5, -5, 5), .shape = Sphere{0.5}});
    state.ResumeTiming();
    world.remove(id);
  }
}

void tie_a_joint(benchmark::State& state, const Recipe& recipe) {
  World world = resting_world(static_cast<int>(state.range(0)), recipe);
  for (auto _ : state) {
    const JointId id = world.add(Rod{.between = {"body_1", "body_3"}});
    state.PauseTiming();
    world.remove(id);
    state.ResumeTiming();
  }
}

void sizes(benchmark::internal::Benchmark* of) { of->RangeMultiplier(10)->Range(100, 10000)->Unit(benchmark::kMicrosecond); }

BENCHMARK_CAPTURE(step, reference, recipes::realtime())->Apply(sizes);
BENCHMARK_CAPTURE(add_a_body, reference, recipes::realtime())->Apply(sizes);
BENCHMARK_CAPTURE(remove_a_body, reference, recipes::realtime())->Apply(sizes);
BENCHMARK_CAPTURE(tie_a_joint, reference, recipes::realtime())->Apply(sizes);
BENCHMARK_CAPTURE(step, realtime, recipes::fastest())->Apply(sizes);
BENCHMARK_CAPTURE(add_a_body, realtime, recipes::fastest())->Apply(sizes);
BENCHMARK_CAPTURE(remove_a_body, realtime, recipes::fastest())->Apply(sizes);
BENCHMARK_CAPTURE(tie_a_joint, realtime, recipes::fastest())->Apply(sizes);

}  // namespace
}  // namespace rotule

BENCHMARK_MAIN();
