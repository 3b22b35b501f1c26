// Radau IIA of order 5 where answers are known: orders, stiff decay, the stiff governor, the free top, and impacts.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <numbers>

#include "integrate/adaptive/adaptive.h"
#include "integrate/adaptive/tableau_5.h"
#include "integrate/adaptive/tableau_8.h"
#include "linalg/decompositions.h"
#include "support/elliptic.h"
#include "support/mechanisms.h"

namespace rotule {
namespace {

using testing::vector;

struct StiffState {
  VecX q, u;
};

/// q'' = f(t, q, u) in a vector space, with errors relative to one in each component and derivatives by differences.
struct StiffFlow {
  using State = StiffState;
  std::function<VecX(double, const VecX&, const VecX&)> f;
  VecX q_scale, u_scale;
  double tolerance = 1e-6;
  int evaluations = 0, unconverged = 0;
  MatX D = {}, K = {};

  void accelerations(double t, const State& s, VecX& out) {
    ++evaluations;
    out = f(t, s.q, s.u);
  }
  void displace(const State& base, const VecX& x, State& out) const { out.q = base.q + x; }
  void rate(const VecX&, const VecX& u, VecX& out) const { out = u; }
  void difference(const State& s, const State& base, VecX& out) const { out = s.q - base.q; }
  void begin_inner_step(const State&, double) {}
  void settle(const State&, double) {}
  void error_scale(const State&, const VecX&, double, Pace&) {}
  [[nodiscard]] double error_norm(const VecX& q, const VecX& u) const {
    return std::max(q.cwiseQuotient(q_scale).cwiseAbs().maxCoeff(), u.cwiseQuotient(u_scale).cwiseAbs().maxCoeff()) / tolerance;
  }
  [[nodiscard]] double longest_step(const State&) const { return 1e9; }
  void unconverged_step() { ++unconverged; }
  [[nodiscard]] double error(const State& a, const State& b) const { return tolerance * error_norm(a.q - b.q, a.u - b.u); }

  void separate(double t, const State& s, double) {
    const Eigen::Index n = s.u.size();
    D.resize(n, n);
    K.resize(n, n);
    const auto column = [&](const VecX& at, Eigen::Index j, const std::function<VecX(const VecX&)>& value) -> VecX {
      VecX plus = at, minus = at;
      const double d = 1e-6 * std::max(1.0, std::abs(at[j]));
      plus[j] += d;
      minus[j] -= d;
      return (value(plus) - value(minus)) / (2 * d);
    };
    for (Eigen::Index j = 0; j < n; ++j) {
      D.col(j) = column(s.u, j, [&](const VecX& u) { return f(t, s.q, u); });
      K.col(j) = column(s.q, j, [&](const VecX& q) { return f(t, q, s.u); });
    }
  }
  void solve_separated(double a, const VecX& r, VecX& out) const {
    out = lu_solve(MatX::Identity(r.size(), r.size()) - a * D - a * a * K, r);
  }
  void solve_separated(std::complex<double> a, const VecXc& r, VecXc& out) const {
    using Matrix = Eigen::MatrixXcd;
    const Matrix A =
        Matrix::Identity(r.size(), r.size()) - a * D.cast<std::complex<double>>() - a * a * K.cast<std::complex<double>>();
    out = A.partialPivLu().solve(r);
  }
};

StiffFlow stiff_orbit() {
  return {.f = [](double, const VecX& q, const VecX&) -> VecX { return -q / std::pow(q.norm(), 3); },
          .q_scale = vector({1, 1}),
          .u_scale = vector({1, 1})};
}

/// The orbit of eccentricity e and semi-major axis 1 (period 2 pi), from the perihelion, by Kepler's equation.
StiffState kepler_orbit(double e, double t) {
  double E = t;
  for (int i = 0; i < 50; ++i) E -= (E - e * std::sin(E) - t) / (1 - e * std::cos(E));
  const double b = std::sqrt(1 - e * e), rate = 1 / (1 - e * std::cos(E));
  return {vector({std::cos(E) - e, b * std::sin(E)}), vector({-std::sin(E) * rate, b * std::cos(E) * rate})};
}

struct RadauResult {
  double error, estimate, between;
};

RadauResult radau_step(double h) {
  StiffFlow m = stiff_orbit();
  m.tolerance = 1e-13;
  RadauStep<StiffFlow> step;
  const StagePolynomial none;
  const StiffState s = kepler_orbit(0.3, 1);
  StiffState middle;
  VecX a;
  m.accelerations(0, s, a);
  step.begin(s, a, none, true);
  const double estimate = step.attempt(
      m, s, 0, h, [&](const VecX& q, const VecX& u) { return m.error_norm(q, u); }, infinity);
  step.interpolate(m, s, 0.5, middle);
  return {m.error(step.end(), kepler_orbit(0.3, 1 + h)), m.tolerance * estimate, m.error(middle, kepler_orbit(0.3, 1 + h / 2))};
}

TEST(Radau, OneStepErrsWithOneOrderMoreAndTheEstimateWithFour) {
  const RadauResult coarse = radau_step(0.1), fine = radau_step(0.05);
  EXPECT_NEAR(std::log2(coarse.error / fine.error), 6, 0.2);
  EXPECT_NEAR(std::log2(coarse.estimate / fine.estimate), 4, 0.3);
  EXPECT_NEAR(std::log2(coarse.between / fine.between), 4, 0.4);
  EXPECT_GT(fine.estimate, fine.error);
}

TEST(Radau, ItsEigenvectorsAreThoseOfTheTableau) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < 3; ++k) product += Radau5::a[i][k] * Radau5::inverse[k][j];
      EXPECT_NEAR(product, i == j, 1e-14);
      const double sum = Radau5::real_eigenvalue * Radau5::real_right[i] * Radau5::real_left[j] +
                         2 * (Radau5::eigenvalue * Radau5::right[i] * Radau5::left[j]).real();
      EXPECT_NEAR(sum, Radau5::inverse[i][j], 1e-13);
    }
}

