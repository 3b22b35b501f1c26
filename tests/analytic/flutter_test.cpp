// A section on springs in the wind: the critical speed against eigenvalues worked out by hand, and simulations on both sides of
// it.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/flutter.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <tuple>

#include "linalg/decompositions.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// Heave h (up) and pitch theta (nose up) of a flat plate with quasi-steady lift 2 pi alpha at the quarter chord, felt at the
/// three quarter point; the springs hold it in the middle of the chord, its centre of mass is `offset` behind.
struct PlateSection {
  double m = 20, I = 0.8, offset = 0.03;  // of one metre of span
  double chord = 0.5, rho = 1.2, drag = 0.01;
  double k_h = 20 * 36, k_t = 0.8 * 144;
  double d_t = 0.6;  // N m s: without it pitch grows at any speed, since lift acts ahead of where the velocity is felt

  /// Largest growth of m h'' + m x theta'' + k_h h = L, ..., with x the centre of mass behind the axis and positions measured
  /// downstream from the axis in the middle of the chord.
  [[nodiscard]] double growth(double U) const {
    // Displacement of a point p downstream of the axis: z = h - p theta. The relative angle: alpha = theta - (h' - p_v theta') /
    // U, w = U: lift per span q c 2 pi alpha; drag acts along the relative wind and adds q c C_d (h' - p_v theta') / U downwards.
    const double q = 0.5 * rho * U * U * chord, p_v = chord / 4, p_f = -chord / 4, x = offset;
    Eigen::Matrix2d M, D, K;
    M << m, -m * x, -m * x, I + m * x * x;
    const double slope = 2 * pi, total = slope + drag;
    // Force on h: q (slope alpha - drag (h' - p_v theta') / U); on theta: that times -p_f.
    Eigen::Vector2d arm(1, -p_f);
    Eigen::RowVector2d by_rate(-total / U, total * p_v / U), by_angle(0, slope);
    D = -q * arm * by_rate;
    D(1, 1) += d_t;
    K = -q * arm * by_angle;
    // Drag along the wind, at a point that pitch moves to the height -p_f theta, has the moment -p_f theta q C_d.
    K(1, 1) += q * drag * p_f;
    K(0, 0) += k_h;
    K(1, 1) += k_t;
    MatX A = MatX::Zero(4, 4);
    A.topRightCorner<2, 2>().setIdentity();
    A.bottomLeftCorner<2, 2>() = -M.inverse() * K;
    A.bottomRightCorner<2, 2>() = -M.inverse() * D;
    return complex_eigenvalues(A).real().maxCoeff();
  }

  [[nodiscard]] double critical() const {
    double low = 1, high = 200;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (growth(middle) > 0 ? high : low) = middle;
    }
    return high;
  }

  [[nodiscard]] Scene scene(double U) const {
    Scene out;
    out.gravity.setZero();
    // Wind along x; the span along y. The carriage heaves, the plate pitches about it.
    out.add({.name = "carriage", .mass = 1e-3, .inertia = Mat3(1e-5 * Mat3::Identity())});
    out.add({.name = "plate",
             .mass = m - 1e-3,
             .inertia = Vec3(1, I, 1).asDiagonal().toDenseMatrix(),
             .position = {offset, 0, 0},
             .shape = Box{{chord, 1, 0.02}},
             .contacts = false});
    out.add(Slider{.between = {"world", "carriage"}, .axis = Vec3(0, 0, 1)});
    out.add(Hinge{.between = {"carriage", "plate"}, .axis = Vec3(0, 1, 0)});
    out.add(Spring{.between = {"world", "carriage"}, .from = Vec3(0, 0, -1000), .stiffness = k_h});
    out.add(TorsionSpring{.between = {"carriage", "plate"}, .axis = {0, 1, 0}, .stiffness = k_t, .damping = d_t});
    out.add(FlowDef(UniformFlow{.name = "wind", .velocity = {U, 0, 0}}));
    out.add(FlowSection{.on = "plate",
                        .at = Vec3(-chord / 4, 0, 0),
                        .velocity_at = Vec3(chord / 4, 0, 0),
                        .width = chord,
                        .density = rho,
                        .angles = {-0.6, -0.3, 0, 0.3, 0.6},
                        .drag = std::vector<double>(5, drag),
                        .lift = {-1.2 * pi, -0.6 * pi, 0, 0.6 * pi, 1.2 * pi}});
    return out;
  }
};

