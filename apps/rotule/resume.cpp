#include "resume.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "record/json_text.h"
#include "record/scene_files.h"
#include "record/scene_json.h"
#include "record/version.h"
#include "world/world_implementation.h"

namespace rotule::app {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

template <class T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}
template <class T>
void take(const Json& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = json[name].get<T>();
}

RunOptions options_of(const Json& begun) {
  RunOptions out;
  out.slice = begun.at("slice").get<std::string>();
  out.slice_rate = begun.at("slice_rate").get<double>();
  out.relax = begun.at("relax").get<bool>();
  out.until_equilibrium = begun.at("until_equilibrium").get<bool>();
  out.estimate_error = begun.at("estimate_error").get<bool>();
  take(begun, "force_tolerance", out.force_tolerance);
  take(begun, "speed_tolerance", out.speed_tolerance);
  take(begun, "hold", out.hold);
  return out;
}

/// The scene where it came from, unless it has changed; where it is gone, as the recording has it.
NamedScene scene_of(const TrajectoryReader& recording, const Json& begun, const std::string& given) {
  const auto origin = begun.at("origin").get<std::string>();
  std::optional<NamedScene> found;
  if (!given.empty()) {
    found = find_scene(given);
  } else {
    try {
      found = find_scene(origin);
    } catch (const Error& error) {
      // A file that is there and makes no sense any more has changed.
      if (is_there(origin))
        throw Error(origin, fmt::format("has changed since {} was begun: {}", recording.path(), error.what()));
    }
  }
  if (found && scene_sum(*found) != begun.at("scene_sum").get<std::string>())
    throw Error(found->origin,
                fmt::format("is not the scene that {} was begun with: it has changed since, and a run goes on with its own; "
                            "put it back, or begin anew",
                            recording.path()));
  if (found) return *found;
  NamedScene out;
  out.name = begun.at("name").get<std::string>();
  out.origin = origin;
  out.scene = parse_scene(recording.scene(), recording.path());
  return out;
}

/// As it stands in the recording, complete.
Recipe recipe_of_recording(const TrajectoryReader& recording) {
  const std::string text = recording.recipe();
  const Recipe out = parse_scene(Json{{"rotule", 1}, {"recipe", parse_if_json(text)}}.dump(), recording.path()).recipe;
  if (to_complete_json(out) != text) throw Error(recording.path(), "has a recipe that this program reads as another one");
  return out;
}

}  // namespace

std::string scene_sum(const NamedScene& named) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : to_json(with_meshes_inside(named.scene))) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", sum);
}

Json run_as_begun(const RunOptions& options, const NamedScene& named, std::int64_t steps) {
  Json out = {{"name", named.name},
              {"origin", named.origin},
              {"steps", steps},
              {"slice", options.slice},
              {"slice_rate", options.slice_rate},
              {"relax", options.relax},
              {"until_equilibrium", options.until_equilibrium},
              {"estimate_error", options.estimate_error}};
  put(out, "force_tolerance", options.force_tolerance);
  put(out, "speed_tolerance", options.speed_tolerance);
  put(out, "hold", options.hold);
  return out;
}

Resumed take_up(const RunOptions& given) {
  const std::string ending = unfinished_name("");
  Resumed out;
  out.recording = given.resume;
  if (out.recording.ends_with(ending)) out.recording.resize(out.recording.size() - ending.size());
  const std::string partial = unfinished_name(out.recording);
  out.copied = !is_there(partial);
  const std::string source = out.copied ? out.recording : partial;
  {
    const TrajectoryReader recording(source);
    if (recording.program_version() != program_version)
      throw Error(source, fmt::format("was recorded by rotule {}, and this is {}: bits need not be the same; begin anew",
                                      recording.program_version(), program_version));
    std::optional<ResumePoint> point = recording.resume_point();
    if (!point) throw Error(source, "has no point to go on from: it was not recorded by rotule run, or by an older one");
    out.point = std::move(*point);
    try {
      out.run = Json::parse(out.point.run);
      const Json& begun = out.run.at("begun");
      out.options = options_of(begun);
      out.named = scene_of(recording, begun, given.scene);
      out.recipe = recipe_of_recording(recording);
      out.steps = begun.at("steps").get<std::int64_t>();
    } catch (const Json::exception& error) {
      throw Error(source, fmt::format("is damaged: {}", error.what()));
    }
    if (given.threads) out.recipe.threads = *given.threads;
    if (given.steps) out.steps = *given.steps;
    if (given.duration) out.steps = static_cast<std::int64_t>(std::ceil(*given.duration / out.recipe.dt * (1 - 1e-12)));
    const auto done = static_cast<std::int64_t>(recording.frames()) - 1;
    if (done >= 0 && out.run.value("done", std::int64_t{-1}) != done)
      throw Error(source, "is damaged: its frames do not end where the run would go on");
    if (out.steps < done || (recording.finished() && out.steps == done))
      throw Error(source, fmt::format("has all of its {} steps; --steps or --duration asks for more", done));
  }
  if (out.options.estimate_error) {
    complain("--estimate-error: its second run is not in the recording, and is left out from here on");
    out.options.estimate_error = false;
  }
  out.options.record = out.recording;
  out.options.record_problems = given.record_problems;
  out.options.every = given.every;
  out.options.json = given.json;
  out.options.quiet = given.quiet;
  return out;
}

