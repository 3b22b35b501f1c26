// Corrections of drift (A7): Newton projection, velocity projection and tree placement, against what they minimise and promise.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "constraint/tree_placement.h"
#include "linalg/decompositions.h"
#include "scenes/builders.h"
#include "step/reference/reference_stepper.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

class Disturbance {
 public:
  explicit Disturbance(unsigned seed) : random_(seed) {}
  Vec3 vector(double size) { return size * Vec3(uniform_(random_), uniform_(random_), uniform_(random_)); }

  /// Moves and turns every movable body by up to `size` m and rad.
  void disturb_poses(World& world, double size) {
    for (const BodyId id : world.bodies())
      if (world.mass(id) > 0) world.set_pose(id, {world.position(id) + vector(size), turn(world.orientation(id), vector(size))});
  }
  void disturb_velocities(World& world, double size) {
    for (const BodyId id : world.bodies())
      if (world.mass(id) > 0)
        world.set_velocity(id, world.velocity(id) + vector(size), world.angular_velocity(id) + vector(size));
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

Scene with_iterations(Scene scene, int iterations) {
  scene.recipe = {};
  scene.recipe.correction = ProjectionSettings{.max_iterations = iterations};
  return scene;
}

/// The joint errors before and after each Newton iteration.
std::vector<double> newton_errors(const Scene& scene, double size, unsigned seed) {
  std::vector<double> errors;
  for (int n = 1; n <= 8; ++n) {
    World world(with_iterations(scene, n));
    Disturbance(seed).disturb_poses(world, size);
    if (errors.empty()) errors.push_back(world.diagnostics().joint_error.position);
    world.project();
    errors.push_back(world.diagnostics().joint_error.position);
    if (errors.back() < 1e-13) break;
  }
  return errors;
}

TEST(NewtonProjection, SquaresTheErrorOfTreesAndLoops) {
  for (const Scene& scene : {scenes::mannequin(), scenes::four_bar(), scenes::slider_crank(), scenes::bridge_truss()})
    for (const double size : {1e-1, 1e-2, 1e-3}) {
      const std::vector<double> errors = newton_errors(scene, size, 5);
      std::printf("%-14s %g:", scene.name.c_str(), size);
      for (const double e : errors) std::printf(" %.1e", e);
      std::printf("\n");
      EXPECT_LT(errors.back(), 1e-13) << scene.name << " moved by " << size;
      EXPECT_LE(errors.size(), size > 0.05 ? 9u : size > 5e-3 ? 5u : 4u) << scene.name << " moved by " << size;
      // Once small, an error e becomes one of order e^2 (times a curvature of the order of 1/length).
      for (std::size_t i = 0; i + 1 < errors.size(); ++i)
        EXPECT_TRUE(errors[i] > 0.02 || errors[i + 1] < 50 * errors[i] * errors[i] + 1e-14) << scene.name << " moved by " << size;
    }
}

/// M and J of a world's only island, dense, at the present state.
struct Dense {
  MatX M, J;
  VecX C;
  std::vector<int> bodies;
};

Dense dense_system(const World& world) {
  static_cast<void>(world.diagnostics());  // evaluates the rows here
  const Island& island = implementation_of(world).stepper->reference()->mechanism.islands.at(0);
  const ConstraintProblem& p = island.problem;
  Dense out{MatX::Zero(6 * p.bodies(), 6 * p.bodies()), MatX::Zero(p.rows(), 6 * p.bodies()), island.values.C, island.bodies};
  for (int i = 0; i < p.bodies(); ++i) out.M.block<6, 6>(6 * i, 6 * i) = inverse_of(Mat6(p.inverse_mass[i]));
  for (const ConstraintBlock& block : p.blocks) {
    if (block.body_a >= 0)
      out.J.block(block.first_row, 6 * block.body_a, block.rows, 6) = p.J_a.middleRows(block.first_row, block.rows);
    if (block.body_b >= 0)
      out.J.block(block.first_row, 6 * block.body_b, block.rows, 6) = p.J_b.middleRows(block.first_row, block.rows);
  }
  return out;
}

/// argmin 1/2 d^T M d subject to J d = b, by the whole Karush-Kuhn-Tucker matrix.
VecX smallest_move(const Dense& system, const VecX& b) {
  const Eigen::Index n = system.M.rows(), m = system.J.rows();
  MatX K = MatX::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = system.M;
  K.topRightCorner(n, m) = system.J.transpose();
  K.bottomLeftCorner(m, n) = system.J;
  VecX right = VecX::Zero(n + m);
  right.tail(m) = b;
  const VecX solution = K.fullPivLu().solve(right);
  return solution.head(n);
}

TEST(NewtonProjection, MakesTheSmallestMassWeightedMove) {
  World world(with_iterations(scenes::mannequin(), 1));
  Disturbance(3).disturb_poses(world, 0.01);
  const Dense system = dense_system(world);
  const VecX expected = smallest_move(system, -system.C);
  const State before = implementation_of(world).state;
  EXPECT_EQ(world.project(), 1);
  VecX move(6 * before.bodies());
  difference(implementation_of(world).state, before, move);
  EXPECT_LT((move - expected).norm(), 1e-12 * expected.norm() + 1e-15);
}

TEST(VelocityProjection, IsExactInOneSolveAndLeastInEnergy) {
  World world(with_iterations(scenes::mannequin(), 5));
  Disturbance(4).disturb_velocities(world, 2);
  const Dense system = dense_system(world);
  const VecX u = implementation_of(world).state.u;
  EXPECT_GT((system.J * u).norm(), 1);
  const VecX expected = u + smallest_move(system, -system.J * u);
  EXPECT_EQ(world.project(), 0) << "positions are closed already";
  const VecX after = implementation_of(world).state.u;
  EXPECT_LT((after - expected).norm(), 1e-11 * u.norm());
  EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-12);
  // Pythagoras in the kinetic metric: what is taken away is orthogonal to what stays.
  const VecX removed = u - after;
  EXPECT_NEAR(u.dot(system.M * u), after.dot(system.M * after) + removed.dot(system.M * removed), 1e-9);
}

TEST(Shock, IsTheVelocityCorrectionOfAStoppedPoint) {
  // A8: the smallest move in the kinetic metric that stops the point and keeps the joints, 1 + e times over.
  for (const double e : {0.0, 0.75, 1.0}) {
    World world(scenes::mannequin());
    Dense system = dense_system(world);
    const BodyId hand = world.body("left_hand");
    const std::vector<BodyId> all = world.bodies();
    const auto i = std::find(all.begin(), all.end(), hand) - all.begin();
    const Vec3 r(0.02, -0.03, 0.05);
    const Eigen::Index joints = system.J.rows();
    system.J.conservativeResizeLike(MatX::Zero(joints + 3, system.J.cols()));
    system.J.block<3, 3>(joints, 6 * i).setIdentity();
    system.J.block<3, 3>(joints, 6 * i + 3) = -skew(r);
    const VecX u = implementation_of(world).state.u;
    const VecX expected = u + (1 + e) * smallest_move(system, -system.J * u);
    world.shock(hand, world.center_of_mass(hand) + r, e);
    EXPECT_LT((implementation_of(world).state.u - expected).norm(), 1e-11 * u.norm()) << e;
  }
}

TEST(VelocityProjection, ClosesRedundantLoopsToo) {
  World world(with_iterations(scenes::four_bar(), 5));
  Disturbance(4).disturb_velocities(world, 1);
  const double before = world.diagnostics().kinetic_energy;
  world.project();
  EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-11);
  EXPECT_LT(world.diagnostics().kinetic_energy, before);
}

