// Constraints that a user writes as a function alone (A2): beads on curves and surfaces, and a crank driven in time, against
// what the calculus of one variable says of them.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "support/constants.h"
#include "support/elliptic.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

BodyDef bead(const Vec3& at, const Vec3& velocity = Vec3::Zero()) {
  return {.name = "bead", .mass = 0.5, .position = at, .velocity = velocity};
}

/// One equation on the bead's position.
template <class F>
Constraint on_bead(const std::string& name, F f) {
  return {.name = name, .between = {"world", "bead"}, .function = [f](const JetBody&, const JetBody& b, const Jet& t) {
            return f(b.position.x(), b.position.y(), b.position.z(), t);
          }};
}

TEST(Bead, OnACosineKeepsItsEnergyAndItsSpeedLaw) {
  // The curve x = cos y in the plane z = 0, gravity along -x: E = m v^2/2 + m g cos y, v^2 = (1 + sin^2 y) y'^2.
  Scene scene;
  scene.gravity = Vec3(-g, 0, 0);
  scene.recipe.dt = 1e-3;
  scene.add(bead(Vec3(std::cos(1.0), 1.0, 0)));
  const JointId curve =
      scene.add(on_bead("cosine", [](const Jet& x, const Jet& y, const Jet&, const Jet&) { return x - cos(y); }));
  scene.add(on_bead("plane", [](const Jet&, const Jet&, const Jet& z, const Jet&) { return z; }));
  World world(scene);
  const double E = world.diagnostics().energy();
  for (int i = 0; i < 2000; ++i) {
    world.step();
    const Vec3 p = world.position("bead"), v = world.velocity("bead");
    ASSERT_NEAR(p.x(), std::cos(p.y()), 1e-12);
    ASSERT_NEAR(v.x(), -std::sin(p.y()) * v.y(), 1e-11);
    ASSERT_NEAR(v.y() * v.y() * (1 + std::pow(std::sin(p.y()), 2)), 2 * g * (std::cos(1.0) - std::cos(p.y())), 1e-8);
    ASSERT_NEAR(world.diagnostics().energy(), E, 1e-9);
    // Newton along the curve's normal n = (1, sin y): N = m (kappa v^2 + g . n), kappa v^2 = -cos y y'^2 / |n|.
    const double s = std::sin(p.y()), length = std::sqrt(1 + s * s);
    const double N = 0.5 * (g - std::cos(p.y()) * v.y() * v.y()) / length;
    const Vec3 force = world.joint_force(curve).force;
    ASSERT_NEAR(force.x(), N / length, 1e-8);
    ASSERT_NEAR(force.y(), N * s / length, 1e-8);
  }
}

TEST(Bead, OnACircleSwingsWithThePendulumsPeriod) {
  // |p| = r written as a function: T = 4 sqrt(r/g) K(sin(a/2)) from rest at the angle a.
  const double r = 0.8, a = 2.0;
  Scene scene;
  scene.recipe.dt = 5e-4;
  scene.add(bead(r * Vec3(std::sin(a), 0, -std::cos(a))));
  scene.add(on_bead("circle", [r](const Jet& x, const Jet&, const Jet& z, const Jet&) { return sqrt(x * x + z * z) - Jet(r); }));
  scene.add(on_bead("plane", [](const Jet&, const Jet& y, const Jet&, const Jet&) { return y; }));
  World world(scene);
  const double period = 4 * std::sqrt(r / g) * elliptic_K(std::sin(a / 2));
  EXPECT_NEAR(run_to_crossing(world, [&] { return -world.position("bead").x(); }), period / 4, 1e-8);
  EXPECT_NEAR(run_to_crossing(world, [&] { return world.position("bead").x(); }), 3 * period / 4, 1e-8);
}

