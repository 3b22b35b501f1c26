// The laboratory on the command line: recording, replaying, learning and wishing.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Result;

/// What the program writes goes beside its folder, so that refusals can be seen to leave nothing.
class LaboratoryCli : public testing::Cli {
 protected:
  [[nodiscard]] std::string written(const char* name) const { return testing::content(cwd().parent_path() / "in" / name); }
};

TEST_F(LaboratoryCli, RecordsOneStepOfSoMany) {
  ASSERT_EQ(rotule("run incline --steps 20 --quiet --record-problems ../in/a.h5 --every 5").status, 0);
  EXPECT_EQ(rotule("solve ../in/a.h5 --frame 15 --solver nncg").status, 0);
  expect_refusal(rotule("solve ../in/a.h5 --frame 16 --solver nncg"), "it has 4 of them, from 0 to 15", "between");
  expect_refusal(rotule("run incline --steps 5 --every 2"), "--every: is for --record-problems", "without a file");
}

TEST_F(LaboratoryCli, APageAndPicturesOfATournament) {
  ASSERT_EQ(rotule("run brick_wall --steps 2 --quiet --record-problems ../in/wall.h5").status, 0);
  file("others.csv",
       "problem,rows,solver,goal,reached,residual,iterations,seconds\n"
       "wall:1:0,1,visitor,0.01,1,0.001,7,1e-9\n");
  const Result result = rotule(
      "tournament ../in/wall.h5 --frames 1 --solvers pgs,nncg --to 1e-2 --html ../in/page.html --svg ../in/profiles.svg --others "
      "../in/others.csv");
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string page = written("page.html");
  for (const char* words : {"Who won", "<b>visitor</b>", "nncg", "Performance profiles", "<svg"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_NE(written("profiles.svg").find("<svg"), std::string::npos);
  file("others.csv", "nothing of the kind\n");
  expect_refusal(rotule("tournament ../in/wall.h5 --frames 1 --solvers nncg --to 1e-2 --others ../in/others.csv"),
                 "others.csv: must be", "another table");
}

TEST_F(LaboratoryCli, CurvesAndFclibsFormat) {
  ASSERT_EQ(rotule("run incline --steps 3 --quiet --record-problems ../in/p.h5").status, 0);
  ASSERT_EQ(rotule("solve ../in/p.h5 --frame 2 --solver pgs,prox_newton --svg ../in/curves.svg").status, 0);
  EXPECT_NE(written("curves.svg").find("iterations"), std::string::npos);
  ASSERT_EQ(rotule("export ../in/p.h5 --frame 2 --out ../in/problem.hdf5").status, 0);
  const Result solved = rotule("solve ../in/problem.hdf5 --solver prox_newton --to 1e-8 --json");
  ASSERT_EQ(solved.status, 0) << solved.err;
  EXPECT_TRUE(nlohmann::json::parse(solved.out)["results"][0]["reached"].get<bool>());
}

TEST_F(LaboratoryCli, FlutterInNumbersAndAsAPicture) {
  // Den Hartog: a square bar of 5 kg with a damper of 0.4 N s/m on it gallops where 1/2 rho U d (C_l' + C_d) takes less than
  // that.
  const Result result = rotule("flutter galloping --wind 1..6:6 --svg ../in/damping.svg --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["scene"], "galloping");
  EXPECT_EQ(report["flow"], "wind");
  EXPECT_NEAR(report["critical_speed"].get<double>(), 3.7, 0.1);
  EXPECT_NEAR(report["critical_frequency"].get<double>(), 10 / (2 * 3.14159265), 0.01);
  ASSERT_EQ(report["points"].size(), 6u);
  for (const auto& point : report["points"]) {
    const double speed = point["speed"], damping = point["modes"][0]["damping_ratio"];
    EXPECT_EQ(damping > 0, speed < report["critical_speed"].get<double>()) << speed;
  }
  const std::string picture = written("damping.svg");
  for (const char* words : {"<svg", "damping ratio", "speed [m/s]", "Frequencies"})
    EXPECT_NE(picture.find(words), std::string::npos) << words;
  const Result words = rotule("flutter galloping --wind 1..6:6");
  EXPECT_NE(words.out.find("flutter from 3."), std::string::npos) << words.out;
  expect_refusal(rotule("flutter galloping --wind 6..1"), "--wind \"6..1\": must be two speeds", "speeds that fall");
}

TEST_F(LaboratoryCli, LearnsAndSaysWhatItIsWorth) {
  for (const char* scene : {"brick_wall", "card_house"})
    ASSERT_EQ(rotule(std::string("run ") + scene + " --steps 6 --quiet --record-problems ../in/" + scene + ".h5").status, 0);
  const Result result =
      rotule("learn ../in/brick_wall.h5 ../in/card_house.h5 --frames 2 --sweeps 20 --out ../in/learned.json --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_LE(json["left"]["race with mixing, as it is built in"], json["left"]["relaxation 1"]);
  const auto learned = nlohmann::json::parse(written("learned.json"));
  ASSERT_EQ(learned["runners"].size(), 4u);
  EXPECT_EQ(learned["runners"][0]["relaxation"], 1.0);
  EXPECT_FALSE(learned["runners"][0]["mixed"].get<bool>());
}

TEST_F(LaboratoryCli, AWishIsMetByTheRecipeGiven) {
  const Result result =
      rotule("wish double_pendulum --error 1e-6 --duration 0.3 --limit 2 --out ../in/recipe.json --svg ../in/curve.svg --json");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json["met"].get<bool>());
  EXPECT_LE(json["error"].get<double>(), 1e-6);
  const Result run = rotule("run double_pendulum --recipe ../in/recipe.json --duration 0.5 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["integrator"],
            json["recipe"]["integrator"].is_string() ? json["recipe"]["integrator"] : json["recipe"]["integrator"]["name"]);
  EXPECT_NE(written("curve.svg").find("<svg"), std::string::npos);
  expect_refusal(rotule("wish double_pendulum"), "give --error, --budget or both", "no wish");
  expect_refusal(rotule("wish double_pendulum --error 1e-6 --limit 1e-6"), "--limit allows more", "no time to look");
  expect_refusal(rotule("wish double_pendulum --budget soon"), "--budget: must be a time", "no time");
  file("broken.json", "[1, 2]");
  expect_refusal(rotule("run double_pendulum --recipe ../in/broken.json"), "one JSON object", "no recipe");
}

// Thrown in a way that its joints forbid: the first step moves with velocities that it then takes back, and where the chain goes
// depends on how long that step is. Runs of one step length agree on it all the same.
TEST_F(LaboratoryCli, AWishIsNotMetByRunsThatShareAMistake) {
  const std::string scene = file("thrown.json", R"({"rotule": 1, "bodies": [
    {"name": "a", "shape": {"sphere": {"radius": 0.3}}, "mass": 100, "position": [0, 0, 0.3], "velocity": [1, 0, 0]},
    {"name": "b", "shape": {"sphere": {"radius": 0.3}}, "mass": 100, "position": [0, 0, -0.7]}], "joints": [
    {"ball": {"between": ["world", "a"], "at": [0, 0, 1]}}, {"ball": {"between": ["a", "b"], "at": [0, 0, 0]}}]})");
  const auto height = [&](const std::string& more) {
    const Result run = rotule("run " + scene + " --duration 0.3 --json --quiet " + more);
    EXPECT_EQ(run.status, 0) << run.err;
    const auto energy = nlohmann::json::parse(run.out)["energy"];
    return energy["potential"].get<double>() / (energy["potential"].get<double>() - energy["kinetic"].get<double>());
  };
  const Result result = rotule("wish " + scene + " --error 1e-6 --duration 0.3 --limit 2 --out ../in/recipe.json --json");
  const auto json = nlohmann::json::parse(result.out);
  const double wrong = std::abs(height("--recipe ../in/recipe.json") - height("--accuracy 1e-10 --dt 0.0005"));
  ASSERT_LE(result.status, 1) << result.err;
  EXPECT_TRUE(result.status == 1 || wrong < 1e-5) << "off by " << wrong << ", reference " << json["reference"];
  EXPECT_GT(json["reference"]["doubt"].get<double>(), 0.1 * wrong) << json["reference"];
}

}  // namespace
}  // namespace rotule
