// Saving, loading and asking: none of them leaves a trace in the bits of a run.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <string>

#include "model/solver_list.h"
#include "scenes/builders.h"
#include "solve/solve.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::describe;
using testing::sensible_recipes;

Scene with(Scene scene, const Recipe& recipe) {
  scene.recipe = recipe;
  return scene;
}

/// Each integrator and formulation with the default solver, and every solver with the acceleration and velocity formulations.
std::vector<Recipe> recipes_to_try(bool loops) {
  std::vector<Recipe> out;
  for (const Recipe& recipe : sensible_recipes(1e-3, {solver_named("ldlt")}))
    if (!loops || !std::holds_alternative<TreePlacementSettings>(recipe.correction)) out.push_back(recipe);
  for (const auto& solver : testing::all_solvers()) {
    if (loops && solver.holds<ArticulatedBodySettings>()) continue;
    Recipe recipe{.dt = 1e-3, .solver = solver};
    out.push_back(recipe);
    recipe.integrator = Ab4Settings{};
    out.push_back(recipe);
    recipe.integrator = SemiImplicitEulerSettings{};
    recipe.formulation = VelocitySettings{};
    out.push_back(recipe);
  }
  return out;
}

void expect_exact_continuation(const Scene& scene) {
  World world(scene);
  for (int i = 0; i < 7; ++i) world.step();
  const Snapshot snapshot = world.save();
  for (int i = 0; i < 7; ++i) world.step();

  // Into a fresh world, and back into the same one: both go on as if nothing had happened.
  World fresh(scene);
  fresh.load(snapshot);
  EXPECT_EQ(fresh.steps(), 7);
  for (int i = 0; i < 7; ++i) fresh.step();
  EXPECT_EQ(fresh.state_hash(), world.state_hash()) << describe(scene.recipe);
  EXPECT_EQ(fresh.time(), world.time());
  EXPECT_EQ(fresh.evaluations(), world.evaluations()) << describe(scene.recipe);
  const std::uint64_t hash = world.state_hash();
  world.load(snapshot);
  for (int i = 0; i < 7; ++i) world.step();
  EXPECT_EQ(world.state_hash(), hash) << describe(scene.recipe);
}

TEST(Snapshot, ContinuesToTheBitOnATree) {
  for (const Recipe& recipe : recipes_to_try(false)) expect_exact_continuation(with(scenes::double_pendulum(), recipe));
}

TEST(Snapshot, ContinuesToTheBitOnALoop) {
  for (const Recipe& recipe : recipes_to_try(true)) expect_exact_continuation(with(scenes::four_bar(), recipe));
}

TEST(Snapshot, ABlowAfterLoadingIsTheSameBlow) {
  const Scene scene = scenes::four_bar();
  World world(scene);
  for (int i = 0; i < 7; ++i) world.step();
  World fresh(scene);
  fresh.load(world.save());
  for (World* w : {&world, &fresh}) {
    w->apply_impulse(w->body("coupler"), Vec3(0.1, 0, 0.3), Vec3(0.5, 0, 0.5));
    w->step();
  }
  EXPECT_EQ(fresh.state_hash(), world.state_hash());
}

/// Turning presses points in within a step: contacts that nobody saw when the snapshot was made.
TEST(Snapshot, WhatIsPressedInAfterLoadingIsWhereItIs) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  for (int i = 0; i < 4; ++i)
    scene.add({.name = "box_" + std::to_string(i),
               .mass = 1,
               .position = {0.5 * i, 0, 0.4 + 0.1 * i},
               .angular_velocity = {12.0 + 3 * i, 9.0 - i, 2},
               .shape = Box{{0.3, 0.2, 0.1}}});
  scene.recipe.dt = 1.0 / 60;
  World world(scene);
  for (int step = 0; step < 120; ++step) {
    World other(scene);
    other.load({.bytes = world.save().bytes});
    world.step();
    other.step();
    ASSERT_EQ(world.state_hash(), other.state_hash()) << step;
  }
}

