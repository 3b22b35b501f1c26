// Shocks (A8): absorbing, elastic and in between, against textbook answers, and what every shock owes: joints that hold, momentum
// that changes by the impulse, energy that changes by -(1 - e^2)/2 D^T M D with D the correction that would absorb.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <vector>

#include "scenes/builders.h"

namespace rotule {
namespace {

constexpr std::array restitutions{0.0, 0.3, 0.75, 1.0};

Scene without_weight() {
  Scene scene;
  scene.gravity.setZero();
  return scene;
}

Vec3 point_velocity(const World& world, BodyId body, const Vec3& at) {
  return world.velocity(body) + world.angular_velocity(body).cross(at - world.center_of_mass(body));
}

/// u^T M u for a motion of all bodies.
double twice_kinetic(const World& world, const std::vector<Vec3>& v, const std::vector<Vec3>& omega) {
  double sum = 0;
  const std::vector<BodyId> bodies = world.bodies();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Vec3 omega_B = world.orientation(bodies[i]).conjugate() * omega[i];
    sum += world.mass(bodies[i]) * v[i].squaredNorm() + omega_B.dot(world.inertia(bodies[i]) * omega_B);
  }
  return sum;
}

TEST(Shocks, ABallComesBackFromAWallWithItsRestitution) {
  for (const double e : restitutions) {
    Scene scene = without_weight();
    scene.add({.name = "ball", .mass = 2, .position = Vec3(0, 0, 0.6), .velocity = Vec3(1, 0.5, -3), .shape = Sphere{0.1}});
    scene.walls.push_back({.name = "floor", .restitution = e});
    scene.recipe.dt = 0.01;
    World world(scene);
    int shocks = 0;
    for (int i = 0; i < 40; ++i) shocks += world.step().shocks;
    EXPECT_EQ(shocks, 1);
    EXPECT_LT((world.velocity("ball") - Vec3(1, 0.5, 3 * e)).norm(), 1e-14) << e;
    EXPECT_LT(world.angular_velocity("ball").norm(), 1e-13);
    EXPECT_NEAR(world.diagnostics().shock_energy, 0.5 * 2 * 9 * (1 - e * e), 1e-13);
  }
}

TEST(Shocks, ABallThatSticksForAnInstantLeavesSpinning) {
  // Tangentially the point of touch weighs 2/7 of the ball: 1 / (1/m + r^2/I) with I = 2/5 m r^2.
  for (const double e : restitutions) {
    Scene scene = without_weight();
    scene.add({.name = "ball", .mass = 2, .position = Vec3(0, 0, 0.1), .velocity = Vec3(7, 0, -3), .shape = Sphere{0.1}});
    World world(scene);
    const double lost = world.shock(world.body("ball"), Vec3::Zero(), e);
    EXPECT_LT((world.velocity("ball") - Vec3(7 - 2 * (1 + e), 0, 3 * e)).norm(), 1e-14) << e;
    EXPECT_LT((world.angular_velocity("ball") - Vec3(0, 50 * (1 + e), 0)).norm(), 1e-13) << e;
    EXPECT_NEAR(lost, (1 - e * e) / 2 * (2 * 9 + 2.0 * 2 / 7 * 49), 1e-12) << e;
  }
}

TEST(Shocks, ARodStruckAtItsEndKeepsAQuarterOfTheImpulse) {
  // A uniform rod moving sideways at v whose end is stopped: the end weighs m/4.
  const double m = 3, length = 2, v = 1.5;
  for (const double e : restitutions) {
    Scene scene = without_weight();
    const double I = m * length * length / 12;
    scene.add({.name = "rod", .mass = m, .inertia = Mat3(Vec3(1e-3, I, I).asDiagonal()), .velocity = Vec3(0, v, 0)});
    World world(scene);
    const BodyId rod = world.body("rod");
    world.shock(rod, Vec3(length / 2, 0, 0), e, Vec3::UnitY());
    EXPECT_LT((world.velocity(rod) - Vec3(0, v * (1 - (1 + e) / 4), 0)).norm(), 1e-14) << e;
    EXPECT_LT((world.angular_velocity(rod) - Vec3(0, 0, -1.5 * (1 + e) * v / length)).norm(), 1e-14) << e;
  }
}

TEST(Shocks, ADoublePendulumAnswersAsItsTwoAnglesSay) {
  // In the scene's pose the upper bar points along x and the lower one up. With w1 and w2 about y, v = w x r gives
  //   elbow (0, 0, -l w1), middle of the lower bar elbow + (l/2 w2, 0, 0), tip elbow + (l w2, 0, 0).
  for (const double e : restitutions)
    for (const Vec3& direction : {Vec3(1, 0, 0), Vec3(0, 0, 1), Vec3(0.6, 0, -0.8)}) {
      World world(scenes::double_pendulum());
      const BodyId upper = world.body("upper"), lower = world.body("lower");
      const double l = 0.6, m = world.mass(lower);
      const Quat q = world.orientation(lower);
      const double I = (q.conjugate() * Vec3::UnitY()).dot(world.inertia(lower) * (q.conjugate() * Vec3::UnitY()));
      Eigen::Matrix2d M;
      M << I + m * l * l / 4 + m * l * l, 0, 0, I + m * l * l / 4;
      const Eigen::Vector2d w(1.3, -2.1);
      const Eigen::RowVector2d J(-l * direction.z(), l * direction.x());
      const Eigen::Vector2d D = -(J * w).value() / (J * M.inverse() * J.transpose()).value() * (M.inverse() * J.transpose());
      const Eigen::Vector2d after = w + (1 + e) * D;

      const Vec3 elbow(0, 0, -l * w[0]);
      world.set_velocity(upper, 0.5 * elbow, Vec3(0, w[0], 0));
      world.set_velocity(lower, elbow + Vec3(l / 2 * w[1], 0, 0), Vec3(0, w[1], 0));
      ASSERT_LT(world.diagnostics().joint_error.velocity, 1e-14);
      const double lost = world.shock(lower, Vec3(l, 0, l), e, direction);
      EXPECT_LT((world.angular_velocity(upper) - Vec3(0, after[0], 0)).norm(), 1e-12);
      EXPECT_LT((world.angular_velocity(lower) - Vec3(0, after[1], 0)).norm(), 1e-12);
      EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-13);
      EXPECT_NEAR(lost, (1 - e * e) / 2 * D.dot(M * D), 1e-13);
    }
}

