// Sections that remember their wake, against Wagner's and Theodorsen's functions, which are computed here by Bessel functions.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/flutter.h>
#include <rotule/scene.h>
#include <rotule/solvers/ldlt.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "dynamics/forces/force_set.h"
#include "support/runs.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

/// C(k) = H1 / (H1 + i H0), Hankel's functions of the second kind.
Complex theodorsen(double k) {
  const Complex h1(std::cyl_bessel_j(1.0, k), -std::cyl_neumann(1.0, k)),
      h0(std::cyl_bessel_j(0.0, k), -std::cyl_neumann(0.0, k));
  return h1 / (h1 + Complex(0, 1) * h0);
}

/// phi(s) = 1/2 + 2/pi integral of (Re C(k) - 1/2) sin(k s) / k, of which 1/(32 k^2) is left beyond k.
std::vector<double> wagner(const std::vector<double>& s) {
  constexpr double highest = 20, h = 4e-3;
  std::vector<double> out(s.size(), 0.5);
  for (double k = h / 2; k < highest; k += h) {
    const double part = 2 / pi * h * (theodorsen(k).real() - 0.5) / k;
    for (std::size_t n = 0; n < s.size(); ++n) out[n] += part * std::sin(k * s[n]);
  }
  return out;
}

const std::vector<double> thin_angles = {-0.3, 0, 0.3}, thin_lift = {-0.6 * pi, 0, 0.6 * pi};

/// A plate of one metre of chord in a stream, on a slider across it; its mass is so large that it does what it was told.
Scene plate_on_slider(double U, bool unsteady) {
  Scene out;
  out.gravity.setZero();
  out.add({.name = "plate", .mass = 1e9, .shape = Box{{1, 1, 0.01}}, .contacts = false});
  out.add(Slider{.name = "slider", .between = {"world", "plate"}, .axis = Vec3(0, 0, 1)});
  out.add(FlowDef(UniformFlow{.name = "wind", .velocity = {U, 0, 0}}));
  out.add(FlowSection{.on = "plate",
                      .at = Vec3(-0.25, 0, 0),
                      .velocity_at = Vec3(0.25, 0, 0),
                      .angles = thin_angles,
                      .lift = thin_lift,
                      .unsteady = unsteady});
  return out;
}

TEST(Wakes, LiftAfterASuddenStartFollowsWagner) {
  constexpr double U = 10, v = -0.01;
  Recipe recipe = recipes::exact();
  recipe.dt = 4e-3;
  World world(plate_on_slider(U, true), recipe);
  world.set_velocity(world.body("plate"), {0, 0, v}, Vec3::Zero());
  const double whole = 0.5 * 1.225 * U * U * 2 * pi * (-v / U);
  std::vector<double> travelled, lift;
  double before = v;
  for (int n = 1; n <= 250; ++n) {
    world.step();
    const double now = world.velocity("plate").z();
    if (n == 2 || n == 12 || n == 60 || n == 250) {
      travelled.push_back(2 * U * (world.time() - 0.5 * recipe.dt));
      lift.push_back((now - before) / recipe.dt * 1e9 / whole);
    }
    before = now;
  }
  const std::vector<double> wanted = wagner(travelled);
  EXPECT_NEAR(wagner({0.0})[0], 0.5, 1e-12);
  for (std::size_t n = 0; n < lift.size(); ++n) EXPECT_NEAR(lift[n], wanted[n], 0.005) << travelled[n];
}

TEST(Wakes, DerivativesAreThoseOfTheForces) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "plate",
             .mass = 1,
             .velocity = {0.3, 0.1, -0.2},
             .angular_velocity = {0.1, 0.4, -0.3},
             .shape = Box{{1, 1, 0.1}},
             .contacts = false});
  scene.add(FlowDef(UniformFlow{.velocity = {7, 0.5, 0.4}}));
  scene.add(FlowSection{.on = "plate",
                        .at = Vec3(-0.25, 0.1, 0),
                        .velocity_at = Vec3(0.25, 0.1, 0.05),
                        .angles = {-1, -0.3, 0.2, 1},
                        .drag = {0.9, 0.3, 0.2, 1.1},
                        .lift = {-1, -0.5, 0.4, 1.2},
                        .moment = {0.1, -0.2, 0.1, 0.3},
                        .unsteady = true});
  World world(scene);
  const WorldImplementation& w = implementation_of(world);
  State s = w.state;
  ASSERT_EQ(s.u.size(), 9);
  s.u.tail<3>() += Vec3(0.3, -0.2, 0.5);  // a wake that is not settled
  ForceScratch scratch;
  const auto force = [&](const State& at) {
    VecX f = VecX::Zero(9);
    add_forces(w.model, at, 0, 1, scratch, f);
    return f;
  };
  MatX by_q = MatX::Zero(9, 9), by_u = by_q;
  const auto into = [](MatX& to) {
    return [&to](int row, int column, const Mat3& block) { to.block<3, 3>(3 * row, 3 * column) += block; };
  };
  auto q_sink = into(by_q), u_sink = into(by_u);
  add_force_derivatives(w.model, s, 0, 0, 1, false, q_sink);
  add_force_derivatives(w.model, s, 0, 1, 0, false, u_sink);
  constexpr double step = 1e-6;
  for (int k = 0; k < 9; ++k) {
    VecX sigma = VecX::Zero(9);
    sigma[k] = step;
    State more = s, less = s;
    if (k < 6) {
      displace(s, sigma, more);
      displace(s, -sigma, less);
      EXPECT_LT(((force(more) - force(less)) / (2 * step) - by_q.col(k)).norm(), 1e-7 * by_q.norm()) << "motion " << k;
    }
    more = less = s;
    more.u[k] += step;
    less.u[k] -= step;
    EXPECT_LT(((force(more) - force(less)) / (2 * step) - by_u.col(k)).norm(), 1e-7 * by_u.norm()) << "velocity " << k;
  }
}