TEST(Snapshot, HoldsForcesAndShocks) {
  Scene scene = scenes::double_pendulum();
  World world(scene);
  world.set_force(world.body("lower"), Vec3(1, 0, 2), Vec3(0, 0.1, 0));
  const double lost = world.shock(world.body("lower"), world.position("lower"), 0.3, Vec3::UnitX());
  for (int i = 0; i < 3; ++i) world.step();
  World fresh(scene);
  fresh.load(world.save());
  EXPECT_EQ(fresh.diagnostics().shock_energy, world.diagnostics().shock_energy);
  EXPECT_EQ(fresh.diagnostics().shock_energy, lost);
  for (World* w : {&world, &fresh})
    for (int i = 0; i < 3; ++i) w->step();
  EXPECT_EQ(fresh.state_hash(), world.state_hash());
}

TEST(Snapshot, DamageIsFoundAndLeavesTheWorldAlone) {
  Scene scene = scenes::double_pendulum();
  scene.recipe.integrator = Ab4Settings{};
  World world(scene);
  for (int i = 0; i < 5; ++i) world.step();
  const Snapshot good = world.save();
  for (int i = 0; i < 3; ++i) world.step();
  const std::uint64_t hash = world.state_hash();
  const Snapshot now = world.save();

  const auto expect_refused = [&](Snapshot bad, const std::string& why) {
    EXPECT_THROW(world.load(bad), Error) << why;
    EXPECT_EQ(world.state_hash(), hash) << why;
    EXPECT_EQ(world.save().bytes, now.bytes) << why;
  };
  expect_refused({}, "empty");
  for (std::size_t size = 1; size < good.bytes.size(); size += 37) {
    Snapshot cut = good;
    cut.bytes.resize(size);
    expect_refused(cut, "cut to " + std::to_string(size));
  }
  Snapshot longer = good;
  longer.bytes.push_back(0);
  expect_refused(longer, "longer");
  for (std::size_t at = 0; at < good.bytes.size(); at += 5) {
    Snapshot flipped = good;
    flipped.bytes[at] ^= 0x10;
    expect_refused(flipped, "a flipped bit in byte " + std::to_string(at));
  }
  World other(scenes::mannequin());
  expect_refused(other.save(), "of another world");

  world.load(good);
  for (int i = 0; i < 3; ++i) world.step();
  EXPECT_EQ(world.state_hash(), hash);
}

/// Everything that a world can be asked.
void ask_everything(const World& world) {
  static_cast<void>(world.diagnostics());
  for (const JointId id : world.joints()) {
    static_cast<void>(world.joint_force(id));
    static_cast<void>(world.joint_error(id));
  }
  static_cast<void>(world.redundancies());
  static_cast<void>(world.warnings());
  static_cast<void>(world.save());
  static_cast<void>(world.evaluations());
}

void expect_asking_changes_nothing(const Scene& scene) {
  World silent(scene), asked(scene);
  for (int i = 0; i < 12; ++i) {
    ask_everything(asked);
    asked.step();
    silent.step();
    // Changes between steps make a new engine inside, which must not depend on questions either.
    if (i == 5)
      for (World* world : {&silent, &asked}) {
        world->add({.name = "guest", .mass = 1.0, .position = {5, 5, 5}});
        if (world == &asked) ask_everything(*world);
        const BodyId id = world->bodies().front();
        world->apply_impulse(id, Vec3(0.01, 0, 0.02), world->center_of_mass(id));
      }
    ASSERT_EQ(asked.state_hash(), silent.state_hash()) << describe(scene.recipe) << ", step " << i;
  }
  EXPECT_EQ(asked.evaluations(), silent.evaluations()) << describe(scene.recipe);
}

TEST(Asking, ChangesNoBitOnATree) {
  for (const Recipe& recipe : recipes_to_try(false)) expect_asking_changes_nothing(with(scenes::double_pendulum(), recipe));
}

TEST(Asking, ChangesNoBitOnALoop) {
  for (const Recipe& recipe : recipes_to_try(true)) expect_asking_changes_nothing(with(scenes::four_bar(), recipe));
}

TEST(Asking, KeepsTheProblemOfTheStep) {
  World world(scenes::four_bar());
  world.keep_problems(true);
  world.step();
  const VecX b = world.problem(0).b;
  const std::vector<double> x(world.multipliers(0).begin(), world.multipliers(0).end());
  ask_everything(world);
  EXPECT_EQ(world.problem(0).b, b);
  EXPECT_TRUE(std::equal(x.begin(), x.end(), world.multipliers(0).begin()));
}

}  // namespace
}  // namespace rotule
