// Every kind of shape dropped on every kind of shape, on rails, on edges and between them, in random poses: laid across, along or
// at any angle. Nothing drives it, so energy must not grow, not in a single step; bodies must not sink into each other; what
// cannot roll comes to rest within five seconds, or has fallen off: all on what is flat, most on what is not.
//
// ROTULE_DROPS: drops per pair (4).
#include <gtest/gtest.h>
#include <rotule/meshes.h>
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <string_view>

#include "collide/shape/collision_shape.h"

namespace rotule {
namespace {

double between(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Quat turned(const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis)); }

TriangleMesh mesh_of_box(const Vec3& size) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back(0.5 * size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

struct Dropped {
  const char* name;
  bool rolls;
  std::function<Shape(std::mt19937&)> make;
};

const std::vector<Dropped>& dropped_kinds() {
  static const std::vector<Dropped> all{
      {"sphere", true, [](std::mt19937& r) { return Sphere{between(r, 0.3, 0.5)}; }},
      {"capsule", true,
       [](std::mt19937& r) {
         return Capsule{between(r, 0.1, 0.4), between(r, 0.2, 2)};
       }},
      {"box", false,
       [](std::mt19937& r) {
         return Box{{between(r, 0.2, 1), between(r, 0.2, 1), between(r, 0.2, 2)}};
       }},
      {"cylinder", true,
       [](std::mt19937& r) {
         return Cylinder{between(r, 0.1, 0.5), between(r, 0.2, 2)};
       }},
      {"cone", true,
       [](std::mt19937& r) {
         return Cone{between(r, 0.2, 0.5), between(r, 0.3, 1.5)};
       }},
      {"ellipsoid", true,
       [](std::mt19937& r) {
         return Ellipsoid{{between(r, 0.2, 0.6), between(r, 0.2, 0.6), between(r, 0.2, 0.6)}};
       }},
      {"hull", false,
       [](std::mt19937& r) {
         ConvexHull hull;
         for (int i = 0; i < 14; ++i) {
           const double z = between(r, -1, 1), angle = between(r, 0, 6.3), across = std::sqrt(1 - z * z);
           hull.points.push_back(between(r, 0.3, 0.6) * Vec3(across * std::cos(angle), across * std::sin(angle), z));
         }
         return hull;
       }},
      {"compound", false,
       [](std::mt19937& r) {
         Compound out;
         out.parts.push_back({.shape = Box{{1, 0.2, 0.2}}});
         out.parts.push_back({.shape = Cylinder{between(r, 0.1, 0.2), 0.8}, .position = {0.4, 0, 0.3}});
         return out;
       }},
      {"mesh", false,
       [](std::mt19937& r) {
         return mesh_of_box({between(r, 0.3, 1), between(r, 0.3, 1), between(r, 0.3, 1)});
       }},
  };
  return all;
}

struct Ground {
  enum class Sort { flat, uneven, round };  // on what is round, bodies may rock for long
  const char* name;
  Sort sort;
  std::function<void(Scene&, std::mt19937&)> put;
};

void fix(Scene& scene, const Shape& shape, const Vec3& position, const Quat& orientation = Quat::Identity()) {
  scene.add({.fixed = true, .position = position, .orientation = orientation, .shape = shape, .material = "wood"});
}

const std::vector<Ground>& grounds() {
  const auto two = [](const Shape& shape, double drop, const Quat& orientation) {
    return [=](Scene& scene, std::mt19937& r) {
      const double apart = between(r, 0.3, 0.45);
      for (const double side : {-apart, apart}) fix(scene, shape, {side, 0, -drop}, orientation);
    };
  };
  const double diagonal = 0.25 * std::sqrt(2.0);
  const Quat edge_up = turned(Vec3::UnitY(), std::numbers::pi / 4);
  ConvexHull roof;
  for (const double y : {-3.0, 3.0})
    for (const Vec3& p : {Vec3(-0.4, y, -0.5), Vec3(0.4, y, -0.5), Vec3(0, y, 0)}) roof.points.push_back(p);
  using Sort = Ground::Sort;
  static const std::vector<Ground> all{
      {"plane", Sort::flat, [](Scene& s, std::mt19937&) { fix(s, Plane{}, Vec3::Zero()); }},
      {"box", Sort::flat,
       [](Scene& s, std::mt19937&) {
         fix(s, Box{{8, 8, 1}}, {0, 0, -0.5});
       }},
      {"rails", Sort::uneven, two(Box{{0.5, 6, 0.5}}, 0.25, Quat::Identity())},
      {"edges", Sort::uneven, two(Box{{0.5, 6, 0.5}}, diagonal, edge_up)},
      {"one_edge", Sort::uneven,
       [=](Scene& s, std::mt19937&) {
         fix(s, Box{{0.5, 6, 0.5}}, {0, 0, -diagonal}, edge_up);
         fix(s, Plane{}, {0, 0, -2});
       }},
      {"roofs", Sort::uneven, two(roof, 0, Quat::Identity())},
      {"cylinders", Sort::round, two(Cylinder{0.25, 6}, 0.25, turned(Vec3::UnitX(), std::numbers::pi / 2))},
      {"capsules", Sort::round, two(Capsule{0.25, 6}, 0.25, turned(Vec3::UnitX(), std::numbers::pi / 2))},
      {"ball", Sort::round,
       [](Scene& s, std::mt19937&) {
         fix(s, Sphere{0.5}, {0, 0, -0.5});
         fix(s, Plane{}, {0, 0, -1});
       }},
      {"cone", Sort::round,
       [](Scene& s, std::mt19937&) {
         fix(s, Cone{0.8, 0.7}, {0, 0, -0.7});
         fix(s, Plane{}, {0, 0, -0.7});
       }},
      {"mesh", Sort::flat,
       [](Scene& s, std::mt19937&) {
         fix(s, mesh_of_box({8, 8, 1}), {0, 0, -0.5});
       }},
      {"mesh_edges", Sort::uneven, two(mesh_of_box({0.5, 6, 0.5}), diagonal, edge_up)},
      {"height_field", Sort::uneven,
       [](Scene& s, std::mt19937& r) {
         HeightField field{.columns = 17, .spacing = 0.5, .heights = {}};
         for (int i = 0; i < 17 * 17; ++i) {
           const int c = i % 17 - 8, row = i / 17 - 8;
           field.heights.push_back(0.02 * (c * c + row * row) + between(r, -0.02, 0.02));
         }
         fix(s, field, {-4, -4, 0});
       }},
  };
  return all;
}

struct Fall {
  double gain = 0, step_gain = 0;  // over the start; of the worst step; both over the energy of a fall through the body's size
  double overlap = 0;              // the deepest, over the size
  double speed = 0;                // m/s, at the end, where it is to have come to rest
};

std::string brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

Fall let_fall(const Dropped& kind, const Ground& ground, int drop) {
  std::mt19937 random(std::mt19937::result_type(1000 * drop + 17));
  Scene scene;
  scene.materials = {{.name = "wood", .friction = 0.5}};
  ground.put(scene, random);
  const Shape shape = kind.make(random);
  const double size = CollisionShape(shape).reach();
  // Laid down, along the rails or across them, now and then by a hair's breadth off; or anyhow.
  Quat orientation(between(random, -1, 1), between(random, -1, 1), between(random, -1, 1), between(random, -1, 1));
  orientation.normalize();
  if (drop % 2 == 1) {
    const double yaw = between(random, -1, 1) * (drop % 4 == 1 ? 1e-3 : std::numbers::pi);
    orientation = turned(Vec3::UnitZ(), yaw) * turned(Vec3::UnitX(), std::numbers::pi / 2 + between(random, -0.01, 0.01)) *
                  turned(Vec3::UnitY(), drop % 8 < 4 ? 0 : std::numbers::pi / 2);
  }
  scene.add({.name = "it",
             .density = 1000.0,
             .position = {between(random, -0.1, 0.1), between(random, -0.1, 0.1), size + between(random, 0.05, 0.5)},
             .orientation = orientation,
             .shape = shape,
             .material = "wood"});
  World world(scene, recipes::realtime());
  const double start = world.diagnostics().energy(), worth = world.mass(world.body("it")) * 9.81 * size;
  double before = start;
  Fall out;
  bool fell = false;
  for (int i = 0; i < 300 && !fell; ++i) {
    world.step(1.0 / 60);
    const double energy = world.diagnostics().energy();
    out.gain = std::max(out.gain, (energy - start) / worth);
    out.step_gain = std::max(out.step_gain, (energy - before) / worth);
    before = energy;
    for (const ContactResult& c : world.contacts()) out.overlap = std::max(out.overlap, -c.gap / size);
    fell = world.position("it").z() < -3;
  }
  if (!fell && !kind.rolls) out.speed = world.velocity("it").norm() + size * world.angular_velocity("it").norm();
  return out;
}

class Drops : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Drops, NeitherGainEnergyNorSinkAndComeToRest) {
  const Dropped& kind = dropped_kinds()[std::get<0>(GetParam())];
  const Ground& ground = grounds()[std::get<1>(GetParam())];
  const char* wanted = std::getenv("ROTULE_DROPS");
  const int drops = wanted != nullptr ? std::atoi(wanted) : 4;
  // All of them are gone through: how many fail, and which, says more than the first.
  std::string gained, sank, restless;
  int count = 0;
  for (int drop = 0; drop < drops; ++drop) {
    const Fall fall = let_fall(kind, ground, drop);
    const auto note = [&](std::string& list, double value) { list += " " + std::to_string(drop) + " (" + brief(value) + ")"; };
    if (std::max(fall.gain, fall.step_gain) > 1e-6) note(gained, std::max(fall.gain, fall.step_gain));
    if (fall.overlap > 0.01) note(sank, fall.overlap);
    if (fall.speed > 1e-3) note(restless, fall.speed), ++count;
  }
  EXPECT_TRUE(gained.empty()) << "energy, by drop:" << gained;
  EXPECT_TRUE(sank.empty()) << "overlap, by drop:" << sank;
  if (count > 0) std::printf("%d of %d restless, by drop:%s\n", count, drops, restless.c_str());
  if (ground.sort == Ground::Sort::flat) {
    EXPECT_EQ(count, 0) << "of " << drops;
  } else if (ground.sort == Ground::Sort::uneven) {
    EXPECT_LE(count, 1 + drops / 6) << "of " << drops;
  }
}

std::vector<std::tuple<int, int>> all_drops() {
  std::vector<std::tuple<int, int>> out;
  for (int i = 0; i < int(dropped_kinds().size()); ++i)
    for (int j = 0; j < int(grounds().size()); ++j) out.emplace_back(i, j);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Drops, ::testing::ValuesIn(all_drops()), [](const auto& p) {
  return std::string(dropped_kinds()[std::get<0>(p.param)].name) + "_on_" + grounds()[std::get<1>(p.param)].name;
});

// Those that went wrong once. A box that lands at one end while the other goes on down between the rails, and was thrown up again
// through the narrow end; one that turns about the ridge of a mesh and was deep below the slope behind it; a cone and a hull
// whose next points were not seen from where the step began; a box that never came to rest; those that rocked for ever, sinking
// by a ten-thousandth of their size and being lifted again.
TEST(DropsOnceWrong, AreRight) {
  const auto by_name = [](const auto& all, std::string_view name) -> const auto& {
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  };
  struct Case {
    const char *kind, *ground;
    int drop;
  };
  for (const Case& c : {Case{"box", "rails", 145},
                        {"box", "mesh_edges", 19},
                        {"cylinder", "mesh_edges", 24},
                        {"hull", "rails", 2},
                        {"cone", "mesh_edges", 317},
                        {"cone", "roofs", 403},
                        {"compound", "mesh_edges", 2},
                        {"box", "box", 27},
                        {"cylinder", "cylinders", 188},
                        {"cone", "roofs", 63},
                        {"cone", "edges", 191}}) {
    SCOPED_TRACE(std::string(c.kind) + " on " + c.ground);
    const Fall fall = let_fall(by_name(dropped_kinds(), c.kind), by_name(grounds(), c.ground), c.drop);
    EXPECT_LE(fall.step_gain, 1e-6);
    EXPECT_LE(fall.overlap, 1e-3);
    EXPECT_LE(fall.speed, 1e-3);
  }
}

// What is light slips from side to side under what is heavy as it lands: it must not stay in it at the end of a step.
TEST(Columns, OfLightAndHeavyThatCollapseDoNotSinkIntoEachOther) {
  for (const unsigned seed : {5022U, 5058U, 5073U, 5106U, 5112U}) {
    std::mt19937 random(seed);
    Scene scene;
    scene.materials = {{.name = "m", .friction = between(random, 0, 1), .restitution = seed % 2 ? between(random, 0, 1) : 0.0}};
    scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "m"});
    double z = between(random, 0.05, 0.3);
    const int count = 3 + static_cast<int>(between(random, 0, 5));
    for (int i = 0; i < count; ++i) {
      const double size = between(random, 0.1, 0.3);
      z += size / 2;
      const bool box = seed % 3 != 0 || i % 2 != 0;
      scene.add({.mass = std::pow(10, between(random, -2, 2)),
                 .position = {between(random, -0.01, 0.01), between(random, -0.01, 0.01), z},
                 .shape = box ? Shape(Box{Vec3::Constant(size)}) : Shape(Sphere{size / 2}),
                 .material = "m"});
      z += size / 2 + between(random, 0, 0.02);
    }
    World world(scene, recipes::realtime());
    double overlap = 0;
    for (int i = 0; i < 60; ++i) {
      world.step();
      for (const ContactResult& c : world.contacts()) overlap = std::max(overlap, -c.gap);
    }
    EXPECT_LT(overlap, 1e-3) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rotule
