// rotule tune and rotule study as a user calls them: threads, ranks and interrupted runs give the same tables.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using Json = nlohmann::json;
using testing::Result;
namespace fs = std::filesystem;

class TuneCli : public testing::Cli {
 protected:
  void record() {
    const Result run = rotule("run tripods --steps 60 --quiet --set contacts=box --record-problems ../in/some.h5");
    ASSERT_EQ(run.status, 0) << run.err;
  }
  /// A ball at rest on the ground.
  std::string one_ball(const std::string& radius) {
    return file("ball.json", R"({"rotule": 1, "materials": [{"name": "m", "friction": 0.5}], "bodies": [
      {"name": "ground", "fixed": true, "shape": {"plane": {}}, "material": "m"},
      {"name": "ball", "shape": {"sphere": {"radius": )" +
                                 radius + R"(}}, "position": [0, 0, )" + radius + R"(], "material": "m"}]})");
  }
  std::string tuned(const std::string& out, const std::string& more, const std::string& before = "") {
    const Result said = rotule("tune ../in/some.h5 --every 4 --quiet --out ../in/" + out + " " + more, before);
    EXPECT_EQ(said.status, 0) << said.err;
    return testing::content(cwd() / "../in" / out);
  }
};

TEST_F(TuneCli, ThreadsAndRanksAndRestsOfEarlierRunsGiveTheSameTable) {
  record();
  const std::string one = tuned("one.csv", "--threads 1");
  EXPECT_NE(one.find("alpha"), std::string::npos);
  EXPECT_EQ(tuned("two.csv", "--threads 2"), one);
  // The second of two ranks does its half and leaves it: what a run that was interrupted leaves, too.
  const std::string rank = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=";
  const Result half = rotule("tune ../in/some.h5 --every 4 --quiet --out ../in/half.csv", rank + "1");
  EXPECT_EQ(half.status, 0) << half.err;
  EXPECT_EQ(half.out, "");
  EXPECT_FALSE(fs::exists(cwd() / "../in/half.csv"));
  ASSERT_TRUE(fs::exists(cwd() / "../in/half.csv.part.1"));
  fs::copy(cwd() / "../in/half.csv.part.1", cwd() / "../in/ranks.csv.part.1");
  EXPECT_EQ(tuned("half.csv", ""), one);
  EXPECT_FALSE(fs::exists(cwd() / "../in/half.csv.part.1"));
  EXPECT_EQ(tuned("ranks.csv", "", rank + "0"), one);
  EXPECT_FALSE(fs::exists(cwd() / "../in/ranks.csv.part.1"));
  // What was left by a run with another seed is not taken for one's own.
  tuned("other.csv", "--frames 2", rank + "1");
  const Result other = rotule("tune ../in/some.h5 --every 4 --seed 2 --out ../in/other.csv");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("other settings"), std::string::npos) << other.err;
}

// Killed while it wrote a line: the frame of that line is tuned again, and what comes after it is read.
TEST_F(TuneCli, ALineThatARunWasKilledInIsWrittenAnew) {
  record();
  const std::string one = tuned("one.csv", "--threads 1");
  const std::string rank = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=";
  const fs::path journal = cwd() / "../in/two.csv.part.1";
  for (const bool within_the_first : {false, true}) {
    ASSERT_EQ(rotule("tune ../in/some.h5 --every 4 --quiet --out ../in/two.csv", rank + "1").status, 0);
    const std::string text = testing::content(journal);
    const std::size_t first = text.find('\n'), last = text.rfind("{\"done");
    ASSERT_LT(last, text.size());
    fs::resize_file(journal, within_the_first ? first / 2 : last - 20);
    ASSERT_EQ(rotule("tune ../in/some.h5 --every 4 --quiet --out ../in/two.csv", rank + "1").status, 0);
    EXPECT_EQ(tuned("two.csv", "", rank + "0"), one);
  }
}

TEST_F(TuneCli, UnderMpirunTheTableIsTheSame) {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun (package openmpi-bin)";
  record();
  const std::string mpirun = "mpirun --allow-run-as-root --oversubscribe -n 3";
  EXPECT_EQ(tuned("ranks.csv", "", mpirun), tuned("one.csv", ""));
  const Result nowhere = rotule("tune ../in/some.h5 --every 4", mpirun);
  EXPECT_NE(nowhere.status, 0);
  EXPECT_NE(nowhere.err.find("give --out"), std::string::npos) << nowhere.err;
}

TEST_F(TuneCli, TellsWhatItFound) {
  record();
  const Result said = rotule("tune ../in/some.h5 --frames 3 --parameters alpha,direction,warm --objective time --json");
  ASSERT_EQ(said.status, 0) << said.err;
  const Json json = Json::parse(said.out);
  EXPECT_EQ(json["frames"].size(), 3u);
  for (const Json& frame : json["frames"]) {
    EXPECT_LE(frame["fitness"]["after"].get<double>(), frame["fitness"]["before"].get<double>());
    EXPECT_EQ(frame["kappa"], 0);
  }
  EXPECT_EQ(json["summary"]["frames"], 3);
}

// What an interrupted run left is of the recording, or the scene, as it was then.
TEST_F(TuneCli, RestsOfARecordingOrSceneThatChangedSinceAreRefused) {
  record();
  const std::string rank = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1";
  ASSERT_EQ(rotule("tune ../in/some.h5 --every 20 --quiet --out ../in/a.csv", rank).status, 0);
  const fs::path recording = cwd() / "../in/some.h5";
  fs::last_write_time(recording, fs::last_write_time(recording) + std::chrono::seconds(1));
  const Result other = rotule("tune ../in/some.h5 --every 20 --quiet --out ../in/a.csv");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("of another file"), std::string::npos) << other.err;
  const std::string scene = one_ball("0.3");
  ASSERT_EQ(rotule("study --scenes " + scene + " --frames 4 --quiet --out ../in/study", rank).status, 0);
  ASSERT_EQ(one_ball("0.4"), scene);
  const Result edited = rotule("study --scenes " + scene + " --frames 4 --quiet --out ../in/study");
  EXPECT_EQ(edited.status, 2);
  EXPECT_NE(edited.err.find("other settings"), std::string::npos) << edited.err;
}

