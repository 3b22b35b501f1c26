// Tops: Euler's equations and the heavy top, against their closed forms.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
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

TEST(Gyroscope, PrecessesRegularlyAtTheRateOfTheory) {
  // Axle and disk as two solid cylinders; moments about the tip.
  const double rho = 7850, tilt = pi / 3, w3 = 150;
  const double axle = rho * pi * 0.005 * 0.005 * 0.2, disk = rho * pi * 0.08 * 0.08 * 0.02;
  const double I3 = axle * 0.005 * 0.005 / 2 + disk * 0.08 * 0.08 / 2;
  const double I1 = axle * (0.005 * 0.005 / 4 + 0.2 * 0.2 / 3) + disk * (0.08 * 0.08 / 4 + 0.02 * 0.02 / 12 + 0.2 * 0.2);
  const double weight_moment = g * (axle * 0.1 + disk * 0.2);
  const double a = I1 * std::cos(tilt);
  const double rate = (I3 * w3 - std::sqrt(I3 * I3 * w3 * w3 - 4 * a * weight_moment)) / (2 * a);

  World world(scenes::gyroscope());
  const Vec3 axis = world.orientation("top") * Vec3::UnitZ();
  double nutation = 0;
  const double time = 1;
  run_for(world, time,
          [&] { nutation = std::max(nutation, std::abs((world.orientation("top") * Vec3::UnitZ()).z() - std::cos(tilt))); });
  EXPECT_LT(nutation, 1e-7);  // regular: the tilt does not change
  const Vec3 expected = Eigen::AngleAxisd(rate * time, Vec3::UnitZ()) * axis;
  EXPECT_LT((world.orientation("top") * Vec3::UnitZ() - expected).norm(), 1e-6);
  EXPECT_NEAR((world.orientation("top") * Vec3::UnitZ()).dot(world.angular_velocity("top")), w3, 1e-6);
}

TEST(Dzhanibekov, FlipsWithThePeriodOfJacobisFunctions) {
  // Near the unstable axis the period hangs on the last digits of the energy: a fine step.
  Scene scene = scenes::dzhanibekov();
  scene.recipe.dt = 2e-4;
  World world(scene);
  const BodyId handle = world.body("handle");
  // Principal moments A < B < C; from energy and angular momentum follow the rate and modulus of Jacobi's functions
  // (Landau and Lifshitz, Mechanics, section 37, for L^2 > 2 E B; otherwise A and C change places).
  const Mat3 I = world.inertia(handle);
  EXPECT_LT(I(1, 1), I(0, 0));
  EXPECT_LT(I(0, 0), I(2, 2));
  double A = I(1, 1), C = I(2, 2);
  const double B = I(0, 0);
  const Vec3 w = world.orientation(handle).conjugate() * world.angular_velocity(handle);
  const double E2 = w.dot(I * w), L2 = (I * w).squaredNorm();
  if (L2 < E2 * B) std::swap(A, C);
  const double rate = std::sqrt((C - B) * (L2 - E2 * A) / (A * B * C));
  const double k = std::sqrt((B - A) * (E2 * C - L2) / ((C - B) * (L2 - E2 * A)));
  const double period = 4 * elliptic_K(k) / rate;

  // The spin about the middle axis goes through zero upwards once a period.
  const auto spin = [&] { return (world.orientation(handle).conjugate() * world.angular_velocity(handle)).x(); };
  const double first = run_to_crossing(world, spin);
  const double second = run_to_crossing(world, spin);
  EXPECT_NEAR(second - first, period, 1e-6);
  EXPECT_LT(period, scene.recipe.duration);
}

TEST(Dzhanibekov, DefaultTolerancesFollowTheFlips) {
  // Each flip amplifies errors: what is left after 10 s (two flips) is to be a thousandth of the spin at most.
  for (const char* method : {"dormand_prince_8", "dormand_prince", "radau5"}) {
    Scene scene = scenes::dzhanibekov();
    set(scene.recipe, "integrator", method);
    World world(scene, scene.recipe);
    const BodyId handle = world.body("handle");
    const Mat3 I = world.inertia(handle);
    double A = I(1, 1), C = I(2, 2);
    const double B = I(0, 0);
    const Vec3 w = world.orientation(handle).conjugate() * world.angular_velocity(handle);
    const double E2 = w.dot(I * w), L2 = (I * w).squaredNorm();
    if (L2 < E2 * B) std::swap(A, C);
    const double rate = std::sqrt((C - B) * (L2 - E2 * A) / (A * B * C));
    const double k = std::sqrt((B - A) * (E2 * C - L2) / ((C - B) * (L2 - E2 * A)));
    world.step(10);
    // Its spin begins with nothing along the third axis: at the largest of sn, a quarter of a period on.
    const double start = elliptic_K(k);
    const Vec3 found = world.orientation(handle).conjugate() * world.angular_velocity(handle);
    EXPECT_NEAR(found.x(), w.x() * jacobi(rate * 10 + start, k).sn, method == std::string("dormand_prince_8") ? 0.01 : 0.2)
        << method;
  }
}

TEST(FreeTop, ASymmetricTopPrecessesAtLOverI1) {
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "top", .density = 1000.0, .angular_velocity = Vec3(1, 0, 20), .shape = Cylinder{0.3, 0.1}});
  scene.recipe.dt = 1e-4;
  World world(scene);
  const BodyId top = world.body("top");
  const Mat3 I = world.inertia(top);
  const Vec3 L = I * Vec3(1, 0, 20);
  const double time = 0.5;
  run_for(world, time);
  const Vec3 expected = Eigen::AngleAxisd(L.norm() / I(0, 0) * time, L.normalized()) * Vec3::UnitZ();
  EXPECT_LT((world.orientation(top) * Vec3::UnitZ() - expected).norm(), 1e-8);
  EXPECT_LT((world.diagnostics().angular_momentum - L).norm(), 1e-9 * L.norm());
}

}  // namespace
}  // namespace rotule
