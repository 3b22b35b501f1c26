// What a program tells a world and hears from it while it runs: motors, sensors, events, layers, pairs of materials, loads,
// queries, and snapshots across bodies that come and go.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <functional>

#include "support/allocation_counter.h"
#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

Recipe by_impulses(double dt = 1.0 / 240) {
  Recipe recipe = recipes::realtime();
  recipe.dt = dt;
  return recipe;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

Scene floor_and_boxes(int boxes) {
  Scene scene;
  scene.materials = {{.name = "wood", .friction = 0.5, .restitution = 0.2}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "wood"});
  for (int i = 0; i < boxes; ++i)
    scene.add({.name = "box_" + std::to_string(i),
               .mass = 1.0 + i,
               .position = {0.05 * i, 0.02 * i, 0.3 + 0.6 * i},
               .shape = Box{{0.5, 0.5, 0.5}},
               .material = "wood"});
  return scene;
}

// Queries on the world.

TEST(RunTime, AWorldAnswersRaysSweepsAndOverlapsByLayer) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "glass", .fixed = true, .position = {0, 0, 3}, .shape = Box{{2, 2, 0.1}}, .layer = "panes"});
  scene.add({.name = "zone", .fixed = true, .position = {0, 0, 4}, .shape = Box{{2, 2, 0.1}}, .sensor = true});
  scene.add({.name = "crate", .mass = 1.0, .position = {0, 0, 1}, .shape = Box{}, .layer = "crates"});
  const World world(scene, by_impulses());
  const Ray down{.origin = {0.1, 0, 5}};
  EXPECT_EQ(world.cast_ray(down)->body, world.body("glass"));
  EXPECT_EQ(world.cast_ray(down, {.sensors = true})->body, world.body("zone"));
  const auto hit = world.cast_ray(down, {.layers = {"crates"}});
  EXPECT_EQ(hit->body, world.body("crate"));
  EXPECT_NEAR(hit->distance, 3.5, 1e-12);
  EXPECT_LT((hit->point - Vec3(0.1, 0, 1.5)).norm(), 1e-12);
  EXPECT_LT((hit->normal - Vec3::UnitZ()).norm(), 1e-12);
  EXPECT_EQ(world.sweep(Sphere{0.2}, {{0, 0, 5}, Quat::Identity()}, {0, 0, -10}, {.layers = {"crates"}})->body,
            world.body("crate"));
  EXPECT_EQ(world.overlap(Box{{1, 1, 1}}, {{0, 0, 1.2}, Quat::Identity()}), std::vector<BodyId>{world.body("crate")});
  EXPECT_NE(refusal([&] { static_cast<void>(world.cast_ray(down, {.layers = {"crate"}})); }).find("did you mean \"crates\""),
            std::string::npos);
}

// Layers and pairs of materials.

TEST(RunTime, LayersThatDoNotMeetPassThroughEachOther) {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .meets = {{"solid"}}});
  scene.add({.name = "ghost", .mass = 1.0, .position = {0, 0, 1}, .shape = Sphere{0.2}, .layer = "ghosts"});
  scene.add({.name = "ball", .mass = 1.0, .position = {2, 0, 1}, .shape = Sphere{0.2}, .layer = "solid"});
  scene.add({.name = "shy", .mass = 1.0, .position = {4, 0, 1}, .shape = Sphere{0.2}, .layer = "solid", .meets = {{"solid"}}});
  World world(scene, by_impulses());
  run_for(world, 1);
  EXPECT_NEAR(world.position("ghost").z(), 1 - 0.5 * g, 0.05);
  EXPECT_NEAR(world.position("ball").z(), 0.2, 1e-3);
  EXPECT_LT(world.position("shy").z(), -3);  // the floor meets it, but it does not meet the floor's layer
  EXPECT_NE(refusal([&] {
              for (int i = 0; i < 40; ++i) world.add(BodyDef{.mass = 1.0, .layer = "layer " + std::to_string(i)});
            }).find("32 layers"),
            std::string::npos);
  world.step();  // what was refused left nothing behind
}

