// Files of robots as a user meets them, and as somebody who means harm writes them: one line with file, line and remedy, status
// 2, nothing read from outside.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::content;
using testing::Result;
using Json = nlohmann::json;

std::string urdf(const std::string& inside) { return "<robot name=\"x\">\n" + inside + "\n</robot>\n"; }
std::string one_link(const std::string& mass, const std::string& ixx, const std::string& axis, const std::string& lower,
                     const std::string& upper) {
  return urdf("<link name=\"world\"/><link name=\"a\"><inertial><mass value=\"" + mass + "\"/><inertia ixx=\"" + ixx +
              "\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<joint name=\"j\" type=\"revolute\"><parent link=\"world\"/><child "
              "link=\"a\"/><axis xyz=\"" +
              axis + "\"/><limit lower=\"" + lower + "\" upper=\"" + upper + "\" effort=\"1\" velocity=\"1\"/></joint>");
}
std::string with_mesh(const std::string& name) {
  return urdf("<link name=\"a\"><collision><geometry><mesh filename=\"" + name + "\"/></geometry></collision></link>");
}
std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int k = 0; k < times; ++k) out += text;
  return out;
}
std::string mjcf(const std::string& inside) { return "<mujoco>\n" + inside + "\n</mujoco>\n"; }

class RobotsCli : public testing::Cli {};

TEST_F(RobotsCli, HostileFilesAreRefusedInOneLine) {
  const std::string join = "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>";
  const std::string back = "<joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint>";
  const std::string ball = "<body name=\"a\"><joint name=\"j\"/><geom size=\"1\"/></body>";
  struct Case {
    std::string name, text, expected;
  };
  const std::vector<Case> cases{
      {"bomb.urdf", "<!DOCTYPE robot [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\n" + urdf("<link name=\"&b;\"/>"),
       "bomb.urdf:1: has a document type"},
      {"cycle.urdf", urdf("<link name=\"a\"/><link name=\"b\"/>\n" + join + back), "circle"},
      {"island.urdf", urdf("<link name=\"r\"/><link name=\"a\"/><link name=\"b\"/>" + join + back), "circle"},
      {"two.urdf", urdf("<link name=\"a\"/>\n<link name=\"b\"/>"), "two.urdf:3: link \"b\": has no parent"},
      {"twice.urdf", urdf("<link name=\"a\"/><link name=\"a\"/>"), "taken already"},
      {"lost.urdf", urdf("<link name=\"a\"/><link name=\"bb\"/>" + join), "there is no link \"b\""},
      {"missing.urdf", with_mesh("nothing.stl"), "missing.urdf:2: mesh: \"nothing.stl\" is not there"},
      {"outside.urdf", with_mesh("../../secret.stl"), "lies outside"},
      {"absolute.urdf", with_mesh("file:///etc/hosts.stl"), "lies outside"},
      {"package.urdf", with_mesh("package://nowhere/a.stl"), "no folder \"nowhere\""},
      {"dots.urdf", with_mesh("package://../a.stl"), "no folder \"..\""},
      {"net.urdf", with_mesh("http://somewhere/a.stl"), "only files"},
      {"nan.urdf", one_link("nan", "1", "1 0 0", "-1", "1"), "must be finite numbers"},
      {"inf.urdf", one_link("1", "inf", "1 0 0", "-1", "1"), "must be finite numbers"},
      {"negative.urdf", one_link("-1", "1", "1 0 0", "-1", "1"), "must not be negative"},
      {"moment.urdf", one_link("1", "-1", "1 0 0", "-1", "1"), "none can be negative"},
      {"axis.urdf", one_link("1", "1", "0 0 0", "-1", "1"), "must not be the zero vector"},
      {"words.urdf", one_link("1", "1", "1 0 up", "-1", "1"), "has \"up\""},
      {"exchanged.urdf", one_link("1", "1", "1 0 0", "1", "-1"), "must not exceed upper"},
      {"absurd.urdf", one_link("1", "1", "1 0 0", "-1e300", "1e300"), "must be finite numbers up to"},
      {"short.urdf", "<robot name=\"x\"><link name=\"a\">", "is not XML"},
      {"empty.urdf", "", "is not XML"},
      {"other.xml", "<sdf/>", "begins with \"sdf\""},
      {"lag.xml",
       mjcf("<worldbody>" + ball + "</worldbody><actuator><general joint=\"j\" dyntype=\"filter\" dynprm=\"-1\"/></actuator>"),
       "its time constant must not be negative"},
      {"span.xml",
       mjcf("<worldbody>" + ball + "</worldbody><tendon><fixed range=\"2 1\"><joint joint=\"j\" coef=\"1\"/></fixed></tendon>"),
       "range must be from the smaller to the larger"},
      {"pair.xml", mjcf("<worldbody>" + ball + "</worldbody><contact><pair geom1=\"g\"/></contact>"),
       "needs the attribute geom2"},
      {"deep.xml", mjcf("<worldbody>" + repeated("<body>", 5000) + repeated("</body>", 5000) + "</worldbody>"), "elements deep"},
      {"self.xml", mjcf("<include file=\"self.xml\"/>"), "in a circle"},
      {"away.xml", mjcf("<include file=\"../other.xml\"/>"), "lies outside"},
      {"class.xml", mjcf("<worldbody><body><joint class=\"nope\"/></body></worldbody>"), "no class \"nope\""},
      {"flat.xml", mjcf("<worldbody><body><freejoint/><geom type=\"box\" size=\"1 0 1\"/></body></worldbody>"), "greater than 0"},
      {"key.xml", mjcf("<worldbody>" + ball + "</worldbody><keyframe><key qpos=\"1 2\"/></keyframe>"), "qpos must be 1 number"},
      {"tie.xml", mjcf("<worldbody>" + ball + "</worldbody><equality><joint joint1=\"j\" joint2=\"k\"/></equality>"),
       "no joint \"k\""},
  };
  for (const Case& each : cases)
    for (const char* command : {"run ", "check "})
      expect_refusal(rotule(command + file(each.name, each.text)), each.expected, each.name);
}

