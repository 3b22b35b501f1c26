// A system that fails at some moment: no memory, no thread, a full disk, writes that stop halfway, clocks that jump. The program
// ends as it should or with one line, and what it recorded is there or nothing is. ROTULE_FAULTS says how many moments.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "record/trajectory.h"
#include "support/cli.h"

namespace rotule {
namespace {

using testing::Result;
namespace fs = std::filesystem;

int moments(int usual) {
  const char* text = std::getenv("ROTULE_FAULTS");
  return text != nullptr ? std::max(1, std::atoi(text)) : usual;
}

class FaultsCli : public testing::Cli {
 protected:
  Result faulty(const std::string& fault, const std::string& arguments) {
    return rotule(arguments, "env LD_PRELOAD='" ROTULE_FAULTS_LIBRARY "' ROTULE_FAULT=" + fault);
  }
  /// As if nothing had happened, or one line and nothing left behind that is not said.
  void expect_clear_end(const Result& result, const std::string& what) {
    EXPECT_TRUE(result.status == 0 || result.status == 2) << what << ": " << result.status << "\n" << result.err;
    if (result.status == 2) {
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << what << "\n" << result.err;
    }
    for (const auto& entry : fs::directory_iterator(cwd())) {
      const std::string name = entry.path().filename();
      if (result.status == 0) {
        EXPECT_EQ(name, "a.h5") << what;
        EXPECT_NO_THROW(static_cast<void>(TrajectoryReader(entry.path()).frames())) << what;
      } else {
        EXPECT_TRUE(name.ends_with(".part") && result.err.find(name) != std::string::npos) << what << " left " << name;
      }
    }
    for (const auto& entry : fs::directory_iterator(cwd())) fs::remove(entry.path());
  }
};

const std::string recorded_run = "run four_bar --steps 60 --quiet --threads 2 --record a.h5";

TEST_F(FaultsCli, NoMemoryAtTheNthCall) {
  std::mt19937 random(3);
  for (int k = 0; k < moments(12); ++k) {
    const int n = static_cast<int>(std::exp(std::uniform_real_distribution<>(0, std::log(60000))(random)));
    const std::string fault = fmt::format("memory:{}", n);
    expect_clear_end(faulty(fault, recorded_run), fault);
  }
}

/// The HDF5 library itself may crash then; what it leaves is as good as after any other sudden end.
TEST_F(FaultsCli, NoMemoryInsideTheRecordingLibrary) {
  std::mt19937 random(5);
  for (int k = 0; k < moments(8); ++k) {
    const std::string fault = fmt::format("hdf5:{}", std::uniform_int_distribution<>(1, 40000)(random));
    const Result result = faulty(fault, recorded_run);
    EXPECT_EQ(fs::exists(cwd() / "a.h5"), result.status == 0) << fault << "\n" << result.err;
    if (result.status == 2) {
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << fault << "\n" << result.err;
    }
    const Result resumed = rotule("run --resume a.h5 --quiet");
    const bool has_frames = fs::exists(cwd() / "a.h5");
    EXPECT_EQ(resumed.status, has_frames && result.status != 0 ? 0 : 2) << fault << "\n" << resumed.err;
    if (has_frames) {
      EXPECT_EQ(TrajectoryReader(cwd() / "a.h5").frames(), 61U) << fault;
    }
    for (const auto& entry : fs::directory_iterator(cwd())) fs::remove(entry.path());
  }
}

TEST_F(FaultsCli, ADiskThatIsFullAtTheNthByte) {
  std::mt19937 random(4);
  for (int k = 0; k < moments(8); ++k) {
    const std::string fault = fmt::format("disk:{}", std::uniform_int_distribution<>(0, 400000)(random));
    const Result result = faulty(fault, recorded_run);
    if (result.status == 2) {
      EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
    }
    expect_clear_end(result, fault);
  }
}

TEST_F(FaultsCli, WritesThatStopHalfwayAreGoneOnWith) {
  ASSERT_EQ(rotule(recorded_run).status, 0);
  const std::vector<double> whole = TrajectoryReader(cwd() / "a.h5").series("/position");
  fs::remove(cwd() / "a.h5");
  for (const int n : {1, 2, 3, 7}) {
    const Result result = faulty(fmt::format("short:{}", n), recorded_run);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(TrajectoryReader(cwd() / "a.h5").series("/position"), whole);
    fs::remove(cwd() / "a.h5");
  }
}

TEST_F(FaultsCli, ThreadsThatCannotBeStarted) {
  for (int n = 1; n <= 3; ++n) {
    const Result result = faulty(fmt::format("threads:{}", n), "run brick_wall --steps 3 --quiet --threads 4");
    EXPECT_TRUE(result.status == 0 || result.status == 2) << n << ": " << result.status << "\n" << result.err;
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(FaultsCli, ClocksThatJump) {
  for (const int n : {1, 5, 50}) {
    const std::string fault = fmt::format("clock:{}", n);
    const Result result = faulty(fault, recorded_run);
    EXPECT_EQ(result.status, 0) << fault << "\n" << result.err;
    expect_clear_end(result, fault);
  }
}

}  // namespace
}  // namespace rotule
