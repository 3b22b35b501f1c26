// What fills a closed surface: forces are the gradient of its energy, matrices those of differences, the full part of rank one;
// nothing pushes or turns the whole; bad materials and surfaces are refused by name.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <random>

#include "dynamics/forces/force_set.h"
#include "dynamics/forces/gas.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

Scene filled_balloon(std::optional<double> outside, double exponent) {
  Scene scene;
  scene.gravity.setZero();
  scene.add(Balloon{.name = "balloon", .center = {3, -2, 1}, .radius = 0.2, .subdivisions = 1});
  scene.add(Pressure{.pressure = 300, .outside = outside, .exponent = exponent});
  return scene;
}

TEST(GasForces, AreGradientsAndHaveTheirMatrices) {
  for (const auto& [outside, exponent] : {std::pair(std::optional<double>(), 1.0), std::pair(std::optional<double>(2e3), 1.0),
                                          std::pair(std::optional<double>(2e3), 1.4)}) {
    World world(filled_balloon(outside, exponent));
    const Model& model = implementation_of(world).model;
    State s = implementation_of(world).state;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> by(-0.02, 0.02);
    for (double& x : s.x) x += by(random);
    const auto force = [&](const State& at) {
      VecX f = VecX::Zero(at.u.size());
      add_gas(model, at, f);
      return f;
    };
    const VecX f = force(s);
    MatX K = MatX::Zero(s.u.size(), s.u.size());
    auto sink = [&](int row, int column, const Mat3& block) { K.block<3, 3>(3 * row, 3 * column) += block; };
    add_gas_derivatives(model, s, 1, false, sink);
    add_full_gas_derivatives(model, s, 1, sink);
    constexpr double step = 1e-6;
    for (Eigen::Index k = 0; k < s.x.size(); ++k) {
      State up = s, down = s;
      up.x[k] += step;
      down.x[k] -= step;
      EXPECT_NEAR(f[k], -(gas_potential(model, up) - gas_potential(model, down)) / (2 * step), 1e-6 * f.norm()) << k;
      EXPECT_LT((K.col(k) - (force(up) - force(down)) / (2 * step)).norm(), 1e-6 * K.norm()) << k;
    }
    Vec3 sum = Vec3::Zero(), turn = Vec3::Zero();
    for (int k = 0; k < s.particles(); ++k) {
      sum += f.segment<3>(s.first(k));
      turn += s.particle_position(k).cross(Vec3(f.segment<3>(s.first(k))));
    }
    EXPECT_LT(sum.norm(), 1e-12 * f.norm());
    EXPECT_LT(turn.norm(), 1e-11 * f.norm());
  }
}

TEST(GasForces, AnySenseOfTrianglesWillDo) {
  // The same shell, some triangles counted the other way round, holds the same.
  Scene scene = filled_balloon({}, 1), turned = scene;
  ParticleGroup group = build(scene.solids[0]);
  group.name = "balloon";
  for (std::size_t n = 0; n < group.triangles[0].triangles.size(); n += 3)
    std::swap(group.triangles[0].triangles[n][0], group.triangles[0].triangles[n][2]);
  turned.solids.clear();
  turned.add_particles(group);
  const auto force = [](const Scene& of) {
    World world(of);
    VecX f = VecX::Zero(implementation_of(world).state.u.size());
    add_gas(implementation_of(world).model, implementation_of(world).state, f);
    return f;
  };
  EXPECT_LT((force(scene) - force(turned)).norm(), 1e-12 * force(scene).norm());
}

void expect_gas_refused(const Scene& scene, const std::string& why) {
  try {
    World world(scene);
    ADD_FAILURE() << "accepted: " << why;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(GasForces, WhatMakesNoSenseIsRefused) {
  Scene scene = filled_balloon({}, 1.4);
  expect_gas_refused(scene, "/forces/0/pressure/exponent: is that of a gas");
  scene = filled_balloon(100.0, 1);
  std::get<Pressure>(scene.forces[0]).pressure = -100;
  expect_gas_refused(scene, "/forces/0/pressure/pressure: must leave the gas an absolute pressure");
  scene = filled_balloon({}, 1);
  std::get<Pressure>(scene.forces[0]).on = {"ballon"};
  expect_gas_refused(scene, "/forces/0/pressure/on/0");
  scene = filled_balloon({}, 1);
  std::get<Balloon>(scene.solids[0]).material.hardening = 10;
  expect_gas_refused(scene, "yield_stress");
  std::get<Balloon>(scene.solids[0]).material = {};
  std::get<Balloon>(scene.solids[0]).material.tear_stretch = 1;
  expect_gas_refused(scene, "tear_stretch");
}

}  // namespace
}  // namespace rotule
