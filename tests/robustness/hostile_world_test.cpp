// Worlds that are asked too much: snapshots whose bytes lie, steps that fail, scenes that no memory holds.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/scene.h>
#include <rotule/world.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <random>

#include "base/free_memory.h"
#include "model/content.h"
#include "model/memory_need.h"
#include "support/cli.h"

namespace rotule {
namespace {

using testing::Cli;

Scene boxes_and_hinge() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  for (int k = 0; k < 4; ++k)
    scene.add({.name = fmt::format("b{}", k), .mass = 1, .position = {0.1 * k, 0, 0.5 + 1.01 * k}, .shape = Box{}});
  scene.add(Hinge{.between = {"b1", "b2"}, .at = {0, 0, 2}, .axis = {1, 0, 0}});
  scene.add(Hinge{.between = {"b1", "b2"}, .at = {0, 0, 2}, .axis = {1, 0, 0}});  // whose rows follow from the other's
  return scene;
}

/// The sum over all that follows the header, as whoever changes a file on purpose would make it right again.
void mend_sum(std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t sum_at = 8, header = 80;
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (std::size_t i = header; i < bytes.size(); ++i) sum = (sum ^ bytes[i]) * 0x100000001b3ULL;
  std::memcpy(bytes.data() + sum_at, &sum, sizeof(sum));
}

// Numbers of bodies, manifolds and rows, and lengths of lists: whatever was put in their places is refused, or does no harm.
TEST(HostileSnapshots, BytesThatLieAreRefusedOrDoNoHarm) {
  const Scene scene = boxes_and_hinge();
  std::mt19937 random(7);
  for (const Dial dial : {Dial::realtime, Dial::balanced, Dial::exact}) {
    World world(scene, recipe_for(scene, dial));
    for (int i = 0; i < 8; ++i) world.step();
    const Snapshot good = world.save();
    const std::uint64_t hash = world.state_hash();
    int refused = 0;
    for (int k = 0; k < 400; ++k) {
      Snapshot bad;  // as from a file: bytes alone
      bad.bytes = good.bytes;
      for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
        // Whole words, most of which are counts and places.
        const std::size_t at = 80 + 4 * (random() % ((bad.bytes.size() - 84) / 4));
        const std::int32_t values[] = {-1, -2, 0, 1, 5, 63, 64, 1000, 1 << 20, 0x7fffffff, static_cast<std::int32_t>(random())};
        std::memcpy(bad.bytes.data() + at, &values[random() % std::size(values)], 4);
      }
      mend_sum(bad.bytes);
      try {
        world.load(bad);
        world.step();
      } catch (const Error&) {
        ++refused;
      }
      world.load(good);
      ASSERT_EQ(world.state_hash(), hash);
    }
    EXPECT_GT(refused, 0);
  }
}

/// A body that somebody pulls with more than any number holds, beside others.
Scene pulled_apart() {
  Scene scene;
  for (int k = 0; k < 40; ++k)
    scene.add({.name = fmt::format("b{}", k), .mass = 1, .position = {2.0 * k, 0, 0}, .shape = Sphere{0.2}});
  scene.add(Ball{.between = {"b0", "b1"}, .at = {1, 0, 0}});
  return scene;
}

TEST(FailedSteps, AWorldIsAsItWasBefore) {
  const Scene scene = pulled_apart();
  World world(scene, recipe_for(scene, Dial::balanced));
  world.step();
  const std::uint64_t before = world.state_hash();
  world.set_force(world.bodies()[0], Vec3(1e200, 0, 0));
  EXPECT_THROW(world.step(), Error);
  EXPECT_EQ(world.state_hash(), before);
  EXPECT_EQ(world.steps(), 1);
  world.set_force(world.bodies()[0], Vec3::Zero());
  EXPECT_NO_THROW(world.step());
  EXPECT_EQ(world.steps(), 2);
}

TEST(FailedSteps, InRealTimeNumbersStayNumbers) {
  const Scene scene = pulled_apart();
  World world(scene, recipe_for(scene, Dial::realtime));
  world.step();
  world.set_force(world.bodies()[20], Vec3(1e200, 0, 0));
  EXPECT_THROW(world.step(), Error);
  for (const BodyId body : world.bodies()) {
    EXPECT_TRUE(world.position(body).allFinite() && world.velocity(body).allFinite()) << world.name(body);
    EXPECT_TRUE(world.orientation(body).coeffs().allFinite()) << world.name(body);
  }
}

