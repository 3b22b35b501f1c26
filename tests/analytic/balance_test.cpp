// The books of energy and momentum: work and losses against closed forms, and what is left over against the order of the method.
// Counts can be raised: ROTULE_CASES multiplies them.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/inverse.h>
#include <rotule/world.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

int many(int count) {
  const char* factor = std::getenv("ROTULE_CASES");
  return factor ? count * std::max(1, std::atoi(factor)) : count;
}

World kept(const Scene& scene, const Recipe& recipe) {
  World world(scene, recipe);
  world.keep_books(true);
  return world;
}

EnergyBalance books(const World& world) { return world.diagnostics().energy_balance; }

Recipe by(const char* integrator, double dt) {
  Recipe recipe = recipes::exact();
  recipe.dt = dt;
  set(recipe, "integrator", integrator);
  return recipe;
}

Recipe by_impulses(double dt) {
  Recipe recipe = recipes::balanced();
  recipe.dt = dt;
  return recipe;
}

Recipe touching(const char* integrator, double dt) {
  Recipe recipe = by(integrator, dt);
  recipe.contacts = ConeContactSettings{};
  return recipe;
}

Scene ground(double friction, double restitution, double slope = 0) {
  Scene scene;
  scene.dial.reset();
  scene.gravity = g * Vec3(std::sin(slope), 0, -std::cos(slope));
  scene.materials = {{.name = "stuff", .friction = friction, .restitution = restitution}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "stuff"});
  return scene;
}

/// A wheel at rest that a given motion seizes at 3 rad/s: the blow is work of the motor, and its momentum comes from the world.
TEST(Balance, AMotionThatBodiesHaveNotFollowedIsABlowByItsMotor) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "wheel", .mass = 2, .inertia = Mat3(0.1 * Mat3::Identity()), .position = {0.2, 0, 0}});
  scene.add(Hinge{.name = "pin", .between = {"world", "wheel"}, .drive = {.motion = GivenMotion{.speed = 3}}});
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss6", "ab4"}) {
    SCOPED_TRACE(integrator);
    World world = kept(scene, by(integrator, 0.01));
    for (int i = 0; i < 50; ++i) world.step();
    const EnergyBalance now = books(world);
    EXPECT_NEAR(now.motors, 0.5 * (0.1 + 2 * 0.2 * 0.2) * 9, 1e-12);
    EXPECT_NEAR(now.left_over, 0, 1e-12);
    // What holds the wheel's centre on its circle is summed at the order of the method; the blow alone is 1.2 N s.
    EXPECT_LT(world.diagnostics().momentum_balance.left_over.norm(), 1e-6);
    EXPECT_LT(world.diagnostics().angular_momentum_balance.left_over.norm(), 1e-6);
  }
}

/// The same by an equation that knows the time, which the method need not find on its way.
TEST(Balance, AnEquationOfTimeThatBodiesHaveNotFollowedIsABlowByItsGuide) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "wheel", .mass = 2, .inertia = Mat3(0.1 * Mat3::Identity())});
  scene.add(Hinge{.name = "pin", .between = {"world", "wheel"}});
  scene.add(Constraint{.between = {"world", "wheel"}, .equation = "wrap(wheel.angle_z - 3*t)"});
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss6", "ab4"}) {
    SCOPED_TRACE(integrator);
    World world = kept(scene, by(integrator, 0.01));
    for (int i = 0; i < 50; ++i) {
      const StepReport report = world.step();
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(report.halvings, 0);
    }
    const EnergyBalance now = books(world);
    EXPECT_NEAR(now.guides, 0.45, 1e-12);
    EXPECT_NEAR(now.left_over, 0, 1e-12);
    EXPECT_LT(world.diagnostics().angular_momentum_balance.left_over.norm(), 1e-12);
  }
  for (const Remark& remark : examine(scene).remarks) EXPECT_NE(remark.kind, "locked_mechanism");
}

