// Drives of joints by methods of accelerations: against closed forms, and at the order of the method (A3).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <numbers>

#include "support/constants.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::g;

Recipe by(const std::string& integrator, double dt) {
  Recipe recipe = recipes::exact();
  set(recipe, "integrator", integrator);
  recipe.dt = dt;
  return recipe;
}
Recipe by_tolerance(const std::string& integrator, double tolerance, double dt) {
  Recipe recipe = by(integrator, dt);
  set(recipe, "integrator.relative_tolerance", fmt::format("{}", tolerance));
  return recipe;
}

void run_until(World& world, double end) {
  const double dt = world.recipe().dt;
  const auto steps = static_cast<long>(std::llround((end - world.time()) / dt));
  for (long i = 0; i < steps; ++i) world.step(i + 1 < steps ? dt : end - world.time());
}

/// One body on a rail along x.
Scene on_a_rail(double mass, const Drive& drive, double velocity = 0, double gravity = 0) {
  Scene scene;
  scene.gravity = {-gravity, 0, 0};
  scene.add({.name = "block", .mass = mass, .inertia = Mat3(Mat3::Identity() * 0.01), .velocity = {velocity, 0, 0}});
  scene.add(Slider{.name = "rail", .between = {"world", "block"}, .axis = {1, 0, 0}, .drive = drive});
  return scene;
}

// A planar four-bar in the plane of x and y: pivots at the origin and at (d, 0), crank a, coupler b, rocker c.
struct FourBar {
  double a = 0.3, b = 0.9, c = 0.7, d = 0.8;
  double m_a = 1.2, m_b = 2.1, m_c = 1.5;
  double theta_0 = 0.6;

  struct Motion {
    Eigen::Vector3d angle, rate, acceleration;  // of crank, coupler, rocker
  };
  static Eigen::Vector2d along(double angle) { return {std::cos(angle), std::sin(angle)}; }
  static Eigen::Vector2d across(double angle) { return {-std::sin(angle), std::cos(angle)}; }
  [[nodiscard]] static double moment(double mass, double length) { return mass * length * length / 12; }

  [[nodiscard]] Motion at(double theta, double rate, double acceleration) const {
    const Eigen::Vector2d A = a * along(theta), C(d, 0), between = C - A;
    const double r = between.norm(), x = (b * b - c * c + r * r) / (2 * r), y = std::sqrt(b * b - x * x);
    const Eigen::Vector2d n = between / r, B = A + x * n + y * Eigen::Vector2d(-n.y(), n.x());
    Motion out;
    out.angle << theta, std::atan2(B.y() - A.y(), B.x() - A.x()), std::atan2(B.y(), B.x() - d);
    Eigen::Matrix2d M;
    M << b * across(out.angle[1]), -c * across(out.angle[2]);
    const Eigen::Vector2d w = M.inverse() * (-a * rate * across(theta));
    out.rate << rate, w;
    const Eigen::Vector2d turning = -a * (acceleration * across(theta) - rate * rate * along(theta)) +
                                    b * w[0] * w[0] * along(out.angle[1]) - c * w[1] * w[1] * along(out.angle[2]);
    out.acceleration << acceleration, Eigen::Vector2d(M.inverse() * turning);
    return out;
  }

  /// What the crank needs, by the balance of power: sum of (m (a - g) . v + I alpha omega) over its rate.
  [[nodiscard]] double torque(double theta, double rate, double acceleration) const {
    const Motion q = at(theta, rate, acceleration);
    const Eigen::Vector2d weight(0, -g);
    const auto share = [&](double mass, double length, int k, const Eigen::Vector2d& v_0, const Eigen::Vector2d& a_0) {
      const Eigen::Vector2d v = v_0 + 0.5 * length * q.rate[k] * across(q.angle[k]);
      const Eigen::Vector2d acc =
          a_0 + 0.5 * length * (q.acceleration[k] * across(q.angle[k]) - q.rate[k] * q.rate[k] * along(q.angle[k]));
      return mass * (acc - weight).dot(v) + moment(mass, length) * q.acceleration[k] * q.rate[k];
    };
    const Eigen::Vector2d none = Eigen::Vector2d::Zero();
    const Eigen::Vector2d v_A = a * rate * across(theta), a_A = a * (acceleration * across(theta) - rate * rate * along(theta));
    return (share(m_a, a, 0, none, none) + share(m_b, b, 1, v_A, a_A) + share(m_c, c, 2, none, none)) / rate;
  }

