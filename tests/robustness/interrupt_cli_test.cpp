// Ctrl-C and its like, wherever the program is; and outputs that must not take the place of devices and pipes.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "record/beside_file.h"
#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Result;
namespace fs = std::filesystem;

class InterruptCli : public testing::Cli {
 protected:
  /// Sends the signal after so many seconds; what the program takes from then on is in `answered`, s.
  Result interrupted(const std::string& arguments, const char* signal = "INT", double after = 0.7) {
    const auto begun = std::chrono::steady_clock::now();
    Result result = rotule(arguments, fmt::format("timeout --preserve-status -k 30 -s {} {}", signal, after));
    answered = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() - after;
    return result;
  }
  static std::size_t content_size(const fs::path& path) { return testing::content(path).size(); }
  double answered = 0;
  // s; on a machine that others use too, with the program's start and end. Who does not hear at all is killed after 30.
  static constexpr double soon = 10;
};

const std::string endless_step =
    "run brick_wall --set solver=pgs --set solver.tolerance=1e-300 --set solver.max_iterations=1000000000 ";

TEST_F(InterruptCli, AStepThatWouldNotEndIsBrokenOff) {
  for (const auto& [signal, status] : {std::pair("INT", 130), {"TERM", 143}, {"HUP", 129}}) {
    const Result result = interrupted(endless_step + "--record motion.h5", signal);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.err, "rotule: interrupted\n");
    EXPECT_EQ(result.out, "");
    EXPECT_LT(answered, soon);
    EXPECT_EQ(files(), 0);  // no step was done
  }
}

// `timeout` signals the program and then its group: whenever that is, one press it is, and nothing is left behind.
TEST_F(InterruptCli, OnePressThatArrivesTwiceIsOne) {
  for (const double after : {0.012, 0.016, 0.018, 0.02, 0.022, 0.025, 0.03, 0.05}) {
    const Result result = interrupted(endless_step + "--record motion.h5", "INT", after);
    EXPECT_EQ(result.status, 130) << after << "\n" << result.err;
    EXPECT_EQ(files(), 0) << after;
  }
}