/// A flat plate on springs at `axis`, its centre of mass `offset` behind that; places downstream of the middle of its chord 2 b.
struct FreePlate {
  double b = 0.5, rho = 1.2, m = 20, I = 1.25, axis = -0.1, offset = 0.1;  // of one metre of span; I about the centre of mass
  double k_h = 20 * 25, k_t = 1.45 * 100;

  /// Roots omega^2 of K - omega^2 (M + A(k)) at the speed omega b / k: h up at the axis, theta nose up, z(p) = h - (p - axis)
  /// theta. The fluid's forces are omega^2 A (h, theta): lift 2 pi rho U b C(k) w at -b/2, of w = U theta - z'(b/2); apparent
  /// mass pi rho b^2 in the middle and pi rho b^4 / 8 on turning; pi rho b^2 U theta' at b/2 (T. Theodorsen, 1935).
  [[nodiscard]] Eigen::Vector2cd squared_frequencies(double k) const {
    using Row = Eigen::RowVector2cd;
    const Complex i(0, 1);
    const auto z = [&](double p) { return Row(1, axis - p); };
    const double U = b / k, apparent = pi * rho * b * b;
    Eigen::Matrix2cd B, K = Eigen::Matrix2cd::Zero();
    B << m, -m * offset, -m * offset, I + m * offset * offset + apparent * b * b / 8;
    B += apparent * z(0).transpose() * z(0) + apparent * U * i * z(b / 2).transpose() * Row(0, 1);
    B += 2 * pi * rho * U * b * theodorsen(k) * z(-b / 2).transpose() * (Row(0, U) - i * z(b / 2));
    K.diagonal() << k_h, k_t;
    const Eigen::Matrix2cd S = B.inverse() * K;
    const Complex mean = 0.5 * S.trace(), apart = std::sqrt(mean * mean - S.determinant());
    return {mean - apart, mean + apart};
  }

  /// The lowest speed at which a root is real: k from high to low, which is from slow to fast.
  [[nodiscard]] double critical() const {
    const auto growth = [&](double k) {
      const Eigen::Vector2cd roots = squared_frequencies(k);
      return std::min(roots[0].imag(), roots[1].imag());  // exp(i omega t) grows where it is negative
    };
    double high = 3;
    while (growth(high) > 0 && high > 0.02) high *= 0.98;
    double low = high, above = high / 0.98;
    for (int n = 0; n < 50; ++n) {
      const double middle = 0.5 * (low + above);
      (growth(middle) > 0 ? above : low) = middle;
    }
    const Eigen::Vector2cd roots = squared_frequencies(low);
    const Complex root = std::abs(roots[0].imag()) < std::abs(roots[1].imag()) ? roots[0] : roots[1];
    return std::sqrt(root.real()) * b / low;
  }

