// Rolling without slipping, and blades, on smooth surfaces given by an expression; velocities that are bounded on one side.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>
#include <random>

#include "model/implicit_surface.h"
#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

Recipe surface_recipe(double dt = 1e-3) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  return recipe;
}

BodyDef solid_ball(const char* name, double m, double r, const Vec3& at, const Vec3& v = Vec3::Zero(),
                   const Vec3& spin = Vec3::Zero()) {
  return {.name = name,
          .mass = m,
          .inertia = Mat3(0.4 * m * r * r * Mat3::Identity()),
          .position = at,
          .velocity = v,
          .angular_velocity = spin};
}

double worst_energy_error(World& world, double time) {
  const double before = world.diagnostics().energy();
  double worst = 0, largest = 0;
  run_for(world, time, [&] {
    const Diagnostics now = world.diagnostics();
    worst = std::max(worst, std::abs(now.energy() - before));
    largest = std::max(largest, now.kinetic_energy);
  });
  return worst / largest;
}

TEST(ImplicitSurface, ItsGradientsAndTheirDerivativesAreThoseOfDifferences) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> draw(0.3, 0.9);
  for (const char* text :
       {"x^2/4 + y^2 + z^2/2 - 1", "(sqrt(x^2 + y^2) - 2)^2 + z^2 - 0.25", "z - 0.2*sin(3*x)*cos(2*y) - exp(-x*y)/5",
        "atan2(y, x) + log(z + 2) - tanh(x)/(1 + y^2)", "abs(x)*y - acos(z/3) + asin(x/4) - atan(y*z) + tan(x/3) - min(x, 5)"}) {
    SCOPED_TRACE(text);
    const ImplicitSurface surface(text);
    const auto value = [&](const Vec3& x) { return surface.at(MovingVec3(x)); };
    for (int round = 0; round < 5; ++round) {
      const Vec3 x(draw(random), draw(random), draw(random)), v(draw(random), -draw(random), draw(random));
      const double h = 1e-5;
      MovingVec3 moving(x);
      for (int k = 0; k < 3; ++k) moving.e[static_cast<std::size_t>(k)].first = v[k];
      const ImplicitSurface::Value here = surface.at(moving);
      const ImplicitSurface::Value ahead = value(x + h * v), behind = value(x - h * v);
      for (int k = 0; k < 3; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const Vec3 e = h * Vec3::Unit(k);
        EXPECT_NEAR(here.gradient.e[i].value, (value(x + e).F.value - value(x - e).F.value) / (2 * h), 1e-8);
        EXPECT_NEAR(here.gradient.e[i].first, (ahead.gradient.e[i].value - behind.gradient.e[i].value) / (2 * h), 1e-7);
        const double bend = ahead.gradient.e[i].value - 2 * here.gradient.e[i].value + behind.gradient.e[i].value;
        EXPECT_NEAR(here.gradient.e[i].second, bend / (h * h), 2e-4);
      }
    }
  }
}

TEST(RollingOnSurface, ABallInABowlIsAPendulumOfSevenFifths) {
  // (7/5) (R - r) phi'' = -g sin phi, at any amplitude.
  const double R = 2, r = 0.3, l = R - r, phi_0 = 1.2;
  Scene scene;
  scene.add(solid_ball("ball", 0.7, r, l * Vec3(std::sin(phi_0), 0, -std::cos(phi_0))));
  scene.add(Rolling{.name = "bowl", .between = {"world", "ball"}, .surface = "x^2 + y^2 + z^2 - 4", .radius = r});
  const auto pendulum = [&](double time) {
    double phi = phi_0, w = 0;
    const int steps = 20000;
    const double h = time / steps, k = 5 * g / (7 * l);
    for (int i = 0; i < steps; ++i) {
      const double a1 = -k * std::sin(phi), w2 = w + h / 2 * a1, a2 = -k * std::sin(phi + h / 2 * w);
      const double w3 = w + h / 2 * a2, a3 = -k * std::sin(phi + h / 2 * w2), w4 = w + h * a3, a4 = -k * std::sin(phi + h * w3);
      phi += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
      w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return Vec3(l * std::sin(phi), 0, -l * std::cos(phi));
  };
  const auto error = [&](double dt) {
    World world(scene, surface_recipe(dt));
    run_for(world, 3.0);
    return (world.position("ball") - pendulum(3.0)).norm();
  };
  const double coarse = error(0.02), fine = error(0.01);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.5) << coarse << " " << fine;
  EXPECT_LT(error(1e-3), 1e-8);
  World world(scene, surface_recipe());
  EXPECT_LT(worst_energy_error(world, 2), 1e-10);
  EXPECT_LT(world.joint_error(world.joint("bowl")).position, 1e-12);
  // What presses it: m g cos(phi) + m v^2 / l, towards the centre.
  const Vec3 inwards = -world.position("ball").normalized(), v = world.velocity("ball");
  EXPECT_NEAR(world.joint_force("bowl").force.dot(inwards), 0.7 * (g * inwards.z() + v.squaredNorm() / l), 1e-6);
}

