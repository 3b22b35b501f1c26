// Joints that hold particles: against the equations of the double pendulum in its own angles, against bodies of no size, and
// against what no joint may change: momentum, and energy.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>

#include "model/solver_list.h"
#include "scenes/builders.h"
#include "support/constants.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::g;

/// Two particles on two rods in the plane y = 0, angles from the vertical, at rest.
struct Arms {
  double l1 = 0.7, l2 = 0.5, m1 = 1.3, m2 = 0.4;
  double theta1 = 1.1, theta2 = 1.9;

  [[nodiscard]] Vec3 first(double a) const { return l1 * Vec3(std::sin(a), 0, -std::cos(a)); }
  [[nodiscard]] Vec3 second(double a, double b) const { return first(a) + l2 * Vec3(std::sin(b), 0, -std::cos(b)); }
  [[nodiscard]] Scene scene(bool of_bodies = false) const {
    Scene scene;
    if (of_bodies) {
      scene.add({.name = "p", .mass = m1, .position = first(theta1)});
      scene.add({.name = "q", .mass = m2, .position = second(theta1, theta2)});
    } else {
      scene.add_particles({.name = "p", .positions = {first(theta1)}, .mass = m1});
      scene.add_particles({.name = "q", .positions = {second(theta1, theta2)}, .mass = m2});
    }
    scene.add(Rod{.name = "upper", .between = {"world", "p"}, .from = Vec3::Zero()});
    scene.add(Rod{.name = "lower", .between = {"p", "q"}});
    scene.recipe = {.dt = 1e-3};
    return scene;
  }
  /// theta1'', theta2'' of Lagrange's equations.
  [[nodiscard]] Eigen::Vector4d rate(const Eigen::Vector4d& y) const {
    const double d = y[0] - y[1], c = std::cos(d), s = std::sin(d);
    Eigen::Matrix2d M;
    M << (m1 + m2) * l1 * l1, m2 * l1 * l2 * c, m2 * l1 * l2 * c, m2 * l2 * l2;
    const Eigen::Vector2d f(-m2 * l1 * l2 * s * y[3] * y[3] - (m1 + m2) * g * l1 * std::sin(y[0]),
                            m2 * l1 * l2 * s * y[2] * y[2] - m2 * g * l2 * std::sin(y[1]));
    const double determinant = M(0, 0) * M(1, 1) - M(0, 1) * M(1, 0);
    return {y[2], y[3], (M(1, 1) * f[0] - M(0, 1) * f[1]) / determinant, (M(0, 0) * f[1] - M(1, 0) * f[0]) / determinant};
  }
  [[nodiscard]] Eigen::Vector4d after(double time, int steps) const {
    Eigen::Vector4d y(theta1, theta2, 0, 0);
    const double h = time / steps;
    for (int i = 0; i < steps; ++i) {
      const Eigen::Vector4d a = rate(y), b = rate(y + h / 2 * a), c = rate(y + h / 2 * b), d = rate(y + h * c);
      y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return y;
  }
};

double error_of(const World& world, const Arms& arms, const Eigen::Vector4d& y) {
  const Vec3 p = world.particle_position(world.particle("p")), q = world.particle_position(world.particle("q"));
  return std::max((p - arms.first(y[0])).norm(), (q - arms.second(y[0], y[1])).norm());
}

/// By which recipes, at which step, and what error of the positions after half a second is expected.
struct JointCase {
  const char* name;
  IntegratorSettings integrator;
  FormulationSettings formulation;
  CorrectionSettings correction;
  double dt, error;
};

TEST(ParticleJoints, DoublePendulumByEveryKindOfMethod) {
  const Arms arms;
  constexpr double time = 0.5;
  const Eigen::Vector4d exact = arms.after(time, 20000);
  const std::vector<JointCase> cases{
      {"rk4", Rk4Settings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 1e-10},
      {"rk4, stabilised", Rk4Settings{}, StabilisedAccelerationSettings{}, NoCorrectionSettings{}, 1e-3, 1e-8},
      {"rk4, placed", Rk4Settings{}, AccelerationSettings{}, TreePlacementSettings{}, 1e-3, 1e-10},
      {"ab4", Ab4Settings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 1e-8},
      {"verlet", VerletSettings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 2e-5},
      {"rattle", RattleSettings{}, AccelerationSettings{}, NoCorrectionSettings{}, 1e-3, 1e-5},
      {"rattle6", Rattle6Settings{}, AccelerationSettings{}, NoCorrectionSettings{}, 5e-3, 1e-9},
      {"implicit_euler", ImplicitEulerSettings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 1e-2},
      {"implicit_midpoint", ImplicitMidpointSettings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 2e-5},
      {"gauss6", Gauss6Settings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-2, 1e-8},
      {"bdf2", Bdf2Settings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-3, 1e-4},
      {"dormand_prince", DormandPrinceSettings{}, AccelerationSettings{}, ProjectionSettings{}, 1e-2, 1e-5},
      {"velocity", SemiImplicitEulerSettings{}, VelocitySettings{}, ProjectionSettings{}, 1e-4, 2e-3},
      {"velocity, placed", SemiImplicitEulerSettings{}, VelocitySettings{}, TreePlacementSettings{}, 1e-4, 2e-3},
      {"penalty", Rk4Settings{}, PenaltySettings{}, NoCorrectionSettings{}, 1e-4, 1e-3},
  };
  for (const JointCase& one : cases) {
    Scene scene = arms.scene();
    scene.recipe = {.dt = one.dt, .integrator = one.integrator, .formulation = one.formulation, .correction = one.correction};
    World world(scene);
    run_for(world, time);
    EXPECT_LT(error_of(world, arms, exact), one.error) << one.name;
  }
}

TEST(ParticleJoints, OrderIsKept) {
  const Arms arms;
  const Eigen::Vector4d exact = arms.after(0.5, 20000);
  for (const auto& [method, order] : {std::pair(IntegratorSettings(Rk4Settings{}), 4.0),
                                      {RattleSettings{}, 2.0},
                                      {Rattle4Settings{}, 4.0},
                                      {ImplicitMidpointSettings{}, 2.0},
                                      {Gauss4Settings{}, 4.0},
                                      {ImplicitEulerSettings{}, 1.0}}) {
    std::array<double, 2> errors{};
    for (int k = 0; k < 2; ++k) {
      Scene scene = arms.scene();
      scene.recipe = {.dt = (order == 1 ? 5e-4 : 5e-3) / (k + 1), .integrator = method};
      World world(scene);
      run_for(world, 0.5);
      errors[k] = error_of(world, arms, exact);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.3) << errors[0] << " " << errors[1];
  }
}

TEST(ParticleJoints, EverySolverGivesTheSameMotion) {
  const Arms arms;
  const Eigen::Vector4d exact = arms.after(0.2, 20000);
  for (const SolverChoice& solver : {solver_named("ldlt"), solver_named("dense_ldlt"), solver_named("schur"),
                                     solver_named("articulated_body"), solver_named("cg")}) {
    Scene scene = arms.scene();
    scene.recipe.solver = solver;
    World world(scene);
    run_for(world, 0.2);
    EXPECT_LT(error_of(world, arms, exact), 1e-10) << solver.name();
  }
}

TEST(ParticleJoints, AParticleIsABodyOfNoSize) {
  // A weight on a ball joint at the end of a swinging board: as a particle, and as a body without inertia of its own.
  const auto swing = [](bool particle) {
    Scene scene;
    scene.add({.name = "board",
               .mass = 2.0,
               .position = {0.5, 0.1, 0},
               .angular_velocity = {0, 1, 0},
               .shape = Box{Vec3(1, 0.2, 0.1)}});
    scene.add(Hinge{.between = {"world", "board"}, .at = {0, 0.1, 0}, .axis = {0, 1, 0}});
    scene.bodies[0].velocity = Vec3(0, 1, 0).cross(Vec3(0.5, 0, 0));
    const Vec3 end(1, 0.2, 0), v = Vec3(0, 1, 0).cross(Vec3(1, 0.1, 0));
    if (particle)
      scene.add_particles({.name = "weight", .positions = {end}, .velocities = {v}, .mass = 0.7});
    else
      scene.add({.name = "weight", .mass = 0.7, .position = end, .velocity = v});
    scene.add(Ball{.name = "held", .between = {"board", "weight"}, .at = end});
    scene.recipe = {.dt = 2e-3};
    return World(scene);
  };
  World particle = swing(true), body = swing(false);
  run_for(particle, 1);
  run_for(body, 1);
  EXPECT_LT((particle.particle_position(0) - body.position("weight")).norm(), 1e-9);
  EXPECT_LT((particle.position("board") - body.position("board")).norm(), 1e-9);
  EXPECT_LT((particle.joint_force("held").force - body.joint_force("held").force).norm(), 1e-7);
  EXPECT_LT(particle.joint_force("held").torque.norm(), 1e-12);
  EXPECT_LT(particle.diagnostics().joint_error.position, 1e-12);
  EXPECT_LT(particle.diagnostics().residual, 1e-10);
}

TEST(ParticleJoints, NothingIsLostInFreeFlight) {
  // A cloth on a spinning bar, with no weight: momentum is what it was, energy within what the method says, joints closed.
  Scene scene = scenes::trapeze();
  scene.gravity.setZero();
  scene.forces.clear();
  std::erase_if(scene.joints, [](const JointDef& joint) { return std::holds_alternative<Rod>(joint); });
  std::get<Cloth>(scene.solids[0]).damping = 0;
  for (const auto& [method, energy_error] :
       {std::pair(IntegratorSettings(Rk4Settings{}), 1e-6), {Rattle4Settings{}, 1e-5}, {RattleSettings{}, 1e-2}}) {
    scene.recipe = {.dt = 2e-4, .integrator = method};
    World world(scene);
    world.apply_impulse(world.body("bar"), {0.1, 0.4, -0.2}, world.position("bar") + Vec3(0.4, 0, 0.02));
    world.apply_impulse(world.body("bar"), {0, -0.3, 0.1}, world.position("bar") + Vec3(-0.6, 0, 0));
    const Diagnostics before = world.diagnostics();
    ASSERT_GT(before.kinetic_energy, 1e-2);
    double worst = 0, open = 0;
    for (int i = 0; i < 1500; ++i) {
      world.step();
      if (i % 50 != 0) continue;
      const Diagnostics now = world.diagnostics();
      worst =
          std::max(worst, std::abs(now.kinetic_energy + now.potential_energy - before.kinetic_energy - before.potential_energy));
      open = std::max(open, now.joint_error.position);
    }
    const Diagnostics after = world.diagnostics();
    EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-12);
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-6);
    EXPECT_LT(worst, energy_error * before.kinetic_energy) << method.index();
    EXPECT_LT(open, 1e-11);
  }
}