/// A tree with every kind of joint, hung from the world on both sides, in a row of boxes 1 m apart.
Scene every_kind() {
  Scene scene;
  const Vec3 n = Vec3(1, 2, -0.5).normalized(), x = n.unitOrthogonal();
  const auto box = [&](const std::string& name) {
    const double i = static_cast<double>(scene.bodies.size());
    scene.add(
        {.name = name, .mass = 1 + i, .center_of_mass = Vec3(0.05, -0.1, 0.02), .position = Vec3(i, 0.2 * i, 0), .shape = Box{}});
    return Vec3(i - 0.5, 0.2 * i, 0.1);
  };
  Vec3 at = box("one");
  scene.add(Hinge{.between = {"world", "one"}, .at = at, .axis = n});
  at = box("two");
  scene.add(Ball{.between = {"one", "two"}, .at = at});
  at = box("three");
  scene.add(Slider{.between = {"three", "two"}, .at = at, .axis = n});
  at = box("four");
  scene.add(Cylindrical{.between = {"three", "four"}, .at = at, .axis = n});
  at = box("five");
  scene.add(Universal{.between = {"five", "four"}, .at = at, .axis_a = n, .axis_b = x});
  at = box("six");
  scene.add(Planar{.between = {"six", "five"}, .at = at, .normal = n});
  at = box("seven");
  scene.add(Weld{.between = {"six", "seven"}, .at = at});
  at = box("eight");
  scene.add(Rod{.between = {"eight", "seven"}, .from = at, .to = at - Vec3(0.5, 0, 0.1)});
  at = box("nine");
  scene.add(PointOnLine{.between = {"nine", "world"}, .at = at, .axis = n});
  at = box("ten");
  scene.add(LockedAxes{.between = {"nine", "ten"},
                       .at = at,
                       .frame = Quat(1, 2, 3, 4).normalized(),
                       .locked = {true, false, true, false, true, true}});
  at = box("eleven");
  scene.add(LockedAxes{.between = {"eleven", "ten"},
                       .at = at,
                       .frame = Quat(4, 3, 2, 1).normalized(),
                       .locked = {false, true, false, true, false, false}});
  at = box("twelve");
  scene.add(Universal{.between = {"eleven", "twelve"}, .at = at, .axis_a = n, .axis_b = x});
  at = box("thirteen");
  scene.add(Rod{.between = {"twelve", "thirteen"}, .from = at, .to = at + Vec3(0.3, 0.1, 0)});
  return scene;
}