TEST(RunTime, APairOfMaterialsHasItsOwnFrictionAndRestitution) {
  Scene scene;
  scene.materials = {{.name = "ice", .friction = 0.9}, {.name = "steel", .friction = 0.9}, {.name = "rubber", .friction = 0.9}};
  scene.material_pairs = {{.between = {"steel", "ice"}, .friction = 0.0, .restitution = 1.0}};
  scene.add({.name = "rink", .fixed = true, .shape = Plane{}, .material = "ice"});
  scene.add({.name = "skate",
             .mass = 1.0,
             .position = {0, 0, 0.25},
             .velocity = {2, 0, 0},
             .shape = Box{{0.5, 0.5, 0.5}},
             .material = "steel"});
  scene.add({.name = "boot",
             .mass = 1.0,
             .position = {0, 3, 0.25},
             .velocity = {2, 0, 0},
             .shape = Box{{0.5, 0.5, 0.5}},
             .material = "rubber"});
  scene.add({.name = "bearing", .mass = 1.0, .position = {0, 6, 1.2}, .shape = Sphere{0.2}, .material = "steel"});
  World world(scene, by_impulses());
  double highest = 0;
  run_for(world, 1.5, [&] {
    if (world.time() > 0.6) highest = std::max(highest, world.position("bearing").z());
  });
  EXPECT_NEAR(world.velocity("skate").x(), 2, 1e-9);
  EXPECT_NEAR(world.velocity("boot").x(), 0, 1e-6);
  EXPECT_NEAR(highest, 1.2, 0.01);
}

// Sensors and events.

TEST(RunTime, ASensorTellsWhoEntersAndLeavesAndHoldsNothingUp) {
  Scene scene;
  scene.add({.name = "zone", .fixed = true, .position = {0, 0, 2}, .shape = Box{{1, 1, 1}}, .sensor = true});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 4}, .shape = Sphere{0.1}});
  World world(scene, by_impulses());
  double entered = 0, left = 0;
  int events = 0;
  run_for(world, 1, [&] {
    for (const ContactEvent& event : world.events()) {
      ++events;
      EXPECT_TRUE(event.sensor);
      EXPECT_EQ(event.body_a, world.body("ball"));
      EXPECT_EQ(event.body_b, world.body("zone"));
      (event.begins ? entered : left) = world.time();
      EXPECT_EQ(world.touching(event.body_a, event.body_b), event.begins);
    }
  });
  EXPECT_EQ(events, 2);
  EXPECT_NEAR(entered, std::sqrt(2 * 1.4 / g), 2.0 / 240);
  EXPECT_NEAR(left, std::sqrt(2 * 2.6 / g), 2.0 / 240);
  EXPECT_NEAR(world.position("ball").z(), 4 - 0.5 * g, 1e-9);
}

TEST(RunTime, ContactsBeginAndEndOnceEach) {
  Scene scene;
  scene.materials = {{.name = "rubber", .restitution = 0.9}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 0.3}, .shape = Sphere{0.1}, .material = "rubber"});
  World world(scene, by_impulses(1.0 / 60));
  int begun = 0, ended = 0, bounces = 0;
  double before = 0;
  run_for(world, 1.5, [&] {
    for (const ContactEvent& event : world.events()) ++(event.begins ? begun : ended);
    EXPECT_LE(ended, begun);
    EXPECT_LE(begun, ended + 1);
    bounces += before < 0 && world.velocity("ball").z() > 0;
    before = world.velocity("ball").z();
  });
  EXPECT_GT(begun, 2);
  EXPECT_GE(begun, bounces);  // most of them within a step
}

// Motors and coordinates of joints.

Scene arm_on_a_hinge(Drive drive = {}) {
  Scene scene;
  scene.gravity.setZero();
  BodyDef arm{.name = "arm", .mass = 2.0, .position = {1, 0, 0}};
  arm.inertia = 0.5 * Mat3::Identity();
  scene.add(arm);
  scene.add(Hinge{.name = "hinge", .between = {"world", "arm"}, .drive = drive});
  return scene;
}
constexpr double arm_inertia = 2.5;  // about the hinge

