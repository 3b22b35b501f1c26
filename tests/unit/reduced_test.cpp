// Reduced coordinates (A15): the recursions against each other, against differences, and against the accelerations of the same
// mechanism in maximal coordinates, on random trees of all joints with a frame and on shipped scenes.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/reduced.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdlib>

#include "scenes/builders.h"
#include "support/allocation_counter.h"
#include "support/random_trees.h"

namespace rotule {
namespace {

using testing::RandomTrees;

/// Trees per test; the environment may ask for more.
int tree_count() {
  const char* asked = std::getenv("ROTULE_RANDOM_TREES");
  return asked ? std::max(1, std::atoi(asked)) : 40;
}

double largest_of(const VecX& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0.0; }
double largest_of(const MatX& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0.0; }

VecX random_vector(RandomTrees& random, int count, double size) {
  VecX out(count);
  for (double& x : out) x = random.number(-size, size);
  return out;
}

/// A world whose velocities joints allow.
World closed(const Scene& scene) {
  World world(scene, recipes::exact());
  world.project();
  return world;
}

TEST(Reduced, RecursionsAgreeWithEachOther) {
  double worst_newton = 0, worst_articulated = 0, worst_symmetry = 0;
  for (int n = 0; n < tree_count(); ++n) {
    RandomTrees random(n);
    const World world = closed(random.tree(random.whole(1, 12), n % 2 == 1, false));
    ReducedModel model(world);
    const int count = model.velocities();
    if (count == 0) continue;
    const VecX q = model.displaced(model.position(world), random_vector(random, count, 2));
    const VecX u = random_vector(random, count, 3), a = random_vector(random, count, 5);
    const MatX H = model.mass_matrix(q);
    const VecX b = model.bias(q, u), tau = model.inverse_dynamics(q, u, a);
    const double size = 1 + largest_of(tau);
    worst_newton = std::max(worst_newton, largest_of(VecX(H * a + b - tau)) / size);
    worst_articulated = std::max(worst_articulated, largest_of(VecX(model.forward_dynamics(q, u, tau) - a)) / 5);
    worst_symmetry = std::max(worst_symmetry, largest_of(MatX(H - H.transpose())) / largest_of(H));
    EXPECT_EQ(Eigen::LLT<MatX>(H).info(), Eigen::Success) << "tree " << n << ": the mass matrix is not positive";
  }
  EXPECT_LT(worst_newton, 1e-13);
  EXPECT_LT(worst_articulated, 1e-11);  // times the condition of H
  EXPECT_EQ(worst_symmetry, 0);
}

TEST(Reduced, CoordinatesOfAWorldLeadBackToIt) {
  for (int n = 0; n < tree_count(); ++n) {
    RandomTrees random(100 + n);
    const World world = closed(random.tree(random.whole(1, 12), n % 2 == 1, false));
    ReducedModel model(world);
    const VecX q = model.position(world), u = model.velocity(world);
    for (const ReducedAxis& axis : model.axes()) {
      if (axis.joint.empty()) continue;
      EXPECT_NEAR(u[axis.velocity], world.joint_rate(world.joint(axis.joint), axis.axis), 1e-12);
    }
    for (const BodyId id : world.bodies()) {
      const Pose pose = model.pose(q, world.name(id));
      EXPECT_LT((pose.position - world.position(id)).norm(), 1e-12);
      EXPECT_LT(pose.orientation.angularDistance(world.orientation(id)), 1e-7);
      const MatX J = model.jacobian(q, world.name(id));
      const VecX motion = J * u;
      const Vec3 v = world.velocity(id) + world.angular_velocity(id).cross(world.position(id) - world.center_of_mass(id));
      EXPECT_LT((motion.head<3>() - v).norm(), 1e-11);
      EXPECT_LT((motion.tail<3>() - world.angular_velocity(id)).norm(), 1e-11);
    }
  }
}

TEST(Reduced, PlacesAWorldWhereCoordinatesSay) {
  RandomTrees random(7);
  World world = closed(random.tree(9, true, false));
  ReducedModel model(world);
  const VecX q = model.displaced(model.position(world), random_vector(random, model.velocities(), 1));
  const VecX u = random_vector(random, model.velocities(), 1);
  model.place(q, u, world);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-13);
  EXPECT_LT(largest_of(VecX(model.velocity(world) - u)), 1e-12);
  EXPECT_LT(largest_of(model.difference(model.position(world), q)), 1e-12);
}

/// Accelerations of joints against those of bodies.
double off_maximal(const Scene& scene) {
  World world = closed(scene);
  ReducedModel model(world);
  EXPECT_TRUE(model.outside().empty());
  const VecX q = model.position(world), u = model.velocity(world);
  const VecX a = model.forward_dynamics(q, u, VecX::Zero(model.velocities()));
  double worst = 0;
  for (const BodyId id : world.bodies()) {
    if (world.mass(id) == 0) continue;
    // The point's acceleration is J u' + J' u; the second by a central difference along the motion.
    const MatX J = model.jacobian(q, world.name(id));
    const double d = 1e-5;
    const MatX ahead = model.jacobian(model.displaced(q, d * u), world.name(id));
    const MatX behind = model.jacobian(model.displaced(q, -d * u), world.name(id));
    const VecX both = J * a + (ahead - behind) / (2 * d) * u;
    const double size = 1 + world.angular_acceleration(id).norm() + world.acceleration(id).norm();
    worst = std::max(worst, (both.tail<3>() - world.angular_acceleration(id)).norm() / size);
  }
  return worst;
}

TEST(Reduced, AccelerationsAreThoseOfBodies) {
  // Differences limit this to their own error; motions are compared to 1e-10 in reduced_motion_test.cpp.
  double worst = 0;
  for (int n = 0; n < tree_count(); ++n) {
    RandomTrees random(200 + n);
    worst = std::max(worst, off_maximal(random.tree(random.whole(1, 10), n % 2 == 1, false)));
  }
  for (const Scene& scene : {scenes::mannequin(), scenes::double_pendulum(), scenes::chain(20)})
    worst = std::max(worst, off_maximal(scene));
  EXPECT_LT(worst, 1e-7);
}

TEST(Reduced, DerivativesAreDifferences) {
  double worst = 0;
  for (int n = 0; n < tree_count() / 4; ++n) {
    RandomTrees random(300 + n);
    const World world = closed(random.tree(random.whole(1, 7), n % 2 == 1, false));
    ReducedModel model(world);
    const int count = model.velocities();
    const VecX q = model.displaced(model.position(world), random_vector(random, count, 1));
    const VecX u = random_vector(random, count, 1), a = random_vector(random, count, 1);
    const ReducedDerivatives inverse = model.inverse_dynamics_derivatives(q, u, a);
    const ReducedDerivatives forward = model.forward_dynamics_derivatives(q, u, a);
    const double d = 1e-5;
    for (int k = 0; k < count; ++k) {
      const VecX e = d * VecX::Unit(count, k);
      const auto compare = [&](const VecX& plus, const VecX& minus, const VecX& column) {
        worst = std::max(worst, largest_of(VecX((plus - minus) / (2 * d) - column)) / (1 + largest_of(column)));
      };
      const VecX ahead = model.displaced(q, e), behind = model.displaced(q, -e);
      compare(VecX(model.inverse_dynamics(ahead, u, a)), VecX(model.inverse_dynamics(behind, u, a)), inverse.by_position.col(k));
      compare(VecX(model.inverse_dynamics(q, u + e, a)), VecX(model.inverse_dynamics(q, u - e, a)), inverse.by_velocity.col(k));
      compare(VecX(model.forward_dynamics(ahead, u, a)), VecX(model.forward_dynamics(behind, u, a)), forward.by_position.col(k));
      compare(VecX(model.forward_dynamics(q, u + e, a)), VecX(model.forward_dynamics(q, u - e, a)), forward.by_velocity.col(k));
    }
  }
  EXPECT_LT(worst, 1e-6);
}

TEST(Reduced, LinearisationIsTheMotionBesideAMotion) {
  // Two motions, a little apart, a short time on: their difference has grown by h (A x + B dtau).
  double worst = 0;
  for (int n = 0; n < 8; ++n) {
    RandomTrees random(500 + n);
    const World world = closed(random.tree(random.whole(1, 6), n % 2 == 1, false));
    ReducedModel model(world);
    const int count = model.velocities();
    const VecX q = model.displaced(model.position(world), random_vector(random, count, 1));
    const VecX u = random_vector(random, count, 1), tau = random_vector(random, count, 1);
    const ReducedLinearisation beside = model.linearise(q, u, tau);
    const VecX x = random_vector(random, 2 * count, 1), push = random_vector(random, count, 1);
    const VecX grown = beside.A * x + beside.B * push;
    // The exponential of a rate is a motion of q exactly; the middle of a short step is right to second order.
    const double h = 1e-3, d = 1e-4;
    const auto apart = [&](double times) {
      const auto ahead = [&](double sign, double step) {
        const VecX q_0 = model.displaced(q, sign * d * x.head(count)), u_0 = u + sign * d * x.tail(count),
                   t_0 = tau + sign * d * push;
        const VecX a = model.forward_dynamics(q_0, u_0, t_0);
        return std::pair<VecX, VecX>(model.displaced(q_0, step * u_0 + 0.5 * step * step * a), u_0 + step * a);
      };
      const auto plus = ahead(1, times * h), minus = ahead(-1, times * h);
      VecX out(2 * count);
      out << model.difference(plus.first, minus.first), plus.second - minus.second;
      return VecX(out / (2 * d));
    };
    worst = std::max(worst, largest_of(VecX((apart(1) - apart(-1)) / (2 * h) - grown)) / (1 + largest_of(grown)));
  }
  EXPECT_LT(worst, 1e-5);
}

TEST(Reduced, GravityCompensationHoldsAnArm) {
  // A bar of length 1 m on a hinge, level: m g l / 2.
  Scene scene;
  scene.add({.name = "bar", .mass = 2, .position = {0.5, 0, 0}, .shape = Box{Vec3(1, 0.1, 0.1)}});
  scene.add(Hinge{.name = "pin", .between = {"world", "bar"}, .axis = {0, -1, 0}});
  World world(scene, recipes::exact());
  ReducedModel model(world);
  ASSERT_EQ(model.velocities(), 1);
  EXPECT_NEAR(model.gravity_compensation(model.position(world))[0], 2 * world.gravity().norm() * 0.5, 1e-13);
  EXPECT_NEAR(model.mass_matrix(model.position(world))(0, 0), 2 * (1 + 0.01) / 12 + 2 * 0.25, 1e-13);
}

TEST(Reduced, KnowsWhatIsOutsideItsTrees) {
  const World world(scenes::four_bar(), recipes::exact());
  const ReducedModel model(world);
  EXPECT_EQ(model.outside().size(), 1u);
  EXPECT_EQ(model.velocities(), 3);
}

TEST(Reduced, RefusesWhatTreesDoNotKnow) {
  Scene scene;
  scene.add({.name = "hand", .mass = 1, .shape = Box{}, .kinematic = true});
  scene.add({.name = "bob", .mass = 1, .position = {1, 0, 0}});
  scene.add(Ball{.between = {"hand", "bob"}});
  const World world(scene, recipes::exact());
  EXPECT_THROW(ReducedModel{world}, Error);
  ReducedModel pendulum(World(scenes::pendulum(), recipes::exact()));
  EXPECT_THROW(pendulum.bias(VecX::Zero(17), VecX::Zero(1)), Error);
}

TEST(Reduced, AllocatesNothingOnceWarm) {
  const World world(scenes::mannequin(), recipes::exact());
  ReducedModel model(world);
  const VecX q = model.position(world), u = model.velocity(world), a = VecX::Zero(model.velocities());
  const auto all = [&] {
    model.mass_matrix(q);
    model.bias(q, u);
    model.inverse_dynamics(q, u, a);
    model.forward_dynamics(q, u, a);
    model.jacobian(q, "head");
    model.inverse_dynamics_derivatives(q, u, a);
  };
  all();
  if (!testing::counts_allocations()) GTEST_SKIP();
  const std::size_t before = testing::allocations();
  all();
  EXPECT_EQ(testing::allocations(), before);
}

}  // namespace
}  // namespace rotule
