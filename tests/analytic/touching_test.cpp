// Contacts by accelerations against equations of motion written down here and integrated here, and against closed forms.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "math/rotation.h"
#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;

Recipe touching_recipe(double dt) {
  Recipe recipe = recipes::exact();
  recipe.contacts = ConeContactSettings{};
  recipe.dt = dt;
  return recipe;
}

Scene floor_of(double friction, double restitution = 0) {
  Scene scene;
  scene.dial.reset();  // recipes as they are given below
  scene.gravity = {0, 0, -g};
  scene.materials = {{.name = "stuff", .friction = friction, .restitution = restitution}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "stuff"});
  return scene;
}

void run_until(World& world, double end, int steps) {
  const double start = world.time();
  for (int k = 1; k <= steps; ++k) world.step(start + (end - start) * k / steps - world.time());
}

/// Classical Runge-Kutta for a plain vector: the tests' own integrator.
VecX integrate(VecX y, double duration, int steps, const std::function<VecX(const VecX&)>& f) {
  const double h = duration / steps;
  for (int k = 0; k < steps; ++k) {
    const VecX k1 = f(y), k2 = f(y + h / 2 * k1), k3 = f(y + h / 2 * k2), k4 = f(y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return y;
}

/// A disc of mass m, radius R and height H that rolls on the rim of its lower end over the plane z = 0 without slip: unknowns
/// centre p, its axis d, a second axis e of the disc, angular velocity. The rim's lowest point is at r from the centre,
///   r = -(H/2) d + R e_r,  e_r = -(z - (z.d) d)/|..|,   v = -omega x r,
///   (I + m (r^2 - r r^T)) omega' = -omega x I omega + m r x (-omega x r' + g z).
struct RollingDisc {
  double m, R, H;
  [[nodiscard]] Vec3 arm(const Vec3& d) const { return -H / 2 * d - R * (Vec3::UnitZ() - d.z() * d).normalized(); }
  [[nodiscard]] VecX operator()(const VecX& y) const {
    const Vec3 d = y.segment<3>(3), e = y.segment<3>(6), omega = y.segment<3>(9);
    const Vec3 r = arm(d), d_dot = omega.cross(d);
    const Vec3 across = Vec3::UnitZ() - d.z() * d, across_dot = -d_dot.z() * d - d.z() * d_dot;
    const double s = across.norm();
    const Vec3 r_dot = -H / 2 * d_dot - R * (across_dot / s - across * across.dot(across_dot) / (s * s * s));
    const double axial = m * R * R / 2, cross = m * (3 * R * R + H * H) / 12;
    const Mat3 I = cross * Mat3::Identity() + (axial - cross) * d * d.transpose();
    const Mat3 A = I + m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    VecX out(12);
    out << -omega.cross(r), d_dot, omega.cross(e),
        A.lu().solve(Vec3(-omega.cross(I * omega) + m * r.cross(-omega.cross(r_dot) + g * Vec3::UnitZ())));
    return out;
  }
};

struct DiscStart {
  RollingDisc disc;
  Vec3 axis, omega;  // omega: of the body
};

Scene rolling_disc(const DiscStart& start, double friction = 10) {
  Scene scene = floor_of(friction);
  const Vec3 r = start.disc.arm(start.axis.normalized());
  scene.add({.name = "disc",
             .mass = start.disc.m,
             .position = {0, 0, -r.z()},
             .orientation = rotation_between(Vec3::UnitZ(), start.axis),
             .velocity = -start.omega.cross(r),
             .angular_velocity = start.omega,
             .shape = Cylinder{start.disc.R, start.disc.H},
             .material = "stuff"});
  return scene;
}

VecX reference(const DiscStart& start, double duration, int steps) {
  const Vec3 d = start.axis.normalized();
  VecX y(12);
  y << Vec3(0, 0, -start.disc.arm(d).z()), d, rotation_between(Vec3::UnitZ(), start.axis) * Vec3::UnitX(), start.omega;
  return integrate(y, duration, steps, start.disc);
}

/// Largest difference of centre, axes and angular velocity.
double error_against(const World& world, const VecX& y) {
  const Quat q = world.orientation("disc");
  return std::max({(world.position("disc") - y.head<3>()).norm(), (q * Vec3::UnitZ() - y.segment<3>(3)).norm(),
                   (q * Vec3::UnitX() - y.segment<3>(6)).norm(), (world.angular_velocity("disc") - y.tail<3>()).norm()});
}

DiscStart general_disc() { return {{1.3, 0.5, 0.04}, Vec3(0.9, 0.1, 0.4), Vec3(-5, -0.4, -0.6)}; }

TEST(Touching, ADiscThatRollsFollowsItsEquationsWithOrderFour) {
  const DiscStart start = general_disc();
  constexpr double duration = 1;
  const VecX exact = reference(start, duration, 20000);
  double before = 0;
  for (const int steps : {50, 100, 200}) {
    Scene scene = rolling_disc(start);
    scene.recipe = touching_recipe(duration / steps);
    World world(scene);
    const double energy = world.diagnostics().energy();
    run_until(world, duration, steps);
    const double error = error_against(world, exact);
    EXPECT_LT(error, 1e-4);
    if (before > 0) {
      EXPECT_GT(std::log2(before / error), 3.6) << before << " " << error;
    }
    EXPECT_NEAR(world.diagnostics().energy(), energy, 10 * error * std::abs(energy));
    EXPECT_LT(world.diagnostics().penetration, 1e-12);
    before = error;
  }
  EXPECT_LT(before, 1e-7);
}

TEST(Touching, ErrorControlHoldsOnRollingContacts) {
  const DiscStart start = general_disc();
  const VecX exact = reference(start, 1, 20000);
  for (const bool eight : {false, true}) {
    Scene scene = rolling_disc(start);
    scene.recipe = touching_recipe(0.1);
    if (eight)
      scene.recipe.integrator = DormandPrince8Settings{{.relative_tolerance = 1e-11}};
    else
      scene.recipe.integrator = DormandPrinceSettings{{.relative_tolerance = 1e-9}};
    World world(scene);
    run_until(world, 1, 10);
    EXPECT_LT(error_against(world, exact), eight ? 1e-8 : 1e-6);
  }
}

/// The spin about its axis with which a disc that leans so precesses steadily, by Newton's method on its equations of motion:
/// there the angular acceleration only turns the angular velocity with the precession.
DiscStart steady(const RollingDisc& disc, const Vec3& axis, double precession, double spin) {
  const auto misfit = [&](double x) {
    VecX y(12);
    const Vec3 omega = precession * Vec3::UnitZ() + x * axis;
    y << Vec3::Zero(), axis, Vec3::UnitY(), omega;
    return (disc(y).tail<3>() - precession * Vec3::UnitZ().cross(omega)).y();
  };
  for (int k = 0; k < 100; ++k) spin -= misfit(spin) * 1e-5 / (misfit(spin + 1e-5) - misfit(spin));
  return {disc, axis, precession * Vec3::UnitZ() + spin * axis};
}

/// Errors at so many steps fall with order four, and the last is small enough.
void expect_order_four(const std::function<double(int)>& error, std::initializer_list<int> counts, double smallest) {
  double before = 0;
  int last = 0;
  for (const int steps : counts) {
    const double now = error(steps);
    if (before > 0) {
      EXPECT_GT(std::log(before / now) / std::log(double(steps) / last), 3.6) << before << " " << now;
    }
    before = now;
    last = steps;
  }
  EXPECT_LT(before, smallest);
}

TEST(Touching, ACoinRollsInItsSteadyCircleWithOrderFour) {
  const double lean = 0.3, precession = 6, turn = 2 * std::numbers::pi / precession;
  const Vec3 axis(std::cos(lean), 0, std::sin(lean));
  const DiscStart start = steady({0.01, 0.012, 1e-6}, axis, precession, -40);
  const auto error = [&](int steps) {
    Scene scene = rolling_disc(start);
    scene.recipe = touching_recipe(turn / steps);
    World world(scene);
    const Vec3 at = world.position("disc");
    run_until(world, turn, steps);
    return std::max((world.position("disc") - at).norm(), (world.orientation("disc") * Vec3::UnitZ() - axis).norm());
  };
  expect_order_four(error, {200, 400, 800}, 1e-6);
}

// A cone on its side rolls about its apex, which stays where it is: the motion is as steady as the table is level.
TEST(Touching, AConeRollsAboutItsApex) {
  constexpr double R = 0.1, H = 0.2, rate = 2, turn = 2 * std::numbers::pi / rate;
  const double half = std::atan(R / H), to_centre = 0.75 * H;
  // Its axis points from the base to the apex at the origin, and rises from there by half its angle; the line on which it touches
  // is the axis of its turning.
  const Vec3 axis = -Vec3(std::cos(half), 0, std::sin(half)), centre = -to_centre * axis;
  const double spin = rate / std::tan(half);
  const auto error = [&](int steps) {
    Scene scene = floor_of(10);
    const Quat orientation = rotation_between(Vec3::UnitZ(), axis);
    const Vec3 omega = -spin * Vec3::UnitX();  // v = omega x centre is rate z x centre
    scene.add({.name = "cone",
               .mass = 1.0,
               .position = -H * axis,
               .orientation = orientation,
               .velocity = omega.cross(centre),
               .angular_velocity = omega,
               .shape = Cone{R, H},
               .material = "stuff"});
    scene.recipe = touching_recipe(turn / steps);
    World world(scene);
    const Vec3 at = world.position("cone");
    run_until(world, turn, steps);
    return std::max((world.position("cone") - at).norm(), (world.orientation("cone") * Vec3::UnitZ() - axis).norm());
  };
  for (const int steps : {50, 100, 200}) EXPECT_LT(error(steps), 5e-6) << steps;
}

TEST(Touching, EulersDiscBeforeItsEnd) {
  // Nearly flat, a little beside its steady precession: the point of contact runs round much faster than the disc turns.
  const double tilt = 0.12;
  DiscStart start = steady({0.4, 0.04, 0.01}, Vec3(std::sin(tilt), 0, std::cos(tilt)), 90, -90 * std::cos(tilt));
  start.omega += Vec3(0.02, 0.3, 0.05);
  constexpr double duration = 1;
  const VecX exact = reference(start, duration, 200000);
  double before = 0;
  for (const int steps : {2000, 4000}) {
    Scene scene = rolling_disc(start);
    scene.recipe = touching_recipe(duration / steps);
    World world(scene);
    const double energy = world.diagnostics().energy();
    run_until(world, duration, steps);
    const double error = error_against(world, exact);
    EXPECT_NEAR(world.diagnostics().energy(), energy, error * energy);
    if (before > 0) {
      EXPECT_GT(std::log2(before / error), 3.6) << before << " " << error;
    }
    before = error;
  }
  EXPECT_LT(before, 1e-6);
}

TEST(Touching, ABallSlidesUntilItRolls) {
  constexpr double mu = 0.3, R = 0.1, speed = 7;
  const double stop = 2 * speed / (7 * mu * g);
  for (const double dt : {0.1, 0.013}) {
    Scene scene = floor_of(mu);
    scene.add(
        {.name = "ball", .mass = 1.0, .position = {0, 0, R}, .velocity = {speed, 0, 0}, .shape = Sphere{R}, .material = "stuff"});
    scene.recipe = touching_recipe(dt);
    World world(scene);
    run_until(world, 1, static_cast<int>(1 / dt));
    EXPECT_NEAR(world.velocity("ball").x(), 5.0 / 7 * speed, 1e-11);
    EXPECT_NEAR(world.angular_velocity("ball").y(), 5.0 / 7 * speed / R, 1e-9);
    const double slid = speed * stop - mu * g * stop * stop / 2;
    EXPECT_NEAR(world.position("ball").x(), slid + 5.0 / 7 * speed * (1 - stop), 1e-11);
  }
}

TEST(Touching, ABlockStopsOnASlopeWhenItShould) {
  constexpr double mu = 0.6, angle = 0.4, speed = 2;
  Scene scene = floor_of(mu);
  scene.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.add({.name = "block",
             .mass = 2.0,
             .position = {0, 0, 0.05},
             .velocity = {speed, 0, 0},
             .shape = Box{{0.6, 0.6, 0.1}},
             .material = "stuff"});
  scene.recipe = touching_recipe(0.25);
  World world(scene);
  const double slow = g * (mu * std::cos(angle) - std::sin(angle)), stop = speed / slow;
  const double before = std::floor(stop / 0.25) * 0.25;
  run_until(world, before, static_cast<int>(before / 0.25));
  EXPECT_NEAR(world.velocity("block").x(), speed - slow * before, 1e-12);
  run_until(world, stop - 1e-9, 1);
  EXPECT_NEAR(world.velocity("block").x(), slow * 1e-9, 1e-11);
  run_until(world, stop + 1, 4);
  EXPECT_EQ(world.velocity("block").norm() < 1e-13, true);
  EXPECT_NEAR(world.position("block").x(), speed * stop / 2, 1e-12);
  double normal = 0;
  for (const ContactResult& c : world.contacts()) normal += c.force.z();
  EXPECT_NEAR(normal, 2 * g * std::cos(angle), 1e-9);
}

TEST(Touching, BouncesAreLocated) {
  constexpr double e = 0.8, height = 1;
  Scene scene = floor_of(0.5, e);
  scene.add({.name = "ball", .mass = 0.1, .position = {0, 0, height + 0.1}, .shape = Sphere{0.1}, .material = "stuff"});
  scene.recipe = touching_recipe(0.05);
  World world(scene);
  double speed = std::sqrt(2 * g * height), hit = speed / g;
  for (int bounce = 1; bounce <= 10; ++bounce) {
    // Just before and after: the velocity turns, and both heights fit the instant to a nanosecond.
    run_until(world, hit - 1e-9, std::max(1, static_cast<int>((hit - world.time()) / 0.05)));
    EXPECT_NEAR(world.velocity("ball").z(), -speed + g * 1e-9, 1e-10) << bounce;
    run_until(world, hit + 1e-9, 1);
    speed *= e;
    EXPECT_NEAR(world.velocity("ball").z(), speed - g * 1e-9, 1e-10) << bounce;
    EXPECT_NEAR(world.position("ball").z() - 0.1, speed * 1e-9, 1e-10 * speed) << bounce;
    hit += 2 * speed / g;
  }
  // And the train ends, by the rule of the restitution speed.
  run_until(world, 20, 100);
  EXPECT_LT(world.velocity("ball").norm(), 1e-12);
  EXPECT_NEAR(world.position("ball").z(), 0.1, 1e-12);
}

TEST(Touching, TheLadderLeavesTheWallOnTime) {
  // Without friction the ends slide along wall and floor until its top has come down by a third; a rod of any inertia.
  constexpr double length = 2, thickness = 0.02, from = 1.1;
  Scene scene = floor_of(0);
  scene.add({.name = "wall",
             .fixed = true,
             .orientation = rotation_between(Vec3::UnitZ(), Vec3::UnitX()),
             .shape = Plane{},
             .material = "stuff"});
  const Vec3 along(-std::cos(from), 0, std::sin(from));
  scene.add({.name = "ladder",
             .mass = 5.0,
             .position = {thickness + length / 2 * std::cos(from), 0, thickness + length / 2 * std::sin(from)},
             .orientation = rotation_between(Vec3::UnitZ(), along),
             .shape = Capsule{thickness, length},
             .material = "stuff"});
  scene.recipe = touching_recipe(0.01);
  World world(scene);
  const double a = length / 2, k2 = world.inertia(world.body("ladder"))(0, 0) / 5.0;
  // theta'' = -g a cos(theta) / (a^2 + k^2), until sin(theta) = 2/3 sin(from); the instant by halving.
  const auto angle_at = [&](double time) {
    return integrate(Eigen::Vector2d(from, 0), time, 4000,
                     [&](const VecX& y) -> VecX { return Eigen::Vector2d(y[1], -g * a * std::cos(y[0]) / (a * a + k2)); })[0];
  };
  double low = 0, high = 1.5;
  for (int k = 0; k < 45; ++k) {
    const double middle = 0.5 * (low + high);
    (std::sin(angle_at(middle)) > 2.0 / 3 * std::sin(from) ? low : high) = middle;
  }
  const auto leans = [&] {
    for (const ContactResult& c : world.contacts())
      if (std::abs(c.normal.x()) > 0.5 && c.force.norm() > 0) return true;
    return false;
  };
  run_until(world, low - 1e-9, 200);
  EXPECT_TRUE(leans());
  run_until(world, low + 1e-9, 1);
  EXPECT_FALSE(leans());
  const double energy = world.diagnostics().energy();
  run_until(world, low + 0.1, 20);
  EXPECT_FALSE(leans());
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-9);
}

TEST(Touching, ABallOnATurntableRunsInCircles) {
  // At 2/7 of the table's rate, about a point that depends on where it was set down.
  constexpr double R = 0.05, rate = 3, duration = 2;
  const Vec3 at(0.6, 0.1, 1.05 + R), v(0.2, -0.5, 0);
  const auto error = [&](int steps) {
    Scene scene = floor_of(1);
    scene.add({.name = "table",
               .mass = 1e9,
               .position = {0, 0, 1},
               .angular_velocity = {0, 0, rate},
               .shape = Cylinder{2, 0.1},
               .material = "stuff"});
    scene.add(Hinge{.name = "bearing", .between = {"table", "world"}, .at = {0, 0, 1}, .axis = {0, 0, 1}});
    // Rolling: v - omega x (R z) is the table's velocity there.
    const Vec3 table = rate * Vec3::UnitZ().cross(Vec3(at.x(), at.y(), 0));
    const Vec3 omega = Vec3::UnitZ().cross(v - table) / R;
    scene.add({.name = "ball",
               .mass = 0.2,
               .position = at,
               .velocity = v,
               .angular_velocity = omega,
               .shape = Sphere{R},
               .material = "stuff"});
    scene.recipe = touching_recipe(duration / steps);
    World world(scene);
    run_until(world, duration, steps);
    const double slow = 2 * rate / 7;
    const Vec3 center = at + Vec3::UnitZ().cross(v) / slow;
    const Vec3 expected = center + Eigen::AngleAxisd(slow * duration, Vec3::UnitZ()) * (at - center);
    return (world.position("ball") - expected).norm();
  };
  // Stretches of motion end where the ball has rolled half its size: what is left of any step is rounding.
  for (const int steps : {25, 50, 100, 200}) EXPECT_LT(error(steps), 1e-10) << steps;
}

TEST(Touching, ADiscThatSpinsFlatStopsAsItsPatchSays) {
  constexpr double mu = 0.4, R = 0.1, rate = 30;
  Scene scene = floor_of(mu);
  scene.add({.name = "disc",
             .mass = 1.0,
             .position = {0, 0, 0.01},
             .angular_velocity = {0, 0, rate},
             .shape = Cylinder{R, 0.02},
             .material = "stuff"});
  scene.recipe = touching_recipe(0.01);
  World world(scene);
  // Its weight pressed on evenly: torque 2/3 mu m g R.
  const double slow = 2.0 / 3 * mu * g * R / (R * R / 2), stop = rate / slow;
  run_until(world, 0.5 * stop, 20);
  EXPECT_NEAR(world.angular_velocity("disc").z(), rate / 2, 1e-9);
  run_until(world, stop - 1e-9, 20);
  EXPECT_NEAR(world.angular_velocity("disc").z(), slow * 1e-9, 1e-9);
  run_until(world, stop + 0.1, 10);
  EXPECT_LT(world.angular_velocity("disc").norm(), 1e-12);
}

// A plate that slides and spins: friction of a quarter of its weight or so on each corner acts at the lever of a square, 0.3826
// edges from the middle; which corner has how much is known from the moment that friction has about the centre of mass.
TEST(Touching, APlateThatSlidesAndSpinsFollowsItsEquationsWithOrderFour) {
  constexpr double mu = 0.3, a = 0.2, H = 0.02, duration = 0.3, m = 1;
  const double lever = a * (std::numbers::sqrt2 + std::asinh(1.0)) / 6;
  const Vec3 v(1.5, 0.4, 0), omega(0, 0, 12);
  const double I = m * a * a / 6;
  // y: place and turn, velocity and spin.
  const auto rates = [&](const VecX& y) -> VecX {
    std::array<Eigen::Vector2d, 4> corner, slip;
    for (int k = 0; k < 4; ++k) {
      const double angle = y[2] + (2 * k + 1) * std::numbers::pi / 4;
      const Eigen::Vector2d out(std::cos(angle), std::sin(angle));
      corner[k] = a / std::numbers::sqrt2 * out;
      slip[k] = (y.segment<2>(3) + lever * y[5] * Eigen::Vector2d(-out.y(), out.x())).normalized();
    }
    // A force N_k and its friction have the moments of N_k at corner_k - (H/2) mu slip_k about horizontal axes: these are nil,
    // and of all such forces those are taken that are least.
    std::array<Vec3, 4> arm;
    Mat3 A = Mat3::Zero();
    for (int k = 0; k < 4; ++k) {
      arm[k] << 1, corner[k] - H / 2 * mu * slip[k];
      A += arm[k] * arm[k].transpose();
    }
    const Vec3 n = A.lu().solve(Vec3(m * g, 0, 0));
    VecX out = VecX::Zero(6);
    out.head<3>() = y.tail<3>();
    for (int k = 0; k < 4; ++k) {
      const double N = n.dot(arm[k]);
      const Eigen::Vector2d f = -mu * N * slip[k], at = lever * corner[k].normalized();
      out.segment<2>(3) += f / m;
      out[5] += (at.x() * f.y() - at.y() * f.x()) / I;
    }
    return out;
  };
  VecX start = VecX::Zero(6);
  start << 0, 0, 0, v.x(), v.y(), omega.z();
  const VecX exact = integrate(start, duration, 20000, rates);
  const auto error = [&](int steps) {
    Scene scene = floor_of(mu);
    scene.add({.name = "plate",
               .mass = m,
               .inertia = Mat3(Vec3(I, I, I).asDiagonal()),
               .position = {0, 0, H / 2},
               .velocity = v,
               .angular_velocity = omega,
               .shape = Box{{a, a, H}},
               .material = "stuff"});
    scene.recipe = touching_recipe(duration / steps);
    World world(scene);
    run_until(world, duration, steps);
    return std::max((world.position("plate").head<2>() - exact.head<2>()).norm(),
                    std::abs(world.angular_velocity("plate").z() - exact[5]));
  };
  expect_order_four(error, {20, 40, 80}, 1e-6);
}

TEST(Touching, DroppedBodiesNeitherGainEnergyNorOverlap) {
  const std::vector<Shape> shapes = {Sphere{0.3},    Box{{0.5, 0.4, 0.3}},        Capsule{0.15, 0.5},
                                     Cone{0.3, 0.5}, Ellipsoid{{0.3, 0.2, 0.15}}, Cylinder{0.3, 0.2}};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  const auto vector = [&] { return Vec3(number(random), number(random), number(random)); };
  for (const Shape& shape : shapes) {
    Scene scene = floor_of(0.4, 0.3);
    scene.add({.name = "body",
               .mass = 1.0,
               .position = {0, 0, 0.7},
               .orientation = Quat(number(random), number(random), number(random), number(random)).normalized(),
               .velocity = vector(),
               .angular_velocity = 4 * vector(),
               .shape = shape,
               .material = "stuff"});
    scene.recipe = touching_recipe(0.005);
    World world(scene);
    const double start = world.diagnostics().energy();
    double energy = start;
    for (int k = 0; k < 200; ++k) {
      world.step();
      const Diagnostics now = world.diagnostics();
      EXPECT_LT(now.energy(), energy + 1e-4 * start) << shape.index() << ", step " << k;
      EXPECT_LT(now.penetration, 1e-9) << shape.index() << ", step " << k;
      energy = now.energy();
    }
    EXPECT_LT(energy, 0.9 * start);
  }
}

TEST(Touching, SmallStepsByImpulsesComeToTheSame) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int k = 0; k < 2; ++k) {
    Scene scene = floor_of(0.3);
    scene.add({.name = "block",
               .mass = 1.0,
               .position = {0, 0, 0.05},
               .velocity = {number(random), number(random), 0},
               .angular_velocity = {0, 0, 3 * number(random)},
               .shape = Box{{0.5, 0.4, 0.1}},
               .material = "stuff"});
    scene.add({.name = "one",
               .mass = 1.0,
               .position = {2, 0, 0.1},
               .velocity = {1, 0.1 * number(random), 0},
               .angular_velocity = 10 * Vec3(number(random), number(random), number(random)),
               .shape = Sphere{0.1},
               .material = "stuff"});
    scene.add({.name = "other", .mass = 0.5, .position = {2.4, 0, 0.1}, .shape = Sphere{0.1}, .material = "stuff"});
    scene.recipe = touching_recipe(0.01);
    World exact(scene);
    run_until(exact, 0.4, 40);
    Recipe impulses = recipes::realtime();
    impulses.dt = 4e-4;
    World small(scene, impulses);
    run_until(small, 0.4, 1000);
    for (const char* body : {"block", "one", "other"}) {
      EXPECT_LT((exact.position(body) - small.position(body)).norm(), 5e-3) << k << " " << body;
      EXPECT_LT((exact.velocity(body) - small.velocity(body)).norm(), 5e-2) << k << " " << body;
    }
  }
}