  /// With the velocities that the crank's rate gives.
  [[nodiscard]] Scene scene(const Drive& on_crank, const Drive& on_rocker = {}, double rate = 0,
                            const Drive& elsewhere = {}) const {
    const Motion q = at(theta_0, rate, 0);
    Scene out;
    out.gravity = {0, -g, 0};
    const auto bar = [&](const std::string& name, const Eigen::Vector2d& from, const Eigen::Vector2d& v_from, double length,
                         int k, double mass) {
      const Eigen::Vector2d p = from + 0.5 * length * along(q.angle[k]),
                            v = v_from + 0.5 * length * q.rate[k] * across(q.angle[k]);
      const double I = moment(mass, length);
      out.add({.name = name,
               .mass = mass,
               .inertia = Mat3(Vec3(0.1 * I, I, I).asDiagonal()),
               .position = {p.x(), p.y(), 0},
               .orientation = Quat(Eigen::AngleAxisd(q.angle[k], Vec3::UnitZ())),
               .velocity = {v.x(), v.y(), 0},
               .angular_velocity = {0, 0, q.rate[k]}});
    };
    const Eigen::Vector2d A = a * along(theta_0), C(d, 0), B = C + c * along(q.angle[2]);
    bar("crank", {0, 0}, {0, 0}, a, 0, m_a);
    bar("coupler", A, a * q.rate[0] * across(theta_0), b, 1, m_b);
    bar("rocker", C, {0, 0}, c, 2, m_c);
    out.add(Hinge{.name = "crank_pin", .between = {"world", "crank"}, .at = {0, 0, 0}, .drive = on_crank});
    out.add(Hinge{.name = "knee", .between = {"crank", "coupler"}, .at = {A.x(), A.y(), 0}, .drive = elsewhere});
    out.add(Hinge{.name = "elbow", .between = {"coupler", "rocker"}, .at = {B.x(), B.y(), 0}, .drive = elsewhere});
    out.add(Hinge{.name = "rocker_pin", .between = {"world", "rocker"}, .at = {d, 0, 0}, .drive = on_rocker});
    return out;
  }
};

TEST(DrivesAtFullOrder, AFourBarAtConstantSpeedNeedsTheTorqueOfItsPowerBalance) {
  const FourBar bar;
  constexpr double rate = 5;
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss4", "rattle"}) {
    World world(bar.scene({.motion = GivenMotion{.speed = rate}}), by(integrator, 2 * pi / rate / 200));
    double largest = 0, worst = 0;
    for (int i = 0; i < 200; ++i) {
      world.step();
      const double expected = bar.torque(bar.theta_0 + rate * world.time(), rate, 0);
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(world.joint_force("crank_pin").drive[5] - expected));
    }
    EXPECT_LT(worst, 1e-9 * largest) << integrator;
    EXPECT_NEAR(world.angular_velocity("crank").z(), rate, 1e-9) << integrator;
  }
}

TEST(DrivesAtFullOrder, ASineNeedsItsOwnTorqueToo) {
  const FourBar bar;
  const GivenMotion sine{.speed = 1, .amplitude = 0.4, .frequency = 7};
  World world(bar.scene({.motion = sine}), by("rk4", 1e-3));
  for (int i = 0; i < 300; ++i) {
    world.step();
    const auto [angle, rate, acceleration] = sine.at(world.time());
    if (std::abs(rate) < 0.1) continue;
    const double expected = bar.torque(bar.theta_0 + angle, rate, acceleration);
    ASSERT_NEAR(world.joint_force("crank_pin").drive[5], expected, 1e-8 * (1 + std::abs(expected))) << world.time();
  }
}

/// m x'' = -k x - F sgn(x'): half swings of cosine about +-F/k, until |k x| <= F.
TEST(DrivesAtFullOrder, AFormulaNeedsTheTorqueOfItsNumbers) {
  const FourBar bar;
  const GivenMotion sine{.speed = 1, .amplitude = 0.4, .frequency = 7};
  const Scene by_formula = bar.scene({.motion = GivenMotion{.speed = 0.25, .formula = "0.75*t + 0.4*sin(7*t)"}});
  const Scene read = parse_scene(to_json(by_formula));
  World numbers(bar.scene({.motion = sine}), by("rk4", 1e-3)), formula(read, by("rk4", 1e-3));
  for (int i = 0; i < 300; ++i) {
    numbers.step();
    formula.step();
    const double expected = numbers.joint_force("crank_pin").drive[5];
    ASSERT_NEAR(formula.joint_force("crank_pin").drive[5], expected, 1e-9 * (1 + std::abs(expected))) << i;
  }
}

