// Runs that were killed or interrupted: what they recorded is there, and going on with it gives the bits of a run that was never
// stopped. ROTULE_KILLS and ROTULE_RESUMES say how often; a few times unless told.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "record/problem_file.h"
#include "record/trajectory.h"
#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Result;
using Json = nlohmann::json;
namespace fs = std::filesystem;

int times_from_environment(const char* name, int usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::max(1, std::atoi(text)) : usual;
}

double unix_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

class ResumeCli : public testing::Cli {
 protected:
  /// Starts the program and kills it, as nobody can prepare for, after so many seconds; returns when that was.
  double killed(const std::string& arguments, double after) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::chdir(cwd().c_str()) != 0) ::_exit(1);
      const int nowhere = ::open("/dev/null", O_RDWR);
      for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
      const std::string command = std::string("exec '") + ROTULE_PROGRAM + "' " + arguments;
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(after));
    const double when = unix_time();
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return when;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (cwd() / name).string(); }

  /// All that two recordings hold of the motion, to the bit; what clocks said differs.
  void expect_same(const std::string& a, const std::string& b, const std::string& what) const {
    const TrajectoryReader first(path(a)), second(path(b));
    ASSERT_EQ(first.frames(), second.frames()) << what;
    EXPECT_TRUE(first.finished() && second.finished()) << what;
    for (const Quantity& quantity : quantities) {
      if (!is_recorded(quantity) || quantity.key == "stage_seconds") continue;
      const std::vector<double> x = first.series(std::string(quantity.dataset)), y = second.series(std::string(quantity.dataset));
      ASSERT_EQ(x.size(), y.size()) << what << " " << quantity.key;
      if (!x.empty()) {
        EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(double)), 0) << what << " " << quantity.key;
      }
    }
    Json one = Json::parse(first.summary()), other = Json::parse(second.summary());
    for (Json* summary : {&one, &other}) {
      summary->erase("ms_per_step");
      if (summary->contains("fluid")) (*summary)["fluid"].erase("ns_per_cell");
    }
    EXPECT_EQ(one, other) << what;
  }
};

const char* const killed_scenes[] = {"mannequin", "brick_wall", "brick_wall --recipe realtime", "chain_20", "hanging_chain_50"};

TEST_F(ResumeCli, KilledAtRandomMomentsRecordingsAreReadable) {
  std::mt19937 random(11);
  double oldest = 0;
  int looked_at = 0;
  const int kills = times_from_environment("ROTULE_KILLS", 6);
  for (int k = 0; k < kills; ++k) {
    const std::string scene = killed_scenes[k % std::size(killed_scenes)];
    const double after = std::uniform_real_distribution<>(0.02, 3)(random);
    const double when = killed("run " + scene + " --duration 1e6 --quiet --record motion.h5", after);
    if (files() == 0) continue;  // killed before it began
    ASSERT_EQ(files(), 1) << scene;
    ASSERT_TRUE(fs::exists(cwd() / "motion.h5.part")) << scene;
    const Result result = rotule("report motion.h5.part --out ../in/page.html");
    ASSERT_TRUE(result.status == 0 || result.status == 2) << scene << "\n" << result.err;
    // In its first second there is nothing in it but where it began.
    if (result.status == 0) {
      EXPECT_NE(result.err.find("was not finished"), std::string::npos) << result.err;
      EXPECT_NE(result.err.find("rotule run --resume motion.h5.part"), std::string::npos) << result.err;
      const TrajectoryReader recording(path("motion.h5.part"));
      EXPECT_FALSE(recording.finished());
      const std::vector<TrajectoryFrame> frames = recording.frames(0, recording.frames());
      for (std::size_t i = 1; i < frames.size(); ++i) ASSERT_GT(frames[i].number("time"), frames[i - 1].number("time"));
      const Json run = Json::parse(recording.resume_point()->run);
      if (frames.size() > 1) {
        EXPECT_EQ(run["done"].get<std::size_t>() + 1, frames.size());
        ++looked_at;
      }
      oldest = std::max(oldest, when - run["saved_at"].get<double>());
    }
    fs::remove(cwd() / "motion.h5.part");
  }
  RecordProperty("oldest_ms", static_cast<int>(1000 * oldest));
  std::printf("what was lost: %.2f s at most, %d kills\n", oldest, kills);
  // A second, on a machine that nobody else uses; where ten want its processors, whoever is to write waits for his turn.
  double load = 0;
  const bool crowded = ::getloadavg(&load, 1) == 1 && load > 2.0 * std::thread::hardware_concurrency();
  EXPECT_LT(oldest, crowded ? 15 : 3);
  EXPECT_GT(looked_at, 0);
}