TEST(RollingOnSurface, SmallOscillationsInABowlHaveTheirFrequency) {
  const double R = 2, r = 0.3, omega = std::sqrt(5 * g / (7 * (R - r)));
  Scene scene;
  scene.add(solid_ball("ball", 0.7, r, Vec3(1e-3, 0, -std::sqrt(1.7 * 1.7 - 1e-6))));
  scene.add(Rolling{.between = {"world", "ball"}, .surface = "x^2 + y^2 + z^2 - 4", .radius = r});
  World world(scene, surface_recipe());
  const auto up = [&] { return world.position("ball").x(); };
  const double first = run_to_crossing(world, up), second = run_to_crossing(world, up);
  EXPECT_NEAR((second - first) * omega / (2 * std::numbers::pi), 1, 1e-6);
}

TEST(RollingOnSurface, ABallInAPipeClimbsAgain) {
  // In a vertical pipe a ball that runs round at the rate W does not fall but bobs, z'' = -5 g/7 - (2/7) W^2 (z - z_0).
  const double R = 1, r = 0.2, V = 4, W = V / (R - r), bob = std::sqrt(2.0 / 7) * W, depth = 5 * g / (2 * W * W);
  Scene scene;
  scene.add(solid_ball("ball", 0.4, r, Vec3(R - r, 0, 0), Vec3(0, V, 0), Vec3(0, 0, -V / r)));
  scene.add(Rolling{.between = {"world", "ball"}, .surface = "x^2 + y^2 - 1", .radius = r});
  World world(scene, surface_recipe());
  double worst = 0;
  run_for(world, 4.0, [&] {
    const double t = world.time(), angle = W * t;
    const Vec3 p((R - r) * std::cos(angle), (R - r) * std::sin(angle), -depth * (1 - std::cos(bob * t)));
    worst = std::max(worst, (world.position("ball") - p).norm());
  });
  EXPECT_LT(worst, 1e-8);
}

TEST(RollingOnSurface, APlaneAsASurfaceIsThePlane) {
  const double m = 0.8, r = 0.3;
  const Mat3 R = Eigen::AngleAxisd(0.9, Vec3(1, 0.2, 0).normalized()).toRotationMatrix();
  const Vec3 axis = R.col(2), down = (Vec3::UnitZ().dot(axis) * axis - Vec3::UnitZ()).normalized();
  const Vec3 spin = R * Vec3(0.2, 0.6, -4), v = -spin.cross(r * down);
  for (const bool disc : {true, false}) {
    Scene plane;
    plane.add({.name = "wheel",
               .mass = m,
               .inertia = Mat3(Vec3(0.018, 0.018, 0.036).asDiagonal()),
               .position = disc ? Vec3(-r * down) : Vec3(0, 0, r),
               .orientation = Quat(R),
               .velocity = disc ? v : Vec3(-spin.cross(Vec3(0, 0, -r))),
               .angular_velocity = spin});
    Scene surface = plane;
    Rolling rolling{.between = {"world", "wheel"}, .radius = r};
    if (disc) rolling.axis = axis;
    plane.add(rolling);
    rolling.surface = "3*z";
    surface.add(rolling);
    World a(plane, surface_recipe()), b(surface, surface_recipe());
    run_for(a, 1);
    run_for(b, 1);
    EXPECT_LT(difference(a, b), 1e-9) << disc;
  }
}