/// A pendulum of 2 kg whose pivot rubs by a torque -c omega: what is lost is the integral of c omega^2.
TEST(Balance, APendulumLosesWhatItsDamperTakes) {
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "bob", .mass = 2, .inertia = 0.1 * Mat3::Identity(), .position = {1, 0, 0}});
  scene.add(Hinge{.name = "pivot", .between = {"world", "bob"}, .at = Vec3::Zero(), .axis = {0, 1, 0}});
  scene.add(TorsionSpring{.between = {"world", "bob"}, .axis = {0, 1, 0}, .damping = 0.7});
  for (const auto& [method, tolerance] : {std::pair("gauss6", 1e-12), {"rk4", 1e-10}, {"dormand_prince_8", 1e-9}}) {
    World world = kept(scene, by(method, 1e-3));
    double expected = 0, before = 0;
    run_for(world, 2, [&] {
      const double now = 0.7 * world.angular_velocity("bob").squaredNorm();
      expected += 0.5e-3 * (before + now);
      before = now;
    });
    const EnergyBalance b = books(world);
    EXPECT_NEAR(b.dampers, expected, 1e-5) << method;
    EXPECT_GT(b.dampers, 5) << method;
    EXPECT_NEAR(b.left_over, 0, tolerance * 20) << method;
    EXPECT_EQ(b.drag + b.contact_friction + b.impacts + b.brought_in(), 0) << method;
  }
}

/// Friction heat is mu N times the way.
TEST(Balance, ABlockOnASlopeTurnsWorkIntoHeat) {
  constexpr double slope = 0.5, mu = 0.3, m = 2;
  Scene scene = ground(mu, 0, slope);
  scene.add({.name = "block", .mass = m, .position = {0, 0, 0.1}, .shape = Box{Vec3(0.4, 0.3, 0.2)}, .material = "stuff"});
  for (const auto& [recipe, tolerance] : {std::pair(touching("rk4", 1e-2), 1e-11), {by_impulses(1e-3), 2e-3}}) {
    World world = kept(scene, recipe);
    run_for(world, 1);
    const double way = world.position("block").x(), heat = mu * m * g * std::cos(slope) * way;
    const EnergyBalance b = books(world);
    EXPECT_NEAR(way, 0.5 * g * (std::sin(slope) - mu * std::cos(slope)), 2e-3);
    EXPECT_NEAR(b.contact_friction, heat, tolerance * heat);
    EXPECT_NEAR(b.impacts, 0, tolerance * heat);
    EXPECT_NEAR(b.left_over, 0, tolerance * heat);
    const MomentumBalance p = world.diagnostics().momentum_balance;
    EXPECT_NEAR(p.supports.z(), m * g * std::cos(slope), 1e-9 + tolerance * m * g);
    EXPECT_NEAR(p.supports.x(), -mu * m * g * std::cos(slope), 1e-9 + tolerance * m * g);
    EXPECT_LT(p.left_over.norm(), 1e-9);
  }
}

/// Each impact takes 1 - e^2 of the energy.
TEST(Balance, ABouncingBallPaysAtEachImpact) {
  constexpr double e = 0.7, height = 1, m = 3;
  Scene scene = ground(0, e);
  scene.add({.name = "ball", .mass = m, .position = {0, 0, 0.1 + height}, .shape = Sphere{0.1}, .material = "stuff"});
  const double fall = std::sqrt(2 * height / g);  // 0.45 s; impacts at 1, 1 + 2 e, 1 + 2 e + 2 e^2 times that
  for (const auto& [recipe, tolerance] : {std::pair(touching("rk4", 1e-2), 1e-11), {by_impulses(1e-3), 1e-6}}) {
    World world = kept(scene, recipe);
    run_for(world, fall * (1 + e));
    EXPECT_NEAR(books(world).impacts, m * g * height * (1 - e * e), tolerance * 30);
    run_for(world, fall * (e + 2 * e * e + e * e * e));
    EXPECT_NEAR(books(world).impacts, m * g * height * (1 - std::pow(e, 6)), tolerance * 30);
    EXPECT_NEAR(books(world).left_over, 0, tolerance * 30);
    EXPECT_NEAR(world.diagnostics().momentum_balance.left_over.norm(), 0, 1e-9);
  }
}

/// In the step that holds a blow, the contact's force is that of the blow.
TEST(Balance, ABlowWithinAStepIsInTheContacts) {
  constexpr double e = 0.8, m = 3, dt = 1.0 / 60;
  Scene scene = ground(0, e);
  scene.add({.name = "ball", .mass = m, .position = {0, 0, 0.6}, .shape = Sphere{0.1}, .material = "stuff"});
  World world(scene, by_impulses(dt));
  double before = 0, impulse = 0;
  for (int i = 0; i < 60; ++i) {
    before = world.velocity("ball").z();
    world.step();
    Vec3 sum = Vec3::Zero();
    for (const ContactResult& c : world.contacts()) sum += c.body_b == world.body("ball") ? c.force : Vec3(-c.force);
    EXPECT_NEAR(dt * sum.z(), m * (world.velocity("ball").z() - before + g * dt), 1e-9) << i;
    impulse += dt * sum.z();
  }
  EXPECT_GT(impulse, m * 3);
}

