// Constraints on velocities (A14): wheels and balls that roll without slipping, blades that do not move sideways, against their
// own equations of motion.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <numbers>

#include "support/constants.h"
#include "support/runs.h"
#include "support/variants.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

/// A classical step of order four.
template <std::size_t n, class F>
std::array<double, n> advance(std::array<double, n> y, double time, int steps, F&& f) {
  const double h = time / steps;
  const auto plus = [](std::array<double, n> a, const std::array<double, n>& b, double c) {
    for (std::size_t k = 0; k < n; ++k) a[k] += c * b[k];
    return a;
  };
  for (int i = 0; i < steps; ++i) {
    const auto k1 = f(y), k2 = f(plus(y, k1, h / 2)), k3 = f(plus(y, k2, h / 2)), k4 = f(plus(y, k3, h));
    for (std::size_t k = 0; k < n; ++k) y[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
  }
  return y;
}

Recipe order_four(double dt = 1e-3) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  return recipe;
}

/// A thin disc of radius r on a plane. With e1 level in its plane, e2 up in it and e3 its axis, theta the axis' angle to the
/// vertical and w its spin along these, Newton's and Euler's equations with the force at the point of touch taken out are
///   (I1 + m r^2) w1' = -(I3 + m r^2) w2 w3 + I1 w2^2 cot(theta) - m g r cos(theta)
///   I1 w2' = I3 w1 w3 - I1 w1 w2 cot(theta),    (I3 + m r^2) w3' = m r^2 w1 w2,
///   theta' = w1,   phi' = w2 / sin(theta),   x' = r (w1 e3 - w3 e1).
struct Disc {
  double m = 0.8, r = 0.3, I1 = 0.8 * 0.09 / 4, I3 = 0.8 * 0.09 / 2;
  // theta, phi, w1, w2, w3, x, y of the centre
  std::array<double, 7> y{};

  [[nodiscard]] Mat3 axes() const {
    const double s = std::sin(y[0]), c = std::cos(y[0]);
    const Vec3 e1(std::cos(y[1]), std::sin(y[1]), 0), across(-e1.y(), e1.x(), 0);
    Mat3 R;
    R << e1, c * across + s * Vec3::UnitZ(), -s * across + c * Vec3::UnitZ();
    return R;
  }
  [[nodiscard]] Vec3 center() const { return {y[5], y[6], r * std::sin(y[0])}; }
  [[nodiscard]] Vec3 velocity() const { return r * (y[2] * axes().col(2) - y[4] * axes().col(0)); }
  [[nodiscard]] Vec3 spin() const { return axes() * Vec3(y[2], y[3], y[4]); }

  void go(double time, int steps) {
    y = advance(y, time, steps, [this](const std::array<double, 7>& at) {
      Disc here = *this;
      here.y = at;
      const auto [theta, phi, w1, w2, w3, x, yy] = at;
      const double cot = std::cos(theta) / std::sin(theta), roll = m * r * r;
      const Vec3 v = here.velocity();
      return std::array{w1,
                        w2 / std::sin(theta),
                        (-(I3 + roll) * w2 * w3 + I1 * w2 * w2 * cot - m * g * r * std::cos(theta)) / (I1 + roll),
                        (I3 * w1 * w3 - I1 * w1 * w2 * cot) / I1,
                        roll * w1 * w2 / (I3 + roll),
                        v.x(),
                        v.y()};
    });
  }
  [[nodiscard]] Scene scene() const {
    Scene out;
    out.add({.name = "disc",
             .mass = m,
             .inertia = Mat3(Vec3(I1, I1, I3).asDiagonal()),
             .position = center(),
             .orientation = Quat(axes()),
             .velocity = velocity(),
             .angular_velocity = spin()});
    out.add(Rolling{.name = "ground", .between = {"world", "disc"}, .axis = axes().col(2), .radius = r});
    return out;
  }
};

double energy_of(const World& world) { return world.diagnostics().energy(); }