TEST(Flutter, AFlatPlateFluttersWhereItsEigenvaluesSay) {
  for (const double offset : {0.02, 0.05}) {
    PlateSection section;
    section.offset = offset;
    const double wanted = section.critical();
    std::vector<double> speeds;
    for (int k = 0; k <= 12; ++k) speeds.push_back(wanted * (0.4 + 0.1 * k));
    const FlutterReport report = flutter(section.scene(10), {.speeds = speeds});
    ASSERT_TRUE(report.critical_speed);
    EXPECT_NEAR(*report.critical_speed / wanted, 1, 2e-3) << offset;
    EXPECT_GT(report.critical_frequency, 0.5);
    EXPECT_LT(report.points.front().unbalance, 1e-6);

    // Below it motions die, above they grow.
    for (const double share : {0.97, 1.03}) {
      Scene scene = section.scene(share * *report.critical_speed);
      scene.bodies[0].velocity = scene.bodies[1].velocity = {0, 0, 1e-3};
      Recipe recipe = recipes::exact();
      recipe.dt = 4e-3;
      World world(scene, recipe);
      const auto most = [&](double seconds) {
        double out = 0;
        for (const double end = world.time() + seconds; world.time() < end;) {
          world.step();
          out = std::max(out, std::abs(world.position("carriage").z()));
        }
        return out;
      };
      most(6);  // the other mode dies first
      const double early = most(3);
      most(12);
      const double late = most(3);
      if (share > 1)
        EXPECT_GT(late, 1.2 * early) << offset;
      else
        EXPECT_LT(late, early / 1.2) << offset;
    }
  }
}

TEST(Flutter, ASquareSectionGallopsByDenHartogsCriterion) {
  // Across the wind: m y'' + (d + 1/2 rho U b (dC_l/d alpha + C_d)) y' + k y = 0, so U = -2 d / (rho b (C_l' + C_d)).
  constexpr double m = 5, k = 500, d = 0.4, b = 0.1, rho = 1.2, C_d = 2, slope = -5;
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "bar", .mass = m, .shape = Box{{b, 1, b}}, .contacts = false});
  scene.add(Slider{.between = {"world", "bar"}, .axis = Vec3(0, 0, 1)});
  scene.add(Spring{.between = {"world", "bar"}, .from = Vec3(0, 0, -100), .stiffness = k, .damping = d});
  scene.add(FlowDef(UniformFlow{.velocity = {5, 0, 0}}));
  scene.add(FlowSection{.on = "bar",
                        .width = b,
                        .density = rho,
                        .angles = {-0.2, 0, 0.2},
                        .drag = {C_d, C_d, C_d},
                        .lift = {-0.2 * slope, 0, 0.2 * slope}});
  const double wanted = -2 * d / (rho * b * (slope + C_d));
  const FlutterReport report = flutter(scene, {.speeds = {0, 1, 2, 3, 4}, .tolerance = 1e-8});
  ASSERT_TRUE(report.critical_speed);
  EXPECT_NEAR(*report.critical_speed, wanted, 1e-5 * wanted);
  EXPECT_NEAR(report.points.front().modes.front().damping_ratio, d / (2 * std::sqrt(k * m)), 1e-9);
}

