// Tops: what turns about a point or freely.
#include <rotule/mass_properties.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene gyroscope() {
  constexpr double axle_length = 0.2, tilt = std::numbers::pi / 3, w3 = 150, g = 9.81;
  // The frame's origin is the tip of the axle, which stands on the ball joint; the disk sits at its other end.
  Compound shape;
  shape.parts.push_back({.shape = Cylinder{0.005, axle_length}, .position = Vec3(0, 0, axle_length / 2)});
  shape.parts.push_back({.shape = Cylinder{0.08, 0.02}, .position = Vec3(0, 0, axle_length)});
  const MassProperties top = mass_properties(shape, steel.density);
  const double l = top.center_of_mass.z(), I3 = top.inertia(2, 2), I1 = top.inertia(0, 0) + top.mass * l * l;

  // Regular precession: I1 W^2 cos(tilt) - I3 w3 W + m g l = 0, of whose two rates W this is the slow one.
  const double a = I1 * std::cos(tilt);
  const double precession = 2 * top.mass * g * l / (I3 * w3 + std::sqrt(I3 * I3 * w3 * w3 - 4 * a * top.mass * g * l));
  const Quat orientation(Eigen::AngleAxisd(tilt, Vec3::UnitY()));
  const Vec3 axis = orientation * Vec3::UnitZ();
  const Vec3 omega = precession * Vec3::UnitZ() + (w3 - precession * std::cos(tilt)) * axis;

  Scene scene;
  scene.name = "gyroscope";
  scene.description = "A heavy steel top on a ball joint, tilted by 60 degrees, started in its slow regular precession.";
  scene.gravity = Vec3(0, 0, -g);
  scene.materials = {steel};
  scene.add({.name = "top",
             .orientation = orientation,
             .velocity = omega.cross(orientation * top.center_of_mass),
             .angular_velocity = omega,
             .shape = shape,
             .material = "steel"});
  scene.add(Ball{.name = "tip", .between = {"world", "top"}, .at = Vec3::Zero()});
  scene.recipe = {.dt = 2e-4, .duration = 5};
  return scene;
}

Scene dzhanibekov() {
  // A wing nut's proportions: least inertia about the crossbar (y), middle about the stem (x), most about the normal (z).
  Compound shape;
  shape.parts.push_back({.shape = Cylinder{0.01, 0.2}, .orientation = Quat(std::sqrt(0.5), std::sqrt(0.5), 0, 0)});
  shape.parts.push_back(
      {.shape = Cylinder{0.01, 0.08}, .position = Vec3(0.05, 0, 0), .orientation = Quat(std::sqrt(0.5), 0, std::sqrt(0.5), 0)});
  Scene scene;
  scene.name = "dzhanibekov";
  scene.description =
      "A weightless T-handle spinning about its stem, the middle axis of inertia, which flips over again and again.";
  scene.gravity = Vec3::Zero();
  scene.materials = {steel};
  scene.add({.name = "handle", .angular_velocity = Vec3(10, 0.01, 0), .shape = shape, .material = "steel"});
  scene.recipe = {.dt = 1e-3, .duration = 20};
  return scene;
}

}  // namespace rotule::scenes
