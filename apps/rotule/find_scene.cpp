#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "model/content.h"
#include "model/dial.h"
#include "model/realtime_scope.h"
#include "record/json_text.h"
#include "scenes/builders.h"

namespace rotule::app {
namespace {

namespace fs = std::filesystem;

/// Where shipped scenes may lie: where the environment says, beside the installed program, in the source tree.
std::vector<fs::path> scene_folders() {
  std::vector<fs::path> out;
  if (const char* folder = std::getenv("ROTULE_SCENES"); folder != nullptr && *folder != '\0') out.emplace_back(folder);
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    out.push_back(program.parent_path().parent_path() / "share" / "rotule" / "scenes");
  out.emplace_back(ROTULE_SCENES_FOLDER);
  return out;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

/// Whoever asked for `realtime` and gets the reference is told why.
void say_why_not_realtime(const Scene& scene) {
  if (const std::string why = why_not_realtime(scene, scene.recipe); !why.empty()) complain(why);
}

/// With its recipe complete, as a rule: commands change single fields of it.
NamedScene named(const std::string& origin, Scene scene, bool as_written) {
  if (!as_written) {
    scene.recipe = recipe_of(scene);
    if (scene.dial == Dial::realtime) say_why_not_realtime(scene);
    scene.dial.reset();
  }
  std::string name = scene.name.empty() ? fs::path(origin).stem().string() : scene.name;
  return {std::move(name), origin, std::move(scene)};
}

}  // namespace

std::vector<std::string> scene_names() {
  std::set<std::string> out;
  for (const std::string& name : scenes::names()) out.insert(name);
  for (const fs::path& folder : scene_folders()) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".json" && at->path().filename() != "schema.json") out.insert(at->path().stem().string());
  }
  return {out.begin(), out.end()};
}

NamedScene find_scene(const std::string& given, bool as_written) {
  if (given.empty()) throw Error("the scene's name is empty; rotule list scenes shows the names");
  if (names_robot(given)) {
    Robot robot = read_robot(given);
    NamedScene out = named(given, std::move(robot.scene), as_written);
    out.told = std::move(robot.remarks);
    if (!out.told.empty()) complain(text_of(out.told, given, false));
    return out;
  }
  const bool is_path = given.find('/') != given.npos || given.ends_with(".json");
  if (is_path || is_file(given)) return named(given, load_scene(given), as_written);
  for (const fs::path& folder : scene_folders())
    if (const fs::path file = folder / (given + ".json"); is_file(file) && given != "schema")
      return named(file, load_scene(file), as_written);
  if (std::optional<Scene> scene = scenes::build(given)) return named(given, std::move(*scene), as_written);
  throw Error(fmt::format("unknown scene {}; {}", in_quotes(given), suggestion(given, scene_names())));
}

/// A recipe that stands in a file by itself: what it gives is taken, the rest fitted to the scene.
static Recipe recipe_in_file(const Scene& scene, const std::string& path) {
  const Json given = parse_if_json(read_text_file(path));
  if (!given.is_object())
    throw Error("recipe", fmt::format("{} must hold one JSON object, as rotule recipe --json prints it", path));
  const Scene bare = parse_scene(Json{{"rotule", 1}, {"recipe", given}}.dump(), path);
  GivenFields fields;
  for (const auto& item : given.items()) fields.add(item.key());
  return fitted(content_of(scene), bare.recipe, fields, {bare.dial.value_or(Dial::balanced), {}});
}

void apply_exactness(Scene& scene, const Exactness& exactness) {
  if (!exactness.dial.empty() && exactness.accuracy) throw Error("--accuracy: --recipe is given too; leave out one of the two");
  try {
    if (exactness.dial.ends_with(".json"))
      scene.recipe = recipe_in_file(scene, exactness.dial);
    else if (!exactness.dial.empty())
      scene.recipe = recipe_for(scene, dial_named(exactness.dial));
    if (exactness.dial == name_of(Dial::realtime)) say_why_not_realtime(scene);
    if (exactness.accuracy) scene.recipe = recipe_for(scene, *exactness.accuracy);
  } catch (const Error& error) {
    throw Error(fmt::format("--{}", error.what()));
  }
  // Impulses are of first order: the step is what they err by, and has a least length.
  const Recipe& recipe = scene.recipe;
  if (exactness.accuracy && by_impulses(recipe.formulation) && recipe.dt > 1.5 * *exactness.accuracy)
    complain(
        fmt::format("--accuracy {:g}: bodies that touch are stepped by impulses, which reach about {:g} here; "
                    "rotule run --estimate-error says what was reached",
                    *exactness.accuracy, recipe.dt));
}

void apply_settings(Recipe& recipe, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == setting.npos)
      throw Error(fmt::format("--set {}: must be KEY=VALUE, such as integrator=rk4", in_quotes(setting)));
    try {
      set(recipe, std::string_view(setting).substr(0, equals), std::string_view(setting).substr(equals + 1));
    } catch (const Error& error) {
      throw Error(fmt::format("--set {}", setting.substr(0, 80)), error.what());
    }
  }
}

void print(const std::string& given) {
  const std::string text = printable(given);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error("standard output cannot be written");
}

void complain(const std::string& message) { std::fprintf(stderr, "rotule: %s\n", shown_message(message).c_str()); }

double energy_scale(const Vec3& gravity, double initial_energy, double largest_kinetic) {
  constexpr double at_rest = 1e-9;  // of all energy: what moves by less is rounding, and nothing to compare with
  return gravity.isZero(0) && initial_energy > 0 ? initial_energy : std::max(largest_kinetic, at_rest * std::abs(initial_energy));
}

}  // namespace rotule::app