// s of this process's own: others on the machine do not count.
double seconds_of(const auto& work) {
  const std::clock_t begun = std::clock();
  work();
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

// Bodies without a floor and joints never fold: that nobody found a pair that does must not cost a look at each.
TEST(LargeScenes, AreReadInTimeOfTheirSize) {
  const auto free_bodies = [](int n) {
    Scene scene;
    for (int i = 0; i < n; ++i)
      scene.add({.name = fmt::format("b{}", i), .mass = 1, .position = {1.0 * i, 0, 0}, .shape = Sphere{0.1}});
    return scene;
  };
  const auto pendulums = [](int n) {  // each of them out of all others' reach
    Scene scene;
    for (int i = 0; i < n; ++i) {
      scene.add({.name = fmt::format("b{}", i), .mass = 1, .position = {9.0 * i, 0, 0}, .shape = Sphere{0.1}});
      scene.add(Ball{.between = {"world", fmt::format("b{}", i)}, .at = {9.0 * i, 0, 1}});
    }
    return scene;
  };
  for (const bool hung : {false, true}) {
    const Scene few = hung ? pendulums(1000) : free_bodies(1000), many = hung ? pendulums(20000) : free_bodies(20000);
    const double of_few = seconds_of([&] { EXPECT_EQ(content_of(few).could_meet, !hung); });
    const double of_many = seconds_of([&] { EXPECT_EQ(content_of(many).could_meet, !hung); });
    EXPECT_LT(of_many, 80 * of_few + 0.5) << hung;  // twenty times as many; 400 would be their square
  }
}

TEST(Memory, WhatAFewWordsStandForIsCounted) {
  EXPECT_GT(free_memory(), 0);
  Scene scene;
  scene.add(SolidDef(Cloth{.columns = 1000, .rows = 1000}));
  const double one = memory_need(scene).bytes;
  EXPECT_GT(one, 1e9);
  scene.add(SolidDef(Cloth{.columns = 1000, .rows = 1000}));
  EXPECT_NEAR(memory_need(scene).bytes, 2 * one, 1e-9 * one);
  EXPECT_NE(memory_need(scene).largest.find("/solids/0"), std::string::npos);
}

// Told before any of it is taken, whatever the machine has: by the shell's own limit.
TEST_F(Cli, ScenesThatNoMemoryHoldsAreToldBeforehand) {
  const auto scene = [&](const std::string& name, const std::string& text) {
    return file(name, R"({"rotule": 1, )" + text + R"(, "recipe": {"dt": 0.01, "duration": 0.02}})");
  };
  const std::string limit = "ulimit -v 3000000;";
  const std::string cloth = scene("cloth.json", R"("solids": [{"cloth": {"columns": 1000, "rows": 1000}}])");
  const std::string fluid = scene("fluid.json", R"("fluid": {"grid": [512, 512, 512], "box": [[0, 0, 0], [1, 1, 1]]})");
  for (const std::string& command : {std::string("run "), std::string("check ")})
    for (const std::string& each : {cloth, fluid}) expect_refusal(rotule(command + each, limit), "GB of memory", command + each);
  const std::string small = scene("small.json", R"("solids": [{"cloth": {"columns": 10, "rows": 10}}])");
  EXPECT_EQ(rotule("run " + small + " --quiet", limit).status, 0);
}

// Error control that would need more steps than anybody can wait for says so, whatever the clock.
TEST_F(Cli, MotionThatWouldTakeYearsIsRefused) {
  const auto scene = [&](const std::string& name, const std::string& body, const std::string& rest) {
    return file(name, R"({"rotule": 1, "bodies": [{"name": "top", "shape": {"box": {"size": [0.1, 0.2, 0.3]}}, "mass": 1, )" +
                          body + "}]" + rest + "}");
  };
  const std::string spun = scene("spun.json", R"("angular_velocity": [1e30, 2e30, 1e30])",
                                 R"(, "recipe": {"dial": "exact", "dt": 0.01, "duration": 0.02})");
  const std::string slow = scene("slow.json", R"("angular_velocity": [100, 200, 100])",
                                 R"(, "recipe": {"dial": "exact", "dt": 1e9, "duration": 1e9})");
  for (const std::string& each : {spun, slow}) expect_refusal(rotule("run " + each + " --quiet"), "error control", each);
}

}  // namespace
}  // namespace rotule