/// By impulses the torque has the arm's inertia in it too, to first order in the step, and the books close on it.
TEST(DrivesAtFullOrder, ByImpulsesAMotionTakesItsTorqueToFirstOrder) {
  constexpr double l = 1.2, m = 5, omega = 2, amplitude = 0.7;
  const double inertia = m * (l * l + 0.01) / 12 + m * l * l / 4;
  double before = 0, left_before = 0;
  for (const double dt : {4e-3, 2e-3, 1e-3}) {
    Scene scene;
    scene.add({.name = "arm", .mass = m, .position = {l / 2, 0, 0}, .shape = Box{{l, 0.1, 0.1}}});
    scene.add(Hinge{.name = "pin",
                    .between = {"world", "arm"},
                    .axis = Vec3::UnitY(),
                    .drive = {.motion = GivenMotion{.formula = fmt::format("{}*(1 - cos({}*t))", amplitude, omega)}}});
    Recipe recipe = recipes::realtime();
    recipe.stepper = ReferenceStepperSettings{};
    recipe.dt = dt;
    World world(scene, recipe);
    world.keep_books(true);
    double worst = 0;
    for (int i = 1; i * dt <= 3; ++i) {
      world.step();
      const double t = i * dt - 0.5 * dt, q = amplitude * (1 - std::cos(omega * t));
      const double expected = inertia * amplitude * omega * omega * std::cos(omega * t) - m * g * l / 2 * std::cos(q);
      worst = std::max(worst, std::abs(world.joint_force("pin").drive[5] - expected));
    }
    EXPECT_LT(worst, 40 * dt);
    if (before > 0) {
      EXPECT_NEAR(before / worst, 2, 0.3);
    }
    before = worst;
    const double left = std::abs(world.diagnostics().energy_balance.left_over);
    EXPECT_LT(left, 40 * dt);
    if (left_before > 0) {
      EXPECT_NEAR(left_before / left, 2, 0.05);
    }
    left_before = left;
  }
}

TEST(DrivesAtFullOrder, FormulasThatMakeNoSenseAreRefusedByName) {
  const auto told = [](const char* formula) {
    Scene scene = FourBar().scene({.motion = GivenMotion{.formula = formula}});
    try {
      World world(scene, by("rk4", 1e-3));
      for (int i = 0; i < 20; ++i) world.step();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(told("sin(").find("/motion/formula"), std::string::npos) << told("sin(");
  EXPECT_NE(told("q + t").find("/motion/formula"), std::string::npos) << told("q + t");
  EXPECT_NE(told("sqrt(0.01 - t)").find("sqrt(0.01 - t)"), std::string::npos) << told("sqrt(0.01 - t)");
}

TEST(DrivesAtFullOrder, AnOscillatorWithDryFrictionStopsWhereItMust) {
  constexpr double m = 2, k = 50, F = 3, x_0 = 0.4;
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss6", "gauss4", "implicit_midpoint", "rattle4"}) {
    Scene scene = on_a_rail(m, {.friction = F, .stiffness = k, .rest = -x_0});  // x from the slack spring: q + x_0
    World world(scene,
                integrator == std::string("dormand_prince_8") ? by_tolerance(integrator, 1e-12, 0.02) : by(integrator, 0.01));
    const double half = pi / std::sqrt(k / m), step = F / k;
    run_until(world, 1.5 * half);
    // In its second half swing, from -(x_0 - 2 F/k) about -F/k.
    const double amplitude = x_0 - 3 * step;
    const bool second_order = integrator == std::string("implicit_midpoint");
    EXPECT_NEAR(world.position("block").x() + x_0, -step - amplitude * std::cos(pi / 2), second_order ? 3e-4 : 1e-7)
        << integrator;
    run_until(world, 4.2 * half);
    // 0.4, -0.28, 0.16, -0.04: |k x| = 2 < 3.
    EXPECT_NEAR(world.position("block").x() + x_0, -0.04, second_order ? 3e-5 : 1e-8) << integrator;
    EXPECT_NEAR(world.velocity("block").x(), 0, 1e-14) << integrator;
    EXPECT_NEAR(world.joint_force("rail").drive[2], 0, 1e-9) << integrator;  // friction holds what the spring pulls
  }
}

TEST(DrivesAtFullOrder, StopsThrowBackByTheirRestitution) {
  constexpr double height = 0.5, e = 0.7;
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss4", "ab4", "leapfrog"}) {
    World world(on_a_rail(1, {.lower = -height, .restitution = e}, 0, g), by(integrator, 7e-3));
    const double first = std::sqrt(2 * height / g);
    const double speed = g * first;
    const double second = first + 2 * e * speed / g, third = second + 2 * e * e * speed / g;
    const double t = third + 0.4 * e * e * e * speed / g;
    run_until(world, t);
    const double v = e * e * e * speed, since = t - third;
    EXPECT_NEAR(world.position("block").x(), -height + v * since - 0.5 * g * since * since, 1e-9) << integrator;
    EXPECT_NEAR(world.velocity("block").x(), v - g * since, 1e-9) << integrator;
    run_until(world, 3.5);
    EXPECT_NEAR(world.position("block").x(), -height, 1e-9) << integrator;
    EXPECT_NEAR(world.velocity("block").x(), 0, 1e-12) << integrator;
    EXPECT_NEAR(world.joint_force("rail").drive[2], g, 1e-9) << integrator;
    EXPECT_NEAR(world.diagnostics().shock_energy, g * height, 1e-6) << integrator;
  }
}