TEST(Bead, OnABowlCirclesSteadilyAndKeepsItsMoment) {
  // z = k (x^2 + y^2): a level circle at any radius, angular velocity sqrt(2 k g); the wall carries m sqrt(g^2 + (r w^2)^2).
  const double k = 0.7, r = 0.6, w = std::sqrt(2 * k * g);
  const auto bowl = [k](const Jet& x, const Jet& y, const Jet& z, const Jet&) { return z - Jet(k) * (x * x + y * y); };
  Scene scene;
  scene.recipe.dt = 1e-3;
  scene.add(bead(Vec3(r, 0, k * r * r), Vec3(0, w * r, 0)));
  const JointId wall = scene.add(on_bead("bowl", bowl));
  World world(scene);
  run_for(world, 2 * std::numbers::pi / w);
  EXPECT_LT((world.position("bead") - Vec3(r, 0, k * r * r)).norm(), 1e-9);
  EXPECT_NEAR(world.joint_force(wall).force.norm(), 0.5 * std::hypot(g, r * w * w), 1e-9);

  // Any other motion keeps energy and the moment of momentum about the axis.
  Scene tilted = scene;
  tilted.bodies[0].velocity = Vec3(1.0, 0.4, 2 * k * r * 1.0);
  World free(tilted);
  const Diagnostics start = free.diagnostics();
  run_for(free, 3);
  const Diagnostics end = free.diagnostics();
  EXPECT_NEAR(end.energy(), start.energy(), 1e-9);
  EXPECT_NEAR(free.center_of_mass("bead").cross(free.velocity("bead")).z(), r * 0.4, 1e-10);
  EXPECT_LT(end.joint_error.position, 1e-12);
}

TEST(Bead, OnARisingPlatformIsCarriedByItsMotion) {
  // z = 0.1 sin 5t: the platform pushes with m (g + z'').
  Scene scene;
  scene.recipe.dt = 1e-3;
  scene.add(bead(Vec3::Zero(), Vec3(1, 0, 0.5)));
  const JointId platform = scene.add(
      on_bead("platform", [](const Jet&, const Jet&, const Jet& z, const Jet& t) { return z - Jet(0.1) * sin(Jet(5.0) * t); }));
  World world(scene);
  for (int i = 0; i < 1000; ++i) {
    world.step();
    const double t = world.time();
    ASSERT_NEAR(world.position("bead").z(), 0.1 * std::sin(5 * t), 1e-13);
    ASSERT_NEAR(world.velocity("bead").z(), 0.5 * std::cos(5 * t), 1e-12);
    ASSERT_NEAR(world.joint_force(platform).force.z(), 0.5 * (g - 2.5 * std::sin(5 * t)), 1e-10);
    ASSERT_NEAR(world.position("bead").x(), t, 1e-12);
  }
}

/// A bar of 2 kg and 1 m on a hinge, turned by a motor that prescribes its angle phi(t) = t + 0.5 t^2, gravity across it.
Scene driven_crank(const Recipe& recipe) {
  const double L = 1;
  Scene scene;
  scene.recipe = recipe;
  scene.add({.name = "crank",
             .mass = 2.0,
             .inertia = Mat3(Vec3(0.01, 2 * L * L / 12, 2 * L * L / 12).asDiagonal()),
             .position = Vec3(L / 2, 0, 0),
             .velocity = Vec3(0, 0, L / 2),
             .angular_velocity = Vec3(0, -1, 0)});
  scene.add(Hinge{.name = "pivot", .between = {"world", "crank"}, .at = Vec3::Zero(), .axis = Vec3::UnitY()});
  // sin(angle - phi), from the direction of the bar: zero where they agree, and regular all around.
  scene.add(
      Constraint{.name = "motor", .between = {"world", "crank"}, .function = [](const JetBody&, const JetBody& b, const Jet& t) {
                   const Jet phi = t + Jet(0.5) * t * t;
                   const JetVec3 along = b.direction(Vec3::UnitX());
                   return along.z() * cos(phi) - along.x() * sin(phi);
                 }});
  return scene;
}

TEST(Crank, FollowsItsPrescribedAngle) {
  for (const Recipe& recipe :
       {Recipe{.dt = 1e-3}, Recipe{.dt = 1e-3, .integrator = LeapfrogSettings{}},
        Recipe{.dt = 1e-3, .integrator = SemiImplicitEulerSettings{}, .formulation = VelocitySettings{}}}) {
    World world(driven_crank(recipe));
    for (int i = 0; i < 2000; ++i) {
      world.step();
      const double t = world.time(), phi = t + 0.5 * t * t;
      ASSERT_NEAR(world.position("crank").x(), 0.5 * std::cos(phi), 1e-12) << name_of(recipe.formulation);
      ASSERT_NEAR(world.position("crank").z(), 0.5 * std::sin(phi), 1e-12);
      ASSERT_NEAR(world.angular_velocity("crank").y(), -(1 + t), 1e-10);
    }
  }
}