TEST(RunTime, AMotorTakesSpeedPositionAndTorqueAtAnyTime) {
  World world(arm_on_a_hinge(), by_impulses(1e-3));
  const JointId hinge = world.joint("hinge");
  EXPECT_EQ(world.joint_axes(hinge), std::vector<std::string>{"rz"});
  world.set_motor(hinge, MotorSpeed{.speed = 2, .strength = 5});
  run_for(world, 0.5);  // torque 5 for as long as it is too slow
  EXPECT_NEAR(world.joint_rate(hinge), 5 * 0.5 / arm_inertia, 1e-4);
  run_for(world, 1);
  EXPECT_NEAR(world.joint_rate(hinge), 2, 1e-5);
  world.set_motor(hinge, MotorSpeed{.speed = -1, .strength = 500});
  run_for(world, 0.1);
  EXPECT_NEAR(world.joint_rate(hinge), -1, 1e-5);
  world.set_motor(hinge, MotorPosition{.position = 0.4, .stiffness = 400, .damping = 60});
  run_for(world, 3);
  EXPECT_NEAR(world.joint_position(hinge), 0.4, 1e-6);
  EXPECT_NEAR(world.joint_rate(hinge), 0, 1e-6);
  world.set_motor(hinge, MotorTorque{.torque = 0.5});
  run_for(world, 0.5);
  EXPECT_NEAR(world.joint_rate(hinge), 0.5 * 0.5 / arm_inertia, 1e-5);
  world.set_motor(hinge, MotorOff{});
  const double rate = world.joint_rate(hinge);
  run_for(world, 0.5);
  EXPECT_NEAR(world.joint_rate(hinge), rate, 1e-5);
}

TEST(RunTime, ATorqueIsAForceThatEveryMethodTakes) {
  for (const IntegratorSettings& integrator :
       {IntegratorSettings(Rk4Settings{}), IntegratorSettings(Gauss4Settings{}), IntegratorSettings(DormandPrinceSettings{}),
        IntegratorSettings(RattleSettings{})}) {
    Scene scene = arm_on_a_hinge({.motor_torque = 0.75});
    World world(scene, Recipe{.dt = 0.01, .integrator = integrator});
    run_for(world, 1);
    EXPECT_NEAR(world.joint_rate(world.joint("hinge")), 0.75 / arm_inertia, 1e-5) << name_of(integrator);
    EXPECT_NEAR(world.joint_position(world.joint("hinge")), 0.5 * 0.75 / arm_inertia, 1e-5) << name_of(integrator);
  }
}

TEST(RunTime, AServoPullsBesideTheJointsOwnSpring) {
  World world(arm_on_a_hinge({.stiffness = 100, .damping = 50, .rest = -0.3}), by_impulses(1e-3));
  const JointId hinge = world.joint("hinge");
  world.set_motor(hinge, MotorPosition{.position = 0.5, .stiffness = 300, .damping = 0});
  run_for(world, 4);
  EXPECT_NEAR(world.joint_position(hinge), (300 * 0.5 - 100 * 0.3) / 400, 1e-6);
  world.set_motor(hinge, MotorOff{});
  run_for(world, 6);
  EXPECT_NEAR(world.joint_position(hinge), -0.3, 1e-4);
}

TEST(RunTime, WhatAMotorCannotDoIsRefusedAndChangesNothing) {
  World exact(arm_on_a_hinge(), Recipe{});
  const JointId hinge = exact.joint("hinge");
  exact.step();
  const std::uint64_t hash = exact.state_hash();
  EXPECT_NE(refusal([&] { exact.set_motor(hinge, MotorTorque{.torque = std::nan("")}); }).find("finite"), std::string::npos);
  EXPECT_NE(refusal([&] { exact.set_motor(hinge, MotorTorque{}, "x"); }).find("not one of its free axes: rz"), std::string::npos);
  EXPECT_EQ(exact.state_hash(), hash);
  exact.step();
}