/// I w' = S until the speed is reached; held there against a load that grows with the angle; let go where that exceeds S.
TEST(DrivesAtFullOrder, AMotorReachesItsSpeedHoldsItAndGivesWay) {
  constexpr double I = 0.3, S = 2, speed = 2, k = 1.5;
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "wheel", .mass = 1.0, .inertia = Mat3(Vec3(0.2, 0.2, I).asDiagonal())});
  scene.add(Hinge{
      .name = "shaft", .between = {"world", "wheel"}, .drive = {.motor_speed = speed, .motor_strength = S, .stiffness = k}});
  // While it speeds up: I q'' = S - k q, q = S/k (1 - cos w t).
  const double w = std::sqrt(k / I), reached = std::asin(speed * w * I / S) / w;
  const double q_1 = S / k * (1 - std::cos(w * reached));
  const double let_go = reached + (S / k - q_1) / speed;
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss6", "rattle4"}) {
    World world(scene, by(integrator, 2e-3));
    const auto angle = [&] {
      const Quat q = world.orientation("wheel");
      return 2 * std::atan2(q.z(), q.w());
    };
    run_until(world, 0.5 * (reached + let_go));
    EXPECT_NEAR(world.angular_velocity("wheel").z(), speed, 1e-12) << integrator;
    EXPECT_NEAR(angle(), q_1 + speed * (world.time() - reached), 1e-8) << integrator;
    EXPECT_NEAR(world.joint_force("shaft").drive[5], 0, 1e-8) << integrator;  // the motor less the spring
    run_until(world, let_go + 0.2);
    // I q'' = S - k q from q = S/k at the speed: sin.
    EXPECT_NEAR(angle(), S / k + speed / w * std::sin(w * 0.2), 1e-8) << integrator;
  }
}

/// The error at the end over steps of h and h/4, as an order: where stretches end is another matter at every step.
double order_of(const Scene& scene, const std::string& integrator, double h, double end, const Vec3& exact_p, const Vec3& exact_w,
                const std::string& body) {
  std::array<double, 2> error{};
  for (int k = 0; k < 2; ++k) {
    World world(scene, by(integrator, k == 0 ? h : h / 4));
    run_until(world, end);
    error[static_cast<std::size_t>(k)] =
        (world.position(body) - exact_p).norm() + (world.angular_velocity(body) - exact_w).norm();
  }
  return 0.5 * std::log2(error[0] / error[1]);
}