TEST_F(RobotsCli, ZeroMassesAreTold) {
  // What carries no mass is held fast; a link without mass between two that have some goes with them.
  struct Case {
    std::string name, text, expected;
    int joints;
  };
  const std::vector<Case> cases{
      {"tip.urdf", one_link("0", "0", "1 0 0", "-1", "1"), "moves nothing that has mass; what it carries is held fast", 0},
      {"tip.xml", mjcf("<worldbody><body name=\"a\"><joint name=\"j\"/><geom size=\"1\" mass=\"0\"/></body></worldbody>"),
       "moves nothing that has mass; what it carries is held fast", 0},
      {"between.xml",
       mjcf("<worldbody><body name=\"a\"><joint name=\"j\"/><body name=\"b\"><joint name=\"k\" axis=\"0 1 0\"/>"
            "<geom size=\"0.1\" mass=\"2\"/></body></body></worldbody>"),
       "has no mass and stands between joints", 2},
  };
  for (const Case& each : cases) {
    const std::string path = file(each.name, each.text);
    const Result converted = rotule("convert " + path + " out.json --verbose");
    ASSERT_EQ(converted.status, 0) << each.name << converted.err;
    EXPECT_NE(converted.out.find(each.expected), std::string::npos) << each.name << converted.out;
    std::ifstream in(cwd() / "out.json");
    const Json scene = Json::parse(in);
    EXPECT_EQ(scene.value("joints", Json::array()).size(), static_cast<std::size_t>(each.joints)) << each.name;
    const Result run = rotule("run " + path + " --steps 20");
    EXPECT_EQ(run.status, 0) << each.name << run.err;
  }
}

TEST_F(RobotsCli, WhatIsOutsideIsReadWhereAllowed) {
  std::filesystem::create_directories(cwd() / "robot");
  std::filesystem::create_directories(cwd() / "shapes");
  std::ofstream(cwd() / "shapes" / "a.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
  std::ofstream(cwd() / "robot" / "a.urdf") << with_mesh("../shapes/a.obj");
  const Result refused = rotule("convert robot/a.urdf a.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("lies outside"), std::string::npos) << refused.err;
  const Result taken = rotule("convert robot/a.urdf a.json --allow shapes");
  EXPECT_EQ(taken.status, 0) << taken.err;
  // A link of the file system does not lead out either.
  std::filesystem::create_symlink(cwd() / "shapes" / "a.obj", cwd() / "robot" / "link.obj");
  std::ofstream(cwd() / "robot" / "b.urdf") << with_mesh("link.obj");
  EXPECT_NE(rotule("convert robot/b.urdf b.json").err.find("lies outside"), std::string::npos);
  // What a package around the file holds is the file's own.
  std::ofstream(cwd() / "package.xml") << "<package/>";
  EXPECT_EQ(rotule("convert robot/a.urdf c.json").status, 0);
}

TEST_F(RobotsCli, RobotsRunAndAreConverted) {
  const std::string arm = "'" + testing::source_dir() + "/scenes/robots/arm.urdf'";
  const Result run = rotule("run " + arm + " --steps 20 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("things of the file"), std::string::npos) << run.err;
  EXPECT_LT(Json::parse(run.out)["joint_error"]["max"].get<double>(), 1e-6);
  const Json check = Json::parse(rotule("check " + arm + " --json").out);
  EXPECT_GE(check["file_remarks"].size(), 4u);
  EXPECT_GT(check["file_remarks"][0]["line"].get<int>(), 0);
  const Result converted = rotule("convert " + arm + " arm.json --verbose");
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_NE(converted.out.find("arm.urdf:"), std::string::npos) << converted.out;
  const Result back = rotule("convert arm.json arm.urdf");
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(rotule("run arm.urdf --steps 3 --quiet").status, 0);
  EXPECT_NE(content(cwd() / "arm.urdf").find("<joint name=\"axis_3\" type=\"revolute\">"), std::string::npos);
}

TEST_F(RobotsCli, MistakesOfConvert) {
  const std::string arm = "'" + testing::source_dir() + "/scenes/robots/arm.urdf'";
  expect_refusal(rotule("convert " + arm + " arm.txt"), "must end in .json or .urdf", "ending");
  expect_refusal(rotule("convert pendulum p.urdf --hold"), "is no file of a robot", "options of robots");
  expect_refusal(rotule("convert " + arm + " arm.json --base heavy"), "must be one of automatic, fixed, floating", "base");
  expect_refusal(rotule("convert " + arm + " arm.json --at 1,2"), "must be x,y,z", "place");
  expect_refusal(rotule("convert four_bar f.urdf"), "closes a loop", "loop");
}

}  // namespace
}  // namespace rotule
