// The program as a user meets it: every kind of bad input gives status 2, one line on stderr and no file; good input gives
// what the documentation says.
#include <gtest/gtest.h>
#include <rotule/scene.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "record/problem_file.h"
#include "record/trajectory.h"
#include "support/cli.h"

namespace rotule {
namespace {

namespace fs = std::filesystem;
using testing::Cli;
using testing::content;
using testing::Result;
using Json = nlohmann::json;

const std::string pendulum = R"({"rotule": 1, "name": "bob", "bodies": [{"name": "bob", "mass": 1, "position": [1, 0, 0]}],
  "joints": [{"ball": {"between": ["world", "bob"]}}], "recipe": {"dt": 0.01, "duration": 0.5}})";

TEST_F(Cli, BadInputGivesStatusTwoAndOneLine) {
  const std::string good = file("good.json", pendulum);
  const std::string heavy =
      file("heavy.json", R"({"rotule": 1, "bodies": [{"mass": 1}, {"mass": 1}, {"mass": 1}, {"mass": -1}]})");
  const std::string broken = file("broken.json", "{\"rotule\": 1,");
  const std::string empty = file("empty.json", "");
  file("cut.stl", "solid cut\nfacet\nvertex 0 0 0\n");
  const auto with_mesh = [&](const std::string& name, const std::string& mesh) {
    return file(name, R"({"rotule": 1, "bodies": [{"mass": 1, "shape": {"triangle_mesh": {"file": ")" + mesh + R"("}}}]})");
  };
  const std::string cut = with_mesh("cut.json", "cut.stl"), lost = with_mesh("lost.json", "lost.obj"),
                    foreign = with_mesh("foreign.json", "part.step");
  struct Case {
    std::string arguments, expected;
  };
  const std::vector<Case> cases{
      {"rn pendulum", "unknown command \"rn\"; did you mean \"run\"?"},
      {"--wrong", "--help says more"},
      {"help chek", "unknown command \"chek\"; did you mean \"check\"?"},
      {"run", "SCENE"},
      {"run " + good + " extra", "\"extra\" is one word too many"},
      {"run " + good + " --stps 3", "unknown option \"--stps\"; did you mean \"--steps\"?"},
      {"run " + good + " --steps", "--steps"},
      {"run " + good + " --steps three", "--steps"},
      {"run " + good + " --steps 0", "--steps: must be from 1"},
      {"run " + good + " --steps -5", "--steps: must be from 1"},
      {"run " + good + " --steps 99999999999999999999", "--steps"},
      {"run " + good + " --steps 10 --duration 1", "--duration"},
      {"run " + good + " --duration 0", "--duration: must be greater than 0, is 0"},
      {"run " + good + " --duration nan", "--duration"},
      {"run " + good + " --dt -0.1", "--dt: must be greater than 0, is -0.1"},
      {"run " + good + " --dt 1e-300", "needs more than 1000000000000 steps"},
      {"run " + good + " --threads -1", "--threads: must be at least 0, is -1"},
      {"run " + good + " --set dt", "--set \"dt\": must be KEY=VALUE"},
      {"run " + good + " --set integrater=rk4", "unknown key \"integrater\"; did you mean \"integrator\"?"},
      {"run " + good + " --set integrator=rk5", "did you mean \"rk4\"?"},
      {"run " + good + " --set solver.relaxation=1", "ldlt has no field \"relaxation\""},
      {"run " + good + " --set formulation=velocity", "formulations velocity"},
      {"run " + heavy, "heavy.json: /bodies/3/mass: must be greater than 0, is -1"},
      {"run " + cut + " --record out.h5",
       "cut.json: /bodies/0/shape/triangle_mesh/file: ../in/cut.stl: is cut short: \"endsolid\" is missing"},
      {"check " + lost, "lost.json: /bodies/0/shape/triangle_mesh/file: ../in/lost.obj: cannot be opened"},
      {"run " + foreign, "../in/part.step: is no mesh file; its name must end in .obj or .stl"},
      {"run " + broken + " --record out.h5", "broken.json: line 1, column 14"},
      {"run " + empty, "the file is empty"},
      {"run ../in", "../in: is a folder"},
      {"run none.json", "none.json: cannot be read: No such file or directory"},
      {"run mannequim", "unknown scene \"mannequim\"; did you mean \"mannequin\"?"},
      {"run schema", "unknown scene \"schema\""},
      {"run chain_0", "chain"},
      {"run " + good + " --record missing/out.h5", "missing/out.h5: cannot be created"},
      {"run " + good + " --record ../in", "../in: is a folder"},
      {"run " + good + " --record-problems missing/out.h5", "missing/out.h5: cannot be created"},
      {"run " + good + " --record a.h5 --record-problems a.h5", "a.h5: is given to both"},
      {"run " + good + " --record " + good, "is the scene itself"},
      {"list nothing", "unknown word \"nothing\""},
      {"list solver", "did you mean \"solvers\"?"},
      {"check", "SCENE"},
      {"check " + heavy, "/bodies/3/mass"},
      {"convergence " + good + " --integrators rk4", "--steps"},
      {"convergence " + good + " --steps 10", "--integrators"},
      {"convergence " + good + " --integrators rk9 --steps 10", "--integrators: integrator: unknown name \"rk9\""},
      {"convergence " + good + " --integrators rk4 --steps 10,0", "--steps: must be from 1"},
      {"convergence " + good + " --integrators rk4 --steps ten", "--steps"},
      {"export none", "unknown scene \"none\""},
      {"export " + good + " --out missing/x.json", "missing/x.json: cannot be written"},
      {"schema extra", "\"extra\" is one word too many"},
  };
  for (const Case& c : cases) expect_refusal(rotule(c.arguments), c.expected, c.arguments);
  EXPECT_EQ(content(cwd() / good), pendulum);  // "--record" did not touch it
}

