// What stops a solver has no units: the same problem in other units of length, mass and time takes the same iterations to the
// same residual, by every solver; what is large elsewhere in the island hides nothing; and a row is held to what it can do.
#include <gtest/gtest.h>
#include <rotule/solvers/block_gauss_seidel.h>

#include <string>

#include "model/solver_list.h"
#include "solve/solve.h"
#include "support/contact_problems.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::ContactScene;

struct ProblemUnits {
  double length = 1, mass = 1, time = 1;  // how many new units make an old one
};

/// The same problem, told in other units. Rows without a part along a line are of turning: their w is 1/time.
ConstraintProblem in_units(const ConstraintProblem& p, const ProblemUnits& to) {
  ConstraintProblem out = p;
  const double speed = to.length / to.time, turn = 1 / to.time, energy = to.mass * speed * speed;
  const double inertia = to.mass * to.length * to.length;
  for (Mat6& W : out.inverse_mass) {
    W.topLeftCorner<3, 3>() /= to.mass;
    W.bottomRightCorner<3, 3>() /= inertia;
    W.topRightCorner<3, 3>() /= to.mass * to.length;
    W.bottomLeftCorner<3, 3>() /= to.mass * to.length;
  }
  for (const ConstraintBlock& block : p.blocks) {
    const auto turns = [&](int r) {
      return (block.body_a < 0 || p.J_a.row(r).head<3>().isZero(0)) && (block.body_b < 0 || p.J_b.row(r).head<3>().isZero(0));
    };
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const double unit = turns(r) ? turn : speed;
      for (JacobianRows* J : {&out.J_a, &out.J_b}) {
        J->row(r).head<3>() *= unit / speed;
        J->row(r).tail<3>() *= unit / turn;
      }
      out.b[r] *= unit;
      out.C[r] *= unit * unit / energy;
      out.lower[r] *= energy / unit;
      out.upper[r] *= energy / unit;
      out.x0[r] *= energy / unit;
    }
  }
  for (FrictionRows& f : out.friction)
    if (p.J_a.row(f.first_row).head<3>().isZero(0) || p.J_b.row(f.first_row).head<3>().isZero(0)) f.mu *= to.length;
  return out;
}

struct UnitsOutcome {
  int iterations;
  double residual;
  bool converged;
};
UnitsOutcome units_outcome(const ConstraintProblem& p, const SolverChoice& settings) {
  VecX x(p.rows());
  Workspace workspace;
  SolveReport report;
  const std::span<double> view(x.data(), static_cast<std::size_t>(x.size()));
  solve(p, settings, workspace, view, report);
  EXPECT_NEAR(report.residual, residual(p, view).scale_free, 1e-6 * report.residual + 1e-13);
  return {report.iterations, report.residual, report.converged};
}

/// Nine ways to tell it: each unit alone up and down, all three, and small things of the laboratory.
std::vector<ProblemUnits> systems_of_units(double big) {
  return {{big, 1, 1},     {1 / big, 1, 1}, {1, big, 1},       {1, 1 / big, 1},        {1, 1, big},
          {1, 1, 1 / big}, {big, big, big}, {1 / big, big, 1}, {big, 1 / big, 1 / big}};
}

struct UnitsCase {
  std::string name;
  ConstraintProblem problem;
  bool cone;
};
std::vector<UnitsCase> units_cases() {
  std::vector<UnitsCase> out;
  for (const bool cone : {true, false}) {
    const testing::ContactLaw law{.mu = 0.6, .cone = cone};
    const std::string kind = cone ? " cone" : " box";
    out.push_back({"pile" + kind, testing::sphere_pile(20, law, 3, 1), cone});
    out.push_back({"pile that rolls" + kind,
                   testing::sphere_pile(10, {.mu = 0.6, .cone = cone, .torsional = 0.02, .rolling = 0.01}, 5), cone});
    out.push_back({"stack" + kind, testing::box_stack(5, law), cone});
    out.push_back({"chain" + kind, testing::chain_on_floor(6, law), cone});
    out.push_back({"arm" + kind, testing::jointed_arm(5, law), cone});
  }
  return out;
}

class ScaleFree : public ::testing::TestWithParam<SolverChoice> {};