/// A motor that lifts a weight at constant speed: m g h, and m v^2/2 at the start; its force is the weight.
TEST(Balance, AMotorLiftsAWeight) {
  constexpr double m = 4, speed = 0.5;
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "load", .mass = m});
  scene.add(Slider{.name = "lift", .between = {"world", "load"}, .drive = {.motor_speed = speed, .motor_strength = 1e3}});
  World world = kept(scene, by_impulses(1e-3));
  run_for(world, 2);
  const double height = world.position("load").z();
  EXPECT_NEAR(height, 1, 0.02);
  const EnergyBalance b = books(world);
  EXPECT_NEAR(b.motors, m * g * height + 0.5 * m * speed * speed, 0.02);
  EXPECT_NEAR(b.left_over, 0, 0.02);  // the first step: the weight acts half a step longer than the lift moves
  const JointMotion lift = world.joint_motion("lift");
  EXPECT_NEAR(lift.displacement.z(), height, 1e-12);
  EXPECT_NEAR(lift.displacement_rate.z(), speed, 1e-12);
  EXPECT_NEAR(lift.motor_force.z(), m * g, 1e-9);
  EXPECT_NEAR(lift.motor_power, m * g * speed, 1e-9);
  EXPECT_NEAR(world.joint_force("lift").force.z(), 0, 1e-9);  // the constraint has no part in it
}

TEST(Balance, DragTakesAllThatWeightGivesAtTerminalVelocity) {
  constexpr double m = 2, c = 0.5;
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "ball", .mass = m, .shape = Sphere{0.1}});
  scene.add(Drag{.quadratic = c});
  World world = kept(scene, by("gauss6", 1e-2));
  run_for(world, 10);
  const double v = std::sqrt(m * g / c);
  EXPECT_NEAR(world.velocity("ball").z(), -v, 1e-9);
  const double before = books(world).drag;
  run_for(world, 1);
  EXPECT_NEAR(books(world).drag - before, m * g * v, 1e-9);
  EXPECT_NEAR(books(world).left_over, 0, 1e-9);
  // Momentum: weight and drag, and nothing else.
  const MomentumBalance p = world.diagnostics().momentum_balance;
  EXPECT_NEAR(p.weight.z(), -m * g * 11, 1e-9);
  EXPECT_NEAR(p.applied.z(), m * g * 11 - m * v, 1e-8);
  EXPECT_LT(p.supports.norm() + p.hands.norm() + p.left_over.norm(), 1e-9);
}

TEST(Balance, SpringsHoldHalfTheSquare) {
  constexpr double k = 80, m = 2;
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "body", .mass = m, .position = {1.3, 0, 0}, .shape = Sphere{0.1}});
  scene.add(Spring{.between = {"world", "body"}, .from = Vec3::Zero(), .stiffness = k, .rest_length = 1});
  World world = kept(scene, by("gauss6", 1e-3));
  EXPECT_NEAR(world.diagnostics().spring_energy, 0.5 * k * 0.09, 1e-12);
  run_for(world, 0.7, [&] {
    const double stretch = world.position("body").x() - 1;
    EXPECT_NEAR(world.diagnostics().spring_energy, 0.5 * k * stretch * stretch, 1e-12);
  });
  EXPECT_NEAR(books(world).left_over, 0, 1e-12);
}

/// A spring on a joint: its energy counts, and what its damper takes ends in the books.
TEST(Balance, AJointSpringSwingsOut) {
  constexpr double k = 50, q_0 = 0.4;
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "arm", .mass = 2, .inertia = 0.5 * Mat3::Identity()});
  scene.add(Hinge{.name = "hinge", .between = {"world", "arm"}, .drive = {.stiffness = k, .damping = 1.5, .rest = q_0}});
  World world = kept(scene, by_impulses(1e-4));
  EXPECT_NEAR(world.diagnostics().spring_energy, 0.5 * k * q_0 * q_0, 1e-12);
  run_for(world, 5);
  const EnergyBalance b = books(world);
  EXPECT_NEAR(world.joint_motion("hinge").angle.z(), q_0, 1e-3);
  EXPECT_NEAR(b.dampers, 0.5 * k * q_0 * q_0, 0.02 * b.start);
  EXPECT_NEAR(b.left_over, 0, 0.02 * b.start);
}

