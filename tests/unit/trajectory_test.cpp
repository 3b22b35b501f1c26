// Recordings: what is written reads back, by this program and by h5py; what fails leaves nothing.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <Eigen/LU>

#include "base/stage_clock.h"
#include "base/workspace.h"
#include "model/solver_list.h"
#include "problem/operators.h"
#include "record/problem_file.h"
#include "record/trajectory.h"
#include "solve/solve.h"
#include "support/files.h"
#include "support/impulses.h"

namespace rotule {
namespace {

namespace fs = std::filesystem;

using testing::Folder;
using testing::span;

TrajectoryFrame random_frame(std::mt19937_64& random, std::size_t bodies, std::size_t joints) {
  std::normal_distribution<double> normal;
  const std::size_t contacts = random() % 4;
  TrajectoryFrame f;
  for (const Quantity& q : quantities) {
    if (!is_recorded(q)) continue;
    const std::size_t things = q.per == Per::body       ? bodies
                               : q.per == Per::joint    ? joints
                               : q.per == Per::particle ? 0
                               : q.per == Per::contact  ? contacts
                                                        : 1;
    f.values[index_of(q)].resize(things * static_cast<std::size_t>(q.components));
    for (double& x : f.values[index_of(q)]) x = normal(random);
  }
  return f;
}

void expect_equal(const TrajectoryFrame& a, const TrajectoryFrame& b) {
  for (const Quantity& q : quantities) EXPECT_EQ(a.values[index_of(q)], b.values[index_of(q)]) << q.key;
}

TEST(Trajectory, ReadsBackToTheSameBits) {
  const Folder folder("trajectory_round_trip");
  for (const std::size_t joints : {std::size_t{3}, std::size_t{0}})
    for (const int count : {0, 1, 64, 150}) {  // none, less than a chunk, a whole one, two and a bit
      const std::string path = folder.path / "run.h5";
      std::mt19937_64 random(3);
      std::vector<TrajectoryFrame> frames;
      const std::vector<std::string> joint_names(joints, "j\xc3\xa9");
      TrajectoryWriter writer(path, "{\"rotule\": 1}", Recipe{}, {"a", "b"}, joint_names);
      for (int i = 0; i < count; ++i) writer.append(frames.emplace_back(random_frame(random, 2, joints)));
      EXPECT_EQ(folder.files(), 1);  // only the one beside
      EXPECT_FALSE(fs::exists(path));
      writer.finish();
      EXPECT_EQ(folder.files(), 1);

      const TrajectoryReader reader(path);
      ASSERT_EQ(reader.frames(), frames.size());
      EXPECT_EQ(reader.body_names(), (std::vector<std::string>{"a", "b"}));
      EXPECT_EQ(reader.joint_names(), joint_names);
      EXPECT_EQ(reader.scene(), "{\"rotule\": 1}");
      for (std::size_t i = 0; i < frames.size(); ++i) expect_equal(reader.frame(i), frames[i]);
      EXPECT_THROW(static_cast<void>(reader.frame(frames.size())), Error);
      fs::remove(path);
    }
}

TEST(Trajectory, WithoutFinishNothingIsLeft) {
  const Folder folder("trajectory_unfinished");
  std::mt19937_64 random(3);
  {
    TrajectoryWriter writer(folder.path / "run.h5", "", Recipe{}, {"a"}, {});
    writer.append(random_frame(random, 1, 0));
    EXPECT_THROW(writer.append(random_frame(random, 2, 0)), Error);
  }
  EXPECT_EQ(folder.files(), 0);
}

TEST(Trajectory, PlacesThatCannotBeWrittenOrRead) {
  const Folder folder("trajectory_bad_places");
  EXPECT_THROW(TrajectoryWriter(folder.path / "missing" / "run.h5", "", Recipe{}, {}, {}), Error);
  EXPECT_THROW(TrajectoryWriter(folder.path, "", Recipe{}, {}, {}), Error);
  EXPECT_THROW(TrajectoryReader(folder.path / "none.h5"), Error);
  EXPECT_THROW(TrajectoryReader(folder.path.string()), Error);
  std::ofstream(folder.path / "text.h5") << "not HDF5";
  EXPECT_THROW(TrajectoryReader(folder.path / "text.h5"), Error);
  { ProblemWriter(folder.path / "problems.h5", "", "", {}).finish(); }
  EXPECT_THROW(TrajectoryReader(folder.path / "problems.h5"), Error);
}

// In a process of its own: the limit on file sizes stands for a disk that fills up in the middle of a run.
TEST(Trajectory, AFullDiskGivesAnErrorAndLeavesNothing) {
  const Folder folder("trajectory_full_disk");
  const auto run_out_of_space = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = 3;
    try {
      std::mt19937_64 random(3);
      TrajectoryWriter writer(folder.path / "run.h5", "", Recipe{}, {"a", "b", "c"}, {"j"});
      for (int i = 0; i < 5000; ++i) writer.append(random_frame(random, 3, 1));
      writer.finish();
    } catch (const Error& error) {
      status = std::string(error.what()).find("run.h5: ") != std::string::npos ? 0 : 4;
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::exit(status);
  };
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(run_out_of_space(), ::testing::ExitedWithCode(0), "File too large");
  EXPECT_EQ(folder.files(), 0);
}

TEST(Trajectory, H5pyReadsIt) {
  const Folder folder("trajectory_h5py");
  std::mt19937_64 random(3);
  TrajectoryWriter writer(folder.path / "run.h5", "{\"rotule\": 1}", recipes::realtime(), {"a", "b\xc3\xa9"}, {"j"});
  for (int i = 0; i < 100; ++i) {
    TrajectoryFrame frame = random_frame(random, 2, 1);
    frame.number("time") = i;
    frame["position"][3] = 10 * i;
    writer.append(frame);
  }
  writer.finish();
  std::ofstream(folder.path / "read.py") << R"(import sys
try: import h5py
except ImportError: sys.exit(77)
f = h5py.File(sys.argv[1], "r")
assert f.attrs["format"] == "rotule trajectory" and f.attrs["version"] == 1
assert f.attrs["scene"] == '{"rotule": 1}' and "semi_implicit_euler" in f.attrs["recipe"]
assert list(f["body_names"].asstr()) == ["a", "b\u00e9"] and list(f["joint_names"].asstr()) == ["j"]
assert f["time"].shape == (100,) and f["time"][42] == 42
assert f["position"].shape == (100, 2, 3) and f["position"][7, 1, 0] == 70
assert f["orientation"].shape == (100, 2, 4) and f["joint_force"].shape == (100, 1, 3) and f["joint_error"].shape == (100, 1)
assert f["energy/kinetic"].shape == (100,) and f["momentum/angular"].shape == (100, 3) and f["residual"].shape == (100,)
assert f["position"].attrs["units"] == "m" and f["position"].compression == "gzip" and f["position"].shuffle
for name in ("velocity", "angular_velocity", "joint_torque", "energy/potential", "momentum/linear"):
    assert f[name].attrs["description"]
)";
  const int status =
      std::system(("/usr/bin/python3 " + (folder.path / "read.py").string() + " " + (folder.path / "run.h5").string()).c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) GTEST_SKIP() << "python3-h5py is not there";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A chain of three bodies on the ground, two of whose rows are bounded.
ConstraintProblem small_problem(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  ConstraintProblem p;
  p.blocks = {{0, 3, -1, 0, 0}, {3, 3, 0, 1, 1}, {6, 2, 1, 2, 2}};
  p.resize(3, 8);
  for (Mat6& m : p.inverse_mass) m = Vec6(Vec6::Random().cwiseAbs() + Vec6::Ones()).asDiagonal();
  for (auto* v : {&p.b, &p.x0})
    for (double& x : *v) x = normal(random);
  for (auto* J : {&p.J_a, &p.J_b})
    for (int i = 0; i < J->size(); ++i) J->data()[i] = normal(random);
  p.C.setConstant(1e-3);
  p.lower[6] = 0;
  p.friction = {{7, 1, 6, false, 0.5}};
  p.h = 1.0 / 60;
  return p;
}

TEST(ProblemFile, ReadsBackAndCanBeSolvedAgain) {
  const Folder folder("problem_file");
  const std::string path = folder.path / "problems.h5";
  std::mt19937_64 random(5);
  const ConstraintProblem p = small_problem(random);
  ConstraintProblem bilateral = p;
  bilateral.friction.clear();
  bilateral.lower.setConstant(-infinity);
  MatX A(p.rows(), p.rows());
  VecX scratch(6 * p.bodies());
  for (int i = 0; i < p.rows(); ++i) {
    const VecX unit = VecX::Unit(p.rows(), i);
    VecX column(p.rows());
    multiply(p, span(unit), {scratch.data(), static_cast<std::size_t>(scratch.size())},
             {column.data(), static_cast<std::size_t>(column.size())});
    A.col(i) = column;
  }
  const VecX x = A.fullPivLu().solve(p.b);
  ProblemWriter writer(path, "{}", "{}", {"j0", "j1", "j2"});
  writer.append(0, 0.5, 0, p, span(x));
  writer.append(0, 0.5, 1, bilateral, span(x));
  writer.finish();

  EXPECT_EQ(recorded_frames(path), std::vector<std::int64_t>{0});
  EXPECT_EQ(recorded_islands(path, 0), 2);
  const RecordedProblem back = read_problem(path, 0, 0);
  EXPECT_EQ(back.time, 0.5);
  EXPECT_EQ(back.problem.h, p.h);
  EXPECT_EQ(back.problem.blocks, p.blocks);
  EXPECT_EQ(back.problem.J_a, p.J_a);
  EXPECT_EQ(back.problem.J_b, p.J_b);
  EXPECT_EQ(back.problem.b, p.b);
  EXPECT_EQ(back.problem.C, p.C);
  EXPECT_EQ(back.problem.lower, p.lower);
  EXPECT_EQ(back.problem.upper, p.upper);
  EXPECT_EQ(back.problem.x0, p.x0);
  EXPECT_EQ(back.x, x);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back.problem.inverse_mass[i], p.inverse_mass[i]);
  ASSERT_EQ(back.problem.friction.size(), 1u);
  EXPECT_EQ(back.problem.friction[0].normal_row, 6);
  EXPECT_FALSE(back.problem.friction[0].cone);
  EXPECT_EQ(back.problem.friction[0].mu, 0.5);

