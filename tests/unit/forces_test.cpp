// Forces against their own potentials and derivatives: F = -grad V, and Jacobians against central differences, for every kind of
// force, on bodies that turn, particles and the world.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>

#include "dynamics/forces/springs.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

/// Two bodies and four particles in general position and motion, with one force among them.
class Forces : public ::testing::Test {
 protected:
  Scene scene() const {
    Scene out;
    out.gravity.setZero();
    out.add({.name = "a",
             .mass = 2.0,
             .position = {0.1, 0.2, 0.3},
             .orientation = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized())),
             .velocity = {0.3, -0.2, 0.5},
             .angular_velocity = {0.4, 0.9, -0.6},
             .shape = Box{Vec3(0.5, 0.3, 0.2)}});
    out.add({.name = "b",
             .mass = 3.0,
             .position = {1.1, -0.2, 0.6},
             .orientation = Quat(Eigen::AngleAxisd(-1.1, Vec3(2, -1, 1).normalized())),
             .velocity = {-0.1, 0.4, 0.2},
             .angular_velocity = {-0.7, 0.2, 0.8},
             .shape = Box{Vec3(0.2, 0.4, 0.6)}});
    out.add_particles({.name = "p",
                       .positions = {{0.9, 0.4, -0.3}, {1.5, 0.7, 0.2}, {1.3, 1.6, 0.1}, {0.2, -0.4, -0.5}},
                       .velocities = {{0.1, 0.2, 0.3}, {-0.3, 0.1, 0.2}, {0.5, -0.2, -0.1}, {0.2, 0.3, -0.4}},
                       .masses = {1, 2, 0.5, 1.5}});
    return out;
  }

  struct Parts {
    explicit Parts(const World& world) : model(implementation_of(world).model), state(implementation_of(world).state) {}
    const Model& model;
    State state;
    ForceScratch scratch;
    VecX force(const State& s) {
      VecX f = VecX::Zero(s.u.size());
      add_forces(model, s, 0.2, 1, scratch, f);
      return f;
    }
    double potential(const State& s) { return force_potential(model, s, 0.2, 1, scratch); }
    MatX derivative(const State& s, double a, double b, bool positive = false) {
      MatX out = MatX::Zero(s.u.size(), s.u.size());
      auto sink = [&](int row, int column, const Mat3& block) { out.block<3, 3>(3 * row, 3 * column) += block; };
      add_force_derivatives(model, s, 0.2, a, b, positive, sink);
      add_particle_spring_derivatives(model, s, a, b, positive, sink);
      return out;
    }
    State moved(int variable, double by) const {
      State out = state;
      VecX sigma = VecX::Zero(state.u.size());
      sigma[variable] = by;
      displace(state, sigma, out);
      return out;
    }
  };

  static constexpr double step = 1e-5;

  void expect_gradient(const Scene& s) {
    World world(s);
    Parts parts(world);
    parts.state.u.setZero();  // dampers have no potential
    const VecX f = parts.force(parts.state);
    for (int i = 0; i < f.size(); ++i) {
      const double slope = (parts.potential(parts.moved(i, step)) - parts.potential(parts.moved(i, -step))) / (2 * step);
      EXPECT_NEAR(f[i], -slope, 1e-7 * (1 + f.norm())) << "component " << i;
    }
  }

  void expect_jacobians(const Scene& s) {
    World world(s);
    Parts parts(world);
    const MatX K = parts.derivative(parts.state, 0, 1), D = parts.derivative(parts.state, 1, 0);
    EXPECT_LT((parts.derivative(parts.state, 0.3, 0.7) - 0.3 * D - 0.7 * K).norm(), 1e-12 * (1 + K.norm() + D.norm()));
    for (int i = 0; i < K.cols(); ++i) {
      const VecX by_position = (parts.force(parts.moved(i, step)) - parts.force(parts.moved(i, -step))) / (2 * step);
      State faster = parts.state, slower = parts.state;
      faster.u[i] += step;
      slower.u[i] -= step;
      const VecX by_velocity = (parts.force(faster) - parts.force(slower)) / (2 * step);
      EXPECT_LT((K.col(i) - by_position).norm(), 2e-7 * (1 + K.norm())) << "position " << i;
      EXPECT_LT((D.col(i) - by_velocity).norm(), 2e-7 * (1 + D.norm())) << "velocity " << i;
    }
  }
  void expect_both(const Scene& s) {
    expect_gradient(s);
    expect_jacobians(s);
  }
};

TEST_F(Forces, SpringBetweenBodies) {
  Scene s = scene();
  s.add(Spring{.between = {"a", "b"},
               .from = Vec3(0.3, 0.1, 0.2),
               .to = Vec3(1.2, 0.1, 0.5),
               .stiffness = 40,
               .damping = 3,
               .rest_length = 0.7});
  expect_both(s);
}

