// Steps by impulses in reduced coordinates: contacts, drives and loops on trees. The same algebra as the maximal problem after
// its joints are eliminated, the same motion as steps become short, joints that cannot open, and energy that does not grow.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "support/random_trees.h"
#include "support/runs.h"

namespace rotule {
namespace {

using testing::RandomTrees;

Recipe by_impulses_in(const char* coordinates, double dt) {
  Recipe recipe = recipes::balanced();
  recipe.dt = dt;
  set(recipe, "formulation", "velocity");
  set(recipe, "integrator", "semi_implicit_euler");
  set(recipe, "coordinates", coordinates);
  return recipe;
}

/// A floating arm of three bars on hinges, above a floor, that falls on it askew.
Scene falling_arm() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{Vec3(20, 20, 1)}});
  scene.add({.name = "trunk", .mass = 3, .position = {0, 0, 0.2}, .shape = Box{Vec3(0.4, 0.2, 0.2)}});
  scene.add({.name = "upper", .mass = 1, .position = {0.4, 0, 0.2}, .shape = Box{Vec3(0.36, 0.08, 0.08)}});
  scene.add({.name = "lower", .mass = 0.7, .position = {0.8, 0, 0.2}, .shape = Box{Vec3(0.36, 0.08, 0.08)}});
  scene.add(Hinge{.name = "shoulder", .between = {"trunk", "upper"}, .at = {0.2, 0, 0.2}, .axis = {0, 1, 0}});
  scene.add(Hinge{.name = "elbow",
                  .between = {"lower", "upper"},
                  .at = {0.6, 0, 0.2},
                  .axis = {0, 1, 0},
                  .drive = {.lower = -0.6, .upper = 0.6, .friction = 0.05}});
  return scene;
}

MatX dense_of(const ConstraintProblem& p) {
  MatX J = MatX::Zero(p.rows(), 6 * p.bodies()), W = MatX::Zero(6 * p.bodies(), 6 * p.bodies());
  for (int i = 0; i < p.bodies(); ++i) W.block<6, 6>(6 * i, 6 * i) = p.inverse_mass[i];
  for (const ConstraintBlock& block : p.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      if (block.body_a >= 0) J.block<1, 6>(r, 6 * block.body_a) += p.J_a.row(r);
      if (block.body_b >= 0) J.block<1, 6>(r, 6 * block.body_b) += p.J_b.row(r);
      for (int k = block.first_more; k < block.first_more + block.more_count; ++k)
        J.block<1, 6>(r, 6 * p.more[k].body) += p.J_more.row(p.more[k].first + r - block.first_row);
    }
  return J * W * J.transpose();
}

TEST(ReducedImpulses, TheMatrixIsThatOfBodiesAfterTheirJoints) {
  // A trunk on the floor with limbs of all kinds of joints, some bodies beside it: A of the contacts, less what joints take.
  int compared = 0;
  for (int n = 0; n < 12; ++n) {
    RandomTrees random(300 + n);
    Scene scene = random.tree(random.whole(2, 7), n % 2 == 1, false);
    scene.gravity = {0, 0, -9.81};
    double lowest = 0;
    for (const auto& body : scene.bodies) lowest = std::min(lowest, body.position.z());
    scene.add({.name = "floor", .fixed = true, .position = {0, 0, lowest - 0.6}, .shape = Box{Vec3(30, 30, 1)}});
    scene.add({.name = "beside", .mass = 1, .position = {9, 0, lowest}, .shape = Box{Vec3(0.2, 0.2, 0.2)}});
    for (auto& body : scene.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
    Recipe maximal = by_impulses_in("maximal", 1e-3), reduced = by_impulses_in("reduced", 1e-3);
    set(maximal, "formulation.geometric_stiffness", "false");
    World a(scene, maximal), b(scene, reduced);
    a.keep_problems(true);
    b.keep_problems(true);
    a.step();
    b.step();
    ASSERT_EQ(a.islands(), b.islands()) << n;
    for (int i = 0; i < a.islands(); ++i) {
      const ConstraintProblem &p = a.problem(i), &q = b.problem(i);
      const int joints = p.rows() - q.rows();
      if (q.rows() == 0) continue;
      ASSERT_GE(joints, 0);
      EXPECT_NO_THROW(validate(q));
      ASSERT_EQ(p.friction.size(), q.friction.size());
      const MatX A = dense_of(p);
      MatX rest = A.bottomRightCorner(q.rows(), q.rows());
      if (joints > 0)
        rest -= A.bottomLeftCorner(q.rows(), joints) *
                A.topLeftCorner(joints, joints).fullPivLu().solve(A.topRightCorner(joints, q.rows()));
      EXPECT_LT((rest - dense_of(q)).cwiseAbs().maxCoeff(), 1e-10 * A.cwiseAbs().maxCoeff()) << "tree " << n << ", island " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 6);
}

/// Hinges one after the other with springs and dampers, lying on a floor with all corners.
Scene soft_chain(int seed, int links, bool floating) {
  RandomTrees random(seed);
  Scene scene = random.hinges(links, floating);
  scene.gravity = {0, 0, -9.81};
  for (auto& body : scene.bodies) body.shape = Box{Vec3(0.3, 0.3, 0.05)};
  for (JointDef& joint : scene.joints) {
    auto& hinge = std::get<Hinge>(joint);
    hinge.drive.stiffness = random.number(0, 50);
    hinge.drive.damping = random.number(0.1, 5);
    hinge.drive.rest = random.number(-1e-3, 1e-3);  // so little that nothing is met on the way
  }
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5249}, .shape = Box{Vec3(30, 30, 1)}});
  return scene;
}

