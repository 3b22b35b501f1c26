// Reduced coordinates: Newton-Euler, composite and articulated bodies of a humanoid of 30 hinges, on the ground and floating,
// their derivatives; and what one evaluation of a chain costs by its length, in reduced and in maximal coordinates.
#include <benchmark/benchmark.h>
#include <rotule/reduced.h>

#include "mechanism/jointed_mechanism.h"
#include "mechanism/reduced/reduced_mechanism.h"
#include "support/random_trees.h"
#include "world/world_implementation.h"

namespace {

using namespace rotule;

/// A trunk of two axes with a neck of two and arms of seven; legs of six.
Scene humanoid(bool floating) {
  Scene scene;
  testing::RandomTrees random(1);
  int count = 0;
  const auto body = [&](const Vec3& at) {
    const std::string name = "b" + std::to_string(count++);
    scene.add({.name = name, .mass = random.number(0.5, 5), .position = at, .shape = Box{Vec3(0.1, 0.1, 0.1)}});
    return name;
  };
  const auto chain = [&](std::string from, Vec3 at, int links) {
    for (int k = 0; k < links; ++k) {
      at += random.vector(0.2);
      const std::string to = body(at + random.vector(0.1));
      scene.add(Hinge{.name = "h" + to, .between = {from, to}, .at = at, .axis = random.rotation() * Vec3::UnitX()});
      from = to;
    }
    return from;
  };
  const std::string pelvis = floating ? body({0, 0, 1}) : "world";
  const std::string chest = chain(pelvis, {0, 0, 1.2}, 2);
  chain(chest, {0, 0, 1.6}, 2);
  for (const double side : {-0.2, 0.2}) chain(chest, {0, side, 1.5}, 7);
  for (const double side : {-0.1, 0.1}) chain(pelvis, {0, side, 0.9}, 6);
  return scene;
}

struct Robot {
  explicit Robot(bool floating) : world(humanoid(floating), recipes::exact()), model(world) {
    q = model.displaced(model.position(world), VecX::Constant(model.velocities(), 0.3));
    u = VecX::LinSpaced(model.velocities(), -1, 1);
    a = VecX::LinSpaced(model.velocities(), 2, -1);
  }
  World world;
  ReducedModel model;
  VecX q, u, a;
};

void newton_euler(benchmark::State& state) {
  Robot robot(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(robot.model.inverse_dynamics(robot.q, robot.u, robot.a).data());
}
void composite_bodies(benchmark::State& state) {
  Robot robot(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(robot.model.mass_matrix(robot.q).data());
}
void articulated_bodies(benchmark::State& state) {
  Robot robot(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(robot.model.forward_dynamics(robot.q, robot.u, robot.a).data());
}
void derivatives(benchmark::State& state) {
  Robot robot(state.range(0) != 0);
  for (auto _ : state)
    benchmark::DoNotOptimize(robot.model.inverse_dynamics_derivatives(robot.q, robot.u, robot.a).by_position.data());
}
BENCHMARK(newton_euler)->Arg(0)->Arg(1);
BENCHMARK(composite_bodies)->Arg(0)->Arg(1);
BENCHMARK(articulated_bodies)->Arg(0)->Arg(1);
BENCHMARK(derivatives)->Arg(0)->Arg(1);

/// One evaluation of the accelerations of a chain of hinges.
void chain_reduced(benchmark::State& state) {
  const World world(testing::RandomTrees(1).hinges(static_cast<int>(state.range(0)), false), recipes::exact());
  static_cast<void>(world.islands());
  const WorldImplementation& w = implementation_of(world);
  JointedMechanism bodies(w.model, w.recipe);
  ReducedMechanism reduced(bodies);
  reduced.find_trees(w.state);
  ReducedState r;
  reduced.read(w.state, r);
  reduced.begin_step(r, 0);
  VecX udot;
  for (auto _ : state) reduced.accelerations(0, r, udot);
}
void chain_maximal(benchmark::State& state) {
  const World world(testing::RandomTrees(1).hinges(static_cast<int>(state.range(0)), false), recipes::exact());
  static_cast<void>(world.islands());
  const WorldImplementation& w = implementation_of(world);
  JointedMechanism bodies(w.model, w.recipe);
  VecX udot;
  for (auto _ : state) bodies.accelerations(0, w.state, udot);
}
BENCHMARK(chain_reduced)->RangeMultiplier(10)->Range(10, 1000);
BENCHMARK(chain_maximal)->RangeMultiplier(10)->Range(10, 1000);

}  // namespace

BENCHMARK_MAIN();
