// rotule plot, report and export as a user meets them: what they write opens, what is wrong gives status 2, one line and no file.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <thread>

#include "record/trajectory.h"
#include "support/cli.h"
#include "support/four_bar.h"

namespace rotule {
namespace {

using testing::content;
using testing::Result;
using Json = nlohmann::json;

const std::string two_bars = R"({"rotule": 1, "name": "<two> & bars", "description": "an arm", "bodies": [
  {"name": "upper, left", "position": [0.25, 0, 0], "mass": 1, "shape": {"box": {"size": [0.5, 0.05, 0.05]}}},
  {"name": "lower", "position": [0.75, 0, 0], "mass": 1, "shape": {"capsule": {"radius": 0.05, "length": 0.4}}}],
  "joints": [{"hinge": {"name": "shoulder", "between": ["world", "upper, left"], "axis": [0, 1, 0]}},
             {"ball": {"name": "elbow", "between": ["upper, left", "lower"], "at": [0.5, 0, 0]}}],
  "recipe": {"dt": 0.01, "duration": 0.5}})";

class ShowCli : public testing::Cli {
 protected:
  /// A short recording beside the working folder.
  std::string recording() {
    const std::string scene = file("arm.json", two_bars);
    EXPECT_EQ(rotule("run " + scene + " --quiet --record ../in/arm.h5").status, 0);
    return "../in/arm.h5";
  }
};

TEST_F(ShowCli, BadInputGivesStatusTwoAndOneLine) {
  const std::string good = recording();
  const std::string text = file("text.h5", "not HDF5 at all");
  const std::string whole = content(cwd() / good);
  const std::string half = file("half.h5", whole.substr(0, whole.size() / 2));
  const std::string empty = file("empty.h5", "");
  ASSERT_EQ(rotule("run ../in/arm.json --quiet --steps 3 --record-problems ../in/problems.h5").status, 0);
  struct Case {
    std::string arguments, expected;
  };
  std::vector<Case> cases{
      {"plot", "FILE"},
      {"plot " + good + " --quantity enrgy", "unknown quantity \"enrgy\"; did you mean \"energy\"? known are: energy, "},
      {"plot " + good + " --quantity energy,xyz --svg a.svg", "unknown quantity \"xyz\"; known are: energy, "},
      {"plot " + good + " --quantity lwer.position.z", "has no body \"lwer\"; did you mean \"lower\"?"},
      {"plot " + good + " --quantity elbo.force", "has no joint \"elbo\"; did you mean \"elbow\"?"},
      {"plot " + good + " --svg missing/a.svg", "missing/a.svg: cannot be written: No such file or directory"},
      {"plot " + good + " --html ../in", "../in: is a folder"},
      {"plot " + good + " --svg " + good, "is what is read"},
      {"report " + good + " --out " + good, "is what is read"},
      {"report " + good + " --out missing/a.html", "missing/a.html: cannot be written"},
      {"export " + good + " --out a.obj", "a.obj: must end in one of .json, .gltf, .glb, .csv, .pvd"},
      {"export " + good + " --out noending", "must end in one of"},
      {"export " + good + " --out a.glb --fps 0", "--fps: must be greater than 0"},
      {"export " + good + " --out a.glb --fps nan", "--fps"},
      {"export pendulm --out a.glb", "unknown scene \"pendulm\"; did you mean \"pendulum\"?"},
      {"export " + good + " --out missing/a.csv", "missing/a.csv: cannot be written"},
      {"export " + good + " --out missing/a.pvd", "missing/a.pvd: cannot be written"},
      {"export " + good + " --out missing/a.gltf", "missing/a.gltf: cannot be written"},
  };
  for (const std::string& bad :
       {std::string("none.h5"), text, half, empty, std::string("../in"), std::string("../in/problems.h5")})
    for (const std::string& command : {std::string("plot "), std::string("report ")})
      cases.push_back({command + bad + (command == "plot " ? "" : " --out a.html"), bad});
  for (const std::string& bad : {std::string("none.h5"), text, half, empty, std::string("../in/problems.h5")})
    for (const char* out : {"a.glb", "a.csv", "a.pvd", "a.json"}) cases.push_back({"export " + bad + " --out " + out, bad});
  for (const Case& c : cases) expect_refusal(rotule(c.arguments), c.expected, c.arguments);
  EXPECT_EQ(content(cwd() / good), whole);
}

