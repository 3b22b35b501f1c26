// The dial: recipes that fit what a scene contains, and remedies that mend those that do not.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "model/choices.h"
#include "model/content.h"
#include "model/dial.h"
#include "model/solver_list.h"

namespace rotule {
namespace {

const std::string ball_on_floor = R"("bodies": [{"name": "floor", "fixed": true, "shape": {"plane": {}}},
  {"name": "ball", "mass": 1, "position": [0, 0, 1], "shape": {"sphere": {"radius": 0.1}}}])";
const std::string arm =
    R"("bodies": [{"name": "arm", "mass": 1, "position": [0.5, 0, 0], "shape": {"box": {"size": [1, 0.1, 0.1]}}}])";

Scene scene_of(const std::string& content, const std::string& recipe = "") {
  return parse_scene("{\"rotule\": 1, " + content + (recipe.empty() ? "" : ", \"recipe\": " + recipe) + "}");
}
std::string hinge(const std::string& drive) {
  return R"("joints": [{"hinge": {"between": ["world", "arm"], "axis": [0, 1, 0])" + drive + "}}]";
}
bool touching(const Recipe& recipe) { return !std::holds_alternative<NoContactSettings>(recipe.contacts); }

TEST(Dial, WithoutARecipeTheBallRestsOnTheFloor) {
  Scene built;
  built.add({.name = "floor", .fixed = true, .shape = Plane{}});
  built.add({.name = "ball", .mass = 1.0, .position = {0, 0, 1}, .shape = Sphere{0.1}});
  for (const Scene& scene : {built, scene_of(ball_on_floor), scene_of(ball_on_floor, R"({"solver": "pgs"})"),
                             scene_of(ball_on_floor, R"({"contacts": "box"})"), scene_of(ball_on_floor, R"("realtime")"),
                             scene_of(ball_on_floor, R"({"dial": "exact", "dt": 0.001})")}) {
    World world(scene);
    while (world.time() < 2) world.step();
    EXPECT_NEAR(world.position("ball").z(), 0.1, 1e-3);
  }
}

TEST(Dial, WhatIsGivenIsKept) {
  EXPECT_EQ(name_of(recipe_of(scene_of(ball_on_floor, R"({"solver": "pgs"})")).solver), "pgs");
  // A method of accelerations takes contacts as events.
  const Recipe by_rk4 = recipe_of(scene_of(ball_on_floor, R"({"integrator": "rk4"})"));
  EXPECT_EQ(name_of(by_rk4.integrator), "rk4");
  EXPECT_EQ(name_of(by_rk4.formulation), "acceleration");
  EXPECT_TRUE(touching(by_rk4));
  // One that knows no contacts is kept, and contacts are not: the doctor says so.
  const Recipe by_ab4 = recipe_of(scene_of(ball_on_floor, R"({"integrator": "ab4"})"));
  EXPECT_EQ(name_of(by_ab4.integrator), "ab4");
  EXPECT_FALSE(touching(by_ab4));
  const Recipe off = recipe_of(scene_of(ball_on_floor, R"({"contacts": "none"})"));
  EXPECT_FALSE(touching(off));
  EXPECT_EQ(name_of(off.integrator), "rk4");
  // Whether bodies touch is physics, which the dial does not change.
  EXPECT_FALSE(touching(recipe_for(scene_of(ball_on_floor, R"({"contacts": "none"})"), Dial::exact)));
  EXPECT_EQ(recipe_of(scene_of(ball_on_floor, R"({"dt": 0.004, "duration": 7})")).dt, 0.004);
  EXPECT_EQ(recipe_for(scene_of(ball_on_floor, R"({"dt": 0.004, "duration": 7})"), Dial::exact).duration, 7);
  EXPECT_THROW(scene_of(ball_on_floor, R"("fast")"), Error);
  EXPECT_THROW(recipe_for(Scene{}, 0.5), Error);
}