TEST(Crank, MotorAndPivotCarryWhatNewtonAsks) {
  World world(driven_crank({.dt = 1e-3}));
  for (int i = 0; i < 1500; ++i) {
    world.step();
    const double t = world.time(), phi = t + 0.5 * t * t, w = 1 + t, m = 2, half = 0.5;
    // About the pivot: I phi'' = motor - m g (L/2) cos phi, with phi'' = 1. A turn from x to z is about -y.
    const double motor = m * 1.0 / 3 * 1 + m * g * half * std::cos(phi);
    ASSERT_NEAR(world.joint_force("motor").torque.y(), -motor, 1e-9);
    ASSERT_LT(world.joint_force("motor").force.norm(), 1e-12);
    // The pivot: m (a_c - g), centripetal and tangential.
    const Vec3 radial(std::cos(phi), 0, std::sin(phi)), tangent(-std::sin(phi), 0, std::cos(phi));
    const Vec3 expected = m * (half * (1.0 * tangent - w * w * radial) + g * Vec3::UnitZ());
    ASSERT_LT((world.joint_force("pivot").force - expected).norm(), 1e-9);
  }
  // The motor's work is the energy gained: from phi' = 1 at rest height to (1 + t)^2 at sin phi.
  const double t = world.time(), phi = t + 0.5 * t * t;
  const double gained = 0.5 * (2.0 / 3) * ((1 + t) * (1 + t) - 1) + 2 * g * 0.5 * std::sin(phi);
  World start(driven_crank({.dt = 1e-3}));
  EXPECT_NEAR(world.diagnostics().energy() - start.diagnostics().energy(), gained, 1e-10);
}

/// Two wheels side by side, the first one driven, and how they are to turn together.
Scene wheels(const std::string& equation) {
  Scene scene;
  for (const char* name : {"a", "b"}) {
    scene.add({.name = name, .mass = 1, .position = Vec3(*name - 'a', 0, 0), .shape = Box{}});
    scene.add(Hinge{.between = {"world", name}, .at = Vec3(*name - 'a', 0, 0)});
  }
  std::get<Hinge>(scene.joints[0]).drive.motion = GivenMotion{.speed = 5};
  scene.add(Constraint{.name = "ratio", .between = {"a", "b"}, .equation = equation});
  return scene;
}

TEST(Constraint, OfAnglesCountsTurnsOrSaysThatItJumps) {
  // At half a turn an angle goes on from -pi. Where the equation does so with it, its other branch is half a turn of b away, to
  // which b would be turned in one step.
  const auto turned = [](const std::string& equation) {
    World world(wheels(equation), recipes::exact());
    for (int i = 0; i < 300; ++i) world.step(1e-2);  // 2.4 turns of a
    const Quat q = world.orientation("b");
    return std::remainder(2 * std::atan2(q.z(), q.w()) - 2.5 * 3, 2 * std::numbers::pi);
  };
  EXPECT_LT(std::abs(turned("wrap(2 * b.angle_z - a.angle_z)")), 1e-10);
  // By half angles, which change their sign together: the relation of elliptical wheels, here of equal ones.
  EXPECT_NO_THROW(turned("sin(b.angle_z / 2) * cos(a.angle_z / 2) - 2 * sin(a.angle_z / 2) * cos(b.angle_z / 2)"));
  for (const char* equation :
       {"b.angle_z - 0.5 * a.angle_z", "wrap(b.angle_z - 0.5 * a.angle_z)", "b.angle_z - 0.5 * atan2(a.axis_x.y, a.axis_x.x)"}) {
    try {
      turned(equation);
      FAIL() << equation;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("\"ratio\""), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("half a turn"), std::string::npos) << error.what();
    }
  }
}