// A page on a scene that nobody recorded; a picture is not poured onto a terminal.
TEST_F(ShowCli, AReportNeedsNoRecordingAndAPlotNoTerminal) {
  const std::string scene = file("pendulum.json", R"({"rotule": 1, "bodies": [{"name": "bar", "mass": 2, "position": [0.5, 0, 0],
    "shape": {"box": {"size": [1, 0.1, 0.1]}}}], "joints": [{"hinge": {"name": "pin", "between": ["world", "bar"], "axis": [0, 1, 0]}}]})");
  const Result page = rotule("report " + scene);
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_EQ(page.out, "pendulum.report.html\n");
  EXPECT_EQ(files(), 1) << "the recording is gone";
  EXPECT_NE(content(cwd() / "pendulum.report.html").find("1000 steps"), std::string::npos);

  // By script of Debian's bsdutils, which gives a command a terminal; its own output is that terminal's.
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "no script(1)";
  const std::string on_a_terminal =
      "cd '" + cwd().string() + "' && script -qec \"'" ROTULE_PROGRAM "' plot " + scene + "\" ../terminal >/dev/null </dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(on_a_terminal.c_str())), 2);
  const std::string said = content(cwd() / "../terminal");
  EXPECT_NE(said.find("--open shows the plots in a browser, --html F.html or --svg F.svg writes them"), std::string::npos)
      << said;
  EXPECT_EQ(said.find("<svg"), std::string::npos);
}

const std::string lift = R"({"rotule": 1, "bodies": [{"name": "load", "mass": 2, "shape": {"sphere": {"radius": 0.1}}}],
  "joints": [{"slider": {"name": "lift", "between": ["world", "load"], "motor_speed": 0.5, "motor_strength": 500}}],
  "recipe": {"duration": 0.5}})";

// One command from a scene to a motor's force; and what the run itself says of the end.
TEST_F(ShowCli, AMotorsForceIsOneCommandAway) {
  const std::string scene = file("lift.json", lift);
  const Result picture = rotule("plot " + scene + " --quantity lift.motor_force --svg force.svg");
  EXPECT_EQ(picture.status, 0) << picture.err;
  EXPECT_NE(content(cwd() / "force.svg").find("motor force [N]"), std::string::npos);
  EXPECT_EQ(files(), 1) << "the recording is gone";
  const Result listed = rotule("plot " + scene + " --list");
  EXPECT_NE(listed.out.find("lift.motor_force "), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("lost_drag"), std::string::npos) << listed.out;
  const Result wrong = rotule("plot " + scene + " --quantity lift.motr_force");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("did you mean \"lift.motor_force\"?"), std::string::npos) << wrong.err;

  const Json said = Json::parse(rotule("run " + scene + " --json").out);
  const Json end = said["final_state"];
  const double height = end["bodies"]["load"]["position"][2], speed = end["bodies"]["load"]["velocity"][2];
  EXPECT_NEAR(speed, 0.5, 1e-9);
  EXPECT_NEAR(end["joints"]["lift"]["displacement"][2], height, 1e-12);
  EXPECT_NEAR(end["joints"]["lift"]["motor_force"][2], 2 * 9.81, 0.05);
  EXPECT_NEAR(said["energy"]["work"]["motors"], 2 * 9.81 * height + 0.25, 0.05);
  EXPECT_LT(said["energy"]["relative_error"], 0.02) << "work is no error";
  EXPECT_EQ(said["warnings"].size(), 0u) << said["warnings"];

  // The report rests on what is left over.
  ASSERT_EQ(rotule("run " + scene + " --quiet --record lift.h5").status, 0);
  ASSERT_EQ(rotule("report lift.h5 --out lift.html").status, 0);
  const std::string page = content(cwd() / "lift.html");
  EXPECT_EQ(page.find("Not to be trusted"), std::string::npos);
  EXPECT_NE(page.find("Work of motors"), std::string::npos);
}

/// The numbers of a page's only curve.
std::vector<double> numbers_of(const std::string& page, const std::string& key) {
  const std::size_t from = page.find("\"" + key + "\":[");
  EXPECT_NE(from, page.npos);
  const std::size_t begin = page.find('[', from);
  return Json::parse(page.substr(begin, page.find(']', begin) + 1 - begin)).get<std::vector<double>>();
}