TEST(Dial, ChosenByContent) {
  // A mechanism that nothing drives and nobody meets: accelerations, as they are integrated best.
  const Recipe mechanism = recipe_of(scene_of(arm + ", " + hinge("")));
  EXPECT_EQ(name_of(mechanism.integrator), "rk4");
  EXPECT_EQ(name_of(mechanism.formulation), "acceleration");
  EXPECT_FALSE(touching(mechanism));
  // What switches wants events located; with impulses, for those who watch, bounds.
  const Recipe motor = recipe_of(scene_of(arm + ", " + hinge(R"(, "motor_speed": 1, "motor_strength": 50)")));
  EXPECT_EQ(name_of(motor.formulation), "acceleration");
  EXPECT_EQ(name_of(motor.integrator), "dormand_prince");
  EXPECT_FALSE(touching(motor));
  const Recipe watched = recipe_for(scene_of(arm + ", " + hinge(R"(, "motor_speed": 1, "motor_strength": 50)")), Dial::realtime);
  EXPECT_EQ(name_of(watched.formulation), "velocity");
  EXPECT_TRUE(watched.solver.traits().bounds);
  EXPECT_EQ(name_of(recipe_of(scene_of(arm + ", " + hinge(R"(, "stiffness": 3)"))).integrator), "rk4");
  EXPECT_EQ(name_of(recipe_of(scene_of(arm + ", " + hinge(R"(, "upper": 0.3)"))).integrator), "dormand_prince");
  // Pendulums too far apart to meet; near enough; and one above a floor that it cannot reach.
  const auto pendulums = [](double distance) {
    Scene scene;
    for (const double x : {0.0, distance}) {
      const std::string name = x == 0 ? "a" : "b";
      scene.add({.name = name, .mass = 1.0, .position = {x, 0, -1}, .shape = Sphere{0.1}});
      scene.add(Ball{.between = {"world", name}, .at = {x, 0, 0}});
    }
    return scene;
  };
  EXPECT_FALSE(touching(recipe_of(pendulums(10))));
  EXPECT_TRUE(touching(recipe_of(pendulums(1))));
  Scene above = pendulums(10);
  above.add({.name = "floor", .fixed = true, .position = {0, 0, -5}, .shape = Plane{}});
  EXPECT_FALSE(touching(recipe_of(above)));
  above.bodies.back().position.z() = -1;
  EXPECT_TRUE(touching(recipe_of(above)));
  // Stiff springs: a step that an explicit method bears, or an implicit method.
  const auto spring = [](double stiffness) {
    return scene_of(
        R"("bodies": [{"name": "m", "mass": 1, "position": [1, 0, 0]}], "forces": [{"spring": {"between": ["world", "m"],
      "from": [0, 0, 0], "stiffness": )" +
        std::to_string(stiffness) + "}}]");
  };
  EXPECT_NEAR(content_of(spring(400)).frequency, 20, 1e-9);
  EXPECT_EQ(recipe_of(spring(400)).dt, 1e-3);
  EXPECT_LT(recipe_of(spring(4e6)).dt * 2000, 2.8);
  EXPECT_EQ(name_of(recipe_of(spring(4e12)).integrator), "gauss4");
  EXPECT_EQ(name_of(recipe_for(spring(4e12), Dial::exact).integrator), "radau5");
  EXPECT_EQ(name_of(recipe_for(spring(4e6), Dial::exact).integrator), "dormand_prince_8");
}

TEST(Dial, ThoseWhoWatchBodiesTouchGetTheRealTimeStepper) {
  const auto realtime = [](const Recipe& recipe) { return std::holds_alternative<RealtimeStepperSettings>(recipe.stepper); };
  const Recipe usual = recipe_for(scene_of(ball_on_floor), Dial::realtime);
  ASSERT_TRUE(realtime(usual));
  EXPECT_GT(std::get<RealtimeStepperSettings>(usual.stepper).sleep_after, 0);
  EXPECT_TRUE(realtime(recipe_of(scene_of(ball_on_floor, R"("realtime")"))));
  EXPECT_TRUE(World(scene_of(ball_on_floor, R"("realtime")")).warnings().size() <= 1);
  // Nobody touches, more is asked for, or somebody chose a method of his own.
  EXPECT_FALSE(realtime(recipe_for(scene_of(arm + ", " + hinge("")), Dial::realtime)));
  EXPECT_FALSE(realtime(recipe_for(scene_of(ball_on_floor), Dial::balanced)));
  EXPECT_FALSE(realtime(recipe_of(scene_of(ball_on_floor, R"({"dial": "realtime", "solver": "pgs"})"))));
  EXPECT_FALSE(realtime(recipe_of(scene_of(ball_on_floor, R"({"dial": "realtime", "stepper": "reference"})"))));
  // What it does not know runs by the reference, and why is said.
  const Scene soft = scene_of(R"("materials": [{"name": "rubber", "contact_stiffness": 1e4}],
    "bodies": [{"name": "floor", "fixed": true, "shape": {"plane": {}}, "material": "rubber"},
    {"name": "ball", "mass": 1, "position": [0, 0, 1], "shape": {"sphere": {"radius": 0.1}}}])",
                              R"("realtime")");
  World world(soft);
  EXPECT_FALSE(realtime(world.recipe()));
  const std::vector<std::string> said = world.warnings();
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& w) { return w.find("soft surfaces") != w.npos; }));
  EXPECT_NO_THROW(world.step());
}

