// (M - a D - b K) x = M r + J^T y with J x = J r, against a dense matrix made by differences of the accelerations themselves: the
// sparse assembly, the constraint forces' stiffness and the gyroscopic terms are all checked at once.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <Eigen/LU>
#include <Eigen/QR>

#include "mechanism/jointed_mechanism.h"
#include "scenes/builders.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

struct Bench {
  explicit Bench(const Scene& scene) : world(scene), mechanism(implementation_of(world).model, world.recipe()) {
    static_cast<void>(world.islands());
    s = implementation_of(world).state;
    mechanism.begin_step(s, 0);
  }
  VecX accelerations(const State& at) {
    VecX out;
    mechanism.accelerations(0, at, out);
    return out;
  }
  World world;
  JointedMechanism mechanism;
  State s;
};

/// Newton's matrix of implicit methods is 1 - a d(udot)/du - b d(udot)/dq: images of motions under it come back from the solve.
void expect_newton(const Scene& scene, double a, double b, double tolerance) {
  Bench bench(scene);
  const VecX udot = bench.accelerations(bench.s);
  const auto n = udot.size();
  constexpr double step = 1e-5;
  MatX newton = MatX::Identity(n, n);
  for (int i = 0; i < n; ++i) {
    State more = bench.s, less = bench.s;
    VecX sigma = VecX::Zero(n);
    sigma[i] = step;
    displace(bench.s, sigma, more);
    sigma[i] = -step;
    displace(bench.s, sigma, less);
    newton.col(i) -= b / (2 * step) * (bench.accelerations(more) - bench.accelerations(less));
    more = less = bench.s;
    more.u[i] += step;
    less.u[i] -= step;
    newton.col(i) -= a / (2 * step) * (bench.accelerations(more) - bench.accelerations(less));
  }
  bench.accelerations(bench.s);
  bench.mechanism.linearise(0, bench.s);
  srand(1);
  for (int trial = 0; trial < 3; ++trial) {
    VecX x = VecX::Random(n);
    const Model& model = implementation_of(bench.world).model;
    for (int i = 0; i < model.body_count(); ++i)
      if (!model.movable(i)) x.segment<6>(6 * i).setZero();
    for (int k = 0; k < model.particle_count(); ++k)
      if (!model.particles.movable(k)) x.segment<3>(bench.s.first(k)).setZero();
    VecX back;
    bench.mechanism.solve_implicit(a, b, newton * x, back);
    EXPECT_LT((back - x).norm(), tolerance * x.norm()) << scene.name << ", trial " << trial;
  }
}

Scene springs_and_bodies() {
  Scene out;
  out.name = "springs and bodies";
  out.add({.name = "a",
           .mass = 2.0,
           .position = {0.1, 0.2, 0.3},
           .velocity = {0.3, -0.2, 0.5},
           .angular_velocity = {4, 9, -6},
           .shape = Box{Vec3(0.5, 0.3, 0.2)}});
  out.add({.name = "b",
           .mass = 3.0,
           .position = {1.1, -0.2, 0.6},
           .angular_velocity = {-0.7, 0.2, 0.8},
           .shape = Box{Vec3(0.2, 0.4, 0.6)}});
  out.add_particles({.name = "p",
                     .positions = {{0.9, 0.4, -0.3}, {1.5, 0.7, 0.2}, {1.3, 1.6, 0.1}},
                     .mass = 1,
                     .pinned = {2},
                     .springs = {{.pairs = {{0, 1}, {1, 2}}, .stiffness = 100, .damping = 1, .rest_lengths = {0.5, 0.6}}}});
  out.add(Spring{.between = {"a", "b"},
                 .from = Vec3(0.3, 0.1, 0.2),
                 .to = Vec3(1.2, 0.1, 0.5),
                 .stiffness = 400,
                 .damping = 3,
                 .rest_length = 0.3});
  out.add(Spring{.between = {"b", "p/0"}, .from = Vec3(1.2, 0.1, 0.5), .stiffness = 400, .damping = 3, .rest_length = 0.2});
  out.add(Drag{.viscous = 0.5, .quadratic = 0.8, .angular = 0.3});
  out.add(Gravitation{.constant = 0.3});
  AutomaticImplicitSettings exact;
  exact.positive = false;
  out.recipe.implicit_solver = exact;
  return out;
}