// Springs far too stiff for the step: the run blows up, says when and who, and leaves no recording.
TEST_F(Cli, ABlowUpNamesStepAndBody) {
  const std::string scene = file("stiff.json", pendulum);
  const Result result = rotule("run " + scene +
                               " --set formulation=penalty --set correction=none --set integrator=explicit_euler --set "
                               "formulation.stiffness=1e12 --dt 0.1 --steps 1000 --record a.h5 --record-problems b.h5 --json");
  expect_refusal(result, "stiff.json: step ", "blow-up");
  EXPECT_NE(result.err.find("body \"bob\""), std::string::npos) << result.err;
}

TEST_F(Cli, AFullDiskLeavesNothing) {
  const Result result = rotule("run chain_20 --steps 2000 --dt 0.001 --quiet --record a.h5", "ulimit -f 100; trap '' XFSZ;");
  expect_refusal(result, "a.h5", "full disk");
  EXPECT_EQ(rotule("run pendulum --steps 2").status, 0);
}

TEST_F(Cli, AFailingRunKeepsTheOldRecording) {
  const std::string scene = file("good.json", pendulum);
  std::ofstream(cwd() / "old.h5") << "precious";
  const Result result =
      rotule("run " + scene +
             " --set formulation=penalty --set correction=none --set formulation.stiffness=1e12 --dt 0.1 --steps 1000 "
             "--record old.h5");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(content(cwd() / "old.h5"), "precious");
  EXPECT_EQ(files(), 1);
}

TEST_F(Cli, RunReportsAsDocumented) {
  const std::string scene = file("good.json", pendulum);
  const Result result = rotule("run " + scene + " --json --steps 30 --dt 0.005 --set solver=dense_ldlt");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json report = Json::parse(result.out);
  for (const char* key :
       {"scene",      "stepper",     "integrator", "formulation", "solver",    "threads",     "steps",       "dt",
        "bodies",     "joints",      "contacts",   "energy",      "momentum",  "joint_error", "penetration", "residual",
        "iterations", "ms_per_step", "state_hash", "warnings",    "particles", "remarks",     "final_state", "coordinates"})
    EXPECT_TRUE(report.contains(key)) << key;
  // And whatever else the list of quantities says of a run.
  std::size_t said = 0;
  const Json list = Json::parse(rotule("list quantities --json").out);
  for (const Json& quantity : list["quantities"])
    if (!quantity["said"].empty()) {
      EXPECT_TRUE(report.contains(quantity["name"].get<std::string>())) << quantity["name"];
      ++said;
    }
  EXPECT_GE(said, 12u);
  EXPECT_EQ(report.size(), 18 + said);
  EXPECT_EQ(report["scene"], "bob");
  EXPECT_EQ(report["solver"], "dense_ldlt");
  EXPECT_EQ(report["steps"], 30);
  EXPECT_EQ(report["dt"], 0.005);
  for (const char* key : {"mean", "max"})
    EXPECT_TRUE(report["contacts"].contains(key) && report["residual"].contains(key) && report["iterations"].contains(key));
  for (const char* key : {"initial", "final", "relative_error"}) EXPECT_TRUE(report["energy"][key].is_number());
  for (const char* key : {"linear_drift", "angular_drift"}) EXPECT_TRUE(report["momentum"][key].is_number());
  for (const char* key : {"max", "final"})
    EXPECT_TRUE(report["joint_error"][key].is_number() && report["penetration"][key].is_number());
  for (const char* key : {"mean", "p50", "p99"}) EXPECT_GT(report["ms_per_step"][key].get<double>(), 0);
  EXPECT_TRUE(report["warnings"].is_array());
  EXPECT_EQ(Json::parse(rotule("run " + scene + " --json").out)["steps"], 50);  // the recipe's duration

  const Result table = rotule("run " + scene);
  EXPECT_NE(table.out.find("energy"), std::string::npos);
  // No bar where there is no terminal; the doctor's line alone.
  EXPECT_EQ(std::count(table.err.begin(), table.err.end(), '\n'), 1) << table.err;
  EXPECT_NE(table.err.find("bob: 1 remark"), std::string::npos) << table.err;
  EXPECT_EQ(rotule("run " + scene + " --quiet").out, "");
}