TEST(RollingOnSurface, EnergyAndMomentumAreKeptOnSurfacesOfAllKindsThatMoveThemselves) {
  const auto spin_for = [](const Vec3& v, const Vec3& n, double r) { return Vec3(n.cross(v) / r); };
  struct Case {
    const char* surface;
    Vec3 center;
    double r;
    bool disc;
  };
  for (const auto& [surface, center, r, disc] : {Case{"x^2/4 + y^2 + z^2/2 - 1", Vec3(0, 0, std::sqrt(2.0) + 0.2), 0.2, false},
                                                 Case{"z - 0.2*x^2 - 0.1*y^2 - 0.05*x^3", Vec3(0, 0, 0.3), 0.3, false},
                                                 Case{"(sqrt(x^2 + y^2) - 2)^2 + z^2 - 0.25", Vec3(2, 0, 0.6), 0.1, false},
                                                 Case{"x^2 + y^2 + z^2 - 9", Vec3(0, 0, -2.6), 0.4, true}}) {
    SCOPED_TRACE(surface);
    Scene scene;
    scene.gravity.setZero();
    const Vec3 v(0.4, 0.7, 0);
    scene.add({.name = "ground", .mass = 5, .inertia = Mat3(Vec3(2, 3, 4).asDiagonal()), .position = Vec3(0.1, 0.2, -0.5)});
    BodyDef wheel = solid_ball("wheel", 0.6, r, center, v, spin_for(v, Vec3::UnitZ(), r));
    if (disc) {
      wheel.angular_velocity = Vec3(0.3, v.x() / r, 0.2);
      wheel.velocity = Vec3(v.x(), -0.3 * r, 0);
    }
    scene.add(wheel);
    Rolling rolling{.name = "roll", .between = {"ground", "wheel"}, .surface = surface, .radius = r};
    if (disc) rolling.axis = Vec3::UnitY();
    scene.add(rolling);
    World world(scene, surface_recipe());
    world.project();
    const Diagnostics start = world.diagnostics();
    EXPECT_LT(worst_energy_error(world, 1.5), 1e-9);
    const Diagnostics end = world.diagnostics();
    EXPECT_LT((end.linear_momentum - start.linear_momentum).norm(), 1e-10);
    EXPECT_LT((end.angular_momentum - start.angular_momentum).norm(), 1e-8);
    const JointError error = world.joint_error(world.joint("roll"));
    EXPECT_LT(error.position, 1e-11);
    EXPECT_LT(error.velocity, 1e-11);
  }
}

TEST(RollingOnSurface, ASkateOnABallDoesNotMoveSideways) {
  Scene scene;
  const Vec3 at(0, 0, 1);
  scene.add({.name = "skate",
             .mass = 1.5,
             .inertia = Mat3(Vec3(0.01, 0.02, 0.02).asDiagonal()),
             .position = at,
             .velocity = Vec3(0.5, 0, 0),
             .angular_velocity = Vec3(0, 0.5, 0.9)});
  scene.add(Constraint{.name = "ice", .between = {"world", "skate"}, .equation = "sqrt(skate.x^2 + skate.y^2 + skate.z^2) - 1"});
  scene.add(KnifeEdge{.name = "blade", .between = {"world", "skate"}, .surface = "x^2 + y^2 + z^2 - 1", .at = at});
  World world(scene, surface_recipe());
  double worst = 0;
  EXPECT_LT(worst_energy_error(world, 0.5), 1e-9);
  run_for(world, 0.2, [&] {
    const Vec3 n = world.position("skate").normalized(), side = n.cross(world.orientation("skate") * Vec3::UnitX());
    worst = std::max(worst, std::abs(side.normalized().dot(world.velocity("skate"))));
  });
  EXPECT_LT(worst, 1e-11);
}