TEST_F(Forces, SpringFromBodyToParticleAndWorld) {
  Scene s = scene();
  s.add(Spring{.between = {"a", "p/1"}, .from = Vec3(0.3, 0.1, 0.2), .stiffness = 40, .damping = 3, .rest_length = 2});
  s.add(Spring{.between = {"world", "b"}, .from = Vec3(2, 2, 2), .to = Vec3(1, 0, 0), .stiffness = 20, .damping = 1});
  s.add(Spring{.between = {"p/0", "world"}, .to = Vec3(-1, 2, 0), .stiffness = 20, .damping = 1, .rest_length = 0.3});
  expect_both(s);
}

TEST_F(Forces, SpringsBetweenParticles) {
  Scene s = scene();
  s.add(Spring{.between = {"p/0", "p/1"}, .stiffness = 40, .damping = 3, .rest_length = 1.5});
  s.particles[0].springs = {{.pairs = {{0, 2}, {1, 2}}, .stiffness = 10, .damping = 0.5, .rest_lengths = {0.4, 2}}};
  expect_both(s);
}

TEST_F(Forces, AngleSpring) {
  Scene s = scene();
  s.add(AngleSpring{.between = {"p/0", "p/1", "p/2"}, .stiffness = 5, .rest_angle = 2.5});
  s.add(AngleSpring{.between = {"a", "p/3", "b"}, .stiffness = 3, .rest_angle = 0.2});
  expect_both(s);
}

TEST_F(Forces, StraightAngleSpringAtRestIsStiffAcrossItsLine) {
  // Energy k/2 angle^2, the angle being the deflection over the arm: 1/l for each end, 2/l for the middle.
  Scene s = scene();
  s.particles[0].positions = {{0, 0, 0}, {0.5, 0, 0}, {1, 0, 0}, {3, 3, 3}};
  s.add(AngleSpring{.between = {"p/0", "p/1", "p/2"}, .stiffness = 5});
  World world(s);
  Parts parts(world);
  const MatX K = parts.derivative(parts.state, 0, 1);
  const int first = parts.state.first(0);
  EXPECT_NEAR(K(first + 1, first + 1), -5 / 0.25, 1e-9);
  EXPECT_NEAR(K(first + 4, first + 4), -5 * 16, 1e-9);
  EXPECT_NEAR(K(first, first), 0, 1e-9);
  EXPECT_LT(parts.force(parts.state).norm(), 1e-12);
  State bent = parts.state;
  bent.x[3 + 1] += 1e-4;
  EXPECT_NEAR(parts.force(bent)[first + 4], -80e-4, 1e-8);
}

TEST_F(Forces, TorsionSpring) {
  Scene s = scene();
  s.add(TorsionSpring{.between = {"a", "b"}, .axis = Vec3(1, 1, 0), .stiffness = 7, .damping = 0.4});
  s.add(TorsionSpring{.between = {"world", "b"}, .axis = Vec3(0, 1, 2), .stiffness = 3, .damping = 0.2});
  World world(s);
  Parts at_rest(world);
  at_rest.state.u.setZero();
  EXPECT_LT(at_rest.force(at_rest.state).norm(), 1e-12);  // as placed
  // Away from rest: the same bodies turned after the springs were made.
  VecX sigma = VecX::Zero(at_rest.state.u.size());
  sigma.segment<3>(3) = Vec3(0.3, 0.2, -0.5);
  sigma.segment<3>(9) = Vec3(-0.2, 0.6, 0.1);
  Parts parts(world);
  displace(parts.state, sigma, parts.state);
  const MatX K = parts.derivative(parts.state, 0, 1), D = parts.derivative(parts.state, 1, 0);
  const VecX f = parts.force(parts.state);
  EXPECT_GT(f.norm(), 0.1);
  for (int i = 0; i < 12; ++i) {
    const VecX by_position = (parts.force(parts.moved(i, step)) - parts.force(parts.moved(i, -step))) / (2 * step);
    EXPECT_LT((K.col(i) - by_position).norm(), 1e-6) << i;
    State faster = parts.state;
    faster.u[i] += 1;
    EXPECT_LT((D.col(i) - (parts.force(faster) - f)).norm(), 1e-9) << i;
  }
}

TEST_F(Forces, Drag) {
  Scene s = scene();
  s.add(Drag{.viscous = 0.5, .quadratic = 0.8, .angular = 0.3});
  s.add(Drag{.on = {"p/2", "a"}, .viscous = 1});
  s.add(Drag{.on = {"p"}, .quadratic = 0.1});
  expect_jacobians(s);
}

