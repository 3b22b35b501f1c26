// rotule study (D9, D10): runs scenes, tunes every frame, and writes what was found as a page, with tables and pictures beside
// it.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/world.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <variant>

#include "base/budget.h"
#include "progress.h"
#include "record/json_text.h"
#include "study_page.h"

namespace rotule::app {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_from(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The islands of the step just made as one problem; false where there was nothing to solve.
bool take_frame(const World& world, tune::FrictionLaw law, FrameProblem& out) {
  std::vector<ConstraintProblem> islands;
  std::vector<double> answer;
  for (int k = 0; k < world.islands(); ++k) {
    if (world.problem(k).rows() == 0) continue;
    islands.push_back(world.problem(k));
    const auto x = world.multipliers(k);
    answer.insert(answer.end(), x.begin(), x.end());
  }
  if (islands.empty()) return false;
  out.time = world.time();
  out.problem = tune::joined(islands);
  tune::set_friction_law(out.problem, law, answer);
  return true;
}

/// The study's four scenes as its table 3.1 counts them. A wall's bricks touch at their beds alone and a tripod at its feet:
/// points that are near without touching are left out. A link of the chain touches at one point: a ball in its middle, with the
/// inertia of the whole link.
void as_published(const std::string& name, Scene& scene, Recipe& recipe) {
  if (name == "tripods") set(recipe, "contacts.margin", "0.0003");
  if (name != "chain_fall") return;
  for (BodyDef& body : scene.bodies)
    if (const auto* link = std::get_if<Capsule>(&body.shape); link && body.mass) {
      body.inertia = *body.mass / volume(body.shape) * mass_properties(body.shape, 1).inertia;
      body.shape = Sphere{link->radius};
    }
}

/// Friction bounded along two tangents, everything else as it was.
void use_friction_box(Recipe& recipe) {
  if (const auto* cone = std::get_if<ConeContactSettings>(&recipe.contacts))
    recipe.contacts = BoxContactSettings{static_cast<const ContactSettings&>(*cone)};
  else if (std::holds_alternative<NoContactSettings>(recipe.contacts))
    recipe.contacts = BoxContactSettings{};
}

/// Runs one scene and tunes its frames as they come. What the journal has is run again, which gives the same bits, but not tuned.
SceneStudy study_scene(const std::string& scene, const StudyOptions& options, const Ranks& ranks, const std::string& folder) {
  const tune::TuneSettings settings = tune_settings(options.choices);
  const tune::FrictionLaw law = friction_law(options.choices.friction);
  NamedScene named = find_scene(scene);
  Recipe recipe = named.scene.recipe;
  std::vector<std::string> sets{fmt::format("dt={}", 1.0 / 60)};
  if (options.choices.friction != "cone" && options.choices.friction != "recorded") use_friction_box(recipe);
  as_published(named.name, named.scene, recipe);
  sets.insert(sets.end(), options.settings.begin(), options.settings.end());
  apply_settings(recipe, sets);
  World world(named.scene, recipe);
  world.keep_problems(true);

  SceneStudy out;
  out.scene = named.name;
  const Json identity{{"scene", named.name},
                      {"hash", std::hash<std::string>{}(to_json(named.scene))},  // it may be edited between two runs
                      {"set", sets},
                      {"every", options.every},
                      {"settings", to_json(options.choices)}};
  Journal journal(folder + "/" + named.name + ".csv", identity, ranks);
  const std::int64_t shown = options.frames / 2 / options.every * options.every;  // whose course is drawn
  constexpr std::size_t frames_per_batch = 16;
  std::vector<FrameProblem> batch;
  ProgressBar bar(options.frames, !options.quiet && ranks.rank == 0, named.name + " step");
  for (int i = 0; i < options.frames; ++i) {
    Budget::listen();
    const auto start = Clock::now();
    world.step();
    const bool chosen = i % options.every == 0;
    FrameProblem frame;
    frame.frame = i;
    const bool rows = chosen && take_frame(world, law, frame);
    out.without_rows += chosen && !rows;
    out.seconds_running += seconds_from(start);
    ++out.steps;
    if (rows && (i / options.every) % ranks.size == ranks.rank && !journal.has(i)) {
      batch.push_back(std::move(frame));
      ++out.tuned_now;
    }
    if (batch.size() == frames_per_batch || (i + 1 == options.frames && !batch.empty())) {
      const auto tuning = Clock::now();
      tune_frames(batch, settings, options.choices.threads, shown, journal);
      out.seconds_tuning += seconds_from(tuning);
    }
    bar.at(i + 1);
  }
  out.rows = journal.finish();
  std::erase_if(out.rows, [&](const FrameRow& row) { return row.frame >= options.frames; });
  if (ranks.rank > 0) return out;
  out.summary = summary_of(out.rows, options.choices.error);
  write_text_file(folder + "/" + named.name + ".csv", to_csv(out.rows));
  Json json = Json::array();
  for (const FrameRow& row : out.rows) json.push_back(to_json(row));
  write_text_file(folder + "/" + named.name + ".json", json.dump(1) + "\n");
  return out;
}

std::string in_short(const SceneStudy& s) {
  const TuningSummary& m = s.summary;
  std::string text = fmt::format("{:<12} {:>4} frames, {} better  contacts {:.0f} to {:.0f}", s.scene, m.frames, m.better,
                                 m.contacts.least, m.contacts.most);
  if (m.better > 0) text += fmt::format("  alpha {:.3f} +- {:.3f}", m.alpha.mean, m.alpha.deviation);
  text += fmt::format("  error {:.3g} -> {:.3g} (x {:.3f})  sweeps {:+.1f} %", m.error_before.mean, m.error_after.mean,
                      m.error_before.mean > 0 ? m.error_after.mean / m.error_before.mean : 1.0,
                      m.sweeps_before > 0 ? 100 * (m.sweeps_after / m.sweeps_before - 1) : 0.0);
  if (s.tuned_now > 0)
    text += fmt::format("  {:.0f} ms per frame, run {:.0f} ms per step", 1e3 * s.seconds_tuning / s.tuned_now,
                        1e3 * s.seconds_running / s.steps);
  return text + "\n";
}

}  // namespace

void study(const StudyOptions& options) {
  std::vector<std::string> scenes = options.scenes;
  if (scenes.empty()) scenes = {"brick_wall", "tripods", "marble_box", "chain_fall"};
  std::set<std::string> names;
  for (const std::string& scene : scenes)
    if (const std::string name = find_scene(scene, true).name; !names.insert(name).second)
      throw Error(fmt::format("--scenes: two are named {}, and tables are named after scenes", name));
  static_cast<void>(tune_settings(options.choices));
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) throw Error(options.out, "cannot be made: " + error.message());

  const Ranks ranks = ranks_of_environment();
  std::vector<SceneStudy> studies;
  for (const std::string& scene : scenes) studies.push_back(study_scene(scene, options, ranks, options.out));
  if (ranks.rank > 0) return;

  const std::string page = options.out + "/study.html";
  write_text_file(options.out + "/tables.csv", study_csv(studies));
  for (const auto& [name, plots] : study_figures(studies)) {
    try {
      write_text_file(options.out + "/" + name + ".svg", to_svg(plots));
    } catch (const Error&) {
      continue;  // nothing that a plot could show
    }
  }
  write_text_file(page, study_page(studies, options.choices));
  for (const SceneStudy& s : studies) Journal::remove(options.out + "/" + s.scene + ".csv", ranks);

  if (options.json) {
    Json json{{"page", page}, {"settings", to_json(options.choices)}, {"findings", study_findings(studies, options.choices)}};
    print(json.dump(2) + "\n");
    return;
  }
  std::string text;
  for (const SceneStudy& s : studies) text += in_short(s);
  for (const std::string& finding : study_findings(studies, options.choices)) text += "- " + finding + "\n";
  print(text + page + "\n");
}

}  // namespace rotule::app
