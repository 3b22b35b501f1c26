#pragma once
// Bodies that fluid couples, and their mass matrix made by hand.
#include <rotule/world.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "world/world_implementation.h"

namespace rotule {

inline Recipe coupled_recipe(const char* integrator, double dt) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  set(recipe, "integrator", integrator);
  return recipe;
}

struct Chance {
  std::mt19937 random;
  std::normal_distribution<double> normal;
  explicit Chance(unsigned seed) : random(seed) {}
  double number() { return normal(random); }
  Vec3 vector() { return {number(), number(), number()}; }
  Quat turn() { return Quat(number(), number(), number(), number()).normalized(); }
  /// Symmetric, positive definite, about `scale` large.
  MatX mass(Eigen::Index size, double scale) {
    MatX root(size, size);
    for (double& x : root.reshaped()) x = number();
    return scale / static_cast<double>(size) * root * root.transpose();
  }
};

/// A matrix over twists of n bodies as a force of theirs.
inline CoupledAddedMass coupled(std::vector<std::string> on, const MatX& mass) {
  const auto count = static_cast<Eigen::Index>(on.size());
  CoupledAddedMass out{.on = std::move(on)};
  for (MatX* part : {&out.translation, &out.rotation, &out.coupling}) part->resize(3 * count, 3 * count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j) {
      out.translation.block<3, 3>(3 * i, 3 * j) = mass.block<3, 3>(6 * i, 6 * j);
      out.rotation.block<3, 3>(3 * i, 3 * j) = mass.block<3, 3>(6 * i + 3, 6 * j + 3);
      out.coupling.block<3, 3>(3 * i, 3 * j) = mass.block<3, 3>(6 * i, 6 * j + 3);
    }
  return out;
}

inline BodyDef tumbler(const std::string& name, Chance& chance) {
  return {.name = name,
          .mass = 1.0 + std::abs(chance.number()),
          .inertia = Vec3(0.3, 0.4, 0.5).asDiagonal().toDenseMatrix(),
          .position = 2 * chance.vector(),
          .orientation = chance.turn(),
          .velocity = chance.vector(),
          .angular_velocity = chance.vector()};
}

/// Three bodies, two of them in a pair of their own with the axes of the second, one with added mass of its own.
inline Scene three_coupled(unsigned seed) {
  Chance chance(seed);
  Scene scene;
  scene.gravity.setZero();
  for (const char* name : {"a", "b", "c"}) scene.add(tumbler(name, chance));
  scene.add(coupled({"b", "a", "c"}, chance.mass(18, 2)));
  scene.add(coupled({"c", "a"}, chance.mass(12, 1)));
  scene.add(AddedMass{.on = "a", .translation = chance.mass(3, 1), .rotation = chance.mass(3, 0.5)});
  return scene;
}

/// The whole mass matrix in world axes, by hand.
inline MatX dense_mass(const World& world) {
  const WorldImplementation& w = implementation_of(world);
  const auto size = static_cast<Eigen::Index>(6 * w.model.body_count());
  MatX out = MatX::Zero(size, size);
  for (int i = 0; i < w.model.body_count(); ++i) {
    const Mat3 R = w.state.theta[i].toRotationMatrix();
    out.block<3, 3>(6 * i, 6 * i) = w.model.bodies[i].mass * Mat3::Identity();
    out.block<3, 3>(6 * i + 3, 6 * i + 3) = R * w.model.inertia[i] * R.transpose();
  }
  for (const AddedMassForce& added : w.model.forces.added_masses) {
    const Mat3 R = w.state.theta[added.bodies.front()].toRotationMatrix();
    for (std::size_t i = 0; i < added.bodies.size(); ++i)
      for (std::size_t j = 0; j < added.bodies.size(); ++j)
        for (int p = 0; p < 2; ++p)
          for (int q = 0; q < 2; ++q)
            out.block<3, 3>(6 * added.bodies[i] + 3 * p, 6 * added.bodies[j] + 3 * q) +=
                R * added.mass.block<3, 3>(6 * static_cast<Eigen::Index>(i) + 3 * p, 6 * static_cast<Eigen::Index>(j) + 3 * q) *
                R.transpose();
  }
  return out;
}

inline VecX velocities_of(const World& world) { return implementation_of(world).state.u; }

}  // namespace rotule
