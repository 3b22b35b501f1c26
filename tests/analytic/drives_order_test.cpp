// Drives of joints by methods of accelerations: against closed forms, and at the order of the method (A3).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <array>
#include <cmath>
#include <numbers>

#include "support/constants.h"
#include "support/four_bar.h"

namespace rotule {
namespace {

using std::numbers::pi;
using testing::FourBar;
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

TEST(DrivesAtFullOrder, AFourBarKeepsTheOrderOfTheEighthOrderMethod) {
  const Scene scene =
      FourBar().scene({.motor_torque = 4}, {.stiffness = 12, .damping = 0.6, .rest = 0.2}, 1.0, {.damping = 0.02});
  constexpr double end = 0.6;
  World exact(scene, by_tolerance("dormand_prince_8", 1e-14, end));
  run_until(exact, end);
  const auto error = [&](double h) {
    World world(scene, by_equal_steps("dormand_prince_8", h));
    run_until(world, end);
    return (world.position("coupler") - exact.position("coupler")).norm() +
           (world.angular_velocity("coupler") - exact.angular_velocity("coupler")).norm();
  };
  EXPECT_NEAR(std::log2(error(0.06) / error(0.03)), 8, 0.5);
}

/// Motors that hold their speed as far as they can, stops, dry friction, springs and dampers, all at once.
struct Driven {
  const char* name;
  Scene scene;
  std::string body;
  double end, rk4, gauss6, dp8;  // s; steps at which errors are the method's own
};
std::array<Driven, 3> with_all_drives(double restitution_of_arm) {
  std::array<Drive, 6> arm;
  arm[0] = {.motor_speed = 1, .motor_strength = 3, .friction = 0.2};
  arm[1] = {.lower = -0.1, .upper = 0.1, .stiffness = 120, .damping = 1, .rest = 0.1, .restitution = restitution_of_arm};
  arm[2] = {.lower = -0.1, .upper = 0.15, .friction = 0.5, .stiffness = 60, .damping = 0.5, .restitution = restitution_of_arm};
  arm[3] = {.motor_speed = -1, .motor_strength = 0.5, .friction = 0.1};
  arm[4] = {.stiffness = 20, .damping = 0.2, .rest = 0.3, .spring_strength = 4};
  arm[5] = {.friction = 0.02, .motor_torque = 0.1};
  const Drive crank{.motor_speed = 6, .motor_strength = 8, .friction = 0.4, .motor_torque = 1};
  const Drive rocker{.upper = 0.4, .stiffness = 12, .damping = 0.6, .rest = 0.2, .restitution = 0.5};
  const Drive shaft{.motor_speed = 8, .motor_strength = 8, .friction = 0.3, .damping = 0.05};
  const Drive piston{
      .lower = -0.25, .upper = 0.2, .friction = 1, .stiffness = 40, .damping = 2, .rest = -0.1, .restitution = 0.6};
  return {Driven{"four-bar", FourBar().scene(crank, rocker), "coupler", 0.4, 0.01, 0.02, 0.1},
          Driven{"slider-crank", slider_crank(shaft, piston), "rod", 0.4, 0.01, 0.01, 0.04},
          Driven{"arm", arm_of_six_axes(arm), "link6", 0.3, 0.01, 0.01, 0.02}};
}

/// Events cut stretches where they are, so that orders are those from h to h/4.
TEST(DrivesAtFullOrder, MechanismsWithStopsKeepTheOrdersOfTheMethods) {
  for (const Driven& m : with_all_drives(0)) {
    World exact(m.scene, by_tolerance("dormand_prince_8", 1e-13, m.end / 64));
    run_until(exact, m.end);
    EXPECT_GT(exact.diagnostics().shock_energy, 1) << m.name;
    const auto order = [&](auto&& recipe, double h) {
      const auto error = [&](double step) {
        World world(m.scene, recipe(step));
        run_until(world, m.end);
        return (world.position(m.body) - exact.position(m.body)).norm() +
               (world.angular_velocity(m.body) - exact.angular_velocity(m.body)).norm();
      };
      return 0.5 * std::log2(error(h) / error(h / 4));
    };
    EXPECT_GT(order([](double h) { return by("rk4", h); }, m.rk4), 3.5) << m.name;
    EXPECT_GT(order([](double h) { return by("gauss6", h); }, m.gauss6), 5) << m.name;
    EXPECT_GT(order([](double h) { return by_equal_steps("dormand_prince_8", h); }, m.dp8), 7.3) << m.name;
  }
}

TEST(DrivesAtFullOrder, BooksOfMechanismsWithStopsCloseAtTheOrderOfTheMethod) {
  const auto left_over = [](const Driven& m, const Recipe& recipe) {
    World world(m.scene, recipe);
    world.keep_books(true);
    run_until(world, m.end);
    const EnergyBalance b = world.diagnostics().energy_balance;
    EXPECT_GT(b.motors, 1) << m.name;
    EXPECT_GT(b.dampers, 0.1) << m.name;
    EXPECT_GT(b.joint_friction, 0.1) << m.name;
    EXPECT_GT(b.impacts, 1) << m.name;
    return std::abs(b.left_over);
  };
  for (const Driven& m : with_all_drives(0)) {
    const double coarse = left_over(m, by("rk4", 5e-3)), fine = left_over(m, by("rk4", 1.25e-3));
    EXPECT_LT(fine, 2e-7) << m.name;
    EXPECT_GT(0.5 * std::log2(coarse / fine), 3.5) << m.name;
    EXPECT_LT(left_over(m, by("gauss6", 5e-3)), 1e-9) << m.name;
    EXPECT_LT(left_over(m, by_equal_steps("dormand_prince_8", 0.01)), 1e-9) << m.name;
  }
  // Bounces that become too small to follow end where the stop catches the axis: what that takes is not in the books.
  EXPECT_LT(left_over(with_all_drives(0.4)[2], by("gauss6", 5e-3)), 1e-7);
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
