// Gears: rows over two or three bodies, whose ratio holds for as long as one likes, on carriers that stand and that turn.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "constraint/constraint_set.h"
#include "model/solver_list.h"
#include "support/runs.h"
#include "support/variants.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using std::numbers::pi;

BodyDef wheel(const std::string& name, double radius, const Vec3& position, double spin = 0) {
  return {.name = name,
          .density = 1000,
          .position = position,
          .angular_velocity = Vec3(0, 0, spin),
          .shape = Cylinder{radius, 0.02},
          .contacts = false};
}

/// Two wheels of 20 and 35 teeth on axes of the world, the first one spinning as the second demands.
Scene pair_of_wheels(bool internal = false) {
  Scene scene;
  const double spin = internal ? 3.0 : -3.0;
  scene.add(wheel("small", 0.2, Vec3::Zero(), spin * 35 / 20));
  scene.add(wheel("large", 0.35, Vec3(internal ? 0.15 : 0.55, 0, 0), 3));
  scene.add(Hinge{.name = "small_axis", .between = {"world", "small"}});
  scene.add(Hinge{.name = "large_axis", .between = {"world", "large"}, .at = Vec3(internal ? 0.15 : 0.55, 0, 0)});
  scene.add(Gear{.name = "mesh", .between = {"small", "large"}, .teeth_a = 20, .teeth_b = 35, .internal = internal});
  return scene;
}

/// Sun (24 teeth, on the world), planet (12, on the arm), ring (48, fixed): the arm turns by sun / (1 + 48/24).
Scene planetary(double sun_spin) {
  const double arm_spin = sun_spin / 3, planet_spin = arm_spin - (sun_spin - arm_spin) * 24.0 / 12.0;
  const Vec3 at(0.36, 0, 0);
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "ring", .fixed = true, .shape = Box{}, .contacts = false});
  scene.add(wheel("sun", 0.24, Vec3::Zero(), sun_spin));
  scene.add({.name = "arm",
             .mass = 2.0,
             .position = 0.5 * at,
             .velocity = Vec3(0, 0, arm_spin).cross(0.5 * at),
             .angular_velocity = Vec3(0, 0, arm_spin),
             .shape = Box{Vec3(0.4, 0.05, 0.02)},
             .contacts = false});
  BodyDef planet = wheel("planet", 0.12, at, planet_spin);
  planet.velocity = Vec3(0, 0, arm_spin).cross(at);
  scene.add(planet);
  scene.add(Hinge{.name = "sun_axis", .between = {"world", "sun"}});
  scene.add(Hinge{.name = "arm_axis", .between = {"world", "arm"}});
  scene.add(Hinge{.name = "planet_axis", .between = {"arm", "planet"}, .at = at});
  scene.add(Gear{.name = "inner", .between = {"sun", "planet"}, .carrier = "arm", .teeth_a = 24, .teeth_b = 12});
  scene.add(
      Gear{.name = "outer", .between = {"ring", "planet"}, .carrier = "arm", .teeth_a = 48, .teeth_b = 12, .internal = true});
  return scene;
}

double spin(const World& world, std::string_view body) { return world.angular_velocity(body).z(); }