TEST(Dial, AccuracyIsAToleranceOrAStep) {
  const Scene mechanism = scene_of(arm + ", " + hinge(""));
  const Recipe fine = recipe_for(mechanism, 1e-8);
  ASSERT_TRUE(std::holds_alternative<DormandPrince8Settings>(fine.integrator));
  EXPECT_LE(std::get<DormandPrince8Settings>(fine.integrator).relative_tolerance, 1e-8);
  EXPECT_GT(recipe_for(scene_of(ball_on_floor), 1e-2).dt, recipe_for(scene_of(ball_on_floor), 1e-4).dt);
}

TEST(Dial, ScenesAreWrittenAsTheyWereRead) {
  for (const char* recipe : {"", R"("exact")", R"({"dial": "realtime", "dt": 0.01})", R"({"duration": 3})",
                             R"({"integrator": "rk4"})", R"({"solver": "pgs"})", R"({"contacts": "none"})"}) {
    const Scene scene = scene_of(ball_on_floor, recipe);
    const std::string text = to_json(scene);
    const Scene back = parse_scene(text);
    EXPECT_TRUE(same_recipe(recipe_of(back), recipe_of(scene))) << recipe << text;
    EXPECT_EQ(to_json(back), text) << recipe;
  }
}

// For every refusal that the table can give: what it says to set makes the recipe fit, and a scene with contact and motor runs.
TEST(Dial, EveryRefusalNamesARemedyThatWorks) {
  Scene scene = scene_of(R"("bodies": [{"name": "floor", "fixed": true, "position": [0, 0, -0.2], "shape": {"plane": {}}},
    {"name": "arm", "mass": 1, "position": [0.5, 0, 0], "shape": {"box": {"size": [1, 0.1, 0.1]}}}], )" +
                         hinge(R"(, "motor_speed": 1, "motor_strength": 50)"));
  Scene plain = scene;
  std::get<Hinge>(plain.joints[0]).drive = {};
  Scene sprung = scene;
  std::get<Hinge>(sprung.joints[0]).drive = {.stiffness = 2};
  // One solver for every set of laws that it may know.
  std::vector<SolverChoice> solvers;
  std::set<std::tuple<bool, bool, bool>> laws;
  for (const NamedSolver& solver : solver_list()) {
    const SolverTraits& traits = solver.settings.traits();
    if (laws.emplace(traits.bounds, traits.box, traits.cone).second) solvers.push_back(solver.settings);
  }
  std::set<std::string> said;
  int refusals = 0;
  const auto look = [&](const Recipe& recipe, const JointNeeds& needs, const Scene& of) {
    if (misfit(recipe, needs).empty()) return;
    ++refusals;
    const Remedy remedy = remedy_for(recipe, needs);
    Recipe mended = recipe;
    std::istringstream words(remedy.flags);
    for (std::string word; words >> word;) {
      if (word == "--set") continue;
      const auto equals = word.find('=');
      set(mended, word.substr(0, equals), word.substr(equals + 1));
    }
    ASSERT_EQ(misfit(mended, needs), "") << misfit(recipe, needs) << "\n" << remedy.flags;
    if (touching(recipe)) {
      ASSERT_TRUE(touching(mended)) << misfit(recipe, needs) << "\n" << remedy.flags;
    }
    if (!said.insert(misfit(recipe, needs) + remedy.flags).second) return;
    World world(of, mended);
    for (int i = 0; i < 3; ++i) world.step();
  };
  Recipe recipe;
  recipe.dt = 1e-3;
  for_each_alternative<IntegratorSettings>([&](const auto& integrator) {
    for_each_alternative<FormulationSettings>([&](const auto& formulation) {
      for_each_alternative<CorrectionSettings>([&](const auto& correction) {
        for_each_alternative<ContactChoice>([&](const auto& contacts) {
          for (const SolverChoice& solver : solvers) {
            recipe.integrator = integrator;
            recipe.formulation = formulation;
            recipe.correction = correction;
            recipe.contacts = contacts;
            recipe.solver = solver;
            look(recipe, {}, plain);
            look(recipe, {.drives = true}, sprung);
            look(recipe, {.drives = true, .switching = true}, scene);
          }
        });
      });
    });
  });
  EXPECT_GT(refusals, 1000);
  EXPECT_GT(said.size(), 20u);

  // The real-time stepper has one recipe, which a refusal names.
  const int before = refusals;
  recipe = {};
  recipe.stepper = RealtimeStepperSettings{};
  for_each_alternative<IntegratorSettings>([&](const auto& integrator) {
    for_each_alternative<CorrectionSettings>([&](const auto& correction) {
      for (const SolverChoice& solver : solvers) {
        recipe.integrator = integrator;
        recipe.correction = correction;
        recipe.solver = solver;
        look(recipe, {}, plain);
      }
    });
  });
  EXPECT_GT(refusals, before + 20);
}

}  // namespace
}  // namespace rotule