TEST(Constraint, BetweenTwoBodiesPullsBothEqually) {
  // A rod written as a function, against the rod that is built in: the same motion, the same force.
  const auto pair = [](const JointDef& joint) {
    Scene scene;
    scene.gravity.setZero();
    scene.recipe.dt = 1e-3;
    scene.add({.name = "a",
               .mass = 1.0,
               .center_of_mass = Vec3(0.1, 0, 0),
               .velocity = Vec3(0, 1, 0),
               .angular_velocity = Vec3(0.3, 2, 1),
               .shape = Box{Vec3(0.4, 0.3, 0.2)}});
    scene.add({.name = "b",
               .mass = 3.0,
               .position = Vec3(2, 0, 0),
               .velocity = Vec3(0, -1, 0.5),
               .angular_velocity = Vec3(1, 0, -1),
               .shape = Box{Vec3(0.4, 0.3, 0.2)}});
    scene.add(joint);
    World world(scene);
    world.project();
    return world;
  };
  const Vec3 from(0.2, 0.1, 0), to(1.8, 0, 0.1);
  const double length = (to - from).norm();
  World rod = pair(Rod{.name = "link", .between = {"a", "b"}, .from = from, .to = to});
  World user =
      pair(Constraint{.name = "link", .between = {"a", "b"}, .function = [=](const JetBody& a, const JetBody& b, const Jet&) {
                        return (a.point(from) - b.point(to - Vec3(2, 0, 0))).norm() - Jet(length);
                      }});
  const Diagnostics start = user.diagnostics();
  for (int i = 0; i < 1000; ++i) {
    rod.step();
    user.step();
  }
  EXPECT_LT((rod.position("a") - user.position("a")).norm(), 1e-11);
  EXPECT_LT((rod.position("b") - user.position("b")).norm(), 1e-11);
  EXPECT_LT((rod.joint_force("link").force - user.joint_force("link").force).norm(), 1e-9);
  EXPECT_LT((user.diagnostics().linear_momentum - start.linear_momentum).norm(), 1e-12);
  EXPECT_LT((user.diagnostics().angular_momentum - start.angular_momentum).norm(), 1e-9);
}

TEST(CarAxis, ArrivesWhereItsPublishedSolutionDoes) {
  // Half a car on a bumpy road, of the Test Set for IVP Solvers: two points a rod apart, the left one square to an axle that time
  // turns, each on a spring; the axle's right end is a point that time leads.
  const double mass = 5e-4;
  Scene scene;
  scene.gravity = Vec3(0, -1, 0);
  scene.add({.name = "left", .mass = mass, .position = {0, 0.5, 0}, .velocity = {-0.5, 0, 0}});
  scene.add({.name = "right", .mass = mass, .position = {1, 0.5, 0}, .velocity = {-0.5, 0, 0}});
  scene.add({.name = "wheel", .mass = mass, .position = {1, 0, 0}, .velocity = {0, 1, 0}});
  scene.add(Constraint{.between = {"world", "wheel"},
                       .equation = {"wheel.x - sqrt(1 - (0.1 * sin(10 * t))^2)", "wheel.y - 0.1 * sin(10 * t)", "wheel.z"}});
  scene.add(Constraint{.between = {"wheel", "left"}, .equation = {"wheel.x * left.x + wheel.y * left.y", "left.z"}});
  scene.add(Constraint{.between = {"left", "right"}, .equation = {"(left.x - right.x)^2 + (left.y - right.y)^2 - 1", "right.z"}});
  scene.add(Spring{.between = {"world", "left"}, .from = Vec3(0, 0, 0), .stiffness = 1, .rest_length = 0.5});
  scene.add(Spring{.between = {"wheel", "right"}, .stiffness = 1, .rest_length = 0.5});
  Recipe recipe = recipes::exact();
  recipe.integrator = DormandPrince8Settings{};
  World world(scene, recipe);
  run_for(world, 3);
  EXPECT_LT((world.position("left") - Vec3(0.4934557842755629e-1, 0.4969894602303324, 0)).norm(), 1e-11);
  EXPECT_LT((world.position("right") - Vec3(1.041742524885400, 0.3739110272652214, 0)).norm(), 1e-11);
  EXPECT_LT((world.velocity("left") - Vec3(-0.7705836840321485e-1, 0.7446866596327776e-2, 0)).norm(), 1e-9);
  EXPECT_LT((world.velocity("right") - Vec3(0.1755681574942899e-1, 0.7703410437794031, 0)).norm(), 1e-9);
}

}  // namespace
}  // namespace rotule