TEST(ParticleJoints, ChainOfRodsCarriesItsWeights) {
  // n particles on a vertical chain of rods at rest: each rod carries what hangs below it.
  constexpr int n = 6;
  Scene scene;
  std::vector<Vec3> positions;
  for (int i = 1; i <= n; ++i) positions.emplace_back(0, 0, -0.1 * i);
  scene.add_particles({.name = "chain", .positions = positions, .mass = 0.3});
  for (int i = 0; i < n; ++i)
    scene.add(Rod{.name = "rod_" + std::to_string(i),
                  .between = {i ? "chain/" + std::to_string(i - 1) : "world", "chain/" + std::to_string(i)},
                  .from = i ? std::nullopt : std::optional<Vec3>(Vec3::Zero())});
  World world(scene);
  for (int i = 0; i < n; ++i)
    EXPECT_LT((world.joint_force("rod_" + std::to_string(i)).force - Vec3(0, 0, 0.3 * g * (n - i))).norm(), 1e-10);
  const Checkup checkup = examine(scene);
  EXPECT_EQ(checkup.degrees_of_freedom, 2 * n);
  EXPECT_EQ(checkup.rank, n);
  EXPECT_TRUE(checkup.redundant.empty());
  EXPECT_LT(world.balance(1e-9, 1e-9).force, 1e-10);
}

