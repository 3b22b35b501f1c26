// Whole scenes with contacts: what stands, what falls, and what their ledgers say.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

TEST(HeavyOnLight, StandsForAMinute) {
  for (const double weight : {1e3, 1e5}) {
    World world(scenes::heavy_on_light(weight));
    double deepest = 0;
    run_for(world, 60, [&] { deepest = std::max(deepest, world.diagnostics().penetration); });
    EXPECT_LT(deepest, 1e-3) << weight;
    EXPECT_LT((world.position("weight") - Vec3(0, 0, 9.5)).norm(), 1e-3) << weight;
    EXPECT_LT(world.velocity("weight").norm(), 1e-6) << weight;
  }
}

TEST(HangingChain, HoldsWithContactsOn) {
  Scene scene = scenes::hanging_chain(1000);
  scene.recipe.contacts = ConeContactSettings{};
  scene.recipe.solver = recipes::realtime().solver;
  World world(scene);
  double worst = 0;
  run_for(world, 10, [&] { worst = std::max(worst, world.diagnostics().joint_error.position); });
  EXPECT_LT(worst, 1e-8);
}

TEST(MasonryArch, StandsWhereTheLineOfThrustFitsAndFallsWhereItDoesNot) {
  // Milankovitch: a semicircular arch needs t/R >= 0.1075.
  const auto crown_sinks = [](double ratio) {
    Scene scene = scenes::masonry_arch(ratio, 27);
    World world(scene);
    const double before = world.position("voussoir_14").z();
    run_for(world, 2);
    return before - world.position("voussoir_14").z();
  };
  EXPECT_LT(crown_sinks(0.115), 0.005);
  EXPECT_GT(crown_sinks(0.095), 0.5);
}

TEST(PassiveScene, GainsNoEnergy) {
  for (const char* name : {"marble_box", "tripods"}) {
    Scene scene = *scenes::build(name);
    scene.bodies.resize(name == std::string("tripods") ? 9 : 30);
    World world(scene);
    const Diagnostics start = world.diagnostics();
    double before = start.energy(), pushed = 0;
    run_for(world, 1.5, [&] {
      const Diagnostics now = world.diagnostics();
      // What moving out of overlaps adds is in the ledger; nothing else may.
      EXPECT_LT(now.energy() - before, (now.push_energy - pushed) + 1e-6 / 60 * std::abs(start.energy()))
          << name << " " << now.time;
      before = now.energy();
      pushed = now.push_energy;
    });
    EXPECT_LT(pushed, 0.01 * start.energy()) << name;
  }
}

TEST(Slide, OverTrianglesFeelsNoBump) {
  // 100 m over a floor of cells of half a metre, seams in both directions and along the diagonals.
  Scene scene;
  scene.materials = {{.name = "ice", .friction = 0}};
  HeightField field;
  field.columns = 216;
  field.spacing = 0.5;
  field.heights.assign(9 * 216, 0.0);
  scene.add({.name = "floor", .fixed = true, .position = {-2, -2, 0}, .shape = field, .material = "ice"});
  const Quat turned(Eigen::AngleAxisd(0.3, Vec3::UnitZ()));
  scene.add({.name = "box",
             .mass = 1.0,
             .position = {0, 0.1, 0.1},
             .orientation = turned,
             .velocity = {20, 0, 0},
             .shape = Box{{0.7, 0.4, 0.2}},
             .material = "ice"});
  scene.recipe = recipes::realtime();
  World world(scene);
  double fastest = 0;
  run_for(world, 5, [&] { fastest = std::max(fastest, std::abs(world.velocity("box").z())); });
  EXPECT_NEAR(world.position("box").x(), 100, 1e-6);
  EXPECT_LT(fastest, 1e-6);
}

TEST(NewtonCradle, PassesTheBlowOn) {
  World world(scenes::newton_cradle());
  // The first ball arrives after a quarter of its period; then the last one swings out and the others hang still.
  double highest = 0;
  run_for(world, 1.0, [&] { highest = std::max(highest, world.position("ball_5").z()); });
  const double released = 0.5 * (1 - std::cos(std::acos(-1.0) / 6));
  EXPECT_NEAR(highest, released, 0.03 * released);
}

TEST(BrickWall, HasDsContactsAndStands) {
  Scene scene = scenes::brick_wall();
  World world(scene);
  const Vec3 before = world.position("brick_14_4");
  run_for(world, 0.5, [&] {
    const int contacts = world.diagnostics().contacts;
    EXPECT_GE(contacts, 700);
    EXPECT_LE(contacts, 900);
  });
  EXPECT_LT((world.position("brick_14_4") - before).norm(), 1e-4);
}

}  // namespace
}  // namespace rotule
