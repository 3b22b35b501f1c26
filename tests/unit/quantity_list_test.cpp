// The list of quantities: names that files and scripts rely on stay, and whatever is in the list is found everywhere.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/rotule/view/live.h"
#include "record/quantities.h"
#include "record/recorded_motion.h"
#include "record/report_page.h"
#include "record/tables.h"
#include "record/tally.h"
#include "support/files.h"

namespace rotule {
namespace {

using Json = nlohmann::json;
using testing::Folder;

/// Two boxes on a joint fall to the ground: joints, contacts, iterations.
Scene falling_boxes() {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  scene.add({.name = "left", .mass = 1, .position = {0, 0, 0.51}, .velocity = {0, 0, -1}, .shape = Box{{1, 1, 1}}});
  scene.add({.name = "right", .mass = 2, .position = {1.2, 0, 0.6}, .shape = Box{{1, 1, 1}}});
  scene.add(Ball{.name = "hook", .between = {"left", "right"}, .at = {0.6, 0, 0.5}});
  scene.recipe = recipes::realtime();
  return scene;
}

std::string record_fall(const Folder& folder, int steps) {
  const Scene scene = falling_boxes();
  World world(scene);
  std::vector<std::string> bodies, joints;
  for (const BodyId id : world.bodies()) bodies.push_back(world.name(id));
  for (const JointId id : world.joints()) joints.push_back(world.name(id));
  const std::string path = folder.path / "run.h5";
  TrajectoryWriter writer(path, to_json(scene), scene.recipe, bodies, joints);
  time_stages(world);
  TrajectoryFrame frame;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) world.step();
    capture(world, frame);
    writer.append(frame);
  }
  writer.finish();
  return path;
}

std::vector<std::string> csv_header(const RecordedMotion& motion, const Folder& folder) {
  write_csv(motion, 0, folder.path / "run.csv");
  std::string line, cell;
  std::ifstream file(folder.path / "run.csv");
  std::getline(file, line);
  std::vector<std::string> out;
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) out.push_back(cell);
  return out;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands for whatever is asked for
};
template <std::size_t... I>
constexpr bool has_fields(std::index_sequence<I...>) {
  return requires { StepReport{(static_cast<void>(I), Anything())...}; };
}
constexpr std::size_t listed_fields = std::tuple_size_v<decltype(report_fields)>;
static_assert(has_fields(std::make_index_sequence<listed_fields>{}) && !has_fields(std::make_index_sequence<listed_fields + 1>{}),
              "a field of StepReport is not in report_fields");

TEST(QuantityList, HasWhatAStepReportLabels) {
  StepReport report;
  for_each_report_field([&]<class Value>(const ReportField<Value>& field) {
    const auto entry = std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.key == field.key; });
    if (field.label.empty()) return;
    ASSERT_NE(entry, quantities.end()) << field.key;
    EXPECT_EQ(entry->dataset, "/step/" + std::string(field.key));
    EXPECT_EQ(entry->unit, field.unit);
    report.*field.member = Value(7);
    EXPECT_EQ(entry->of_step({report, 1}), static_cast<double>(Value(7))) << field.key;
  });
  EXPECT_GT(quantity("held_overlap").of_step({report, 1}), 0);
}

TEST(QuantityList, ReportsOfStepsBecomeOne) {
  StepReport sum, next;
  sum.iterations = 3, next.iterations = 4;
  sum.contacts = 9, next.contacts = 2;
  sum.held_overlap = 0.2, next.held_overlap = 0.1;
  sum.asleep = 5;
  next.converged = false;
  sum.cut = true;
  put_together(sum, next);
  EXPECT_EQ(sum.iterations, 7);
  EXPECT_EQ(sum.inner_steps, 2);
  EXPECT_EQ(sum.attempts, 1);
  EXPECT_EQ(sum.contacts, 2);
  EXPECT_EQ(sum.asleep, 0);
  EXPECT_EQ(sum.held_overlap, 0.2);
  EXPECT_FALSE(sum.converged);
  EXPECT_TRUE(sum.cut);
  // What went wrong in a later step counts as much.
  StepReport good;
  put_together(good, sum);
  EXPECT_FALSE(good.converged);
  EXPECT_TRUE(good.cut);
}