TEST(ReducedImpulses, SpringsAndDampersAreTakenOutOfTheProblem) {
  // What is left for contacts is Schur's complement of joints and springs, in the matrix and on the right-hand side.
  int compared = 0;
  for (int n = 0; n < 6; ++n) {
    const Scene scene = soft_chain(400 + n, 2 + n, n % 2 == 1);
    Recipe maximal = by_impulses_in("maximal", 2e-3), reduced = by_impulses_in("reduced", 2e-3);
    set(maximal, "formulation.geometric_stiffness", "false");
    World a(scene, maximal), b(scene, reduced);
    a.keep_problems(true);
    b.keep_problems(true);
    a.step();
    b.step();
    ASSERT_EQ(a.islands(), 1) << n;
    const ConstraintProblem &p = a.problem(0), &q = b.problem(0);
    const auto out = static_cast<Eigen::Index>(p.rows() - q.rows());
    EXPECT_EQ(out, 5 * static_cast<Eigen::Index>(scene.joints.size()) + static_cast<Eigen::Index>(scene.joints.size()));
    ASSERT_GT(q.rows(), 0);
    // Joints of slender links depend on each other nearly: the complement is taken with more digits.
    using Digits = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const Digits A = MatX(dense_of(p) + MatX(p.C.asDiagonal())).cast<long double>();
    const Digits b_p = p.b.cast<long double>();
    const Digits share = A.topLeftCorner(out, out).fullPivLu().solve(Digits(A.topRightCorner(out, q.rows()))).transpose();
    const MatX rest = Digits(A.bottomRightCorner(q.rows(), q.rows()) - share * A.topRightCorner(out, q.rows())).cast<double>();
    const VecX b_rest = Digits(b_p.bottomRows(q.rows()) - share * b_p.topRows(out)).cast<double>();
    EXPECT_LT((rest - dense_of(q) - MatX(q.C.asDiagonal())).cwiseAbs().maxCoeff(), 1e-9 * rest.cwiseAbs().maxCoeff()) << n;
    EXPECT_LT((b_rest - q.b).cwiseAbs().maxCoeff(), 1e-9 * (1 + p.b.cwiseAbs().maxCoeff())) << n;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(ReducedImpulses, NoStopIsPassedThoughMostStandAside) {
  // Thrown chains between narrow stops: what one stop gives back drives others beyond theirs in the same step.
  for (int n = 0; n < 4; ++n) {
    RandomTrees random(500 + n);
    Scene scene = random.hinges(6, n % 2 == 1);
    for (JointDef& joint : scene.joints) {
      auto& hinge = std::get<Hinge>(joint);
      hinge.drive.lower = -0.02;
      hinge.drive.upper = 0.03;
    }
    for (auto& body : scene.bodies)
      if (n % 2 == 1) body.velocity = random.vector(2);
    World world(scene, by_impulses_in("reduced", 5e-3));
    double beyond = 0, most = 0;
    for (int k = 0; k < 60; ++k) {
      world.step();
      for (const JointId id : world.joints()) {
        const double q = world.joint_position(id);
        beyond = std::max({beyond, -0.02 - q, q - 0.03});
        most = std::max(most, std::abs(q));
      }
    }
    EXPECT_LT(beyond, 1e-7) << n;
    EXPECT_GT(most, 0.019) << n;  // they were there
  }
}

/// The largest speed of a body, at least 1.
double speed_scale(const World& world) {
  double out = 1;
  for (const BodyId id : world.bodies()) out = std::max({out, world.velocity(id).norm(), world.angular_velocity(id).norm()});
  return out;
}

/// How far both run apart, over the largest speed.
double apart_by_impulses(const Scene& scene, double time, double dt) {
  World a(scene, by_impulses_in("maximal", dt)), b(scene, by_impulses_in("reduced", dt));
  EXPECT_EQ(b.coordinates(), "reduced");
  run_for(a, time);
  run_for(b, time);
  return difference(a, b) / speed_scale(a);
}

TEST(ReducedImpulses, TheSameMotionAsStepsBecomeShort) {
  // Both are of first order: what they are apart goes down with the step.
  struct Case {
    const char* name;
    Scene scene;
    double time;
  };
  for (const Case& c : {Case{"double pendulum", scenes::double_pendulum(), 0.3}, Case{"four-bar", scenes::four_bar(), 0.2},
                        Case{"slider-crank", scenes::slider_crank(), 0.2}, Case{"gyroscope", scenes::gyroscope(), 0.2},
                        Case{"chain", scenes::chain(5), 0.3}, Case{"falling arm", falling_arm(), 0.3}}) {
    const double coarse = apart_by_impulses(c.scene, c.time, 1e-3), fine = apart_by_impulses(c.scene, c.time, 2.5e-4);
    EXPECT_LT(fine, 0.4 * coarse + 1e-6) << c.name;
    EXPECT_LT(fine, 0.02) << c.name;
  }
}

TEST(ReducedImpulses, FirstOrderToTheExactMotion) {
  for (const Scene& scene : {scenes::double_pendulum(), scenes::gyroscope(), scenes::chain(5), scenes::four_bar()}) {
    World exact(scene, recipes::exact());
    run_for(exact, 0.3);
    const auto error = [&](const char* coordinates, double dt) {
      World world(scene, by_impulses_in(coordinates, dt));
      run_for(world, 0.3);
      return difference(world, exact) / speed_scale(exact);
    };
    const double coarse = error("reduced", 1e-3), half = error("reduced", 5e-4);
    EXPECT_GT(std::log2(coarse / half), 0.7) << scene.bodies.front().name;
    EXPECT_LT(half, 3 * error("maximal", 5e-4)) << scene.bodies.front().name;
  }
}

TEST(ReducedImpulses, ABarOnAHingeTurnsOnForEver) {
  // At 0.4 rad per step, without weight.
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "bar",
             .mass = 1,
             .position = {0.5, 0, 0},
             .velocity = {0, 12, 0},
             .angular_velocity = {0, 0, 24},
             .shape = Box{Vec3(1, 0.1, 0.1)}});
  scene.add(Hinge{.name = "axle", .between = {"world", "bar"}, .axis = {0, 0, 1}});
  World world(scene, by_impulses_in("reduced", 1.0 / 60));
  for (int i = 0; i < 600; ++i) world.step();
  EXPECT_NEAR(world.angular_velocity(world.bodies().front()).z(), 24, 1e-9);
  EXPECT_NEAR(world.position(world.bodies().front()).norm(), 0.5, 1e-12);
  // It pulls at the hinge with m omega^2 r.
  EXPECT_NEAR(world.joint_force(world.joints().front()).force.norm(), 24 * 24 * 0.5, 1e-6);
}

