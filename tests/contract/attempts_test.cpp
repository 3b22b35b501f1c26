// A step by impulses that went wrong is made again from its start, and the report says so.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include "scenes/builders.h"

namespace rotule {
namespace {

Scene plucked(double weight, double dt, double impulse) {
  Scene scene = scenes::hanging_chain(weight);
  scene.recipe.dt = dt;
  scene.impulses = {{.body = "link_10", .impulse = Vec3(impulse, 0, 0)}};
  return scene;
}

TEST(Attempts, AGoodStepIsMadeOnce) {
  World world(scenes::hanging_chain(1000));
  for (int i = 0; i < 20; ++i) {
    const StepReport& report = world.step();
    EXPECT_EQ(report.attempts, 1);
    EXPECT_TRUE(report.sound());
  }
}

TEST(Attempts, ABlowIsMadeAgainAndTheReportIsThatOfTheGoodAttempt) {
  World world(plucked(1000, 1.0 / 60, 100));
  const double before = world.diagnostics().energy();
  const StepReport first = world.step();
  EXPECT_GT(first.attempts, 1);
  EXPECT_TRUE(first.sound());
  EXPECT_TRUE(first.converged);
  EXPECT_LT(world.diagnostics().energy(), before);
  // What the failed attempts solved does not count.
  World calm(scenes::hanging_chain(1000));
  calm.step();
  EXPECT_LE(first.solves, 2 * calm.step().solves + 10);
}

TEST(Attempts, AMotorsWorkIsNoReasonToRepeat) {
  Scene scene;
  scene.gravity.setZero();
  scene.recipe = recipes::realtime();
  scene.add({.name = "wheel", .mass = 1.0, .shape = Box{.size = Vec3(1, 0.2, 0.2)}});
  scene.add(Hinge{.between = {"world", "wheel"}, .axis = Vec3::UnitZ(), .drive = {.motor_speed = 5, .motor_strength = 2}});
  World world(scene);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(world.step().attempts, 1);
  EXPECT_GT(world.diagnostics().kinetic_energy, 0.1);
  EXPECT_TRUE(world.warnings().empty());
}

TEST(Attempts, WhatNoAttemptMendsIsSaid) {
  // Long steps, heavy weights and hard blows: wherever energy is gained in spite of all attempts, report and warnings say so.
  int said = 0;
  for (const double weight : {1e3, 1e6, 1e9})
    for (const double dt : {0.02, 0.1, 0.5, 2.0})
      for (const double impulse : {10.0, 1e3, 1e5}) {
        World world(plucked(weight, dt, impulse));
        double energy = world.diagnostics().energy();
        int unsound = 0;
        try {
          for (int i = 0; i < 20; ++i) {
            const StepReport report = world.step();
            const double now = world.diagnostics().energy();
            const double scale = world.diagnostics().kinetic_energy + std::abs(world.diagnostics().potential_energy);
            const bool gained = now > energy + 1e-9 * scale;
            EXPECT_TRUE(!gained || report.energy_gained > 0) << weight << " " << dt << " " << impulse;
            unsound += !report.sound();
            EXPECT_LE(report.attempts, 4);
            energy = now;
          }
        } catch (const Error&) {
          ++said;  // torn open, or no number any more: said loudly enough
          continue;
        }
        bool warned = false;
        for (const std::string& warning : world.warnings())
          warned = warned || warning.find("gained energy") != std::string::npos ||
                   warning.find("left joints open") != std::string::npos;
        EXPECT_EQ(warned, unsound > 0) << weight << " " << dt << " " << impulse;
        said += warned;
      }
  EXPECT_GT(said, 0) << "none of these is hard enough to see what happens";
}

}  // namespace
}  // namespace rotule
