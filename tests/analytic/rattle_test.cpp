// RATTLE and its compositions on mechanisms: orders, the way back, and energy that stays where it is.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "dynamics/free_rotation.h"
#include "scenes/builders.h"

namespace rotule {
namespace {

Recipe with_integrator(const Scene& scene, const std::string& integrator) {
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
  Recipe fine = with_integrator(scene, "dormand_prince_8");
  set(fine, "integrator.relative_tolerance", "1e-13");
  World exact(scene, fine);
  exact.step(duration);
  for (const auto& [method, order] : methods) {
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      World world(scene, with_integrator(scene, method));
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

TEST(Rattle, PassesSingularPosesWithItsJointsClosed) {
  // Parallelograms falling over: all bars on one line twice a turn, where no impulse along the rows of the start closes the end.
  for (const char* name : {"n_four_bar_1", "n_four_bar_2", "n_four_bar_5"})
    for (const auto& [method, order] : methods) {
      const Scene scene = *scenes::build(name);
      World world(scene, with_integrator(scene, method));
      const double energy = world.diagnostics().energy();
      double open = 0;
      for (int i = 0; i < 2000; ++i) {
        world.step(1e-3);
        open = std::max(open, world.diagnostics().joint_error.position);
      }
      EXPECT_LT(open, 1e-9) << name << ", " << method;
      EXPECT_NEAR(world.diagnostics().energy(), energy, 5e-6 * energy) << name << ", " << method;
    }
}

TEST(Rattle, KeepsARodTogetherAtLongSteps) {
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .position = {1, 0, 0}});
  scene.add(Rod{.between = {"world", "bob"}, .from = Vec3(0, 0, 0)});
  for (const double step : {0.01, 0.1, 0.2, 0.3}) {
    World world(scene, with_integrator(scene, "rattle"));
    for (int i = 0; i < 300; ++i) world.step(step);
    EXPECT_NEAR(world.position("bob").norm(), 1, 1e-9) << step;
  }
}

TEST(Rattle, LeadsBackToWhereItBegan) {
  for (const char* name : {"double_pendulum", "mannequin", "gyroscope"})
    for (const auto& [method, order] : methods) {
      const Scene scene = *scenes::build(name);
      World world(scene, with_integrator(scene, method));
      const std::vector<Vec3> start = centers(world);
      for (int i = 0; i < 500; ++i) world.step();
      EXPECT_GT(distance(centers(world), start), 0.01) << name << " moved";
      for (const BodyId body : world.bodies()) world.set_velocity(body, -world.velocity(body), -world.angular_velocity(body));
      for (int i = 0; i < 500; ++i) world.step();
      EXPECT_LT(distance(centers(world), start), 1e-10) << name << ", " << method;
    }
}

/// A straight line through the energy over a run, by least squares: how much it rises or falls from end to end, and how far the
/// energy strays from it.
struct Trend {
  double drift, oscillation;
  double scale;  // the most motion that there was, J
};
Trend energy_trend(const Scene& scene, const char* integrator, double h, int steps) {
  World world(scene, with_integrator(scene, integrator));
  std::vector<double> energy;
  double scale = 0;
  for (int i = 0; i < steps; ++i) {
    world.step(h);
    const Diagnostics now = world.diagnostics();
    energy.push_back(now.energy());
    scale = std::max(scale, now.kinetic_energy);
  }
  const double n = static_cast<double>(steps), middle = (n - 1) / 2;
  double mean = 0, slope = 0, oscillation = 0;
  for (const double e : energy) mean += e / n;
  for (int i = 0; i < steps; ++i) slope += (i - middle) * (energy[i] - mean) * 12 / (n * (n * n - 1));
  for (int i = 0; i < steps; ++i) oscillation = std::max(oscillation, std::abs(energy[i] - mean - slope * (i - middle)));
  return {std::abs(slope) * n, oscillation, scale};
}

TEST(Rattle, EnergyStaysBoundedWhereTheClassicalMethodDrifts) {
  // Steps so long that errors show.
  struct Case {
    const char* scene;
    double h;
    int steps;
  };
  for (const Case& c : {Case{"double_pendulum", 0.01, 20000}, Case{"mannequin", 0.2, 4000}, Case{"gyroscope", 0.004, 20000}}) {
    const Scene scene = *scenes::build(c.scene);
    const Trend classical = energy_trend(scene, "rk4", c.h, c.steps);
    EXPECT_GT(classical.drift, 2 * classical.oscillation) << c.scene << ": rk4 drifts";
    for (const char* method : {"rattle", "rattle4"}) {
      const Trend trend = energy_trend(scene, method, c.h, c.steps);
      // What rounding adds up to is left out.
      EXPECT_LT(trend.drift, trend.oscillation + 1e-9 * trend.scale) << c.scene << ", " << method;
      EXPECT_LT(trend.drift, 0.2 * classical.drift) << c.scene << ", " << method;
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
    Recipe recipe = with_integrator(scene, "rattle");
    set(recipe, "formulation", formulation);
    EXPECT_THROW(World(scene, recipe), std::exception) << formulation;
  }
}

}  // namespace
}  // namespace rotule