TEST(Gear, RowsAreTheDerivativesOfTheirAngles) {
  // gamma = u^T H u for every u says what H is; J and gamma are compared with differences.
  Scene scene;
  for (const char* name : {"a", "b", "c"}) scene.add({.name = name, .mass = 1.0, .shape = Box{Vec3(0.3, 0.2, 0.1)}});
  const Vec3 axis_a = Vec3(1, 2, 3).normalized(), axis_b = Vec3(-1, 0.5, 2).normalized();
  scene.add(Gear{.between = {"a", "b"}, .carrier = "c", .axis_a = axis_a, .axis_b = axis_b, .teeth_a = 3, .teeth_b = 2});
  const World world(scene);
  const Model& model = implementation_of(world).model;
  const std::vector<int> joints{0}, local{0, 1, 2};
  const ConstraintSet set(model, joints, local);
  ASSERT_EQ(set.more().size(), 1u);
  ConstraintProblem problem;
  problem.blocks = set.blocks();
  problem.more = set.more();
  problem.J_more.setZero(set.more_rows(), 6);
  problem.resize(3, 1);
  RowValues values;
  values.resize(1);
  Kinematics kinematics;
  const auto at = [&](const State& s) {
    kinematics.update(model, s);
    set.evaluate(kinematics, 0, problem, values);
    VecX J(18);
    J << problem.J_a.row(0).transpose(), problem.J_b.row(0).transpose(), problem.J_more.row(0).transpose();
    return J;
  };
  State start = implementation_of(world).state;
  at(start);
  EXPECT_LT(std::abs(values.C[0]), 1e-15) << "closed where it was described";

  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    State s = start;
    for (int i = 0; i < 3; ++i) {
      // Turned a little out of the axes, so that no term vanishes, and not so far that the wrap comes between differences.
      const Vec3 turn = 0.25 * Vec3(normal(random), normal(random), normal(random));
      s.theta[i] = Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
      s.p[i] = Vec3(normal(random), normal(random), normal(random));
    }
    for (int k = 0; k < 18; ++k) s.u[k] = normal(random);
    const VecX J = at(s);
    const double gamma = values.gamma[0];
    const double one = 1;
    set.with_hessian(0, kinematics, 0, {&one, 1}, [&](const auto& H, const auto& owner) {
      ASSERT_EQ(owner.size(), 3u);
      EXPECT_LT((H - H.transpose()).norm(), 1e-13);
      EXPECT_NEAR(s.u.dot(H * s.u), gamma, 1e-12 * (1 + std::abs(gamma)));
    });
    // Momentum is not made: a common motion of all three changes nothing.
    EXPECT_LT((J.segment<6>(0) + J.segment<6>(6) + J.segment<6>(12)).norm(), 1e-14);
    const auto moved = [&](const VecX& sigma) {
      State there = s;
      displace(s, sigma, there);
      at(there);
      return values.C[0];
    };
    const double h = 1e-5;
    for (int k = 0; k < 18; ++k) {
      const VecX e = VecX::Unit(18, k);
      EXPECT_NEAR((moved(h * e) - moved(-h * e)) / (2 * h), J[k], 1e-8) << k;
    }
    const auto rate = [&](double t) {
      State there = s;
      displace(s, t * s.u, there);
      return at(there).dot(s.u);
    };
    EXPECT_NEAR((rate(h) - rate(-h)) / (2 * h), gamma, 1e-6 * (1 + std::abs(gamma)));
  }
}

TEST(Gear, IsWhatAFunctionOfJetsSays) {
  // On the world as carrier there are two bodies, and a user's constraint can say the same.
  const auto bodies = [] {
    Scene scene;
    for (const char* name : {"a", "b"}) scene.add({.name = name, .mass = 1.0, .shape = Box{Vec3(0.3, 0.2, 0.1)}});
    return scene;
  };
  Scene by_gear = bodies(), by_user = bodies();
  by_gear.add(Gear{.between = {"a", "b"}, .teeth_a = 2, .teeth_b = 1});
  by_user.add(Constraint{.between = {"a", "b"}, .function = [](const JetBody& a, const JetBody& b, const Jet&) {
                           const auto angle = [](const JetBody& body) {
                             const JetVec3 x = body.direction(Vec3::UnitX()), y = body.direction(Vec3::UnitY());
                             return atan2(x.y() - y.x(), x.x() + y.y());
                           };
                           return angle(b) + Jet(2) * angle(a);
                         }});
  const World gear(by_gear), user(by_user);
  const std::vector<int> joints{0}, local{0, 1};
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  State s = implementation_of(gear).state;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 2; ++i) {
      const Vec3 turn = 0.3 * Vec3(normal(random), normal(random), normal(random));
      s.theta[i] = Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
    }
    for (int k = 0; k < 12; ++k) s.u[k] = normal(random);
    std::array<Mat12, 2> H;
    std::array<VecX, 2> numbers;
    int n = 0;
    for (const World* world : {&gear, &user}) {
      const Model& model = implementation_of(*world).model;
      const ConstraintSet set(model, joints, local);
      ConstraintProblem problem;
      problem.blocks = set.blocks();
      problem.resize(2, 1);
      RowValues values;
      values.resize(1);
      Kinematics kinematics;
      kinematics.update(model, s);
      set.evaluate(kinematics, 0, problem, values);
      const double lambda = 1.3;
      H[n] = set.hessian(0, kinematics, 0, {&lambda, 1});
      numbers[n].resize(14);
      numbers[n] << values.C[0], values.gamma[0], problem.J_a.row(0).transpose(), problem.J_b.row(0).transpose();
      ++n;
    }
    EXPECT_LT((numbers[0] - numbers[1]).norm(), 1e-12);
    EXPECT_LT((H[0] - H[1]).norm(), 1e-12);
  }
}

