// Random heaps that bodies are thrown onto and taken from: nothing is lost through the floor, nothing stops being a number. The
// number of steps is that of ROTULE_SOAK_STEPS, or few.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>

namespace rotule {
namespace {

int soak_steps() {
  const char* asked = std::getenv("ROTULE_SOAK_STEPS");
  return asked != nullptr ? std::atoi(asked) : 600;
}

/// A heap that bodies are thrown onto and taken from all the while, some of them tied in pairs, pushed and struck; a kinematic
/// sweeper goes to and fro. What is done before a step depends on its number alone, so that a run can be made again from any.
class Heap {
 public:
  Heap(double sleep_after, int threads) : world_(empty(), recipe_of(sleep_after, threads)) {}

  void step(int number) {
    std::mt19937 random(static_cast<unsigned>(17 + number));
    const auto some = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    const auto anybody = [&] { return static_cast<std::size_t>(random() % thrown_.size()); };
    if (number % 6 == 0) throw_one(random);
    if (number % 30 == 12 && thrown_.size() > 4) throw_two(random);
    while (thrown_.size() > most_bodies || (number % 15 == 14 && thrown_.size() > 20)) {
      const std::size_t k = anybody();
      world_.remove(thrown_[k]);
      thrown_.erase(thrown_.begin() + static_cast<std::ptrdiff_t>(k));
      if (thrown_.size() <= most_bodies) break;
    }
    if (number % 40 == 0 && !thrown_.empty()) world_.set_force(thrown_[anybody()], {some(-50, 50), 0, some(0, 50)}, Vec3::Zero());
    if (number % 97 == 5 && !thrown_.empty()) {
      const BodyId body = thrown_[anybody()];
      world_.apply_impulse(body, {some(-5, 5), some(-5, 5), some(0, 8)}, world_.position(body));
    }
    world_.step();
  }

  /// Of those above the floor's middle, how many are under it; all must be somewhere.
  [[nodiscard]] int lost() const {
    int lost = 0;
    for (const BodyId id : thrown_) {
      const Vec3 p = world_.position(id);
      EXPECT_TRUE(p.allFinite());
      lost += p.z() < -0.3 && std::abs(p.x()) < 20 && std::abs(p.y()) < 20;
    }
    return lost;
  }

  struct Saved {
    Snapshot world;
    std::vector<BodyId> thrown;
  };
  [[nodiscard]] Saved save() const { return {world_.save(), thrown_}; }
  void load(const Saved& saved) {
    world_.load(saved.world);
    thrown_ = saved.thrown;
  }
  [[nodiscard]] std::uint64_t hash() const { return world_.state_hash(); }

 private:
  static constexpr std::size_t most_bodies = 120;

  static Scene empty() {
    Scene scene;
    scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{.size = {40, 40, 1}}});
    BodyDef sweeper{.name = "sweeper", .position = {0, 0, 0.3}, .shape = Box{.size = {0.2, 3, 0.6}}};
    sweeper.motion = PrescribedMotion{.displacement = {"3 * sin(0.7 * t)", "0", "0"}};
    scene.add(sweeper);
    return scene;
  }
  static Recipe recipe_of(double sleep_after, int threads) {
    Recipe recipe = recipes::fastest();
    recipe.stepper = RealtimeStepperSettings{.sleep_after = sleep_after};
    recipe.threads = threads;
    return recipe;
  }

  BodyDef random_body(std::mt19937& random) {
    const auto some = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    const Vec3 size(some(0.1, 0.6), some(0.1, 0.6), some(0.1, 0.6));
    const std::vector<Shape> shapes{Box{.size = size}, Sphere{.radius = size.x()},
                                    Capsule{.radius = 0.3 * size.x(), .length = size.y()},
                                    Cylinder{.radius = 0.5 * size.x(), .height = size.z()}};
    BodyDef def;
    def.mass = std::exp(some(-2, 3));
    def.position = {some(-1, 1), some(-1, 1), some(1, 4)};
    def.orientation = Quat(some(-1, 1), some(-1, 1), some(-1, 1), some(-1, 1)).normalized();
    def.velocity = {some(-3, 3), some(-3, 3), some(-20, 0)};
    def.angular_velocity = {some(-20, 20), some(-20, 20), some(-20, 20)};
    def.shape = shapes[random() % shapes.size()];
    return def;
  }
  void throw_one(std::mt19937& random) { thrown_.push_back(world_.add(random_body(random))); }
  /// Tied by a ball joint halfway between them. A joint leaves with either of its bodies.
  void throw_two(std::mt19937& random) {
    BodyDef a = random_body(random), b = random_body(random);
    a.angular_velocity = b.angular_velocity = Vec3::Zero();
    b.velocity = a.velocity;
    b.position = a.position + Vec3(0.8, 0, 0);
    const BodyId first = world_.add(a), second = world_.add(b);
    thrown_.push_back(first);
    thrown_.push_back(second);
    world_.add(Ball{.between = {world_.name(first), world_.name(second)}, .at = 0.5 * (a.position + b.position)});
  }

  World world_;
  std::vector<BodyId> thrown_;
};

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// kB of this process that are in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double all = 0, in_memory = 0;
  file >> all >> in_memory;
  return 4 * in_memory;
}

void soak(double sleep_after, int threads) {
  Heap heap(sleep_after, threads);
  const int steps = soak_steps();
  double middle_memory = 0, first_half = 0;
  const double begun = cpu_now();
  for (int number = 0; number < steps; ++number) {
    heap.step(number);
    if (number == steps / 2) {
      middle_memory = resident();
      first_half = cpu_now() - begun;
    }
  }
  const double second_half = cpu_now() - begun - first_half;
  EXPECT_EQ(heap.lost(), 0);
  // Short runs say nothing of either.
  if (steps < 20000) return;
  EXPECT_LT(resident(), 1.05 * middle_memory + 2000) << "kB";
  EXPECT_LT(second_half, 1.25 * first_half) << "s";
  std::cout << "  " << steps << " steps, " << first_half + second_half << " s, " << resident() << " kB\n";
}

TEST(RealtimeHeap, SurvivesThrowingAndTaking) { soak(0, 1); }
TEST(RealtimeHeap, SurvivesThemWhileOthersSleep) { soak(0.2, 1); }
TEST(RealtimeHeap, SurvivesThemOnTwoThreads) { soak(0.2, 2); }

TEST(RealtimeHeap, GoesOnFromSnapshotsAsItDidThen) {
  for (const double sleep_after : {0.0, 0.2}) {
    Heap heap(sleep_after, 1), witness(sleep_after, 2);
    const int steps = std::min(soak_steps(), 20000);
    std::mt19937 random(1);
    for (int number = 0; number < steps;) {
      const int ahead = 1 + static_cast<int>(random() % 40);
      const Heap::Saved saved = heap.save();
      for (int k = 0; k < ahead; ++k) heap.step(number + k);
      const std::uint64_t there = heap.hash();
      heap.load(saved);
      for (int k = 0; k < ahead; ++k) heap.step(number + k);
      ASSERT_EQ(heap.hash(), there) << number;
      // Who was never interrupted, on other threads, is there too.
      for (int k = 0; k < ahead; ++k) witness.step(number + k);
      ASSERT_EQ(witness.hash(), there) << number;
      number += ahead;
    }
  }
}

}  // namespace
}  // namespace rotule
