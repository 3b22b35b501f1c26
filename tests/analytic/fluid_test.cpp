// Bodies in moving fluid against closed forms: streams, terminal speeds, buoyancy, added mass, waves; derivatives against
// differences; the books of energy.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "dynamics/forces/force_set.h"
#include "support/allocation_counter.h"
#include "support/constants.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

Recipe fluid_recipe(const char* integrator, double dt) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  set(recipe, "integrator", integrator);
  return recipe;
}

void run_in_fluid(World& world, double seconds) {
  const auto steps = std::lround(seconds / world.recipe().dt);
  for (long i = 0; i < steps; ++i) world.step();
}

/// A bob on a rod, with drag c |w| w in a stream of speed U along x.
Scene pendulum_in_stream(double U, double c, double length) {
  Scene scene;
  scene.add({.name = "bob", .mass = 2.0, .position = {0, 0, -length}});
  scene.add(Rod{.between = {"world", "bob"}, .from = Vec3(0, 0, 0)});
  scene.add(FlowDef(UniformFlow{.velocity = {U, 0, 0}}));
  scene.add(Drag{.quadratic = c});
  return scene;
}

TEST(Fluid, APendulumInAStreamStandsWhereDragAndWeightBalance) {
  // tan theta = c U^2 / (m g); about it, phi'' = -2 zeta omega phi' - omega^2 phi with the pull T = sqrt((m g)^2 + (c U^2)^2):
  // omega^2 = T / (m l), and along the motion drag changes by c U (1 + cos^2 theta) per speed.
  constexpr double U = 6, c = 0.25, length = 1.5, m = 2;
  Scene scene = pendulum_in_stream(U, c, length);
  const double theta = std::atan2(c * U * U, m * g);
  scene.bodies[0].position = length * Vec3(std::sin(theta), 0, -std::cos(theta));
  World world(scene, fluid_recipe("rk4", 1e-3));
  const Linearisation l = linearise(world);
  EXPECT_LT(l.unbalance, 1e-12);
  run_in_fluid(world, 1);
  EXPECT_NEAR(std::atan2(world.position("bob").x(), -world.position("bob").z()), theta, 1e-9);

  const double omega_squared = std::hypot(m * g, c * U * U) / (m * length);
  const double decay = c * U * (1 + std::cos(theta) * std::cos(theta)) / (2 * m);
  double nearest = infinity;
  for (const auto& lambda : eigenvalues(l))
    nearest = std::min(nearest, std::abs(lambda - std::complex(-decay, std::sqrt(omega_squared - decay * decay))));
  EXPECT_LT(nearest, 1e-9);

  // A small swing decays so.
  const double small = 1e-4, now = theta + small;
  scene.bodies[0].position = length * Vec3(std::sin(now), 0, -std::cos(now));
  World swinging(scene, fluid_recipe("rk4", 1e-3));
  run_in_fluid(swinging, 1);
  const double damped = std::sqrt(omega_squared - decay * decay);
  const double wanted = small * std::exp(-decay) * (std::cos(damped) + decay / damped * std::sin(damped));
  const double found = std::atan2(swinging.position("bob").x(), -swinging.position("bob").z()) - theta;
  EXPECT_NEAR(found / small, wanted / small, 1e-3);  // of order `small` by what is not linear
}

TEST(Fluid, ASinkingBallComesToItsTerminalSpeed) {
  // (m + m_a) v' = (m - rho V) g - c v^2: v = v_t tanh(t / tau).
  constexpr double rho = 1000, radius = 0.05, m = 1, drag = 0.47;
  const double V = 4 * pi / 3 * radius * radius * radius, c = 0.5 * rho * drag * pi * radius * radius, added = 0.5 * rho * V;
  Scene scene;
  scene.add({.name = "ball", .mass = m, .shape = Sphere{radius}});
  scene.add(Buoyancy{.on = "ball", .density = rho});
  scene.add(AddedMass{.on = "ball", .translation = added * Mat3::Identity()});
  scene.add(Drag{.quadratic = c});
  World world(scene, fluid_recipe("rk4", 1e-3));
  const double terminal = std::sqrt((m - rho * V) * g / c), tau = (m + added) * terminal / ((m - rho * V) * g);
  for (const double t : {0.1, 0.5, 3.0}) {
    run_in_fluid(world, t - world.time());
    EXPECT_NEAR(-world.velocity("ball").z(), terminal * std::tanh(t / tau), 1e-9);
  }
}