// The torque that turns the crank of a shipped four-bar at constant speed, as plotted by one command, and from recordings by
// other methods: that of the balance of power, m (a - g) . v + I alpha omega over all bars, at every step of two turns.
TEST_F(ShowCli, ThePlottedTorqueOfADrivenFourBarIsTheAnalyticOne) {
  constexpr double pi = std::numbers::pi, rate = 8;
  testing::FourBar bar{.a = 0.3, .b = 0.9, .c = 0.7, .d = 1, .theta_0 = pi / 3, .radius = 0.01};
  const double metre = 7850 * pi * bar.radius * bar.radius;  // kg of steel
  bar.m_a = metre * bar.a;
  bar.m_b = metre * bar.b;
  bar.m_c = metre * bar.c;
  const auto expect_torque = [&](const std::string& command, const std::string& about) {
    ASSERT_EQ(rotule("plot " + command + " --quantity crank_pivot.motor_torque --html torque.html").status, 0) << about;
    const std::string page = content(cwd() / "torque.html");
    const std::vector<double> time = numbers_of(page, "x"), torque = numbers_of(page, "y");
    ASSERT_EQ(time.size(), torque.size());
    ASSERT_GT(time.back(), 2 * 2 * pi / rate);
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < time.size(); ++i) {
      const double expected = -bar.torque(bar.theta_0 + rate * time[i], rate, 0);  // its axis is y; the bar turns from x to z
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(torque[i] - expected));
    }
    EXPECT_GT(largest, 10) << about;
    EXPECT_LT(worst, 1e-9 * largest) << about;
  };
  expect_torque("driven_four_bar", "as shipped");
  for (const std::string integrator : {"rk4", "gauss6", "dormand_prince_8"}) {
    const std::string recorded = integrator + ".h5";
    ASSERT_EQ(rotule("run driven_four_bar --quiet --set integrator=" + integrator + " --record " + recorded).status, 0);
    expect_torque(recorded, integrator);
  }
}

TEST_F(ShowCli, AFullDiskLeavesNothing) {
  recording();
  for (const std::string& arguments :
       {std::string("plot ../in/arm.h5 --svg a.svg"), std::string("plot ../in/arm.h5 --html a.html"),
        std::string("report ../in/arm.h5 --out a.html"), std::string("export ../in/arm.h5 --out a.csv"),
        std::string("export ../in/arm.h5 --out a.glb"), std::string("export ../in/arm.h5 --out a.pvd")}) {
    const Result result = rotule(arguments, "ulimit -f 4; trap '' XFSZ;");
    expect_refusal(result, "cannot be written: File too large", arguments);
  }
}

TEST_F(ShowCli, AFailedCommandKeepsTheOldFile) {
  recording();
  std::ofstream(cwd() / "a.svg") << "precious";
  EXPECT_EQ(rotule("plot ../in/arm.h5 --quantity nothing --svg a.svg").status, 2);
  EXPECT_EQ(rotule("plot ../in/arm.h5 --svg a.svg", "ulimit -f 4; trap '' XFSZ;").status, 2);
  EXPECT_EQ(content(cwd() / "a.svg"), "precious");
  EXPECT_EQ(files(), 1);
}

TEST_F(ShowCli, PlotsAsPictureAndPage) {
  recording();
  const Result picture = rotule("plot ../in/arm.h5 --quantity 'energy,lower.position.z,*.speed,elbow.force.magnitude'");
  ASSERT_EQ(picture.status, 0) << picture.err;
  EXPECT_EQ(picture.out.rfind("<svg ", 0), 0u);
  for (const char* expected :
       {"energy [J]", "lower: position z", "position z [m]", "All bodies: speed", "speed [m/s]", "force [N]"})
    EXPECT_NE(picture.out.find(expected), std::string::npos) << expected;

  ASSERT_EQ(rotule("plot ../in/arm.h5 --svg a.svg --html a.html").status, 0);
  EXPECT_EQ(files(), 2);
  const std::string page = content(cwd() / "a.html");
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0u);
  for (const char* outside :
       {"http://", "https://", "src=", "@import", "url("}) {  // stands alone, but for the name of SVG itself
    std::string text = page;
    for (std::size_t at; (at = text.find("http://www.w3.org/2000/svg")) != text.npos;) text.erase(at, 26);
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  }
  // The numbers under the pointer are those of the file.
  const std::size_t from = page.find("<script type=\"application/json\">") + 32;
  const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
  const TrajectoryReader reader((cwd() / "../in/arm.h5").string());
  ASSERT_EQ(data["series"][0]["name"], "kinetic");
  EXPECT_EQ(data["series"][0]["y"].get<std::vector<double>>(), reader.series("/energy/kinetic"));
  EXPECT_EQ(data["series"][0]["x"].get<std::vector<double>>(), reader.series("/time"));

  const Result list = rotule("plot --list");
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.out.find("BODY.position[.x|.y|.z]"), std::string::npos);
}