// One contact is solved by the first sweep, whatever the relaxation: no number is the best one.
TEST_F(TuneCli, NamesNoSettingWhereNoneIsBetter) {
  const std::string scene = one_ball("0.3");
  ASSERT_EQ(rotule("run " + scene + " --steps 3 --quiet --record-problems ../in/ball.h5").status, 0);
  const Result words = rotule("tune ../in/ball.h5 --quiet");
  EXPECT_EQ(words.status, 0) << words.err;
  EXPECT_NE(words.out.find("none of them with a better setting"), std::string::npos) << words.out;
  const Json summary = Json::parse(rotule("tune ../in/ball.h5 --json --quiet").out).at("summary");
  EXPECT_EQ(summary.at("better"), 0);
  EXPECT_TRUE(summary.at("alpha").is_null());
  EXPECT_TRUE(summary.at("kappa").is_null());
  ASSERT_EQ(rotule("study --scenes " + scene + " --frames 3 --quiet --out ../in/study").status, 0);
  const std::string tables = testing::content(cwd() / "../in/study/tables.csv");
  EXPECT_NE(tables.find("3.1,"), std::string::npos) << tables;
  EXPECT_EQ(tables.find("alpha"), std::string::npos) << tables;
}

TEST_F(TuneCli, RefusesWhatItCannotRead) {
  record();
  // HDF5, but of somebody else.
  expect_refusal(rotule("learn " + testing::source_dir() + "/data/fclib/Capsules-i125-1213.hdf5"),
                 "is not a file of recorded problems; rotule run SCENE --record-problems", "FCLIB");
  expect_refusal(rotule("tune ../in/some.h5 --parameters alpha,beta"), "beta: is not a parameter that can be tuned", "parameter");
  expect_refusal(rotule("tune ../in/some.h5 --objective speed"), "none of error, time", "objective");
  for (const char* range : {"--error nan", "--change -nan", "--warm NaN", "--resolution nan"})
    expect_refusal(rotule(std::string("tune ../in/some.h5 --frames 1 ") + range), "must be a finite number", range);
  expect_refusal(rotule("wish double_pendulum --error 1e-3 --limit nan"), "--limit: must be a finite number", "limit");
  expect_refusal(rotule("tune ../in/some.h5 --frames 1 --seed -1"), "--seed: must not be negative", "seed");
  expect_refusal(rotule("tune ../in/some.h5 --friction ball"), "none of box", "friction");
  expect_refusal(rotule("tune ../in/some.h5 --out x.txt"), "must end in .csv or .json", "ending");
  expect_refusal(rotule("tune ../in/none.h5"), "none.h5", "missing file");
  expect_refusal(rotule("tune " + file("text.h5", "hello")), "text.h5", "foreign file");
  // Cut in the middle.
  const std::string whole = testing::content(cwd() / "../in/some.h5");
  expect_refusal(rotule("tune " + file("cut.h5", whole.substr(0, whole.size() / 2))), "cut.h5", "truncated file");
  expect_refusal(rotule("study --scenes nowhere"), "nowhere", "scene");
  expect_refusal(rotule("study --scenes tripods,tripods --out ../in/study"), "two are named tripods", "scene given twice");
}

TEST_F(TuneCli, AStudyIsAPageWithAllTablesAndFigures) {
  const Result said = rotule("study --scenes tripods,chain_fall --frames 60 --every 15 --quiet --out ../in/study");
  ASSERT_EQ(said.status, 0) << said.err;
  const std::string page = testing::content(cwd() / "../in/study/study.html");
  for (const char* part :
       {"Table 3.1",   "Table 3.2",   "Table 3.3",   "Table 3.4",      "Table 3.5",      "Table 3.6",     "Figure 3.2",
        "Figure 3.3",  "Figure 3.4",  "Figure 3.5",  "Figure 3.6",     "Figure 3.7",     "Figure 3.8",    "Figure 3.9",
        "Figure 3.10", "Figure 3.11", "Figure 3.12", "Figure A III-1", "Figure A III-2", "What was found"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("http"), page.find("http://www.w3.org"));  // nothing is fetched
  EXPECT_TRUE(fs::exists(cwd() / "../in/study/figure_3_12.svg"));
  EXPECT_TRUE(fs::exists(cwd() / "../in/study/figure_A_III_tripods.svg"));
  EXPECT_FALSE(fs::exists(cwd() / "../in/study/tripods.csv.part"));
  const std::string tables = testing::content(cwd() / "../in/study/tables.csv");
  EXPECT_NE(tables.find("3.2,chain_fall,alpha mean,"), std::string::npos) << tables;
}

}  // namespace
}  // namespace rotule