// ProblemUnits that are powers of four change no mantissa, and neither do their roots: sweeps may not differ in a bit. Factors of
// whole systems pick pivots by size, and their last steps end somewhere in the rounding: those take as many, but for a few.
TEST_P(ScaleFree, SameIterationsInAllUnits) {
  const SolverTraits traits = GetParam().traits();
  SolverChoice settings = GetParam();
  if (int* most = settings.find<int>("max_iterations")) *most = std::min(*most, 400);
  for (const UnitsCase& c : units_cases()) {
    if (c.cone ? !traits.cone : !traits.box) continue;
    // Its blocks of rows of sliding and of turning are inverted together, by pivots that compare both.
    if (settings.name() == "interior_point" && c.name.find("rolls") != std::string::npos) continue;
    const UnitsOutcome here = units_outcome(c.problem, settings);
    for (const ProblemUnits& to : systems_of_units(std::ldexp(1.0, 20))) {
      const UnitsOutcome there = units_outcome(in_units(c.problem, to), settings);
      const std::string where =
          c.name + ", units " + std::to_string(to.length) + ' ' + std::to_string(to.mass) + ' ' + std::to_string(to.time);
      if (settings.family() == "sweep" || settings.family() == "gradient") {
        EXPECT_EQ(there.iterations, here.iterations) << where;
        EXPECT_NEAR(there.residual, here.residual, 1e-6 * here.residual) << where;
      } else {
        EXPECT_EQ(there.converged, here.converged) << where;
        if (here.converged) {
          EXPECT_NEAR(there.iterations, here.iterations, 3 + 0.1 * here.iterations) << where;
        }
      }
    }
  }
}

std::vector<SolverChoice> scale_free_solvers() {
  std::vector<SolverChoice> out;
  for (const SolverChoice& settings : testing::all_solvers())
    if (settings.traits().bounds) out.push_back(settings);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ScaleFree, ::testing::ValuesIn(scale_free_solvers()),
                         [](const auto& info) { return std::string(info.param.name()); });

// Decimal units round differently; sweeps take as many iterations but for one or two.
TEST(ScaleFreeJudge, MillionsAndMillionths) {
  for (const UnitsCase& c : units_cases()) {
    const UnitsOutcome here = units_outcome(c.problem, BlockGaussSeidelSettings{.max_iterations = 400});
    for (const ProblemUnits& to : systems_of_units(1e6)) {
      const UnitsOutcome there = units_outcome(in_units(c.problem, to), BlockGaussSeidelSettings{.max_iterations = 400});
      EXPECT_NEAR(there.iterations, here.iterations, 2) << c.name;
      EXPECT_NEAR(there.residual, here.residual, 1e-3 * here.residual + 1e-12) << c.name;
    }
  }
}

/// A resting heap of small balls, one of which touches a block that a bullet hits.
ConstraintProblem heap_and_bullet() {
  ContactScene scene;
  const auto ball = [&](double x, double z) { return scene.add_sphere(0.01, 0.1, Vec3(x, 0, z)); };
  const int a = ball(0, 0.1), b = ball(0.2, 0.1), c = ball(0.1, 0.1 + 0.1 * std::sqrt(3.0));
  for (const int i : {a, b}) scene.add_contact(-1, i, scene.body(i).position - Vec3(0, 0, 0.1), Vec3::UnitZ());
  for (const int i : {a, b}) {
    const Vec3 from = scene.body(i).position, to = scene.body(c).position;
    scene.add_contact(i, c, 0.5 * (from + to), to - from);
  }
  scene.add_contact(a, b, Vec3(0.1, 0, 0.1), Vec3::UnitX());
  const int block = scene.add_box(10, Vec3::Constant(0.1), Vec3(0.4, 0, 0.1));
  testing::add_face_contacts(scene, -1, block, Vec3(0.4, 0, 0), 0.1, 0.1);
  scene.add_contact(b, block, Vec3(0.3, 0, 0.1), Vec3::UnitX());
  const int bullet = scene.add_sphere(0.01, 0.005, Vec3(0.4, 0.105, 0.1), Vec3(0, -5000, 0));
  scene.add_contact(block, bullet, Vec3(0.4, 0.1, 0.1), Vec3::UnitY());
  return scene.problem();
}