template <class Tableau, class M>
typename M::State follow_stiff(M& m, typename M::State s, double duration, double tolerance, std::int64_t* steps = nullptr) {
  m.tolerance = tolerance;
  Adaptive<M, Tableau> method(ErrorControl{.relative_tolerance = tolerance});
  method.advance(m, s, 0, duration);
  if (steps) *steps = method.steps;
  return s;
}

TEST(Radau, MeetsTheToleranceOnAnOrbitOfEccentricityNineTenths) {
  const double duration = 3 * std::numbers::pi;
  for (double tolerance = 1e-3; tolerance > 0.5e-11; tolerance /= 10) {
    StiffFlow m = stiff_orbit();
    EXPECT_LT(m.error(follow_stiff<Radau5>(m, kepler_orbit(0.9, 0), duration, tolerance), kepler_orbit(0.9, duration)),
              10 * tolerance)
        << tolerance;
    EXPECT_EQ(m.unconverged, 0);
  }
}

TEST(Radau, FollowsASlowMotionThroughFastDecay) {
  // Prothero and Robinson: q'' = g'' - L (u - g') - L (q - g) has the answer g = sin t, whatever L. Neither error nor steps may
  // grow with it.
  for (double tolerance = 1e-4; tolerance > 0.5e-10; tolerance /= 10) {
    std::int64_t fewest = 1000000, most = 0;
    for (const double L : {1e2, 1e4, 1e6, 1e8}) {
      StiffFlow m{.f = [L](double t, const VecX& q, const VecX& u) -> VecX {
                    return vector({-std::sin(t) - L * (u[0] - std::cos(t)) - L * (q[0] - std::sin(t))});
                  },
                  .q_scale = vector({1}),
                  .u_scale = vector({1})};
      std::int64_t steps = 0;
      const StiffState end = follow_stiff<Radau5>(m, {vector({0}), vector({1})}, 3, tolerance, &steps);
      EXPECT_LT(m.error(end, {vector({std::sin(3.0)}), vector({std::cos(3.0)})}), 10 * tolerance) << L << ", " << tolerance;
      fewest = std::min(fewest, steps);
      most = std::max(most, steps);
    }
    EXPECT_LT(most, 2 * fewest) << tolerance;
  }
}

TEST(Radau, FollowsASlowMotionOfAStiffSpringWithoutDamping) {
  for (double tolerance = 1e-4; tolerance > 0.5e-10; tolerance /= 10)
    for (const double stiffness : {1e2, 1e4}) {
      StiffFlow m{.f = [stiffness](double t, const VecX& q, const VecX&) -> VecX {
                    return vector({-stiffness * (q[0] - std::cos(t)) - std::cos(t)});
                  },
                  .q_scale = vector({1}),
                  .u_scale = vector({1})};
      const StiffState end = follow_stiff<Radau5>(m, {vector({1}), vector({0})}, 5, tolerance);
      EXPECT_LT(m.error(end, {vector({std::cos(5.0)}), vector({-std::sin(5.0)})}), 20 * tolerance)
          << stiffness << ", " << tolerance;
    }
}

/// A ball that falls on the ground and bounces.
struct StiffBall : StiffFlow {
  double restitution = 0.8;
  std::vector<double> impacts = {};
  int late = 0;

  [[nodiscard]] bool has_events() const { return true; }
  [[nodiscard]] double event(const StiffState& s, double h) const { return std::max(s.q[0], h * s.u[0]); }
  void strike(StiffState& s, double t) {
    impacts.push_back(t);
    if (s.u[0] < 0) s.u[0] *= -restitution;
  }
  void late_event() { ++late; }
};