TEST_F(ResumeCli, GoingOnGivesTheBitsOfARunThatWasNeverStopped) {
  std::mt19937 random(12);
  struct Case {
    std::string scene;
    int steps = 0;
  };
  const Case cases[] = {
      {"mannequin", 6000}, {"brick_wall --recipe realtime", 3000}, {"brick_wall", 200}, {"hanging_chain_50", 2000}};
  const int resumes = times_from_environment("ROTULE_RESUMES", 2);
  for (int k = 0; k < resumes; ++k) {
    const auto& [scene, steps] = cases[static_cast<std::size_t>(k) % std::size(cases)];
    const std::string what = fmt::format("{} ({})", scene, k);
    ASSERT_EQ(rotule(fmt::format("run {} --steps {} --quiet --record whole.h5", scene, steps)).status, 0);
    killed(fmt::format("run {} --steps {} --quiet --record motion.h5", scene, steps),
           std::uniform_real_distribution<>(0.5, 2.5)(random));
    if (!fs::exists(cwd() / "motion.h5")) {
      if (!fs::exists(cwd() / "motion.h5.part")) continue;  // killed before it began
      // Killed once more on the way.
      killed("run --resume motion.h5 --quiet", std::uniform_real_distribution<>(0.3, 1.5)(random));
      if (!fs::exists(cwd() / "motion.h5")) {
        const Result result = rotule("run --resume motion.h5 --quiet");
        if (result.err.find("holds nothing yet") != std::string::npos) {
          fs::remove(cwd() / "motion.h5.part");
          continue;
        }
        ASSERT_EQ(result.status, 0) << what << "\n" << result.err;
      }
    }
    EXPECT_FALSE(fs::exists(cwd() / "motion.h5.part")) << what;
    expect_same("whole.h5", "motion.h5", what);
    fs::remove(cwd() / "motion.h5");
  }
}

TEST_F(ResumeCli, WhatWasInterruptedOrFinishedGoesOn) {
  for (const std::string scene : {"mannequin", "brick_wall --recipe realtime"}) {
    ASSERT_EQ(rotule("run " + scene + " --steps 90 --quiet --record whole.h5").status, 0);
    ASSERT_EQ(rotule("run " + scene + " --steps 41 --quiet --record motion.h5").status, 0);
    const std::string before = testing::content(cwd() / "motion.h5");
    EXPECT_EQ(rotule("run --resume motion.h5 --quiet").status, 2);  // all is done
    EXPECT_EQ(testing::content(cwd() / "motion.h5"), before);
    ASSERT_EQ(rotule("run --resume motion.h5 --steps 90 --quiet").status, 0);
    expect_same("whole.h5", "motion.h5", scene);
    EXPECT_EQ(files(), 2);
    // By Ctrl-C all of it is kept, under its own name.
    fs::remove(cwd() / "motion.h5");
    const Result stopped =
        rotule("run " + scene + " --steps 20000 --json --record motion.h5", "timeout --preserve-status -s INT 0.7");
    ASSERT_EQ(stopped.status, 130) << stopped.err;
    const auto steps = Json::parse(stopped.out)["steps"].get<std::int64_t>();
    ASSERT_EQ(rotule(fmt::format("run {} --steps {} --quiet --record whole.h5", scene, steps + 10)).status, 0);
    ASSERT_EQ(rotule(fmt::format("run --resume motion.h5 --steps {} --quiet", steps + 10)).status, 0);
    expect_same("whole.h5", "motion.h5", scene);
    fs::remove(cwd() / "motion.h5");
    fs::remove(cwd() / "whole.h5");
  }
}