TEST_F(Forces, Gravitation) {
  Scene s = scene();
  s.add(Gravitation{.constant = 0.7});
  expect_both(s);
  s.forces = {Gravitation{.constant = 0.7, .softening = 0.3}};
  expect_both(s);
}

TEST_F(Forces, PenaltyPlane) {
  Scene s = scene();
  s.add(PenaltyPlane{.at = {0, 0, 0}, .normal = {0.1, 0.2, 1}, .stiffness = 100, .damping = 2});
  expect_both(s);
}

TEST_F(Forces, UserPotentialAndForce) {
  Scene s = scene();
  s.add(UserForce{.between = {"a", "b"}, .potential = [](const JetBody& a, const JetBody& b, const Jet&) {
                    const JetVec3 d = a.point(Vec3(0.1, 0.2, 0)) - b.position;
                    return d.dot(d) * sqrt(d.dot(d)) + a.direction(Vec3::UnitX()).dot(b.direction(Vec3::UnitZ()));
                  }});
  expect_both(s);
  s.forces = {UserForce{.between = {"b", "p/1"}, .force = [](const JetMotion& a, const JetMotion& b, const Jet&) {
                          const JetVec3 d = b.pose.position - a.pose.position, w = b.velocity - a.velocity;
                          const JetVec3 F = (Jet(3) + w.dot(w)) * d - Jet(0.5) * d.norm() * w;
                          return JetForces{F, d.cross(w), Jet(-1) * F, {}};
                        }}};
  expect_jacobians(s);
}

TEST_F(Forces, UserValuesWithTheirOwnJacobian) {
  Scene s = scene();
  UserForce force{.between = {"world", "p/0"}};
  force.values = [](const Motion&, const Motion& b, double) {
    Vec12 out = Vec12::Zero();
    out.segment<3>(6) = -4 * b.pose.position - 0.5 * b.velocity;
    return out;
  };
  force.jacobian = [](const Motion&, const Motion&, double) {
    ForceJacobian out;
    out.position.block<3, 3>(6, 6) = -4 * Mat3::Identity();
    out.velocity.block<3, 3>(6, 6) = -0.5 * Mat3::Identity();
    return out;
  };
  s.add(force);
  expect_jacobians(s);
}

TEST_F(Forces, ActionEqualsReaction) {
  // Inner forces change neither momentum nor, about any point, its moment.
  Scene s = scene();
  s.add(Spring{.between = {"a", "b"},
               .from = Vec3(0.3, 0.1, 0.2),
               .to = Vec3(1.2, 0.1, 0.5),
               .stiffness = 40,
               .damping = 3,
               .rest_length = 0.2});
  s.add(Spring{.between = {"a", "p/3"}, .stiffness = 40, .rest_length = 0.2});
  s.add(AngleSpring{.between = {"p/0", "a", "p/2"}, .stiffness = 5, .rest_angle = 2.5});
  s.add(Gravitation{.constant = 0.7, .softening = 0.1});
  World world(s);
  Parts parts(world);
  const VecX f = parts.force(parts.state);
  Vec3 sum = Vec3::Zero(), moment = Vec3::Zero();
  for (int i = 0; i < 2; ++i) {
    sum += f.segment<3>(6 * i);
    moment += parts.state.p[i].cross(Vec3(f.segment<3>(6 * i))) + f.segment<3>(6 * i + 3);
  }
  for (int k = 0; k < 4; ++k) {
    sum += f.segment<3>(parts.state.first(k));
    moment += Vec3(parts.state.particle_position(k)).cross(Vec3(f.segment<3>(parts.state.first(k))));
  }
  EXPECT_GT(f.norm(), 10);
  EXPECT_LT(sum.norm(), 1e-12);
  EXPECT_LT(moment.norm(), 1e-12);
}

TEST_F(Forces, PositiveDerivativesAreNegativeSemidefinite) {
  Scene s = scene();
  s.particles[0].springs = {
      {.pairs = {{0, 2}, {1, 2}, {0, 1}, {2, 3}}, .stiffness = 10, .damping = 0.5, .rest_lengths = {4, 5, 3, 0.1}}};
  World world(s);
  Parts parts(world);
  const int first = parts.state.first(0);
  const auto largest = [&](bool positive) {
    const MatX K = parts.derivative(parts.state, 0, 1, positive).bottomRightCorner(12, 12);
    // Of unit masses without joints, -K has the squared frequencies.
    Linearisation system;
    system.M.setIdentity(12, 12);
    system.K = -K;
    return -normal_modes(system).squared_frequencies.minCoeff();
  };
  EXPECT_EQ(first, 12);
  EXPECT_GT(largest(false), 0.1);  // compressed springs buckle
  EXPECT_LT(largest(true), 1e-12);
}

}  // namespace
}  // namespace rotule
