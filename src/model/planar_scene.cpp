#include "model/planar_scene.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/place.h"
#include "base/text.h"

namespace rotule {

namespace {

constexpr double parallel_enough = 1e-9;

bool along(const Vec3& v, const Vec3& normal) { return v.cross(normal).norm() <= parallel_enough * v.norm(); }
bool across(const Vec3& v, const Vec3& normal) { return std::abs(v.dot(normal)) <= parallel_enough * v.norm(); }

/// Whether a body stays in its plane where its partner in this joint does.
bool passes_on(const JointDef& joint, const Vec3& normal) {
  if (const auto* hinge = std::get_if<Hinge>(&joint)) return along(hinge->axis, normal);
  if (const auto* slider = std::get_if<Slider>(&joint)) return across(slider->axis, normal);
  if (const auto* planar = std::get_if<Planar>(&joint)) return along(planar->normal, normal);
  return std::holds_alternative<Weld>(joint);
}

}  // namespace

void check_plane(const Scene& scene) {
  if (!scene.plane) return;
  const Place top;
  if (!scene.plane->allFinite() || !(scene.plane->norm() > 0))
    fail(top / "plane", "must be the normal of a plane: three finite numbers, not all zero");
  if (!scene.particles.empty() || !scene.solids.empty())
    fail(top / "plane", "holds bodies alone, and this scene has particles; leave it out, or use bodies");
  const Vec3 normal = scene.plane->normalized();
  const Place bodies = top / "bodies";
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const BodyDef& body = scene.bodies[i];
    if (body.immovable()) continue;
    if (!across(body.velocity, normal))
      fail(bodies / i / "velocity",
           fmt::format("leads {} out of its plane; its part along \"plane\" must be 0", in_quotes(body.name)));
    if (!along(body.angular_velocity, normal))
      fail(bodies / i / "angular_velocity",
           fmt::format("turns {} out of its plane; it must be along \"plane\"", in_quotes(body.name)));
  }
}

void hold_in_plane(Scene& scene) {
  if (!scene.plane) return;
  const Vec3 normal = scene.plane->normalized();
  const int world = static_cast<int>(scene.bodies.size());
  std::unordered_map<std::string_view, int> number;
  number.emplace("world", world);
  for (int i = 0; i < world; ++i) number.emplace(scene.bodies[i].name, i);

  // Who holds whom, once one of them is held.
  std::vector<std::vector<int>> partners(scene.bodies.size() + 1);
  for (const JointDef& joint : scene.joints) {
    if (!passes_on(joint, normal)) continue;
    std::visit(
        [&](const auto& def) {
          const auto a = number.find(def.between[0]), b = number.find(def.between[1]);
          if (a == number.end() || b == number.end()) return;
          partners[a->second].push_back(b->second);
          partners[b->second].push_back(a->second);
        },
        joint);
  }
  std::vector<char> held(scene.bodies.size() + 1, 0);
  std::vector<int> stack;
  const auto spread = [&](int from) {
    stack.assign(1, from);
    held[from] = 1;
    while (!stack.empty()) {
      const int body = stack.back();
      stack.pop_back();
      for (const int next : partners[body])
        if (!held[next]) {
          held[next] = 1;
          stack.push_back(next);
        }
    }
  };
  spread(world);
  // What cannot be moved holds nobody that it carries out of the plane, and who is held need not be held twice.
  for (int i = 0; i < world; ++i)
    if (scene.bodies[i].fixed && !held[i]) spread(i);
  for (int i = 0; i < world; ++i) {
    if (held[i] || scene.bodies[i].immovable()) continue;
    Planar joint;
    joint.name = "plane of " + scene.bodies[i].name;
    joint.between = {"world", scene.bodies[i].name};
    joint.at = scene.bodies[i].position;
    joint.normal = normal;
    scene.joints.emplace_back(std::move(joint));
    spread(i);
  }
}

}  // namespace rotule
