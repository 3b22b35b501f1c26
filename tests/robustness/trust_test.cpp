// What a hostile or absurd scene must not bring about: names that a terminal obeys, sums that overflow unsaid, and equations
// that follow from each other by the hundred and take minutes.
#include <fmt/format.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "support/cli.h"

namespace rotule {
namespace {

using testing::Cli;
using testing::Result;
using Json = nlohmann::json;

TEST(Printable, EscapesWhatATerminalObeysAndNothingElse) {
  EXPECT_EQ(printable("plain, é 中 \n\t"), "plain, é 中 \n\t");
  EXPECT_EQ(printable("\x1b[31mred\x7f\r"), "\\u001b[31mred\\u007f\\u000d");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // an introducer in one character
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202e"
            "b");  // reading turned round
  EXPECT_EQ(printable("\xff\xc0\x80 \xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(shown("two\nlines"), "two\\u000alines");
  EXPECT_LE(shown(std::string(5000, 'x')).size(), 80u);
  EXPECT_NE(shown(std::string(5000, 'x')).find("…"), std::string::npos);
  EXPECT_LT(shown_message("body " + std::string(5000, 'x') + " is heavy").size(), 300u);
}

/// Two bodies on balls, with names that would clear the screen and forge a line.
std::string hostile_scene() {
  const std::string evil =
      "\x1b[2J\n  warning\x7f\xc2\x9b"
      "0m";
  Json bodies = Json::array(), joints = Json::array();
  for (int k = 0; k < 2; ++k) {
    const std::string name = fmt::format("{}{}{}", evil, k, std::string(5000, 'n'));
    bodies.push_back({{"name", name},
                      {"shape", {{"sphere", {{"radius", 0.1}}}}},
                      {"mass", k == 0 ? 1.0 : 1e6},
                      {"position", {1.0 + k, 0, 0}}});
    joints.push_back({{"ball",
                       {{"name", "j" + name},
                        {"between", {k == 0 ? std::string("world") : bodies[0]["name"].get<std::string>(), name}},
                        {"at", {0.5 + k, 0, 0}}}}});
  }
  return Json{
      {"rotule", 1}, {"name", evil}, {"bodies", bodies}, {"joints", joints}, {"recipe", {{"dt", 0.01}, {"duration", 0.05}}}}
      .dump();
}

TEST_F(Cli, NamesNeverReachATerminalRaw) {
  const std::string scene = file("hostile.json", hostile_scene());
  ASSERT_EQ(rotule("run " + scene + " --quiet --record ../in/motion.h5").status, 0);
  const std::vector<std::string> commands{"run " + scene,
                                          "run " + scene + " --json",
                                          "run " + scene + " --until-equilibrium",
                                          "run " + scene + " --estimate-error",
                                          "check " + scene,
                                          "check " + scene + " --json",
                                          "modes " + scene,
                                          "recipe " + scene,
                                          "export " + scene,
                                          "plot ../in/motion.h5 --list",
                                          "plot ../in/motion.h5",
                                          "convergence " + scene + " --integrators rk4 --steps 5,10",
                                          "ik " + scene + " --target nobody=0,0,1",
                                          "run " + scene + " --set integrator=none"};
  for (const std::string& command : commands) {
    // Files for other programs have names whole, texts for people do not.
    const bool for_programs = command.ends_with("--json") || command.starts_with("export") || command.ends_with(".h5");
    const Result result = rotule(command);
    for (const std::string& text : {result.out, result.err}) {
      for (const char c : text)
        EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << command << ": " << static_cast<int>(c);
      EXPECT_EQ(text.find('\x7f'), text.npos) << command;
      EXPECT_EQ(text.find("\xc2\x9b"), text.npos) << command;
      const bool forged = text.find("\n  warning\\u007f") != text.npos;
      EXPECT_FALSE(forged && !for_programs) << command << " lets a name begin a line";
    }
    const bool echoed = (result.out + result.err).find(std::string(600, 'n')) != std::string::npos;
    EXPECT_FALSE(echoed && !for_programs) << command << " echoes a name whole";
    EXPECT_TRUE(!command.ends_with("--json") || Json::accept(result.out)) << command;
  }
}

TEST_F(Cli, SumsThatOverflowAreSaid) {
  const auto scene = [&](const std::string& name, const std::string& body, const std::string& rest = "") {
    return file(name, R"({"rotule": 1, "bodies": [{"name": "ball", "shape": {"sphere": {"radius": 0.1}}, )" + body + "}]" + rest +
                          R"(, "recipe": {"dt": 0.01, "duration": 0.05}})");
  };
  const std::string fast = scene("fast.json", R"("mass": 1, "velocity": [1e160, 0, 0])");
  const std::string far = scene("far.json", R"("mass": 1, "position": [0, 1e150, 0], "velocity": [1, 0, 0])");
  const std::string spun = scene("spun.json", R"("mass": 1, "angular_velocity": [0, 1e155, 0])");
  const std::string heavy = scene("heavy.json", R"("mass": 1e100, "position": [0, 0, 1e90])", R"(, "gravity": [0, 0, -1e150])");
  for (const std::string& command :
       {std::string("run "), std::string("check "), std::string("convergence --integrators rk4 --steps 5,10 ")})
    for (const std::string& each : {fast, far, spun}) expect_refusal(rotule(command + each), "overflow", command + each);
  expect_refusal(rotule("run " + heavy + " --json"), "overflow", "heavy");
}

// 3 n rows of which 3 are independent: all others follow from them.
std::string many_equal_balls(int n) {
  Json joints = Json::array();
  for (int k = 0; k < n; ++k) joints.push_back({{"ball", {{"between", {"world", "bob"}}, {"at", {0, 0, 0}}}}});
  return Json{{"rotule", 1},
              {"bodies", {{{"name", "bob"}, {"shape", {{"sphere", {{"radius", 0.1}}}}}, {"mass", 1}, {"position", {1, 0, 0}}}}},
              {"joints", joints},
              {"recipe", {{"dt", 0.01}, {"duration", 0.02}}}}
      .dump();
}

/// Of the processor, whatever else the machine does.
double seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST_F(Cli, EqualJointsByTheHundred) {
  const std::string scene = file("balls.json", many_equal_balls(200));
  const double before = seconds_of_children();
  const Result result = rotule("check " + scene + " --json");
  const double seconds = seconds_of_children() - before;
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["rank"].get<int>(), 3);
  EXPECT_LT(seconds, 4);  // 8 s once
  const Result run = rotule("run " + scene + " --json"), one = rotule("run " + file("one.json", many_equal_balls(1)) + " --json");
  const Json many_end = Json::parse(run.out)["final_state"]["bodies"]["bob"]["position"],
             one_end = Json::parse(one.out)["final_state"]["bodies"]["bob"]["position"];
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(many_end[k].get<double>(), one_end[k].get<double>(), 1e-9);
}

// Loops that each have rows too many, side by side: each is looked at by itself, so that twice as many cost little more than
// twice as much (six times, when null vectors of all of them were compared).
TEST_F(Cli, FourBarsByTheHundredCostTheirNumber) {
  const auto seconds = [&](int n) {
    const double before = seconds_of_children();
    const Result result = rotule(fmt::format("check n_four_bar_{}", n));
    EXPECT_EQ(result.status, 0) << result.err;
    return seconds_of_children() - before;
  };
  const double few = seconds(500), many = seconds(1000);
  EXPECT_LT(many, 3 * few + 0.1);
}

/// A hub from which so many point masses hang by balls.
std::string star(int n) {
  Json bodies = Json::array(), joints = Json::array();
  bodies.push_back({{"name", "hub"}, {"mass", 10}});
  for (int k = 0; k < n; ++k) {
    const std::string name = fmt::format("s{}", k);
    bodies.push_back({{"name", name}, {"mass", 1}, {"position", {1, 0, 1e-3 * k}}});
    joints.push_back({{"ball", {{"between", {"hub", name}}, {"at", {0, 0, 0}}}}});
  }
  return Json{{"rotule", 1}, {"bodies", bodies}, {"joints", joints}}.dump();
}

// Twice as many cost little more than twice as much, in `run` and in what the doctor says before it (four times, once).
TEST_F(Cli, ManyJointsOnOneBodyCostTheirNumber) {
  const auto seconds = [&](const std::string& scene) {
    const double before = seconds_of_children();
    const Result result = rotule("run " + file("many.json", scene) + " --steps 1 --quiet");
    EXPECT_EQ(result.status, 0) << result.err;
    return seconds_of_children() - before;
  };
  for (std::string (*scene)(int) : {star, many_equal_balls}) {
    const double few = seconds(scene(4000)), many = seconds(scene(8000));
    EXPECT_LT(many, 3 * few + 0.1);
  }
}

TEST_F(Cli, AListOfWhatIsNotThere) {
  for (const char* name : {"absent.h5", "absent.hdf5", "./absent", "absent.json", "absent"})
    expect_refusal(rotule(std::string("plot ") + name + " --list"), "absent", name);
}

}  // namespace
}  // namespace rotule