TEST(RunTime, CoordinatesOfJointsAreDerivativesOfEachOther) {
  Scene scene;
  BodyDef body{
      .name = "a", .mass = 1.0, .position = {0.2, 0.1, -0.4}, .velocity = {0.3, -0.2, 0.1}, .angular_velocity = {0.5, 1, -0.7}};
  body.inertia = Vec3(0.1, 0.2, 0.25).asDiagonal();
  scene.add(body);
  scene.add(Universal{.name = "u", .between = {"world", "a"}, .axis_a = {1, 0, 0}, .axis_b = {0, 1, 0}});
  World world(scene, Recipe{.dt = 1e-3});
  const JointId u = world.joint("u");
  EXPECT_EQ(world.joint_axes(u).size(), 2u);
  world.project();
  for (int i = 0; i < 300; ++i) {
    std::vector<double> before, rate;
    for (const std::string& axis : world.joint_axes(u)) before.push_back(world.joint_position(u, axis));
    world.step();
    for (const std::string& axis : world.joint_axes(u)) rate.push_back(world.joint_rate(u, axis));
    world.step();
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR((world.joint_position(u, world.joint_axes(u)[k]) - before[k]) / 2e-3, rate[k], 2e-3) << i;
  }
}

// Loads.

TEST(RunTime, LoadsAreFunctionsOfTime) {
  Scene scene;
  scene.gravity.setZero();
  BodyDef body{.name = "a", .mass = 2.0};
  body.inertia = 0.5 * Mat3::Identity();
  scene.add(body);
  scene.add(Load{.on = "a", .force = {"6*t", 0, "-4"}, .torque = {0, "cos(t)", 0}});
  World world(scene, Recipe{.dt = 0.01});
  run_for(world, 1);
  EXPECT_LT((world.velocity("a") - Vec3(1.5, 0, -2)).norm(), 1e-12);
  EXPECT_LT((world.position("a") - Vec3(0.5, 0, -1)).norm(), 1e-12);
  EXPECT_LT((world.angular_velocity("a") - Vec3(0, 2 * std::sin(1), 0)).norm(), 1e-9);
}

TEST(RunTime, AForceAwayFromTheCentreTurnsTheBody) {
  Scene scene;
  scene.gravity.setZero();
  BodyDef body{.name = "a", .mass = 2.0};
  body.inertia = 0.5 * Mat3::Identity();
  scene.add(body);
  scene.add(Load{.on = "a", .force = {0, 1e-3, 0}, .at = Vec3(0.3, 0, 0)});
  World world(scene, Recipe{.dt = 0.01});
  run_for(world, 1);
  EXPECT_NEAR(world.angular_velocity("a").z(), 1e-3 * 0.3 / 0.5, 1e-9);
  EXPECT_NE(refusal([] {
              Scene bad;
              bad.add({.name = "a", .mass = 1.0});
              bad.add(Load{.on = "a", .force = {0, "1/t", 0}});
              World world(bad, Recipe{});
              world.step();
            }).find("not a finite number at t = 0"),
            std::string::npos);
}

// Files.