/// What is done by hand is on the books as such, and forces that are set do work.
TEST(Balance, HandsAndForcesAreToldApart) {
  Scene scene;
  scene.gravity.setZero();
  scene.add({.name = "body", .mass = 2, .shape = Sphere{0.1}});
  World world = kept(scene, by("rk4", 1e-2));
  const BodyId body = world.body("body");
  world.apply_impulse(body, {6, 0, 0}, Vec3::Zero());
  EXPECT_NEAR(books(world).hands, 9, 1e-12);
  world.set_force(body, {4, 0, 0});
  run_for(world, 1);
  const EnergyBalance b = books(world);
  EXPECT_NEAR(b.hands, 9, 1e-12);
  EXPECT_NEAR(b.forces, 4 * world.position("body").x(), 1e-12);
  EXPECT_NEAR(b.left_over, 0, 1e-12);
  const Diagnostics d = world.diagnostics();
  EXPECT_NEAR(d.momentum_balance.hands.x(), 6, 1e-12);
  EXPECT_NEAR(d.momentum_balance.applied.x(), 4, 1e-12);
  EXPECT_LT(d.momentum_balance.left_over.norm(), 1e-12);
  // A shock by hand is an impact.
  const double lost = world.shock(body, world.center_of_mass(body), 0);
  EXPECT_NEAR(books(world).impacts, lost, 1e-12);
  EXPECT_NEAR(books(world).hands, 9, 1e-12);
}

/// A hinge whose angle is prescribed: the guide does the work of all that moves.
TEST(Balance, APrescribedMotionDoesWork) {
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.add({.name = "arm", .mass = 2, .inertia = 0.3 * Mat3::Identity(), .position = {1, 0, 0}});
  scene.add(Hinge{.name = "pivot", .between = {"world", "arm"}, .at = Vec3::Zero(), .axis = {0, 1, 0}});
  Constraint guide{.name = "guide", .between = {"world", "arm"}};
  guide.function = [](const JetBody&, const JetBody& arm, const Jet& t) {
    return arm.position.e[2] - 0.3 * (1.0 - cos(3.0 * t));  // its height
  };
  scene.add(guide);
  for (const auto& [method, tolerance] : {std::pair("rk4", 1e-8),
                                          {"gauss6", 1e-8},
                                          {"dormand_prince_8", 1e-8},
                                          {"rattle", 1e-5},
                                          {"rattle4", 1e-9},
                                          {"rattle6", 1e-10}}) {
    World world = kept(scene, by(method, 1e-3));
    run_for(world, 0.8);
    const EnergyBalance b = books(world);
    EXPECT_GT(std::abs(b.guides), 1) << method;
    EXPECT_NEAR(b.left_over, 0, tolerance) << method;
  }
  // RATTLE counts work to its own order.
  for (const auto& [method, dt, order] : {std::tuple("rattle", 4e-3, 2.0), {"rattle4", 2e-2, 4.0}, {"rattle6", 2e-2, 6.0}}) {
    const auto left = [&, name = method](double step) {
      World world = kept(scene, by(name, step));
      run_for(world, 0.8);
      return std::abs(books(world).left_over);
    };
    EXPECT_GT(left(dt) / left(dt / 2), std::pow(2, order - 0.6)) << method;
  }
}