TEST(ImplicitSystem, IsNewtonsMatrixOfSpringsBodiesAndParticles) { expect_newton(springs_and_bodies(), 0.1, 0.01, 1e-6); }

TEST(ImplicitSystem, IsNewtonsMatrixOfJointedBodies) {
  // The system leaves out how J-dot u changes with the configuration: it is all there at rest, and in motion where b = 0.
  for (Scene scene : {scenes::double_pendulum(), scenes::hanging_chain(100)}) {
    scene.impulses.clear();
    for (BodyDef& body : scene.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
    expect_newton(scene, 0.01, 1e-4, 1e-6);
    for (BodyDef& body : scene.bodies)
      if (!body.fixed) body.angular_velocity = Vec3(0.3, -1, 0.5);
    expect_newton(scene, 0.01, 0, 1e-6);
  }
}

TEST(ImplicitSystem, IsNewtonsMatrixOfParticlesOnJoints) {
  Scene scene = springs_and_bodies();
  scene.name = "particles on joints";
  scene.forces.clear();
  for (BodyDef& body : scene.bodies) body.velocity = body.angular_velocity = Vec3::Zero();
  scene.add(Rod{.between = {"a", "p/0"}, .from = Vec3(0.2, 0.2, 0.3)});
  scene.add(Ball{.between = {"p/1", "b"}});
  scene.add(PointOnLine{.between = {"world", "p/0"}, .axis = {1, 2, 3}});
  expect_newton(scene, 0.01, 1e-4, 1e-6);
  scene.particles[0].velocities = {{0.3, -0.2, 0.5}};
  for (BodyDef& body : scene.bodies) body.angular_velocity = Vec3(0.3, -1, 0.5);
  expect_newton(scene, 0.01, 0, 1e-6);
}

TEST(ImplicitSystem, FastTop) {
  Scene scene;
  scene.name = "fast top";
  scene.gravity.setZero();
  scene.add({.name = "top", .mass = 1.0, .angular_velocity = {30, 5, 80}, .shape = Box{Vec3(0.5, 0.3, 0.1)}});
  expect_newton(scene, 0.01, 1e-4, 1e-6);
}

TEST(ImplicitSystem, DirectAndIterativeAgreeOnACloth) {
  Scene scene;
  scene.add(Cloth{.columns = 9, .rows = 7, .stiffness = 1e4, .damping = 2, .pinned = {"x0y0", "x1y0"}});
  VecX r, answers[2];
  for (int way = 0; way < 2; ++way) {
    if (way == 0) scene.recipe.implicit_solver = ImplicitLdltSettings{};
    if (way == 1) scene.recipe.implicit_solver = ImplicitCgSettings{.tolerance = 1e-13};
    Bench bench(scene);
    for (int k = 0; k < bench.s.particles(); ++k) bench.s.x[3 * k + 2] += 0.01 * std::sin(k);
    r = VecX::LinSpaced(bench.s.u.size(), -1, 2);
    for (const int pinned : {0, 8}) r.segment<3>(bench.s.first(pinned)).setZero();
    bench.accelerations(bench.s);
    bench.mechanism.linearise(0, bench.s);
    bench.mechanism.solve_implicit(0.01, 1e-4, r, answers[way]);
    EXPECT_TRUE(bench.mechanism.now.report.converged);
    EXPECT_EQ(answers[way].segment<3>(0).norm(), 0) << "pinned";
  }
  EXPECT_LT((answers[0] - answers[1]).norm(), 1e-10 * answers[0].norm());
}

}  // namespace
}  // namespace rotule