TEST_F(ResumeCli, AChangedSceneIsRefusedByName) {
  const auto scene = [&](double mass) {
    return file("ball.json", fmt::format(R"({{"rotule": 1, "bodies": [{{"name": "ball", "mass": {}, "position": [1, 0, 0]}}],
      "joints": [{{"rod": {{"between": ["world", "ball"], "from": [0, 0, 0]}}}}], "recipe": {{"dt": 0.01, "duration": 0.5}}}})",
                                         mass));
  };
  const std::string name = scene(1);
  ASSERT_EQ(rotule("run " + name + " --quiet --record ../in/motion.h5").status, 0);
  const std::string before = testing::content(cwd().parent_path() / "in" / "motion.h5");
  scene(2);
  expect_refusal(rotule("run --resume ../in/motion.h5 --duration 1"), "ball.json: is not the scene that", "another mass");
  expect_refusal(rotule("run mannequin --resume ../in/motion.h5 --duration 1"), "is not the scene that", "another scene");
  EXPECT_EQ(testing::content(cwd().parent_path() / "in" / "motion.h5"), before);
  // Without the file the recording's own scene serves, with the same bits.
  fs::remove(cwd().parent_path() / "in" / "ball.json");
  ASSERT_EQ(rotule("run --resume ../in/motion.h5 --duration 1 --quiet").status, 0);
  ASSERT_EQ(rotule("run " + scene(1) + " --duration 1 --quiet --record ../in/whole.h5").status, 0);
  expect_same("../in/whole.h5", "../in/motion.h5", "without its file");
  expect_refusal(rotule("run --resume absent.h5"), "absent.h5", "nothing there");
  expect_refusal(rotule("run --resume ../in/motion.h5 --dt 0.1"), "--dt", "another step");
}

TEST_F(ResumeCli, AnUnfinishedRunIsNotWrittenOver) {
  for (double after = 2; after < 100 && !fs::exists(cwd() / "motion.h5.part"); after *= 2)
    killed("run mannequin --duration 1e6 --quiet --record motion.h5", after);
  ASSERT_TRUE(fs::exists(cwd() / "motion.h5.part"));
  const std::string before = testing::content(cwd() / "motion.h5.part");
  const Result again = rotule("run mannequin --steps 10 --quiet --record motion.h5");
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("rotule run --resume motion.h5"), std::string::npos) << again.err;
  EXPECT_EQ(testing::content(cwd() / "motion.h5.part"), before);
  const Result missing = rotule("report motion.h5");
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("motion.h5.part"), std::string::npos) << missing.err;
}

TEST_F(ResumeCli, ProblemsAreReadableAfterAKill) {
  std::mt19937 random(13);
  const int kills = times_from_environment("ROTULE_KILLS", 3), most_more = 20;
  int looked_at = 0;
  double slowness = 1;  // of this machine, as far as it shows
  for (int k = 0; k < kills || (looked_at == 0 && k < kills + most_more); ++k) {
    const double after = slowness * std::uniform_real_distribution<>(0.02, 3)(random);
    killed("run brick_wall --duration 1e6 --quiet --record-problems problems.h5", after);
    if (!fs::exists(cwd() / "problems.h5")) {  // killed before it began
      if (after > 1) slowness *= 1.2;
      for (const auto& entry : fs::directory_iterator(cwd())) fs::remove(entry);
      continue;
    }
    ++looked_at;
    EXPECT_EQ(files(), 1);
    const std::vector<std::int64_t> frames = recorded_frames(path("problems.h5"));
    ASSERT_GE(frames.size(), 1u);
    EXPECT_NO_THROW(static_cast<void>(read_problem(path("problems.h5"), frames.back(), 0))) << after;
    EXPECT_EQ(rotule(fmt::format("solve problems.h5 --frame {} --solver nncg --to 1e-4", frames.back())).status, 0);
    fs::remove(cwd() / "problems.h5");
  }
  EXPECT_GT(looked_at, 0);
}

}  // namespace
}  // namespace rotule
