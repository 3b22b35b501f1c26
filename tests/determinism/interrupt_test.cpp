// A step that is interrupted leaves no trace, and one that has a budget keeps to it: the best answer within it, and said so.
#include <gtest/gtest.h>
#include <pthread.h>
#include <rotule/error.h>
#include <rotule/solvers/prox_newton.h>
#include <rotule/world.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "model/solver_list.h"
#include "scenes/builders.h"

namespace rotule {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// What the README invites to: a ball of 5 kg thrown at the wall.
Scene ball_at_wall() {
  Scene scene = scenes::brick_wall();
  scene.add(BodyDef{.name = "ball", .mass = 5, .position = {0, -1.2, 0.8}, .velocity = {0, 8, 0}, .shape = Sphere{0.12}});
  return scene;
}

Scene with(Scene scene, const char* key, const char* value) {
  set(scene.recipe, key, value);
  return scene;
}

/// Rings at random moments, most of them within steps, until it goes.
class Nuisance {
 public:
  explicit Nuisance(World& world, std::chrono::microseconds longest)
      : thread_([this, &world, longest] {
          std::mt19937 random(11);
          std::uniform_int_distribution<int> wait(0, static_cast<int>(longest.count()));
          while (!ended_) {
            std::this_thread::sleep_for(std::chrono::microseconds(wait(random)));
            if (!quiet) world.interrupt();
          }
        }) {}
  ~Nuisance() {
    ended_ = true;
    thread_.join();
  }
  Nuisance(const Nuisance&) = delete;
  Nuisance& operator=(const Nuisance&) = delete;
  std::atomic<bool> quiet = false;

 private:
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

/// Adds to the number of interruptions.
void expect_no_trace(const Scene& scene, int steps, int& interruptions) {
  SCOPED_TRACE(scene.name);
  World calm(scene);
  const auto begun = Clock::now();
  for (int i = 0; i < steps; ++i) calm.step();
  const auto per_step = std::chrono::duration_cast<std::chrono::microseconds>((Clock::now() - begun) / steps);

  World world(scene);
  {
    Nuisance nuisance(world, per_step);
    for (int i = 0; i < steps; ++i) {
      for (int tries = 0;; ++tries) {
        nuisance.quiet = tries > 4;  // somebody must get there in the end
        const std::uint64_t before = world.state_hash();
        const std::int64_t evaluations = world.evaluations();
        const double time = world.time();
        try {
          world.step();
          break;
        } catch (const Interrupted&) {
          ++interruptions;
          ASSERT_EQ(world.state_hash(), before);
          ASSERT_EQ(world.evaluations(), evaluations);
          ASSERT_EQ(world.time(), time);
          ASSERT_EQ(world.steps(), i);
        }
      }
    }
  }
  EXPECT_EQ(world.state_hash(), calm.state_hash());
  EXPECT_EQ(world.save().bytes, calm.save().bytes);
}

TEST(Interrupt, LeavesNoTraceWithContacts) {
  int interruptions = 0;
  for (int again = 0; again < 2; ++again) {  // in memory that was used before, too: no byte of a snapshot is left to chance
    expect_no_trace(with(ball_at_wall(), "budget_iterations", "4"), 4, interruptions);
    expect_no_trace(with(scenes::ragdoll_heap(), "threads", "2"), 4, interruptions);
  }
  EXPECT_GT(interruptions, 0);
}

/// A force of nothing that rings when it has been asked so many times: in the midst of a step, to the evaluation.
struct Tripwire {
  World* world = nullptr;
  int left = 0;
};

TEST(Interrupt, LeavesNoTraceAfterAnyEvaluation) {
  for (const char* integrator : {"rk4", "ab4", "gauss4", "bdf2", "implicit_midpoint", "rattle4", "dormand_prince",
                                 "dormand_prince_8", "semi_implicit_euler"}) {
    SCOPED_TRACE(integrator);
    auto wire = std::make_shared<Tripwire>();
    Scene scene = scenes::four_bar();
    set(scene.recipe, "integrator", integrator);
    if (integrator == std::string("semi_implicit_euler")) set(scene.recipe, "formulation", "velocity");
    scene.add(
        UserForce{.name = "tripwire", .between = {"world", "coupler"}, .values = [wire](const Motion&, const Motion&, double) {
                    if (wire->world && --wire->left == 0) wire->world->interrupt();
                    return Vec12(Vec12::Zero());
                  }});
    World calm(scene);
    World world(scene);
    std::mt19937 random(5);
    int interruptions = 0;
    for (int i = 0; i < 40; ++i) {
      for (const int after : {0, 1, 2, 5, 11}) {
        const std::vector<std::uint8_t> before = world.save().bytes;
        wire->world = &world;
        wire->left = 1 + after + static_cast<int>(random() % 3);
        bool made = true;
        try {
          world.step();
        } catch (const Interrupted&) {
          made = false;
          ++interruptions;
          ASSERT_EQ(world.save().bytes, before);
        }
        wire->world = nullptr;
        if (!made) continue;
        calm.step();
        try {  // rung after the last loop had listened: the next step's affair
          world.step();
          calm.step();
        } catch (const Interrupted&) {
        }
      }
      world.step();
      calm.step();
      ASSERT_EQ(world.state_hash(), calm.state_hash());
    }
    EXPECT_GT(interruptions, 10);
    EXPECT_EQ(world.save().bytes, calm.save().bytes);
  }
}

TEST(Interrupt, NoTraceAfterBodiesCameAndWent) {
  const auto changed = [] {
    World world(scenes::pyramid(6));
    for (int i = 0; i < 3; ++i) world.step();
    world.remove(world.bodies()[7]);
    world.add(BodyDef{.name = "late", .mass = 2, .position = {0, 0, 4}, .shape = Sphere{0.2}});
    world.step();
    return world;
  };
  World calm = changed(), world = changed();
  for (int i = 0; i < 10; ++i) {
    world.interrupt();
    EXPECT_THROW(world.step(), Interrupted);
    for (int k = 0; k < 3; ++k) {
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(150 * k));
        world.interrupt();
      });
      try {
        world.step();
        other.join();
        try {  // rung too late for the step: the next one hears of it
          world.step();
          ADD_FAILURE() << "nobody heard";
        } catch (const Interrupted&) {
        }
        calm.step();
      } catch (const Interrupted&) {
        other.join();
      }
    }
    world.step();
    calm.step();
    ASSERT_EQ(world.state_hash(), calm.state_hash());
  }
}

