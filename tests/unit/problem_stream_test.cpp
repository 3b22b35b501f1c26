// Recorded problems: what is read is what was solved, to the bit; a file whose writer was killed can be read, one that is damaged
// is refused.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solvers/pgs.h>
#include <rotule/world.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/spans.h"
#include "linalg/decompositions.h"
#include "model/solver_list.h"
#include "problem/features.h"
#include "problem/operators.h"
#include "record/fclib_file.h"
#include "record/hdf5_file.h"
#include "record/problem_file.h"
#include "scenes/builders.h"
#include "solve/solve.h"
#include "support/contact_problems.h"
#include "support/files.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Folder;

VecX zeros(const ConstraintProblem& p) { return VecX::Zero(p.rows()); }
std::span<const double> span_of(const VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

TEST(ProblemStream, ARecordedProblemIsSolvedToTheSameBits) {
  const Folder folder("same_bits");
  const std::string path = folder.path / "problems.h5";
  for (const SolverChoice& solver :
       {automatic_solver(1e-8), SolverChoice(PgsSettings{.relaxation = automatic_relaxation, .tolerance = 1e-5})}) {
    Scene scene = scenes::tower(6);
    Recipe recipe = recipe_for(scene, Dial::balanced);
    recipe.solver = solver;
    World world(scene, recipe);
    world.keep_problems(true);
    ProblemWriter writer(path, "{}", "{}", {});
    std::vector<std::vector<double>> answers;
    for (int step = 0; step < 20; ++step) {
      world.step();
      ASSERT_EQ(world.islands(), 1);
      writer.append(step, world.time(), 0, world.problem(0), world.multipliers(0));
      answers.emplace_back(world.multipliers(0).begin(), world.multipliers(0).end());
    }
    writer.finish();
    for (int step = 0; step < 20; ++step) {
      const RecordedProblem recorded = read_problem(path, step, 0);
      std::vector<double> x(answers[step].size());
      Workspace workspace;
      SolveReport report;
      solve(recorded.problem, solver, workspace, x, report);
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(x, answers[step]) << solver.name() << ", step " << step;
    }
  }
}

// What a problem has in common with the one before is written once; both are read as they were.
TEST(ProblemStream, WritesWhatRepeatsOnce) {
  const Folder folder("repeats");
  const std::string path = folder.path / "problems.h5";
  std::vector<ConstraintProblem> problems(4, testing::sphere_pile(20));
  problems[1].b *= 2;                     // the same bounds, blocks, bodies and friction
  problems[2].C[0] = 0.1;                 // another compliance, which is kept with the bounds
  problems[3] = testing::jointed_arm(4);  // another problem altogether
  ProblemWriter writer(path, "", "", {});
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const std::vector<double> x(static_cast<std::size_t>(problems[k].rows()), 0.5 * static_cast<double>(k));
    writer.append(static_cast<std::int64_t>(k), 0, 0, problems[k], x);
  }
  writer.finish();
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const RecordedProblem back = read_problem(path, static_cast<std::int64_t>(k), 0);
    EXPECT_EQ(back.problem.b, problems[k].b);
    EXPECT_EQ(back.problem.lower, problems[k].lower);
    EXPECT_EQ(back.problem.upper, problems[k].upper);
    EXPECT_EQ(back.problem.C, problems[k].C);
    EXPECT_EQ(back.problem.blocks.size(), problems[k].blocks.size());
    EXPECT_EQ(back.problem.friction.size(), problems[k].friction.size());
    EXPECT_EQ(back.problem.inverse_mass, problems[k].inverse_mass);
  }
  const Hdf5File file = Hdf5File::open(path);
  const auto rows = [](const ConstraintProblem& p) { return static_cast<Hdf5Size>(p.rows()); };
  EXPECT_EQ(file.shape("/b")[0], 3 * rows(problems[0]) + rows(problems[3]));
  EXPECT_EQ(file.shape("/lower")[0], 2 * rows(problems[0]) + rows(problems[3]));
  EXPECT_EQ(file.shape("/inverse_mass")[0], problems[0].inverse_mass.size() + problems[3].inverse_mass.size());
}