TEST(ReducedImpulses, FallingTreesGainNothingAndStayWhole) {
  // Long steps, fast limbs: 1/60 s.
  for (int n = 0; n < 6; ++n) {
    RandomTrees random(500 + n);
    Scene scene = random.tree(random.whole(3, 9), n % 2 == 0, false);
    scene.gravity = {0, 0, -9.81};
    scene.add({.name = "floor", .fixed = true, .position = {0, 0, -3.5}, .shape = Box{Vec3(60, 60, 1)}});
    World world(scene, by_impulses_in("reduced", 1.0 / 60));
    world.project();
    const double before = world.diagnostics().energy();
    double open = 0, most = before;
    for (int i = 0; i < 240; ++i) {
      world.step();
      const Diagnostics now = world.diagnostics();
      open = std::max(open, now.joint_error.position);
      most = std::max(most, now.energy());
      ASSERT_LT(now.penetration, 1e-3) << "tree " << n << ", step " << i;
    }
    EXPECT_LT(open, 1e-12) << "tree " << n;
    // Weight falls with the velocity of a step's end: up to a step's fall too much.
    double mass = 0;
    for (const auto& body : scene.bodies) mass += body.mass.value_or(0);
    EXPECT_LT(most - before, 0.05 * std::max(std::abs(before), mass * 9.81)) << "tree " << n;
  }
}

