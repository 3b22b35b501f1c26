// Pendulums against their textbook answers.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "support/constants.h"
#include "support/elliptic.h"
#include "support/runs.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

TEST(Pendulum, PeriodIsTheEllipticIntegral) {
  // Bar of length L and radius r about its end: I = m (L^2/3 + r^2/4), lever L/2, let go at 90 degrees: T = 4 sqrt(I/(m g L/2))
  // K(sin 45).
  const double inertia = 1.0 / 3 + 0.02 * 0.02 / 4;
  const double period = 4 * std::sqrt(inertia / (g * 0.5)) * elliptic_K(std::sin(std::numbers::pi / 4));
  World world(scenes::pendulum());
  // At the far side and back again the bar is at rest; the first half swing ends where its turn rate goes from one sign to the
  // other.
  const double quarter = run_to_crossing(world, [&] { return -world.position("bar").x(); });
  EXPECT_NEAR(quarter, period / 4, 1e-8);
  const double three_quarters = run_to_crossing(world, [&] { return world.position("bar").x(); });
  EXPECT_NEAR(three_quarters, 3 * period / 4, 1e-8);
}

TEST(Pendulum, HingeCarriesWeightAndCentrifugalForceAtTheBottom) {
  World world(scenes::pendulum());
  run_to_crossing(world, [&] { return -world.position("bar").x(); });
  const double m = world.mass(world.body("bar")), v = world.velocity("bar").norm();
  // Energy: m g L/2 = I w^2 / 2 about the pivot.
  const double inertia = 1.0 / 3 + 0.02 * 0.02 / 4, w = std::sqrt(g / inertia);
  EXPECT_NEAR(v, w * 0.5, 1e-8);
  World bottom(scenes::pendulum());
  bottom.load(world.save());
  bottom.step(1e-9);  // one step from there: its first stage is at the bottom
  const JointForce force = bottom.joint_force("pivot");
  EXPECT_NEAR(force.force.z(), m * (g + w * w * 0.5), 1e-4 * m * g);
  EXPECT_NEAR(force.force.x(), 0, 1e-4 * m * g);
  EXPECT_NEAR(force.force.y(), 0, 1e-9);
  EXPECT_TRUE(force.unique);
}

TEST(DoublePendulum, KeepsItsEnergyWhileItTumbles) {
  World world(scenes::double_pendulum());
  const double energy = world.diagnostics().energy();
  double swung = 0;
  run_for(world, 5, [&] { swung = std::max(swung, world.diagnostics().kinetic_energy); });
  EXPECT_GT(swung, 1);
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-6);
}

TEST(NewtonCradleJoints, SwingsAsOnePendulum) {
  // All five angles stay equal, so the row has the period of a single ball on its stem.
  const double rho = 7850, R = 0.05, L = 0.5, r = 0.002, stem = L - R;
  const double ball_mass = rho * 4 / 3 * pi * R * R * R, stem_mass = rho * pi * r * r * stem;
  const double inertia = ball_mass * (0.4 * R * R + L * L) + stem_mass * (stem * stem / 3 + r * r / 4);
  const double moment = ball_mass * L + stem_mass * stem / 2;
  const double period = 4 * std::sqrt(inertia / (g * moment)) * elliptic_K(std::sin(pi / 12));
  World world(scenes::newton_cradle_joints());
  const auto x = [&](const char* ball, double pivot) { return world.position(ball).x() - pivot; };
  const double start = x("ball_3", 0);
  const double quarter = run_to_crossing(world, [&] { return (start > 0 ? -1 : 1) * x("ball_3", 0); });
  EXPECT_NEAR(quarter, period / 4, 1e-8);
  EXPECT_NEAR(x("ball_1", -0.2), x("ball_5", 0.2), 1e-10);
}

TEST(RodPendulum, KeepsEnergyAndTheMomentAboutTheVertical) {
  World world(scenes::rod_pendulum());
  const Diagnostics start = world.diagnostics();
  run_for(world, 3);
  const Diagnostics end = world.diagnostics();
  EXPECT_NEAR(end.energy(), start.energy(), 1e-9);
  EXPECT_NEAR(end.angular_momentum.z(), start.angular_momentum.z(), 1e-9);
  EXPECT_NEAR(world.position("ball").norm(), 1, 1e-12);
}

}  // namespace
}  // namespace rotule