TEST(Rolling, ACoinKeepsItsSteadyCircle) {
  Disc disc;
  const double theta = 1.1, w2 = -2.5;
  const double w3 =
      (disc.I1 * w2 * w2 / std::tan(theta) - disc.m * g * disc.r * std::cos(theta)) / ((disc.I3 + disc.m * disc.r * disc.r) * w2);
  disc.y = {theta, 0.2, 0, w2, w3, 0.5, -0.4};
  World world(disc.scene(), order_four());
  const double before = energy_of(world), turn = w2 / std::sin(theta);
  // The centre's velocity turns at the rate of precession, without changing: a circle.
  const Vec3 v0 = disc.velocity();
  double worst = 0, worst_energy = 0, worst_lean = 0;
  for (int i = 1; i <= 2000; ++i) {
    world.step(1e-3);
    const Vec3 v = Eigen::AngleAxisd(turn * world.time(), Vec3::UnitZ()) * v0;
    worst = std::max(worst, (world.velocity("disc") - v).norm());
    worst_lean = std::max(worst_lean, std::abs((world.orientation("disc") * Vec3::UnitZ()).z() - std::cos(theta)));
    worst_energy = std::max(worst_energy, std::abs(energy_of(world) - before) / before);
  }
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(worst_lean, 1e-8);
  EXPECT_LT(worst_energy, 1e-10);
}

TEST(Rolling, ADiscReleasedAtAnAngleFollowsItsEquations) {
  Disc disc;
  disc.y = {0.9, 0.3, 0.2, 0.6, -4.0, 0, 0};
  World world(disc.scene(), order_four());
  const double before = energy_of(world);
  double worst = 0, worst_energy = 0;
  for (int i = 0; i < 1500; ++i) {
    world.step(1e-3);
    disc.go(1e-3, 4);
    worst = std::max({worst, (world.position("disc") - disc.center()).norm(), (world.velocity("disc") - disc.velocity()).norm(),
                      (world.orientation("disc") * Vec3::UnitZ() - disc.axes().col(2)).norm(),
                      (world.angular_velocity("disc") - disc.spin()).norm() / 10});
    worst_energy = std::max(worst_energy, std::abs(energy_of(world) - before) / before);
  }
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(worst_energy, 1e-9);
  // It does not slip, nor leave the plane, and is pushed up by what it weighs and what it is lifted by.
  const JointError error = world.joint_error(world.joint("ground"));
  EXPECT_LT(error.position, 1e-12);
  EXPECT_LT(error.velocity, 1e-11);
}

TEST(Rolling, ABallOnATurntableRunsInCirclesAtTwoSeventhsOfItsRate) {
  const double r = 0.1, m = 0.4, Omega = 3.0;
  const Vec3 p0(0.7, 0.2, r), v0(0.3, -0.5, 0);
  Scene scene;
  scene.add({.name = "table", .angular_velocity = Vec3(0, 0, Omega), .kinematic = true});
  const Vec3 d = (v0 - Vec3(0, 0, Omega).cross(p0)) / r;  // spin x z, so that the lowest point has the table's velocity
  scene.add({.name = "ball",
             .mass = m,
             .inertia = Mat3(0.4 * m * r * r * Mat3::Identity()),
             .position = p0,
             .velocity = v0,
             .angular_velocity = Vec3(-d.y(), d.x(), 0.7)});
  scene.add(Rolling{.between = {"table", "ball"}, .radius = r});
  World world(scene, order_four());
  const double rate = 2.0 / 7 * Omega;
  double worst = 0;
  for (int i = 1; i <= 3000; ++i) {
    world.step(1e-3);
    const double t = world.time();
    const Vec3 v = Eigen::AngleAxisd(rate * t, Vec3::UnitZ()) * v0;
    const Vec3 p = p0 + Vec3(std::sin(rate * t) * v0.x() - (1 - std::cos(rate * t)) * v0.y(),
                             (1 - std::cos(rate * t)) * v0.x() + std::sin(rate * t) * v0.y(), 0) /
                            rate;
    worst = std::max({worst, (world.velocity("ball") - v).norm(), (world.position("ball") - p).norm()});
  }
  EXPECT_LT(worst, 1e-8);
}

/// Chaplygin's sleigh: a blade at P, the centre of mass G a distance a ahead of it. v' = a w^2, (I + m a^2) w' = -m a w v.
struct Sleigh {
  double m = 1.2, I = 0.3, a = 0.4;
  std::array<double, 5> y{0.5, 0.8, 0.3, 0, 0};  // v, w, heading, x and y of P

