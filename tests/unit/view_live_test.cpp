// What the viewer does to a world: its past, dragging, balls, changes of the recipe, and the messages that ask for them.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "apps/rotule/view/command.h"
#include "apps/rotule/view/live.h"
#include "apps/rotule/view/replay.h"
#include "model/solid_surface.h"
#include "record/trajectory.h"
#include "scenes/builders.h"
#include "support/files.h"

namespace rotule::app {
namespace {

Scene one_ball() {
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "ball", .mass = 2, .shape = Sphere{0.1}});
  scene.recipe = recipes::realtime();
  return scene;
}

ViewFrame frame_at(double time) {
  ViewFrame frame;
  frame.time = time;
  frame.set_bodies(std::vector<double>{time, time * time, std::sin(9 * time)}, std::vector<double>{1, 0, 0, 0}, {});
  return frame;
}

TEST(ViewHistory, GivesBackEveryFrameInAnyOrder) {
  History history(std::size_t{1} << 20);
  for (int k = 0; k < 100; ++k) history.push(frame_at(0.02 * k));
  ASSERT_EQ(history.first(), 0);
  ASSERT_EQ(history.last(), 99);
  for (const int k : {0, 99, 50, 51, 52, 10, 31, 30, 29, 99, 0, 1}) {
    EXPECT_EQ(history.time(k), 0.02 * k);
    EXPECT_EQ(history.frame(k)->bodies, frame_at(0.02 * k).bodies) << k;
  }
}

TEST(ViewHistory, ForgetsTheOldestWithinItsMemory) {
  constexpr std::size_t most = 20000;
  History history(most);
  for (int k = 0; k < 5000; ++k) {
    history.push(frame_at(0.02 * k));
    ASSERT_LE(history.bytes(), most);
  }
  EXPECT_GT(history.first(), 0);
  EXPECT_EQ(history.last(), 4999);
  for (const std::int64_t k : {history.first(), history.last()})
    EXPECT_EQ(history.frame(k)->bodies, frame_at(0.02 * static_cast<double>(k)).bodies);
}

// A box of 2 kg that stands on a floor by two contacts: points, forces and loads are those of the recording.
TEST(Replay, ShowsRecordedContacts) {
  const testing::Folder folder("replay_contacts");
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "box", .mass = 2, .position = {0, 0, 0.5}, .shape = Box{}});
  TrajectoryFrame recorded;
  for (const Quantity& q : quantities)
    if (is_recorded(q) && q.per != Per::joint && q.per != Per::particle)
      recorded.values[index_of(q)].assign(static_cast<std::size_t>(q.components) * (q.per == Per::run ? 1 : 2), 0.0);
  recorded["position"] = {0, 0, 0, 0, 0, 0.5};
  recorded["orientation"] = {1, 0, 0, 0, 1, 0, 0, 0};
  recorded["contact_bodies"] = {0, 1, 0, 1};
  recorded["contact_point"] = {0.5, 0, 0, -0.5, 0, 0};
  recorded["contact_normal"] = {0, 0, 1, 0, 0, 1};
  recorded["contact_point_force"] = {3, 0, 4, -3, 0, 4};
  recorded["contact_gap"] = {0, -0.001};
  TrajectoryWriter writer(folder.path / "run.h5", to_json(scene), Recipe{}, {"floor", "box"}, {});
  writer.append(recorded);
  writer.finish();

  Replay replay(folder.path / "run.h5", 0);
  const std::shared_ptr<const ViewFrame> frame = replay.frame(0);
  EXPECT_NE(frame->parts & view_contacts, 0U);
  EXPECT_EQ(frame->contacts, (std::vector<float>{0.5F, 0, 0, 0, 0, 1, 3, 0, 4, 0, -0.5F, 0, 0, 0, 0, 1, -3, 0, 4, -0.001F}));
  EXPECT_EQ(frame->loads, (std::vector<float>{10, 10})) << "two forces of 5 N on each";
  EXPECT_EQ(replay.body(1, 0)["contacts"], 2);
  EXPECT_EQ(replay.body(1, 0)["force"], (std::vector<double>{0, 0, 8}));
  EXPECT_EQ(replay.body(0, 0)["force"], (std::vector<double>{0, 0, -8}));
}

// What touches is watched in real time, but for a cradle, whose blows are all there is to see.
TEST(ViewLive, HardBlowsAreWatchedByTheScenesOwnRecipe) {
  Scene wall = scenes::brick_wall(), cradle = scenes::newton_cradle();
  EXPECT_TRUE(watch_in_real_time(wall));
  EXPECT_FALSE(watch_in_real_time(cradle));
  EXPECT_EQ(to_json(cradle), to_json(scenes::newton_cradle()));
}

