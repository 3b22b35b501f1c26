// Particles give the same bits whatever the number of threads.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cmath>

#include "dynamics/forces/gravitation.h"
#include "linalg/block_conjugate_gradients.h"

namespace rotule {
namespace {

TEST(Particles, GravitationDoesNotDependOnThreadsAndMeetsThePlainSum) {
  constexpr int n = 1001;
  Attractors first;
  for (const int threads : {1, 2, 5}) {
    Attractors a;
    a.resize(n);
    for (int i = 0; i < n; ++i) {
      a.x[i] = std::sin(3.7 * i);
      a.y[i] = std::sin(5.1 * i + 1);
      a.z[i] = std::cos(1.3 * i);
      a.mass[i] = 1 + 0.5 * std::sin(i);
    }
    attract(a, 2.0, 0.05, threads);
    attract_potential(a, 2.0, 0.05, threads);
    if (threads == 1) {
      first = a;
      for (const int i : {0, 500, 1000}) {
        Vec3 g = Vec3::Zero();
        double V = 0;
        for (int j = 0; j < n; ++j) {
          const Vec3 r(a.x[j] - a.x[i], a.y[j] - a.y[i], a.z[j] - a.z[i]);
          const double d = std::sqrt(r.squaredNorm() + 0.05 * 0.05);
          g += 2 * a.mass[j] / (d * d * d) * r;
          if (j != i) V -= 2 * a.mass[j] / d;
        }
        EXPECT_LT((Vec3(a.gx[i], a.gy[i], a.gz[i]) - g).norm(), 1e-11 * g.norm());
        EXPECT_NEAR(a.potential[i], V, 1e-11 * std::abs(V));
      }
      continue;
    }
    EXPECT_EQ(a.gx, first.gx);
    EXPECT_EQ(a.gy, first.gy);
    EXPECT_EQ(a.gz, first.gz);
    EXPECT_EQ(a.potential, first.potential);
  }
}

/// A square mesh of springs between neighbours, with a little mass.
Block3Matrix mesh(int side, double mass) {
  std::vector<std::array<int, 2>> pairs;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      if (i + 1 < side) pairs.push_back({j * side + i, j * side + i + 1});
      if (j + 1 < side) pairs.push_back({j * side + i, (j + 1) * side + i});
    }
  Block3Matrix A;
  A.analyse(side * side, pairs);
  for (int i = 0; i < side * side; ++i) A.add(A.diagonal(i), mass * Mat3::Identity());
  for (const auto& [i, j] : pairs) {
    const Vec3 n = Vec3(1, 0.3 * (j - i == 1), 0.2 + 0.1 * std::sin(i)).normalized();
    const Mat3 K = 0.2 * Mat3::Identity() + n * n.transpose();
    A.add(A.diagonal(i), K);
    A.add(A.diagonal(j), K);
    A.add(A.find(i, j), -K);
    A.add(A.find(j, i), -K);
  }
  return A;
}

TEST(Particles, ConjugateGradientsDoNotDependOnThreads) {
  for (const int side : {20, 100}) {  // without and with multigrid
    const Block3Matrix A = mesh(side, 1e-3);
    const VecX b = VecX::LinSpaced(3 * side * side, -1, 1).array().sin();
    VecX first;
    for (const int threads : {1, 3}) {
      ConjugateGradients cg;
      cg.prepare(A, threads);
      VecX x, Ax(b.size());
      const ConjugateGradientsReport report = cg.solve(A, b, 1e-10, 5000, threads, x);
      EXPECT_TRUE(report.converged);
      A.multiply(x, Ax, threads);
      EXPECT_LT((Ax - b).norm(), 2e-10 * b.norm());
      if (threads == 1) {
        first = x;
      } else {
        EXPECT_EQ(x, first);
      }
    }
  }
}

TEST(Particles, MultigridKeepsIterationsNearlyConstant) {
  int small = 0, large = 0;
  for (const int side : {60, 240}) {
    const Block3Matrix A = mesh(side, 1e-4);
    const VecX b = VecX::LinSpaced(3 * side * side, -1, 1).array().sin();
    ConjugateGradients cg;
    cg.prepare(A, 1);
    VecX x;
    (side == 60 ? small : large) = cg.solve(A, b, 1e-8, 5000, 1, x).iterations;
  }
  EXPECT_LT(large, 2 * small) << small << " -> " << large;
}

TEST(Particles, AClothStepsTheSameOnAnyNumberOfThreads) {
  std::uint64_t hash = 0;
  for (const int threads : {1, 4}) {
    Scene scene;
    scene.add(Cloth{.columns = 12, .rows = 12, .damping = 0.01, .pinned = {"x0y0"}});
    scene.add(Gravitation{.constant = 1e-3, .softening = 0.1});
    scene.recipe.threads = threads;
    scene.recipe.dt = 1e-4;
    World world(scene);
    for (int i = 0; i < 20; ++i) world.step();
    if (threads == 1) hash = world.state_hash();
    EXPECT_EQ(world.state_hash(), hash);
  }
}

}  // namespace
}  // namespace rotule
