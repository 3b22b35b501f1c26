// Planar mechanisms (C5): the same motion as in space with hinges, degrees of freedom as they are counted in a plane, and no way
// out.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "support/runs.h"

namespace rotule {
namespace {

/// A pendulum of several links in the plane across y, hung by ball joints or by hinges.
Scene links(int count, bool balls) {
  Scene scene;
  for (int i = 0; i < count; ++i) {
    const std::string name = "link" + std::to_string(i), before = i ? "link" + std::to_string(i - 1) : "world";
    scene.add(
        {.name = name, .mass = 1, .position = Vec3(0.25 + 0.5 * i, 0, 0), .shape = Box{Vec3(0.5, 0.05, 0.1)}, .contacts = false});
    const Vec3 at(0.5 * i, 0, 0);
    if (balls)
      scene.add(Ball{.between = {before, name}, .at = at});
    else
      scene.add(Hinge{.between = {before, name}, .at = at, .axis = Vec3(0, 1, 0)});
  }
  return scene;
}

TEST(PlanarScene, BallsInAPlaneAreHingesAcrossIt) {
  Scene planar = links(3, true);
  planar.plane = Vec3(0, 2, 0);
  // Pushed at the side, it would leave the plane.
  World a(planar, recipes::exact()), b(links(3, false), recipes::exact());
  a.set_force(a.body("link2"), Vec3(0, 5, 0));
  run_for(a, 0.5);
  run_for(b, 0.5);
  EXPECT_LT(difference(a, b), 1e-9);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.position("link" + std::to_string(i)).y(), 0, 1e-12);
}

TEST(PlanarScene, HoldsOnlyWhatJointsDoNot) {
  Scene hinges = links(3, false);
  const std::size_t before = World(hinges).joints().size();
  hinges.plane = Vec3(0, 1, 0);
  EXPECT_EQ(World(hinges).joints().size(), before);
  Scene loose = links(3, false);
  loose.joints.erase(loose.joints.begin());  // nothing holds it to the world
  loose.plane = Vec3(0, 1, 0);
  EXPECT_EQ(World(loose).joints().size(), loose.joints.size() + 1);
  Scene free = links(3, false);
  free.joints.clear();
  free.plane = Vec3(0, 1, 0);
  EXPECT_EQ(World(free).joints().size(), 3u);
}

TEST(PlanarScene, RefusesWhatLeavesThePlane) {
  const auto complaint = [](auto&& change) -> std::string {
    Scene scene = links(2, false);
    scene.plane = Vec3(0, 1, 0);
    change(scene);
    try {
      World world(scene);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(complaint([](Scene&) {}), "");
  EXPECT_NE(complaint([](Scene& s) { s.bodies[1].velocity = Vec3(1, 0.1, 0); }).find("/bodies/1/velocity"), std::string::npos);
  EXPECT_NE(complaint([](Scene& s) { s.bodies[0].angular_velocity = Vec3(0, 1, 0.1); }).find("/bodies/0/angular_velocity"),
            std::string::npos);
  EXPECT_NE(complaint([](Scene& s) { s.plane = Vec3(0, 0, 0); }).find("/plane"), std::string::npos);
  EXPECT_NE(complaint([](Scene& s) {
              s.particles.push_back({.name = "dust", .positions = {Vec3(0, 0, 0)}, .mass = 1});
            }).find("/plane"),
            std::string::npos);
  EXPECT_EQ(parse_scene(to_json([] {
              Scene scene = links(1, false);
              scene.plane = Vec3(0, 1, 0);
              return scene;
            }()))
                .plane,
            std::optional(Vec3(0, 1, 0)));
}

}  // namespace
}  // namespace rotule
