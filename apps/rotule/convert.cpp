// rotule convert: files of robots to scenes, and scenes to URDF.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/robots.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/json_text.h"

namespace rotule::app {

namespace {

Vec3 three_numbers(const std::string& text) {
  std::istringstream in(text);
  Vec3 out = Vec3::Zero();
  std::string word;
  int count = 0;
  for (; std::getline(in, word, ','); ++count) {
    const std::optional<double> number = to_double(word);
    if (!number || count == 3) break;
    out[count] = *number;
  }
  if (count != 3 || !in.eof() || !out.allFinite())
    throw Error(fmt::format("--at: must be x,y,z in metres, is {}", in_quotes(text)));
  return out;
}

template <class Choice>
Choice chosen(const char* option, const std::string& word, const std::vector<std::pair<std::string, Choice>>& choices) {
  std::vector<std::string> known;
  for (const auto& [name, choice] : choices) {
    if (name == word) return choice;
    known.push_back(name);
  }
  throw Error(fmt::format("{}: must be one of {}, is {}", option, fmt::join(known, ", "), in_quotes(word)));
}

RobotOptions options_of(const ConvertOptions& given) {
  using Base = RobotOptions::Base;
  using Meshes = RobotOptions::Meshes;
  RobotOptions out;
  out.base =
      chosen<Base>("--base", given.base, {{"automatic", Base::automatic}, {"fixed", Base::fixed}, {"floating", Base::floating}});
  out.meshes =
      chosen<Meshes>("--meshes", given.meshes, {{"hulls", Meshes::hulls}, {"parts", Meshes::parts}, {"none", Meshes::none}});
  if (!given.at.empty()) out.base_position = three_numbers(given.at);
  out.keyframe = given.keyframe;
  out.folders = given.folders;
  out.weld_fixed = given.weld;
  out.hold = given.hold;
  out.self_contacts = given.self_contacts;
  return out;
}

}  // namespace

std::string text_of(const std::vector<RobotRemark>& remarks, const std::string& file, bool all) {
  if (!all)
    return fmt::format("{}: {} of the file could not be taken over as {}; rotule check or convert --verbose lists {}", file,
                       remarks.size() == 1 ? "1 thing" : fmt::format("{} things", remarks.size()),
                       remarks.size() == 1 ? "it is" : "they are", remarks.size() == 1 ? "it" : "them");
  std::string out;
  for (const RobotRemark& r : remarks) {
    const std::string where = r.line > 0 ? fmt::format("{}:{}", std::filesystem::path(r.file).filename().string(), r.line) : "";
    out += fmt::format("  {:<8} {}{}{}: {}\n", "file", shown_message(where.empty() ? "" : where + " "), shown_message(r.what),
                       r.count > 1 ? fmt::format(" ({} times)", r.count) : "", shown_message(r.text));
  }
  return out;
}

void convert(const ConvertOptions& options) {
  const std::string ending = std::filesystem::path(options.out).extension().string();
  if (ending != ".json" && ending != ".urdf")
    throw Error(options.out, "must end in .json or .urdf: the ending says what is written");
  require_other_file(options.out, options.in);
  Robot robot;
  if (names_robot(options.in)) {
    robot = read_robot(options.in, options_of(options));
  } else {
    if (options.for_robots) throw Error(options.in, "is no file of a robot; --base, --at, --meshes and the like are for those");
    robot.scene = find_scene(options.in, true).scene;
  }
  if (ending == ".json") {
    save_scene(robot.scene, options.out);
  } else {
    try {
      write_text_file(options.out, to_urdf(robot.scene, robot.ratings, &robot.remarks));
    } catch (const Error& error) {
      throw Error(options.in, error.what());
    }
  }
  double mass = 0;
  for (const BodyDef& body : robot.scene.bodies) mass += body.mass.value_or(0);
  print(fmt::format("{}: bodies {}, joints {}, mass given {:.6g} kg, {} remark{}\n", shown(options.out),
                    robot.scene.bodies.size(), robot.scene.joints.size(), mass, robot.remarks.size(),
                    robot.remarks.size() == 1 ? "" : "s"));
  if (options.verbose) print(text_of(robot.remarks, options.in, true));
}

}  // namespace rotule::app