TEST(RunTime, FilesHoldAllOfIt) {
  const char* text = R"json({"rotule": 1,
    "materials": [{"name": "ice"}, {"name": "steel"}],
    "material_pairs": [{"between": ["ice", "steel"], "friction": 0.02, "restitution": 0.1}],
    "bodies": [
      {"name": "lift", "shape": {"box": {}}, "kinematic": true, "velocity": [0, 0, 1], "material": "steel"},
      {"name": "wheel", "shape": {"box": {}}, "position": [5, 0, 0],
       "motion": {"displacement": ["0.5*sin(2*pi*t)", 0, 1.5], "axis": [0, 1, 0], "angle": "3*t"}},
      {"name": "zone", "fixed": true, "shape": {"box": {}}, "position": [9, 0, 0], "sensor": true, "layer": "zones",
       "meets": ["crates"]},
      {"name": "belt", "fixed": true, "shape": {"plane": {}}, "position": [0, 0, -5], "surface_velocity": [1, 0, 0]},
      {"name": "crate", "mass": 1, "shape": {"box": {}}, "position": [9, 0, 9], "layer": "crates"}],
    "joints": [{"hinge": {"name": "h", "between": ["world", "crate"], "at": [9, 0, 9], "motor_torque": 2}}],
    "forces": [{"load": {"on": "crate", "force": ["10*t", 0, 1.5], "torque": [0, 0, "-sin(t)"]}}]})json";
  const Scene scene = parse_scene(text);
  const std::string once = to_json(scene), twice = to_json(parse_scene(once));
  EXPECT_EQ(once, twice);
  for (const char* part :
       {"\"kinematic\": true", "\"0.5*sin(2*pi*t)\", 0, 1.5", "\"sensor\": true", "\"meets\": [\"crates\"]",
        "\"surface_velocity\": [1, 0, 0]", "\"motor_torque\": 2", "\"force\": [\"10*t\", 0, 1.5]", "\"material_pairs\""})
    EXPECT_NE(once.find(part), std::string::npos) << part << "\n" << once;
  World world(scene);
  world.step();
  EXPECT_NEAR(world.position("lift").z(), world.time(), 1e-12);
  EXPECT_NEAR(world.position("wheel").z(), 1.5, 1e-12);

  const auto expect_refused = [](const std::string& body, const std::string& why) {
    const std::string said = refusal([&] { static_cast<void>(parse_scene("{\"rotule\": 1, \"bodies\": [" + body + "]}")); });
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  expect_refused(R"json({"fixed": true, "velocity": [0, 0, 1]})json", "/bodies/0/velocity: \"body_0\" is fixed");
  expect_refused(R"json({"motion": {"angle": "sin(t"}})json", "/bodies/0/motion/angle: ')' is missing");
  expect_refused(R"json({"motion": {"displacement": [0, "x", 0]}})json", "/bodies/0/motion/displacement/1: unknown name \"x\"");
  expect_refused(R"json({"fixed": true, "kinematic": true})json", "contradicts kinematic");
  expect_refused(R"json({"kinematic": true, "shape": {"plane": {}}})json", "only for fixed");
}

// Snapshots.

TEST(RunTime, SnapshotsBringBackBodiesAndTakeAwayThoseThatWereAdded) {
  Scene scene = floor_and_boxes(5);
  scene.add(Ball{.name = "tie", .between = {"box_3", "box_4"}, .at = {0.175, 0.07, 2.4}});
  World world(scene, by_impulses());
  run_for(world, 0.2);
  // What has come and gone before it was saved must not matter either.
  world.remove(world.body("box_0"));
  const BodyId early =
      world.add(BodyDef{.name = "early", .mass = 0.7, .position = {0, 0, 0.4}, .shape = Sphere{0.2}, .material = "wood"});
  run_for(world, 0.1);
  const Snapshot start = world.save();
  const std::uint64_t at_start = world.state_hash();
  const auto go_on = [&] {
    run_for(world, 0.4);
    return world.state_hash();
  };
  const std::uint64_t end = go_on();
  world.load(start);
  EXPECT_EQ(world.state_hash(), at_start);
  EXPECT_EQ(go_on(), end);

  const BodyId gone = world.body("box_2"), tie_body = world.body("box_3");
  const JointId tie = world.joint("tie");
  world.remove(gone);
  world.remove(tie_body);
  const BodyId late = world.add(BodyDef{.name = "late", .mass = 2.0, .position = {3, 0, 1}, .shape = Box{}, .material = "wood"});
  run_for(world, 0.2);
  EXPECT_FALSE(world.contains(tie));
  world.load(start);
  EXPECT_TRUE(world.contains(gone));
  EXPECT_TRUE(world.contains(tie));
  EXPECT_TRUE(world.contains(early));
  EXPECT_FALSE(world.contains(late) && world.name(late) == "late");
  EXPECT_EQ(world.name(gone), "box_2");
  EXPECT_EQ(world.state_hash(), at_start);
  EXPECT_EQ(go_on(), end);
  EXPECT_EQ(world.cast_ray({.origin = {3, 0, 5}})->body, world.body("floor"));  // where the late one stood
}

TEST(RunTime, SnapshotsAcrossChangesAreExactForEveryKindOfMethod) {
  for (const IntegratorSettings& integrator :
       {IntegratorSettings(Rk4Settings{}), IntegratorSettings(Ab4Settings{}), IntegratorSettings(Gauss4Settings{}),
        IntegratorSettings(DormandPrinceSettings{}), IntegratorSettings(RattleSettings{})}) {
    SCOPED_TRACE(name_of(integrator));
    Scene scene = arm_on_a_hinge();
    scene.gravity = {0, -9.81, 0};
    BodyDef second{.name = "second", .mass = 1.0, .position = {2, 0, 0}};
    second.inertia = 0.2 * Mat3::Identity();
    scene.add(second);
    scene.add(Hinge{.name = "elbow", .between = {"arm", "second"}, .at = {1.5, 0, 0}});
    World world(scene, Recipe{.dt = 0.005, .integrator = integrator});
    run_for(world, 0.1);
    const Snapshot start = world.save();
    run_for(world, 0.2);
    const std::uint64_t end = world.state_hash();
    world.load(start);
    world.remove(world.body("second"));
    world.add(BodyDef{.name = "x", .mass = 1.0, .position = {5, 0, 0}});
    run_for(world, 0.05);
    world.load(start);
    run_for(world, 0.2);
    EXPECT_EQ(world.state_hash(), end);
  }
}

TEST(RunTime, SnapshotsRememberMotorsAndWhoTouches) {
  Scene scene = arm_on_a_hinge();
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -9}, .shape = Plane{}});
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 5, -8.9}, .shape = Sphere{0.1}});
  scene.gravity = {0, 0, -g};
  World world(scene, by_impulses());
  const JointId hinge = world.joint("hinge");
  world.set_motor(hinge, MotorSpeed{.speed = 1, .strength = 50});
  world.step();
  const Snapshot start = world.save();
  run_for(world, 0.3);
  const std::uint64_t end = world.state_hash();
  world.load(start);
  world.set_motor(hinge, MotorTorque{.torque = -3});
  run_for(world, 0.1);
  world.load(start);
  EXPECT_TRUE(world.touching(world.body("ball"), world.body("floor")));
  world.step();
  EXPECT_TRUE(world.events().empty());  // it touched before, and still does
  run_for(world, 0.3 - world.recipe().dt);
  EXPECT_EQ(world.state_hash(), end);
}