// In a real browser: the pointer at the right end of a plot reads the last frame's number, and the script has no fault.
TEST_F(ShowCli, ThePageReadsOutNumbers) {
  if (std::system("command -v chromium >/dev/null") != 0) GTEST_SKIP() << "chromium is not there";
  recording();
  ASSERT_EQ(rotule("plot ../in/arm.h5 --quantity lower.position.z --html page.html").status, 0);
  std::string page = content(cwd() / "page.html");
  page.insert(page.find("<style>"), "<script>window.onerror = what => { document.title = 'fault: ' + what; };</script>");
  page.insert(page.find("</body>"),
              "<script>{ const svg = document.querySelector('svg'), box = svg.getBoundingClientRect();"
              "svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.right, clientY: box.top + 100})); }</script>");
  std::ofstream(cwd() / "page.html") << page;
  const std::string command = "cd '" + cwd().string() +
                              "' && timeout 100 chromium --headless --no-sandbox --disable-gpu --no-first-run "
                              "--disable-background-networking --disable-component-update --disable-sync "
                              "--user-data-dir=\"$PWD/profile\" --dump-dom \"file://$PWD/page.html\" >dom.html 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string dom = content(cwd() / "dom.html");
  EXPECT_EQ(dom.find("<title>fault"), std::string::npos);
  const TrajectoryReader reader((cwd() / "../in/arm.h5").string());
  const std::size_t from = dom.find("<b>", dom.find("class=\"reading\"")) + 3;
  EXPECT_NEAR(std::stod(dom.substr(from, dom.find('<', from) - from)), reader.frame(50)["position"][3 + 2], 1e-5);
  EXPECT_NE(dom.find("time [s]: 0.5<"), std::string::npos);
}

TEST_F(ShowCli, OpeningNeedsAProgramForIt) {
  recording();
  // A stand-in for the desktop's: it says what it was given.
  std::ofstream(cwd() / "../in/xdg-open") << "#!/bin/sh\necho \"$1\" > ../in/opened\n";
  testing::fs::permissions(cwd() / "../in/xdg-open", testing::fs::perms::owner_all);
  EXPECT_EQ(rotule("plot ../in/arm.h5 --html page.html --open", "PATH=$PWD/../in:$PATH").status, 0);
  // Nobody waits for the desktop's program.
  for (int i = 0; i < 500 && content(cwd() / "../in/opened").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(content(cwd() / "../in/opened"), "page.html\n");
  const Result none = rotule("report ../in/arm.h5 --out page.html --open", "PATH=/nowhere");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("page.html: is written, but there is no xdg-open"), std::string::npos) << none.err;
}

TEST_F(ShowCli, TheReportTellsInPlainWords) {
  recording();
  const Result said = rotule("report ../in/arm.h5");
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "../in/arm.report.html\n");
  const std::string page = content(cwd() / "../in/arm.report.html");
  for (const char* expected : {"&lt;two&gt; &amp; bars", "an arm", "What was simulated", "How accurate it was",
                               "Where the time went", "50 steps of 0.01 s", "integrator rk4", "Accurate", "--estimate-error",
                               "digits are right", "Closed to rounding", "Plots", "solve", "ms per step on average"})
    EXPECT_NE(page.find(expected), std::string::npos) << expected;
  EXPECT_EQ(page.find("<two>"), std::string::npos);  // the name is text, not markup

  // A run that is bad in a known way is called so: joints that nothing closes, at a far too large step.
  ASSERT_EQ(
      rotule("run ../in/arm.json --quiet --dt 0.05 --set integrator=explicit_euler --set correction=none --record ../in/bad.h5")
          .status,
      0);
  ASSERT_EQ(rotule("report ../in/bad.h5 --out bad.html").status, 0);
  const std::string bad = content(cwd() / "bad.html");
  EXPECT_NE(bad.find("Not to be trusted"), std::string::npos);
  EXPECT_NE(bad.find("A joint stood open that far"), std::string::npos);
}

