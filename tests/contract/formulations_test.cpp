// Four ways to write the same mechanics: as the step goes to zero all formulations tell the same motion, each at its own pace,
// and each removes a joint's error as fast as it promises.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <cmath>

#include "model/solver_list.h"
#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

World run(Scene scene, Recipe recipe, double duration, int steps) {
  recipe.dt = duration / steps;
  scene.recipe = recipe;
  World world(scene);
  for (int i = 0; i < steps; ++i) world.step();
  return world;
}

struct FormulationCase {
  std::string name;
  Recipe recipe;
  int steps;
  double order;
  double tolerance = 0.3;
};

std::vector<FormulationCase> formulations() {
  const NoCorrectionSettings drift;
  const StabilisedAccelerationSettings stabilised;
  const VelocitySettings plain{.geometric_stiffness = false};
  const VelocitySettings baumgarte{.baumgarte = 0.3};
  const SemiImplicitEulerSettings impulses;
  return {
      {"acceleration, rk4", {.correction = drift}, 100, 4},
      {"acceleration, rk4, projected", {}, 100, 4},
      {"acceleration, rk2", {.integrator = Rk2Settings{}, .correction = drift}, 200, 2},
      {"acceleration, ab4", {.integrator = Ab4Settings{}}, 800, 4, 0.45},
      {"acceleration, leapfrog", {.integrator = LeapfrogSettings{}}, 200, 2},
      {"stabilised, leapfrog", {.integrator = LeapfrogSettings{}, .formulation = stabilised, .correction = drift}, 1600, 2},
      {"stabilised, rk4", {.formulation = stabilised, .correction = drift}, 100, 4},
      {"velocity", {.integrator = impulses, .formulation = plain}, 400, 1},
      {"velocity, implicit stiffness", {.integrator = impulses, .formulation = VelocitySettings{}}, 400, 1},
      {"velocity, Baumgarte", {.integrator = impulses, .formulation = baumgarte, .correction = drift}, 400, 1},
  };
}

void expect_convergence(const Scene& scene) {
  const double duration = 0.3;
  const World exact = run(scene, {}, duration, 4000);
  for (const FormulationCase& c : formulations()) {
    const double coarse = difference(run(scene, c.recipe, duration, c.steps), exact);
    const double fine = difference(run(scene, c.recipe, duration, 2 * c.steps), exact);
    EXPECT_NEAR(std::log2(coarse / fine), c.order, c.tolerance) << scene.name << ", " << c.name << ": " << coarse << " " << fine;
  }
}

TEST(Formulations, ConvergeToTheSameMotionOfATree) { expect_convergence(scenes::double_pendulum()); }
TEST(Formulations, ConvergeToTheSameMotionOfALoop) { expect_convergence(scenes::four_bar()); }

/// A body held at its centre of mass, put `d` beside the pivot: its joint's error is a plain number that the formulation alone
/// moves.
World open_joint(const Recipe& recipe, double d) {
  Scene scene;
  scene.gravity.setZero();
  scene.recipe = recipe;
  scene.add({.name = "body", .mass = 3.0, .shape = Box{}});
  scene.add(Ball{.name = "pivot", .between = {"world", "body"}});
  World world(scene);
  world.set_pose(world.body("body"), {Vec3(d, 0, 0), Quat::Identity()});
  return world;
}

TEST(Formulations, BaumgarteRemovesItsShareOfTheErrorEachStep) {
  for (const double beta : {0.0, 0.1, 0.5, 1.0}) {
    World world = open_joint({.dt = 0.01,
                              .integrator = SemiImplicitEulerSettings{},
                              .formulation = VelocitySettings{.baumgarte = beta},
                              .correction = NoCorrectionSettings{}},
                             0.2);
    for (int n = 1; n <= 10; ++n) {
      world.step();
      EXPECT_NEAR(world.position("body").x(), 0.2 * std::pow(1 - beta, n), 1e-15) << beta << ", step " << n;
    }
  }
}

