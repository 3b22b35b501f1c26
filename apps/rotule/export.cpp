// rotule export: a scene or a recording in another program's format, by the ending of the file to write.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <filesystem>

#include "base/spans.h"
#include "base/text.h"
#include "commands.h"
#include "record/fclib_file.h"
#include "record/gltf.h"
#include "record/json_text.h"
#include "record/problem_file.h"
#include "record/tables.h"

namespace rotule::app {

namespace {

const std::vector<std::string> endings{".json", ".gltf", ".glb", ".csv", ".pvd", ".hdf5"};

RecordedMotion motion_of(const std::string& given) {
  if (names_recording(given)) return RecordedMotion::of_recording(given);
  const NamedScene named = find_scene(given);
  RecordedMotion out = RecordedMotion::of_scene(named.scene, named.origin);
  if (out.scene.name.empty()) out.scene.name = named.name;
  return out;
}

}  // namespace

void export_scene(const ExportOptions& options) {
  const std::string ending = options.out.empty() ? ".json" : std::filesystem::path(options.out).extension().string();
  if (std::find(endings.begin(), endings.end(), ending) == endings.end())
    throw Error(options.out, fmt::format("must end in one of {}: the ending says what is written", fmt::join(endings, ", ")));
  if (options.rate && !(*options.rate > 0)) throw Error(fmt::format("--fps: must be greater than 0, is {}", *options.rate));
  if (!options.out.empty()) require_other_file(options.out, options.scene);

  if (ending == ".json") {
    const bool recorded = names_recording(options.scene);
    const Scene scene =
        recorded ? parse_scene(TrajectoryReader(options.scene).scene(), options.scene) : find_scene(options.scene, true).scene;
    if (options.out.empty()) return print(to_json(scene));
    return save_scene(scene, options.out);
  }
  if (ending == ".hdf5") {
    const RecordedProblem recorded = read_problem(options.scene, options.frame, options.island);
    const std::string name = fmt::format("{}, frame {}, island {}", options.scene, options.frame, options.island);
    try {
      return write_fclib(options.out, name, recorded.problem, rotule::view(recorded.x));
    } catch (const Error& error) {
      throw Error(name, error.what());
    }
  }
  const RecordedMotion motion = motion_of(options.scene);
  if (ending == ".csv") return write_csv(motion, options.rate.value_or(0), options.out);
  if (ending == ".pvd") return write_vtk(motion, options.rate.value_or(30), options.out);
  write_text_file(options.out, to_gltf(motion, {.rate = options.rate.value_or(60), .binary = ending == ".glb"}));
}

}  // namespace rotule::app