  void go(double time, int steps) {
    y = advance(y, time, steps, [this](const std::array<double, 5>& at) {
      const auto [v, w, heading, px, py] = at;
      return std::array{a * w * w, -m * a * w * v / (I + m * a * a), w, v * std::cos(heading), v * std::sin(heading)};
    });
  }
  [[nodiscard]] Vec3 ahead() const { return {std::cos(y[2]), std::sin(y[2]), 0}; }
  [[nodiscard]] Vec3 blade() const { return {y[3], y[4], 0}; }
  [[nodiscard]] Vec3 velocity() const { return y[0] * ahead() + a * y[1] * Vec3(-ahead().y(), ahead().x(), 0); }
  [[nodiscard]] Scene scene() const {
    Scene out;
    out.add({.name = "sleigh",
             .mass = m,
             .inertia = Mat3(Vec3(0.2, 0.2, I).asDiagonal()),
             .center_of_mass = Vec3(a, 0, 0),
             .position = blade(),
             .orientation = Quat(Eigen::AngleAxisd(y[2], Vec3::UnitZ())),
             .velocity = velocity(),
             .angular_velocity = Vec3(0, 0, y[1])});
    out.add(Planar{.name = "ice", .between = {"world", "sleigh"}, .at = blade()});
    out.add(KnifeEdge{.name = "blade", .between = {"world", "sleigh"}, .at = blade(), .blade = ahead()});
    return out;
  }
};

TEST(KnifeEdge, ChaplyginsSleighFollowsItsEquations) {
  Sleigh sleigh;
  World world(sleigh.scene(), order_four());
  const double before = energy_of(world);
  double worst = 0, worst_energy = 0;
  for (int i = 0; i < 3000; ++i) {
    world.step(1e-3);
    sleigh.go(1e-3, 2);
    worst = std::max({worst, (world.position("sleigh") - sleigh.blade()).norm(),
                      (world.velocity("sleigh") - sleigh.velocity()).norm(),
                      std::abs(world.angular_velocity("sleigh").z() - sleigh.y[1])});
    worst_energy = std::max(worst_energy, std::abs(energy_of(world) - before) / std::abs(before));
  }
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(worst_energy, 1e-10);
  // The sideways force is m (v w + a w').
  const auto [v, w, heading, x, y] = sleigh.y;
  const double side = sleigh.m * (v * w - sleigh.a * sleigh.m * sleigh.a * w * v / (sleigh.I + sleigh.m * sleigh.a * sleigh.a));
  EXPECT_NEAR(world.joint_force("blade").force.dot(Vec3(-std::sin(heading), std::cos(heading), 0)), side, 1e-7);
}

TEST(KnifeEdge, EveryMethodFollowsItOrRefusesByName) {
  // Halving the step gains a method's order, or it is as near as rounding lets it be; what cannot says so.
  const double duration = 1.0;
  Sleigh sleigh;
  const Scene scene = sleigh.scene();
  sleigh.go(duration, 4000);
  int followed = 0, refused = 0;
  for (const IntegratorSettings& integrator : testing::every_integrator()) {
    SCOPED_TRACE(name_of(integrator));
    Recipe recipe = recipes::exact();
    recipe.integrator = integrator;
    const auto error = [&](double dt) {
      Recipe with = recipe;
      with.dt = dt;
      World world(scene, with);
      run_for(world, duration);
      return (world.position("sleigh") - sleigh.blade()).norm();
    };
    try {
      const double coarse = error(0.02), fine = error(0.01);
      const IntegratorTraits traits = std::visit([](const auto& settings) { return settings.traits; }, recipe.integrator);
      if (!traits.adaptive && fine > 1e-11) {
        EXPECT_GT(coarse / fine, 0.75 * std::pow(2.0, std::min(traits.order, 8))) << coarse << " " << fine;
      }
      EXPECT_LT(fine, traits.adaptive ? 1e-4 : 0.1);
      ++followed;
    } catch (const Error& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("constraints on velocities"), std::string::npos) << refusal.what();
      ++refused;
    }
  }
  EXPECT_GT(followed, 10);
  EXPECT_GT(refused, 0) << "rattle";
}