// Others take the processor for longer than a step's budget, just when the first ball of the cradle strikes: the blow has the
// speed that it has without them.
TEST(ViewLive, ABlowDoesNotDependOnWhoElseNeedsTheProcessor) {
  const auto run = [](bool crowded) {
    Scene scene = scenes::newton_cradle();
    const auto striking = std::make_shared<bool>(false);
    UserForce others{.name = "others", .between = {"world", "ball_1"}};
    others.values = [=](const Motion&, const Motion&, double) -> Vec12 {
      if (crowded && *striking) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return Vec12::Zero();
    };
    scene.add(others);
    keep_to_the_clock(scene.recipe);
    Live live("cradle", std::move(scene), 1);
    // It arrives after a quarter of its swing, at 0.36 s.
    while (live.world().position("ball_1").x() < -0.002) live.step();
    *striking = true;
    while (live.world().velocity("ball_5").x() < 0.1 && live.world().time() < 1) live.step();
    EXPECT_LT(live.world().time(), 0.5);
    EXPECT_EQ(live.take_cuts().steps, 0);
    return live.world().diagnostics().energy();
  };
  const double alone = run(false);
  EXPECT_NEAR(run(true), alone, 1e-6 * alone);
}

// A ball that nothing else moves ends at the pointer, at rest.
TEST(ViewDrag, TakesABallToThePointer) {
  Live live("ball", one_ball(), 1);
  live.drag(1, {.body = 0, .at = Vec3::Zero(), .to = Vec3(1, 2, 3)});
  for (int k = 0; k < 300; ++k) live.step();
  const World& world = live.world();
  EXPECT_LT((world.position("ball") - Vec3(1, 2, 3)).norm(), 1e-6);
  EXPECT_LT(world.velocity("ball").norm(), 1e-5);
  live.release(1);
  live.step();
  const Vec3 before = world.velocity("ball");
  for (int k = 0; k < 60; ++k) live.step();
  EXPECT_EQ(world.velocity("ball"), before) << "released, it feels nothing";
}

// The stiffness fits the step: whatever the scene and wherever it is held, a still pointer cannot feed energy in without end.
TEST(ViewDrag, IsStableInScenesOfAllSteps) {
  for (const char* name : {"mannequin", "pendulum", "chain_20", "bouncing_ball", "gyroscope", "double_pendulum"}) {
    Scene scene = *scenes::build(name);
    Live live(name, scene, 1);
    const World& world = live.world();
    int body = -1;
    for (const BodyDef& b : scene.bodies)
      if (!b.fixed) body = static_cast<int>(&b - scene.bodies.data());
    const BodyId id = world.bodies()[static_cast<std::size_t>(body)];
    const Vec3 start = world.position(id);
    // At a point off the centre of mass, where the body shows less than its mass.
    live.drag(1, {.body = body, .at = Vec3(0.05, 0.02, 0.03), .to = start + Vec3(0.1, 0.1, 0.2)});
    const double h = world.recipe().dt;
    double fastest = 0;
    for (double t = 0; t < 2; t += h) {
      live.step();
      fastest = std::max(fastest, world.velocity(id).norm());
    }
    EXPECT_LT(fastest, 20) << name;
    EXPECT_LT((world.position(id) - start).norm(), 4) << name;
  }
}

TEST(ViewLive, AThrownBallFliesAndBelongsToANewGeneration) {
  Live live("ball", one_ball(), 7);
  EXPECT_EQ(live.frame(live.last())->generation, 7);
  live.throw_ball({5, 0, 0}, {0, 3, 0}, 0.2, 4);
  for (int k = 0; k < 60; ++k) live.step();
  live.capture(0);
  const auto frame = live.frame(live.last());
  EXPECT_EQ(frame->generation, 8);
  ASSERT_EQ(frame->bodies.size(), 14u);
  const auto scene = nlohmann::json::parse(*live.scene(8));
  EXPECT_NEAR(scene["position_quantum"].get<double>() * frame->bodies[8], 3.0, 1e-3) << "3 m/s for a second";
  ASSERT_EQ(scene["bodies"].size(), 2u);
  EXPECT_EQ(scene["bodies"][1]["mass"], 4.0);
  EXPECT_EQ(scene["bodies"][1]["shapes"][0]["radius"], 0.2);
  EXPECT_EQ(nlohmann::json::parse(*live.scene(7))["bodies"].size(), 1u) << "the past is still described as it was";
}

