#include <rotule/rotule.h>

#include <cstdio>

int main() {
  rotule::Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .position = {1, 0, 0}});
  scene.add(rotule::Rod{.between = {"world", "bob"}, .from = rotule::Vec3(0, 0, 0)});
  rotule::World world(scene, rotule::recipes::exact());
  for (int i = 0; i < 1000; ++i) world.step(1e-3);
  std::printf("x = %.4f m, z = %.4f m\n", world.position("bob").x(), world.position("bob").z());
}
