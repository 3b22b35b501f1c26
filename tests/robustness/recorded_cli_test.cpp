// Recorded problems through the program: recorded by a run, solved again, and put before all solvers.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using Json = nlohmann::json;
using testing::Result;

class RecordedCli : public testing::Cli {
 protected:
  /// Two boxes that fall on a floor and rest: the first steps hold no problem, since nothing touches.
  void record() {
    const std::string scene = file("fall.json", R"({"rotule": 1, "name": "fall",
      "bodies": [{"name": "floor", "fixed": true, "shape": {"plane": {}}},
        {"name": "a", "mass": 1, "position": [0, 0, 0.6], "shape": {"box": {"size": [1, 1, 1]}}},
        {"name": "b", "mass": 2, "position": [0.1, 0, 1.7], "shape": {"box": {"size": [1, 1, 1]}}}],
      "recipe": {"formulation": "velocity", "integrator": "semi_implicit_euler", "solver": "auto", "contacts": "cone",
        "dt": 0.01, "duration": 0.5}})");
    const Result run = rotule("run " + scene + " --steps 60 --quiet --record-problems ../in/fall.h5");
    ASSERT_EQ(run.status, 0) << run.err;
  }
};

TEST_F(RecordedCli, AProblemIsSolvedAgain) {
  record();
  const Result solved = rotule("solve ../in/fall.h5 --frame 59 --solver prox_newton,nncg --to 1e-4,1e-7 --json");
  ASSERT_EQ(solved.status, 0) << solved.err;
  const Json results = Json::parse(solved.out)["results"];
  ASSERT_EQ(results.size(), 4u);
  for (const Json& r : results) {
    EXPECT_TRUE(r["reached"]) << r;
    EXPECT_LE(r["residual"].get<double>(), r["goal"].get<double>()) << r;
  }
}

TEST_F(RecordedCli, ATournamentTakesFramesThatHoldAProblem) {
  record();
  const Result said =
      rotule("tournament ../in/fall.h5 '" + testing::source_dir() +
             "/data/fclib/local_problem_test.hdf5' --solvers prox_newton,pgs,ldlt --frames 1 --to 1e-2,1e-6 --csv ../in/out.csv");
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("fall.h5:59:0: "), std::string::npos) << said.out;  // the last frame, not the empty first
  EXPECT_NE(said.out.find("all 2 problems"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("cannot"), std::string::npos) << "ldlt knows no contacts";
  std::ifstream csv(cwd() / "../in/out.csv");
  std::string line;
  int lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, 1 + 2 * 3 * 2);
  const Result json = rotule("tournament ../in/fall.h5 --solvers prox_newton --frames 3 --to 1e-8 --json");
  ASSERT_EQ(json.status, 0) << json.err;
  const Json parsed = Json::parse(json.out);
  for (const Json& r : parsed["results"]) EXPECT_TRUE(r["reached"]) << r;
}

TEST_F(RecordedCli, WhatIsNoProblemIsRefused) {
  record();
  expect_refusal(rotule("solve ../in/fall.h5 --frame 600"), "frame 600 is not there", "no such frame");
  expect_refusal(rotule("solve ../in/fall.h5 --frame 59 --solver fastest"), "fastest", "no such solver");
  expect_refusal(rotule("solve ../in/fall.h5 --frame 59 --to -1"), "--to", "a goal below zero");
  expect_refusal(rotule("tournament ../in/none.h5"), "none.h5", "no such file");
  expect_refusal(rotule("tournament " + file("text.h5", "hello")), "text.h5", "not a recording");
  std::filesystem::resize_file(cwd() / "../in/fall.h5", 3000);
  expect_refusal(rotule("solve ../in/fall.h5 --frame 59"), "fall.h5", "cut short");
}

}  // namespace
}  // namespace rotule
