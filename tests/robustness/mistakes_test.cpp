// Mistakes that beginners make, a scene each (tests/data/mistakes, named after what the doctor calls them, KIND-WORD.json where
// there are several of a kind): `check` and `run`
// name each with a number, and the remedy that they print mends it when it is pasted.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

namespace fs = std::filesystem;
using testing::Cli;
using testing::content;
using testing::Result;
using OrderedJson = nlohmann::ordered_json;

OrderedJson remark_of(const OrderedJson& remarks, const std::string& kind) {
  for (const OrderedJson& remark : remarks)
    if (remark["kind"] == kind) return remark;
  return nullptr;
}

TEST_F(Cli, EveryMistakeIsNamedAndItsRemedyWorks) {
  int mistakes = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(testing::source_dir()) / "tests/data/mistakes")) {
    const std::string stem = entry.path().stem(), path = entry.path(), kind = stem.substr(0, stem.find('-'));
    ++mistakes;
    const Result check = rotule("check --json '" + path + "'");
    ASSERT_EQ(check.status, 0) << kind << check.err;
    const OrderedJson remark = remark_of(OrderedJson::parse(check.out)["remarks"], kind);
    ASSERT_FALSE(remark.is_null()) << kind << "\n" << check.out;
    const auto text = remark["text"].get<std::string>();
    EXPECT_TRUE(kind == "recipe" || std::regex_search(text, std::regex("[0-9]"))) << text;
    EXPECT_NE(rotule("check '" + path + "'").out.find(text), std::string::npos) << kind;

    // The run says the same before it begins, or is refused with the same remedy.
    const Result run = rotule("run '" + path + "' --steps 3");
    const std::string flags = remark.value("flags", std::string());
    EXPECT_EQ(run.status, kind == "recipe" ? 2 : 0) << kind << run.err;
    EXPECT_NE(run.err.find(kind == "recipe" ? flags : text), std::string::npos) << kind << "\n" << run.err;

    ASSERT_TRUE(!flags.empty() || remark.contains("edits")) << kind << " has no remedy";
    OrderedJson scene = OrderedJson::parse(content(path));
    if (remark.contains("edits"))
      for (const OrderedJson& edit : remark["edits"])
        scene[OrderedJson::json_pointer(edit["place"].get<std::string>())] = edit["value"];
    const std::string mended = file(stem + ".json", scene.dump());
    const Result again = rotule("check --json " + mended + " " + flags);
    ASSERT_EQ(again.status, 0) << kind << again.err;
    // Neither it nor anything new: notes on how the mended scene moves aside.
    std::set<std::string> before;
    const OrderedJson first = OrderedJson::parse(check.out), second = OrderedJson::parse(again.out);
    for (const OrderedJson& other : first["remarks"]) before.insert(other["kind"]);
    for (const OrderedJson& left : second["remarks"]) {
      EXPECT_NE(left["kind"], kind) << again.out;
      EXPECT_TRUE(left["grade"] == "note" || before.contains(left["kind"])) << stem << ": " << left;
    }
    const Result steps = rotule("run " + mended + " " + flags + " --steps 200 --json");
    EXPECT_EQ(steps.status, 0) << kind << steps.err;
  }
  EXPECT_GE(mistakes, 12);
}

// A servo without damping swings about its target; with the damping that the note offers it comes there, without overshooting.
TEST_F(Cli, AServoWithoutDampingIsNotedWithItsCriticalDamping) {
  OrderedJson scene = OrderedJson::parse(R"({"rotule": 1, "gravity": [0, 0, 0],
    "bodies": [{"name": "arm", "mass": 1, "position": [0.5, 0, 0], "shape": {"box": {"size": [1, 0.1, 0.1]}}}],
    "joints": [{"hinge": {"name": "elbow", "between": ["world", "arm"], "axis": [0, 1, 0], "stiffness": 50, "rest": 1}}],
    "recipe": {"duration": 3}})");
  const OrderedJson remark =
      remark_of(OrderedJson::parse(rotule("check --json " + file("servo.json", scene.dump())).out)["remarks"], "undamped_servo");
  ASSERT_FALSE(remark.is_null());
  EXPECT_EQ(remark["grade"], "note");
  const OrderedJson& edit = remark["edits"][0];
  const double inertia = (1 + 0.01) / 12 + 0.25;  // of the bar about its end
  EXPECT_NEAR(edit["value"].get<double>(), 2 * std::sqrt(50 * inertia), 0.01);
  scene[OrderedJson::json_pointer(edit["place"].get<std::string>())] = edit["value"];
  const std::string mended = file("mended.json", scene.dump());
  EXPECT_TRUE(remark_of(OrderedJson::parse(rotule("check --json " + mended).out)["remarks"], "undamped_servo").is_null());
  const OrderedJson end = OrderedJson::parse(rotule("run --json " + mended).out)["final_state"]["joints"]["elbow"];
  EXPECT_NEAR(end["angle"].back().get<double>(), 1, 1e-6);
}

