// Elastic elements against what they must be: forces the gradients of energies, matrices those of differences, nothing at rest or
// turned, uniform strain carried exactly by any mesh (the patch test), positive matrices positive.
#include <gtest/gtest.h>
#include <rotule/scene.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/force_set.h"
#include "linalg/decompositions.h"
#include "math/dihedral.h"

namespace rotule {
namespace {

struct Elastic {
  explicit Elastic(const Scene& scene) {
    for (const SolidDef& solid : scene.solids) add_particles(build(solid), model, state);
    for (const ParticleGroup& group : scene.particles) add_particles(group, model, state);
  }
  [[nodiscard]] VecX force(const State& s) const {
    VecX f = VecX::Zero(s.u.size());
    add_elasticity(model, s, f);
    return f;
  }
  [[nodiscard]] MatX derivative(const State& s, double a, double b, bool positive) const {
    MatX out = MatX::Zero(s.u.size(), s.u.size());
    auto sink = [&](int row, int column, const Mat3& block) { out.block<3, 3>(3 * row, 3 * column) += block; };
    add_force_derivatives(model, s, 0, a, b, positive, sink);
    return out;
  }
  Model model;
  State state;
};

Scene block_scene(const std::string& law, double viscosity = 0, std::array<int, 3> counts = {3, 3, 3}) {
  Scene scene;
  scene.gravity.setZero();
  scene.add(ElasticBlock{
      .name = "block",
      .size = {0.4, 0.3, 0.2},
      .counts = counts,
      .material = {.youngs_modulus = 2e4, .poisson_ratio = 0.35, .density = 800, .viscosity = viscosity, .law = law}});
  return scene;
}

Scene sheet_scene(const std::string& law, double viscosity = 0) {
  Scene scene;
  scene.gravity.setZero();
  scene.add(ElasticSheet{
      .name = "sheet",
      .along_x = {0.5, 0, 0.1},
      .along_y = {0.1, 0.4, 0},
      .columns = 4,
      .rows = 3,
      .thickness = 0.02,
      .material = {.youngs_modulus = 2e4, .poisson_ratio = 0.3, .density = 800, .viscosity = viscosity, .law = law}});
  return scene;
}

void shake(State& s, double by, double speed, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  for (double& x : s.x) x += by * number(random);
  for (double& v : s.u) v = speed * number(random);
}

/// Scenes of every law and kind of element.
std::vector<Scene> all_scenes(double viscosity) {
  return {block_scene("neo_hookean", viscosity), block_scene("corotated", viscosity), sheet_scene("neo_hookean", viscosity),
          sheet_scene("corotated", viscosity)};
}

TEST(ElasticForces, AreGradientsOfTheirEnergy) {
  for (const Scene& scene : all_scenes(0)) {
    Elastic e(scene);
    shake(e.state, 0.03, 0, 1);
    const VecX f = e.force(e.state);
    for (Eigen::Index i = 0; i < e.state.x.size(); ++i) {
      State up = e.state, down = e.state;
      up.x[i] += 1e-6;
      down.x[i] -= 1e-6;
      const double slope = (elastic_potential(e.model, up) - elastic_potential(e.model, down)) / 2e-6;
      EXPECT_NEAR(f[i], -slope, 1e-6 * f.norm()) << i;
    }
  }
}

TEST(ElasticForces, HaveTheDerivativesThatTheyGive) {
  // Bending's second derivative leaves out the change of its gradients: thin enough that it does not show here.
  for (Scene scene : all_scenes(0.01)) {
    if (auto* sheet = std::get_if<ElasticSheet>(&scene.solids[0])) sheet->thickness = 1e-6;
    Elastic e(scene);
    shake(e.state, 0.03, 0, 2);
    const MatX K = e.derivative(e.state, 0, 1, false), D = e.derivative(e.state, 1, 0, false);
    EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm());
    EXPECT_LT((D - D.transpose()).norm(), 1e-12 * D.norm());
    for (Eigen::Index i = 0; i < e.state.x.size(); ++i) {
      State up = e.state, down = e.state;
      up.x[i] += 1e-6;
      down.x[i] -= 1e-6;
      EXPECT_LT((K.col(i) - (e.force(up) - e.force(down)) / 2e-6).norm(), 1e-6 * K.norm()) << i;
      up = down = e.state;
      up.u[i] += 1e-3;
      down.u[i] -= 1e-3;
      EXPECT_LT((D.col(i) - (e.force(up) - e.force(down)) / 2e-3).norm(), 1e-9 * D.norm()) << i;
    }
  }
}

TEST(ElasticForces, AreNothingAtRestHoweverTurned) {
  const Quat turn(Eigen::AngleAxisd(1.3, Vec3(1, -2, 0.5).normalized()));
  for (const Scene& scene : all_scenes(0)) {
    Elastic e(scene);
    for (int k = 0; k < e.state.particles(); ++k)
      e.state.x.segment<3>(3 * k) = turn * Vec3(e.state.particle_position(k)) + Vec3(0.3, 2, -1);
    // Against a strain of one, whose forces are the scale.
    State strained = e.state;
    strained.x *= 2;
    EXPECT_LT(e.force(e.state).norm(), 1e-13 * e.force(strained).norm());
  }
}

TEST(ElasticForces, CarryUniformStrainExactlyOnAnyMesh) {
  // The patch test: corners inside are moved at random before the elements are made; under x -> G x + c nothing acts on them.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const char* law : {"neo_hookean", "corotated"}) {
    Scene scene = block_scene(law, 0, {4, 4, 4});
    ParticleGroup group = build(scene.solids[0]);
    std::vector<int> inside;
    for (std::size_t k = 0; k < group.positions.size(); ++k) {
      const Vec3 at = group.positions[k];
      if (at.minCoeff() < 1e-9 || at.x() > 0.4 - 1e-9 || at.y() > 0.3 - 1e-9 || at.z() > 0.2 - 1e-9) continue;
      inside.push_back(static_cast<int>(k));
      group.positions[k] += 0.01 * Vec3(number(random), number(random), number(random));
    }
    ASSERT_EQ(inside.size(), 8u);
    scene.solids.clear();
    scene.add_particles(group);
    Elastic e(scene);
    Mat3 G = Mat3::Identity();
    for (double& x : G.reshaped()) x += 0.3 * number(random);
    for (int k = 0; k < e.state.particles(); ++k) e.state.x.segment<3>(3 * k) = G * Vec3(e.state.particle_position(k));
    const VecX f = e.force(e.state);
    const double largest = f.cwiseAbs().maxCoeff();
    for (const int k : inside) EXPECT_LT(f.segment<3>(3 * k).norm(), 1e-13 * largest) << law;
    // And the energy is that of the strain times the volume.
    if (law != std::string("neo_hookean")) continue;
    const double mu = 2e4 / (2 * 1.35), lambda = 2e4 * 0.35 / (1.35 * 0.3), J = G.determinant() - 1;
    const double density = 0.5 * mu * (G.squaredNorm() - 3) - mu * J + 0.5 * (lambda + mu) * J * J;
    EXPECT_NEAR(elastic_potential(e.model, e.state), 0.4 * 0.3 * 0.2 * density, 1e-12 * density);
  }
}

