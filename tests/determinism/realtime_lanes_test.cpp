// The real-time stepper gives the same bits whatever the width of lanes and the number of threads, asleep or awake. How many
// bodies and steps is what ROTULE_HASH_SCALE multiplies.
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rotule/world.h>

#include <array>
#include <cstdlib>
#include <string>

namespace rotule {
namespace {

int scale() {
  const char* given = std::getenv("ROTULE_HASH_SCALE");
  return given ? std::atoi(given) : 1;
}

Scene on_floor() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{.size = {200, 200, 1}}});
  return scene;
}

/// Boxes, balls and compounds that fall onto each other.
Scene pile() {
  Scene scene = on_floor();
  for (int i = 0; i < 60 * scale(); ++i) {
    BodyDef def;
    def.name = "b" + std::to_string(i);
    def.mass = 1 + i % 3;
    def.position = {0.3 * (i % 4), 0.31 * (i / 4 % 4), 0.3 + 0.45 * (i / 16)};
    def.orientation = Quat(1, 0.1 * (i % 5), 0.07 * (i % 3), 0.2).normalized();
    if (i % 3 == 0) def.shape = Box{.size = {0.3, 0.25, 0.2}};
    if (i % 3 == 1) def.shape = Sphere{.radius = 0.15};
    if (i % 3 == 2)
      def.shape = Compound{.parts = {{.shape = Capsule{.radius = 0.06, .length = 0.2}},
                                     {.shape = Sphere{.radius = 0.1}, .position = {0, 0, 0.15}}}};
    scene.add(def);
  }
  return scene;
}

Scene pyramid() {
  Scene scene = on_floor();
  const int rows = 6 + scale();
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < rows - row; ++i)
      scene.add({.mass = 1.0, .position = {0.52 * i + 0.26 * row, 0, 0.25 + 0.5 * row}, .shape = Box{.size = {0.5, 0.5, 0.5}}});
  return scene;
}

/// Limbs on ball joints, dropped on a lift and on the floor beside it.
Scene ragdolls() {
  Scene scene = on_floor();
  scene.add({.name = "lift", .velocity = {0, 0, 0.3}, .shape = Box{.size = {2, 2, 0.2}}, .kinematic = true});
  for (int k = 0; k < 4 * scale(); ++k)
    for (int i = 0; i < 5; ++i) {
      const std::string name = "limb" + std::to_string(k) + "_" + std::to_string(i);
      const Vec3 at(0.4 * (i - 2), 0.3 * (k % 4), 1 + 0.4 * k);
      scene.add({.name = name,
                 .mass = 2.0,
                 .position = at,
                 .orientation = Quat(Eigen::AngleAxisd(1.5707963267948966, Vec3::UnitY())),
                 .velocity = {1.0 * (k % 3), 0, -2},
                 .shape = Capsule{.radius = 0.07, .length = 0.24}});
      if (i > 0)
        scene.add(Ball{.between = {"limb" + std::to_string(k) + "_" + std::to_string(i - 1), name}, .at = at - Vec3(0.2, 0, 0)});
    }
  return scene;
}

/// What a belt brings along, and what rolls out on felt.
Scene belts() {
  Scene scene;
  scene.materials.push_back({.name = "felt", .friction = 0.6, .rolling_friction = 0.01, .torsional_friction = 0.005});
  scene.add({.name = "belt",
             .fixed = true,
             .position = {0, 0, -0.5},
             .shape = Box{.size = {200, 200, 1}},
             .material = "felt",
             .surface_velocity = {1, 0.5, 0}});
  for (int i = 0; i < 40 * scale(); ++i) {
    BodyDef def{.mass = 1.0 + i % 2, .position = {0.35 * (i % 6), 0.33 * (i / 6 % 6), 0.3 + 0.4 * (i / 36)}, .material = "felt"};
    def.angular_velocity = {1.0 * (i % 3), 0, 2};
    if (i % 2 == 0)
      def.shape = Sphere{.radius = 0.15};
    else
      def.shape = Box{.size = {0.3, 0.25, 0.2}};
    scene.add(def);
  }
  return scene;
}

/// Cloth that falls over bodies, and a soft block on it.
Scene draped() {
  Scene scene = on_floor();
  for (int i = 0; i < 6; ++i)
    scene.add({.mass = 2.0,
               .position = {0.4 * (i % 3), 0.45 * (i / 3), 0.2},
               .shape = i % 2 == 0 ? Shape(Sphere{.radius = 0.2}) : Shape(Box{.size = {0.3, 0.25, 0.4}})});
  Cloth cloth{.name = "cloth",
              .at = {-0.4, -0.5, 0.5},
              .along_x = {1.6, 0, 0},
              .along_y = {0, 1.4, 0},
              .columns = 20 * scale(),
              .rows = 17 * scale(),
              .mass = 0.4,
              .stiffness = 400,
              .shear_stiffness = 200,
              .bending_stiffness = 5,
              .damping = 0.02};
  cloth.contact.emplace();
  scene.add(cloth);
  Block block{.name = "block", .at = {0.1, 0.1, 0.8}, .size = {0.2, 0.2, 0.2}, .counts = {4, 5, 6}, .mass = 0.5, .damping = 0.5};
  block.contact.emplace();
  scene.add(block);
  return scene;
}

std::uint64_t hash_of(const Scene& scene, double sleep_after, int threads) {
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = sleep_after};
  recipe.threads = threads;
  World world(scene, recipe);
  for (int i = 0; i < 120 * scale(); ++i) world.step();
  return world.state_hash();
}

TEST(RealtimeLanes, OneHashForAllWidthsAndThreads) {
  for (const auto& [name, scene] : {std::pair("pile", pile()), std::pair("pyramid", pyramid()), std::pair("ragdolls", ragdolls()),
                                    std::pair("belts", belts()), std::pair("draped", draped())})
    for (const double sleep_after : {0.0, 0.3}) {
      const std::uint64_t widest = hash_of(scene, sleep_after, 1);
      for (const int threads : {2, 4, 8})
        EXPECT_EQ(hash_of(scene, sleep_after, threads), widest) << name << " threads " << threads;
      for (const std::int64_t target : std::array<std::int64_t, 3>{HWY_AVX2, HWY_SSE4, HWY_SCALAR}) {
        hwy::SetSupportedTargetsForTest(target | HWY_SCALAR);
        hwy::GetChosenTarget().DeInit();
        EXPECT_EQ(hash_of(scene, sleep_after, 1), widest) << name << " " << hwy::TargetName(target);
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
      }
    }
}

}  // namespace
}  // namespace rotule
