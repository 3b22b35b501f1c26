// The rotation group: exponential, logarithm and the rate of the logarithm, against each other and against matrices.
#include "math/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace rotule {
namespace {

class Rotation : public ::testing::Test {
 protected:
  Vec3 direction() { return Vec3(normal_(random_), normal_(random_), normal_(random_)).normalized(); }
  std::mt19937 random_{3};
  std::normal_distribution<double> normal_;
};

/// exp of a skew matrix by its power series, halved ten times and squared back.
Mat3 matrix_exponential(const Vec3& sigma) {
  const Mat3 S = skew(sigma) / 1024;
  Mat3 sum = Mat3::Identity(), term = Mat3::Identity();
  for (int k = 1; k < 12; ++k) sum += term = term * S / k;
  for (int k = 0; k < 10; ++k) sum = sum * sum;
  return sum;
}

TEST_F(Rotation, ExponentialIsTheMatrixExponential) {
  for (const double angle : {0.0, 1e-12, 1e-5, 0.0099, 0.0101, 0.3, 1.0, 3.0, 5.0}) {
    const Vec3 sigma = angle * direction();
    const Quat q = exp_rotation(sigma);
    EXPECT_NEAR(q.norm(), 1, 4e-16) << angle;
    EXPECT_LT((q.toRotationMatrix() - matrix_exponential(sigma)).norm(), 2e-13) << angle;
  }
}

TEST_F(Rotation, DirectionsThatAreNearlyOppositeAreMetToo) {
  for (double off = 1e-16; off < 1; off *= 3)
    for (const Vec3& a : {Vec3(0, 0, 1), direction(), direction()}) {
      const Vec3 b = (-a + off * direction()).normalized();
      const Quat q = rotation_between(a, b);
      EXPECT_NEAR(q.norm(), 1, 1e-12) << off;
      EXPECT_LT((q * a - b).norm(), 1e-12) << off;
    }
}

TEST_F(Rotation, LogarithmUndoesTheExponential) {
  for (const double angle : {1e-15, 1e-9, 0.9999e-8, 2.0001e-8, 1e-4, 0.01, 0.5, 2.0, 3.1415}) {
    const Vec3 sigma = angle * direction();
    EXPECT_LT((log_rotation(exp_rotation(sigma)) - sigma).norm(), 1e-15 + 4e-15 * angle) << angle;
    const Quat q = exp_rotation(sigma), minus(-q.w(), -q.x(), -q.y(), -q.z());
    EXPECT_LT((log_rotation(minus) - sigma).norm(), 1e-15 + 4e-15 * angle) << "q and -q are one rotation";
  }
  // Beyond half a turn the short way round is taken.
  const Vec3 axis = direction();
  EXPECT_LT((log_rotation(exp_rotation(4 * axis)) - (4 - 2 * std::numbers::pi) * axis).norm(), 1e-14);
}

TEST_F(Rotation, SeriesMeetTheClosedForms) {
  // On both sides of every switch-over the values are those of long double arithmetic.
  const Vec3 axis = direction(), omega = 3 * direction();
  for (const double at : {0.01, 0.1})
    for (const double angle : {at * (1 - 1e-9), at * (1 + 1e-9)}) {
      const long double a = angle;
      const Quat q = exp_rotation(angle * axis);
      EXPECT_NEAR(q.w(), static_cast<double>(std::cos(a / 2)), 2.3e-16) << angle;
      EXPECT_NEAR(q.vec().dot(axis), static_cast<double>(std::sin(a / 2)), 2.3e-16 * angle) << angle;
      const long double c = (1 - a / 2 / std::tan(a / 2)) / (a * a);
      const Vec3 s = angle * axis.cross(omega);
      const Vec3 expected = omega - 0.5 * s + static_cast<double>(c) * angle * axis.cross(s);
      EXPECT_LT((dexp_inverse(angle * axis, omega) - expected).norm(), 2e-15) << angle;
    }
}

TEST_F(Rotation, DexpInverseIsTheRateOfTheLogarithm) {
  // q(t) = exp(t omega) exp(sigma): its logarithm's derivative at t = 0, by fourth-order differences.
  for (const double angle : {0.0, 1e-6, 0.05, 0.0999, 0.1001, 0.7, 2.0, 3.0}) {
    const Vec3 sigma = angle * direction(), omega = direction();
    const auto log_at = [&](double t) { return log_rotation(exp_rotation(t * omega) * exp_rotation(sigma)); };
    const double h = 1e-3;
    const Vec3 rate = (8 * (log_at(h) - log_at(-h)) - (log_at(2 * h) - log_at(-2 * h))) / (12 * h);
    EXPECT_LT((rate - dexp_inverse(sigma, omega)).norm(), 1e-10) << angle;
  }
}

TEST_F(Rotation, DexpInverseLeavesTurnsAboutItsAxisAlone) {
  const Vec3 sigma = 1.3 * direction();
  EXPECT_LT((dexp_inverse(sigma, 2 * sigma) - 2 * sigma).norm(), 1e-15);
  EXPECT_EQ(dexp_inverse(Vec3::Zero(), sigma), sigma);
}

TEST_F(Rotation, TurningStaysUnitAndComposes) {
  Quat q = Quat::Identity();
  const Vec3 step = 0.01 * direction();
  for (int i = 0; i < 100000; ++i) q = turn(q, step);
  EXPECT_NEAR(q.norm(), 1, 3e-16);
  const Quat expected = exp_rotation(std::fmod(1000.0, 2 * std::numbers::pi) * step.normalized());
  EXPECT_NEAR(std::abs(q.dot(expected)), 1, 1e-12);
}

TEST_F(Rotation, SkewIsTheCrossProduct) {
  const Vec3 a = direction(), b = direction();
  EXPECT_LT((skew(a) * b - a.cross(b)).norm(), 1e-16);
}

}  // namespace
}  // namespace rotule
