// Things that stand on each other: walls, towers, pyramids, arches, cards, dominoes.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {

Scene brick_wall() {
  constexpr int courses = 14, per_course = 8;
  constexpr double joint = 0.005;  // between the bricks of a course, so that D's contacts are those of beds alone
  const Vec3 size(0.5, 0.25, 0.2);
  Scene scene;
  scene.name = "brick_wall";
  scene.description = "A wall of 112 bricks of 1 kg, dense, no gaps, every second course shifted by a quarter; friction 1.";
  add_floor(scene, 1);
  for (int k = 0; k < courses; ++k)
    for (int i = 0; i < per_course; ++i) {
      const double shift = k % 2 ? 0.25 : 0.0;
      scene.add({.name = fmt::format("brick_{}_{}", k + 1, i + 1),
                 .mass = 1.0,
                 .position = {(i + shift) * (size.x() + joint), 0, (k + 0.5) * size.z()},
                 .shape = Box{size},
                 .material = "ground"});
    }
  scene.recipe = contact_recipe(5);
  scene.recipe.contacts = ConeContactSettings{{.margin = 0.001}};
  return scene;
}

Scene tower(int floors) {
  Scene scene;
  scene.name = fmt::format("tower_{}", floors);
  scene.description = fmt::format("{} boxes of 1 kg on top of each other.", floors);
  add_floor(scene, 0.6);
  for (int k = 0; k < floors; ++k)
    scene.add({.name = fmt::format("box_{}", k + 1),
               .mass = 1.0,
               .position = {0, 0, k + 0.5},
               .shape = Box{{1, 1, 1}},
               .material = "ground"});
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene pyramid(int base) {
  Scene scene;
  scene.name = fmt::format("pyramid_{}", base);
  scene.description = fmt::format("{} boxes in a flat pyramid, {} in the lowest row.", base * (base + 1) / 2, base);
  add_floor(scene, 0.6);
  for (int k = 0; k < base; ++k)
    for (int i = 0; i < base - k; ++i)
      scene.add({.name = fmt::format("box_{}_{}", k + 1, i + 1),
                 .mass = 1.0,
                 .position = {1.05 * (i + 0.5 * k), 0, k + 0.5},
                 .shape = Box{{1, 1, 1}},
                 .material = "ground"});
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene heavy_on_light(double weight) {
  Scene scene;
  scene.name = "heavy_on_light";
  scene.description = fmt::format("A box of {} kg on a tower of nine boxes of 1 kg.", weight);
  add_floor(scene, 0.6);
  for (int k = 0; k < 10; ++k)
    scene.add({.name = k < 9 ? fmt::format("box_{}", k + 1) : "weight",
               .mass = k < 9 ? 1.0 : weight,
               .position = {0, 0, k + 0.5},
               .shape = Box{{1, 1, 1}},
               .material = "ground"});
  scene.recipe = contact_recipe(60);
  return scene;
}

Scene masonry_arch(double thickness_over_radius, int voussoirs) {
  Scene scene;
  scene.name = "masonry_arch";
  scene.description =
      fmt::format("A semicircular arch of {} dry stones, t/R = {}: it stands by its shape alone, down to t/R = 0.1075 in theory.",
                  voussoirs, thickness_over_radius);
  scene.materials = {{.name = "stone", .density = 2400, .friction = 1.0}};
  constexpr double radius = 5, depth = 1;
  const double t = thickness_over_radius * radius, inner = radius - t / 2, outer = radius + t / 2;
  const double step = std::numbers::pi / voussoirs;
  // The springings, fixed, carry the first and the last stone; their upper faces are level.
  for (const double side : {-1.0, 1.0})
    scene.add({.name = side < 0 ? "springing_left" : "springing_right",
               .fixed = true,
               .position = {side * radius, 0, -0.25},
               .shape = Box{{3 * t, 2 * depth, 0.5}},
               .material = "stone"});
  for (int k = 0; k < voussoirs; ++k) {
    const double middle = (k + 0.5) * step;
    const Vec3 center = radius * Vec3(std::cos(middle), 0, std::sin(middle));
    std::vector<Vec3> corners;
    for (const double angle : {k * step, (k + 1) * step})
      for (const double r : {inner, outer})
        for (const double y : {-depth / 2, depth / 2})
          corners.push_back(Vec3(r * std::cos(angle), y, r * std::sin(angle)) - center);
    scene.add({.name = fmt::format("voussoir_{}", k + 1),
               .density = 2400,
               .position = center,
               .shape = ConvexHull{corners},
               .material = "stone"});
  }
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene card_house() {
  constexpr double length = 0.088, width = 0.063, thick = 0.0008, lean = 20 * std::numbers::pi / 180;
  Scene scene;
  scene.name = "card_house";
  scene.description = "A house of 15 cards in three storeys, held up by friction alone.";
  scene.materials = {{.name = "card", .density = 700, .friction = 0.7}};
  scene.add({.name = "table", .fixed = true, .shape = Plane{}, .material = "card"});
  // Two cards lean on each other in every tent; flat ones, cut to fit, lie on neighbouring tents.
  const double rise = length * std::cos(lean) + thick * std::sin(lean);
  const double half = 0.5 * (length * std::sin(lean) + thick * std::cos(lean));
  const double pitch = 4 * half + 0.004;
  int card = 0;
  const auto add_card = [&](const Vec3& at, double angle, double tall) {
    scene.add({.name = fmt::format("card_{}", ++card),
               .position = at,
               .orientation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitY())),
               .shape = Box{{thick, width, tall}},
               .material = "card"});
  };
  double floor = 0;
  for (int storey = 0; storey < 3; ++storey) {
    const int tents = 3 - storey;
    for (int k = 0; k < tents; ++k) {
      const double x = (k - 0.5 * (tents - 1)) * pitch;
      add_card({x - half, 0, floor + 0.5 * rise}, lean, length);
      add_card({x + half, 0, floor + 0.5 * rise}, -lean, length);
    }
    floor += rise;
    for (int k = 0; k + 1 < tents; ++k)
      add_card({(k - 0.5 * (tents - 2)) * pitch, 0, floor + 0.5 * thick}, std::numbers::pi / 2, pitch - 2e-4);
    floor += thick;
  }
  scene.recipe = contact_recipe(5);
  scene.recipe.dt = 1e-3;
  return scene;
}

Scene domino_run() {
  constexpr int count = 60;
  Scene scene;
  scene.name = "domino_run";
  scene.description = "60 dominoes in a row that bends; the first is pushed.";
  scene.materials = {{.name = "ground", .density = 800, .friction = 0.4}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "ground"});
  double heading = 0;
  Vec3 at = Vec3::Zero();
  for (int k = 0; k < count; ++k) {
    scene.add({.name = fmt::format("domino_{}", k + 1),
               .position = at + Vec3(0, 0, 0.024),
               .orientation = Quat(Eigen::AngleAxisd(heading, Vec3::UnitZ())),
               .shape = Box{{0.0075, 0.024, 0.048}},
               .material = "ground"});
    at += 0.02 * Vec3(std::cos(heading), std::sin(heading), 0);
    if (k >= 15 && k < 45) heading += std::numbers::pi / 30;
  }
  scene.impulses.push_back({.body = "domino_1", .impulse = {2e-3, 0, 0}, .at = Vec3(0, 0, 0.045)});
  scene.recipe = contact_recipe(4);
  scene.recipe.dt = 1e-3;
  return scene;
}

}  // namespace rotule::scenes