TEST(ViewLive, ARefusedChangeOfTheRecipeChangesNothing) {
  Live live("mannequin", scenes::mannequin(), 1);
  for (int k = 0; k < 3; ++k) live.step();
  const auto hash = live.world().state_hash();
  const std::string before = *live.scene(1);
  EXPECT_THROW(live.change_recipe({{"dt", "0.01"}, {"integrator", "none_such"}}), Error);
  EXPECT_THROW(live.change_recipe({{"dt", "-1"}}), Error);
  EXPECT_THROW(live.change_recipe({{"integrator", "rattle"}, {"contacts", "cone"}}), Error) << "RATTLE knows no contacts";
  EXPECT_EQ(live.world().state_hash(), hash);
  EXPECT_EQ(*live.scene(1), before);
  live.change_recipe({{"dt", "0.01"}, {"integrator", "rk2"}});
  EXPECT_EQ(live.world().state_hash(), hash) << "the state is taken over";
  EXPECT_EQ(name_of(live.world().recipe().integrator), "rk2");
  live.step();
  EXPECT_NEAR(live.world().time(), 3 * scenes::mannequin().recipe.dt + 0.01, 1e-12);
}

// Going on by the same recipe is the same motion, but for a method's memory of past steps, which RK4 has none of.
TEST(ViewLive, TheSameRecipeAgainIsTheSameMotion) {
  World a(scenes::mannequin()), b(scenes::mannequin());
  for (int k = 0; k < 40; ++k) {
    a.step();
    b.step();
    if (k == 20) b.set_recipe(b.recipe());
  }
  for (const BodyId body : a.bodies()) EXPECT_LT((a.position(body) - b.position(body)).norm(), 1e-9);
}

TEST(ViewDial, MakesTheRecipeThatFitsAndKeepsTheStateThatIs) {
  Live live("ball", one_ball(), 1);
  live.step();
  const std::uint64_t before = live.world().state_hash();
  live.turn_dial({.setting = "exact", .accuracy = {}});
  EXPECT_EQ(live.world().state_hash(), before);
  EXPECT_EQ(live.world().recipe().integrator.index(), recipe_for(live.definition(), Dial::exact).integrator.index());
  EXPECT_GT(live.world().recipe().budget.seconds, 0);  // pictures keep coming
  const auto said = nlohmann::json::parse(*live.scene(live.generation()));
  EXPECT_EQ(said["dial"], "exact");
  live.turn_dial({.setting = {}, .accuracy = 1e-4});
  EXPECT_EQ(nlohmann::json::parse(*live.scene(live.generation()))["accuracy"], 1e-4);
  const double dt = live.world().recipe().dt;
  EXPECT_THROW(live.turn_dial({.setting = "exakt", .accuracy = {}}), Error);
  EXPECT_EQ(live.world().recipe().dt, dt);
}

// Choices that check_combination would refuse are said to be unfit, and no others.
TEST(ViewDial, SaysWhichSolversDoNotFit) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "ball", .mass = 2, .position = {0, 0, 0.5}, .shape = Sphere{0.5}});
  Live live("ball", scene, 1);
  const auto said = nlohmann::json::parse(*live.scene(1));
  for (const auto& field : said["fields"]) {
    if (field["path"] != "solver") continue;
    EXPECT_TRUE(field["unfit"].contains("ldlt"));
    EXPECT_FALSE(field["unfit"].contains("auto"));
    EXPECT_FALSE(field["groups"]["recommended"].empty());
  }
  // What the floor bears is the weight, and so does the ball.
  for (int k = 0; k < 20; ++k) live.step();
  live.capture(view_loads);
  const auto loads = live.frame(live.last())->loads;
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_NEAR(loads[0], 2 * 9.81, 1e-3);
  EXPECT_NEAR(loads[1], 2 * 9.81, 1e-3);
}

TEST(ViewPaceOfScenes, FitsWhatTheyShow) {
  EXPECT_EQ(natural_pace(1e-3, 5), 1);
  EXPECT_EQ(natural_pace(1.0 / 60, 0), 1);
  EXPECT_EQ(natural_pace(86400, 3.2e7), 20 * 86400);  // 30 days a second, rounded down
  EXPECT_NEAR(natural_pace(1e-7, 1e-3), 1e-4, 1e-18);
}

TEST(ViewCommand, TakesWhatThePageSends) {
  EXPECT_TRUE(std::holds_alternative<ask::Play>(parse_command(R"({"do":"play"})")));
  EXPECT_EQ(std::get<ask::Step>(parse_command(R"({"do":"step","count":1000})")).count, 1000);
  EXPECT_EQ(std::get<ask::Pick>(parse_command(R"({"do":"pick","body":null})")).body, -1);
  EXPECT_EQ(std::get<ask::Pull>(parse_command(R"({"do":"drag","body":2,"at":[1,2,3],"to":[4,5,6.5]})")).to, Vec3(4, 5, 6.5));
  const auto changes =
      std::get<ask::Change>(parse_command(R"({"do":"recipe","changes":{"dt":0.001,"solver":"pgs","x":true,"n":3}})"));
  const std::vector<std::pair<std::string, std::string>> meant{{"dt", "0.001"}, {"solver", "pgs"}, {"x", "true"}, {"n", "3"}};
  EXPECT_EQ(changes.fields, meant);
  EXPECT_EQ(std::get<ask::Turn>(parse_command(R"({"do":"dial","setting":"exact"})")).setting, "exact");
  EXPECT_EQ(std::get<ask::Turn>(parse_command(R"({"do":"dial","accuracy":1e-6})")).accuracy, 1e-6);
}

