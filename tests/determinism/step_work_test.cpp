// All solves of a step share a bound on their work, which no machine and no number of threads changes.
#include <gtest/gtest.h>
#include <rotule/solvers/auto.h>
#include <rotule/world.h>

#include "base/parallel.h"
#include "base/shared_work.h"

namespace rotule {
namespace {

/// Walls of loose bricks, each struck by a ball of its own, none quite like another.
Scene walls(int count, int courses) {
  Scene scene;
  scene.materials = {{.name = "brick", .friction = 0.6}};
  scene.add({.fixed = true, .shape = Plane{}, .material = "brick"});
  for (int w = 0; w < count; ++w) {
    const Vec3 at(0, 5 * w, 0);
    for (int i = 0; i < courses; ++i)
      for (int k = 0; k < courses; ++k)
        scene.add({.mass = 1.0,
                   .position = at + Vec3(0, 0.4 * k + 0.2 * (i % 2), 0.1 + 0.2 * i),
                   .shape = Box{Vec3(0.2, 0.399, 0.2)},
                   .material = "brick"});
    scene.add({.mass = 5.0,
               .position = at + Vec3(-1, 0.2 * courses, 0.1 * courses),
               .velocity = {15.0 + w, 0.5, 1},
               .shape = Sphere{0.15},
               .material = "brick"});
  }
  return scene;
}

Recipe with_work(int rows, int threads) {
  Recipe recipe = recipes::realtime();
  recipe.threads = threads;
  recipe.solver.get_if<AutoSettings>()->step_rows = rows;
  return recipe;
}

TEST(StepWork, EndsStepsWellAndSaysSo) {
  const Scene scene = walls(1, 6);
  constexpr int rows = 60'000;
  World free(scene, with_work(0, 1)), bounded(scene, with_work(rows, 1));
  const double start = bounded.diagnostics().energy();
  int cut = 0, most_free = 0, most_bounded = 0;
  double pushed = 0;
  for (int i = 0; i < 60; ++i) {
    most_free = std::max(most_free, free.step().iterations);
    const StepReport& report = bounded.step();
    most_bounded = std::max(most_bounded, report.iterations);
    cut += report.cut;
    EXPECT_FALSE(report.cut && report.converged) << i;
    const Diagnostics now = bounded.diagnostics();
    EXPECT_LT(now.penetration, 0.05 * 0.2) << i;  // by a bound that is an eighth of what is given to those who watch
    pushed = now.push_energy;
    EXPECT_LE(now.energy(), start + pushed + 1e-9 * start) << i;
  }
  EXPECT_LT(pushed, 1e-3 * start);
  EXPECT_GT(cut, 3);
  EXPECT_LT(most_bounded, most_free / 2);
  bool said = false;
  for (const std::string& line : bounded.warnings()) said = said || line.find("the budget ended") != line.npos;
  EXPECT_TRUE(said);
  for (const std::string& line : free.warnings()) EXPECT_EQ(line.find("the budget ended"), line.npos);
}

TEST(StepWork, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Scene scene = walls(4, 4);
  const auto hash = [&](int threads, int& cut) {
    World world(scene, with_work(50'000, threads));
    for (int i = 0; i < 30; ++i) cut += world.step().cut;
    return world.state_hash();
  };
  int cut = 0, again = 0;
  const std::uint64_t alone = hash(1, cut);
  EXPECT_GT(cut, 3);
  for (const int threads : {2, 4}) {
    again = 0;
    EXPECT_EQ(hash(threads, again), alone) << threads;
    EXPECT_EQ(again, cut);
  }
}

TEST(SharedWork, IsShared) {
  EXPECT_EQ(SharedWork::left_here(), std::numeric_limits<double>::infinity());
  SharedWork::use_here(10);  // nobody counts
  SharedWork work(1000);
  EXPECT_EQ(SharedWork::left_here(), 1000);
  SharedWork::use_here(200);
  EXPECT_EQ(work.left(0.7), 500);
  const double left = work.left(0.7);
  parallel_for(5, 4, [&](int i) {
    const WorkPiece piece(work, 0.2 * left);
    EXPECT_EQ(SharedWork::left_here(), 100);  // whoever else is done already
    SharedWork::use_here(10 * i);
    EXPECT_EQ(SharedWork::left_here(), 100 - 10 * i);
    if (i == 3) SharedWork::cut_here();
  });
  EXPECT_EQ(work.left(), 700);
  EXPECT_TRUE(work.cut());
  EXPECT_FALSE(work.spent());
  {
    SharedWork inner(0);
    SharedWork::use_here(1e9);
    EXPECT_FALSE(inner.spent());
  }
  SharedWork::use_here(700);
  EXPECT_TRUE(work.spent());
}

}  // namespace
}  // namespace rotule
