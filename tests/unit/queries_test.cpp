// Queries on worlds and shapes (rotule/queries.h): answers against geometry worked out by hand and against each other, and that
// what moved, came or went is seen at once.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/queries.h>

#include <random>

#include "support/constants.h"

namespace rotule {
namespace {

Pose at(const Vec3& position) { return {position, Quat::Identity()}; }

/// A floor, a cube, a ball, a tetrahedral surface and a body without contacts, at rest.
Scene yard() {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "cube", .mass = 1.0, .position = {0, 0, 1}, .shape = Box{}, .group = 3});
  scene.add({.name = "ball", .mass = 1.0, .position = {4, 0, 1}, .shape = Sphere{0.5}});
  scene.add({.name = "tent",
             .fixed = true,
             .position = {-5, 0, 0},
             .shape = TriangleMesh{{{-1, -1, 0.5}, {1, -1, 0.5}, {0, 1, 0.5}, {0, 0, 2}},
                                   {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}}});
  scene.add({.name = "ghost", .mass = 1.0, .position = {0, 0, 4}, .shape = Sphere{0.25}, .contacts = false});
  scene.add({.name = "point", .mass = 1.0, .position = {0, 3, 3}});
  return scene;
}

TEST(Queries, RaysSayWhoWhereAndHow) {
  const World world(yard());  // no contacts in the recipe
  const auto hit = cast_ray(world, {.origin = {0.2, 0.1, 3}, .direction = {0, 0, -10}});
  ASSERT_TRUE(hit);
  EXPECT_EQ(world.name(hit->body), "cube");
  EXPECT_NEAR(hit->distance, 1.5, 1e-12);
  EXPECT_LT((hit->point - Vec3(0.2, 0.1, 1.5)).norm(), 1e-12);
  EXPECT_LT((hit->normal - Vec3(0, 0, 1)).norm(), 1e-12);
  EXPECT_EQ(hit->triangle, -1);
  EXPECT_FALSE(cast_ray(world, {.origin = {0.2, 0.1, 3}, .direction = {0, 0, -10}, .reach = 1.4}));
  EXPECT_FALSE(cast_ray(world, {.origin = {0, 0, 10}, .direction = {0, 0, 1}}));
  const auto mesh = cast_ray(world, {.origin = {-5, -0.1, 9}});
  ASSERT_TRUE(mesh);
  EXPECT_EQ(world.name(mesh->body), "tent");
  EXPECT_EQ(mesh->triangle, 1);
  EXPECT_GT(mesh->normal.z(), 0);

  std::vector<std::string> names;
  for (const RayResult& one : cast_ray_through(world, {.origin = {0, 0, 9}})) names.push_back(world.name(one.body));
  EXPECT_EQ(names, (std::vector<std::string>{"ghost", "cube", "floor"}));
  EXPECT_THROW(cast_ray(world, {.direction = {0, 0, 0}}), Error);
  EXPECT_THROW(cast_ray(world, {.origin = {0, infinity, 0}}), Error);
}

TEST(Queries, FiltersLeaveBodiesOut) {
  const World world(yard());
  const Ray down{.origin = {0, 0, 9}};
  const auto first = [&](const BodyFilter& filter) {
    const auto hit = cast_ray(world, down, filter);
    return hit ? world.name(hit->body) : "nobody";
  };
  EXPECT_EQ(first({}), "ghost");
  EXPECT_EQ(first({.untouched = false}), "cube");
  EXPECT_EQ(first({.untouched = false, .without_group = 3}), "floor");
  EXPECT_EQ(first({.moving = false}), "floor");
  EXPECT_EQ(first({.fixed = false, .untouched = false, .without_group = 3}), "nobody");
  const BodyId cube = world.body("cube"), ghost = world.body("ghost");
  EXPECT_EQ(first({.wants = [&](BodyId body) { return body != cube && body != ghost; }}), "floor");
}

TEST(Queries, ManyRaysGiveWhatSingleOnesGive) {
  const World world(yard());
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(-6, 6);
  std::vector<Ray> rays;
  for (int i = 0; i < 1000; ++i)
    rays.push_back({.origin = {u(random), u(random), 3 + u(random) / 2}, .direction = {u(random), u(random), u(random)}});
  const auto together = cast_rays(world, rays), in_order = cast_rays(world, rays, {}, 1);
  ASSERT_EQ(together.size(), rays.size());
  int hits = 0;
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const auto single = cast_ray(world, rays[i]);
    ASSERT_EQ(together[i].has_value(), single.has_value());
    ASSERT_EQ(in_order[i].has_value(), single.has_value());
    if (!single) continue;
    ++hits;
    EXPECT_EQ(together[i]->body, single->body);
    EXPECT_EQ(together[i]->distance, single->distance);
    EXPECT_EQ(in_order[i]->distance, single->distance);
    // What is met is at distance zero from the point of the hit.
    const auto there = nearest_body(world, single->point, 1e-3);
    ASSERT_TRUE(there);
    EXPECT_LT(there->distance, 1e-9);
  }
  EXPECT_GT(hits, 400);
}

