// Machines that touch what they work on: motors, limits and contacts.
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene gripper_pinch() {
  Scene scene;
  scene.name = "gripper_pinch";
  scene.description = "Two fingers on sliders, each pressed by 20 N, hold a cube of 1 kg by friction 0.8 alone.";
  scene.materials = {{.name = "pad", .density = 1000, .friction = 0.8}};
  scene.add({.name = "cube", .mass = 1.0, .position = {0, 0, 0.5}, .shape = Box{{0.1, 0.1, 0.1}}, .material = "pad"});
  for (const double side : {-1.0, 1.0}) {
    const std::string name = side < 0 ? "left_finger" : "right_finger";
    scene.add(
        {.name = name, .mass = 0.5, .position = {side * 0.07, 0, 0.5}, .shape = Box{{0.04, 0.08, 0.12}}, .material = "pad"});
    scene.add(Slider{.name = name + "_slider",
                     .between = {"world", name},
                     .at = {side * 0.07, 0, 0.5},
                     .axis = {-side, 0, 0},
                     .drive = {.lower = -0.05, .upper = 0.05, .motor_speed = 0.1, .motor_strength = 20}});
  }
  scene.recipe = contact_recipe(60);
  return scene;
}

Scene rolling_mill() {
  constexpr double radius = 0.15, thick = 0.02;
  Scene scene;
  scene.name = "rolling_mill";
  scene.description =
      "Two driven rolls pull a sheet in; the upper one is pressed down on its stand and cannot sink below its stop.";
  scene.materials = {{.name = "metal", .density = 2700, .friction = 0.4}};
  const Quat across(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  const Vec3 lower(0, 0, -radius), upper(0, 0, radius + thick);
  scene.add({.name = "lower_roll",
             .mass = 40.0,
             .position = lower,
             .orientation = across,
             .shape = Cylinder{radius, 0.5},
             .material = "metal"});
  scene.add({.name = "upper_roll",
             .mass = 40.0,
             .position = upper,
             .orientation = across,
             .shape = Cylinder{radius, 0.5},
             .material = "metal"});
  scene.add(
      {.name = "chock", .mass = 10.0, .position = upper + Vec3(0, 0.4, 0), .shape = Box{{0.1, 0.1, 0.1}}, .contacts = false});
  scene.add(
      {.name = "sheet", .mass = 4.0, .position = {-0.45, 0, 0.5 * thick}, .shape = Box{{1, 0.3, thick}}, .material = "metal"});
  scene.add({.name = "table", .fixed = true, .position = {-1.1, 0, -0.05}, .shape = Box{{1.8, 0.4, 0.1}}, .material = "metal"});
  scene.add(Hinge{.name = "lower_drive",
                  .between = {"world", "lower_roll"},
                  .at = lower,
                  .axis = {0, 1, 0},
                  .drive = {.motor_speed = 2, .motor_strength = 200}});
  scene.add(Slider{.name = "stand",
                   .between = {"world", "chock"},
                   .at = upper + Vec3(0, 0.4, 0),
                   .axis = {0, 0, 1},
                   .drive = {.lower = -0.005, .upper = 0.05, .stiffness = 5e4, .damping = 2e3, .rest = -0.01}});
  scene.add(Hinge{.name = "upper_drive",
                  .between = {"chock", "upper_roll"},
                  .at = upper,
                  .axis = {0, -1, 0},
                  .drive = {.motor_speed = 2, .motor_strength = 200, .friction = 1}});
  scene.recipe = contact_recipe(3);
  scene.recipe.dt = 1e-3;
  return scene;
}

}  // namespace rotule::scenes