TEST(ElasticForces, PositiveMatricesArePositiveEvenInsideOut) {
  for (const Scene& scene : all_scenes(0.01))
    for (const double by : {0.05, 0.3}) {  // the latter turns elements inside out
      Elastic e(scene);
      shake(e.state, by, 0, 3);
      const MatX K = -e.derivative(e.state, 0.1, 1, true);
      ASSERT_TRUE(K.allFinite());
      const VecX values = symmetric_eigenvalues(0.5 * (K + K.transpose()));
      EXPECT_GT(values.minCoeff(), -1e-10 * values.maxCoeff());
    }
}

TEST(ElasticForces, HookesLawWhereStrainsAreSmall) {
  // Uniaxial stress: lengthened by e, narrowed by nu e, the energy per volume is E e^2 / 2, in both laws.
  for (const char* law : {"neo_hookean", "corotated"}) {
    Elastic e(block_scene(law));
    const double strain = 1e-4;
    for (int k = 0; k < e.state.particles(); ++k)
      e.state.x.segment<3>(3 * k).array() *= Vec3(1 + strain, 1 - 0.35 * strain, 1 - 0.35 * strain).array();
    EXPECT_NEAR(elastic_potential(e.model, e.state) / (0.5 * 2e4 * strain * strain * 0.4 * 0.3 * 0.2), 1, 3e-4) << law;
  }
}

TEST(ElasticForces, ViscosityTakesEnergyAndLeavesTurningAlone) {
  for (const Scene& scene : all_scenes(0.02)) {
    Elastic e(scene);
    shake(e.state, 0.03, 0, 4);
    const VecX elastic = e.force(e.state);
    for (unsigned seed = 0; seed < 20; ++seed) {
      State s = e.state;
      shake(s, 0, 1, 10 + seed);
      EXPECT_LT((e.force(s) - elastic).dot(s.u), 0);
    }
    State turning = e.state;
    for (int k = 0; k < turning.particles(); ++k)
      turning.u.segment<3>(3 * k) = Vec3(0.3, -1, 2).cross(Vec3(turning.particle_position(k))) + Vec3(1, 2, 3);
    EXPECT_LT((e.force(turning) - elastic).norm(), 1e-12 * elastic.norm());
  }
}

TEST(ElasticForces, SheetBendsAsAPlateInAllDirections) {
  // A sheet bent to a weak quadratic surface has the energy of a plate, D/2 ((1 - nu) |S|^2 + nu tr(S)^2) per area, but for a
  // rim.
  constexpr int n = 41;
  Scene scene;
  scene.add(ElasticSheet{.name = "sheet",
                         .along_x = {1, 0, 0},
                         .along_y = {0, 1, 0},
                         .columns = n,
                         .rows = n,
                         .thickness = 0.01,
                         .material = {.youngs_modulus = 1e6, .poisson_ratio = 0.3}});
  Elastic e(scene);
  const double D = 1e6 * 1e-6 / (12 * (1 - 0.09));
  for (const double angle : {0.0, 0.4, 0.785398, 1.2, 2.3}) {
    State s = e.state;
    const double curvature = 1e-3;
    for (int k = 0; k < s.particles(); ++k) {
      const double along = std::cos(angle) * s.x[3 * k] + std::sin(angle) * s.x[3 * k + 1];
      s.x[3 * k + 2] = 0.5 * curvature * along * along;
    }
    double bending = 0;
    for (const BendingTriangle& triangle : e.model.forces.elements.bendings) {
      Vec3 a = Vec3::Zero();
      for (std::size_t q = 0; q < 3; ++q) {
        if (triangle.hinges[q] < 0) continue;
        const std::array<int, 4>& c = e.model.forces.elements.hinges[triangle.hinges[q]].corners;
        a[static_cast<Eigen::Index>(q)] =
            Dihedral(s.particle_position(c[0]), s.particle_position(c[1]), s.particle_position(c[2]), s.particle_position(c[3]))
                .angle;
      }
      bending += 0.5 * a.dot(triangle.stiffness * a);
    }
    EXPECT_NEAR(bending / (0.5 * D * curvature * curvature), 1, 0.06) << angle;  // of 40 cells, the rim's are half free
  }
}

}  // namespace
}  // namespace rotule