TEST(Fluid, AFloatingBoxHeavesAtItsFrequencyWithAddedMass) {
  // (m + m_a) z'' = -rho g A z.
  constexpr double rho = 1000, draught = 0.3;
  const Vec3 size(1.0, 0.8, 0.6);
  const double area = size.x() * size.y(), m = rho * area * draught, added = 0.7 * m, amplitude = 0.05;
  Scene scene;
  scene.add({.name = "box", .mass = m, .position = {0, 0, 0.5 * size.z() - draught + amplitude}, .shape = Box{size}});
  scene.add(Buoyancy{.on = "box", .density = rho, .surface = 0.0});
  scene.add(AddedMass{.on = "box", .translation = added * Mat3::Identity()});
  const double omega = std::sqrt(rho * g * area / (m + added)), rest = 0.5 * size.z() - draught;
  for (const char* method : {"rk4", "gauss4"}) {
    World world(scene, fluid_recipe(method, 2e-3));
    run_in_fluid(world, 3);
    EXPECT_NEAR(world.position("box").z() - rest, amplitude * std::cos(3 * omega), 1e-7) << method;
  }
  scene.bodies[0].position.z() = rest;
  World still(scene, fluid_recipe("rk4", 1e-3));
  double nearest = infinity;
  for (const auto& lambda : eigenvalues(linearise(still))) nearest = std::min(nearest, std::abs(lambda.imag() - omega));
  EXPECT_LT(nearest, 1e-6 * omega);
}

TEST(Fluid, AFloatingBoxRightsItselfByItsMetacentre) {
  // GM = I_waterplane / V - BG; omega^2 = m g GM / I.
  constexpr double rho = 1000, draught = 0.3;
  const Vec3 size(1.0, 2.0, 0.6);
  const double V = size.x() * size.y() * draught, m = rho * V;
  Scene scene;
  scene.add({.name = "box", .mass = m, .position = {0, 0, 0.5 * size.z() - draught}, .shape = Box{size}});
  scene.add(Buoyancy{.on = "box", .density = rho, .surface = 0.0});
  World world(scene, fluid_recipe("rk4", 1e-3));
  const double metacentre = size.x() * std::pow(size.y(), 3) / 12 / V - (0.5 * size.z() - 0.5 * draught);
  const double inertia = m / 12 * (size.y() * size.y() + size.z() * size.z()), omega = std::sqrt(m * g * metacentre / inertia);
  const Linearisation l = linearise(world);
  EXPECT_LT(l.unbalance, 1e-10);
  double nearest = infinity;
  for (const auto& lambda : eigenvalues(l)) nearest = std::min(nearest, std::abs(lambda.imag() - omega));
  EXPECT_LT(nearest, 1e-6 * omega);
}

TEST(Fluid, KirchhoffsMotionKeepsEnergyAndImpulse) {
  // A body with a full block of added mass in fluid at rest: energy, impulse and its moment about the origin stay.
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto noise = [&](auto matrix) {
    for (auto& x : matrix.reshaped()) x = normal(random);
    return matrix;
  };
  for (int trial = 0; trial < 3; ++trial) {
    const Mat6 root = noise(Mat6());
    const Mat6 mass = root * root.transpose();
    Scene scene;
    scene.gravity.setZero();
    scene.add({.name = "body",
               .mass = 1.5,
               .inertia = Vec3(0.3, 0.4, 0.5).asDiagonal().toDenseMatrix(),
               .position = noise(Vec3()),
               .orientation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized(),
               .velocity = noise(Vec3()),
               .angular_velocity = noise(Vec3())});
    scene.add(AddedMass{.on = "body",
                        .translation = mass.topLeftCorner<3, 3>(),
                        .rotation = mass.bottomRightCorner<3, 3>(),
                        .coupling = mass.topRightCorner<3, 3>()});
    World world(scene, fluid_recipe("dormand_prince_8", 1e-2));
    const Diagnostics before = world.diagnostics();
    run_in_fluid(world, 1);
    const Diagnostics after = world.diagnostics();
    EXPECT_NEAR(after.energy(), before.energy(), 1e-9 * before.energy());
    EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-9 * before.linear_momentum.norm());
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-8 * (1 + before.angular_momentum.norm()));

    // An implicit method needs the derivatives of all of it.
    World implicit(scene, fluid_recipe("gauss6", 1e-2));
    run_in_fluid(implicit, 0.2);
    World fine(scene, fluid_recipe("dormand_prince_8", 1e-2));
    run_in_fluid(fine, 0.2);
    EXPECT_LT((implicit.position("body") - fine.position("body")).norm(), 1e-6);
  }
}