TEST(Rolling, ByImpulsesConvergesToTheSameMotion) {
  Disc start;
  start.y = {0.9, 0.3, 0.2, 0.6, -4.0, 0, 0};
  const auto error = [&](double dt) {
    Recipe recipe = recipes::balanced();
    recipe.dt = dt;
    World world(start.scene(), recipe);
    Disc disc = start;
    run_for(world, 0.5);
    disc.go(0.5, 500);
    return (world.position("disc") - disc.center()).norm();
  };
  const double coarse = error(1e-3), fine = error(5e-4);
  EXPECT_LT(fine, 5e-3);
  EXPECT_LT(fine, 0.7 * coarse);
}

TEST(Rolling, ABicycleLeansAndSteersAsItsLinearEquationsSay) {
  // Whipple's bicycle in the data of Meijaard, Papadopoulos, Ruina and Schwab (2007): two wheels that roll, frame and fork, with
  // x ahead and z down. Their equations for a small lean and steer at speed v, M q'' + v C1 q' + (9.81 K0 + v^2 K2) q = 0.
  const double v = 4.6, small = 1e-3, w = 1.02, c = 0.08, tilt = pi / 10, r = 0.3, r_front = 0.35;
  Scene scene;
  scene.gravity = Vec3(0, 0, 9.81);
  const auto add = [&](const char* name, double mass, const Vec3& at, const Vec3& I, double xz, double rate) {
    Mat3 inertia = I.asDiagonal();
    inertia(0, 2) = inertia(2, 0) = xz;
    scene.add({.name = name,
               .mass = mass,
               .inertia = inertia,
               .position = at,
               .velocity = Vec3(v, -small * at.z(), 0),
               .angular_velocity = Vec3(small, rate, 0)});
  };
  add("rear", 2, {0, 0, -r}, {0.0603, 0.12, 0.0603}, 0, -v / r);
  add("frame", 85, {0.3, 0, -0.9}, {9.2, 11, 2.8}, 2.4, 0);
  add("fork", 4, {0.9, 0, -0.7}, {0.05892, 0.06, 0.00708}, -0.00756, 0);
  add("front", 3, {w, 0, -r_front}, {0.1405, 0.28, 0.1405}, 0, -v / r_front);
  const Vec3 up(0, 0, -1), across(0, 1, 0);
  scene.add(Rolling{.between = {"world", "rear"}, .normal = up, .axis = across, .radius = r});
  scene.add(Rolling{.between = {"world", "front"}, .normal = up, .axis = across, .radius = r_front});
  scene.add(Hinge{.between = {"frame", "rear"}, .at = {0, 0, -r}, .axis = across});
  scene.add(Hinge{.between = {"fork", "front"}, .at = {w, 0, -r_front}, .axis = across});
  scene.add(
      Hinge{.name = "steer", .between = {"frame", "fork"}, .at = {w + c, 0, 0}, .axis = {std::sin(tilt), 0, std::cos(tilt)}});
  Recipe recipe = order_four(2e-3);
  recipe.integrator = DormandPrince8Settings{};
  World world(scene, recipe);
  const double before = energy_of(world);
  run_for(world, 2);
  EXPECT_NEAR(energy_of(world), before, 1e-12 * before);

  const Eigen::Matrix2d M{{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}},
      C1{{0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}},
      K0{{-80.95, -2.59951685249872}, {-2.59951685249872, -0.80329488458618}}, K2{{0, 76.59734589573222}, {0, 2.65431523794604}};
  const Eigen::Matrix2d stiffness = 9.81 * K0 + v * v * K2, inverse = M.inverse();
  const auto linear = advance(std::array<double, 4>{0, 0, 1, 0}, 2, 4000, [&](const std::array<double, 4>& y) {
    const Eigen::Vector2d q(y[0], y[1]), rate(y[2], y[3]), a = -inverse * (v * C1 * rate + stiffness * q);
    return std::array{y[2], y[3], a.x(), a.y()};
  });
  const double lean = std::asin((world.orientation("frame") * Vec3::UnitY()).z());
  EXPECT_NEAR(lean / small, linear[0], 1e-6);  // of second order in `small`
  EXPECT_NEAR(world.joint_position(world.joint("steer")) / small, linear[1], 1e-6);
}

TEST(Rolling, RefusesAFlatDisc) {
  Scene scene;
  scene.add({.name = "disc", .mass = 1, .inertia = Mat3(Mat3::Identity())});
  scene.add(Rolling{.between = {"world", "disc"}, .axis = Vec3(0, 0, 1)});
  EXPECT_THROW(World(scene, recipes::exact()), Error);
}

}  // namespace
}  // namespace rotule
