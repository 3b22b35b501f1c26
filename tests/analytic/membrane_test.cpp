// A membrane of elastic triangles in the wind.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/scene.h>
#include <rotule/world.h>

#include <cmath>
#include <string>

namespace rotule {
namespace {

TEST(Membranes, ASheetBetweenTwoEdgesBillowsAsAParabola) {
  // Flat against the wind q = C rho U^2 / 2, without contraction across: tension T = q L^2/(8 w) is E h times the strain 8/3
  // (w/L)^2, so that w^3 = 3 q L^4/(64 E h).
  constexpr double L = 2, E = 1e9, h = 5e-4, U = 6, C = 1.2, rho = 1.2;
  const double q = 0.5 * C * rho * U * U, w = std::cbrt(3 * q * std::pow(L, 4) / (64 * E * h));
  ASSERT_LT(w / L, 0.02);
  constexpr int columns = 33;
  Scene scene;
  scene.gravity.setZero();
  scene.add(ElasticSheet{.name = "sail",
                         .along_x = {L, 0, 0},
                         .along_y = {0, 0.2, 0},
                         .columns = columns,
                         .rows = 3,
                         .thickness = h,
                         .material = {.youngs_modulus = E, .poisson_ratio = 0, .density = 1000},
                         .pinned = {"x0", "x1"}});
  scene.add(FlowDef(UniformFlow{.velocity = {0, 0, U}}));
  scene.add(Air{.on = {"sail"}, .density = rho, .across = C, .along = 0});
  World world(scene, recipes::exact());
  const RelaxationReport report = relax(world, {.force_tolerance = 1e-7, .linear_tolerance = 1e-5, .max_iterations = 8000});
  EXPECT_TRUE(report.reached) << report.force;
  for (int k = 0; k < columns; ++k) {
    const Vec3 p = world.particle_position(columns + k);
    const double s = p.x() / L;
    EXPECT_NEAR(p.z(), 4 * w * s * (1 - s), 0.01 * w) << k;
  }
}

}  // namespace
}  // namespace rotule