TEST(Fluid, ABodyOfTheFluidsOwnDensityGoesWithIt) {
  // (m + m_a) v' = (rho V + m_a) Du/Dt: with m = rho V, v = u for all time, in a stream that speeds up.
  constexpr double rho = 1000, radius = 0.1;
  const double V = 4 * pi / 3 * radius * radius * radius;
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "ball", .mass = rho * V, .velocity = {1, 0, 0.5}, .shape = Sphere{radius}});
  scene.add(FlowDef(UniformFlow{.velocity = {"1 + sin(2*t)", "t^2", "0.5*cos(t)"}}));
  scene.add(Buoyancy{.on = "ball", .density = rho});
  scene.add(AddedMass{.on = "ball", .translation = 0.5 * rho * V * Mat3::Identity()});
  World world(scene, fluid_recipe("rk4", 1e-3));
  run_in_fluid(world, 2);
  EXPECT_LT((world.velocity("ball") - Vec3(1 + std::sin(4), 4, 0.5 * std::cos(2))).norm(), 1e-9);
}

/// All kinds of flows at once.
Scene stormy() {
  Scene scene;
  scene.add({.name = "plate",
             .mass = 3.0,
             .position = {0.3, 0.2, 4},
             .orientation = Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, -1).normalized())),
             .velocity = {0.5, -1, 0.2},
             .angular_velocity = {0.4, 0.8, -0.6},
             .shape = Box{{0.6, 1.2, 0.1}}});
  scene.add(FlowDef(UniformFlow{.velocity = {"3 + sin(t)", 0.5, 0}}));
  scene.add(FlowDef(PowerLawFlow{.speed = 5}));
  scene.add(FlowDef(LogLawFlow{.direction = {1, 1, 0}, .speed = 2}));
  scene.add(FlowDef(GustFlow{.velocity = {1, 0, 2}, .start = -1, .duration = 4, .celerity = 20}));
  scene.add(FlowDef(TurbulentFlow{.intensity = 0.7, .length = 60, .waves = 30}));
  scene.add(FlowDef(VortexFlow{.velocity = {1, 0, 0},
                               .axis = {0, 1, 0.2},
                               .circulation = 4,
                               .core = 0.5,
                               .count = 3,
                               .spacing = {2, 0, 0.3},
                               .alternating = true}));
  scene.add(FlowDef(WaveFlow{.name = "sea", .direction = {1, 0.5, 0}, .amplitude = 0.4, .depth = 6.0, .level = 4.05}));
  std::vector<double> angles, drag, lift, moment;
  for (int k = 0; k <= 24; ++k) {
    const double a = -pi + 2 * pi * k / 24;
    angles.push_back(a);
    drag.push_back(0.3 + 0.9 * std::sin(a) * std::sin(a));
    lift.push_back(k == 24 ? lift.front() : 1.1 * std::sin(2 * a));
    moment.push_back(k == 24 ? moment.front() : 0.2 * std::sin(2 * a));
  }
  drag.back() = drag.front();
  scene.add(FlowSection{.on = "plate",
                        .at = Vec3(0.1, 0.2, 4.1),
                        .velocity_at = Vec3(0.5, 0.1, 4),
                        .chord = {1, 0.2, 0},
                        .normal = {0, 0.1, 1},
                        .width = 0.6,
                        .length = 1.2,
                        .angles = angles,
                        .drag = drag,
                        .lift = lift,
                        .moment = moment,
                        .skin_friction = 0.02});
  scene.add(Buoyancy{.on = "plate", .density = 30, .surface = 4.05});
  scene.add(AddedMass{.on = "plate",
                      .translation = Vec3(0.1, 0.2, 1.5).asDiagonal().toDenseMatrix(),
                      .rotation = Vec3(0.1, 0.05, 0.02).asDiagonal().toDenseMatrix(),
                      .at = Vec3(0.2, 0.2, 4)});
  scene.add(Drag{.viscous = 0.3, .quadratic = 0.2, .angular = 0.1});
  return scene;
}