// What was written once must be found again: these may grow, not change.
TEST(QuantityList, NamesOfFilesStay) {
  const std::map<std::string, std::string> datasets{
      {"time", "/time"},
      {"kinetic_energy", "/energy/kinetic"},
      {"potential_energy", "/energy/potential"},
      {"momentum", "/momentum/linear"},
      {"angular_momentum", "/momentum/angular"},
      {"residual", "/residual"},
      {"contacts", "/contacts"},
      {"penetration", "/penetration"},
      {"position", "/position"},
      {"orientation", "/orientation"},
      {"velocity", "/velocity"},
      {"angular_velocity", "/angular_velocity"},
      {"particle_position", "/particle_position"},
      {"particle_velocity", "/particle_velocity"},
      {"joint_force", "/joint_force"},
      {"joint_torque", "/joint_torque"},
      {"joint_error", "/joint_error"},
      {"shock_energy", "/energy/shock"},
      {"iterations", "/iterations"},
      {"stage_seconds", "/stage_seconds"},
  };
  for (const auto& entry : datasets) {
    const auto found =
        std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.key == entry.first; });
    ASSERT_NE(found, quantities.end()) << entry.first;
    EXPECT_EQ(found->dataset, entry.second);
  }
  const std::map<std::string, std::vector<std::string>> said{
      {"contacts", {"mean", "max"}}, {"joint_error", {"max", "final"}}, {"penetration", {"max", "final"}},
      {"residual", {"mean", "max"}}, {"iterations", {"mean", "max"}},   {"ms_per_step", {"mean", "p50", "p99"}}};
  for (const Quantity& q : quantities) {
    if (!said.contains(std::string(q.key))) continue;
    std::vector<std::string> names;
    for (const auto& [name, value] : said_of(q, Tally())) names.emplace_back(name);
    EXPECT_EQ(names, said.at(std::string(q.key))) << q.key;
  }
}

