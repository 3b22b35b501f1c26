#include <rotule/world.h>

#include <cstdio>

using namespace rotule;

/// One frame of the game: the lift goes up to 3 m, and whoever comes upstairs opens the gate.
void play(World& world, BodyId picked, bool aloud) {
  const BodyId lift = world.body("lift");
  world.set_velocity(lift, {0, 0, world.position(lift).z() < 3 ? 1.0 : 0.0}, Vec3::Zero());
  world.step(1.0 / 120);
  for (const ContactEvent& event : world.events()) {
    if (!event.sensor || !event.begins || event.body_a != picked) continue;
    world.set_motor(world.joint("gate"), MotorSpeed{.speed = 2, .strength = 100});
    if (aloud) std::printf("%s is upstairs after %.1f s: the gate opens\n", world.name(picked).c_str(), world.time());
  }
}

int main() {
  Scene scene;
  scene.materials = {{.name = "wood", .friction = 0.6}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "wood"});
  scene.add({.name = "lift", .position = {0, 0, 0.1}, .shape = Box{{2, 2, 0.2}}, .material = "wood", .kinematic = true});
  scene.add({.name = "crate",
             .mass = 20,
             .position = {0, 0, 0.45},
             .shape = Box{{0.5, 0.5, 0.5}},
             .material = "wood",
             .layer = "crates"});
  scene.add({.name = "upstairs", .fixed = true, .position = {0, 0, 3.5}, .shape = Box{{2, 2, 1}}, .sensor = true});
  scene.add({.name = "wing", .mass = 8, .position = {1.6, 0, 3.6}, .shape = Box{{1, 0.1, 1}}});
  scene.add(Hinge{.name = "gate", .between = {"world", "wing"}, .at = {1.1, 0, 3.6}, .drive = {.lower = 0, .upper = 1.5}});
  World world(scene, recipes::realtime());

  // What is under the mouse; the sensor in between is not seen.
  const auto hit = world.cast_ray({.origin = {0.1, 0.1, 6}, .direction = {0, 0, -1}}, {.layers = {"crates"}});
  if (!hit) return 1;
  std::printf("the ray picks %s, %.2f m below\n", world.name(hit->body).c_str(), hit->distance);

  for (int frame = 0; frame < 60; ++frame) play(world, hit->body, true);
  const Snapshot checkpoint = world.save();
  const auto rest = [&](bool aloud) {
    for (int frame = 60; frame < 600; ++frame) play(world, hit->body, aloud);
    return world.state_hash();
  };
  const std::uint64_t first = rest(true);
  const Vec3 carried = world.position("crate") - world.position("lift");
  std::printf("the gate stands at %.2f rad, the crate %.3f m above the lift's middle, %.3f m beside it\n",
              world.joint_position(world.joint("gate")), carried.z(), carried.head<2>().norm());

  // Another turn of events, and back.
  world.remove(world.body("crate"));
  world.add(BodyDef{.name = "ball", .mass = 1, .position = {0, 0, 5}, .shape = Sphere{0.3}});
  for (int frame = 0; frame < 30; ++frame) world.step(1.0 / 120);
  world.load(checkpoint);
  std::printf("played again from the checkpoint: %s\n", rest(false) == first ? "the same bits" : "other bits");
}