TEST(Shocks, TheMannequinsBooksBalance) {
  for (const double e : restitutions)
    for (const Vec3& direction : {Vec3(0, 0, 0), Vec3(0.6, 0, 0.8)})
      for (const char* name : {"left_hand", "pelvis", "right_foot"}) {
        World world(scenes::mannequin());
        for (int i = 0; i < 50; ++i) world.step();
        const BodyId struck = world.body(name);
        const Vec3 at = world.center_of_mass(struck) + Vec3(0.03, -0.01, 0.02);
        const std::vector<BodyId> bodies = world.bodies();
        const Diagnostics before = world.diagnostics();
        const Vec3 incoming = point_velocity(world, struck, at);
        std::vector<Vec3> D, D_omega;
        for (const BodyId body : bodies) {
          D.push_back(-world.velocity(body));
          D_omega.push_back(-world.angular_velocity(body));
        }
        const double lost = world.shock(struck, at, e, direction);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
          D[i] = (D[i] + world.velocity(bodies[i])) / (1 + e);
          D_omega[i] = (D_omega[i] + world.angular_velocity(bodies[i])) / (1 + e);
        }
        const Diagnostics after = world.diagnostics();
        const Vec3 outgoing = point_velocity(world, struck, at);
        const Vec3 impulse = after.linear_momentum - before.linear_momentum;

        EXPECT_LT(after.joint_error.velocity, 1e-14);
        if (direction.isZero()) {
          EXPECT_LT((outgoing + e * incoming).norm(), 1e-14);
        } else {
          EXPECT_NEAR(direction.dot(outgoing), -e * direction.dot(incoming), 1e-14);
          EXPECT_LT(impulse.cross(direction).norm(), 1e-13);  // without friction
        }
        EXPECT_GT(impulse.norm(), 1e-3);
        EXPECT_LT((after.angular_momentum - before.angular_momentum - at.cross(impulse)).norm(), 1e-13);
        EXPECT_NEAR(lost, (1 - e * e) / 2 * twice_kinetic(world, D, D_omega), 1e-14);
        EXPECT_NEAR(before.energy() - after.energy(), lost, 1e-14);
        EXPECT_NEAR(after.shock_energy, lost, 1e-14);
        EXPECT_GE(lost, -1e-15);
        if (e < 1) {
          EXPECT_GT(lost, 0);
        }
      }
}

TEST(Shocks, TheBouncingMannequinLosesWhatEachBounceTakes) {
  const Scene scene = scenes::mannequin_bounce();
  World world(scene);
  const Diagnostics start = world.diagnostics();
  int bounces = 0;
  double taken = 0, worst_balance = 0, worst_joint = 0;
  const int steps = int(std::lround(scene.recipe.duration / scene.recipe.dt));
  for (int i = 0; i < steps; ++i) {
    const double before = world.diagnostics().energy();
    const bool bounced = world.step().shocks > 0;
    const Diagnostics now = world.diagnostics();
    if (bounced) {
      ++bounces;
      EXPECT_GT(now.shock_energy, taken) << "at " << now.time;
      EXPECT_LT(now.energy(), before) << "at " << now.time;
    } else {
      EXPECT_EQ(now.shock_energy, taken) << "at " << now.time;
    }
    taken = now.shock_energy;
    worst_balance = std::max(worst_balance, std::abs(now.energy() + taken - start.energy()));
    worst_joint = std::max({worst_joint, now.joint_error.velocity, now.joint_error.position});
  }
  EXPECT_GE(bounces, 3);
  EXPECT_LT(worst_balance, 1e-6 * start.energy());
  EXPECT_LT(worst_joint, 1e-12);
  EXPECT_GT(taken, 0.01 * start.energy());
  RecordProperty("bounces", bounces);
  RecordProperty("balance", fmt::format("{:.2e}", worst_balance / start.energy()));
}

}  // namespace
}  // namespace rotule