// The hot path.

TEST(RunTime, NothingIsAllocatedWhileItRuns) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  Scene scene = floor_and_boxes(3);
  scene.add({.name = "lift",
             .position = {3, 0, 0.1},
             .shape = Box{{1, 1, 0.2}},
             .motion = PrescribedMotion{.displacement = {0, 0, "0.2*sin(3*t)^2"}}});
  scene.add({.name = "rider", .mass = 1.0, .position = {3, 0, 0.45}, .shape = Box{{0.5, 0.5, 0.5}}, .material = "wood"});
  scene.add({.name = "zone", .fixed = true, .position = {3, 0, 0.6}, .shape = Box{{1, 1, 0.3}}, .sensor = true});
  scene.add({.name = "sled", .position = {-3, 0, 0.3}, .shape = Box{{0.5, 0.5, 0.5}}, .kinematic = true});
  BodyDef arm{.name = "arm", .mass = 1.0, .position = {-3, 3, 2}};
  arm.inertia = 0.1 * Mat3::Identity();
  scene.add(arm);
  scene.add(Hinge{.name = "hinge", .between = {"sled", "arm"}, .at = {-3, 0, 2}});
  scene.add(Load{.on = "arm", .force = {"sin(t)", 0, 0}});
  World world(scene, by_impulses());
  const JointId hinge = world.joint("hinge");
  const BodyId sled = world.body("sled");
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      world.set_velocity(sled, {0, 0.1 * std::sin(0.1 * i), 0}, Vec3::Zero());
      world.set_motor(hinge, MotorSpeed{.speed = 0.01 * i, .strength = 20});
      world.step();
      static_cast<void>(world.events());
    }
  };
  run(400);
  const std::size_t before = testing::allocations();
  run(400);
  EXPECT_EQ(testing::allocations() - before, 0u);
}

}  // namespace
}  // namespace rotule