TEST(Queries, ShapesAreCastPlacedAndMeasured) {
  const World world(yard());
  const auto hit = cast_shape(world, Sphere{0.25}, at({-3, 0, 1}), {10, 0, 0});
  ASSERT_TRUE(hit);
  EXPECT_EQ(world.name(hit->body), "cube");
  EXPECT_NEAR(hit->fraction, 0.225, 1e-6);
  EXPECT_LT((hit->normal - Vec3(1, 0, 0)).norm(), 1e-6);
  EXPECT_LT((hit->point - Vec3(-0.5, 0, 1)).norm(), 1e-5);
  EXPECT_THROW(cast_shape(world, Plane{}, {}, {1, 0, 0}), Error);

  std::vector<std::string> names;
  for (const BodyId body : overlapping(world, Box{{20, 20, 1}}, at({0, 0, 0.4}))) names.push_back(world.name(body));
  EXPECT_EQ(names, (std::vector<std::string>{"floor", "cube", "ball", "tent"}));

  const QueryShape needle = Box{{0.1, 0.1, 0.1}};
  const auto near = nearest_body(world, needle, at({2, 0, 1}));
  ASSERT_TRUE(near);
  EXPECT_EQ(world.name(near->body), "floor");
  EXPECT_NEAR(near->distance, 0.95, 1e-9);
  EXPECT_NEAR(nearest_body(world, needle, at({1.9, 0, 1}), infinity, {.fixed = false})->distance, 1.35, 1e-9);
  EXPECT_FALSE(nearest_body(world, needle, at({2, 0, 1}), 0.9));
  EXPECT_TRUE(nearest_body(world, needle, at({0, 0, 1e7})));

  const auto inside = nearest_body(world, Vec3(0, 0, 1.4));
  ASSERT_TRUE(inside);
  EXPECT_EQ(world.name(inside->body), "cube");
  EXPECT_NEAR(inside->distance, -0.1, 1e-9);

  const auto pair = distance(world, world.body("cube"), world.body("ball"));
  ASSERT_TRUE(pair);
  EXPECT_NEAR(pair->distance, 3, 1e-9);
  EXPECT_LT((pair->on_shape - Vec3(0.5, 0, 1)).norm(), 1e-6);
  EXPECT_LT((pair->on_body - Vec3(3.5, 0, 1)).norm(), 1e-6);
  EXPECT_LT((pair->normal - Vec3(1, 0, 0)).norm(), 1e-6);
  EXPECT_FALSE(distance(world, world.body("floor"), world.body("tent")));  // surfaces do not meet half-spaces
  EXPECT_FALSE(distance(world, world.body("point"), world.body("ball")));  // no extent
}

TEST(Queries, PointsAreInsideOfSolidsAndOfClosedMeshes) {
  const World world(yard());
  const auto names = [&](const Vec3& point) {
    std::string out;
    for (const BodyId body : bodies_at(world, point)) out += world.name(body) + " ";
    return out;
  };
  EXPECT_EQ(names({0.49, 0.49, 1.49}), "cube ");
  EXPECT_EQ(names({0.51, 0.49, 1.49}), "");
  EXPECT_EQ(names({4, 0.3, 1.3}), "ball ");
  EXPECT_EQ(names({9, 9, -0.1}), "floor ");
  EXPECT_EQ(names({-5, 0, 0.6}), "tent ");
  EXPECT_EQ(names({-5, 0, 0.4}), "");
  EXPECT_EQ(names({-5, 0, 2.1}), "");
}

TEST(Queries, SeeTheWorldAsItStands) {
  Scene scene = yard();
  scene.gravity = {0, 0, -9.81};
  World world(scene);
  const Ray down{.origin = {0, 0, 50}};
  const auto height = [&](const Ray& ray = {.origin = {0, 0, 50}}) {
    return cast_ray(world, ray, {.untouched = false})->point.z();
  };
  EXPECT_NEAR(height(), 1.5, 1e-12);
  const Snapshot start = world.save();
  world.step(0.1);  // falls
  EXPECT_NEAR(height(), world.position("cube").z() + 0.5, 1e-12);
  EXPECT_LT(height(), 1.46);
  world.set_pose(world.body("cube"), {{0, 0, 7}, Quat::Identity()});
  EXPECT_NEAR(height(), 7.5, 1e-12);
  world.load(start);
  EXPECT_NEAR(height(), 1.5, 1e-12);
  const BodyId lid = world.add({.name = "lid", .mass = 1.0, .position = {0, 0, 9}, .shape = Sphere{1}});
  EXPECT_NEAR(height(), 10, 1e-12);
  EXPECT_EQ(cast_ray(world, down)->body, lid);
  world.remove(world.body("cube"));
  EXPECT_NEAR(height(), 10, 1e-12);
  world.remove(lid);
  EXPECT_NEAR(height(), 0, 1e-12);
  EXPECT_THROW(distance(world, lid, world.body("ball")), Error);
  // Its slot is given to another: the old id still finds nobody.
  const BodyId next = world.add({.name = "next", .mass = 1.0, .position = {0, 0, 20}, .shape = Sphere{1}});
  EXPECT_EQ(cast_ray(world, down)->body, next);
  EXPECT_THROW(distance(world, lid, next), Error);
  // A fixed body can be placed elsewhere by hand.
  world.set_pose(world.body("tent"), {{-15, 0, 0}, Quat::Identity()});
  EXPECT_NEAR(height({.origin = {-15, 0, 50}}), 2, 1e-12);
  EXPECT_NEAR(height({.origin = {-5, 0, 50}}), 0, 1e-12);
}