TEST_F(Cli, TheSameRunGivesTheSameBits) {
  const auto hash = [&](const std::string& more) {
    const Result result = rotule("run mannequin --steps 50 --json " + more);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out)["state_hash"].get<std::string>();
  };
  const std::string once = hash("");
  EXPECT_EQ(hash(""), once);
  EXPECT_EQ(hash("--threads 2"), once);
  EXPECT_EQ(hash("--record run.h5 --record-problems problems.h5"), once);  // looking does not change the motion
  EXPECT_NE(hash("--dt 0.0123"), once);
}

TEST_F(Cli, RecordingsHoldTheRun) {
  const std::string scene = file("good.json", pendulum);
  ASSERT_EQ(rotule("run " + scene + " --steps 20 --quiet --record run.h5 --record-problems problems.h5").status, 0);
  EXPECT_EQ(files(), 2);
  const TrajectoryReader reader(cwd() / "run.h5");
  ASSERT_EQ(reader.frames(), 21u);
  EXPECT_EQ(reader.body_names(), std::vector<std::string>{"bob"});
  EXPECT_EQ(to_json(parse_scene(reader.scene())), to_json(parse_scene(pendulum)));
  EXPECT_EQ(reader.frame(0)["position"], (std::vector<double>{1, 0, 0}));
  // Energy is conserved and the bob stays 1 m away: what is recorded is the motion, joined up.
  for (std::size_t i = 0; i < reader.frames(); ++i) {
    const TrajectoryFrame f = reader.frame(i);
    EXPECT_NEAR(f.number("time"), 0.01 * static_cast<double>(i), 1e-12);
    EXPECT_NEAR(f.number(quantity("energy")), 0, 1e-6);
    EXPECT_NEAR(Vec3(f["position"][0], f["position"][1], f["position"][2]).norm(), 1, 1e-9);
  }
  ASSERT_EQ(recorded_frames(cwd() / "problems.h5").size(), 20u);
  const RecordedProblem recorded = read_problem(cwd() / "problems.h5", 19, 0);
  EXPECT_EQ(recorded.problem.rows(), 3);
  EXPECT_LT(residual(recorded.problem, {recorded.x.data(), 3}).scale_free, 1e-9);
}

TEST_F(Cli, ListsAsTablesAndJson) {
  const Json all = Json::parse(rotule("list --json").out);
  for (const char* what : {"scenes", "joints", "shapes", "forces", "integrators", "formulations", "solvers", "quantities"}) {
    ASSERT_TRUE(all.contains(what)) << what;
    EXPECT_FALSE(all[what].empty()) << what;
    const Result one = rotule("list " + std::string(what) + " --json");
    EXPECT_EQ(Json::parse(one.out), Json({{what, all[what]}})) << what;
    const Result table = rotule("list " + std::string(what));
    for (const Json& entry : all[what]) EXPECT_NE(table.out.find(entry["name"].get<std::string>()), std::string::npos) << what;
  }
  for (const Json& method : all["integrators"])
    for (const char* key : {"order", "evaluations", "symplectic", "implicit"}) EXPECT_TRUE(method.contains(key)) << method;
}

TEST_F(Cli, ListsFirstTheSolversToChooseFrom) {
  const std::string table = rotule("list solvers").out;
  const std::size_t others = table.find("The others, by family:");
  ASSERT_NE(others, std::string::npos);
  std::map<std::string, int> families;
  const Json all = Json::parse(rotule("list solvers --json").out);
  for (const Json& solver : all["solvers"]) {
    const std::string name = solver["name"].get<std::string>();
    ++families[solver["family"].get<std::string>()];
    const std::size_t line = table.find(" " + name + " ");
    ASSERT_NE(line, std::string::npos) << name;
    EXPECT_EQ(line < others, solver.contains("recommended_for")) << name;
  }
  EXPECT_EQ(families.size(), 7u);
  EXPECT_NE(rotule("list nsgs").out.find("max_iterations"), std::string::npos);  // one of them, with its settings
}