TEST(ProblemStream, AKilledWriterLeavesWhatItWrote) {
  const Folder folder("killed");
  const std::string path = folder.path / "problems.h5";
  const ConstraintProblem p = testing::sphere_pile(60);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ProblemWriter writer(path, "{}", "{}", {});
    const VecX x = zeros(p);
    for (std::int64_t frame = 0;; ++frame) writer.append(frame, 0.1 * static_cast<double>(frame), 0, p, span_of(x));
  }
  // In the midst of its work, a good while after the file is there.
  for (int tenths = 0; tenths < 300 && !std::filesystem::exists(path); ++tenths) ::usleep(100'000);
  ::usleep(700'000);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const std::vector<std::int64_t> frames = recorded_frames(path);
  ASSERT_GT(frames.size(), 10u);
  for (const std::int64_t frame : {frames.front(), frames[frames.size() / 2], frames.back()}) {
    const RecordedProblem back = read_problem(path, frame, 0);
    EXPECT_EQ(back.problem.blocks, p.blocks);
    EXPECT_EQ(back.problem.b, p.b);
    EXPECT_EQ(back.time, 0.1 * static_cast<double>(frame));
  }
}

TEST(ProblemStream, CanBeReadWhileItIsWritten) {
  const Folder folder("meanwhile");
  const std::string path = folder.path / "problems.h5";
  const ConstraintProblem p = testing::brick_wall(8, 8);
  ProblemWriter writer(path, "{}", "{}", {});
  for (int frame = 0; frame < 80; ++frame) writer.append(frame, frame, 0, p, span_of(zeros(p)));
  const std::vector<std::int64_t> frames = recorded_frames(path);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(read_problem(path, frames.back(), 0).problem.b, p.b);
  writer.finish();
  EXPECT_EQ(recorded_frames(path).size(), 80u);
}

TEST(ProblemStream, RefusesWhatIsDamaged) {
  const Folder folder("damaged");
  const std::string path = folder.path / "problems.h5";
  const ConstraintProblem p = testing::sphere_pile(40);
  {
    ProblemWriter writer(path, "{}", "{}", {});
    for (int frame = 0; frame < 4; ++frame) writer.append(frame, frame, 0, p, span_of(zeros(p)));
    writer.finish();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    try {
      for (const std::int64_t frame : recorded_frames(path)) {
        const RecordedProblem back = read_problem(path, frame, 0);
        // What is read in spite of it must be what was written.
        EXPECT_EQ(back.problem.blocks, p.blocks);
        EXPECT_EQ(back.problem.inverse_mass[7], p.inverse_mass[7]);
        EXPECT_EQ(back.problem.b, p.b);
      }
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("problems.h5"), std::string::npos) << error.what();
      return true;
    }
    return false;
  };
  for (const double part : {0.0, 0.01, 0.3, 0.9, 0.999})
    EXPECT_TRUE(write(good.substr(0, static_cast<std::size_t>(part * static_cast<double>(good.size()))))) << part;
  EXPECT_TRUE(write("no HDF5 at all"));
  // Single bytes, everywhere: refused, or without effect.
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); at += good.size() / 150 + 1) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    refused += write(bad) ? 1 : 0;
  }
  EXPECT_GT(refused, 20);
}

// A file that somebody else made, or a hand changed: an array with more columns than it has is no list of more numbers.
TEST(ProblemStream, RefusesArraysWithOtherColumns) {
  const Folder folder("columns");
  const std::string path = folder.path / "problems.h5";
  const ConstraintProblem p = testing::sphere_pile(6);
  ProblemWriter writer(path, "{}", "{}", {});
  writer.append(0, 0, 0, p, span_of(zeros(p)));
  writer.finish();
  const Hdf5File whole = Hdf5File::open(path);
  for (const std::string& wide : {std::string("mu"), std::string("x"), std::string("b"), std::string("inverse_mass")}) {
    const std::string other = folder.path / (wide + ".h5");
    Hdf5File file = Hdf5File::create(other);
    file.attribute("/", "format", whole.text_attribute("/", "format"));
    file.attribute("/", "version", whole.number_attribute("/", "version"));
    for (const std::string& name : whole.names("/")) {
      if (name != wide) {
        file.copy(whole, "/" + name);
        continue;
      }
      const std::vector<double> values = whole.numbers("/" + name);
      const Hdf5Size rows = whole.shape("/" + name)[0], columns = 2 * values.size() / rows;
      file.write("/" + name, std::vector<double>(rows * columns, 1.0), {rows, columns});
    }
    file.finish();
    try {
      static_cast<void>(read_problem(other, 0, 0));
      FAIL() << wide;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/" + wide + " must have"), std::string::npos) << error.what();
    }
  }
}