  // Another solver, given the file alone, finds the recorded answer.
  const RecordedProblem again = read_problem(path, 0, 1);
  VecX y(x.size());
  Workspace workspace;
  SolveReport report;
  solve(again.problem, solver_named("ldlt"), workspace, {y.data(), static_cast<std::size_t>(y.size())}, report);
  EXPECT_LT((y - x).norm(), 1e-9 * x.norm());
  EXPECT_THROW(read_problem(path, 1, 0), Error);
}

TEST(ProblemFile, KeepsBodiesBeyondTwo) {
  const Folder folder("problem_file_more");
  const std::string path = folder.path / "problems.h5";
  std::mt19937_64 random(6);
  ConstraintProblem p = small_problem(random);
  p.blocks[1].more_count = 1;  // blocks 1 and 2 act on a third body as well
  p.blocks[2].first_more = 1;
  p.blocks[2].more_count = 1;
  p.more = {{2, 0}, {0, 3}};
  p.J_more.setRandom(5, 6);
  ASSERT_NO_THROW(validate(p));
  const VecX x = VecX::Zero(p.rows());
  ProblemWriter writer(path, "{}", "{}", {"j0", "j1", "j2"});
  writer.append(0, 0.5, 0, p, span(x));
  writer.finish();
  const RecordedProblem back = read_problem(path, 0, 0);
  EXPECT_EQ(back.problem.blocks, p.blocks);
  EXPECT_EQ(back.problem.more, p.more);
  EXPECT_EQ(back.problem.J_more, p.J_more);
}

}  // namespace
}  // namespace rotule