TEST(ParticleJoints, SmallSwingsOfAParticle) {
  Scene scene;
  scene.add_particles({.name = "bob", .positions = {{0, 0, -0.4}}, .mass = 2.0});
  scene.add(Rod{.between = {"world", "bob"}, .from = Vec3::Zero()});
  const Modes modes = normal_modes(linearise(World(scene)));
  ASSERT_EQ(modes.squared_frequencies.size(), 2);
  EXPECT_NEAR(modes.squared_frequencies[0], g / 0.4, 1e-9);
  EXPECT_NEAR(modes.squared_frequencies[1], g / 0.4, 1e-9);
}

TEST(ParticleJoints, ABeadSlidesOnATiltedLineAndOnASphere) {
  Scene scene;
  const Vec3 along = Vec3(3, 0, -4).normalized();
  scene.add_particles({.name = "bead", .positions = {{1, 2, 3}}, .mass = 0.5});
  scene.add(PointOnLine{.between = {"world", "bead"}, .axis = along});
  World line(scene);
  run_for(line, 0.5);
  EXPECT_LT((line.particle_position(0) - (Vec3(1, 2, 3) + 0.5 * g * 0.8 * 0.25 * along)).norm(), 1e-12);

  // A user's constraint |x| = 1 is a rod.
  Scene sphere, rod;
  for (Scene* one : {&sphere, &rod})
    one->add_particles({.name = "bead", .positions = {{1, 0, 0}}, .velocities = {{0, 1, 0}}, .mass = 1.0});
  sphere.add(Constraint{.between = {"world", "bead"}, .function = [](const JetBody&, const JetBody& bead, const Jet&) {
                          return bead.point(Vec3::Zero()).norm() - Jet(1);
                        }});
  rod.add(Rod{.between = {"world", "bead"}, .from = Vec3::Zero()});
  World a(sphere), b(rod);
  run_for(a, 1);
  run_for(b, 1);
  EXPECT_LT((a.particle_position(0) - b.particle_position(0)).norm(), 1e-11);
  EXPECT_NEAR(a.particle_position(0).norm(), 1, 1e-12);
}