TEST(Fluid, DerivativesAreThoseOfTheForces) {
  World world(stormy());
  const WorldImplementation& w = implementation_of(world);
  const State& s = w.state;
  ForceScratch scratch;
  const auto force = [&](const State& at) {
    VecX f = VecX::Zero(s.u.size());
    add_forces(w.model, at, 0.7, 1, scratch, f);
    return f;
  };
  MatX by_q = MatX::Zero(6, 6), by_u = by_q;
  const auto into = [](MatX& to) {
    return [&to](int row, int column, const Mat3& block) { to.block<3, 3>(3 * row, 3 * column) += block; };
  };
  auto q_sink = into(by_q), u_sink = into(by_u);
  add_force_derivatives(w.model, s, 0.7, 0, 1, false, q_sink);
  add_force_derivatives(w.model, s, 0.7, 1, 0, false, u_sink);
  constexpr double step = 1e-6;
  for (int k = 0; k < 6; ++k) {
    VecX sigma = VecX::Zero(6);
    sigma[k] = step;
    State more = s, less = s;
    displace(s, sigma, more);
    displace(s, -sigma, less);
    const VecX by_place = (force(more) - force(less)) / (2 * step);
    EXPECT_LT((by_place - by_q.col(k)).norm(), 1e-5 * by_q.norm()) << "motion " << k;
    more = less = s;
    more.u[k] += step;
    less.u[k] -= step;
    const VecX by_velocity = (force(more) - force(less)) / (2 * step);
    EXPECT_LT((by_velocity - by_u.col(k)).norm(), 1e-6 * by_u.norm()) << "velocity " << k;
  }
}

TEST(Fluid, FlowsHaveTheDerivativesTheySay) {
  World world(stormy());
  const std::vector<FlowField>& flows = implementation_of(world).model.flows;
  for (std::size_t n = 0; n < flows.size(); ++n) {
    const int which[] = {static_cast<int>(n)};
    const Vec3 x(0.4, -0.3, 3.1);
    constexpr double t = 0.37, step = 1e-6;
    const FlowAt here = flow_at(flows, which, x, t);
    const Vec3 rate = (flow_at(flows, which, x, t + step).u - flow_at(flows, which, x, t - step).u) / (2 * step);
    EXPECT_LT((rate - here.rate).norm(), 1e-6 * (1 + here.u.norm())) << n;
    for (int k = 0; k < 3; ++k) {
      const Vec3 d = step * Vec3::Unit(k);
      const Vec3 slope = (flow_at(flows, which, x + d, t).u - flow_at(flows, which, x - d, t).u) / (2 * step);
      EXPECT_LT((slope - here.gradient.col(k)).norm(), 1e-6 * (1 + here.u.norm())) << n;
    }
    // Fluid does not pile up; a gust along its own direction, which engineers use all the same, does.
    if (n != 3) {
      EXPECT_LT(std::abs(here.gradient.trace()), 1e-12 * (1 + here.gradient.norm())) << n;
    }
  }
}