TEST(Interrupt, IsHeardInsideEverySolver) {
  for (const NamedSolver& solver : solver_list()) {
    if (solver.preset() || !solver.settings.traits().bounds) continue;
    SCOPED_TRACE(std::string(solver.name));
    Scene scene = ball_at_wall();
    if (!solver.settings.traits().cone) scene.recipe.contacts = BoxContactSettings{};
    scene.recipe.solver = solver.settings;
    // As long as can be.
    if (double* tolerance = scene.recipe.solver.find<double>("tolerance")) *tolerance = 1e-300;
    if (int* most = scene.recipe.solver.find<int>("max_iterations")) *most = 1'000'000'000;
    World world(scene);
    clockid_t clock{};
    ASSERT_EQ(::pthread_getcpuclockid(::pthread_self(), &clock), 0);
    const auto cpu_seconds = [&] {
      timespec now{};
      ::clock_gettime(clock, &now);
      return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    double rung = 0;
    std::thread other([&] {
      std::this_thread::sleep_for(300ms);
      rung = cpu_seconds();
      world.interrupt();
    });
    try {
      for (int i = 0; i < 1000; ++i) world.step();
    } catch (const Interrupted&) {
    }
    const double heard = cpu_seconds();
    other.join();
    // Dense matrices of thousands of rows are made room for in one piece.
    const bool dense = solver.settings.family() == "pivot";
    EXPECT_LT(heard - rung, dense ? 1.0 : 0.25) << "s of work until it was heard";
  }
}

TEST(Interrupt, StepsByErrorControlHearIt) {
  Scene scene = scenes::kepler();
  set(scene.recipe, "integrator", "dormand_prince");
  set(scene.recipe, "integrator.relative_tolerance", "1e-13");
  World world(scene);
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    world.interrupt();
  });
  EXPECT_THROW(world.step(1e6), Interrupted);
  other.join();
  EXPECT_EQ(world.time(), 0);
}

TEST(Budget, OfIterationsIsKeptAndSaidAndReproducible) {
  Scene scene = ball_at_wall();
  scene.recipe.budget.iterations = 20;
  World world(scene), same(scene);
  bool cut = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = world.step();
    same.step();
    cut = cut || report.cut;
    EXPECT_TRUE(report.cut || report.converged);
    EXPECT_TRUE(!report.cut || report.residual < 1) << report.residual;
  }
  EXPECT_TRUE(cut);
  EXPECT_EQ(world.state_hash(), same.state_hash());
  const std::vector<std::string> warnings = world.warnings();
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& w) { return w.starts_with("the budget"); }));

  // One that nothing uses up changes nothing.
  Scene free = ball_at_wall(), wide = ball_at_wall();
  wide.recipe.budget = {.seconds = 1e6, .iterations = 1'000'000'000};
  World a(free), b(wide);
  for (int i = 0; i < 5; ++i) {
    a.step();
    EXPECT_FALSE(b.step().cut);
  }
  EXPECT_EQ(a.state_hash(), b.state_hash());
}

TEST(Budget, OfTimeIsKeptByEverySolver) {
  for (const SolverChoice& solver :
       {automatic_solver(1e-300), solver_named("nncg"), SolverChoice(ProxNewtonSettings{.tolerance = 1e-300})}) {
    Scene scene = ball_at_wall();
    scene.recipe.solver = solver;
    *scene.recipe.solver.find<double>("tolerance") = 1e-300;
    scene.recipe.budget.seconds = 0.02;
    World world(scene);
    world.step();  // makes room
    double longest = 0;
    for (int i = 0; i < 10; ++i) {
      timespec before{}, after{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
      EXPECT_TRUE(world.step().cut);
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
      longest = std::max(longest, static_cast<double>(after.tv_sec - before.tv_sec) +
                                      1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
    }
    EXPECT_LT(longest, 0.04) << std::string(solver.name());
  }
}

// Some orbits in one step, at a tolerance that takes long: made to its end with what is left of the tolerance, and
// said.
TEST(Budget, OfTimeIsKeptByErrorControl) {
  for (const char* method : {"dormand_prince", "radau5"}) {
    SCOPED_TRACE(method);
    Scene scene = scenes::kepler();
    set(scene.recipe, "integrator", method);
    set(scene.recipe, "integrator.relative_tolerance", "1e-13");
    scene.recipe.budget.seconds = 0.01;
    World world(scene);
    world.step(1e-3);
    timespec before{}, after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    const StepReport report = world.step(200);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    EXPECT_TRUE(report.cut);
    EXPECT_FALSE(report.converged);
    EXPECT_DOUBLE_EQ(world.time(), 200 + 1e-3);
    EXPECT_LT(static_cast<double>(after.tv_sec - before.tv_sec) + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec),
              0.05);
  }
}

}  // namespace
}  // namespace rotule