// Remedies carry names as they are: with quotes, umlauts, and of any length.
TEST_F(Cli, RemediesCarryNamesAsTheyAre) {
  const std::string name = "Türblatt \"links\" \\ mit einem Namen, der über sechzig Zeichen weit hinausgeht",
                    written = OrderedJson(name).dump();
  const auto remark = [&](const std::string& kind, const std::string& scene) {
    const Result check = rotule("check --json " + file("named.json", scene));
    EXPECT_EQ(check.status, 0) << check.err;
    return check.status == 0 ? remark_of(OrderedJson::parse(check.out)["remarks"], kind) : OrderedJson();
  };
  const OrderedJson point = remark("point_mass", R"({"rotule": 1, "bodies": [{"name": )" + written +
                                                     R"(, "mass": 1, "position": [1, 0, 0]}],
    "joints": [{"ball": {"between": ["world", )" + written +
                                                     R"(], "at": [0, 0, 0]}}]})");
  ASSERT_FALSE(point.is_null());
  EXPECT_EQ(point["edits"][0]["value"]["rod"]["between"][1], name);
  const OrderedJson load =
      remark("idle_force", R"({"rotule": 1, "bodies": [{"name": "base", "fixed": true}, {"name": )" + written +
                               R"(, "mass": 1, "shape": {"sphere": {"radius": 0.1}}}],
    "forces": [{"load": {"on": "base", "force": [1, 0, 0]}}]})");
  ASSERT_FALSE(load.is_null());
  EXPECT_EQ(load["edits"][0]["value"], name);
}

// A flap on a vertical hinge stays where it is, and a note says so; the push that it offers moves it.
TEST_F(Cli, WhatStandsStillIsNoted) {
  const auto flap = [](const std::string& axis) {
    return R"({"rotule": 1, "bodies": [{"name": "flap", "mass": 2, "position": [0.5, 0, 0], "shape": {"box": {"size": [1, 0.1, 0.4]}}}],
               "joints": [{"hinge": {"name": "edge", "between": ["world", "flap"], "axis": )" +
           axis + R"(}}], "recipe": {"dt": 0.001}})";
  };
  const auto remark = [&](const std::string& scene) {
    return remark_of(OrderedJson::parse(rotule("check --json " + file("flap.json", scene)).out)["remarks"], "stands_still");
  };
  EXPECT_TRUE(remark(flap("[0, 1, 0]")).is_null());
  const OrderedJson still = remark(flap("[0, 0, 1]"));
  ASSERT_FALSE(still.is_null());
  EXPECT_EQ(still["grade"], "note");
  OrderedJson pushed = OrderedJson::parse(flap("[0, 0, 1]"));
  pushed[OrderedJson::json_pointer(still["edits"][0]["place"].get<std::string>())] = still["edits"][0]["value"];
  EXPECT_TRUE(remark(pushed.dump()).is_null());
  const OrderedJson run = OrderedJson::parse(rotule("run --json --steps 100 " + file("pushed.json", pushed.dump())).out);
  // 2 N s at the middle of a bar that turns about its edge.
  const double spin = 2 * 0.5 / (2 * ((1 + 0.01) / 12 + 0.25));
  EXPECT_NEAR(run["final_state"]["bodies"]["flap"]["angular_velocity"][2].get<double>(), spin, 1e-6);
}

// A step of a nanosecond, for a minute, would take a day: named by check, with a step that does not.
TEST_F(Cli, ARunOfManyHoursIsNamed) {
  const std::string scene = file("bar.json", R"({"rotule": 1, "recipe": {"dt": 1e-9, "duration": 60},
    "bodies": [{"name": "bar", "mass": 1, "position": [0.5, 0, 0], "shape": {"box": {"size": [1, 0.1, 0.1]}}}],
    "joints": [{"hinge": {"name": "pin", "between": ["world", "bar"], "axis": [0, 1, 0]}}]})");
  const auto remark = [&](const std::string& flags) {
    return remark_of(OrderedJson::parse(rotule("check --json " + scene + " " + flags).out)["remarks"], "long_run");
  };
  const OrderedJson named = remark("");
  ASSERT_FALSE(named.is_null());
  EXPECT_NE(named["text"].get<std::string>().find("6e+10 steps of 1e-09 s"), std::string::npos) << named;
  EXPECT_TRUE(remark(named["flags"]).is_null());
}

// Bodies that begin at rest beside a ground, and are carried or caught by what is there: nothing to remark.
TEST_F(Cli, WhatIsHeldOrCaughtDoesNotFallForEver) {
  const auto remarks = [&](const std::string& bodies) {
    const Result check = rotule("check --json " + file("scene.json", R"({"rotule": 1, "bodies": [{"name": "table", "fixed": true,
      "shape": {"box": {"size": [2, 2, 0.1]}}}, )" + bodies + "}"));
    EXPECT_EQ(check.status, 0) << check.err;
    return OrderedJson::parse(check.out)["remarks"];
  };
  // Beside the table, on a spring; beside it, thrown towards it; half over its edge; above a plank that a hinge holds.
  EXPECT_TRUE(remarks(R"({"name": "a", "mass": 4, "position": [5, 0, 1], "shape": {"sphere": {"radius": 0.1}}}],
    "forces": [{"spring": {"between": ["world", "a"], "from": [5, 0, 2], "stiffness": 500, "damping": 5}}])")
                  .empty());
  EXPECT_TRUE(
      remarks(R"({"name": "a", "mass": 4, "position": [-5, 0, 1], "velocity": [8, 0, 2], "shape": {"sphere": {"radius": 0.1}}}])")
          .empty());
  EXPECT_TRUE(
      remarks(R"({"name": "a", "mass": 40, "position": [1.1, 0, 1], "shape": {"box": {"size": [0.4, 0.4, 0.2]}}}])").empty());
  const OrderedJson plank =
      remarks(R"({"name": "plank", "mass": 5, "position": [5, 0, 0], "shape": {"box": {"size": [1, 0.2, 0.05]}}},
    {"name": "a", "mass": 4, "position": [5, 0, 1], "shape": {"sphere": {"radius": 0.1}}}],
    "joints": [{"hinge": {"between": ["world", "plank"], "at": [4.5, 0, 0], "axis": [0, 1, 0]}}])");
  EXPECT_TRUE(plank.empty()) << plank;
  // A bell that hangs on a flag by a spring is not in the flag's way.
  const Result flag = rotule("check --json " + file("flag.json", R"({"rotule": 1,
    "solids": [{"cloth": {"name": "flag", "columns": 5, "rows": 4, "along_x": [0, 1, 0], "along_y": [0, 0, -0.7], "pinned": ["x0"]}}],
    "bodies": [{"name": "bell", "mass": 0.05, "position": [0, 1, -0.9], "shape": {"sphere": {"radius": 0.02}}}],
    "forces": [{"spring": {"between": ["flag/19", "bell"], "stiffness": 100, "damping": 0.05}}]})"));
  EXPECT_TRUE(OrderedJson::parse(flag.out)["remarks"].empty()) << flag.out;
}

// A body that moves needs a mass: refused, with what to write.
TEST_F(Cli, AMovingBodyWithoutMassIsRefusedWithTheRemedy) {
  const std::string scene = file("massless.json", R"({"rotule": 1, "bodies": [{"name": "b", "shape": {"box": {}}}]})");
  for (const char* command : {"run ", "check "})
    expect_refusal(rotule(command + scene), "/bodies/0/mass: missing; give mass", command);
}

// A fixed body cannot have a velocity: refused, with the kind of body that can, and with that it runs.
TEST_F(Cli, AFixedBodyWithAVelocityIsRefusedWithTheRemedy) {
  const auto belt = [](const std::string& kind) {
    return R"({"rotule": 1, "bodies": [{"name": "belt", ")" + kind + R"(": true, "velocity": [0.5, 0, 0], "shape": {"box": {}}},
               {"name": "parcel", "mass": 2, "position": [0, 0, 0.7], "shape": {"box": {"size": [0.3, 0.3, 0.4]}}}]})";
  };
  const std::string fixed = file("fixed.json", belt("fixed")), kinematic = file("kinematic.json", belt("kinematic"));
  for (const char* command : {"run ", "check "})
    expect_refusal(rotule(command + fixed), "/bodies/0/velocity: \"belt\" is fixed and cannot have one; say \"kinematic\": true",
                   command);
  EXPECT_EQ(rotule("run " + kinematic + " --steps 20").status, 0);
}

