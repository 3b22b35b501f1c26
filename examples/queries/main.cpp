#include <rotule/queries.h>

#include <cstdio>

int main() {
  using namespace rotule;
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "crate", .mass = 2.0, .position = {0, 0, 3}, .shape = Box{}});
  scene.add({.name = "ball", .mass = 1.0, .position = {4, 0, 0.5}, .shape = Sphere{0.5}});
  World world(scene, recipes::realtime());
  for (int i = 0; i < 120; ++i) world.step(1.0 / 60);

  // What is under a point, how far away, and which way its surface looks.
  if (const auto hit = cast_ray(world, {.origin = {0.2, 0, 5}}))
    std::printf("%s %.2f m below, normal %.0f\n", world.name(hit->body).c_str(), hit->distance, hit->normal.z());
  // Whether a ball could be thrown past the crate.
  if (const auto hit = cast_shape(world, Sphere{0.2}, {{-3, 0, 0.5}, Quat::Identity()}, {10, 0, 0}, {.fixed = false}))
    std::printf("%s stops it after %.2f of the way\n", world.name(hit->body).c_str(), hit->fraction);
  // Who is inside a region, and how far the two are from each other.
  for (const BodyId body : overlapping(world, Box{{20, 20, 0.2}}, {{0, 0, 0.5}, Quat::Identity()}))
    std::printf("%s is there\n", world.name(body).c_str());
  if (const auto gap = distance(world, world.body("crate"), world.body("ball"))) std::printf("%.2f m apart\n", gap->distance);
}