TEST(Touching, TheInclineHoldsAndJointsShareTheLoad) {
  // A bar on a hinge lies with its free end on a ball bearing of a floor: half its weight each.
  Scene scene = floor_of(0.5);
  scene.add({.name = "bar",
             .mass = 2.0,
             .position = {0.5, 0, 0.05},
             .orientation = rotation_between(Vec3::UnitZ(), Vec3::UnitX()),
             .shape = Capsule{0.05, 0.9},
             .material = "stuff"});
  scene.add(Hinge{.name = "pin", .between = {"bar", "world"}, .at = {0, 0, 0.05}, .axis = {0, 1, 0}});
  scene.recipe = touching_recipe(0.01);
  World world(scene);
  run_until(world, 0.5, 50);
  EXPECT_LT(world.velocity("bar").norm(), 1e-12);
  EXPECT_NEAR((world.joint_force("pin").force +
               [&] {
                 Vec3 sum = Vec3::Zero();
                 for (const ContactResult& c : world.contacts()) sum -= c.force;
                 return sum;
               }())
                  .norm(),
              2 * g, 1e-6);
}

TEST(Touching, SnapshotsGoOnWithTheSameBits) {
  Scene scene = rolling_disc(general_disc(), 0.3);
  scene.recipe = touching_recipe(0.01);
  scene.recipe.integrator = DormandPrinceSettings{};
  World world(scene);
  for (int k = 0; k < 20; ++k) world.step();
  const Snapshot saved = world.save();
  for (int k = 0; k < 20; ++k) world.step();
  const auto hash = world.state_hash();
  world.load(saved);
  for (int k = 0; k < 20; ++k) world.step();
  EXPECT_EQ(world.state_hash(), hash);
}

TEST(Touching, WhatItCannotDoIsRefused) {
  Scene scene = floor_of(0.5);
  scene.add({.name = "ball", .mass = 1.0, .position = {0, 0, 1}, .shape = Sphere{0.1}, .material = "stuff"});
  scene.recipe = touching_recipe(0.01);
  EXPECT_NO_THROW(World{scene});
  for (const char* method : {"rattle", "ab4", "gauss4", "semi_implicit_euler", "leapfrog"}) {
    Recipe recipe = scene.recipe;
    set(recipe, "integrator", method);
    EXPECT_THROW(World(scene, recipe), Error) << method;
  }
  Recipe boxes = scene.recipe;
  boxes.contacts = BoxContactSettings{};
  EXPECT_THROW(World(scene, boxes), Error);
  Scene soft = scene;
  soft.materials[0].contact_stiffness = 1e5;
  EXPECT_THROW(World{soft}, Error);
}

}  // namespace
}  // namespace rotule