TEST(ProblemStream, ReadsTheFormatsBefore) {
  // Version 3, in which every problem has bounds of its own: four steps of a sliding block.
  const std::string third = testing::source_dir() + "/tests/data/problems_version_3.h5";
  ASSERT_EQ(recorded_frames(third).size(), 4u);
  for (const std::int64_t frame : recorded_frames(third)) {
    const RecordedProblem recorded = read_problem(third, frame, 0);
    EXPECT_EQ(recorded.problem.rows(), 12);
    EXPECT_LT(residual(recorded.problem, {recorded.x.data(), 12}).scale_free, 1e-8);
  }
  // Version 2, a group per step and island.
  const std::string path = testing::source_dir() + "/data/jam/tripods.hdf5";
  const std::vector<std::int64_t> frames = recorded_frames(path);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(read_problem(path, frames[0], 0).problem.rows(), 75);
}

TEST(ProblemStream, FclibsFormatKeepsTheMotion) {
  const Folder folder("fclib");
  const std::string path = folder.path / "problem.hdf5";
  for (const ConstraintProblem& p : {testing::sphere_pile(20), testing::jointed_arm(4)}) {
    std::vector<double> x(static_cast<std::size_t>(p.rows()));
    Workspace workspace;
    SolveReport report;
    solve(p, automatic_solver(1e-10), workspace, x, report);
    try {
      write_fclib(path, "a test", p, x);
    } catch (const Error& error) {
      // Limits and motors are no part of the format: said, and nothing written.
      EXPECT_NE(std::string(error.what()).find("FCLIB"), std::string::npos);
      continue;
    }
    const ConstraintProblem back = read_fclib(path);
    ASSERT_EQ(back.rows(), p.rows());
    std::vector<double> y(x.size());
    solve(back, automatic_solver(1e-10), workspace, y, report);
    EXPECT_TRUE(report.converged);
    // w on the contacts is motion, the same for both; rows of contacts come first in the file.
    EXPECT_NEAR(residual(p, x).relative, 0, 1e-8);
    EXPECT_NEAR(residual(back, y).relative, 0, 1e-8);
    EXPECT_NEAR(back.b.norm(), p.b.norm(), 1e-12 * p.b.norm());
  }
  EXPECT_THROW(write_fclib(path, "boxes", testing::sphere_pile(5, {.cone = false}), {}), Error);
}

TEST(ProblemFeatures, SayWhatIsThere) {
  FeatureFinder finder;
  const ProblemFeatures pile = finder.find(testing::sphere_pile(40));
  EXPECT_EQ(pile.joint_rows, 0);
  EXPECT_EQ(pile.rows, 3 * pile.contacts);
  EXPECT_EQ(pile.bodies, 40);
  EXPECT_NEAR(pile.mass_ratio, 1, 1e-12);
  EXPECT_GT(pile.contacts_per_body, 1);
  const ProblemFeatures heavy = finder.find(testing::heavy_on_light(3, 1000));
  EXPECT_NEAR(heavy.mass_ratio, 1000, 1e-6);
  EXPECT_GT(heavy.diagonal_spread, 1);
  // The largest eigenvalue of the scaled matrix, by another way: never above, and near.
  for (const ConstraintProblem& p : {testing::box_stack(5), testing::chain_on_floor(8), testing::sphere_pile(20)}) {
    Eigen::MatrixXd A(p.rows(), p.rows());
    VecX velocities(6 * p.bodies()), column(p.rows());
    for (int c = 0; c < p.rows(); ++c) {
      const VecX unit = VecX::Unit(p.rows(), c);
      multiply(p, span_of(unit), view(velocities), view(column));
      A.col(c) = column;
    }
    const VecX scale = A.diagonal().cwiseSqrt().cwiseInverse();
    const double largest = symmetric_eigenvalues(scale.asDiagonal() * A * scale.asDiagonal()).maxCoeff();
    const double coupling = finder.find(p).coupling;
    EXPECT_LE(coupling, largest * (1 + 1e-12));
    EXPECT_GE(coupling, 0.4 * largest);
  }
  ConstraintProblem warm = testing::sphere_pile(10);
  EXPECT_EQ(finder.find(warm).activity, 0);
  warm.x0.setOnes();
  EXPECT_EQ(finder.find(warm).activity, 1);
}

}  // namespace
}  // namespace rotule