/// Chains of three bodies with springs, dampers, drag, a force that a user wrote and one set by hand, at random.
class Closing {
 public:
  explicit Closing(int seed) : dice_(static_cast<unsigned>(seed)) {
    scene.gravity = {0, 0, -g};
    std::string last = "world";
    Vec3 at = Vec3::Zero();
    for (int i = 0; i < 3; ++i) {
      const std::string name = "link" + std::to_string(i);
      const Vec3 step(in(0.3, 0.6), in(-0.2, 0.2), in(-0.2, 0.2));
      BodyDef body{.name = name, .mass = in(0.5, 3), .position = at + 0.5 * step};
      body.inertia = Vec3(in(0.05, 0.1), in(0.05, 0.1), in(0.05, 0.1)).asDiagonal();
      scene.add(body);
      if (in(0, 1) < 0.5)
        scene.add(Hinge{.between = {last, name}, .at = at, .axis = Vec3(in(-1, 1), in(-1, 1), 1.5).normalized()});
      else
        scene.add(Ball{.between = {last, name}, .at = at});
      at += step;
      last = name;
    }
    scene.add(Spring{
        .between = {"world", "link2"}, .from = at + Vec3(0.3, 0.2, 0.5), .to = at, .stiffness = in(5, 40), .damping = in(0, 2)});
    scene.add(Spring{.between = {"link0", "link2"}, .stiffness = in(5, 40), .damping = in(0, 1)});
    scene.add(Drag{.viscous = in(0, 0.5), .quadratic = in(0, 0.3), .angular = in(0, 0.1)});
    UserForce wind{.name = "wind", .between = {"world", "link1"}};
    const double strength = in(0.5, 2);
    wind.values = [strength](const Motion&, const Motion& b, double t) {
      Vec12 out = Vec12::Zero();
      out[7] = strength * std::sin(5 * t) - 0.1 * b.velocity.y();
      return out;
    };
    scene.add(wind);
    force_ = Vec3(in(-2, 2), in(-2, 2), in(-2, 2));
  }
  [[nodiscard]] double left_over(const Recipe& recipe, double duration) const {
    World world = kept(scene, recipe);
    world.set_force(world.body("link1"), force_, Vec3(0, 0, 0.3));
    run_for(world, duration);
    const Diagnostics d = world.diagnostics();
    const EnergyBalance& b = d.energy_balance;
    // Every agent has its share.
    EXPECT_NE(b.forces, 0);
    EXPECT_NE(b.fields, 0);
    EXPECT_GT(b.dampers, 0);
    EXPECT_GT(b.drag, 0);
    return std::abs(b.left_over) / std::max(1.0, std::abs(b.brought_in()) + b.taken_out());
  }
  Scene scene;

 private:
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(dice_); }
  std::mt19937 dice_;
  Vec3 force_;
};

/// What is left over at this step, for the worst of some scenes.
TEST(Balance, ClosesAsTheMethodDeserves) {
  struct Case {
    const char* method;
    double dt, tolerance;
  };
  constexpr std::array<Case, 12> cases{{{"gauss6", 2e-3, 3e-13},
                                        {"gauss4", 1e-3, 3e-11},
                                        {"dormand_prince_8", 1e-2, 1e-8},
                                        {"dormand_prince", 1e-2, 1e-6},
                                        {"rk4", 1e-3, 1e-10},
                                        {"ab4", 1e-3, 1e-7},
                                        {"taylor3", 1e-3, 1e-6},
                                        {"sdirk", 1e-3, 1e-6},
                                        {"rk2", 1e-3, 1e-4},
                                        {"implicit_midpoint", 1e-3, 1e-4},
                                        {"trapezoid", 1e-3, 1e-4},
                                        {"bdf2", 1e-3, 1e-3}}};
  for (int seed = 0; seed < many(4); ++seed) {
    const Closing closing(seed);
    for (const Case& c : cases)
      EXPECT_LT(closing.left_over(by(c.method, c.dt), 0.5), c.tolerance) << c.method << ", seed " << seed;
  }
}

/// Halving the step, what is left over falls by the order of the method.
TEST(Balance, IsIntegratedToTheOrderOfTheMethod) {
  const Closing closing(7);
  for (const auto& [method, dt, order] : {std::tuple("rk4", 0.02, 4.0),
                                          {"gauss4", 0.02, 4.0},
                                          {"gauss6", 0.05, 6.0},
                                          {"ab4", 0.005, 4.0},
                                          {"rk2", 0.005, 2.0},
                                          {"modified_euler", 0.005, 2.0},
                                          {"two_thirds", 0.005, 2.0},
                                          {"taylor2", 0.005, 2.0},
                                          {"taylor3", 0.01, 3.0},
                                          {"sdirk", 0.01, 3.0},
                                          {"trapezoid", 0.005, 2.0},
                                          {"implicit_midpoint", 0.005, 2.0},
                                          {"bdf2", 0.005, 2.0},
                                          {"leapfrog", 0.005, 2.0},
                                          {"verlet", 0.005, 2.0},
                                          {"generalised_alpha", 0.005, 2.0},
                                          {"explicit_euler", 0.001, 1.0},
                                          {"implicit_euler", 0.001, 1.0},
                                          {"linear_implicit_euler", 0.001, 1.0},
                                          {"semi_implicit_euler", 0.001, 1.0}}) {
    const double coarse = closing.left_over(by(method, dt), 0.5), fine = closing.left_over(by(method, dt / 2), 0.5);
    EXPECT_GT(coarse / fine, std::pow(2, order - 0.6)) << method << ": " << coarse << ", " << fine;
  }
}