TEST(DrivesAtFullOrder, MethodsKeepTheirOrderWithDrivesOn) {
  const FourBar bar;
  const Drive motor{.motor_speed = 6, .motor_strength = 8, .friction = 0.4, .motor_torque = 1};
  const Drive spring{.upper = 1.2, .stiffness = 12, .damping = 0.6, .rest = 0.2, .restitution = 0.5};
  struct Case {
    const char* integrator;
    double h, order;
  };
  for (const bool switching : {false, true}) {
    const Scene scene =
        switching ? bar.scene(motor, spring)
                  : bar.scene({.motor_torque = 4}, {.stiffness = 12, .damping = 0.6, .rest = 0.2}, 1.0, {.damping = 0.02});
    constexpr double end = 0.6;
    World exact(scene, by_tolerance("dormand_prince_8", 1e-13, end));
    run_until(exact, end);
    for (const Case& c : {Case{"rk4", 0.01, 4}, Case{"gauss4", 0.04, 4}, Case{"gauss6", 0.1, 6}, Case{"rk2", 5e-3, 2},
                          Case{"sdirk", 0.02, 3}, Case{"taylor3", 0.01, 3}, Case{"implicit_midpoint", 5e-3, 2}}) {
      const double order =
          order_of(scene, c.integrator, c.h, end, exact.position("coupler"), exact.angular_velocity("coupler"), "coupler");
      EXPECT_GT(order, c.order - 0.5) << c.integrator << (switching ? " with events" : "");
    }
  }
}

/// A method with error control whose tolerance asks for nothing: its steps are h.
Recipe by_equal_steps(const std::string& integrator, double h) {
  Recipe recipe = by(integrator, h);
  set(recipe, "integrator.relative_tolerance", "0.1");
  set(recipe, "integrator.absolute_tolerance", "1");
  return recipe;
}

/// Crank, connecting rod and piston; the crank is driven, spring and damper act on the piston.
Scene slider_crank(const Drive& crank, const Drive& piston) {
  constexpr double r = 0.2, l = 0.7, theta = 0.5;
  const double x = r * std::cos(theta), y = r * std::sin(theta), tilt = std::asin(y / l), end = x + l * std::cos(tilt);
  Scene scene;
  scene.gravity = {0, -g, 0};
  const auto about_z = [](double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ())); };
  const auto bar = [&](const char* name, double mass, double length, const Vec3& middle, double angle) {
    const double I = mass * length * length / 12;
    scene.add({.name = name,
               .mass = mass,
               .inertia = Mat3(Vec3(0.1 * I, I, I).asDiagonal()),
               .position = middle,
               .orientation = about_z(angle)});
  };
  bar("crank", 1.1, r, {x / 2, y / 2, 0}, theta);
  bar("rod", 0.8, l, {(x + end) / 2, y / 2, 0}, -tilt);
  scene.add({.name = "piston", .mass = 1.5, .inertia = Mat3(Mat3::Identity() * 0.01), .position = {end, 0, 0}});
  scene.add(Hinge{.name = "shaft", .between = {"world", "crank"}, .axis = {0, 0, 1}, .drive = crank});
  scene.add(Hinge{.between = {"crank", "rod"}, .at = {x, y, 0}, .axis = {0, 0, 1}});
  scene.add(Hinge{.between = {"rod", "piston"}, .at = {end, 0, 0}, .axis = {0, 0, 1}});
  scene.add(Slider{.name = "bore", .between = {"world", "piston"}, .at = {end, 0, 0}, .axis = {1, 0, 0}, .drive = piston});
  return scene;
}

