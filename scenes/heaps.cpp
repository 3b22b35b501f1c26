// Things that fall and come to rest in heaps. Places and turns come from a fixed generator, so that a scene is always the same.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <random>

#include "math/rotation.h"
#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {
namespace {

/// Numbers from 0 to 1 that are the same everywhere: the standard's distributions are not.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double operator()() { return static_cast<double>(random_()) / 4294967296.0; }
  double between(double low, double high) { return low + (high - low) * (*this)(); }
  Quat turn() {
    const double u = (*this)(), a = 2 * std::numbers::pi * (*this)(), b = 2 * std::numbers::pi * (*this)();
    return Quat(std::sqrt(u) * std::cos(b), std::sqrt(1 - u) * std::sin(a), std::sqrt(1 - u) * std::cos(a),
                std::sqrt(u) * std::sin(b));
  }

 private:
  std::mt19937 random_;
};

/// A box without a lid, inner size `width`, from five plates.
void add_tray(Scene& scene, double width, double height) {
  constexpr double thick = 0.2;
  scene.add({.name = "bottom",
             .fixed = true,
             .position = {0, 0, -thick / 2},
             .shape = Box{{width + 2 * thick, width + 2 * thick, thick}},
             .material = "ground"});
  for (int k = 0; k < 4; ++k) {
    const double angle = k * std::numbers::pi / 2, reach = (width + thick) / 2;
    scene.add({.name = fmt::format("side_{}", k + 1),
               .fixed = true,
               .position = {reach * std::cos(angle), reach * std::sin(angle), height / 2},
               .orientation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ())),
               .shape = Box{{thick, width + 2 * thick, height}},
               .material = "ground"});
  }
}

}  // namespace

Scene tripods() {
  Scene scene;
  scene.name = "tripods";
  scene.description = "28 bodies of 3.5 kg, each three balls joined by three bars, falling on the ground; friction 1.";
  add_floor(scene, 1);
  Compound tripod;
  constexpr double side = 0.8, ball = 0.15, bar = 0.05;
  std::array<Vec3, 3> corners;
  for (int k = 0; k < 3; ++k) {
    const double angle = 2 * std::numbers::pi * k / 3;
    corners[k] = side / std::sqrt(3.0) * Vec3(std::cos(angle), std::sin(angle), 0);
    tripod.parts.push_back({.shape = Sphere{ball}, .position = corners[k]});
  }
  for (int k = 0; k < 3; ++k) {
    const Vec3 from = corners[k], to = corners[(k + 1) % 3];
    tripod.parts.push_back({.shape = Cylinder{bar, side}, .position = 0.5 * (from + to), .orientation = along(to - from)});
  }
  Dice dice(7);
  for (int k = 0; k < 28; ++k)
    scene.add({.name = fmt::format("tripod_{}", k + 1),
               .mass = 3.5,
               .position = {(k % 2 - 0.5) * 1.5 + dice.between(-0.1, 0.1), (k / 2 % 2 - 0.5) * 1.5 + dice.between(-0.1, 0.1),
                            0.8 + 1.3 * (k / 4)},
               .orientation = dice.turn(),
               .shape = tripod,
               .material = "ground"});
  scene.recipe = contact_recipe(10);
  return scene;
}

Scene marble_box() {
  Scene scene;
  scene.name = "marble_box";
  scene.description = "200 balls of 1 kg and radius 0.25 m falling into a box; friction 1.";
  scene.materials = {{.name = "ground", .friction = 1}};
  add_tray(scene, 3, 4);
  Dice dice(11);
  for (int k = 0; k < 200; ++k)
    scene.add({.name = fmt::format("marble_{}", k + 1),
               .mass = 1.0,
               .position = {(k % 5 - 2) * 0.56 + dice.between(-0.02, 0.02), (k / 5 % 5 - 2) * 0.56 + dice.between(-0.02, 0.02),
                            0.35 + 0.6 * (k / 25)},
               .shape = Sphere{0.25},
               .material = "ground"});
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene rock_pile() {
  Scene scene;
  scene.name = "rock_pile";
  scene.description = "60 stones of a few kilograms, convex hulls of random points, poured on the ground; friction 0.8.";
  scene.materials = {{.name = "ground", .density = 2500, .friction = 0.8}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "ground"});
  Dice dice(3);
  for (int k = 0; k < 60; ++k) {
    std::vector<Vec3> points;
    const Vec3 axes(dice.between(0.08, 0.16), dice.between(0.08, 0.16), dice.between(0.06, 0.12));
    for (int i = 0; i < 14; ++i) points.push_back(axes.cwiseProduct(dice.turn() * Vec3::UnitZ()));
    scene.add({.name = fmt::format("stone_{}", k + 1),
               .position = {(k % 3 - 1) * 0.3 + dice.between(-0.03, 0.03), (k / 3 % 3 - 1) * 0.3 + dice.between(-0.03, 0.03),
                            0.25 + 0.32 * (k / 9)},
               .orientation = dice.turn(),
               .shape = ConvexHull{points},
               .material = "ground"});
  }
  scene.recipe = contact_recipe(5);
  return scene;
}

