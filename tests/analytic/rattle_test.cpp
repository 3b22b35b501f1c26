// RATTLE and its compositions on mechanisms: orders, the way back, and energy that stays where it is.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "dynamics/free_rotation.h"
#include "scenes/builders.h"

namespace rotule {
namespace {

Recipe with(const Scene& scene, const std::string& integrator) {
  Recipe recipe = scene.recipe;
  set(recipe, "integrator", integrator);
  return recipe;
}

std::vector<Vec3> centers(const World& world) {
  std::vector<Vec3> out;
  for (const BodyId body : world.bodies()) out.push_back(world.center_of_mass(body));
  return out;
}

double distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, (a[i] - b[i]).norm());
  return out;
}

const std::pair<const char*, int> methods[] = {{"rattle", 2}, {"rattle4", 4}, {"rattle6", 6}};

void expect_orders(const std::string& name, double duration, int steps) {
  const Scene scene = *scenes::build(name);
  Recipe fine = with(scene, "dormand_prince_8");
  set(fine, "integrator.relative_tolerance", "1e-13");
  World exact(scene, fine);
  exact.step(duration);
  for (const auto& [method, order] : methods) {
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      World world(scene, with(scene, method));
      const int n = steps << k;
      for (int i = 0; i < n; ++i) world.step(duration / n);
      errors[k] = distance(centers(world), centers(exact));
      EXPECT_LT(world.diagnostics().joint_error.position, 1e-14);
      EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-13);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.2) << name << ", " << method << ": " << errors[0] << ", " << errors[1];
  }
}

TEST(Rattle, OrdersOnADoublePendulum) { expect_orders("double_pendulum", 1, 150); }
TEST(Rattle, OrdersOnAMannequin) { expect_orders("mannequin", 20, 100); }
TEST(Rattle, OrdersOnAGyroscope) { expect_orders("gyroscope", 0.2, 100); }
TEST(Rattle, OrdersOnALoopWithRedundantRows) { expect_orders("four_bar", 1, 150); }

TEST(Rattle, LeadsBackToWhereItBegan) {
  for (const char* name : {"double_pendulum", "mannequin", "gyroscope"})
    for (const auto& [method, order] : methods) {
      const Scene scene = *scenes::build(name);
      World world(scene, with(scene, method));
      const std::vector<Vec3> start = centers(world);
      for (int i = 0; i < 500; ++i) world.step();
      EXPECT_GT(distance(centers(world), start), 0.01) << name << " moved";
      for (const BodyId body : world.bodies()) world.set_velocity(body, -world.velocity(body), -world.angular_velocity(body));
      for (int i = 0; i < 500; ++i) world.step();
      EXPECT_LT(distance(centers(world), start), 1e-10) << name << ", " << method;
    }
}

/// The largest relative energy error in the first and in the last tenth of a run.
std::pair<double, double> energy_errors(const Scene& scene, const char* integrator, double h, int steps) {
  World world(scene, with(scene, integrator));
  const double start = world.diagnostics().energy();
  double early = 0, late = 0, scale = scene.gravity.isZero() ? start : 0;
  for (int i = 1; i <= steps; ++i) {
    world.step(h);
    if (i > steps / 10 && i <= steps - steps / 10) continue;
    const Diagnostics now = world.diagnostics();
    scale = std::max(scale, now.kinetic_energy);
    (i <= steps / 10 ? early : late) = std::max(i <= steps / 10 ? early : late, std::abs(now.energy() - start));
  }
  return {early / scale, late / scale};
}

TEST(Rattle, EnergyStaysBoundedWhereTheClassicalMethodDrifts) {
  // Steps so long that errors show. A drift would make the last tenth of the run ten times worse than the first.
  struct Case {
    const char* scene;
    double h;
    int steps;
  };
  for (const Case& c : {Case{"double_pendulum", 0.01, 20000}, Case{"mannequin", 0.2, 4000}, Case{"gyroscope", 0.004, 20000}}) {
    const Scene scene = *scenes::build(c.scene);
    const auto classical = energy_errors(scene, "rk4", c.h, c.steps);
    EXPECT_GT(classical.second, 3 * classical.first) << c.scene << ": rk4 drifts";
    for (const char* method : {"rattle", "rattle4"}) {
      const auto [early, late] = energy_errors(scene, method, c.h, c.steps);
      EXPECT_LT(late, 5 * early + 1e-10) << c.scene << ", " << method << ": " << early << ", " << late;
    }
  }
}

TEST(Rattle, AFreeTopKeepsItsMomentumAndASymmetricOneIsExact) {
  // Euler's symmetric top: the spin about the axis stays, the rest turns at (C - A) / A times it in body axes.
  const Vec3 moments(2, 2, 3);
  const FreeRotor rotor(moments.asDiagonal());
  Quat theta(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  Vec3 omega = theta * Vec3(0.8, 0, 1.5);
  const Vec3 L = theta * moments.cwiseProduct(theta.conjugate() * omega);
  for (int i = 0; i < 7; ++i) rotor.drift(theta, omega, 0.4);
  const Vec3 body = theta.conjugate() * omega;
  const double angle = 1.5 * (3.0 - 2.0) / 2.0 * 2.8;
  EXPECT_LT((body - Vec3(0.8 * std::cos(angle), 0.8 * std::sin(angle), 1.5)).norm(), 1e-14);
  EXPECT_LT((theta * moments.cwiseProduct(body) - L).norm(), 1e-14);
}

TEST(Rattle, HoldsJointsByItself) {
  const Scene scene = scenes::double_pendulum();
  for (const char* formulation : {"velocity", "penalty", "stabilised_acceleration"}) {
    Recipe recipe = with(scene, "rattle");
    set(recipe, "formulation", formulation);
    EXPECT_THROW(World(scene, recipe), std::exception) << formulation;
  }
}

}  // namespace
}  // namespace rotule