TEST(Gear, KeepsItsRatioForAHundredThousandSteps) {
  for (const bool internal : {false, true}) {
    Scene scene = pair_of_wheels(internal);
    scene.recipe.dt = 0.01;
    scene.recipe.formulation = VelocitySettings{};
    scene.recipe.integrator = SemiImplicitEulerSettings{};
    World world(scene);
    for (int k = 0; k < 100000; ++k) world.step();
    const double ratio = internal ? 35.0 / 20 : -35.0 / 20;
    EXPECT_NEAR(spin(world, "small") / spin(world, "large"), ratio, 1e-9) << internal;
    EXPECT_NEAR(spin(world, "large"), 3, 1e-6);
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-6);
  }
}

TEST(Gear, TurnsThePlanetsArmByTheRatioOfItsTeeth) {
  World world(planetary(6));
  const double energy = world.diagnostics().energy();
  double worst = 0;
  run_for(world, 10, [&] {
    const double sun = spin(world, "sun"), arm = spin(world, "arm"), planet = spin(world, "planet");
    worst = std::max({worst, std::abs(sun / arm - 3), std::abs((planet - arm) / (sun - arm) + 2)});
  });
  EXPECT_LT(worst, 1e-9);
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-9 * energy);
  EXPECT_NEAR(spin(world, "arm"), 2, 1e-9);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-10);
}

TEST(Gear, PassesOnTheTorqueOfAMotor) {
  // A constant torque T on the sun moves all by one degree of freedom: its inertia as the sun feels it, by energy.
  World world(planetary(0));
  const double torque = 0.5;
  world.set_force(world.body("sun"), Vec3::Zero(), Vec3(0, 0, torque));
  const auto inertia = [&](const char* name) { return world.inertia(world.body(name))(2, 2); };
  const auto mass = [&](const char* name) { return world.mass(world.body(name)); };
  const double arm = 1.0 / 3, planet = arm - 2 * (1 - arm);
  const double felt = inertia("sun") + (inertia("arm") + mass("arm") * 0.18 * 0.18 + mass("planet") * 0.36 * 0.36) * arm * arm +
                      inertia("planet") * planet * planet;
  run_for(world, 1);
  EXPECT_NEAR(spin(world, "sun"), torque / felt, 1e-6 * torque / felt);
}

TEST(Gear, WorksWithDrivesOfOtherJoints) {
  Scene scene = planetary(0);
  std::get<Hinge>(scene.joints[0]).drive = {.motor_speed = 6, .motor_strength = 50};
  scene.recipe.dt = 0.005;
  scene.recipe.integrator = SemiImplicitEulerSettings{};
  scene.recipe.formulation = VelocitySettings{};
  scene.recipe.solver = solver_named("hybrid");
  World world(scene);
  run_for(world, 2);
  // The motor's speed holds before joints are closed again at the end of the step, the ratios after it.
  EXPECT_NEAR(spin(world, "sun"), 6, 1e-4);
  EXPECT_NEAR(spin(world, "sun") / spin(world, "arm"), 3, 1e-9);
  EXPECT_NEAR(spin(world, "planet") / spin(world, "arm"), -3, 1e-9);
}