TrajectoryWriter go_on(const Resumed& resumed) {
  if (!resumed.copied) return TrajectoryWriter::resume(resumed.recording, true);
  // What is finished stays whole until there is more of it.
  const std::string beside = fmt::format("{}.tmp-{}", resumed.recording, ::getpid());
  std::error_code error;
  if (!fs::copy_file(resumed.recording, beside, fs::copy_options::overwrite_existing, error) ||
      (fs::rename(beside, unfinished_name(resumed.recording), error), error)) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw Error(unfinished_name(resumed.recording), fmt::format("cannot be written: {}", error.message()));
  }
  return TrajectoryWriter::resume(resumed.recording, false);
}

Json counts_of(const World& world) {
  const WorldImplementation& w = implementation_of(world);
  return {{"unconverged", w.unconverged_steps},
          {"late", w.late_steps},
          {"halved", w.halved_steps},
          {"repeated", w.repeated_steps},
          {"gaining", w.gaining_steps},
          {"open", w.open_steps},
          {"most_gained", w.most_gained},
          {"most_open", w.most_open},
          {"cut", w.cut_steps},
          {"worst_cut", w.worst_cut},
          {"broken", w.broken_joints},
          {"warnings", w.start_warnings},
          {"held", w.held_steps},
          {"most_held", w.most_held},
          {"slowed", w.slowed_steps},
          {"energy_taken", w.energy_taken},
          {"most_taken", w.most_taken},
          {"stopped", w.stopped_steps},
          {"stopping_energy", w.stopping_energy}};
}

void restore(World& world, const Resumed& resumed) {
  WorldImplementation& w = implementation_of(world);
  try {
    for (const Json& name : resumed.run.at("lost_joints")) world.remove(world.joint(name.get<std::string>()));
    Snapshot snapshot;
    snapshot.bytes = resumed.point.snapshot;
    world.load(snapshot);
    const Json& counts = resumed.run.at("counts");
    counts.at("unconverged").get_to(w.unconverged_steps);
    counts.at("late").get_to(w.late_steps);
    counts.at("halved").get_to(w.halved_steps);
    counts.at("repeated").get_to(w.repeated_steps);
    counts.at("gaining").get_to(w.gaining_steps);
    counts.at("held").get_to(w.held_steps);
    counts.at("most_held").get_to(w.most_held);
    // Files of before this was counted go on from nothing.
    w.slowed_steps = counts.value("slowed", 0);
    w.energy_taken = counts.value("energy_taken", 0.0);
    w.most_taken = counts.value("most_taken", 0.0);
    w.stopped_steps = counts.value("stopped", 0);
    w.stopping_energy = counts.value("stopping_energy", 0.0);
    counts.at("open").get_to(w.open_steps);
    counts.at("most_gained").get_to(w.most_gained);
    counts.at("most_open").get_to(w.most_open);
    counts.at("cut").get_to(w.cut_steps);
    counts.at("worst_cut").get_to(w.worst_cut);
    counts.at("broken").get_to(w.broken_joints);
    w.start_warnings = counts.at("warnings").get<std::vector<std::string>>();
  } catch (const Json::exception& error) {
    throw Error(resumed.recording, fmt::format("is damaged: {}", error.what()));
  }
}

void say_if_unfinished(const std::string& path) {
  if (path.empty() || !names_recording(path) || !is_there(path)) return;
  std::int64_t frames = 0;
  double time = 0;
  try {
    const TrajectoryReader recording(path);
    if (recording.finished()) return;
    frames = static_cast<std::int64_t>(recording.frames());
    if (frames > 0) time = recording.series("/time", recording.frames() - 1, 1).front();
  } catch (const Error&) {
    return;  // which the command itself will say, or it is a file of problems
  }
  complain(fmt::format("{} was not finished: its {} frames end at {} s; rotule run --resume {} goes on with it", path, frames,
                       shortest(time), path));
}

}  // namespace rotule::app