// A fluid on a grid knows bodies with closed shapes alone: who else is there is named, before the run and by check.
TEST_F(Cli, WhatAFluidDoesNotKnowIsNamed) {
  const auto scene = [](const std::string& more) {
    return R"({"rotule": 1, "fluid": {"grid": [16, 1, 16], "box": [[-1, 0, -1], [1, 1, 1]]}, "bodies": [
      {"name": "disc", "mass": 2, "position": [0, 0.5, 0], "shape": {"sphere": {"radius": 0.3}}})" +
           more + "}";
  };
  const std::string wet = file("wet.json", scene("]"));
  const std::string dry = file(
      "dry.json",
      scene(
          R"(, {"name": "point", "mass": 1}], "particles": [{"name": "rope", "positions": [[0, 0, 1], [1, 0, 1]], "masses": [1, 1]}])"));
  EXPECT_TRUE(remark_of(OrderedJson::parse(rotule("check --json " + wet).out)["remarks"], "outside_fluid").is_null());
  const OrderedJson remark = remark_of(OrderedJson::parse(rotule("check --json " + dry).out)["remarks"], "outside_fluid");
  ASSERT_FALSE(remark.is_null());
  EXPECT_NE(remark["text"].get<std::string>().find("\"rope\" and 1 more neither feel it"), std::string::npos) << remark;
  EXPECT_NE(rotule("run " + dry + " --steps 1").err.find("neither feel it nor push it"), std::string::npos);
}

