// Contact at its simplest: what a textbook answers.
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene incline(double degrees) {
  Scene scene;
  scene.name = "incline";
  scene.description =
      "A crate of 2 kg at rest on a slope of 20 degrees: static friction 0.5 would hold it up to 26.6 degrees (B2).";
  scene.materials = {{.name = "timber", .density = 600, .friction = 0.4, .static_friction = 0.5}};
  const double angle = degrees * std::numbers::pi / 180;
  const Quat tilt(Eigen::AngleAxisd(angle, Vec3::UnitY()));
  scene.add({.name = "slope", .fixed = true, .orientation = tilt, .shape = Plane{}, .material = "timber"});
  scene.add({.name = "crate",
             .mass = 2.0,
             .position = tilt * Vec3(0, 0, 0.15),
             .orientation = tilt,
             .shape = Box{{0.5, 0.4, 0.3}},
             .material = "timber"});
  scene.recipe = contact_recipe(60);
  return scene;
}

Scene incline() { return incline(20); }

Scene sliding_block() {
  Scene scene;
  scene.name = "sliding_block";
  scene.description = "A block thrown over a level floor at 4 m/s, friction 0.5: it stops after v^2 / (2 mu g) = 1.631 m (B2).";
  scene.materials = {{.name = "rough", .friction = 0.5}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rough"});
  scene.add({.name = "block",
             .mass = 1.0,
             .position = {0, 0, 0.05},
             .velocity = {4, 0, 0},
             .shape = Box{{0.4, 0.4, 0.1}},
             .material = "rough"});
  scene.recipe = contact_recipe(2);
  scene.recipe.dt = 1e-3;
  return scene;
}

Scene slide_to_roll() {
  Scene scene;
  scene.name = "slide_to_roll";
  scene.description = "A ball set down at 7 m/s without spin: it slides until it rolls, at 5/7 of that speed.";
  scene.materials = {{.name = "rubber", .friction = 0.3}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add(
      {.name = "ball", .mass = 1.0, .position = {0, 0, 0.1}, .velocity = {7, 0, 0}, .shape = Sphere{0.1}, .material = "rubber"});
  scene.recipe = contact_recipe(2);
  scene.recipe.dt = 1e-3;
  return scene;
}

Scene bouncing_ball() {
  Scene scene;
  scene.name = "bouncing_ball";
  scene.description = "A ball dropped from 1 m, restitution 0.8: it rises to e^2 of the height, then e^4, e^6 ...";
  scene.materials = {{.name = "rubber", .friction = 0.5, .restitution = 0.8}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rubber"});
  scene.add({.name = "ball", .mass = 0.1, .position = {0, 0, 1.1}, .shape = Sphere{0.1}, .material = "rubber"});
  scene.recipe = contact_recipe(5);
  scene.recipe.dt = 1e-3;
  return scene;
}

Scene newton_cradle() {
  constexpr int count = 5;
  constexpr double radius = 0.05, length = 0.5, gap = 1e-4;
  Scene scene;
  scene.name = "newton_cradle";
  scene.description =
      "Five steel balls on rods, restitution 1, a tenth of a millimetre apart; the first is let go from 30 degrees.";
  scene.materials = {{.name = "hard_steel", .density = 7850, .friction = 0, .restitution = 1}};
  for (int i = 0; i < count; ++i) {
    const double angle = i == 0 ? std::numbers::pi / 6 : 0.0;
    const Vec3 hook(i * (2 * radius + gap), 0, length);
    const Vec3 center = hook + length * Vec3(-std::sin(angle), 0, -std::cos(angle));
    const std::string name = "ball_" + std::to_string(i + 1);
    scene.add({.name = name,
               .position = center,
               .orientation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitY())),
               .shape = Sphere{radius},
               .material = "hard_steel"});
    scene.add(Hinge{.name = "hinge_" + std::to_string(i + 1), .between = {"world", name}, .at = hook, .axis = {0, 1, 0}});
  }
  scene.recipe = contact_recipe(5);
  scene.recipe.dt = 1e-4;
  return scene;
}

}  // namespace rotule::scenes