/// The planetary gear with its meshes as a function over three bodies each: angles counted from the carrier.
Scene planetary_by_functions() {
  Scene scene = planetary(6);
  const std::vector<JointDef> joints = std::exchange(scene.joints, {});
  for (const JointDef& joint : joints) {
    const auto* gear = std::get_if<Gear>(&joint);
    if (gear == nullptr) {
      scene.joints.push_back(joint);
      continue;
    }
    const double a = gear->teeth_a, b = gear->internal ? -gear->teeth_b : gear->teeth_b;
    scene.add_constraint({gear->between[0], gear->between[1], gear->carrier}, [=](auto q, auto) {
      const auto angle = [&](const auto& wheel) {
        const auto x = wheel.direction(Vec3::UnitX()), y = wheel.direction(Vec3::UnitY());
        const auto x_c = q[2].direction(Vec3::UnitX()), y_c = q[2].direction(Vec3::UnitY());
        return atan2(x.dot(y_c) - y.dot(x_c), x.dot(x_c) + y.dot(y_c));
      };
      return wrap(a * angle(q[0]) + b * angle(q[1]));
    });
  }
  return scene;
}

class EveryMethod : public ::testing::TestWithParam<bool> {};

TEST_P(EveryMethod, ThatTakesLoopsTakesGears) {
  const Scene gears = GetParam() ? planetary_by_functions() : planetary(6);
  int ran = 0;
  const auto run = [&](const Recipe& recipe, std::string_view name) {
    SCOPED_TRACE(std::string(name));
    Scene scene = gears;
    scene.recipe = recipe;
    try {
      World world(scene);
      for (int k = 0; k < 40; ++k) world.step();
      // Springs in place of joints give way, and methods of first order lose some speed: all keep the ratio roughly.
      EXPECT_NEAR(spin(world, "sun") / spin(world, "arm"), 3, 0.05);
      EXPECT_NEAR(spin(world, "arm"), 2, 0.1);
      ++ran;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.find("loop") != std::string::npos || what.find("use ") != std::string::npos ||
                  what.find("need") != std::string::npos)
          << what;
    }
  };
  Recipe plain;
  plain.dt = 0.005;
  const auto name_of = [](const auto& choice) {
    return std::visit([](const auto& c) { return std::string_view(c.name); }, choice);
  };
  for (const SolverChoice& solver : testing::all_solvers()) {
    Recipe recipe = plain;
    recipe.solver = solver;
    run(recipe, solver.name());
  }
  for (const auto& formulation : testing::alternatives<decltype(Recipe::formulation)>()) {
    Recipe recipe = plain;
    recipe.formulation = formulation;
    if (std::holds_alternative<VelocitySettings>(formulation)) recipe.integrator = SemiImplicitEulerSettings{};
    if (std::holds_alternative<PenaltySettings>(formulation)) recipe.correction = NoCorrectionSettings{};
    run(recipe, name_of(formulation));
  }
  for (const auto& integrator : testing::alternatives<decltype(Recipe::integrator)>()) {
    Recipe recipe = plain;
    recipe.integrator = integrator;
    run(recipe, name_of(integrator));
  }
  EXPECT_GT(ran, 25);
}
INSTANTIATE_TEST_SUITE_P(Gear, EveryMethod, ::testing::Values(false, true),
                         [](const auto& by_functions) { return by_functions.param ? "functions" : "by_hand"; });

TEST(Gear, RefusesWhatMakesNoSense) {
  const auto refuses = [](Gear gear, const std::string& place, const std::string& why) {
    Scene scene = planetary(1);
    scene.joints.push_back(std::move(gear));
    try {
      const World world(scene);
      FAIL() << why;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refuses({.name = "g", .between = {"sun", "planet"}, .carrier = "arn"}, "/joints/5/gear/carrier", "\"arm\"");
  refuses({.name = "g", .between = {"sun", "planet"}, .carrier = "sun"}, "/joints/5/gear/carrier", "already");
  refuses({.name = "g", .between = {"sun", "planet"}, .teeth_a = 0}, "/joints/5/gear/teeth_a", "at least 1");
  refuses({.name = "g", .between = {"sun", "planet"}, .axis_b = Vec3::Zero()}, "/joints/5/gear/axis_b", "zero");

  Scene placed = planetary(1);
  placed.recipe.correction = TreePlacementSettings{};
  EXPECT_THROW(World{placed}, Error);
}

TEST(Gear, LeavesWithItsCarrier) {
  World world(planetary(3));
  const std::size_t joints = world.joints().size();
  world.remove(world.body("arm"));
  EXPECT_EQ(world.joints().size(), joints - 4) << "two hinges and two gears";
  world.step();
}

}  // namespace
}  // namespace rotule
