// rotule ik and rotule inverse as a user meets them: tables and files, and one line where something is wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "record/hdf5_file.h"
#include "support/cli.h"

namespace rotule {
namespace {

using testing::content;
using testing::Result;
using Json = nlohmann::json;

const std::string arm = R"({"rotule": 1, "name": "arm", "bodies": [
  {"name": "upper", "position": [0.25, 0, 0], "mass": 2, "shape": {"box": {"size": [0.5, 0.08, 0.08]}}},
  {"name": "lower", "position": [0.75, 0, 0], "mass": 1, "shape": {"box": {"size": [0.5, 0.06, 0.06]}}}],
  "joints": [{"hinge": {"name": "shoulder", "between": ["world", "upper"], "axis": [0, 1, 0],
                        "motion": {"amplitude": 0.4, "frequency": 3}}},
             {"hinge": {"name": "elbow", "between": ["upper", "lower"], "at": [0.5, 0, 0], "axis": [0, 1, 0],
                        "motion": {"amplitude": 0.6, "frequency": 4}}}],
  "recipe": {"dial": "exact", "dt": 0.002, "duration": 0.5}})";

class InverseCli : public testing::Cli {};

TEST_F(InverseCli, AFootIsGrabbedAndTheLoopSimulated) {
  const Result found = rotule("ik mannequin --target left_hand=left_foot --join --out grabbed.json");
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_NE(found.out.find("\nreached; "), std::string::npos) << found.out;
  const Result run = rotule("run grabbed.json --duration 0.5 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const Json said = Json::parse(run.out);
  EXPECT_EQ(said["joints"], 15);
  EXPECT_LT(said["joint_error"]["max"].get<double>(), 1e-9) << run.out;
}

TEST_F(InverseCli, OutOfReachIsSaid) {
  const Result said = rotule("ik mannequin --target left_hand=3,1,2 --hold pelvis");
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("out of reach: this is the closest pose"), std::string::npos) << said.out;
  const Json json = Json::parse(rotule("ik mannequin --target left_hand=3,1,2 --hold pelvis --method damped --json").out);
  EXPECT_FALSE(json["reached"].get<bool>());
  EXPECT_TRUE(json["closest"].get<bool>());
  EXPECT_EQ(json["course"][0]["method"], "damped");
}

TEST_F(InverseCli, AConeLeavesItsInsideFree) {
  const std::string scene = file("cone.json", R"({"rotule": 1, "name": "cone", "bodies": [
    {"name": "arm", "position": [0, 0, -0.5], "mass": 1, "shape": {"box": {"size": [0.1, 0.1, 1]}}}],
    "joints": [{"ball": {"name": "shoulder", "between": ["world", "arm"]}},
               {"cone_limit": {"name": "cone", "between": ["world", "arm"], "axis": [0, 0, -1], "angle": 0.8}}]})");
  for (const char* method : {"automatic", "newton", "damped"}) {
    const Result said = rotule("ik " + scene + " --target arm@0,0,-0.5=0.6,0,-0.8 --out leans.json --method " + method);
    ASSERT_EQ(said.status, 0) << said.err;
    EXPECT_NE(said.out.find("\nreached; "), std::string::npos) << said.out;
    // Posed there, its cone is where it was: two thirds of the way out.
    const Result back = rotule(std::string("ik leans.json --json --target arm@0,0,-0.5=-0.6,0,-0.8 --method ") + method);
    EXPECT_TRUE(Json::parse(back.out)["reached"].get<bool>());
    const Json beyond = Json::parse(rotule("ik leans.json --json --target arm@0,0,-0.5=1,0,0").out);
    EXPECT_TRUE(beyond["closest"].get<bool>());
    EXPECT_EQ(beyond["at_limits"], Json::array({"cone"}));
  }
}

TEST_F(InverseCli, ABoundThatIsNeverMetChangesNoTorque) {
  const std::string plain = file("arm.json", arm);
  std::string text = arm;
  const std::string last = R"("motion": {"amplitude": 0.6, "frequency": 4}}})";
  text.replace(text.find(last), last.size(),
               last + R"(, {"constraint": {"between": ["world", "lower"], "equation": "lower.z", "at_least": -100}})");
  const std::string bounded = file("bounded.json", text);
  ASSERT_EQ(rotule("run " + plain + " --quiet --record motion.h5").status, 0);
  ASSERT_EQ(rotule("inverse " + plain + " --motion motion.h5 --csv plain.csv").status, 0);
  ASSERT_EQ(rotule("inverse " + bounded + " --motion motion.h5 --csv bounded.csv").status, 0);
  EXPECT_EQ(content(cwd() / "plain.csv"), content(cwd() / "bounded.csv"));
}