TEST(RollingOnSurface, WhatMakesNoSenseIsRefusedByName) {
  const auto refusal = [](Rolling rolling, const Vec3& at = Vec3(0, 0, 1)) -> std::string {
    Scene scene;
    scene.add(solid_ball("ball", 1, 0.2, at));
    rolling.between = {"world", "ball"};
    scene.add(rolling);
    try {
      World world(scene, surface_recipe());
      world.step(1e-3);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(refusal({.surface = "x^2 + q", .radius = 0.2}).find("unknown name \"q\""), std::string::npos);
  EXPECT_NE(refusal({.surface = "z - sin(t)", .radius = 0.2}).find("time"), std::string::npos);
  EXPECT_NE(refusal({.surface = "3", .radius = 0.2}).find("is a number"), std::string::npos);
  EXPECT_NE(refusal({.surface = "z", .at = Vec3(1, 0, 0), .radius = 0.2}).find("of a plane"), std::string::npos);
  EXPECT_NE(refusal({.surface = "z", .normal = Vec3(1, 0, 0), .radius = 0.2}).find("of a plane"), std::string::npos);
  EXPECT_NE(refusal({.surface = "z - 1", .radius = 0.2}).find("no side"), std::string::npos);
  // In the middle of a ball no place is nearest.
  EXPECT_THROW(static_cast<void>(ImplicitSurface("x^2 + y^2 + z^2 - 4").touch_of_ball(MovingVec3(Vec3(0, 0, 0)), 0.5, -1)),
               Error);
}

// A freewheel: the shaft turns one way alone.
Scene freewheel() {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "wheel", .mass = 1, .inertia = Mat3(Vec3(0.3, 0.3, 0.5).asDiagonal()), .angular_velocity = Vec3(0, 0, 2)});
  scene.add(Hinge{.name = "axle", .between = {"world", "wheel"}, .drive = {.motor_torque = -1.5}});
  scene.add(Constraint{.name = "pawl", .between = {"world", "wheel"}, .at_least = 0, .equation = "wheel.wz"});
  return scene;
}

TEST(OneSidedRate, AFreewheelStopsAndHolds) {
  // 2 - 3 t until t = 2/3, then still, the pawl holding against the torque.
  for (const bool impulses : {false, true}) {
    Recipe recipe = impulses ? recipes::balanced() : surface_recipe(1e-2);
    if (impulses) recipe.dt = 1e-3;
    World world(freewheel(), recipe);
    run_for(world, 0.5);
    EXPECT_NEAR(world.angular_velocity("wheel").z(), 0.5, 1e-9) << impulses;
    run_for(world, 1.0);
    EXPECT_NEAR(world.angular_velocity("wheel").z(), 0, 1e-9) << impulses;
    // It has turned by 2/3 rad, to rounding where the moment is located.
    const double angle = 2 * std::atan2(world.orientation("wheel").z(), world.orientation("wheel").w());
    EXPECT_NEAR(angle, 2.0 / 3, impulses ? 2e-3 : 1e-10) << impulses;
    EXPECT_NEAR(std::abs(world.joint_force("pawl").torque.z()), 1.5, 1e-6) << impulses;
  }
}

TEST(OneSidedRate, IsLetGoWhereItIsPulledTheOtherWay) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "wheel", .mass = 1, .inertia = Mat3(Vec3(0.3, 0.3, 0.5).asDiagonal()), .angular_velocity = Vec3(0, 0, -3)});
  scene.add({.name = "arm", .mass = 1, .inertia = Mat3(Vec3(0.3, 0.3, 0.2).asDiagonal())});
  scene.add(Hinge{.name = "axle", .between = {"world", "wheel"}});
  scene.add(Hinge{.name = "pin", .between = {"wheel", "arm"}, .drive = {.stiffness = 4, .rest = -0.6}});
  scene.add(Constraint{.name = "pawl", .between = {"world", "wheel"}, .at_least = 0, .equation = "wheel.wz"});
  World world(scene, surface_recipe());
  // What turns the wrong way is stopped at once; the arm swings about the held wheel, and drags it along when it pulls forwards.
  double slowest = 0, fastest = 0;
  run_for(world, 3.0, [&] {
    slowest = std::min(slowest, world.angular_velocity("wheel").z());
    fastest = std::max(fastest, world.angular_velocity("wheel").z());
  });
  EXPECT_GT(slowest, -1e-9);
  EXPECT_GT(fastest, 0.1);
  EXPECT_THROW(World(
                   [] {
                     Scene bad = freewheel();
                     std::get<Constraint>(bad.joints.back()).restitution = 0.5;
                     return bad;
                   }(),
                   surface_recipe()),
               Error);
}

}  // namespace
}  // namespace rotule
