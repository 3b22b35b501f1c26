// The same bits from any number of threads, from run to run, and whether or not somebody watches.
#include <gtest/gtest.h>
#include <rotule/solvers/block_gauss_seidel.h>
#include <rotule/world.h>

#include <filesystem>
#include <random>

#include "model/solver_list.h"
#include "record/trajectory.h"
#include "scenes/builders.h"
#include "support/variants.h"

namespace rotule {
namespace {

/// Mannequins, chains and four-bar linkages, each an island of its own, none quite like another.
Scene many_islands(int count) {
  Scene scene;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < count; ++i) {
    const Scene part = i % 3 == 0 ? scenes::mannequin() : i % 3 == 1 ? scenes::chain(3 + i % 7) : scenes::four_bar();
    const Vec3 shift(3 * i, 0, 0);
    const std::string prefix = "island_" + std::to_string(i) + "_";
    const Vec3 wind(uniform(random), uniform(random), uniform(random));
    const auto renamed = [&](const std::string& name) { return name == "world" ? name : prefix + name; };
    for (BodyDef body : part.bodies) {
      body.name = renamed(body.name);
      body.position += shift;
      if (!part.materials.empty()) body.density = part.materials.front().density;
      body.material.clear();
      if (part.name == "mannequin") body.velocity += wind;
      scene.add(body);
    }
    for (JointDef joint : part.joints) {
      std::visit(
          [&](auto& j) {
            j.name = renamed(j.name);
            for (std::string& name : j.between) name = renamed(name);
            if constexpr (requires { j.at; }) j.at += shift;
          },
          joint);
      scene.add(joint);
    }
  }
  return scene;
}

std::uint64_t hash_after(Scene scene, int threads, int steps) {
  scene.recipe.threads = threads;
  World world(scene);
  EXPECT_GE(world.islands(), 50);
  for (int i = 0; i < steps; ++i) world.step();
  return world.state_hash();
}

std::vector<Recipe> recipes_to_try() {
  Recipe exact = recipes::exact();
  Recipe ab4 = exact;
  ab4.integrator = Ab4Settings{};
  Recipe iterative = exact;
  iterative.solver = solver_named("cg");
  return {exact, ab4, iterative, recipes::realtime()};
}

TEST(Determinism, TheNumberOfThreadsDoesNotMatter) {
  Scene scene = many_islands(51);
  for (const Recipe& recipe : recipes_to_try()) {
    scene.recipe = recipe;
    const std::uint64_t alone = hash_after(scene, 1, 20);
    for (const int threads : {2, 3}) EXPECT_EQ(hash_after(scene, threads, 20), alone) << testing::describe(recipe) << threads;
  }
}

/// A tree of bodies on ball joints or hinges, with rods across: one linkage.
Scene tree_with_loops(int count, int children, bool hinges) {
  Scene scene;
  std::vector<Vec3> at;
  for (int i = 0; i < count; ++i) {
    const int parent = (i - 1) / children, child = (i - 1) % children;
    at.emplace_back(i == 0 ? Vec3(0, 0, 0)
                           : Vec3(at[parent] + Vec3(child - 0.4 * children, 0.3 + 0.1 * (i % 3), -0.5 - 0.01 * (i % 7))));
    scene.add({.name = "b" + std::to_string(i),
               .mass = 1 + 0.1 * (i % 5),
               .position = at.back(),
               .shape = Box{Vec3(0.2, 0.15, 0.1)},
               .contacts = false});
    const std::string own = "b" + std::to_string(i), other = i == 0 ? "world" : "b" + std::to_string(parent);
    const Vec3 where = i == 0 ? Vec3(0, 0, 0.3) : Vec3(0.5 * (at[parent] + at[i]));
    if (hinges && i % 3 != 0)
      scene.add(Hinge{.between = {other, own}, .at = where, .axis = i % 2 ? Vec3(0, 1, 0) : Vec3(0, 0, 1)});
    else
      scene.add(Ball{.between = {other, own}, .at = where});
    if (i > 1 && i % 4 == 0 && (i - 2) / children == parent)
      scene.add(Rod{.between = {"b" + std::to_string(i - 1), own}, .from = at[i - 1], .to = at[i]});
  }
  return scene;
}

TEST(Determinism, BranchesOfOneMechanismInParallelGiveTheBitsOfOneThread) {
  for (const bool hinges : {false, true}) {
    Scene scene = tree_with_loops(400, hinges ? 2 : 3, hinges);
    Recipe rk4 = recipes::exact();
    rk4.integrator = Rk4Settings{};
    rk4.dt = 1e-3;
    Recipe impulses = recipes::balanced();
    for (const Recipe& recipe : {recipes::exact(), rk4, impulses}) {
      std::uint64_t alone = 0;
      for (const int threads : {1, 2, 3, 7}) {
        Recipe own = recipe;
        own.threads = threads;
        World world(scene, own);
        ASSERT_EQ(world.islands(), 1);
        for (int i = 0; i < 3; ++i) world.step();
        if (threads == 1)
          alone = world.state_hash();
        else
          EXPECT_EQ(world.state_hash(), alone) << testing::describe(own) << ' ' << threads;
      }
    }
  }
}

TEST(Determinism, TheSameRunTwiceGivesTheSameBits) {
  for (const std::string& name : scenes::names()) {
    const Scene scene = *scenes::build(name);
    if (scene.bodies.size() > 150) continue;  // nothing new in more of the same
    World first(scene), second(scene);
    const int steps = std::holds_alternative<NoContactSettings>(scene.recipe.contacts) ? 100 : 10;
    for (int i = 0; i < steps; ++i) first.step();
    for (int i = 0; i < steps; ++i) second.step();
    EXPECT_EQ(first.state_hash(), second.state_hash()) << name;
  }
}

TEST(Determinism, AnIslandMovesAsIfItWereAlone) {
  // Bit for bit: other islands share nothing with it.
  const Scene part = scenes::mannequin();
  Scene together = part;
  together.add({.name = "other", .mass = 1.0, .position = {50, 0, 0}, .shape = Box{}});
  together.add(Ball{.name = "other_pin", .between = {"world", "other"}, .at = {51, 0, 0}});
  const Recipe recipe = recipe_of(part);  // that of both: the newcomer could meet the mannequin, and contacts would be on
  World alone(part, recipe), crowd(together, recipe);
  for (int i = 0; i < 50; ++i) {
    alone.step();
    crowd.step();
  }
  for (const BodyDef& body : part.bodies) {
    EXPECT_EQ(alone.position(body.name), crowd.position(body.name)) << body.name;
    EXPECT_EQ(alone.velocity(body.name), crowd.velocity(body.name)) << body.name;
    EXPECT_EQ(alone.orientation(body.name).coeffs(), crowd.orientation(body.name).coeffs()) << body.name;
  }
}

TEST(Determinism, ContactsGiveTheSameBitsOnAnyNumberOfThreads) {
  // Islands meet and part as tripods land on each other.
  Scene scene = scenes::tripods();
  scene.bodies.resize(17);
  scene.recipe.solver = BlockGaussSeidelSettings{.max_iterations = 50};
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 3}) {
    scene.recipe.threads = threads;
    World world(scene);
    for (int i = 0; i < 60; ++i) world.step();
    hashes.push_back(world.state_hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(Determinism, RecordingChangesNothing) {
  for (const std::string name : {"mannequin_bounce", "four_bar", "hanging_chain_1000"}) {
    const Scene scene = *scenes::build(name);
    const auto path = std::filesystem::temp_directory_path() / ("rotule_determinism_" + name + ".h5");
    World watched(scene), alone(scene);
    std::vector<std::string> bodies, joints;
    for (const BodyId id : watched.bodies()) bodies.push_back(watched.name(id));
    for (const JointId id : watched.joints()) joints.push_back(watched.name(id));
    {
      TrajectoryWriter writer(path.string(), to_json(scene), scene.recipe, bodies, joints);
      TrajectoryFrame frame;
      watched.keep_problems(true);
      for (int i = 0; i < 200; ++i) {
        capture(watched, frame);
        writer.append(frame);
        watched.step();
        alone.step();
      }
      writer.finish();
    }
    std::filesystem::remove(path);
    EXPECT_EQ(watched.state_hash(), alone.state_hash()) << name;
  }
}

}  // namespace
}  // namespace rotule
