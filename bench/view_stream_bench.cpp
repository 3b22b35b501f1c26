// What the viewer costs: turning a moment into whole numbers and those into a message, for bodies that all fall and tumble, in
// milliseconds per frame, bytes per second at 60 frames a second, and as a share of the simulation's own step.
#include <benchmark/benchmark.h>
#include <rotule/world.h>

#include <chrono>
#include <map>
#include <random>

#include "apps/rotule/view/live.h"
#include "record/view_stream.h"

namespace {

using namespace rotule;

/// Boxes in free fall, tumbling, far enough from each other not to touch: the cheapest step that so many bodies can have.
Scene tumbling(int count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto vector = [&](double size) { return Vec3(size * any(random), size * any(random), size * any(random)); };
  Scene scene;
  for (int i = 0; i < count; ++i) {
    BodyDef body{.mass = 1, .position = Vec3(i % 100, i / 100, 0), .shape = Box{Vec3(0.1, 0.2, 0.4)}};
    body.orientation = Quat(any(random), any(random), any(random), any(random)).normalized();
    body.velocity = vector(0.1);
    body.angular_velocity = vector(8);
    scene.add(std::move(body));
  }
  scene.recipe = recipes::realtime();
  return scene;
}

struct Moments {
  std::vector<std::vector<double>> positions, orientations;
  double step_ms = 0;
};

const Moments& moments(int count) {
  static std::map<int, Moments> known;
  Moments& out = known[count];
  if (!out.positions.empty()) return out;
  World world(tumbling(count));
  world.step();
  constexpr int frames = 60;
  for (int k = 0; k < frames; ++k) {
    auto& p = out.positions.emplace_back();
    auto& o = out.orientations.emplace_back();
    for (const BodyId body : world.bodies()) {
      const Vec3 at = world.position(body);
      const Quat q = world.orientation(body);
      p.insert(p.end(), {at.x(), at.y(), at.z()});
      o.insert(o.end(), {q.w(), q.x(), q.y(), q.z()});
    }
    const auto before = std::chrono::steady_clock::now();
    world.step();
    out.step_ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count() / frames;
  }
  return out;
}

void quantise(benchmark::State& state) {
  const Moments& m = moments(static_cast<int>(state.range(0)));
  ViewFrame frame;
  std::size_t k = 0;
  for (auto _ : state) {
    frame.set_bodies(m.positions[k % 60], m.orientations[k % 60], {});
    benchmark::DoNotOptimize(frame.bodies.data());
    ++k;
  }
}

void encode(benchmark::State& state) {
  const Moments& m = moments(static_cast<int>(state.range(0)));
  std::vector<ViewFrame> frames(60);
  for (std::size_t k = 0; k < 60; ++k) frames[k].set_bodies(m.positions[k], m.orientations[k], {});
  ViewEncoder encoder;
  std::size_t k = 0, bytes = 0, counted = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (auto _ : state) {
    // Back and forth, so that the motion never jumps.
    const std::size_t at = k % 118;
    const auto message = encoder.encode(frames[at < 60 ? at : 118 - at], 0);
    benchmark::DoNotOptimize(message.data());
    bytes += message.size();
    ++counted;
    ++k;
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  state.counters["MB_per_second_at_60"] = 60e-6 * static_cast<double>(bytes) / static_cast<double>(counted);
  state.counters["step_ms"] = m.step_ms;
  state.counters["share_of_step"] = ms / static_cast<double>(counted) / m.step_ms;
}

/// All that a frame takes on the simulation's thread: the ledger, the whole numbers, the memory of the run.
void capture(benchmark::State& state) {
  app::Live live("tumbling", tumbling(static_cast<int>(state.range(0))), 1);
  double step_ms = 0, capture_ms = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    live.step();
    const auto middle = std::chrono::steady_clock::now();
    live.capture(0);
    const std::chrono::duration<double, std::milli> stepping = middle - start,
                                                    capturing = std::chrono::steady_clock::now() - middle;
    step_ms += stepping.count();
    capture_ms += capturing.count();
    state.SetIterationTime(1e-3 * capturing.count());
  }
  state.counters["step_ms"] = step_ms / static_cast<double>(state.iterations());
  state.counters["share_of_step"] = capture_ms / step_ms;
}

BENCHMARK(quantise)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);
BENCHMARK(encode)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);
BENCHMARK(capture)->Arg(1000)->Arg(10000)->Iterations(60)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