TEST(Flutter, ModesKeepTheirPlaceWhereTwoThatDecayBecomeOneThatSwings) {
  // A bar that is damped beyond swinging, until the wind takes enough of it; beside it one that swings at 3 Hz, wind or not.
  Scene scene;
  scene.gravity.setZero();
  constexpr double m = 5, k = 500, d = 120, b = 0.1, rho = 100;
  for (const auto& [name, x, stiffness] : {std::tuple("bar", 0.0, k), std::tuple("other", 5.0, m * 36 * pi * pi)}) {
    scene.add({.name = name, .mass = m, .position = {x, 0, 0}, .shape = Box{{b, 1, b}}, .contacts = false});
    scene.add(Slider{.between = {"world", name}, .at = Vec3(x, 0, 0), .axis = Vec3(0, 0, 1)});
    scene.add(Spring{.between = {"world", name}, .from = Vec3(x, 0, -100), .stiffness = stiffness});
  }
  std::get<Spring>(scene.forces[0]).damping = d;
  scene.add(FlowDef(UniformFlow{.velocity = {5, 0, 0}}));
  scene.add(
      FlowSection{.on = "bar", .width = b, .density = rho, .angles = {-0.2, 0, 0.2}, .drag = {2, 2, 2}, .lift = {1, 0, -1}});
  const FlutterReport report = flutter(scene, {.speeds = {0, 1, 2, 3, 4}});
  ASSERT_EQ(report.leaders.size(), 3u);
  EXPECT_EQ(report.leaders[2], "other.z");
  EXPECT_EQ(report.points.front().modes[0].frequency, 0);
  EXPECT_EQ(report.points.front().modes[1].frequency, 0);
  for (const FlutterPoint& point : report.points) EXPECT_NEAR(point.modes[2].frequency, 3, 1e-9) << point.speed;
  // Half the damping that is left, over 2 sqrt(k m).
  const double left = (d - 0.5 * rho * 4 * b * 3) / (2 * std::sqrt(k * m));
  EXPECT_NEAR(report.points.back().modes[0].damping_ratio, left, 1e-9);
  EXPECT_NEAR(report.points.back().modes[1].damping_ratio, left, 1e-9);
}

/// The bridge of the shipped scene with fewer elements, its deck bluff: it feels the wind a quarter of its width behind its
/// middle.
Scene bluff_bridge(double wind) {
  Scene out;
  out.gravity = {0, 0, -9.81};
  out.add(SuspensionBridge{.name = "bridge",
                           .to = {200, 0, 0},
                           .elements = 10,
                           .width = 12,
                           .sag = 20,
                           .deck_mass = 1500,
                           .second_moment = 0.02,
                           .second_moment_side = 2,
                           .torsion_constant = 0.02,
                           .damping = 0.005,
                           .section = SectionCoefficients{.width = 12,
                                                          .angles = {-0.5, -0.3, 0, 0.3, 0.5},
                                                          .drag = {0.5, 0.25, 0.1, 0.25, 0.5},
                                                          .lift = {-1.2, -1.2, 0, 1.2, 1.2},
                                                          .moment = {-0.25, -0.28, 0, 0.28, 0.25},
                                                          .velocity_offset = 3}});
  out.add(FlowDef(UniformFlow{.name = "wind", .velocity = {0, -wind, 0}}));
  return out;
}

/// Energy of the deck's twisting, averaged over some seconds.
double twisting(World& world, double seconds) {
  double sum = 0;
  int steps = 0;
  for (const double end = world.time() + seconds; world.time() < end; ++steps) {
    world.step();
    for (int k = 0; k < 10; ++k) sum += std::pow(world.angular_velocity("bridge_deck/" + std::to_string(k)).x(), 2);
  }
  return sum / steps;
}

