// The torque of a torsion spring in closed form, against the automatic derivatives of its angle.
#include <gtest/gtest.h>

#include <random>

#include "dynamics/forces/pair_forces.h"

namespace rotule {
namespace {

TEST(Torsion, TheTorqueIsTheGradientOfTheEnergy) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  for (int round = 0; round < 200; ++round) {
    State s;
    s.p = {vector(), vector()};
    for (int i = 0; i < 2; ++i)
      s.theta.push_back(Quat(normal(random), normal(random), normal(random), normal(random)).normalized());
    s.u = VecX::NullaryExpr(12, [&](Eigen::Index) { return normal(random); });
    TorsionSpringForce spring;
    spring.a.kind = round % 3 == 0 ? ForceEnd::Kind::world : ForceEnd::Kind::body;
    spring.a.index = 0;
    spring.b.kind = ForceEnd::Kind::body;
    spring.b.index = 1;
    spring.axis = vector().normalized();
    spring.reference_a = spring.axis.cross(vector()).normalized();
    spring.reference_b = vector().normalized();
    spring.stiffness = 3;
    spring.damping = 0.7;
    const PairForce all = torsion_force(spring, s);
    const TorsionTorque torque = torsion_torque(spring, s);
    const double size = all.value.norm();
    EXPECT_NEAR(torque.energy, all.energy, 1e-12 * (1 + all.energy));
    EXPECT_LT((torque.on_a - all.value.segment<3>(3)).norm(), 1e-12 * size);
    EXPECT_LT((torque.on_a + all.value.segment<3>(9)).norm(), 1e-12 * size);
  }
}

}  // namespace
}  // namespace rotule