// What programs before this one recorded: fewer arrays, no summary.
TEST_F(ShowCli, OlderRecordingsStillRead) {
  recording();
  const int status = std::system(("/usr/bin/env PATH=/usr/bin:/bin python3 -c \"import sys\n"
                                  "try: import h5py\n"
                                  "except ImportError: sys.exit(77)\n"
                                  "with h5py.File('" +
                                  (cwd() / "../in/arm.h5").string() +
                                  "', 'a') as f:\n"
                                  "  for name in ('contacts', 'penetration', 'energy/shock', 'iterations', 'stage_seconds', "
                                  "'summary'): del f[name]\n\"")
                                     .c_str());
  if (WEXITSTATUS(status) != 0) GTEST_SKIP() << "python3-h5py is not there";
  EXPECT_EQ(rotule("plot ../in/arm.h5 --svg a.svg").status, 0);
  EXPECT_EQ(rotule("export ../in/arm.h5 --out a.csv").status, 0);
  ASSERT_EQ(rotule("report ../in/arm.h5 --out a.html").status, 0);
  EXPECT_NE(content(cwd() / "a.html").find("it was made by an older program"), std::string::npos);
  EXPECT_EQ(TrajectoryReader((cwd() / "../in/arm.h5").string()).frame(3).number("contacts"), 0);
  const Result refused = rotule("plot ../in/arm.h5 --quantity step_time");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("does not hold /stage_seconds: it was recorded by an older program"), std::string::npos);
}

TEST_F(ShowCli, ExportsOfScenesAndRecordings) {
  recording();
  for (const char* out : {"a.gltf", "a.glb", "a.csv", "a.pvd", "a.json"}) {
    EXPECT_EQ(rotule(std::string("export ../in/arm.h5 --out ") + out).status, 0) << out;
    EXPECT_EQ(rotule(std::string("export mannequin --out b_") + out).status, 0) << out;
  }
  EXPECT_EQ(files(), 12);  // with a folder of frames for each .pvd
  EXPECT_EQ(content(cwd() / "a.json"), rotule("export ../in/arm.json").out);
  EXPECT_EQ(rotule("export ../in/arm.h5").out, content(cwd() / "a.json"));

  // CSV: a line per frame, names quoted where they must be.
  const std::string csv = content(cwd() / "a.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 52);
  EXPECT_NE(csv.find("\"upper, left.position.x [m]\""), std::string::npos);
  EXPECT_NE(csv.find(",lower.position.z [m],"), std::string::npos);

  // Frames that are replaced are all of the new ones; a folder with other things in it is left alone.
  EXPECT_EQ(rotule("export ../in/arm.h5 --out a.pvd --fps 10").status, 0);
  EXPECT_EQ(std::distance(testing::fs::directory_iterator(cwd() / "a_frames"), {}), 6);
  std::ofstream(cwd() / "a_frames" / "notes.txt") << "mine";
  const Result refused = rotule("export ../in/arm.h5 --out a.pvd");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("holds other files than frames"), std::string::npos);
  EXPECT_EQ(content(cwd() / "a_frames" / "notes.txt"), "mine");
}

// A motor that lifts an arm works on it: energy grows, and no report may call that an error.
TEST_F(ShowCli, TheWorkOfAMotorIsNoError) {
  const std::string scene = file("lift.json", R"({"rotule": 1, "bodies": [{"name": "arm", "mass": 1, "position": [0.25, 0, 0],
    "shape": {"box": {"size": [0.5, 0.05, 0.05]}}}], "joints": [{"hinge": {"between": ["world", "arm"], "axis": [0, 1, 0],
    "motor_speed": -1, "motor_strength": 50}}]})");
  ASSERT_EQ(rotule("run " + scene + " --duration 1 --record lift.h5 --quiet").status, 0);
  ASSERT_EQ(rotule("report lift.h5 --out lift.html").status, 0);
  const std::string page = content(cwd() / "lift.html");
  EXPECT_EQ(page.find("Not to be trusted"), std::string::npos);
  EXPECT_NE(page.find("Work of motors"), std::string::npos);
  EXPECT_EQ(page.find("out of each other"), std::string::npos);
}

}  // namespace
}  // namespace rotule
