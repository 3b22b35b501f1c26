// Chains of equal links: capsules of 1 kg whose round ends overlap at the joints, 0.2 m from joint to joint.
#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>

#include "scenes/builders.h"

namespace rotule::scenes {
namespace {

constexpr double segment_length = 0.2, segment_radius = 0.05;

/// `links` links from the origin along `direction` (a unit vector, `orientation` times z), joined to the world and each other.
void add_chain(Scene& scene, int links, const Vec3& direction, const Quat& orientation) {
  scene.bodies.reserve(links + 1);
  scene.joints.reserve(links + 1);
  std::string last = "world";
  for (int i = 1; i <= links; ++i) {
    std::string name = fmt::format("link_{}", i);
    scene.add({.name = name,
               .mass = 1.0,
               .position = segment_length * (i - 0.5) * direction,
               .orientation = orientation,
               .shape = Capsule{segment_radius, segment_length}});
    scene.add(Ball{.name = fmt::format("joint_{}", i), .between = {last, name}, .at = segment_length * (i - 1) * direction});
    last = std::move(name);
  }
}

}  // namespace

Scene chain(int links) {
  if (links < 1 || links > 1'000'000)
    throw Error(fmt::format("chain_{}", links), "the number of links must be between 1 and 1000000");
  Scene scene;
  scene.name = fmt::format("chain_{}", links);
  scene.description =
      fmt::format("{} links of 1 kg on ball joints, hung from the world at one end and released horizontally.", links);
  add_chain(scene, links, Vec3::UnitX(), Quat(std::sqrt(0.5), 0, std::sqrt(0.5), 0));
  scene.recipe = {.dt = 1e-3, .duration = 1};
  return scene;
}

Scene hanging_chain(double weight) {
  if (!(weight > 0) || !std::isfinite(weight))
    throw Error(fmt::format("hanging_chain_{}", weight), "the weight must be a number of kilograms greater than 0");
  constexpr int links = 20;
  constexpr double ball = 0.3;
  Scene scene;
  scene.name = fmt::format("hanging_chain_{}", weight);
  scene.description =
      fmt::format("20 links of 1 kg with a weight of {} kg at the end, plucked sideways by 10 N s in the middle.", weight);
  add_chain(scene, links, -Vec3::UnitZ(), Quat::Identity());
  scene.add({.name = "weight", .mass = weight, .position = Vec3(0, 0, -links * segment_length - ball), .shape = Sphere{ball}});
  scene.add(
      Ball{.name = "hook", .between = {fmt::format("link_{}", links), "weight"}, .at = Vec3(0, 0, -links * segment_length)});
  scene.impulses.push_back(
      {.body = fmt::format("link_{}", links / 2), .impulse = Vec3(10, 0, 0), .at = Vec3(0, 0, -links * segment_length / 2)});
  scene.recipe = {.dt = 1.0 / 60,
                  .duration = 60,
                  .integrator = SemiImplicitEulerSettings{},
                  .formulation = VelocitySettings{},
                  .correction = ProjectionSettings{}};
  return scene;
}

}  // namespace rotule::scenes