TEST(Fluid, TheBooksOfEnergyCloseByTheOrderOfTheMethod) {
  Scene scene = stormy();
  std::vector<double> left;
  for (const double dt : {2e-3, 1e-3}) {
    World world(scene, fluid_recipe("rk4", dt));
    world.keep_books(true);
    run_in_fluid(world, 0.4);
    const EnergyBalance books = world.diagnostics().energy_balance;
    EXPECT_GT(std::abs(books.fluid), 0.1);
    left.push_back(std::abs(books.left_over) / std::abs(books.fluid));
    EXPECT_LT(world.diagnostics().momentum_balance.left_over.norm(), 1e-4);
  }
  EXPECT_LT(left[1], 1e-5);
  EXPECT_LT(left[1], left[0] / 6);  // the cut by the surface has kinks, which cost some of the order
}

TEST(Fluid, AnAngleWithoutCoefficientsIsRefusedByName) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "wing", .mass = 1.0, .velocity = {0, 0, -1}, .shape = Box{{1, 1, 0.1}}});
  scene.add(FlowDef(UniformFlow{.velocity = {1, 0, 0}}));
  scene.add(FlowSection{.name = "foil", .on = "wing", .angles = {-0.3, 0, 0.3}, .lift = {-1, 0, 1}});
  try {
    World(scene, fluid_recipe("rk4", 1e-3)).step();
    FAIL() << "an angle of 45 degrees was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("foil"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("45 degrees"), std::string::npos) << error.what();
  }
}

TEST(Fluid, TurbulenceHasVonKarmansSpectrum) {
  // Variance, and the correlation along the mean wind, f(r) = 2^(2/3) / Gamma(1/3) (r/l)^(1/3) K_(1/3)(r/l), over many seeds.
  constexpr double sigma = 2, length = 20;
  constexpr int seeds = 400;
  const int which[] = {0};
  const double l = length * std::tgamma(1.0 / 3) / (std::sqrt(pi) * std::tgamma(5.0 / 6)), r = 10;
  Vec3 square = Vec3::Zero();
  double along = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<FlowField> flows{
        FlowField(TurbulentFlow{.intensity = sigma, .length = length, .waves = 200, .seed = seed})};
    const Vec3 a = flow_at(flows, which, Vec3::Zero(), 0).u, b = flow_at(flows, which, {r, 0, 0}, 0).u;
    square += a.cwiseProduct(a);
    along += a.x() * b.x();
  }
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(square[k] / seeds, sigma * sigma, 0.3 * sigma * sigma);
  const double z = r / l, wanted = std::pow(2, 2.0 / 3) / std::tgamma(1.0 / 3) * std::cbrt(z) * std::cyl_bessel_k(1.0 / 3, z);
  EXPECT_NEAR(along / seeds / (sigma * sigma), wanted, 0.15);
}

TEST(Fluid, TurbulenceIsCoherentAsVonKarmanHasIt) {
  // Two points side by side, b apart: of the waves of wave number k along the wind, the share that both have in phase is, for the
  // velocity along the wind, 2^(1/6)/Gamma(5/6) (z^(5/6) K_(5/6)(z) - z^(11/6)/2 K_(1/6)(z)) with z = b sqrt(k^2 + 1/l^2). By
  // Fourier sums under a window of sixteen lengths, over many seeds.
  constexpr double length = 20, step = 4;
  constexpr int seeds = 150, samples = 80;
  const int which[] = {0};
  const double l = length * std::tgamma(1.0 / 3) / (std::sqrt(pi) * std::tgamma(5.0 / 6));
  const std::array<double, 2> numbers{0.04, 0.12}, apart{6, 15};
  std::array<std::array<double, 2>, 2> together{};
  std::array<std::array<double, 3>, 2> alone{};
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<FlowField> flows{FlowField(TurbulentFlow{.intensity = 1, .length = length, .waves = 200, .seed = seed})};
    std::array<std::array<std::complex<double>, 3>, 2> sums{};
    for (int n = 0; n < samples; ++n) {
      const double x = n * step, window = std::pow(std::sin(pi * (n + 0.5) / samples), 2);
      for (std::size_t b = 0; b < 3; ++b) {
        const double u = flow_at(flows, which, {x, b == 0 ? 0 : apart[b - 1], 0}, 0).u.x();
        for (std::size_t k = 0; k < 2; ++k) sums[k][b] += window * u * std::polar(1.0, -numbers[k] * x);
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t b = 0; b < 3; ++b) alone[k][b] += std::norm(sums[k][b]);
      for (std::size_t b = 0; b < 2; ++b) together[k][b] += (sums[k][0] * std::conj(sums[k][b + 1])).real();
    }
  }
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t b = 0; b < 2; ++b) {
      const double z = apart[b] * std::hypot(numbers[k], 1 / l);
      const double wanted =
          std::pow(2, 1.0 / 6) / std::tgamma(5.0 / 6) *
          (std::pow(z, 5.0 / 6) * std::cyl_bessel_k(5.0 / 6, z) - 0.5 * std::pow(z, 11.0 / 6) * std::cyl_bessel_k(1.0 / 6, z));
      EXPECT_NEAR(together[k][b] / std::sqrt(alone[k][0] * alone[k][b + 1]), wanted, 0.12) << numbers[k] << ", " << apart[b];
    }
}