TEST_F(InterruptCli, ARunEndsWithItsSummaryAndItsRecordingWhole) {
  const Result result = interrupted("run pendulum --duration 1e6 --record motion.h5 --json");
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_LT(answered, soon);
  const auto summary = nlohmann::json::parse(result.out);
  EXPECT_TRUE(summary["interrupted"].get<bool>());
  const auto steps = summary["steps"].get<std::int64_t>();
  EXPECT_GT(steps, 0);
  EXPECT_EQ(files(), 1);
  const Result exported = rotule("export motion.h5 --out motion.csv");
  ASSERT_EQ(exported.status, 0) << exported.err;
  const std::string table = testing::content(cwd() / "motion.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), steps + 2);  // a line of names, the start, and every step
  // As far as it came it is the run that it would have been.
  const Result whole = rotule(fmt::format("run pendulum --steps {} --json", steps));
  EXPECT_EQ(nlohmann::json::parse(whole.out)["state_hash"], summary["state_hash"]);
}

TEST_F(InterruptCli, EveryLongCommandHearsIt) {
  const std::string problems = "../in/problems.h5";
  ASSERT_EQ(rotule("run brick_wall --steps 1 --quiet --record-problems " + problems).status, 0);
  for (const std::string& command :
       {std::string("convergence mannequin --integrators rk4 --steps 100000000"), std::string("check n_four_bar_10000"),
        std::string("run mannequin --parareal 4 --duration 1e5"), std::string("run cloth_300 --relax --duration 1e6 --quiet"),
        "solve " + problems + " --solver jacobi --set solver.tolerance=1e-300 --set solver.max_iterations=1000000000",
        "solve " + problems + " --solver pgs --set solver.tolerance=1e-300 --set solver.max_iterations=1000000000 --limit 1000",
        "tournament " + problems + " --to 1e-12 --limit 1000"}) {
    const Result result = interrupted(command);
    EXPECT_EQ(result.status, 130) << command << "\n" << result.err;
    EXPECT_LT(answered, soon) << command;
    EXPECT_EQ(files(), 0) << command;
  }
}

// Text goes through pipes and devices of characters, HDF5 does not, and nothing takes their place.
TEST(WayToWrite, ByTypeOfWhatIsThere) {
  for (const bool streamed : {false, true}) {
    EXPECT_EQ(way_to_write(S_IFREG | 0644, streamed), WayToWrite::beside);
    EXPECT_EQ(way_to_write(S_IFDIR | 0755, streamed), WayToWrite::folder);
    EXPECT_EQ(way_to_write(S_IFBLK | 0600, streamed), WayToWrite::device);
    EXPECT_EQ(way_to_write(S_IFSOCK | 0600, streamed), WayToWrite::socket);
    for (const mode_t type : {S_IFIFO, S_IFCHR})
      EXPECT_EQ(way_to_write(type | 0666, streamed), streamed ? WayToWrite::through : WayToWrite::pipe);
  }
}

TEST_F(InterruptCli, DevicesAndPipesKeepTheirPlaces) {
  const std::string recording = "../in/motion.h5", problems = "../in/problems.h5";
  ASSERT_EQ(rotule("run pendulum --steps 10 --quiet --record " + recording + " --record-problems " + problems).status, 0);
  const fs::path in = cwd().parent_path() / "in", pipe = in / "pipe", socket = in / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  fs::create_symlink("pipe", in / "link");
  for (const char* special : {"pipe", "link", "socket"}) {
    const std::string kind = special == std::string("socket") ? "is a socket" : "is a pipe";
    for (const std::string& command :
         {std::string("run pendulum --steps 10 --record "), std::string("run pendulum --steps 10 --record-problems "),
          "solve " + problems + " --write "})
      expect_refusal(rotule(command + "../in/" + special), kind, command);
  }
  const std::string texts[] = {"tournament " + problems + " --solvers pgs --to 1e-2 --csv ", "plot " + recording + " --svg ",
                               "plot " + recording + " --html ", "report " + recording + " --out ",
                               "convergence pendulum --integrators rk4 --steps 10,20 --svg "};
  for (const std::string& command : texts) {
    expect_refusal(rotule(command + "../in/socket"), "is a socket", command);
    expect_refusal(rotule(command + "../in"), "is a folder", command);
    for (const char* special : {"pipe", "link"}) {
      const Result result = rotule(command + "../in/" + special, "{ timeout 20 cat ../in/pipe > ../in/came & } &&");
      EXPECT_EQ(result.status, 0) << command << result.err;
      for (int wait = 0; wait < 100 && content_size(in / "came") == 0; ++wait) ::usleep(20000);
      EXPECT_GT(content_size(in / "came"), 20u) << command;
      fs::remove(in / "came");
    }
  }
  for (const char* ending : {".pvd", ".h5"}) {  // the ending says what is to be written
    const fs::path named = pipe.string() + ending;
    fs::rename(pipe, named);
    const std::string command = ending == std::string(".pvd") ? "export " + recording + " --out ../in/pipe.pvd"
                                                              : "modes pendulum --state-space ../in/pipe.h5";
    expect_refusal(rotule(command), "is a pipe", ending);
    EXPECT_TRUE(fs::is_fifo(named));
    fs::rename(named, pipe);
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_socket(socket));
  EXPECT_EQ(fs::read_symlink(in / "link"), "pipe");
}

TEST_F(InterruptCli, ALinkToNothingYetStaysALink) {
  ASSERT_EQ(rotule("run pendulum --steps 10 --quiet --record ../in/motion.h5").status, 0);
  fs::create_symlink("../in/picture.svg", cwd() / "link.svg");
  ASSERT_EQ(rotule("plot ../in/motion.h5 --svg link.svg").status, 0);
  EXPECT_TRUE(fs::is_symlink(cwd() / "link.svg"));
  EXPECT_TRUE(fs::is_regular_file(cwd().parent_path() / "in" / "picture.svg"));
  fs::remove(cwd() / "link.svg");
  fs::create_symlink("round", cwd().parent_path() / "in" / "round");
  expect_refusal(rotule("plot ../in/motion.h5 --svg ../in/round"), "links lead nowhere", "a link to itself");
}

// A file may not grow beyond what the shell allows: told and tidied as a full disk, with the signal at its default.
TEST_F(InterruptCli, AFileAtItsLargestIsAFullDisk) {
  expect_refusal(rotule("run chain_20 --steps 2000 --dt 0.001 --quiet --record a.h5", "ulimit -f 100;"), "a.h5", "SIGXFSZ");
}

TEST_F(InterruptCli, ALinkToAFileStaysALink) {
  ASSERT_EQ(rotule("run pendulum --steps 10 --quiet --record ../in/real.h5").status, 0);
  fs::create_symlink("../in/real.h5", cwd() / "link.h5");
  ASSERT_EQ(rotule("run pendulum --steps 20 --quiet --record link.h5").status, 0);
  EXPECT_TRUE(fs::is_symlink(cwd() / "link.h5"));
  ASSERT_EQ(rotule("export ../in/real.h5 --out motion.csv").status, 0);
  const std::string table = testing::content(cwd() / "motion.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 22);
}

TEST_F(InterruptCli, ATournamentGoesOnPastABadFile) {
  ASSERT_EQ(rotule("run incline --steps 5 --quiet --record-problems ../in/good.h5").status, 0);
  const std::string bad = file("bad.hdf5", "no HDF5 at all");
  const Result result = rotule("tournament " + bad + " ../in/good.h5 ../in/absent.h5 --solvers nncg --to 1e-4");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.out.find("good.h5"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("left out: ../in/bad.hdf5"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("left out: ../in/absent.h5"), std::string::npos) << result.err;
  expect_refusal(rotule("tournament " + bad), "bad.hdf5", "nothing to play");
}

TEST_F(InterruptCli, SolveWritesItsAnswer) {
  ASSERT_EQ(rotule("run incline --steps 5 --quiet --record-problems ../in/good.h5").status, 0);
  const std::string fclib = testing::source_dir() + "/data/fclib/local_problem_test.hdf5";
  for (const std::string& input : {std::string("../in/good.h5 --frame 4"), fclib}) {
    const Result result = rotule("solve " + input + " --solver prox_newton --to 1e-9 --json --write answer.h5");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_LT(nlohmann::json::parse(result.out)["written"]["residual"].get<double>(), 1e-9);
    const Result again = rotule("solve answer.h5 " + std::string(input == fclib ? "" : "--frame 4 ") + "--solver nncg --to 1e-6");
    EXPECT_EQ(again.status, 0) << again.err;
    fs::remove(cwd() / "answer.h5");
  }
  expect_refusal(rotule("solve ../in/good.h5 --write ../in/good.h5"), "is what is read", "onto itself");
  expect_refusal(rotule("solve ../in/good.h5 --solver nncg,pgs --write x.h5"), "one solver", "two answers");
}

}  // namespace
}  // namespace rotule