/// Impacts, friction, springs and drag: bodies thrown at the floor and at each other, at random, by accelerations.
Scene thrown(int seed) {
  std::mt19937 dice(static_cast<unsigned>(seed));
  const auto in = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(dice); };
  Scene scene = ground(in(0.1, 0.6), in(0.2, 0.8));
  for (int i = 0; i < 2; ++i) {
    BodyDef body{.name = "body" + std::to_string(i),
                 .mass = in(0.5, 3),
                 .position = {0.5 * i, 0, 0.3 + in(0, 0.2)},
                 .velocity = {in(-1, 1), in(-1, 1), in(-1, 0.5)},
                 .angular_velocity = {in(-3, 3), in(-3, 3), in(-3, 3)},
                 .material = "stuff"};
    if (in(0, 1) < 0.5)
      body.shape = Sphere{0.1};
    else
      body.shape = Capsule{0.08, 0.2};
    scene.add(body);
  }
  scene.add(Spring{.between = {"body0", "body1"}, .stiffness = in(2, 20), .damping = in(0, 0.5)});
  scene.add(Drag{.viscous = in(0, 0.3), .quadratic = in(0, 0.2)});
  return scene;
}

TEST(Balance, ClosesWithImpactsAndFriction) {
  for (int seed = 0; seed < many(10); ++seed) {
    const Scene scene = thrown(seed);
    for (const auto& [recipe, tolerance] : {std::pair(touching("rk4", 1e-3), 1e-5), {touching("dormand_prince_8", 1e-2), 1e-9}}) {
      World world = kept(scene, recipe);
      run_for(world, 0.5);
      const EnergyBalance b = books(world);
      EXPECT_GT(b.impacts, 0) << seed;
      EXPECT_NEAR(b.left_over, 0, tolerance * b.taken_out()) << name_of(recipe.integrator) << ", seed " << seed;
      EXPECT_LT(world.diagnostics().momentum_balance.left_over.norm(), 1e-6) << name_of(recipe.integrator) << ", seed " << seed;
    }
  }
}

/// Motors of limited strength and speed, servos, stops that bounce, friction and springs of joints, drag and a slope: chains of
/// random links on hinges and sliders.
Scene machine(int seed) {
  std::mt19937 dice(static_cast<unsigned>(1000 + seed));
  const auto in = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(dice); };
  Scene scene;
  scene.gravity = g * Vec3(std::sin(in(0, 0.3)), 0, -1);
  std::string last = "world";
  Vec3 at = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    const std::string name = "link" + std::to_string(i);
    const Vec3 step(in(0.3, 0.6), in(-0.2, 0.2), in(-0.2, 0.2));
    BodyDef body{.name = name, .mass = in(0.5, 3), .position = at + 0.5 * step};
    body.inertia = Vec3(in(0.05, 0.1), in(0.05, 0.1), in(0.05, 0.1)).asDiagonal();
    scene.add(body);
    Drive drive{.friction = in(0.05, 0.4), .damping = in(0, 0.2)};
    if (i == 0) {
      drive.motor_speed = in(1, 4);
      drive.motor_strength = in(5, 60);
    } else if (i == 1) {
      drive.stiffness = in(5, 40);
      drive.rest = in(-0.5, 0.5);
    } else {
      drive.lower = -in(0.02, 0.2);
      drive.upper = in(0.02, 0.2);
      drive.restitution = in(0, 0.8);
    }
    const Vec3 axis = Vec3(in(-0.3, 0.3), 1, in(-0.3, 0.3)).normalized();
    if (i == 2 && in(0, 1) < 0.5)
      scene.add(Slider{.between = {last, name}, .at = at, .axis = axis, .drive = drive});
    else
      scene.add(Hinge{.between = {last, name}, .at = at, .axis = axis, .drive = drive});
    at += step;
    last = name;
  }
  scene.add(Drag{.viscous = in(0, 0.5), .quadratic = in(0, 0.3), .angular = in(0, 0.1)});
  return scene;
}

