// Friction against spinning on a flat patch: under even pressure mu N times the mean distance of the patch's points from its
// middle, 2 R / 3 for a disc. The distance is measured here on a grid of points.
#include <gtest/gtest.h>
#include <rotule/mass_properties.h>
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <functional>
#include <numbers>

namespace rotule {
namespace {

using Inside = std::function<bool(double x, double y)>;

double mean_distance(const Inside& inside, double reach) {
  constexpr int cells = 1000;
  double sum = 0;
  int count = 0;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      const double x = reach * ((2 * i + 1.0) / cells - 1), y = reach * ((2 * j + 1.0) / cells - 1);
      if (!inside(x, y)) continue;
      sum += std::hypot(x, y);
      ++count;
    }
  return sum / count;
}

struct Spun {
  const char* name;
  Shape shape;
  double half_height;
  Inside inside;  // of the patch, on a ground that is large
};

std::vector<Spun> spun_shapes() {
  ConvexHull prism;
  for (int i = 0; i < 6; ++i)
    for (const double z : {-0.1, 0.1})
      prism.points.emplace_back(0.5 * std::cos(i * std::numbers::pi / 3), 0.5 * std::sin(i * std::numbers::pi / 3), z);
  const auto in_hexagon = [](double x, double y) {
    for (int i = 0; i < 3; ++i) {
      const double angle = (i + 0.5) * std::numbers::pi / 3;
      if (std::abs(x * std::cos(angle) + y * std::sin(angle)) > 0.25 * std::sqrt(3.0)) return false;
    }
    return true;
  };
  const auto in_box = [](double a, double b) {
    return [=](double x, double y) { return std::abs(x) < a / 2 && std::abs(y) < b / 2; };
  };
  return {{"disc", Cylinder{0.5, 0.2}, 0.1, [](double x, double y) { return x * x + y * y < 0.25; }},
          {"square", Box{{0.8, 0.8, 0.2}}, 0.1, in_box(0.8, 0.8)},
          {"plank", Box{{1, 0.2, 0.2}}, 0.1, in_box(1, 0.2)},
          {"hexagon", prism, 0.1, in_hexagon},
          {"rod", Capsule{0.1, 1}, 0.1, in_box(1, 0.002)},
          {"log", Cylinder{0.1, 1}, 0.1, in_box(1, 0.002)}};
}

/// How much of its spin it loses per second.
double spin_lost(const Scene& scene, double spin) {
  World world(scene, recipes::realtime());
  for (int i = 0; i < 20; ++i) world.step(1.0 / 240);
  const BodyId body = world.body("it");
  world.set_velocity(body, Vec3::Zero(), {0, 0, spin});
  constexpr int steps = 20;
  for (int i = 0; i < steps; ++i) world.step(1.0 / 240);
  EXPECT_NEAR(world.velocity(body).head<2>().norm(), 0, 0.02);
  EXPECT_GT(world.angular_velocity(body).z(), 0.1 * spin);
  return (spin - world.angular_velocity(body).z()) * 240 / steps;
}

constexpr double rubbing = 0.4;

Scene standing(const Shape& ground, const Vec3& at, const Spun& s, double yaw) {
  Scene scene;
  scene.materials = {{.name = "wood", .friction = rubbing}};
  scene.add({.name = "ground", .fixed = true, .position = at, .shape = ground, .material = "wood"});
  Quat orientation(Eigen::AngleAxisd(yaw, Vec3::UnitZ()));
  if (std::string_view(s.name) == "rod" || std::string_view(s.name) == "log")
    orientation = orientation * Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY()));
  scene.add({.name = "it",
             .density = 500.0,
             .position = {0, 0, s.half_height},
             .orientation = orientation,
             .shape = s.shape,
             .material = "wood"});
  return scene;
}

double expected_loss(const Scene& scene, double lever) {
  const World world(scene, recipes::realtime());
  const BodyId body = world.body("it");
  const Mat3 R = world.orientation(body).toRotationMatrix();
  return rubbing * world.mass(body) * 9.81 * lever / (R * world.inertia(body) * R.transpose())(2, 2);
}

TEST(Spin, FrictionOfAFlatPatchIsThatOfThePatch) {
  // A pyramid upside down, whose flat top is four triangles.
  TriangleMesh floor;
  floor.vertices = {{-3, -3, 0}, {3, -3, 0}, {3, 3, 0}, {-3, 3, 0}, {0.1, 0.05, 0}, {0, 0, -3}};
  floor.triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {1, 0, 5}, {2, 1, 5}, {3, 2, 5}, {0, 3, 5}};
  const std::vector<std::tuple<const char*, Shape, Vec3>> grounds{
      {"plane", Plane{}, Vec3::Zero()}, {"box", Box{{6, 6, 1}}, {0, 0, -0.5}}, {"mesh", floor, Vec3::Zero()}};
  for (const Spun& s : spun_shapes())
    for (const auto& [name, ground, at] : grounds) {
      SCOPED_TRACE(std::string(s.name) + " on " + name);
      const Scene scene = standing(ground, at, s, 0.3);
      const double expected = expected_loss(scene, mean_distance(s.inside, 0.6));
      EXPECT_NEAR(spin_lost(scene, expected / 5) / expected, 1, 0.05);  // six corners share a load in many ways
    }
}

TEST(Spin, OverlapOfTwoFacesHasManyCorners) {
  // A square on a square of the same size, turned by an angle: up to eight corners.
  const Spun s{"square", Box{{0.8, 0.8, 0.2}}, 0.1, {}};
  for (const double yaw : {0.0, 0.3, std::numbers::pi / 4}) {
    SCOPED_TRACE(yaw);
    const auto inside = [&](double x, double y) {
      const double c = std::cos(yaw), d = std::sin(yaw);
      return std::max({std::abs(x), std::abs(y), std::abs(c * x + d * y), std::abs(c * y - d * x)}) < 0.4;
    };
    const Scene scene = standing(Box{{0.8, 0.8, 1}}, {0, 0, -0.5}, s, yaw);
    const double expected = expected_loss(scene, mean_distance(inside, 0.6));
    EXPECT_NEAR(spin_lost(scene, expected / 10) / expected, 1, 0.04);
  }
}

TEST(Spin, SlidingFeelsAllOfTheFriction) {
  const Spun s = spun_shapes()[0];
  World world(standing(Plane{}, Vec3::Zero(), s, 0.3), recipes::realtime());
  for (int i = 0; i < 20; ++i) world.step(1.0 / 240);
  const BodyId body = world.body("it");
  world.set_velocity(body, {2, 0, 0}, Vec3::Zero());
  for (int i = 0; i < 60; ++i) world.step(1.0 / 240);
  EXPECT_NEAR(world.velocity(body).x(), 2 - rubbing * 9.81 * 0.25, 1e-6);
  EXPECT_NEAR(world.angular_velocity(body).norm(), 0, 1e-6);
}

}  // namespace
}  // namespace rotule