TEST_F(Cli, ScenesAreFoundByNameFromAnywhere) {
  EXPECT_EQ(rotule("run pendulum --steps 2 --quiet").status, 0);
  EXPECT_EQ(rotule("run chain_5 --steps 2 --quiet").status, 0);
  const std::string here = file("mine.json", pendulum);
  EXPECT_EQ(rotule("run mine --steps 2 --quiet", "ROTULE_SCENES=../in").status, 0);
  EXPECT_EQ(files(), 0);
}

TEST_F(Cli, ExportsWhatItReads) {
  const Result chain = rotule("export chain_3");
  ASSERT_EQ(chain.status, 0) << chain.err;
  EXPECT_EQ(parse_scene(chain.out).bodies.size(), 3u);
  EXPECT_EQ(rotule("export chain_3 --out chain.json").out, "");
  EXPECT_EQ(content(cwd() / "chain.json"), chain.out);
  EXPECT_EQ(rotule("export chain.json").out, chain.out);
  EXPECT_EQ(rotule("schema").out, scene_schema());
}

// Known answers: a bar on a hinge has one freedom; a four-bar has one, three of its twenty equations being redundant (planar
// hinges in space); two welds that want a body in two places are in conflict.
TEST_F(Cli, TheDoctorKnowsMechanisms) {
  const auto check = [&](const std::string& scene) {
    const Result result = rotule("check --json " + scene);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(rotule("check " + scene).status, 0);
    return Json::parse(result.out);
  };
  EXPECT_EQ(check("pendulum")["degrees_of_freedom"], 1);
  EXPECT_EQ(check("mannequin")["degrees_of_freedom"], 6 * 15 - 3 * 14);
  EXPECT_TRUE(check("mannequin")["redundant"].empty());
  const Json four_bar = check("four_bar");
  EXPECT_EQ(four_bar["degrees_of_freedom"], 1);
  int rows = 0;
  for (const Json& r : four_bar["redundant"]) rows += r["rows"].get<int>();
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(check("bricard")["degrees_of_freedom"], 1);  // by counting alone it would have none

  const Json conflict = check(file("conflict.json", R"({"rotule": 1, "bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]},
      {"name": "b", "mass": 1000, "inertia": [1, 1, 1], "position": [1, 0, 0]}], "joints": [
      {"ball": {"name": "pin_a", "between": ["world", "a"]}}, {"weld": {"name": "glue", "between": ["world", "b"], "at": [1, 0, 0]}},
      {"rod": {"name": "bar", "between": ["a", "b"], "from": [0, 0, 0], "to": [1, 0, 0], "length": 2}}]})"));
  ASSERT_FALSE(conflict["conflicting"].empty());
  EXPECT_EQ(conflict["mass_ratio"]["max"], 1000);
  EXPECT_EQ(conflict["mass_ratio"]["joints"][0]["joint"], "bar");

  const Json units = check(file("units.json", R"({"rotule": 1, "gravity": [0, 0, -9810], "bodies": [{"name": "p", "mass": 1},
      {"name": "brick", "mass": 1, "shape": {"box": {"size": [200, 100, 50]}}}]})"));
  EXPECT_GE(units["remarks"].size(), 2u);
  EXPECT_EQ(units["point_masses"], Json({"p"}));
}

