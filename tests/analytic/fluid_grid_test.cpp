// The fluid alone: exact solutions with the order at which errors fall, the driven cavity of a published table, what must be
// kept.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "support/allocation_counter.h"

namespace rotule {
namespace {

using std::numbers::pi;

const std::vector<FluidWall> all_periodic{{"x_low", "periodic"},  {"x_high", "periodic"}, {"y_low", "periodic"},
                                          {"y_high", "periodic"}, {"z_low", "periodic"},  {"z_high", "periodic"}};

FluidDef periodic_box(std::array<int, 3> grid, double viscosity) {
  return {.grid = grid,
          .box = {Vec3::Zero(), Vec3(2 * pi, 2 * pi, 2 * pi)},
          .density = 1,
          .viscosity = viscosity,
          .walls = all_periodic};
}

/// The largest error of a component at places that are no grid's own.
template <class Exact>
double largest_error(const FluidGrid& fluid, const Exact& exact) {
  // Where the grid has its faces and cells, so that interpolation adds nothing: middles of cells of the coarsest grid are not.
  double worst = 0;
  const Vec3 h = fluid.spacing();
  const FluidDef& def = fluid.def();
  for (int k = 0; k < def.grid[2]; k += def.grid[2] / 8)
    for (int j = 0; j < def.grid[1]; j += std::max(1, def.grid[1] / 8))
      for (int i = 0; i < def.grid[0]; i += def.grid[0] / 8)
        for (int c = 0; c < 3; ++c) {
          if (def.grid[c] == 1) continue;
          Vec3 x = def.box[0] + h.cwiseProduct(Vec3(i + 0.5, j + 0.5, k + 0.5));
          x[c] -= h[c] / 2;
          worst = std::max(worst, std::abs(fluid.velocity(x)[c] - exact(x)[c]));
        }
  return worst;
}

/// Taylor's vortices, carried along by a mean flow: an exact solution whose advection does not vanish.
Vec3 taylor_green(const Vec3& x, double t, double nu, const Vec3& carried) {
  const double a = x.x() - carried.x() * t, b = x.z() - carried.z() * t, decay = std::exp(-2 * nu * t);
  return carried + decay * Vec3(std::sin(a) * std::cos(b), 0, -std::cos(a) * std::sin(b));
}

double taylor_green_error(int n, double h, double duration) {
  const double nu = 0.05;
  const Vec3 carried(1, 0, 0.5);
  FluidDef def = periodic_box({n, 1, n}, nu);
  def.cfl = 1.5;
  FluidGrid fluid(def);
  fluid.set_velocity([&](const Vec3& x) { return taylor_green(x, 0, nu, carried); });
  const auto steps = static_cast<int>(std::lround(duration / h));
  for (int i = 0; i < steps; ++i) EXPECT_EQ(fluid.step(h).substeps, 1);
  return largest_error(fluid, [&](const Vec3& x) { return taylor_green(x, duration, nu, carried); });
}

TEST(Fluid, TaylorGreenInTwoDimensionsIsOfOrderTwoInSpace) {
  const double coarse = taylor_green_error(16, 0.05, 1), middle = taylor_green_error(32, 0.025, 1),
               fine = taylor_green_error(64, 0.0125, 1);
  RecordProperty("errors", std::to_string(coarse) + " " + std::to_string(middle) + " " + std::to_string(fine));
  EXPECT_LT(fine, 2e-3);
  EXPECT_NEAR(std::log2(coarse / middle), 2, 0.15);
  EXPECT_NEAR(std::log2(middle / fine), 2, 0.1);
}

TEST(Fluid, TimeStepsAreOfOrderTwoAtLeast) {
  // On one grid, against a run with far shorter steps: what is left is the error of time alone.
  const auto run = [](double h) {
    FluidDef def = periodic_box({24, 1, 24}, 0.05);
    def.cfl = 1.5;
    FluidGrid fluid(def);
    fluid.set_velocity([](const Vec3& x) { return taylor_green(x, 0, 0.05, Vec3(1, 0, 0.5)); });
    for (int i = 0; i < std::lround(0.8 / h); ++i) fluid.step(h);
    return fluid;
  };
  const FluidGrid reference = run(0.00125);
  const auto error = [&](double h) {
    const FluidGrid fluid = run(h);
    return largest_error(fluid, [&](const Vec3& x) { return reference.velocity(x); });
  };
  const double coarse = error(0.08), fine = error(0.04);
  EXPECT_GT(std::log2(coarse / fine), 2.7);  // the stages are of order 3
  EXPECT_LT(fine, 1e-5);
}

TEST(Fluid, BeltramiFlowInThreeDimensionsIsOfOrderTwo) {
  // The ABC flow is its own vorticity: it decays by exp(-nu t), as it stands, in a box that it fills.
  const double nu = 0.1, duration = 0.5;
  const auto exact = [&](const Vec3& x, double t) {
    return Vec3(std::exp(-nu * t) * Vec3(std::sin(x.z()) + 0.6 * std::cos(x.y()), 0.8 * std::sin(x.x()) + std::cos(x.z()),
                                         0.6 * std::sin(x.y()) + 0.8 * std::cos(x.x())));
  };
  const auto error = [&](int n, double h) {
    FluidGrid fluid(periodic_box({n, n, n}, nu));
    fluid.set_velocity([&](const Vec3& x) { return exact(x, 0); });
    for (int i = 0; i < std::lround(duration / h); ++i) fluid.step(h);
    return largest_error(fluid, [&](const Vec3& x) { return exact(x, duration); });
  };
  const double coarse = error(8, 0.1), middle = error(16, 0.05), fine = error(32, 0.025);
  EXPECT_NEAR(std::log2(coarse / middle), 2, 0.25);
  EXPECT_NEAR(std::log2(middle / fine), 2, 0.15);
}

/// A field with all wave lengths that the grid bears, neither smooth nor symmetric.
Vec3 rough(const Vec3& x) {
  const double a = 12.9898 * x.x() + 78.233 * x.y() + 37.719 * x.z();
  return {std::sin(a), std::cos(1.7 * a + 0.3), std::sin(2.3 * a + 1.1)};
}

TEST(Fluid, AdvectionKeepsEnergyAndMomentum) {
  // Without viscosity only the error of time changes the energy, by the third power of the step over all steps.
  const auto drift = [](double h) {
    FluidGrid fluid(periodic_box({16, 16, 16}, 0));
    fluid.set_velocity(rough);
    const FluidLedger start = fluid.ledger();
    for (int i = 0; i < std::lround(0.2 / h); ++i) {
      fluid.step(h);
      EXPECT_LT(fluid.report().divergence, 1e-11);
    }
    EXPECT_LT((fluid.ledger().momentum - start.momentum).norm(), 1e-11 * std::sqrt(start.kinetic_energy * 248));
    return std::abs(fluid.ledger().kinetic_energy / start.kinetic_energy - 1);
  };
  const double coarse = drift(0.02), fine = drift(0.01);
  EXPECT_LT(coarse, 2e-3);
  EXPECT_GT(coarse / fine, 6.5);
}

TEST(Fluid, ViscosityTakesOutWhatTheLedgerSays) {
  FluidGrid fluid(periodic_box({16, 16, 16}, 0.1));
  fluid.set_velocity(rough);
  const double h = 1e-4;
  const FluidLedger before = fluid.ledger();
  fluid.step(h);
  const FluidLedger after = fluid.ledger();
  const double lost = (before.kinetic_energy - after.kinetic_energy) / h;
  EXPECT_NEAR(lost, 0.5 * (before.dissipation + after.dissipation), 2e-4 * lost);
}

FluidDef cavity(int n, double reynolds) {
  return {.grid = {n, 1, n},
          .box = {Vec3::Zero(), Vec3(1, 1, 1)},
          .density = 1,
          .viscosity = 1 / reynolds,
          .walls = {{"z_high", "no_slip", Vec3(1, 0, 0)}}};
}

// U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48 (1982), tables I and II.
constexpr std::array heights{0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5,
                             0.4531, 0.2813, 0.1719, 0.1016, 0.0703, 0.0625, 0.0547};
constexpr std::array widths{0.9688, 0.9609, 0.9531, 0.9453, 0.9063, 0.8594, 0.8047, 0.5,
                            0.2344, 0.2266, 0.1563, 0.0938, 0.0781, 0.0703, 0.0625};
struct GhiaColumn {
  double reynolds;
  std::array<double, 15> u, v;
};
constexpr GhiaColumn ghia_100{100,
                              {0.84123, 0.78871, 0.73722, 0.68717, 0.23151, 0.00332, -0.13641, -0.20581, -0.21090, -0.15662,
                               -0.10150, -0.06434, -0.04775, -0.04192, -0.03717},
                              {-0.05906, -0.07391, -0.08864, -0.10313, -0.16914, -0.22445, -0.24533, 0.05454, 0.17527, 0.17507,
                               0.16077, 0.12317, 0.10890, 0.10091, 0.09233}};
constexpr GhiaColumn ghia_400{400,
                              {0.75837, 0.68439, 0.61756, 0.55892, 0.29093, 0.16256, 0.02135, -0.11477, -0.17119, -0.32726,
                               -0.24299, -0.14612, -0.10338, -0.09266, -0.08186},
                              {-0.12146, -0.15663, -0.19254, -0.22847, -0.23827, -0.44993, -0.38598, 0.05186, 0.30174, 0.30203,
                               0.28124, 0.22965, 0.20920, 0.19713, 0.18360}};

/// The largest difference from the table, over the lid's speed. The entry v(0.9063) at Re 400 is out of line with its neighbours
/// by a third of the lid's speed, and left out.
double cavity_error(int n, double duration, const GhiaColumn& table) {
  FluidGrid fluid(cavity(n, table.reynolds));
  for (double t = 0; t < duration; t += 0.1) fluid.step(0.1);
  double worst = 0;
  for (std::size_t k = 0; k < heights.size(); ++k) {
    worst = std::max(worst, std::abs(fluid.velocity({0.5, 0.5, heights[k]}).x() - table.u[k]));
    if (table.reynolds == 400 && widths[k] == 0.9063) continue;
    worst = std::max(worst, std::abs(fluid.velocity({widths[k], 0.5, 0.5}).z() - table.v[k]));
  }
  return worst;
}

TEST(Fluid, DrivenCavityMeetsThePublishedTable) {
  EXPECT_LT(cavity_error(40, 14, ghia_100), 0.01);
  EXPECT_LT(cavity_error(64, 32, ghia_400), 0.02);
}

TEST(Fluid, DrivenCavityIsOfOrderTwo) {
  // In the middle at Re 100, of grids of 16, 32 and 64 cells; where they lead to is -0.2091491 (C. H. Marchi, R. Suero and
  // L. K. Araki, J. Braz. Soc. Mech. Sci. Eng. 31, 2009). The corners of the lid, where the velocity jumps, cost some of the
  // order.
  std::array<double, 3> u{};
  for (int k = 0; k < 3; ++k) {
    FluidGrid fluid(cavity(16 << k, 100));
    fluid.step(20);
    u[k] = fluid.velocity({0.5, 0.5, 0.5}).x();
  }
  EXPECT_GT((u[0] - u[1]) / (u[1] - u[2]), 3.4);
  EXPECT_NEAR(u[2] + (u[2] - u[1]) / 3, -0.2091491, 1e-4);
}

TEST(Fluid, PlugFlowBecomesAParabola) {
  // Between plates, far from the inlet: u = 6 s (1 - s) U, and dp/dx = -12 mu U / H^2; what comes in goes out.
  const double mu = 0.1;
  FluidGrid fluid({.grid = {96, 1, 24},
                   .box = {Vec3::Zero(), Vec3(4, 1, 1)},
                   .density = 1,
                   .viscosity = mu,
                   .velocity = Vec3(1, 0, 0),
                   .walls = {{"x_low", "inflow", Vec3(1, 0, 0)}, {"x_high", "outflow"}}});
  for (int i = 0; i < 60; ++i) fluid.step(0.05);
  for (const double s : {0.1, 0.3, 0.5, 0.8}) EXPECT_NEAR(fluid.velocity({3, 0.5, s}).x(), 6 * s * (1 - s), 0.01) << s;
  const double gradient = (fluid.pressure({3.2, 0.5, 0.5}) - fluid.pressure({2.8, 0.5, 0.5})) / 0.4;
  EXPECT_NEAR(gradient, -12 * mu, 0.01 * 12 * mu);
  double out = 0;
  for (int k = 0; k < 24; ++k) out += fluid.velocity({4, 0.5, (k + 0.5) / 24}).x() / 24;
  EXPECT_NEAR(out, 1, 1e-12);
}

TEST(Fluid, AUniformStreamStaysAsItIs) {
  // Free-slip sides: nothing in the box disturbs it, along any axis.
  for (const int axis : {0, 2}) {
    const std::string along = axis == 0 ? "x" : "z", across = axis == 0 ? "z" : "x";
    const Vec3 stream = Vec3::Unit(axis) * -0.7;
    FluidGrid fluid({.grid = {16, 1, 12},
                     .box = {Vec3(-1, 0, 0), Vec3(1, 1, 2)},
                     .viscosity = 0.01,
                     .velocity = stream,
                     .walls = {{along + "_high", "inflow", stream},
                               {along + "_low", "outflow"},
                               {across + "_low", "free_slip"},
                               {across + "_high", "free_slip"}}});
    for (int i = 0; i < 20; ++i) fluid.step(0.05);
    EXPECT_LT((fluid.velocity({0.3, 0.5, 0.7}) - stream).norm(), 1e-13);
    EXPECT_LT(std::abs(fluid.pressure({0.3, 0.5, 0.7})), 1e-9);
  }
}

TEST(Fluid, LongStepsAreMadeOfSubsteps) {
  FluidGrid fluid(cavity(16, 100));
  EXPECT_GT(fluid.step(0.5).substeps, 5);
  EXPECT_LE(fluid.report().cfl, 1 + 1e-12);
  EXPECT_TRUE(fluid.velocity({0.5, 0.5, 0.5}).allFinite());
}

TEST(Fluid, TheSameBitsOnAnyNumberOfThreads) {
  const auto run = [](int threads) {
    FluidDef def = periodic_box({24, 20, 16}, 0.01);
    def.walls = {{"x_low", "inflow", Vec3(1, 0, 0)}, {"x_high", "outflow"}, {"z_low", "periodic"}, {"z_high", "periodic"}};
    FluidGrid fluid(def, threads);
    fluid.set_velocity(rough);
    for (int i = 0; i < 3; ++i) fluid.step(0.02);
    return fluid.slice(1, 1.0);
  };
  const FluidSlice alone = run(1);
  for (const int threads : {2, 5}) {
    const FluidSlice together = run(threads);
    EXPECT_EQ(alone.pressure, together.pressure);
    EXPECT_EQ(alone.vorticity, together.vorticity);
  }
}

TEST(Fluid, StepsAllocateNothing) {
  if (!testing::counts_allocations()) GTEST_SKIP();
  FluidGrid fluid(cavity(32, 100));
  fluid.step(0.05);
  const std::size_t before = testing::allocations();
  fluid.step(0.05);
  EXPECT_EQ(testing::allocations(), before);
}

TEST(Fluid, ASliceKnowsItsVorticity) {
  // Rigid rotation about y: u = omega x r has vorticity 2 omega everywhere.
  FluidDef def = periodic_box({32, 32, 32}, 0);
  FluidGrid fluid(def);
  fluid.set_velocity([](const Vec3& x) { return Vec3(std::sin(x.z()), 0, -std::sin(x.x())); });
  const FluidSlice slice = fluid.slice(1, pi);
  ASSERT_EQ(slice.columns, 32);
  for (int row = 4; row < 28; row += 5)
    for (int column = 4; column < 28; column += 5) {
      const double x = slice.origin.x() + column * slice.spacing[0], z = slice.origin.z() + row * slice.spacing[1];
      EXPECT_NEAR(slice.vorticity[static_cast<std::size_t>(row * 32 + column)], std::cos(z) + std::cos(x), 0.03);
    }
}

std::string refusal(const FluidDef& def) {
  try {
    FluidGrid fluid(def);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Fluid, DescriptionsThatMakeNoSenseAreRefusedByName) {
  const FluidDef good = cavity(16, 100);
  EXPECT_EQ(refusal(good), "");
  FluidDef def = good;
  def.grid = {16, 1, 1};
  EXPECT_NE(refusal(def).find("fluid/grid"), std::string::npos);
  def = good;
  def.box = {Vec3(0, 0, 0), Vec3(1, 0, 1)};
  EXPECT_NE(refusal(def).find("along y"), std::string::npos);
  def = good;
  def.walls = {{"x_low", "inflow", Vec3(1, 0, 0)}};
  EXPECT_NE(refusal(def).find("must flow out"), std::string::npos);
  def.walls = {{"x_low", "inflow", Vec3(-1, 0, 0)}, {"x_high", "outflow"}};
  EXPECT_NE(refusal(def).find("must point into the box"), std::string::npos);
  def.walls = {{"x_lower", "outflow"}};
  EXPECT_NE(refusal(def).find("did you mean \"x_low\""), std::string::npos);
  def.walls = {{"x_low", "periodic"}};
  EXPECT_NE(refusal(def).find("x_high must be"), std::string::npos);
  def.walls = {{"x_low", "no_slip", Vec3(1, 0, 0)}};
  EXPECT_NE(refusal(def).find("must be along the wall"), std::string::npos);
  def.walls = {{"x_low", "free_slip", Vec3(0, 0, 1)}};
  EXPECT_NE(refusal(def).find("has no say"), std::string::npos);
  def = good;
  def.viscosity = -1;
  EXPECT_NE(refusal(def).find("viscosity"), std::string::npos);
}

}  // namespace
}  // namespace rotule