TEST(ParticleJoints, TwoRopesTiedTogetherAreOne) {
  // Their ends meet in a ball joint: masses add up there.
  const auto half = [](const char* name, const Vec3& from, const Vec3& to) {
    return Rope{.name = name, .from = from, .to = to, .count = 6, .mass = 0.6, .stiffness = 500, .pinned = {"x0"}};
  };
  Scene two, one;
  two.add(half("left", {-0.5, 0, 0}, {0, 0, 0}));
  two.add(half("right", {0.5, 0, 0}, {0, 0, 0}));
  two.add(Ball{.between = {"left/5", "right/5"}});
  ParticleGroup left = build(half("left", {-0.5, 0, 0}, {0, 0, 0})), right = build(half("right", {0.5, 0, 0}, {0, 0, 0}));
  ParticleGroup whole{.name = "rope", .positions = left.positions, .masses = std::vector<double>(11, 0.1), .pinned = {0, 10}};
  for (int i = 4; i >= 0; --i) whole.positions.push_back(right.positions[static_cast<std::size_t>(i)]);
  whole.masses[5] = 0.2;
  SpringSet springs{.stiffness = 500};
  for (int i = 0; i < 10; ++i) springs.pairs.push_back({i, i + 1});
  whole.springs = {springs};
  one.add_particles(whole);
  for (Scene* scene : {&two, &one}) scene->recipe = {.dt = 1e-3};
  World tied(two), single(one);
  run_for(tied, 0.4);
  run_for(single, 0.4);
  for (int i = 0; i < 6; ++i) EXPECT_LT((tied.particle_position(i) - single.particle_position(i)).norm(), 1e-10) << i;
  EXPECT_LT((tied.particle_position(5) - tied.particle_position(11)).norm(), 1e-13);
}