TEST(ScaleFreeJudge, TheLargeDoesNotHideTheSmall) {
  const ConstraintProblem p = heap_and_bullet();
  VecX x(p.rows());
  Workspace workspace;
  SolveReport report;
  const std::span<double> view(x.data(), static_cast<std::size_t>(x.size()));
  solve(p, automatic_solver(1e-10), workspace, view, report);
  ASSERT_TRUE(report.converged);
  EXPECT_LE(residual(p, view).scale_free, 1e-10);
  // The floor's push on the first ball, changed by a thousandth: seen as about that, while over |b| it vanishes.
  VecX off = x;
  off[0] *= 1.001;
  const Residual seen = residual(p, {off.data(), static_cast<std::size_t>(off.size())});
  EXPECT_GT(seen.scale_free, 1e-4);
  EXPECT_LT(seen.relative, 1e-6);
}

// Two islands in one problem are judged as badly as the worse of them alone.
TEST(ScaleFreeJudge, NothingDependsOnWhatElseThereIs) {
  ContactScene both, one;
  for (ContactScene* scene : {&both, &one}) {
    const int ball = scene->add_sphere(1, 0.5, Vec3(0, 0, 0.5));
    scene->add_contact(-1, ball, Vec3::Zero(), Vec3::UnitZ());
  }
  for (int i = 1; i < 20; ++i) {
    const int ball = both.add_sphere(1, 0.5, Vec3(2.0 * i, 0, 0.5));
    both.add_contact(-1, ball, Vec3(2.0 * i, 0, 0), Vec3::UnitZ());
  }
  const ConstraintProblem p = one.problem(), q = both.problem();
  VecX x = VecX::Zero(p.rows()), y(q.rows());
  Workspace workspace;
  SolveReport report;
  solve(q, BlockGaussSeidelSettings{.tolerance = 1e-14}, workspace, {y.data(), static_cast<std::size_t>(y.size())}, report);
  x = 0.9 * y.head(p.rows());
  y.head(p.rows()) = x;
  const double alone = residual(p, {x.data(), static_cast<std::size_t>(x.size())}).scale_free;
  EXPECT_NEAR(residual(q, {y.data(), static_cast<std::size_t>(y.size())}).scale_free, alone, 1e-4 * alone);
}

// A motor asked for far more than its strength allows must give all its strength: nothing at all is not an answer.
TEST(ScaleFreeJudge, AWeakMotorGivesWhatItHas) {
  ContactScene scene;
  const double strength = 0.5 * scene.h;
  const int wheel = scene.add_box(1, Vec3(0.2, 0.05, 0.2), Vec3::Zero());
  scene.add_hinge(-1, wheel, Vec3::Zero(), Vec3::UnitY());
  scene.add_angular_row(-1, wheel, Vec3::UnitY(), -strength, strength, 1e5);
  const ConstraintProblem p = scene.problem();
  const VecX nothing = VecX::Zero(p.rows());
  EXPECT_GT(residual(p, {nothing.data(), static_cast<std::size_t>(nothing.size())}).scale_free, 0.1);
  for (const double tolerance : {1e-3, 1e-8}) {
    VecX x(p.rows());
    Workspace workspace;
    SolveReport report;
    solve(p, automatic_solver(tolerance), workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
    EXPECT_TRUE(report.converged);
    EXPECT_NEAR(std::abs(x[p.rows() - 1]), strength, 1e-12);
  }
}

// Jaws that squeeze a weightless bar: no velocity changes, and the answer can still be told from others.
TEST(ScaleFreeJudge, SqueezedBodies) {
  ContactScene scene;
  scene.gravity.setZero();
  scene.law.mu = 0;
  const int left = scene.add_box(1, Vec3::Constant(0.1), Vec3(-0.2, 0, 0)),
            bar = scene.add_box(0.01, Vec3::Constant(0.1), Vec3::Zero()),
            right = scene.add_box(1, Vec3::Constant(0.1), Vec3(0.2, 0, 0));
  scene.body(left).velocity = Vec3(1, 0, 0);
  scene.body(right).velocity = Vec3(-1, 0, 0);
  scene.add_contact(left, bar, Vec3(-0.1, 0, 0), Vec3::UnitX());
  scene.add_contact(bar, right, Vec3(0.1, 0, 0), Vec3::UnitX());
  const ConstraintProblem p = scene.problem();
  VecX x(p.rows());
  Workspace workspace;
  SolveReport report;
  solve(p, solver_named("nncg"), workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
  EXPECT_TRUE(report.converged);
  EXPECT_NEAR(x[0], 1, 1e-7);
  EXPECT_NEAR(x[3], 1, 1e-7);
}

}  // namespace
}  // namespace rotule
