// Smooth motions that ask much of error control: an eccentric orbit, and a stiff machine.
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene kepler() {
  constexpr double eccentricity = 0.9;
  Scene scene;
  scene.name = "kepler";
  scene.description =
      "A small ball on an ellipse of eccentricity 0.9 round a fixed centre, from its nearest point; units in which semi-major "
      "axis, "
      "G and the centre's mass are 1, so that a turn takes 2 pi seconds.";
  scene.gravity.setZero();
  scene.add({.name = "centre", .fixed = true, .mass = 1.0, .shape = Sphere{0.01}, .contacts = false});
  scene.add({.name = "planet",
             .mass = 1e-3,
             .position = Vec3(1 - eccentricity, 0, 0),
             .velocity = Vec3(0, std::sqrt((1 + eccentricity) / (1 - eccentricity)), 0),
             .shape = Sphere{0.01},
             .contacts = false});
  scene.add(Gravitation{.name = "gravitation", .constant = 1});
  scene.recipe = {.dt = 0.01, .duration = 3 * std::numbers::pi};
  scene.recipe.integrator = DormandPrince8Settings{};
  return scene;
}

Scene flyball_governor() {
  // The library's data: rods and shaft of 1 m and 1 cm x 1 cm, slider a cube of 0.1 m, all of 3000 kg/m^3; 5 kg at the rods'
  // ends.
  constexpr double density = 3000, length = 1, width = 0.01, ball = 5, alpha = std::numbers::pi / 6, spin = 2 * std::numbers::pi;
  const double rod = density * length * width * width, center = (rod * length / 2 + ball * length) / (rod + ball);
  const double across = rod * (length * length + width * width) / 12 + rod * (center - length / 2) * (center - length / 2) +
                        ball * (length - center) * (length - center);
  Scene scene;
  scene.name = "flyball_governor";
  scene.description =
      "Watt's governor with spring-dampers of 8e5 N/m and 4e4 N s/m for couplers (the stiff benchmark of the IFToMM library of "
      "multibody problems), spun at one turn per second.";
  const auto spinning = [&](BodyDef body, const Vec3& center_of_mass) {
    body.velocity = Vec3(0, 0, spin).cross(center_of_mass);
    body.angular_velocity = Vec3(0, 0, spin);
    body.contacts = false;
    scene.add(std::move(body));
  };
  // The rods hang from the shaft's upper end, the origin.
  spinning({.name = "shaft", .density = density, .position = Vec3(0, 0, -length / 2), .shape = Box{Vec3(width, width, length)}},
           Vec3::Zero());
  scene.add(Hinge{.name = "bearing", .between = {"world", "shaft"}, .at = Vec3::Zero(), .axis = Vec3::UnitZ()});
  const double below = 2 * 0.5 * length * std::cos(alpha);
  const Vec3 slider(0, 0, -below);
  spinning({.name = "slider", .density = density, .position = slider, .shape = Box{Vec3(0.1, 0.1, 0.1)}}, slider);
  scene.add(Slider{.name = "sleeve", .between = {"shaft", "slider"}, .at = slider, .axis = Vec3::UnitZ()});
  for (const double side : {1.0, -1.0}) {
    const std::string name = side > 0 ? "right" : "left";
    const Quat tilt(Eigen::AngleAxisd(-side * alpha, Vec3::UnitY()));  // takes -z to the rod's direction
    const Vec3 along = tilt * Vec3(0, 0, -1), middle = 0.5 * length * along;
    spinning({.name = name + "_rod",
              .mass = rod + ball,
              .inertia = Vec3(across, across, rod * width * width / 6).asDiagonal(),
              .center_of_mass = Vec3(0, 0, length / 2 - center),
              .position = middle,
              .orientation = tilt,
              .shape = Box{Vec3(width, width, length)}},
             center * along);
    scene.add(Hinge{.name = name + "_hinge", .between = {"shaft", name + "_rod"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
    scene.add(Spring{.name = name + "_coupler",
                     .between = {name + "_rod", "slider"},
                     .from = middle,
                     .to = slider,
                     .stiffness = 8e5,
                     .damping = 4e4,
                     .rest_length = 0.5});
  }
  scene.recipe = {.dt = 0.01, .duration = 10};
  scene.recipe.integrator = DormandPrinceSettings{};
  return scene;
}

}  // namespace rotule::scenes