namespace {

constexpr double link_length = 0.2, link_radius = 0.05;

/// Links from joint to joint through the points given.
void add_links(Scene& scene, const std::vector<Vec3>& points) {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Vec3 from = points[i], to = points[i + 1];
    scene.add({.name = fmt::format("link_{}", i + 1),
               .mass = 1.0,
               .position = 0.5 * (from + to),
               .orientation = rotation_between(Vec3::UnitZ(), to - from),
               .shape = Capsule{link_radius, link_length},
               .material = "ground",
               .group = 1});
    if (i > 0)
      scene.add(Ball{
          .name = fmt::format("joint_{}", i), .between = {fmt::format("link_{}", i), fmt::format("link_{}", i + 1)}, .at = from});
  }
}

}  // namespace

Scene chain_fall() {
  Scene scene;
  scene.name = "chain_fall";
  scene.description = "100 links of 1 kg on 99 ball joints, falling on the ground from an arc; friction 1.";
  add_floor(scene, 1);
  std::vector<Vec3> points;
  double heading = 0.35;  // up at first, down at the end
  Vec3 at(-10, 0, 1.0);
  for (int i = 0; i <= 100; ++i) {
    points.push_back(at);
    at += link_length * Vec3(std::cos(heading), 0, std::sin(heading));
    heading -= 0.7 / 99;
  }
  add_links(scene, points);
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene chain_on_floor() {
  Scene scene;
  scene.name = "chain_on_floor";
  scene.description =
      "A chain of 100 links lying in waves just above the floor, pulled at one end by a weight of 100 kg; friction 1.";
  add_floor(scene, 1);
  std::vector<Vec3> points;
  Vec3 at(-9, 0, link_radius);
  for (int i = 0; i <= 100; ++i) {
    points.push_back(at);
    at += link_length * Vec3(std::cos(0.5 * std::sin(0.3 * i)), std::sin(0.5 * std::sin(0.3 * i)), 0);
  }
  add_links(scene, points);
  const Vec3 end = points.back();
  scene.add({.name = "weight",
             .mass = 100.0,
             .position = end + Vec3(0.3, 0, 0.3 - link_radius),
             .velocity = Vec3::Zero(),
             .shape = Sphere{0.3},
             .material = "ground"});
  scene.add(Ball{.name = "hook", .between = {"link_100", "weight"}, .at = end});
  scene.impulses.push_back({.body = "weight", .impulse = {200, 0, 0}});
  scene.recipe = contact_recipe(5);
  return scene;
}

Scene ragdoll_heap() {
  Scene scene;
  scene.name = "ragdoll_heap";
  scene.description = "Eight mannequins falling on each other.";
  scene.materials = {{.name = "ground", .density = 700, .friction = 0.6}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "ground"});
  const Scene doll = mannequin();
  Dice dice(5);
  for (int k = 0; k < 8; ++k) {
    const Quat turn = dice.turn();
    const Vec3 shift(0.3 * (k % 2) + dice.between(-0.05, 0.05), dice.between(-0.05, 0.05), 1.3 + 2.0 * k);
    const std::string prefix = fmt::format("doll_{}_", k + 1);
    Vec3 center = Vec3::Zero();
    for (const BodyDef& body : doll.bodies) center += body.position / static_cast<double>(doll.bodies.size());
    const auto placed = [&](const Vec3& p) -> Vec3 { return shift + turn * (p - center); };
    for (BodyDef body : doll.bodies) {
      body.name = prefix + body.name;
      body.position = placed(body.position);
      body.orientation = turn * body.orientation;
      body.velocity = body.angular_velocity = Vec3::Zero();
      body.material = "ground";
      body.group = k + 1;
      scene.add(body);
    }
    for (const JointDef& joint : doll.joints) {
      Ball ball = std::get<Ball>(joint);
      ball.name = prefix + ball.name;
      for (std::string& end : ball.between) end = prefix + end;
      ball.at = placed(ball.at);
      scene.add(ball);
    }
  }
  scene.recipe = contact_recipe(4);
  return scene;
}

}  // namespace rotule::scenes
