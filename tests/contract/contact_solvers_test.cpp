// What every solver of bounds and contact must do, whatever its method: meet the residual that it promises or say that it did
// not, give the motion that physics fixes, start from what it is given, refuse laws that it does not know, and allocate nothing
// twice. Loops over all solvers that there are.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <string>

#include "record/fclib_file.h"
#include "solve/solve.h"
#include "support/allocation_counter.h"
#include "support/contact_problems.h"
#include "support/impulses.h"
#include "support/source_dir.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::ContactCase;
using testing::motion;

bool takes(const SolverChoice& settings, const ContactCase& c) {
  const SolverTraits traits = settings.traits();
  return traits.bounds && (!c.box || traits.box) && (!c.cone || traits.cone);
}

std::vector<SolverChoice> contact_solvers() {
  std::vector<SolverChoice> out;
  for (const SolverChoice& settings : testing::all_solvers())
    if (settings.traits().bounds) out.push_back(settings);
  return out;
}

/// Methods whose point is another than accuracy: they may end above their tolerance on any problem, and must say so.
bool is_rough(const SolverChoice& settings) {
  const std::string_view name = settings.name();
  return name == "shock_propagation" || name == "jacobi" || name == "admm" || name == "interior_point" || name == "pgs_sm";
}

double tolerance_of(SolverChoice settings) {
  const double* tolerance = settings.find<double>("tolerance");
  return tolerance ? std::max(*tolerance, 1e-15) : 1e-8;
}

/// Sweeps may take all the time that they need; methods that count in tens keep their own limit.
SolverChoice patient(SolverChoice settings, double tolerance = 0) {
  if (auto* its_own = settings.find<double>("tolerance"); its_own && tolerance > 0) *its_own = tolerance;
  if (int* most = settings.find<int>("max_iterations"); most && *most >= 1000) *most = 300000;
  return settings;
}

struct Answer {
  VecX x;
  SolveReport report;
  double residual = 0;
};

Answer answer_of(const ConstraintProblem& p, const SolverChoice& settings) {
  Answer out;
  out.x.resize(p.rows());
  Workspace workspace;
  const std::span<double> x(out.x.data(), static_cast<std::size_t>(out.x.size()));
  solve(p, settings, workspace, x, out.report);
  out.residual = residual(p, x).scale_free;
  return out;
}

/// D4 word for word, on the dense matrix, until nothing changes.
VecX plain_pgs(const ConstraintProblem& p) {
  Delassus delassus;
  delassus.assemble(p);
  MatX A;
  delassus.to_dense(A);
  std::vector<const FrictionRows*> friction(p.rows());
  for (const FrictionRows& f : p.friction)
    for (int r = f.first_row; r < f.first_row + f.count; ++r) friction[r] = &f;
  VecX x = VecX::Zero(p.rows());
  for (int k = 0; k < 200000; ++k) {
    const VecX before = x;
    for (int i = 0; i < p.rows(); ++i) {
      const double limit = friction[i] ? friction[i]->mu * x[friction[i]->normal_row] : 0;
      const double delta = (p.b[i] - (A.row(i).dot(x) - A(i, i) * x[i])) / A(i, i);
      x[i] = std::clamp(delta, friction[i] ? -limit : p.lower[i], friction[i] ? limit : p.upper[i]);
    }
    if ((x - before).norm() <= 1e-15 * x.norm()) break;
  }
  return x;
}

class ContactSolvers : public ::testing::TestWithParam<SolverChoice> {};

TEST_P(ContactSolvers, MeetTheirPromiseOrSayThatTheyDidNot) {
  for (const ContactCase& c : testing::contact_cases()) {
    if (!takes(GetParam(), c)) continue;
    SCOPED_TRACE(c.name);
    const SolverChoice settings = patient(GetParam());
    const Answer answer = answer_of(c.problem, settings);
    EXPECT_TRUE(answer.x.allFinite());
    EXPECT_NEAR(answer.report.residual, answer.residual, 1e-6 * answer.residual + 1e-13);
    EXPECT_EQ(answer.report.converged, answer.residual <= tolerance_of(settings) * (1 + 1e-6));
    if (!c.hard && !is_rough(settings)) {
      EXPECT_TRUE(answer.report.converged) << answer.residual << " after " << answer.report.iterations;
    }
  }
}

TEST_P(ContactSolvers, StickBelowTheFrictionAngleAndSlideAboveIt) {
  for (const double angle : {0.1, 0.46, 0.47, 0.8})  // atan(0.5) = 0.4636
    for (int i = 0; i < 16; ++i) {
      const testing::SlopeProblem slope = testing::block_on_slope(angle, {.mu = 0.5}, 2 * M_PI * i / 16);
      if (!takes(GetParam(), {.name = "", .problem = {}, .cone = true})) GTEST_SKIP() << "knows no cones";
      const Answer answer = answer_of(slope.problem, patient(GetParam()));
      const VecX u = motion(slope.problem, answer.x);
      const double h = slope.problem.h;
      const Vec3 pull = 9.81 * h * (-std::cos(angle) * Vec3::UnitZ() + std::sin(angle) * slope.downhill);
      const Vec3 velocity = u.head<3>() + pull;
      if (answer.report.converged) {
        const double allowed = std::max(1e-6, 100 * tolerance_of(GetParam()));
        EXPECT_LT((velocity - slope.speed * slope.downhill).norm(), allowed * 9.81 * h) << angle << " " << i;
      }
      EXPECT_TRUE(answer.report.converged || is_rough(GetParam()));
    }
}