TEST(QuantityList, ColumnsOfTablesKeepTheirPlaces) {
  const Folder folder("quantity_columns");
  Scene scene;
  scene.add({.name = "b", .mass = 1});
  scene.add_particles({.name = "p", .positions = {{0, 0, 5}}, .mass = 0.1});
  scene.add(Ball{.name = "j", .between = {"world", "b"}});
  const std::vector<std::string> header = csv_header(RecordedMotion::of_scene(scene, "test"), folder);
  const std::vector<std::string> first{"time [s]",
                                       "kinetic_energy [J]",
                                       "potential_energy [J]",
                                       "momentum.x [kg m/s]",
                                       "momentum.y [kg m/s]",
                                       "momentum.z [kg m/s]",
                                       "angular_momentum.x [kg m^2/s]",
                                       "angular_momentum.y [kg m^2/s]",
                                       "angular_momentum.z [kg m^2/s]",
                                       "residual",
                                       "contacts",
                                       "penetration [m]",
                                       "b.position.x [m]",
                                       "b.position.y [m]",
                                       "b.position.z [m]",
                                       "b.orientation.w",
                                       "b.orientation.x",
                                       "b.orientation.y",
                                       "b.orientation.z",
                                       "b.velocity.x [m/s]",
                                       "b.velocity.y [m/s]",
                                       "b.velocity.z [m/s]",
                                       "b.angular_velocity.x [rad/s]",
                                       "b.angular_velocity.y [rad/s]",
                                       "b.angular_velocity.z [rad/s]",
                                       "p/0.position.x [m]",
                                       "p/0.position.y [m]",
                                       "p/0.position.z [m]",
                                       "p/0.velocity.x [m/s]",
                                       "p/0.velocity.y [m/s]",
                                       "p/0.velocity.z [m/s]",
                                       "j.force.x [N]",
                                       "j.force.y [N]",
                                       "j.force.z [N]",
                                       "j.torque.x [N m]",
                                       "j.torque.y [N m]",
                                       "j.torque.z [N m]",
                                       "j.error [m or rad]"};
  ASSERT_GE(header.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(header[i], first[i]);
}

TEST(QuantityList, EveryNumberIsEverywhere) {
  const Folder folder("quantity_everywhere");
  const std::string path = record_fall(folder, 40);
  const TrajectoryReader reader(path);
  const std::vector<std::string> header = csv_header(RecordedMotion::of_recording(path), folder);
  std::vector<std::string> plots;
  for (const QuantityName& name : quantity_names()) plots.push_back(name.name);
  const std::string report = report_page(reader, "run");
  app::Live live("boxes", falling_boxes(), 1);
  const Json shown = Json::parse(*live.scene(1))["numbers"];
  EXPECT_EQ(live.frame(live.last())->numbers.size(), shown.size());

  for (const Quantity& q : quantities) {
    if (is_recorded(q)) {
      EXPECT_TRUE(reader.contains(std::string(q.dataset))) << q.key;
    }
    if (!is_number(q)) continue;
    const auto number = std::find_if(shown.begin(), shown.end(), [&](const Json& one) { return one["key"] == q.key; });
    ASSERT_NE(number, shown.end()) << q.key;
    EXPECT_EQ((*number)["label"], q.label);
    EXPECT_EQ((*number)["unit"], q.unit);
    if (!is_recorded(q)) continue;
    EXPECT_TRUE(has(plots, q.key)) << q.key;
    EXPECT_NO_THROW(static_cast<void>(plot_quantity(reader, std::string(q.key)))) << q.key;
    if (q.per == Per::run) {
      std::string unit(q.unit);  // commas separate columns
      if (const std::size_t comma = unit.find(", "); comma != unit.npos) unit.replace(comma, 2, " or ");
      EXPECT_TRUE(has(header, unit.empty() ? std::string(q.key) : std::string(q.key) + " [" + unit + "]")) << q.key;
    }
    // The report leaves out what was zero all the time.
    const std::vector<double> values = reader.series(std::string(q.dataset));
    if (q.said != 0 && *std::max_element(values.begin(), values.end()) > 0) {
      EXPECT_NE(report.find("<th>" + std::string(q.label)), report.npos) << q.key;
    }
  }
}

// What the run says as it goes and what its recording says afterwards is the same.
TEST(QuantityList, TheRecordingTalliesWithTheRun) {
  const Folder folder("quantity_tally");
  const TrajectoryReader reader(record_fall(folder, 60));
  const Scene scene = falling_boxes();
  World world(scene);
  Tallies tallies(world.diagnostics());
  for (std::size_t i = 1; i <= 60; ++i) {
    const StepReport report = world.step();
    tallies.add({.report = report}, world.diagnostics());
    const TrajectoryFrame frame = reader.frame(i);
    for (const Quantity& q : quantities)
      if (is_number(q) && reader.holds(q)) {
        EXPECT_EQ(frame.number(q), tallies.of(q).last()) << q.key << " in frame " << i;
      }
  }
  EXPECT_GT(tallies["contacts"].max(), 0);
  EXPECT_GT(tallies["iterations"].max(), 0);
}

TEST(QuantityList, TalliesAreMeanLargestAndLast) {
  Tally tally(true);
  EXPECT_EQ(tally.max(), 0);
  for (const double x : {-3.0, -1.0, -2.0}) tally.add(x);
  EXPECT_EQ(tally.mean(), -2);
  EXPECT_EQ(tally.max(), -1) << "what is always below zero has a largest too";
  EXPECT_EQ(tally.last(), -2);
  EXPECT_EQ(tally.percentile(50), -2);
  Tally many(true);
  for (int i = 0; i <= 1'000'000; ++i) many.add(i);
  EXPECT_NEAR(many.percentile(99), 990'000, 10);
}

// A file without what programs before this one did not record.
TEST(QuantityList, OlderFilesAreRead) {
  const Folder folder("quantity_older");
  const std::string path = record_fall(folder, 10);
  std::ofstream script(folder.path / "age.py");
  script << "import sys\ntry: import h5py\nexcept ImportError: sys.exit(77)\nf = h5py.File(sys.argv[1], 'r+')\n";
  for (const Quantity& q : quantities)
    if (is_recorded(q) && q.age == Age::added) script << "del f['" << q.dataset << "']\n";
  script.close();
  const int status = std::system(("/usr/bin/python3 " + (folder.path / "age.py").string() + " " + path).c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) GTEST_SKIP() << "python3-h5py is not there";
  ASSERT_EQ(WEXITSTATUS(status), 0);

  const TrajectoryReader reader(path);
  EXPECT_FALSE(reader.holds(quantity("penetration")));
  EXPECT_TRUE(reader.holds(quantity("energy")));
  EXPECT_EQ(reader.frame(3).number("penetration"), 0);
  EXPECT_GT(reader.frame(3).number("kinetic_energy"), 0);
  const std::vector<std::string> header = csv_header(RecordedMotion::of_recording(path), folder);
  EXPECT_TRUE(has(header, "residual"));
  EXPECT_FALSE(has(header, "penetration [m]")) << "what is not known is left out";
  EXPECT_THROW(static_cast<void>(plot_quantity(reader, "penetration")), Error);
  EXPECT_NO_THROW(static_cast<void>(report_page(reader, "run")));
  for (const std::string& usual : usual_quantities(reader)) EXPECT_NO_THROW(static_cast<void>(plot_quantity(reader, usual)));
}

}  // namespace
}  // namespace rotule