TEST(Flutter, ABridgeFluttersAboveItsCriticalSpeed) {
  const FlutterReport report = flutter(bluff_bridge(10), {.speeds = {10, 20, 30}, .tolerance = 1e-3});
  ASSERT_TRUE(report.critical_speed);
  const double U = *report.critical_speed;
  // What the wind brings into torsion, 1/2 rho U c^2 C_m' p_v theta' for each metre, is what springs proportional to stiffness
  // take, beta omega^2 I theta': I of deck and cables, C_m' of the spline.
  const double omega = 2 * pi * report.critical_frequency;
  EXPECT_GT(report.critical_frequency, 0.8);
  EXPECT_LT(report.critical_frequency, 1.6);
  const double slope = 1.2, I = 1500.0 * (144 + 1) / 12 + 2 * 0.02 * 7850 * 36;
  const double estimate = 0.005 * omega * omega * I / (0.5 * 1.225 * 144 * slope * 3);
  EXPECT_NEAR(U / estimate, 1, 0.15);
  // Simulated, from a twist that all of the deck has: it dies a fifth below, and grows a fifth above.
  for (const double share : {0.8, 1.2}) {
    Scene scene = bluff_bridge(share * U);
    for (BodyDef& body : scene.bodies) body.angular_velocity.x() = 1e-3 * std::sin(2 * pi * body.position.x() / 200);
    Recipe recipe = recipes::exact();
    recipe.integrator = TrapezoidSettings{};
    recipe.correction = ProjectionSettings{};
    recipe.formulation = AccelerationSettings{};
    recipe.contacts = NoContactSettings{};
    recipe.dt = 0.02;
    World world(scene, recipe);
    twisting(world, 10);
    const double early = twisting(world, 4);
    twisting(world, 12);
    const double late = twisting(world, 4);
    if (share > 1)
      EXPECT_GT(late, 1.2 * early);
    else
      EXPECT_LT(late, early / 1.2);
  }
}

TEST(Flutter, UnitsDoNotMatter) {
  // A cantilever plate whose wind twists and bends it far, in metres, kilograms and seconds, and in micrometres and milliseconds:
  // where equilibrium was sought among accelerations of metres and radians alike, it was not found there.
  const auto report = [](double m, double kg, double s) {
    const double E = 70e9 * kg / (m * s * s);
    const std::vector<double> angles{-0.5, -0.25, 0, 0.25, 0.5};
    Scene scene;
    scene.gravity.setZero();
    scene.add(FlowDef(UniformFlow{.name = "wind", .velocity = {0, -m / s, 0.02 * m / s}}));
    scene.add(Beam{.name = "plate",
                   .to = {2 * m, 0, 0},
                   .elements = 8,
                   .youngs_modulus = E,
                   .area = 6e-4 * m * m,
                   .second_moment = 2e-9 * std::pow(m, 4),
                   .second_moment_side = 2e-7 * std::pow(m, 4),
                   .torsion_constant = 4e-9 * std::pow(m, 4),
                   .density = 2700 * kg / (m * m * m),
                   .section = SectionCoefficients{.width = 0.3 * m,
                                                  .density = 1.225 * kg / (m * m * m),
                                                  .angles = angles,
                                                  .drag = std::vector<double>(5, 0.02),
                                                  .lift = {-pi, -pi / 2, 0, pi / 2, pi},
                                                  .velocity_offset = 0.1 * m}});
    return flutter(scene, {.speeds = {5 * m / s, 20 * m / s, 35 * m / s}});
  };
  const FlutterReport metres = report(1, 1, 1), micrometres = report(1e6, 1e9, 1e3);
  for (std::size_t n = 0; n < 3; ++n) {
    const std::vector<DampedMode>&a = metres.points[n].modes, &b = micrometres.points[n].modes;
    ASSERT_EQ(a.size(), b.size());
    EXPECT_LT(metres.points[n].unbalance, 1e-4);
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_LT(std::abs(a[k].eigenvalue - 1e3 * b[k].eigenvalue), 1e-8 * std::abs(a[k].eigenvalue)) << n << " " << k;
  }
}

TEST(Flutter, ASceneWithoutWindIsRefused) {
  Scene scene;
  scene.add({.name = "ball", .mass = 1.0, .shape = Sphere{0.1}});
  EXPECT_THROW(flutter(scene, {.speeds = {1, 2}}), Error);
  scene.add(FlowDef(UniformFlow{.velocity = {1, 0, 0}}));
  EXPECT_THROW(flutter(scene, {.speeds = {}}), Error);
  EXPECT_THROW(flutter(scene, {.speeds = {2, 1}}), Error);
}

}  // namespace
}  // namespace rotule