TEST(ViewCommand, RefusesEverythingElse) {
  for (const char* text : {"",
                           "play",
                           "[]",
                           "{}",
                           "null",
                           R"({"do":null})",
                           R"({"do":"plai"})",
                           R"({"do":"play","x":1})",
                           R"({"do":"play"}x)",
                           R"({"do":"step","count":0})",
                           R"({"do":"step","count":1001})",
                           R"({"do":"step","count":1.5})",
                           R"({"do":"step","count":"1"})",
                           R"({"do":"speed"})",
                           R"({"do":"speed","factor":0})",
                           R"({"do":"speed","factor":1e15})",
                           R"({"do":"dial"})",
                           R"({"do":"dial","accuracy":0})",
                           R"({"do":"dial","setting":7})",
                           R"({"do":"dial","setting":"exact","accuracy":1e-6})",
                           R"({"do":"seek","time":1e999})",
                           R"({"do":"seek","time":"0"})",
                           R"({"do":"seek","time":NaN})",
                           R"({"do":"pick","body":-1})",
                           R"({"do":"pick","body":1e30})",
                           R"({"do":"drag","body":0,"at":[0,0],"to":[0,0,0]})",
                           R"({"do":"drag","body":0,"at":[0,0,0]})",
                           R"({"do":"throw","from":[0,0,0],"velocity":[0,0,1e200]})",
                           R"({"do":"throw","from":[0,0,0],"velocity":[0,0,0],"radius":0})",
                           R"({"do":"recipe","changes":{}})",
                           R"({"do":"recipe","changes":{"dt":[1]}})",
                           R"({"do":"recipe","changes":{"dt":null}})",
                           R"({"do":"show","parts":["x"]})",
                           R"({"do":"open","scene":7})",
                           R"({"do":"play","do":"pause"})",
                           "{\"do\":\"open\",\"scene\":\"\xff\xfe\"}"})
    EXPECT_THROW(parse_command(text), Error) << text;
  EXPECT_THROW(parse_command(R"({"do":"open","scene":")" + std::string(1000, 'a') + "\"}"), Error);
  EXPECT_THROW(parse_command(std::string(60000, '[')), Error);
}

// Every edge of a closed surface belongs to two triangles that pass along it in opposite directions; its volume is by the
// divergence theorem.
double closed_volume(const SolidDef& solid) {
  const std::vector<Vec3> at = build(solid).positions;
  std::multiset<std::pair<int, int>> edges;
  double volume = 0;
  for (const auto& t : surface_triangles(solid)) {
    for (int k = 0; k < 3; ++k) edges.emplace(t[static_cast<std::size_t>(k)], t[static_cast<std::size_t>((k + 1) % 3)]);
    const auto p = [&](std::size_t k) { return at[static_cast<std::size_t>(t[k])]; };
    volume += p(0).dot(p(1).cross(p(2))) / 6;
  }
  for (const auto& [a, b] : edges) EXPECT_EQ(edges.count({a, b}), edges.count({b, a}));
  return volume;
}

TEST(SolidSurface, ABlocksIsClosedAndHoldsItsVolume) {
  EXPECT_NEAR(closed_volume(Block{.at = {1, -2, 3}, .size = {2, 1, 0.5}, .counts = {5, 4, 3}}), 1.0, 1e-12);
}
TEST(SolidSurface, ABallsIsClosedAndInsideTheBall) {
  const double volume = closed_volume(SoftBall{.center = {0, 0, 2}, .radius = 1, .across = 21});
  EXPECT_LT(volume, 4.19);
  EXPECT_GT(volume, 3.2);
}
TEST(SolidSurface, AClothsAreaIsThatOfItsSheet) {
  const SolidDef cloth = Cloth{.along_x = {2, 0, 0}, .along_y = {0, 0, 3}, .columns = 7, .rows = 4};
  const std::vector<Vec3> at = build(cloth).positions;
  double area = 0;
  for (const auto& t : surface_triangles(cloth)) {
    const auto p = [&](std::size_t k) { return at[static_cast<std::size_t>(t[k])]; };
    area += (p(1) - p(0)).cross(p(2) - p(0)).norm() / 2;
  }
  EXPECT_NEAR(area, 6, 1e-12);
}

}  // namespace
}  // namespace rotule::app
