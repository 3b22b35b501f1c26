#pragma once
// What several scenes are made of.
#include <rotule/scene.h>

#include <string>

#include "math/rotation.h"

namespace rotule::scenes {

inline const Material steel{.name = "steel", .density = 7850, .friction = 0.3, .restitution = 0.5};
inline const Material wood{.name = "wood", .density = 700, .friction = 0.4, .restitution = 0.3};

/// A rotation that takes z onto the line through `direction`, either way round.
inline Quat along(const Vec3& direction) {
  return rotation_between(Vec3::UnitZ(), direction.z() < 0 ? Vec3(-direction) : direction);
}

/// A straight bar from joint to joint, round, its frame in the middle.
inline BodyDef bar(const std::string& name, const Vec3& from, const Vec3& to, double radius, const std::string& material) {
  return {.name = name,
          .position = 0.5 * (from + to),
          .orientation = along(to - from),
          .shape = Cylinder{radius, (to - from).norm()},
          .material = material};
}

/// Gives a body the motion whose point `at` has velocity `v`, turning at `omega`; its frame must be at its centre of mass.
inline BodyDef moving(BodyDef body, const Vec3& at, const Vec3& v, const Vec3& omega) {
  body.velocity = v + omega.cross(body.position - at);
  body.angular_velocity = omega;
  return body;
}

/// The floor z = 0 and its material, "ground", with this friction.
inline void add_floor(Scene& scene, double friction) {
  scene.materials = {{.name = "ground", .friction = friction}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "ground"});
}

/// Impulses at 1/60 s with friction cones: what scenes with contacts run by, however long their steps take.
inline Recipe contact_recipe(double duration) {
  Recipe recipe = recipes::realtime();
  *recipe.solver.find<int>("step_rows") = 0;
  recipe.duration = duration;
  return recipe;
}

}  // namespace rotule::scenes
