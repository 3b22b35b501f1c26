#include <rotule/analyse.h>

#include <cmath>
#include <cstdio>

int main() {
  using namespace rotule;
  // A double pendulum of point masses at rest: omega^2 = (2 -+ sqrt 2) g / l.
  Scene scene;
  scene.add({.name = "upper", .mass = 1.0, .position = {0, 0, -1}});
  scene.add({.name = "lower", .mass = 1.0, .position = {0, 0, -2}});
  scene.add(Ball{.name = "hook", .between = {"world", "upper"}, .at = {0, 0, 0}});
  scene.add(Rod{.name = "rod", .between = {"upper", "lower"}});

  const Checkup checkup = examine(scene);
  std::printf("%d degrees of freedom, %zu joints open\n", checkup.degrees_of_freedom, checkup.open.size());

  const World world(scene, recipes::exact());
  const Linearisation about = linearise(world);
  double slowest = 0, fastest = 0;
  const Modes modes = normal_modes(about);
  for (const double square : modes.squared_frequencies) {
    if (square < 1e-6) continue;  // spinning about the rods
    if (slowest == 0) slowest = std::sqrt(square);
    fastest = std::sqrt(square);
  }
  std::printf("%.4f and %.4f rad/s, %s\n", slowest, fastest, about.unbalance < 1e-9 ? "at rest" : "not at rest");
}