TEST(Radau, ImpactsAreLocatedInTime) {
  // Air that resists makes the fall no polynomial: u' = -10 - u, so that q = 1 - 11 ... by the closed form below.
  StiffBall m;
  m.f = [](double, const VecX&, const VecX& u) -> VecX { return vector({-10 - u[0]}); };
  m.q_scale = m.u_scale = vector({1});
  follow_stiff<Radau5>(m, {vector({1}), vector({0})}, 0.7, 1e-9);
  // q(t) = 1 - 10 (t - 1 + e^-t).
  double t = 0.45;
  for (int i = 0; i < 50; ++i) t -= (1 - 10 * (t - 1 + std::exp(-t))) / (-10 * (1 - std::exp(-t)));
  ASSERT_FALSE(m.impacts.empty());
  EXPECT_NEAR(m.impacts[0], t, 1e-8);
  EXPECT_EQ(m.impacts.size(), 1u);
  EXPECT_EQ(m.late, 0);
}

/// Euler's free top with error control.
struct StiffTop : testing::FreeTop {
  double tolerance = 1e-6;
  MatX D = {}, K = {};
  void begin_inner_step(const State&, double) {}
  void settle(const State&, double) {}
  void error_scale(const State&, const VecX&, double, Pace&) {}
  [[nodiscard]] double error_norm(const VecX& sigma, const VecX& u) const { return std::max(sigma.norm(), u.norm()) / tolerance; }
  [[nodiscard]] double longest_step(const State& s) const { return 3 / s.u.norm(); }
  void unconverged_step() {}
  void separate(double t, const State& s, double) {
    D = MatX::Zero(3, 3);
    K = MatX::Zero(3, 3);
    VecX plus, minus;
    State moved = s;
    for (int j = 0; j < 3; ++j) {
      const VecX d = 1e-5 * VecX::Unit(3, j);
      moved.u = s.u + d;
      accelerations(t, moved, plus);
      moved.u = s.u - d;
      accelerations(t, moved, minus);
      D.col(j) = (plus - minus) / 2e-5;
      moved.u = s.u;
      displace(s, d, moved);
      accelerations(t, moved, plus);
      displace(s, -d, moved);
      accelerations(t, moved, minus);
      K.col(j) = (plus - minus) / 2e-5;
      moved = s;
    }
  }
  void solve_separated(double a, const VecX& r, VecX& out) const { out = lu_solve(MatX::Identity(3, 3) - a * D - a * a * K, r); }
  void solve_separated(std::complex<double> a, const VecXc& r, VecXc& out) const {
    const Eigen::MatrixXcd A =
        Eigen::MatrixXcd::Identity(3, 3) - a * D.cast<std::complex<double>>() - a * a * K.cast<std::complex<double>>();
    out = A.partialPivLu().solve(r);
  }
};

TEST(Radau, MeetsTheToleranceOnTheFreeTop) {
  // Landau and Lifshitz, Mechanics, section 37: for L^2 > 2 E B the components along the axes of A < B < C are multiples of cn,
  // sn and dn.
  const double A = 1, B = 2, C = 3.5, duration = 5;
  const Vec3 w0(0.8, 0, 1.5);
  const double E2 = A * w0.x() * w0.x() + C * w0.z() * w0.z();
  const double L2 = A * A * w0.x() * w0.x() + C * C * w0.z() * w0.z();
  ASSERT_GT(L2, E2 * B);
  const double rate = std::sqrt((C - B) * (L2 - E2 * A) / (A * B * C));
  const double k = std::sqrt((B - A) * (E2 * C - L2) / ((C - B) * (L2 - E2 * A)));
  const Jacobi j = jacobi(rate * duration, k);
  const double middle = std::sqrt((E2 * C - L2) / (B * (C - B)));
  const Vec3 exact(w0.x() * j.cn, middle * j.sn, w0.z() * j.dn);
  for (double tolerance = 1e-3; tolerance > 0.5e-10; tolerance /= 10) {
    StiffTop m;
    testing::TopState s;
    s.u = w0;
    s = follow_stiff<Radau5>(m, s, duration, tolerance);
    const Vec3 found = s.theta.conjugate() * Vec3(s.u);
    EXPECT_LT((found.cwiseAbs() - exact.cwiseAbs()).norm(), 10 * tolerance) << tolerance;
    const Vec3 L = Vec3(A * w0.x(), 0, C * w0.z());
    EXPECT_LT((s.theta * Vec3(A * found.x(), B * found.y(), C * found.z()) - L).norm(), 10 * tolerance * L.norm()) << tolerance;
  }
}

}  // namespace
}  // namespace rotule