TEST(Formulations, TwoTermStabilisationIsADampedOscillator) {
  // C'' = -(b_v/h) C' - (b_p/h^2) C, the right-hand side taken at the step's start and kept: with y = (C, h C'),
  // y -> y + (y_2 - p/2, -p), p = b_p y_1 + b_v y_2.
  for (const auto& [bv, bp] : {std::pair(0.2, 0.01), std::pair(1.0, 0.3), std::pair(0.0, 0.0)}) {
    const double h = 0.01;
    World world = open_joint({.dt = h,
                              .formulation = StabilisedAccelerationSettings{.beta_velocity = bv, .beta_position = bp},
                              .correction = NoCorrectionSettings{}},
                             0.2);
    world.set_velocity(world.body("body"), Vec3(1, 0, 0), Vec3::Zero());
    Eigen::Matrix2d R;
    R << 1 - bp / 2, 1 - bv / 2, -bp, 1 - bv;
    Eigen::Vector2d y(0.2, h * 1.0);
    for (int n = 1; n <= 100; ++n) {
      world.step();
      y = R * y;
      ASSERT_NEAR(world.position("body").x(), y[0], 1e-13) << "step " << n;
    }
    EXPECT_TRUE(bp == 0 || std::abs(y[0]) < 0.1) << "gone, or going";
  }
}

TEST(Formulations, PenaltyYieldsInProportionToTheLoad) {
  // Hooke: at rest the joint is open by m g / k.
  for (const double k : {1e3, 1e4, 1e5}) {
    Scene scene;
    scene.recipe = {.dt = 1e-3,
                    .formulation = PenaltySettings{.stiffness = k, .damping = 2 * std::sqrt(3 * k)},
                    .correction = NoCorrectionSettings{}};
    scene.add({.name = "body", .mass = 3.0, .shape = Box{}});
    const JointId pivot = scene.add(Ball{.name = "pivot", .between = {"world", "body"}});
    World world(scene);
    run_for(world, 3);
    EXPECT_NEAR(world.joint_error(pivot).position, 3 * 9.81 / k, 1e-9 * 3 * 9.81 / k);
    EXPECT_NEAR(world.joint_force(pivot).force.z(), 3 * 9.81, 1e-6);
  }
}

TEST(Formulations, PenaltyConvergesLinearlyInItsStiffness) {
  // A swinging ball on a stiffer and stiffer spring: half the error for twice the stiffness.
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .position = Vec3(0.6, 0, -0.8), .shape = Sphere{0.1}});
  scene.add(Ball{.name = "pivot", .between = {"world", "bob"}});
  const World rigid = run(scene, {}, 1, 2000);
  const auto error = [&](double k) {
    const Recipe recipe{.formulation = PenaltySettings{.stiffness = k, .damping = 0.3 * std::sqrt(k)},
                        .correction = NoCorrectionSettings{}};
    return (run(scene, recipe, 1, 20000).position("bob") - rigid.position("bob")).norm();
  };
  const double e1 = error(1e4), e2 = error(2e4), e4 = error(4e4);
  EXPECT_NEAR(e1 / e2, 2, 0.1);
  EXPECT_NEAR(e2 / e4, 2, 0.1);
}

TEST(Formulations, SenselessCombinationsAreRefusedWithTheirReason) {
  const auto reason = [](const Recipe& recipe) -> std::string {
    try {
      World world(scenes::four_bar(), recipe);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Recipe rk4_impulses{.formulation = VelocitySettings{}};
  EXPECT_NE(reason(rk4_impulses).find("semi_implicit_euler"), std::string::npos) << reason(rk4_impulses);
  const Recipe corrected_springs{.formulation = PenaltySettings{}};
  EXPECT_NE(reason(corrected_springs).find("--set correction=none"), std::string::npos) << reason(corrected_springs);
  const Recipe placed_loop{.correction = TreePlacementSettings{}};
  EXPECT_NE(reason(placed_loop).find("loop"), std::string::npos) << reason(placed_loop);
  const Recipe tree_solver{.solver = solver_named("articulated_body")};
  EXPECT_NE(reason(tree_solver).find("loop"), std::string::npos) << reason(tree_solver);
  EXPECT_EQ(reason({}), "");
}

}  // namespace
}  // namespace rotule