TEST(Queries, SeeWhatIsMovedWithoutSteps) {
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .position = {0.6, 0, -0.8}, .shape = Sphere{0.1}});
  scene.add(Rod{.name = "rod", .between = {"world", "bob"}, .from = Vec3::Zero()});
  World world(scene, recipes::exact());
  EXPECT_TRUE(bodies_at(world, {0, 0, -1}).empty());
  EXPECT_TRUE(relax(world).reached);
  EXPECT_EQ(bodies_at(world, {0, 0, -1}).size(), 1u);
  world.set_pose(world.body("bob"), {{0, 0, -1.5}, Quat::Identity()});
  EXPECT_TRUE(bodies_at(world, {0, 0, -1}).empty());
  world.project();
  EXPECT_EQ(bodies_at(world, {0, 0, -1}).size(), 1u);
}

TEST(Queries, ShapesWithoutAWorld) {
  const QueryShape cube = Box{};
  const auto hit = cast_ray(cube, at({0, 0, 2}), {.origin = {0.3, 0, 0}, .direction = {0, 0, 1}});
  ASSERT_TRUE(hit);
  EXPECT_FALSE(hit->body.valid());
  EXPECT_NEAR(hit->distance, 1.5, 1e-12);
  EXPECT_NEAR(distance(cube, at({0, 0, 2}), Sphere{0.5}, at({0, 0, 0}))->distance, 1, 1e-9);
  EXPECT_TRUE(overlap(cube, at({0, 0, 0}), Sphere{0.5}, at({0, 0, 0.9})));
  EXPECT_FALSE(overlap(cube, at({0, 0, 0}), Sphere{0.5}, at({0, 0, 1.1})));
  EXPECT_NEAR(cast_shape(cube, at({0, 0, 3}), {0, 0, -4}, Plane{}, at({0, 0, 0}))->fraction, 2.5 / 4, 1e-6);
  EXPECT_THROW(QueryShape(Sphere{-1}), Error);

  // A bar of 2 m that turns at 1 rad/s meets a ball beside it: its end, at 1 m, reaches the angle of the ball.
  const ShapeMotion turning{.angular_velocity = {0, 0, 1}};
  const auto impact = time_of_impact(Box{{2, 0.02, 0.02}}, turning, Sphere{0.1}, {.pose = at({0, 0.8, 0})}, 10);
  ASSERT_TRUE(impact);
  // The face, 0.01 m off the middle line, touches where 0.8 cos(t) = 0.1 + 0.01.
  EXPECT_NEAR(impact->time, std::acos(0.11 / 0.8), 1e-4);
  EXPECT_LE(impact->time, std::acos(0.11 / 0.8) + 1e-9);
  EXPECT_FALSE(time_of_impact(Box{{2, 0.02, 0.02}}, turning, Sphere{0.1}, {.pose = at({0, 0.8, 0})}, 1));
}

TEST(Queries, WhatTurnsAboutTheEdgeThatItNearlyStandsOnMeetsNothing) {
  // A capsule lies 2 nm above a plane, and one end stands still for a moment; the other goes up. The former's height is
  // 0.1 (w t - sin(w t)) more, and never less: bounds on the capsule's speed alone need 1e7 small looks to find that out.
  constexpr double radius = 0.02, half = 0.1, gap = 2e-9, spin = 2;
  const auto turning = [&](double way) {
    ShapeMotion motion;
    motion.pose = {{0, 0, radius + gap}, Quat(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY()))};  // along x
    motion.angular_velocity = {0, way * spin, 0};
    motion.velocity = motion.angular_velocity.cross(Vec3(half, 0, 0));  // so that the end at -half stands still
    return motion;
  };
  const Capsule bar{radius, 2 * half};
  EXPECT_FALSE(time_of_impact(Plane{}, {}, bar, turning(-1), 0.1, 1e-9));
  // Turned the other way, the other end comes down at 0.4 m/s.
  const auto impact = time_of_impact(Plane{}, {}, bar, turning(1), 0.1, 1e-9);
  ASSERT_TRUE(impact);
  EXPECT_LT(impact->time, 1e-8);
}

}  // namespace
}  // namespace rotule
