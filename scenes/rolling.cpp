// Contact to the accuracy of mechanisms: by accelerations, events located (docs/touching.md).
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

namespace {

Recipe touching_recipe(double dt, double duration) {
  Recipe recipe = recipes::exact();
  recipe.contacts = ConeContactSettings{};
  recipe.dt = dt;
  recipe.duration = duration;
  return recipe;
}

}  // namespace

Scene rolling_coin() {
  constexpr double radius = 0.012, height = 0.002;
  Scene scene;
  scene.name = "rolling_coin";
  scene.description = "A coin set rolling on its edge at 0.3 m/s, leaning by 20 degrees: it rolls in loops without slipping.";
  add_floor(scene, 0.8);
  const Vec3 axis(std::cos(std::numbers::pi / 9), 0, std::sin(std::numbers::pi / 9));
  const Vec3 omega = -25 * axis + Vec3(0, 0, 2);
  // From the centre to the lowest point of the rim, which is at rest for the moment.
  const Vec3 down = -height / 2 * axis - radius * (Vec3::UnitZ() - axis.z() * axis).normalized();
  scene.add({.name = "coin",
             .mass = 0.008,
             .position = {0, 0, -down.z()},
             .orientation = along(axis),
             .velocity = -omega.cross(down),
             .angular_velocity = omega,
             .shape = Cylinder{radius, height},
             .material = "ground"});
  scene.recipe = touching_recipe(2e-3, 2);
  scene.dial.reset();  // this very recipe: RK4
  return scene;
}

Scene ladder() {
  constexpr double length = 2, radius = 0.02, angle = 60 * std::numbers::pi / 180;
  Scene scene;
  scene.name = "ladder";
  scene.description =
      "A smooth ladder slides down a smooth wall from 60 degrees; its top leaves the wall when it has come down by a third.";
  add_floor(scene, 0);
  scene.add({.name = "wall",
             .fixed = true,
             .orientation = rotation_between(Vec3::UnitZ(), Vec3::UnitX()),
             .shape = Plane{},
             .material = "ground"});
  scene.add({.name = "ladder",
             .mass = 8.0,
             .position = {radius + length / 2 * std::cos(angle), 0, radius + length / 2 * std::sin(angle)},
             .orientation = along(Vec3(-std::cos(angle), 0, std::sin(angle))),
             .shape = Capsule{radius, length},
             .material = "ground"});
  scene.recipe = touching_recipe(5e-3, 1.2);
  scene.dial.reset();  // this very recipe: RK4
  return scene;
}

}  // namespace rotule::scenes