TEST(ReducedImpulses, ForcesOfJointsAndContactsCarryTheWeight) {
  // The arm at rest on the floor; and hanging on a stop.
  World world(falling_arm(), by_impulses_in("reduced", 1e-3));
  run_for(world, 2);
  double up = 0;
  for (const ContactResult& c : world.contacts()) up += std::abs(c.force.z());
  EXPECT_NEAR(up, 4.7 * 9.81, 1e-3 * 4.7 * 9.81);
  Scene hanging;
  hanging.add({.name = "bar", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  hanging.add(Hinge{.name = "axle", .between = {"world", "bar"}, .axis = {0, 1, 0}, .drive = {.lower = -0.2, .upper = 0}});
  for (const char* coordinates : {"reduced", "maximal"}) {
    World held(hanging, by_impulses_in(coordinates, 1e-3));
    run_for(held, 0.1);
    const JointForce force = held.joint_force(held.joints().front());
    EXPECT_NEAR(force.force.norm(), 2 * 9.81, 1e-6) << coordinates;
  }
}

TEST(ReducedImpulses, LoopsAndGivenMotionsAsEver) {
  World world(scenes::four_bar(), by_impulses_in("reduced", 1e-3));
  for (int i = 0; i < 300; ++i) {
    world.step();
    ASSERT_LT(world.diagnostics().joint_error.position, 1e-10) << i;
  }
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -1.5}, .shape = Box{Vec3(20, 20, 1)}});
  scene.add({.name = "arm", .mass = 1, .position = {0.25, 0, 0}, .shape = Box{Vec3(0.5, 0.05, 0.05)}});
  scene.add(Hinge{.name = "led",
                  .between = {"world", "arm"},
                  .axis = {0, 1, 0},
                  .drive = {.motion = GivenMotion{.amplitude = 0.5, .frequency = 4}}});
  World led(scene, by_impulses_in("reduced", 1e-3)), other(scene, by_impulses_in("maximal", 1e-3));
  run_for(led, 0.5);
  run_for(other, 0.5);
  EXPECT_LT(difference(led, other), 5e-3);
  EXPECT_LT(led.diagnostics().joint_error.position, 1e-9);
}

TEST(ReducedImpulses, MovedByHandItClosesAndFollowsItsGround) {
  Scene scene;
  scene.add({.name = "post", .fixed = true, .position = {0, 0, 0}, .shape = Box{Vec3(0.1, 0.1, 0.1)}});
  scene.add({.name = "bar", .mass = 1, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  scene.add(Hinge{.name = "axle", .between = {"post", "bar"}, .axis = {0, 1, 0}});
  World world(scene, by_impulses_in("reduced", 1e-3));
  world.step();
  world.set_pose(world.bodies()[0], {Vec3(0, 0, 0.01), Quat::Identity()});
  for (int i = 0; i < 3; ++i) world.step();
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
  world.set_pose(world.bodies()[1], {Vec3(0.51, 0, 0), Quat::Identity()});
  world.step();
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
}

TEST(ReducedImpulses, SameBitsOnThreadsAndFromSnapshots) {
  const auto made = [](int threads) {
    Recipe recipe = by_impulses_in("reduced", 1.0 / 120);
    recipe.threads = threads;
    return World(scenes::ragdoll_heap(), recipe);
  };
  World one = made(1), two = made(2);
  for (int i = 0; i < 30; ++i) {
    one.step();
    two.step();
  }
  EXPECT_EQ(one.state_hash(), two.state_hash());
  const Snapshot middle = one.save();
  for (int i = 0; i < 10; ++i) one.step();
  World other = made(1);
  other.load(middle);
  for (int i = 0; i < 10; ++i) other.step();
  EXPECT_EQ(one.state_hash(), other.state_hash());
}

TEST(ReducedImpulses, AutomaticTakesTreesThatTouch) {
  EXPECT_EQ(World(scenes::ragdoll_heap(), by_impulses_in("automatic", 1e-3)).coordinates(), "reduced");
  EXPECT_EQ(World(scenes::four_bar(), by_impulses_in("automatic", 1e-3)).coordinates(), "maximal");
  Scene scene;
  scene.add({.name = "hand", .mass = 1, .shape = Box{}, .kinematic = true});
  scene.add({.name = "bob", .mass = 1, .position = {1, 0, 0}});
  scene.add(Ball{.name = "held", .between = {"hand", "bob"}});
  EXPECT_EQ(World(scene, by_impulses_in("automatic", 1e-3)).coordinates(), "maximal");
  try {
    World world(scene, by_impulses_in("reduced", 1e-3));
    FAIL() << "a joint of a kinematic body";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("held"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("coordinates=maximal"), std::string::npos);
  }
}

}  // namespace
}  // namespace rotule
