#pragma once
// Cloth, one body of every shape for it to fall on, and how it is run in real time.
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace rotule::testing {

inline Recipe fast(int substeps = 8) {
  Recipe recipe = recipes::fastest();
  recipe.dt = 1.0 / 60;
  recipe.stepper = RealtimeStepperSettings{.substeps = substeps};
  return recipe;
}

inline void follow(World& world, double seconds) {
  for (int i = 0; i < std::lround(60 * seconds); ++i) world.step(1.0 / 60);
}

inline double lowest(const World& world) {
  double out = world.particle_position(0).z();
  for (int k = 1; k < world.particles(); ++k) out = std::min(out, world.particle_position(k).z());
  return out;
}

inline Cloth napkin(int side, double edge, const Vec3& middle) {
  return Cloth{.name = "cloth",
               .at = middle - 0.5 * edge * Vec3(1, 1, 0),
               .along_x = {edge, 0, 0},
               .along_y = {0, edge, 0},
               .columns = side,
               .rows = side,
               .mass = 0.2 * edge * edge,
               .stiffness = 100,
               .shear_stiffness = 50,
               .bending_stiffness = 2,
               .damping = 0.005,
               .contact = ParticleContact{.material = "wool"}};
}

inline Scene woollen() {
  Scene scene;
  scene.materials = {{.name = "wool", .friction = 0.5}, {.name = "ice", .friction = 0}};
  return scene;
}

/// A cloth held at both ends, and two bodies that a joint ties above it.
inline Scene hammock(int columns, int rows, double damping) {
  Scene scene = woollen();
  scene.add({.name = "chest", .mass = 1, .position = {0, 0.02, 0.2}, .shape = Box{Vec3(0.3, 0.2, 0.12)}, .material = "wool"});
  scene.add({.name = "head", .mass = 0.3, .position = {-0.24, 0.02, 0.2}, .shape = Sphere{0.08}, .material = "wool"});
  scene.add(Ball{.name = "neck", .between = {"chest", "head"}, .at = {-0.155, 0.02, 0.2}});
  scene.add(Cloth{.name = "hammock",
                  .at = {-0.8, -0.3, 0},
                  .along_x = {1.6, 0, 0},
                  .along_y = {0, 0.6, 0},
                  .columns = columns,
                  .rows = rows,
                  .mass = 0.4,
                  .stiffness = 3000,
                  .shear_stiffness = 1000,
                  .bending_stiffness = 5,
                  .damping = damping,
                  .pinned = {"x0", "x1"},
                  .contact = ParticleContact{.material = "wool"}});
  return scene;
}

/// A roof of two slopes, as a closed mesh, and a field of hills.
inline TriangleMesh roof() {
  TriangleMesh mesh;
  mesh.vertices = {{-0.3, -0.3, 0}, {0.3, -0.3, 0}, {0.3, 0.3, 0}, {-0.3, 0.3, 0}, {0, -0.3, 0.2}, {0, 0.3, 0.2}};
  mesh.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {2, 3, 5}, {1, 2, 5}, {1, 5, 4}, {3, 0, 4}, {3, 4, 5}};
  return mesh;
}

inline HeightField hills() {
  HeightField field;
  field.columns = 9;
  field.spacing = 0.15;
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 9; ++i) field.heights.push_back(0.05 * std::sin(1.3 * i) * std::cos(1.1 * j));
  return field;
}

inline std::vector<std::pair<std::string, Shape>> all_shapes() {
  return {{"sphere", Sphere{0.2}},
          {"box", Box{Vec3(0.4, 0.3, 0.2)}},
          {"capsule", Capsule{0.1, 0.3}},
          {"cylinder", Cylinder{0.15, 0.2}},
          {"cone", Cone{0.2, 0.25}},
          {"ellipsoid", Ellipsoid{Vec3(0.25, 0.15, 0.1)}},
          {"hull", ConvexHull{{{0.2, 0, 0}, {-0.2, 0.1, 0}, {0, -0.2, 0}, {0, 0, 0.25}, {0, 0, -0.1}}}},
          {"mesh", roof()},
          {"hills", hills()},
          {"plane", Plane{}}};
}

}  // namespace rotule::testing
