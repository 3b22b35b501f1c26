// Very many joints between the same two bodies, which say the same again and again, or lock all that could move: the motion is
// that of one joint, and the cost grows with their number, not with its cube.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/recipe.h>
#include <rotule/world.h>

#include <functional>
#include <random>

namespace rotule {
namespace {

Scene hung(const std::function<void(Scene&)>& joints) {
  Scene scene;
  scene.add({.name = "bar", .mass = 2, .position = {0.4, 0, 0}, .shape = Box{{0.8, 0.1, 0.05}}});
  scene.add({.name = "tip", .mass = 1, .position = {1.0, 0, 0}, .shape = Box{{0.4, 0.1, 0.05}}});
  joints(scene);
  return scene;
}

void expect_same_motion(const Scene& many, const Scene& one, int dependent) {
  Recipe recipe = recipes::exact();
  set(recipe, "integrator", "rk4");
  World a(many, recipe), b(one, recipe);
  for (int k = 0; k < 60; ++k) {
    a.step(0.005);
    b.step(0.005);
  }
  for (const char* body : {"bar", "tip"}) {
    EXPECT_LT((a.position(body) - b.position(body)).norm(), 1e-10) << body;
    EXPECT_LT((a.velocity(body) - b.velocity(body)).norm(), 1e-9) << body;
    EXPECT_LT((a.angular_velocity(body) - b.angular_velocity(body)).norm(), 1e-9) << body;
  }
  int rows = 0;
  for (const Redundancy& r : a.redundancies()) rows += r.rows;
  EXPECT_EQ(rows, dependent);
}

TEST(ManyJoints, AThousandEqualOnesMoveAsOneDoes) {
  constexpr int count = 1000;
  expect_same_motion(hung([](Scene& scene) {
                       for (int k = 0; k < count; ++k) scene.add(Ball{.between = {"world", "bar"}, .at = {0, 0, 0}});
                       for (int k = 0; k < count; ++k)
                         scene.add(Hinge{.between = {"bar", "tip"}, .at = {0.8, 0, 0}, .axis = {0, 1, 0}});
                     }),
                     hung([](Scene& scene) {
                       scene.add(Ball{.between = {"world", "bar"}, .at = {0, 0, 0}});
                       scene.add(Hinge{.between = {"bar", "tip"}, .at = {0.8, 0, 0}, .axis = {0, 1, 0}});
                     }),
                     3 * (count - 1) + 5 * (count - 1));
}

TEST(ManyJoints, BallsAtManyPointsAreAWeld) {
  constexpr int count = 200;
  expect_same_motion(hung([](Scene& scene) {
                       std::mt19937 random(3);
                       std::uniform_real_distribution<double> within(-0.2, 0.2);
                       scene.add(Hinge{.between = {"world", "bar"}, .at = {0, 0, 0}, .axis = {0, 1, 0}});
                       for (int k = 0; k < count; ++k)
                         scene.add(Ball{.between = {"bar", "tip"}, .at = {0.8 + within(random), within(random), within(random)}});
                     }),
                     hung([](Scene& scene) {
                       scene.add(Hinge{.between = {"world", "bar"}, .at = {0, 0, 0}, .axis = {0, 1, 0}});
                       scene.add(Weld{.between = {"bar", "tip"}, .at = {0.8, 0, 0}});
                     }),
                     3 * count - 6);
}

}  // namespace
}  // namespace rotule
