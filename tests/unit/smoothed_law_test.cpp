// The smoothed laws of contact: their derivatives are those of difference quotients, and as the smoothing falls their zeros
// become those of the judge.
#include <gtest/gtest.h>

#include <random>

#include "problem/operators.h"
#include "solve/newton/smoothed_law.h"

namespace rotule {
namespace {

/// One block of six rows: normal, sliding, torsional and rolling friction, each a cone or a box; or rows with bounds.
struct LawBlock {
  ConstraintProblem problem;
  std::vector<BlockSet> sets;
  double rho[6];
};

LawBlock contact(bool cone, double mu) {
  LawBlock out;
  out.problem.resize(0, 6);
  out.problem.blocks = {{.first_row = 0, .rows = 6}};
  out.problem.lower[0] = 0;
  out.problem.friction = {{1, 2, 0, cone, mu}, {3, 1, 0, cone, 0.1}, {4, 2, 0, cone, 0.2}};
  classify(out.problem, out.sets);
  double A[36] = {};
  for (int r = 0; r < 6; ++r) A[7 * r] = 0.5 + r;
  choose_common_rho(out.problem, out.problem.blocks[0], out.sets[0], A, out.rho);
  return out;
}

LawBlock bounds() {
  LawBlock out;
  out.problem.resize(0, 4);
  out.problem.blocks = {{.first_row = 0, .rows = 4}};
  out.problem.lower << -1, -infinity, 0, -infinity;
  out.problem.upper << 2, 0.5, infinity, infinity;
  classify(out.problem, out.sets);
  for (double& r : out.rho) r = 0.7;
  return out;
}

struct Values {
  double F[6] = {}, T[36] = {}, E[36] = {}, F_t[6] = {};
};

Values law(const LawBlock& b, const double* x, const double* w, double t) {
  Values out;
  // tau = 0.3 exp(-2 t)
  const Smoothing at{.tau = 0.3 * std::exp(-2 * t), .tau_rate = -0.6 * std::exp(-2 * t), .unit = 1.3};
  smoothed_law(b.problem, b.problem.blocks[0], b.sets[0], x, w, b.rho, at, {out.F, out.T, out.E, out.F_t});
  return out;
}

TEST(SmoothedLaw, DerivativesAreThoseOfDifferenceQuotients) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 1);
  constexpr double step = 1e-6;
  for (const LawBlock& b : {contact(true, 0.8), contact(false, 0.8), contact(true, 0), bounds()}) {
    const int n = b.problem.rows();
    for (int trial = 0; trial < 50; ++trial) {
      double x[6], w[6];
      for (int r = 0; r < 6; ++r) x[r] = normal(random), w[r] = normal(random);
      const double t = 0.5 * trial / 50;
      const Values at = law(b, x, w, t);
      const auto compare = [&](const Values& plus, const Values& minus, auto entry, const char* what) {
        for (int r = 0; r < n; ++r)
          EXPECT_NEAR((plus.F[r] - minus.F[r]) / (2 * step), entry(r), 1e-7) << what << " row " << r << " trial " << trial;
      };
      for (int c = 0; c < n; ++c) {
        const auto moved = [&](double* v, double by) {
          const double was = v[c];
          v[c] += by;
          const Values out = law(b, x, w, t);
          v[c] = was;
          return out;
        };
        compare(
            moved(x, step), moved(x, -step), [&](int r) { return at.T[r * n + c]; }, "T");
        compare(
            moved(w, step), moved(w, -step), [&](int r) { return at.E[r * n + c]; }, "E");
      }
      compare(
          law(b, x, w, t + step), law(b, x, w, t - step), [&](int r) { return at.F_t[r]; }, "F_t");
    }
  }
}

// Impulse and velocity that obey Coulomb's law (open, sticking, sliding) are zeros of the law without smoothing, others not.
TEST(SmoothedLaw, WithoutSmoothingItsZerosAreCoulombs) {
  const LawBlock b = contact(true, 0.5);
  const auto size_of_F = [&](const double(&x)[6], const double(&w)[6]) {
    Values out;
    smoothed_law(b.problem, b.problem.blocks[0], b.sets[0], x, w, b.rho, {}, {out.F, out.T, out.E, out.F_t});
    double sum = 0;
    for (const double f : out.F) sum += std::abs(f);
    return sum;
  };
  EXPECT_LT(size_of_F({0, 0, 0, 0, 0, 0}, {1, 2, -3, 4, 5, 6}), 1e-14);           // leaving
  EXPECT_LT(size_of_F({2, 0.5, 0.3, 0.1, 0.2, 0.1}, {0, 0, 0, 0, 0, 0}), 1e-14);  // sticking
  EXPECT_LT(size_of_F({2, -0.6, 0.8, 0.2, 0, 0}, {0, 3, -4, -1, 0, 0}), 1e-14);   // sliding and spinning
  EXPECT_GT(size_of_F({2, 0.6, -0.8, 0, 0, 0}, {0, 3, -4, 0, 0, 0}), 0.1);        // friction along the slip
  EXPECT_GT(size_of_F({2, 0.1, 0, 0, 0, 0}, {0, -1, 0, 0, 0, 0}), 0.1);           // sliding with too little friction
  EXPECT_GT(size_of_F({1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}), 0.1);              // pushing while leaving
  EXPECT_GT(size_of_F({0, 0, 0, 0, 0, 0}, {-1, 0, 0, 0, 0, 0}), 0.1);             // sinking in
}

}  // namespace
}  // namespace rotule