/// Six axes, turned against each other as in an industrial arm, each with a drive of its own.
Scene arm_of_six_axes(const std::array<Drive, 6>& drives) {
  const std::array<Vec3, 6> axes{Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitY(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitX()};
  Scene scene;
  std::string before = "world";
  Vec3 at(0, 0, 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::string name = fmt::format("link{}", k + 1);
    const Vec3 next = at + (k == 0 ? Vec3(0, 0, 0.3) : Vec3(0.35 - 0.05 * static_cast<double>(k), 0, 0.05));
    const double mass = 6.0 / static_cast<double>(k + 1);
    scene.add({.name = name,
               .mass = mass,
               .inertia = Mat3(mass * Vec3(0.004, 0.01, 0.012).asDiagonal()),
               .position = 0.5 * (at + next)});
    scene.add(Hinge{.name = "axis" + name.substr(4), .between = {before, name}, .at = at, .axis = axes[k], .drive = drives[k]});
    before = name;
    at = next;
  }
  return scene;
}

TEST(DrivesAtFullOrder, SliderCrankAndArmKeepTheOrdersOfTheMethods) {
  std::array<Drive, 6> servos;
  for (std::size_t k = 0; k < servos.size(); ++k)
    servos[k] = {.stiffness = 60.0 / static_cast<double>(k + 1),
                 .damping = 0.3 / static_cast<double>(k + 1),
                 .rest = 0.3,
                 .motor_torque = 0.5};
  struct Mechanism {
    const char* name;
    Scene scene;
    std::string body;
    double end, rk4, gauss6, dp8;  // s; steps at which errors are the method's own
  };
  for (const Mechanism& m :
       {Mechanism{"slider_crank",
                  slider_crank({.damping = 0.05, .motor_torque = 3}, {.stiffness = 40, .damping = 2, .rest = -0.1}), "rod", 0.6,
                  0.00125, 0.01, 0.01},
        Mechanism{"arm", arm_of_six_axes(servos), "link6", 0.4, 0.0025, 0.01, 0.01}}) {
    World exact(m.scene, by_tolerance("dormand_prince_8", 1e-14, m.end));
    run_until(exact, m.end);
    const auto error = [&](const Recipe& recipe) {
      World world(m.scene, recipe);
      run_until(world, m.end);
      return (world.position(m.body) - exact.position(m.body)).norm() +
             (world.angular_velocity(m.body) - exact.angular_velocity(m.body)).norm();
    };
    const auto order = [&](auto&& recipe, double h) { return std::log2(error(recipe(h)) / error(recipe(h / 2))); };
    const auto rk4 = [](double h) { return by("rk4", h); };
    const auto gauss6 = [](double h) { return by("gauss6", h); };
    const auto dp8 = [](double h) { return by_equal_steps("dormand_prince_8", h); };
    EXPECT_NEAR(order(rk4, m.rk4), 4, 0.3) << m.name;
    EXPECT_NEAR(order(gauss6, m.gauss6), 6, 0.6) << m.name;
    EXPECT_NEAR(order(dp8, m.dp8), 8, 0.8) << m.name;
  }
}

/// All four hinges rub, more than enough to carry the weight: who carries how much is not unique, but nothing moves.
TEST(DrivesAtFullOrder, FrictionInALoopHolds) {
  const FourBar bar;
  const Drive rub{.friction = 6};
  World world(bar.scene(rub, rub, 0, rub), by("rk4", 0.01));
  const Vec3 p = world.position("coupler");
  for (int i = 0; i < 50; ++i) {
    const StepReport& report = world.step();
    ASSERT_TRUE(report.converged);
    ASSERT_EQ(report.late_shocks, 0);
    ASSERT_LT(report.inner_steps, 5);
  }
  EXPECT_LT((world.position("coupler") - p).norm(), 1e-12);
}

/// Speeds, strengths and limits may be changed between steps.
TEST(DrivesAtFullOrder, ServosAreHeldByTheirStrength) {
  constexpr double m = 2, k = 400, d = 30, most = 5, target = 0.3;
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss4"}) {
    World world(on_a_rail(m, {.stiffness = k, .damping = d, .rest = target, .spring_strength = most}), by(integrator, 1e-3));
    // At the end of its strength at first: x = most/m t^2/2, until k (target - x) - d x' = most.
    double t = 0.3;
    for (int i = 0; i < 50; ++i) {
      const double a = most / m;
      t -= (k * (target - a * t * t / 2) - d * a * t - most) / (-k * a * t - d * a);
    }
    run_until(world, t);
    EXPECT_NEAR(world.position("block").x(), most / m * t * t / 2, 1e-10) << integrator;
    EXPECT_NEAR(world.joint_force("rail").drive[2], most, 1e-6) << integrator;
    run_until(world, 3);
    EXPECT_NEAR(world.position("block").x(), target, 1e-6) << integrator;
  }
}

TEST(DrivesAtFullOrder, WhatIsGivenSurvivesAFileAndFunctionsDoNot) {
  Scene scene = on_a_rail(1, {.motion = GivenMotion{.offset = 0.1, .amplitude = 0.2, .frequency = 3, .phase = 1}});
  const Scene back = parse_scene(to_json(scene));
  EXPECT_EQ(std::get<Slider>(back.joints.front()).drive, std::get<Slider>(scene.joints.front()).drive);
  std::get<Slider>(scene.joints.front()).drive.motion->function = [](double) { return std::array<double, 3>{}; };
  EXPECT_THROW(static_cast<void>(to_json(scene)), Error);
  std::get<Slider>(scene.joints.front()).drive = {.friction = 1, .motion = GivenMotion{}};
  EXPECT_THROW(World{scene}, Error);
}

}  // namespace
}  // namespace rotule