/// What is left over, of all that was brought in and taken out; and of momentum, of all the impulse that supports gave.
void expect_closed(const World& world, double tolerance, const std::string& which) {
  const Diagnostics d = world.diagnostics();
  const EnergyBalance& b = d.energy_balance;
  EXPECT_LT(std::abs(b.left_over), tolerance * (std::abs(b.brought_in()) + b.taken_out())) << which;
  const auto momentum = [](const MomentumBalance& p) { return p.left_over.norm() / (p.weight.norm() + p.supports.norm()); };
  EXPECT_LT(momentum(d.momentum_balance), tolerance) << which;
  EXPECT_LT(momentum(d.angular_momentum_balance), tolerance) << which;
}

std::string named(const Recipe& recipe, int seed) {
  return std::string(name_of(recipe.integrator)) + ", seed " + std::to_string(seed);
}

/// Events are located, and what they change at an instant is on the books, so that nothing is left over but what the method errs
/// by between them.
TEST(Balance, ClosesWithMotorsStopsAndFriction) {
  for (int seed = 0; seed < many(4); ++seed) {
    const Scene scene = machine(seed);
    for (const auto& [recipe, tolerance] : {std::pair(by("dormand_prince_8", 1e-2), 1e-11), {by("gauss6", 1e-3), 1e-11}}) {
      World world = kept(scene, recipe);
      run_for(world, 1);
      EXPECT_NE(books(world).motors, 0) << seed;
      EXPECT_GT(books(world).joint_friction, 0) << seed;
      expect_closed(world, tolerance, named(recipe, seed));
    }
  }
}

/// An arm that a motor of constant torque, or a servo's spring, swings close above the floor, into a ball that lies there, with a
/// spring to a capsule that stands: motor, contact, impact, friction, spring and drag.
Scene swung(int seed) {
  std::mt19937 dice(static_cast<unsigned>(2000 + seed));
  const auto in = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(dice); };
  Scene scene = ground(in(0.1, 0.5), in(0.2, 0.7));
  scene.add(
      {.name = "arm", .mass = in(1, 3), .position = {0.4, 0, 0.1}, .shape = Box{Vec3(0.8, 0.06, 0.06)}, .material = "stuff"});
  Drive drive{.damping = in(0, 0.2)};
  if (seed % 2 == 0) {
    drive.motor_torque = in(3, 9);
  } else {
    drive.stiffness = in(3, 9);
    drive.rest = 1.5;
  }
  scene.add(Hinge{.name = "motor", .between = {"world", "arm"}, .at = {0, 0, 0.1}, .axis = {0, 0, 1}, .drive = drive});
  scene.add({.name = "ball", .mass = in(0.3, 1), .position = {0.5, 0.25, 0.1}, .shape = Sphere{0.1}, .material = "stuff"});
  scene.add({.name = "other",
             .mass = in(0.3, 1),
             .position = {0.35 + in(-0.1, 0.1), 0.6, 0.2},
             .shape = Capsule{0.1, 0.2},
             .material = "stuff"});
  scene.add(Spring{.between = {"ball", "other"}, .stiffness = in(2, 20), .damping = in(0, 0.5)});
  scene.add(Drag{.viscous = in(0, 0.3), .quadratic = in(0, 0.2)});
  return scene;
}

/// Equal steps are of second order where slip begins or stops while its direction turns; error control is not affected.
TEST(Balance, ClosesWithMotorsThatPushWhatTheyTouch) {
  for (int seed = 0; seed < many(6); ++seed) {
    for (const auto& [recipe, tolerance] : {std::pair(touching("rk4", 1e-3), 1e-3), {touching("dormand_prince_8", 1e-2), 1e-9}}) {
      World world = kept(swung(seed), recipe);
      run_for(world, 0.7);
      const EnergyBalance b = books(world);
      EXPECT_GT(seed % 2 == 0 ? b.motors : b.dampers, 0.01) << seed;
      EXPECT_GT(b.impacts, 1e-3) << seed;
      EXPECT_GT(b.contact_friction, 1e-3) << seed;
      expect_closed(world, tolerance, named(recipe, seed));
    }
  }
}

