// Pendulums: bars and bobs that swing under gravity, in the plane y = 0.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene pendulum() {
  Scene scene;
  scene.name = "pendulum";
  scene.description = "A wooden bar of 1 m on a hinge at its end, released from the horizontal.";
  scene.materials = {wood};
  scene.add(bar("bar", Vec3::Zero(), Vec3(1, 0, 0), 0.02, "wood"));
  scene.add(Hinge{.name = "pivot", .between = {"world", "bar"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

Scene double_pendulum() {
  const Vec3 elbow(0.6, 0, 0), tip(0.6, 0, 0.6);
  Scene scene;
  scene.name = "double_pendulum";
  scene.description =
      "Two wooden bars of 0.6 m on hinges, the lower one released upright on the end of the horizontal upper one.";
  scene.materials = {wood};
  scene.add(bar("upper", Vec3::Zero(), elbow, 0.02, "wood"));
  scene.add(bar("lower", elbow, tip, 0.02, "wood"));
  scene.add(Hinge{.name = "shoulder", .between = {"world", "upper"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
  scene.add(Hinge{.name = "elbow", .between = {"upper", "lower"}, .at = elbow, .axis = Vec3::UnitY()});
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

Scene newton_cradle_joints() {
  constexpr int count = 5;
  constexpr double radius = 0.05, length = 0.5, angle = std::numbers::pi / 6;
  Scene scene;
  scene.name = "newton_cradle_joints";
  scene.description =
      "Five steel balls on hinged stems, each tied to the next by a rod, raised by 30 degrees: a cradle whose balls cannot part, "
      "so that "
      "the row swings as one pendulum (the clicking cradle needs contact).";
  scene.materials = {steel};
  const Quat tilt(Eigen::AngleAxisd(angle, Vec3::UnitY()));
  const Vec3 down = tilt * Vec3(0, 0, -length);
  for (int i = 1; i <= count; ++i) {
    // A pendulum's frame is in the ball; its stem reaches from there up to the hinge and weighs little.
    const Vec3 pivot(2 * radius * (i - 3), 0, 0);
    Compound shape;
    shape.parts.push_back({.shape = Sphere{radius}});
    shape.parts.push_back({.shape = Cylinder{0.002, length - radius}, .position = Vec3(0, 0, (length + radius) / 2)});
    scene.add(
        {.name = fmt::format("ball_{}", i), .position = pivot + down, .orientation = tilt, .shape = shape, .material = "steel"});
    scene.add(Hinge{
        .name = fmt::format("hinge_{}", i), .between = {"world", fmt::format("ball_{}", i)}, .at = pivot, .axis = Vec3::UnitY()});
    if (i > 1)
      scene.add(Rod{.name = fmt::format("rod_{}", i - 1),
                    .between = {fmt::format("ball_{}", i - 1), fmt::format("ball_{}", i)},
                    .from = pivot + down - Vec3(2 * radius, 0, 0),
                    .to = pivot + down});
  }
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

Scene rod_pendulum() {
  Scene scene;
  scene.name = "rod_pendulum";
  scene.description =
      "A ball of 1 kg held 1 m from the origin by a massless rod (C5), let go level with it and swinging round a cone's rim.";
  scene.add({.name = "ball", .mass = 1.0, .position = Vec3(1, 0, 0), .velocity = Vec3(0, 1.5, 0), .shape = Sphere{0.05}});
  scene.add(Rod{.name = "rod", .between = {"world", "ball"}, .from = Vec3::Zero(), .to = Vec3(1, 0, 0)});
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

}  // namespace rotule::scenes
