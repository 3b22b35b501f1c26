// Mass-spring solids and particles (B1, B2, E1 to E4).
#include <rotule/error.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"

namespace rotule::scenes {

Scene cloth(int particles) {
  if (particles < 2 || particles > 5000) throw Error("cloth_N", "N must be from 2 to 5000, is " + std::to_string(particles));
  Scene scene;
  scene.name = "cloth_" + std::to_string(particles);
  scene.description = "A square metre of cloth, " + std::to_string(particles) + " x " + std::to_string(particles) +
                      " particles, held by two corners and let go level.";
  // 0.2 kg/m^2; stiffness of a spring across a square cell does not depend on the cell's size.
  scene.add(Cloth{.name = "cloth",
                  .columns = particles,
                  .rows = particles,
                  .mass = 0.2,
                  .stiffness = 100,
                  .shear_stiffness = 50,
                  .bending_stiffness = 5,
                  .damping = 0.1 / particles,
                  .pinned = {"x0y0", "x1y0"}});
  scene.add(Drag{.name = "air", .viscous = 0.2 / (static_cast<double>(particles) * particles)});
  scene.recipe = {.dt = 5e-4, .duration = 2};
  return scene;
}

Scene block(int particles) {
  if (particles < 2 || particles > 300) throw Error("block_N", "N must be from 2 to 300, is " + std::to_string(particles));
  Scene scene;
  scene.name = "block_" + std::to_string(particles);
  scene.description = "An elastic beam of 0.6 x 0.2 x 0.2 m, " + std::to_string(3 * particles) + " x " +
                      std::to_string(particles) + " x " + std::to_string(particles) +
                      " particles, clamped at one end and bending under its weight.";
  scene.add(Block{.name = "beam",
                  .at = {0, -0.1, -0.1},
                  .size = {0.6, 0.2, 0.2},
                  .counts = {3 * particles, particles, particles},
                  .mass = 2,
                  .stiffness = 20000.0 / particles,
                  .shear_stiffness = 10000.0 / particles,
                  .damping = 0.5 / particles,
                  .pinned = {"x0"}});
  scene.recipe = {.dt = 2e-4, .duration = 2};
  return scene;
}

Scene rope() {
  Scene scene;
  scene.name = "rope";
  scene.description = "A rope of 0.8 m and 41 particles held by its two ends, let go level; air brings it to rest as a catenary.";
  scene.add(Rope{.name = "rope",
                 .from = {-0.4, 0, 0},
                 .to = {0.4, 0, 0},
                 .count = 41,
                 .mass = 0.2,
                 .stiffness = 200,
                 .bending_stiffness = 1,
                 .damping = 0.02,
                 .pinned = {"x0", "x1"}});
  scene.add(Drag{.name = "air", .viscous = 0.01});
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

Scene trapeze() {
  Scene scene;
  scene.name = "trapeze";
  scene.description =
      "A bar of 1.2 m on two rods, drawn back by 50 degrees and let go, with a cloth of 21 x 17 particles that ball joints hold "
      "on "
      "it.";
  constexpr double length = 1, back = 50 * std::numbers::pi / 180, half = 0.02;
  const Vec3 bar = length * Vec3(0, std::sin(back), -std::cos(back));
  scene.add({.name = "bar", .density = 700.0, .position = bar, .shape = Box{Vec3(1.2, 2 * half, 2 * half)}});
  for (const double x : {-0.55, 0.55})
    scene.add(Rod{
        .name = x < 0 ? "left_rod" : "right_rod", .between = {"world", "bar"}, .from = Vec3(x, 0, 0), .to = bar + Vec3(x, 0, 0)});
  constexpr int columns = 21, rows = 17;
  scene.add(Cloth{.name = "cloth",
                  .at = bar + Vec3(-0.5, 0, -half),
                  .along_x = {1, 0, 0},
                  .along_y = {0, 0, -0.8},
                  .columns = columns,
                  .rows = rows,
                  .mass = 0.16,
                  .stiffness = 100,
                  .shear_stiffness = 50,
                  .bending_stiffness = 2,
                  .damping = 0.005});
  for (int i = 0; i < columns; i += 4) {
    const std::string number = std::to_string(i);
    scene.add(Ball{.name = "ring_" + number, .between = {"bar", "cloth/" + number}});
  }
  scene.add(Drag{.name = "air", .on = {"cloth"}, .viscous = 0.1 / (columns * rows)});
  scene.recipe = {.dt = 5e-4, .duration = 5};
  return scene;
}

Scene disk() {
  Scene scene;
  scene.name = "disk";
  scene.description = "An elastic disk dropped on a plane that pushes it back (E3): it bounces lower each time.";
  scene.add(Disk{.name = "disk",
                 .center = {0, 0, 1},
                 .normal = {0, 1, 0},
                 .radius = 0.25,
                 .rings = 4,
                 .sectors = 20,
                 .mass = 1,
                 .stiffness = 2000,
                 .damping = 0.2});
  scene.add(PenaltyPlane{.name = "floor", .stiffness = 2000, .damping = 0.5});
  scene.recipe = {.dt = 2e-4, .duration = 3};
  return scene;
}

Scene soft_ball() {
  Scene scene;
  scene.name = "ball";
  scene.description = "A soft ball of 1 kg falling on a penalty plane.";
  scene.add(
      SoftBall{.name = "ball", .center = {0, 0, 0.6}, .radius = 0.2, .across = 7, .mass = 1, .stiffness = 400, .damping = 0.3});
  scene.add(PenaltyPlane{.name = "floor", .stiffness = 500, .damping = 0.2});
  scene.recipe = {.dt = 5e-4, .duration = 2};
  return scene;
}

Scene planets() {
  Scene scene;
  scene.name = "planets";
  scene.description =
      "The sun and the planets out to Saturn on circles in their mean distances, under universal gravitation; one year.";
  scene.gravity.setZero();
  constexpr double G = 6.67430e-11, sun = 1.98847e30;
  struct Planet {
    const char* name;
    double mass, distance;
  };
  constexpr Planet list[] = {{"mercury", 3.3011e23, 5.791e10},    {"venus", 4.8675e24, 1.0821e11},
                             {"earth", 5.9722e24, 1.49598e11},    {"mars", 6.4171e23, 2.27944e11},
                             {"jupiter", 1.89819e27, 7.78412e11}, {"saturn", 5.6834e26, 1.42673e12}};
  scene.add_particles({.name = "sun", .positions = {Vec3::Zero()}, .mass = sun});
  double angle = 0;
  for (const Planet& planet : list) {
    const Vec3 direction(std::cos(angle), std::sin(angle), 0), across(-std::sin(angle), std::cos(angle), 0);
    scene.add_particles({.name = planet.name,
                         .positions = {planet.distance * direction},
                         .velocities = {std::sqrt(G * sun / planet.distance) * across},
                         .mass = planet.mass});
    angle += 1;
  }
  scene.add(Gravitation{.name = "gravitation"});
  scene.recipe = {.dt = 86400, .duration = 365.25 * 86400};
  return scene;
}

}  // namespace rotule::scenes