  /// Apparent mass is that of fluid at rest; what turning does comes of two sections at b/2 that differ in where they feel it.
  [[nodiscard]] Scene scene() const {
    Scene out;
    out.gravity.setZero();
    const double apparent = pi * rho * b * b;
    out.add({.name = "carriage", .mass = 1e-3, .inertia = Mat3(1e-5 * Mat3::Identity()), .position = {axis, 0, 0}});
    out.add({.name = "plate",
             .mass = m - 1e-3,
             .inertia = Vec3(1, I, 1).asDiagonal().toDenseMatrix(),
             .position = {axis + offset, 0, 0},
             .contacts = false});
    out.add(Slider{.between = {"world", "carriage"}, .axis = Vec3(0, 0, 1)});
    out.add(Hinge{.between = {"carriage", "plate"}, .at = Vec3(axis, 0, 0), .axis = Vec3(0, 1, 0)});
    out.add(Spring{.between = {"world", "carriage"}, .from = Vec3(axis, 0, -1000), .stiffness = k_h});
    out.add(TorsionSpring{.between = {"carriage", "plate"}, .axis = {0, 1, 0}, .stiffness = k_t});
    out.add(FlowDef(UniformFlow{.name = "wind", .velocity = {10, 0, 0}}));
    out.add(FlowDef(UniformFlow{.name = "still", .velocity = {0, 0, 0}}));
    out.add(AddedMass{.on = "plate",
                      .translation = Vec3(0, 0, apparent).asDiagonal().toDenseMatrix(),
                      .rotation = Vec3(0, apparent * b * b / 8, 0).asDiagonal().toDenseMatrix(),
                      .at = Vec3(0, 0, 0),
                      .in = {"still"}});
    const auto section = [&](double at, double feels, double sign, bool unsteady) {
      out.add(FlowSection{.on = "plate",
                          .at = Vec3(at, 0, 0),
                          .velocity_at = Vec3(feels, 0, 0),
                          .width = 2 * b,
                          .density = rho,
                          .angles = thin_angles,
                          .lift = {-sign * 0.6 * pi, 0, sign * 0.6 * pi},
                          .unsteady = unsteady,
                          .in = {"wind"}});
    };
    section(-b / 2, b / 2, 1, true);
    section(b / 2, b / 2, 1, false);
    section(b / 2, 0, -1, false);
    return out;
  }
};

TEST(Wakes, AFlatPlateFluttersAtTheodorsensSpeed) {
  for (const double offset : {0.05, 0.1, 0.2}) {
    FreePlate plate;
    plate.offset = offset;
    const double wanted = plate.critical();
    const FlutterReport report =
        flutter(plate.scene(), {.speeds = {0.6 * wanted, 0.8 * wanted, wanted, 1.2 * wanted, 1.4 * wanted}, .flow = "wind"});
    ASSERT_TRUE(report.critical_speed) << wanted;
    EXPECT_NEAR(*report.critical_speed / wanted, 1, 0.02) << wanted;
  }
}

TEST(Wakes, StayWithTheirSections) {
  FreePlate plate;
  Scene scene = plate.scene();
  scene.add({.name = "other", .mass = 1, .position = {0, 5, 0}, .contacts = false});
  World world(scene);
  run_for(world, 0.1);
  world.set_velocity(world.body("plate"), {0, 0, 0.3}, Vec3::Zero());
  run_for(world, 0.1);
  const Snapshot saved = world.save();
  // To the bit after loading.
  run_for(world, 0.2);
  World again(scene);
  again.load(saved);
  run_for(again, 0.2);
  EXPECT_EQ(world.state_hash(), again.state_hash());
  // Other bodies and forces come and go, and the wake does not start anew.
  const Vec3 before = implementation_of(world).state.wake(0);
  world.remove(world.body("other"));
  EXPECT_EQ(Vec3(implementation_of(world).state.wake(0)), before);
  world.add({.name = "third", .mass = 1, .position = {0, 5, 0}, .contacts = false});
  const ForceId more = world.add(FlowSection{.on = "third", .angles = thin_angles, .lift = thin_lift, .unsteady = true});
  EXPECT_EQ(Vec3(implementation_of(world).state.wake(0)), before);
  EXPECT_EQ(implementation_of(world).model.forces.wakes, 2);
  run_for(world, 0.01);
  const Vec3 later = implementation_of(world).state.wake(0);
  world.remove(more);
  EXPECT_EQ(Vec3(implementation_of(world).state.wake(0)), later);
  EXPECT_EQ(implementation_of(world).state.u.size(), 6 * 3 + 3);
}

TEST(Wakes, EveryMethodComesToTheSameMotion) {
  const auto end = [](const std::string& settings) {
    Scene scene = FreePlate().scene();
    Recipe recipe = recipes::exact();
    if (settings != "exact") {
      recipe = {.dt = 5e-4};
      if (settings == "gauss4") recipe.integrator = Gauss4Settings{};
      if (settings == "rk4") recipe.integrator = Rk4Settings{};
    }
    World world(scene, recipe);
    world.set_velocity(world.body("plate"), {0, 0, 0.1}, Vec3::Zero());
    world.set_velocity(world.body("carriage"), {0, 0, 0.1}, Vec3::Zero());
    run_for(world, 0.3);
    return world.position("plate");
  };
  const Vec3 exact = end("exact");
  EXPECT_GT(exact.norm(), 1e-3);
  EXPECT_LT((end("rk4") - exact).norm(), 1e-8);
  EXPECT_LT((end("gauss4") - exact).norm(), 1e-8);
}

TEST(Wakes, WhatCannotCarryThemSaysSo) {
  Recipe rattle;
  rattle.integrator = RattleSettings{};
  Recipe realtime = recipes::realtime();
  realtime.stepper = RealtimeStepperSettings{};
  realtime.correction = NoCorrectionSettings{};
  realtime.solver = LdltSettings{};
  for (const Recipe& recipe : {rattle, realtime}) {
    try {
      World world(plate_on_slider(10, true), recipe);
      world.step();
      ADD_FAILURE() << "was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("wake"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace rotule