// A free point under weight: explicit Euler's error in position after n steps is g T^2 / (2 n), and rk4 is exact.
TEST_F(Cli, ConvergenceMeasuresOrders) {
  const std::string scene = file(
      "fall.json", R"({"rotule": 1, "bodies": [{"name": "p", "mass": 1, "velocity": [1, 0, 0]}], "recipe": {"duration": 2}})");
  const Result result = rotule("convergence " + scene + " --integrators explicit_euler,midpoint --steps 10,20,40 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json rows = Json::parse(result.out)["rows"];
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& row = rows[i];
    EXPECT_EQ(row.size(), 8u);
    const double n = row["steps"].get<double>();
    EXPECT_NEAR(row["state_error"].get<double>(), 9.81 * 4 / (2 * n), 1e-9);
    EXPECT_EQ(row["evaluations"].get<double>(), n);
    if (i > 0) {
      EXPECT_NEAR(row["state_order"].get<double>(), 1, 1e-6);
    }
  }
  EXPECT_TRUE(rows[0]["state_order"].is_null());
  EXPECT_EQ(rows[3]["integrator"], "rk2");
  EXPECT_LT(rows[3]["state_error"].get<double>(), 1e-12);
  EXPECT_NE(rotule("convergence " + scene + " --integrators explicit_euler --steps 10").out.find("gained"), std::string::npos);

  // Of bodies that touch, too: the table says order four of a coin that rolls.
  const Result rolls = rotule("convergence rolling_coin --integrators rk4 --steps 200,400 --set duration=0.2 --json");
  ASSERT_EQ(rolls.status, 0) << rolls.err;
  EXPECT_NEAR(Json::parse(rolls.out)["rows"][1]["state_order"].get<double>(), 4, 0.4);

  const Result blown = rotule("convergence mannequin --integrators explicit_euler --steps 3,80 --json");
  ASSERT_EQ(blown.status, 0) << blown.err;
  EXPECT_TRUE(Json::parse(blown.out)["rows"][0]["energy_error"].is_null());
}

TEST_F(Cli, StabilityKnowsTheMethods) {
  const Result result = rotule("stability --integrators rk4,ab4,explicit_euler,implicit_euler --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json rows = Json::parse(result.out)["integrators"];
  ASSERT_EQ(rows.size(), 4u);
  // Where |R(z)| = 1: roots of 1 + z + z^2/2 + z^3/6 + z^4/24 = 1 and |R(iy)|^2 = 1 - y^6/72 + y^8/576 for RK4; z = -3/10 for
  // AB4.
  EXPECT_NEAR(rows[0]["real"].get<double>(), 2.78529356, 1e-6);
  EXPECT_NEAR(rows[0]["imaginary"].get<double>(), std::sqrt(8.0), 1e-6);
  EXPECT_NEAR(rows[1]["real"].get<double>(), 0.3, 1e-6);
  EXPECT_NEAR(rows[2]["real"].get<double>(), 2, 1e-6);
  EXPECT_EQ(rows[3]["real"], "infinite");
  EXPECT_LT(rows[3]["at_infinity"].get<double>(), 1e-8);

  const Result drawn = rotule("stability --integrator rk4 --svg rk4.svg");
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_NE(content(cwd() / "rk4.svg").find("<svg"), std::string::npos);
}

TEST_F(Cli, StabilityPredictsAndObservesTheLargestStep) {
  // A kilogram on 400 N/m swings at 20 rad/s; so long a spring stays linear however far it swings.
  const std::string scene = file("spring.json", R"({"rotule": 1, "gravity": [0, 0, 0],
    "particles": [{"name": "p", "positions": [[0, 0, 0], [1000, 0, 0]], "mass": 1, "pinned": [0],
                   "springs": [{"pairs": [[0, 1]], "stiffness": 400}]}]})");
  const Result result = rotule("stability " + scene + " --integrators rk4,leapfrog --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_NEAR(report["fastest"].get<double>(), 20, 1e-3);
  const double expected[] = {std::sqrt(8.0) / 20, 2.0 / 20};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(report["rows"][i]["predicted"].get<double>(), expected[i], 1e-3 * expected[i]);
    EXPECT_NEAR(report["rows"][i]["observed"].get<double>(), expected[i], 0.02 * expected[i]);
  }
  expect_refusal(rotule("stability --integrators rk9"), "unknown name \"rk9\"", "rk9");
  expect_refusal(rotule("stability --integrators dormand_prince"), "no fixed step", "dormand_prince");
  expect_refusal(rotule("stability none"), "unknown scene \"none\"", "none");
}

TEST_F(Cli, RelaxBeginsInEquilibrium) {
  const std::string scene = file("weight.json", R"({"rotule": 1,
    "particles": [{"name": "p", "positions": [[0, 0, 0], [0, 0, -1]], "mass": 2, "pinned": [0],
                   "springs": [{"pairs": [[0, 1]], "stiffness": 400}]}]})");
  const Result result = rotule("run " + scene + " --relax --until-equilibrium --duration 1 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_TRUE(report["relaxation"]["reached"].get<bool>());
  EXPECT_TRUE(report["equilibrium"]["reached"].get<bool>());
  EXPECT_LT(report["equilibrium"]["time"].get<double>(), 2e-3);
  expect_refusal(rotule("run mannequin_bounce --relax"), "relax: knows nothing of walls", "walls");
}

}  // namespace
}  // namespace rotule