TEST(Fluid, ABuoyFollowsLongWaves) {
  // Waves long against the buoy carry it along: it heaves as the surface does.
  Scene scene;
  scene.add({.name = "buoy", .mass = 500.0 * 4 * pi / 3 * 0.125, .shape = Sphere{0.5}});
  scene.add(FlowDef(WaveFlow{.amplitude = 0.2, .period = 12}));
  scene.add(Buoyancy{.on = "buoy", .surface = 0.0});
  scene.add(Drag{.viscous = 1500});
  World world(scene, fluid_recipe("rk4", 5e-3));
  run_in_fluid(world, 24);
  double worst = 0;
  while (world.time() < 36) {
    world.step();
    const double k = std::pow(2 * pi / 12, 2) / 9.81;
    const double eta = 0.2 * std::cos(k * world.position("buoy").x() - 2 * pi / 12 * world.time());
    worst = std::max(worst, std::abs(world.position("buoy").z() - eta));
  }
  EXPECT_LT(worst, 0.01);
}

TEST(Fluid, AllocatesNothing) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const char* method : {"rk4", "gauss4", "generalised_alpha"}) {
    World world(stormy(), fluid_recipe(method, 1e-3));
    for (int i = 0; i < 10; ++i) world.step();
    const std::size_t before = testing::allocations();
    for (int i = 0; i < 20; ++i) world.step();
    EXPECT_EQ(testing::allocations(), before) << method;
  }
}

TEST(Fluid, ImpulsesKnowAddedMass) {
  // At velocity level a joint that stops a body must stop the fluid around it, too; and a first-order method comes near an exact
  // one.
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .inertia = Mat3(0.01 * Mat3::Identity()), .position = {1, 0, 0}});
  scene.add(Ball{.between = {"world", "bob"}});
  scene.add(AddedMass{
      .on = "bob", .translation = Vec3(0.2, 1, 3).asDiagonal().toDenseMatrix(), .rotation = Mat3(0.05 * Mat3::Identity())});
  World exact(scene, fluid_recipe("rk4", 1e-3));
  Recipe impulses = recipes::balanced();
  impulses.dt = 1e-4;
  World coarse(scene, impulses);
  run_in_fluid(exact, 0.5);
  run_in_fluid(coarse, 0.5);
  EXPECT_LT((exact.position("bob") - coarse.position("bob")).norm(), 2e-3);
  // alpha = m g l / (I + m l^2 + what is added to both), at the start.
  World start(scene, fluid_recipe("rk4", 1e-5));
  start.step();
  EXPECT_NEAR(start.velocity("bob").z() / start.time(), -g * 1.0 / (0.01 + 1 + 3 + 0.05), 1e-6);
}

TEST(Fluid, RattleAndTheRealTimeStepperRefuseAddedMassByName) {
  Scene scene;
  scene.add({.name = "hull", .mass = 1.0, .shape = Sphere{0.1}});
  scene.add(AddedMass{.on = "hull", .translation = Mat3::Identity()});
  EXPECT_THROW(World(scene, fluid_recipe("rattle", 1e-3)).step(), Error);
  Recipe fast = recipes::realtime();
  fast.stepper = RealtimeStepperSettings{};
  EXPECT_THROW(World(scene, fast).step(), Error);
}

}  // namespace
}  // namespace rotule