/// Thirty scenes with motors, servos, stops, drag, springs, impacts and friction of joints and contacts: nothing is left over but
/// rounding, with error control and, where nothing touches, with equal steps of a high order.
TEST(Balance, ClosesToRoundingOnThirtyScenes) {
  constexpr double rounding = 1e-12;  // of all that was brought in and taken out
  for (int seed = 0; seed < many(30); ++seed) {
    const bool touches = seed % 3 != 0;
    const Scene scene = seed % 3 == 0 ? machine(500 + seed) : seed % 3 == 1 ? thrown(500 + seed) : swung(500 + seed);
    Recipe recipe = touches ? touching("dormand_prince_8", 1e-2) : by("dormand_prince_8", 1e-2);
    set(recipe, "integrator.relative_tolerance", "1e-13");
    World world = kept(scene, recipe);
    run_for(world, 0.5);
    expect_closed(world, rounding, named(recipe, seed));
    if (touches) continue;
    recipe = by("gauss6", 5e-4);
    World equal = kept(scene, recipe);
    run_for(equal, 0.5);
    expect_closed(equal, 10 * rounding, named(recipe, seed));
  }
}

/// Motors, joint springs, friction of joints and contacts at velocity level: what is left over falls with the step.
TEST(Balance, AtVelocityLevelWhatIsLeftFallsWithTheStep) {
  for (int seed = 0; seed < many(4); ++seed) {
    std::mt19937 dice(static_cast<unsigned>(seed));
    const auto in = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(dice); };
    Scene scene = ground(in(0.2, 0.6), 0);
    scene.add({.name = "crank", .mass = 1, .position = {0.2, 0, 1}, .shape = Box{Vec3(0.4, 0.1, 0.1)}, .contacts = false});
    scene.add({.name = "arm", .mass = 1, .position = {0.6, 0, 1}, .shape = Box{Vec3(0.4, 0.1, 0.1)}, .contacts = false});
    scene.add({.name = "sled",
               .mass = 2,
               .position = {0, 1, 0.1},
               .velocity = {2, 0, 0},
               .shape = Box{Vec3(0.4, 0.4, 0.2)},
               .material = "stuff"});
    scene.add(Hinge{.name = "motor",
                    .between = {"world", "crank"},
                    .at = {0, 0, 1},
                    .axis = {0, 1, 0},
                    .drive = {.motor_speed = in(2, 5), .motor_strength = in(8, 20)}});
    scene.add(Hinge{.name = "elbow",
                    .between = {"crank", "arm"},
                    .at = {0.4, 0, 1},
                    .axis = {0, 1, 0},
                    .drive = {.friction = in(0.1, 0.5), .stiffness = in(1, 5), .damping = in(0.05, 0.3)}});
    const auto left = [&](double dt) {
      World world = kept(scene, by_impulses(dt));
      run_for(world, 1);
      const EnergyBalance b = books(world);
      EXPECT_NE(b.motors, 0);
      EXPECT_GT(b.joint_friction, 0);
      EXPECT_GT(b.dampers, 0);
      EXPECT_GT(b.contact_friction, 0);
      return std::abs(b.left_over) / (std::abs(b.motors) + b.taken_out());
    };
    const double coarse = left(1e-3), fine = left(2.5e-4);
    EXPECT_LT(coarse, 0.03) << seed;
    EXPECT_LT(fine, 0.5 * coarse + 1e-4) << seed;
  }
}

/// Keeping the books changes no bit of the motion.
TEST(Balance, IsAReadOut) {
  const auto hash = [](const Scene& scene, const Recipe& recipe, bool keep) {
    World world(scene, recipe);
    if (keep) world.keep_books(true);
    run_for(world, 0.1);
    return world.state_hash();
  };
  const Closing closing(3);
  for (const char* method : {"gauss6", "gauss4", "dormand_prince_8", "dormand_prince", "rk4", "ab4", "taylor3", "sdirk", "bdf2",
                             "leapfrog", "verlet", "trapezoid", "generalised_alpha", "rattle", "implicit_euler"})
    EXPECT_EQ(hash(closing.scene, by(method, 1e-3), false), hash(closing.scene, by(method, 1e-3), true)) << method;
  for (const Recipe& recipe : {touching("rk4", 1e-2), touching("dormand_prince_8", 1e-2), by_impulses(1e-3)})
    EXPECT_EQ(hash(thrown(1), recipe, false), hash(thrown(1), recipe, true)) << name_of(recipe.integrator);
}

}  // namespace
}  // namespace rotule