TEST_F(InverseCli, MistakesOfIk) {
  for (const auto& [arguments, expected] : std::vector<std::pair<std::string, std::string>>{
           {"ik mannequin", "nothing is asked for"},
           {"ik mannequin --target left_hand", "must be BODY=TARGET"},
           {"ik mannequin --target left_hnd=left_foot", "did you mean \"left_hand\"?"},
           {"ik mannequin --target left_hand=left_fot", "did you mean \"left_foot\"?"},
           {"ik mannequin --target left_hand=1,2", "must be x,y,z"},
           {"ik mannequin --target left_hand=1,2,3:heavy", "is not a number"},
           {"ik mannequin --target left_hand=1,2,3:0", "weight must be greater than 0"},
           {"ik mannequin --turn head=1,2,3", "quaternion"},
           {"ik mannequin --center 1,2", "must be x,y,z"},
           {"ik mannequin --center 1,2,3,4", "three coordinates"},
           {"ik mannequin --target head=0,0,1 --hold hed", "did you mean \"head\"?"},
           {"ik mannequin --target head=0,0,1 --method best", "automatic, newton or damped"},
           {"ik mannequin --target head=0,0,1 --tolerance 0", "tolerance must be greater than 0"},
           {"ik mannequin --target head=0,0,1 --join", "--out"}})
    expect_refusal(rotule(arguments), expected, arguments);
}

TEST_F(InverseCli, TorquesOfARecordedMotion) {
  const std::string scene = file("arm.json", arm);
  ASSERT_EQ(rotule("run " + scene + " --quiet --record motion.h5").status, 0);
  const Result said = rotule("inverse " + scene + " --motion motion.h5 --csv a.csv --svg a.svg --out a.h5 --check --json");
  ASSERT_EQ(said.status, 0) << said.err;
  const Json json = Json::parse(said.out);
  ASSERT_EQ(json["actuators"].size(), 2u);
  EXPECT_EQ(json["actuators"][1]["actuator"], "elbow.rz");
  EXPECT_TRUE(json["first_moment_left_out"].get<bool>());  // the bars lie still before the motion begins
  EXPECT_LT(json["unexplained"].get<double>(), 1e-9);
  EXPECT_LT(json["replay_error"].get<double>(), 1e-8);
  const std::string csv = content(cwd() / "a.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "time [s],shoulder.rz [N m],elbow.rz [N m]");
  const Hdf5File out = Hdf5File::open((cwd() / "a.h5").string());
  EXPECT_EQ(out.texts("/drive_names"), (std::vector<std::string>{"shoulder.rz", "elbow.rz"}));
  EXPECT_EQ(out.shape("/reaction"), (Extent{250, 2, 6}));
  EXPECT_NE(content(cwd() / "a.svg").find("<svg"), std::string::npos);
  // The recording knows its scene.
  EXPECT_EQ(rotule("inverse motion.h5").status, 0);
  const Json one = Json::parse(rotule("inverse motion.h5 --actuator elbow --json").out);
  EXPECT_GT(one["unexplained"].get<double>(), 1);  // nothing holds the shoulder
}

TEST_F(InverseCli, MistakesOfInverse) {
  const std::string scene = file("arm.json", arm);
  ASSERT_EQ(rotule("run " + scene + " --quiet --steps 3 --record ../in/motion.h5").status, 0);
  for (const auto& [arguments, expected] : std::vector<std::pair<std::string, std::string>>{
           {"inverse " + scene, "--motion FILE.h5"},
           {"inverse " + scene + " --motion missing.h5", "missing.h5"},
           {"inverse pendulum --motion ../in/motion.h5", "tells nothing of body"},
           {"inverse " + scene + " --motion ../in/motion.h5 --actuator elbw", "did you mean \"elbow\"?"},
           {"inverse " + scene + " --motion ../in/motion.h5 --actuator elbow.x", "has no free axis \"x\"; free are: rz"},
           {"inverse " + scene + " --motion ../in/motion.h5 --out ../in/motion.h5", "is what is read"}})
    expect_refusal(rotule(arguments), expected, arguments);
}

}  // namespace
}  // namespace rotule