TEST(ParticleJoints, BodiesMayComeAndGo) {
  // Particles are numbered behind the bodies: whoever comes or goes must not change what joints hold.
  const Arms arms;
  Scene scene = arms.scene();
  scene.add({.name = "passer_by", .mass = 1.0, .position = {5, 0, 0}});
  World busy(scene), quiet(arms.scene());
  run_for(busy, 0.1);
  busy.add(BodyDef{.name = "newcomer", .mass = 1.0, .position = {7, 0, 0}});
  const JointId held = busy.add(Rod{.name = "tether", .between = {"world", "newcomer"}, .from = Vec3(7, 0, 1)});
  run_for(busy, 0.1);
  busy.remove(busy.body("passer_by"));
  run_for(busy, 0.1);
  busy.remove(held);
  const Snapshot saved = busy.save();
  run_for(busy, 0.1);
  run_for(quiet, 0.4);
  for (int k = 0; k < 2; ++k) EXPECT_LT((busy.particle_position(k) - quiet.particle_position(k)).norm(), 1e-11);
  const std::uint64_t end = busy.state_hash();
  busy.load(saved);
  run_for(busy, 0.1);
  EXPECT_EQ(busy.state_hash(), end);
  busy.remove(busy.joint("lower"));  // the lower one falls
  const double velocity = busy.particle_velocity(1).z();
  run_for(busy, 0.1);
  EXPECT_NEAR(busy.particle_velocity(1).z(), velocity - 0.1 * g, 1e-9);
}

TEST(ParticleJoints, AWeightOnAStringIsStoppedByTheFloor) {
  // Contacts: a box hung on a chain of particles touches the floor when the chain is let down, and rests there.
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  scene.add({.name = "box", .mass = 1.0, .position = {0, 0, 0.5}, .shape = Box{Vec3(0.2, 0.2, 0.2)}});
  scene.add_particles({.name = "string", .positions = {{0, 0, 0.7}, {0, 0, 0.8}, {0, 0, 0.9}}, .mass = 0.05});
  scene.add(Rod{.name = "knot", .between = {"box", "string/0"}, .from = Vec3(0, 0, 0.6)});
  scene.add(Rod{.between = {"string/0", "string/1"}});
  scene.add(Rod{.between = {"string/1", "string/2"}});
  scene.recipe = recipes::realtime();
  World world(scene);
  for (int i = 0; i < 60; ++i) world.step(1.0 / 120);
  EXPECT_NEAR(world.position("box").z(), 0.1, 2e-3);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-6);
  EXPECT_LT(world.velocity("box").norm(), 0.2);
}

TEST(ParticleJoints, WhatMakesNoSenseIsRefused) {
  const auto refuses = [](const JointDef& joint, std::string_view place, std::string_view remedy) {
    Scene scene;
    scene.add({.name = "box", .mass = 1.0, .shape = Box{}});
    scene.add_particles({.name = "p", .positions = {{1, 0, 0}, {2, 0, 0}, {1, 0, 0}}, .mass = 1.0, .pinned = {1}});
    scene.add(joint);
    try {
      World world(scene);
      ADD_FAILURE() << "took it; expected " << remedy;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(place), what.npos) << what;
      EXPECT_NE(what.find(remedy), what.npos) << what;
    }
  };
  refuses(Hinge{.between = {"box", "p/0"}}, "/joints/0/hinge/between/1", "does not turn");
  refuses(Weld{.between = {"p/0", "box"}}, "/joints/0/weld/between/0", "does not turn");
  refuses(PointOnLine{.between = {"p/0", "box"}}, "/joints/0/point_on_line/between/0", "name it second");
  refuses(Ball{.between = {"box", "p/1"}}, "/joints/0/ball/between", "pinned");
  refuses(Ball{.between = {"box", "p/3"}}, "/joints/0/ball/between/1", "0 to 2");
  refuses(Ball{.between = {"box", "p"}}, "/joints/0/ball/between/1", "name one of them");
  refuses(Ball{.between = {"box", "q"}}, "/joints/0/ball/between/1", "unknown body or particle");
  refuses(Ball{.between = {"box", "p/0"}, .at = {1, 0.5, 0}}, "/joints/0/ball/at", "leave it out");
  refuses(Ball{.between = {"p/0", "p/0"}}, "/joints/0/ball/between", "two different");
  refuses(Rod{.between = {"p/0", "p/2"}}, "/joints/0/rod", "no length");
  refuses(Rod{.between = {"world", "p/0"}}, "/joints/0/rod", "missing key \"from\"");
  refuses(Rod{.between = {"box", "p/0"}, .to = Vec3(1, 0, 0)}, "/joints/0/rod/to", "not for particles");
  refuses(Ball{.between = {"box", "p/0"}, .drives = {{.axis = "rx", .drive = {.friction = 1}}}}, "/joints/0/ball/drives",
          "bodies");
}

}  // namespace
}  // namespace rotule