TEST_P(ContactSolvers, GiveTheMotionOfPlainGaussSeidel) {
  for (const ContactCase& c : testing::contact_cases()) {
    if (!takes(GetParam(), c) || c.cone || c.hard || c.problem.has_matrix() || is_rough(GetParam())) continue;
    // Friction may allow more than one motion; these problems have one.
    if (c.name != "no_friction_box" && c.name != "block_box" && c.name != "pile_20_box" && c.name != "no_contact_arm" &&
        c.name != "sliding_block_box" && c.name != "soft_ball_box")
      continue;
    SCOPED_TRACE(c.name);
    const VecX expected = motion(c.problem, plain_pgs(c.problem));
    const Answer answer = answer_of(c.problem, patient(GetParam()));
    EXPECT_LT((motion(c.problem, answer.x) - expected).norm(), 1e-5 * expected.norm());
  }
}

TEST_P(ContactSolvers, StartFromWhatTheyAreGiven) {
  if (GetParam().traits().exact) GTEST_SKIP() << "ends in finitely many steps from anywhere";
  for (const ContactCase& c : testing::contact_cases()) {
    if (!takes(GetParam(), c) || c.hard) continue;
    SCOPED_TRACE(c.name);
    ConstraintProblem p = c.problem;
    const SolverChoice settings = patient(GetParam());
    const Answer first = answer_of(p, settings);
    if (!first.report.converged) continue;
    p.x0 = first.x;
    const Answer second = answer_of(p, settings);
    EXPECT_TRUE(second.report.converged);
    // The one that chooses takes a start that passes further than it was asked to, by its last sweeps and steps.
    EXPECT_LE(second.report.iterations, GetParam().holds<AutoSettings>() ? 14 : 2);
    EXPECT_LT((second.x - first.x).norm(), 1e-6 * (1e-12 + first.x.norm()));
  }
}

TEST_P(ContactSolvers, AllocateNothingTheSecondTime) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  if (GetParam().holds<HomotopySettings>()) GTEST_SKIP() << "Eigen's sparse LU allocates at each factor";
  for (const ContactCase& c : testing::contact_cases()) {
    if (!takes(GetParam(), c)) continue;
    SCOPED_TRACE(c.name);
    Workspace workspace;
    SolveReport report;
    std::vector<double> x(c.problem.rows());
    try {
      solve(c.problem, GetParam(), workspace, x, report);
    } catch (const Error&) {
      continue;  // it does not take problems of this form
    }
    const std::size_t before = testing::allocations();
    solve(c.problem, GetParam(), workspace, x, report);
    EXPECT_EQ(testing::allocations(), before);
  }
}

TEST_P(ContactSolvers, RefuseLawsThatTheyDoNotKnow) {
  const std::string name(GetParam().name());
  for (const ContactCase& c : testing::contact_cases()) {
    if (takes(GetParam(), c)) continue;
    SCOPED_TRACE(c.name);
    try {
      answer_of(c.problem, GetParam());
      ADD_FAILURE() << "took it";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("solver " + name + ": ", 0), 0u) << error.what();
    }
  }
}

TEST_P(ContactSolvers, DoNotLetNonsenseOut) {
  ConstraintProblem p = testing::box_stack(2, {.cone = GetParam().traits().cone});
  if (!GetParam().traits().box && !GetParam().traits().cone) GTEST_SKIP() << "knows no friction";
  p.b[3] = std::nan("");
  EXPECT_THROW(answer_of(p, GetParam()), Error);
}

TEST_P(ContactSolvers, TakeAnEmptyProblem) {
  ConstraintProblem p;
  p.resize(0, 0);
  const Answer answer = answer_of(p, GetParam());
  EXPECT_TRUE(answer.report.converged);
}

INSTANTIATE_TEST_SUITE_P(All, ContactSolvers, ::testing::ValuesIn(contact_solvers()),
                         [](const auto& param) { return std::string(param.param.name()); });

TEST(ContactSolvers, SolveTheFilesOfFclib) {
  // Honest on every file, and at least one of them at 1e-8.
  for (const char* file :
       {"Capsules-i125-1213", "LMGC_100_PR_PerioBox-i00361-60-03000", "Spheres-i099-356-679", "local_problem_test"}) {
    SCOPED_TRACE(file);
    const ConstraintProblem p = read_fclib(testing::source_dir() + "/data/fclib/" + file + ".hdf5");
    int accurate = 0;
    for (const SolverChoice& settings : contact_solvers()) {
      if (!settings.traits().cone) continue;
      SCOPED_TRACE(std::string(settings.name()));
      try {
        const Answer answer = answer_of(p, settings);
        EXPECT_NEAR(answer.report.residual, answer.residual, 1e-6 * answer.residual + 1e-13);
        EXPECT_EQ(answer.report.converged, answer.residual <= tolerance_of(settings) * (1 + 1e-6));
        accurate += answer.residual <= 1e-8;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).rfind("solver ", 0), 0u) << error.what();
      }
    }
    EXPECT_GE(accurate, 1);
  }
}

}  // namespace
}  // namespace rotule