// Where a damper is what makes a run blow up, that is what its message names first.
TEST_F(Cli, ABlowUpNamesItsLikelyCauseFirst) {
  const fs::path mistakes = fs::path(testing::source_dir()) / "tests/data/mistakes";
  for (const char* name : {"unstable_step", "unstable_step-joint"})
    expect_refusal(rotule("run '" + (mistakes / (std::string(name) + ".json")).string() + "' --quiet"),
                   "springs or dampers are too stiff for this step, as a rule (rotule check says how long it may be)", name);
}

// The doctor has nothing but notes on shipped scenes, those built on the fly and files of robots, and refuses none.
TEST_F(Cli, ShippedScenesPassTheDoctor) {
  std::vector<std::string> names{"chain_10", "hanging_chain_5", "n_four_bar_2", "cloth_5", "block_2", "pyramid_5", "tower_3"};
  const fs::path scenes = fs::path(testing::source_dir()) / "scenes";
  for (const auto& entry : fs::directory_iterator(scenes))
    if (entry.path().extension() == ".json" && entry.path().stem() != "schema") names.push_back(entry.path().stem());
  for (const auto& entry : fs::directory_iterator(scenes / "robots"))
    if (entry.is_regular_file()) names.push_back("'" + entry.path().string() + "'");
  for (const std::string& name : names) {
    const Result check = rotule("check --json " + name);
    ASSERT_EQ(check.status, 0) << name << check.err;
    const OrderedJson said = OrderedJson::parse(check.out);
    for (const OrderedJson& remark : said["remarks"]) EXPECT_EQ(remark["grade"], "note") << name << remark;
    const Result run = rotule("run " + name + " --steps 1 --json");
    ASSERT_EQ(run.status, 0) << name << run.err;
  }
}

}  // namespace
}  // namespace rotule