TEST(TreePlacement, ClosesEveryKindOfJointToRounding) {
  for (const double size : {1e-3, 0.3}) {
    World world(every_kind());
    Disturbance(8).disturb_poses(world, size);
    ASSERT_GT(world.diagnostics().joint_error.position, 0.1 * size);
    const auto& w = implementation_of(world);
    State s = w.state;
    place(w.model, placement_order(w.model), s);
    for (int i = 0; i < s.bodies(); ++i) world.set_pose(world.bodies()[i], body_frame(w.model, s, i));
    for (const JointId id : world.joints())
      EXPECT_LT(world.joint_error(id).position, 2e-14) << world.name(id) << " moved by " << size;

    // What is closed already stays where it is.
    State again = s;
    place(w.model, placement_order(w.model), again);
    VecX move(6 * s.bodies());
    difference(again, s, move);
    EXPECT_LT(move.cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(TreePlacement, MovesTheChildAndNotTheParent) {
  World world(every_kind());
  const auto& w = implementation_of(world);
  State s = w.state;
  s.p[1] += Vec3(0.1, 0, 0);  // body two, whose parent one stands right
  const State before = s;
  place(w.model, placement_order(w.model), s);
  EXPECT_LT((s.p[0] - before.p[0]).norm(), 1e-14);
  EXPECT_NEAR((s.p[1] - before.p[1]).norm(), 0.1, 1e-13);
}

TEST(TreePlacement, RefusesLoopsAndFunctions) {
  Scene loop = scenes::four_bar();
  loop.recipe.correction = TreePlacementSettings{};
  EXPECT_THROW(World{loop}, Error);
  Scene function;
  function.recipe.correction = TreePlacementSettings{};
  function.add({.name = "bead", .mass = 1.0});
  function.add(Constraint{.between = {"world", "bead"},
                          .function = [](const JetBody&, const JetBody& b, const Jet&) { return b.position.z(); }});
  EXPECT_THROW(World{function}, Error);
}

TEST(TreePlacement, HoldsARunTogether) {
  Scene scene = scenes::double_pendulum();
  scene.recipe.correction = TreePlacementSettings{};
  World placed(scene), projected(scenes::double_pendulum());
  for (int i = 0; i < 500; ++i) {
    placed.step();
    projected.step();
  }
  EXPECT_LT(placed.diagnostics().joint_error.position, 1e-14);
  EXPECT_LT(placed.diagnostics().joint_error.velocity, 1e-13);
  EXPECT_LT((placed.position("lower") - projected.position("lower")).norm(), 1e-7);
}

TEST(Corrections, AStepFromOpenJointsClosesThem) {
  // After someone moved the bodies by hand, redundant loops included.
  for (const Scene& scene : {scenes::mannequin(), scenes::four_bar(), scenes::slider_crank()})
    for (const double size : {1e-6, 1e-4, 1e-2}) {
      World world(with_iterations(scene, 10));
      const double before = world.diagnostics().kinetic_energy;
      Disturbance(9).disturb_poses(world, size);
      for (int i = 0; i < 5; ++i) world.step();
      const Diagnostics after = world.diagnostics();
      EXPECT_LT(after.joint_error.position, 1e-12) << scene.name << " moved by " << size;
      EXPECT_LT(after.joint_error.velocity, 1e-9) << scene.name << " moved by " << size;
      EXPECT_LT(after.kinetic_energy, 2 * before + 1) << scene.name << " moved by " << size;
    }
}

}  // namespace
}  // namespace rotule
