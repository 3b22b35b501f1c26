#include "tuning.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/budget.h"
#include "base/parallel.h"
#include "base/text.h"
#include "record/json_text.h"
#include "signals.h"

namespace rotule::app {

using tune::SweepOutcome;
using tune::SweepParameters;
using tune::TunedFrame;

Ranks ranks_of_environment() {
  constexpr std::pair<const char*, const char*> known[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  Ranks ranks;
  for (const auto& [rank, size] : known) {
    const int r = std::atoi(text(rank).c_str()), n = std::atoi(text(size).c_str());
    if (text(rank).empty() || n < 2 || r < 0 || r >= n) continue;
    ranks.rank = r;
    ranks.size = n;
    break;
  }
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_STEP_ID"})
    if (ranks.job.empty()) ranks.job = text(name);
  return ranks;
}

namespace {

/// JSON has no infinity: null stands for it.
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
double number(const Json& json) { return json.is_null() ? infinity : json.get<double>(); }

Json json_of(const SweepOutcome& o) {
  return {{"sweeps", o.sweeps}, {"error", number(o.error)}, {"least_error", number(o.least_error)}};
}
SweepOutcome outcome_of(const Json& json) {
  return {
      .sweeps = json.at("sweeps").get<int>(), .error = number(json.at("error")), .least_error = number(json.at("least_error"))};
}

constexpr std::string_view directions[] = {"forward", "reverse", "to_and_fro"};

Json json_of(const tune::GenerationRecord& g) {
  return {{"evaluations", g.evaluations}, {"best", number(g.best)}, {"sigma", g.sigma},
          {"axis_ratio", g.axis_ratio},   {"mean", g.mean},         {"axes", g.axes},
          {"deviations", g.deviations}};
}

}  // namespace

Json to_json(const FrameRow& row) {
  const TunedFrame& t = row.tuned;
  const SweepParameters& p = t.parameters;
  Json json{{"frame", row.frame},
            {"time", row.time},
            {"rows", t.rows},
            {"contacts", t.contacts},
            {"joints", t.joints},
            {"bodies", t.bodies},
            {"norm_b", t.norm_b},
            {"condition", t.conditioning.condition},
            {"rank", t.conditioning.rank},
            {"alpha", p.relaxation},
            {"kappa", p.regularisation},
            {"log10_kappa", t.log_kappa},
            {"friction_alpha", p.friction_relaxation},
            {"warm", p.warm},
            {"order", p.staggered ? "staggered" : "by_blocks"},
            {"direction", directions[static_cast<int>(p.direction)]},
            {"before", json_of(t.before)},
            {"after", json_of(t.after)},
            {"fitness", {{"before", number(t.fitness_before)}, {"after", number(t.fitness_after)}}},
            {"residual", {{"before", number(t.residual_before)}, {"after", number(t.residual_after)}}},
            {"judged_error", number(t.judged_after)},
            {"generations", t.generations},
            {"candidates", t.asked},
            {"solved", t.solved},
            {"stop", tune::to_string(t.stop)}};
  if (!t.course.empty()) {
    json["course"] = Json::array();
    for (const tune::GenerationRecord& g : t.course) json["course"].push_back(json_of(g));
  }
  return json;
}

FrameRow frame_row(const Json& json) {
  FrameRow row;
  TunedFrame& t = row.tuned;
  SweepParameters& p = t.parameters;
  row.frame = json.at("frame").get<std::int64_t>();
  row.time = json.at("time").get<double>();
  t.rows = json.at("rows").get<int>();
  t.contacts = json.at("contacts").get<int>();
  t.joints = json.at("joints").get<int>();
  t.bodies = json.at("bodies").get<int>();
  t.norm_b = json.at("norm_b").get<double>();
  t.conditioning = {.condition = json.at("condition").get<double>(), .rank = json.at("rank").get<int>(), .rows = t.rows};
  p.relaxation = json.at("alpha").get<double>();
  p.regularisation = json.at("kappa").get<double>();
  t.log_kappa = json.at("log10_kappa").get<double>();
  p.friction_relaxation = json.at("friction_alpha").get<double>();
  p.warm = json.at("warm").get<double>();
  p.staggered = json.at("order").get<std::string>() == "staggered";
  const auto* direction = std::find(std::begin(directions), std::end(directions), json.at("direction").get<std::string>());
  p.direction = static_cast<tune::Direction>(direction - std::begin(directions));
  t.before = outcome_of(json.at("before"));
  t.after = outcome_of(json.at("after"));
  t.fitness_before = number(json.at("fitness").at("before"));
  t.fitness_after = number(json.at("fitness").at("after"));
  t.residual_before = number(json.at("residual").at("before"));
  t.residual_after = number(json.at("residual").at("after"));
  t.judged_after = number(json.at("judged_error"));
  t.generations = json.at("generations").get<int>();
  t.asked = json.at("candidates").get<std::int64_t>();
  t.solved = json.at("solved").get<std::int64_t>();
  const std::string stop = json.at("stop").get<std::string>();
  for (int k = 0; k <= static_cast<int>(tune::Stop::stagnation); ++k)
    if (tune::to_string(static_cast<tune::Stop>(k)) == stop) t.stop = static_cast<tune::Stop>(k);
  for (const Json& g : json.value("course", Json::array()))
    t.course.push_back({.evaluations = g.at("evaluations").get<std::int64_t>(),
                        .best = number(g.at("best")),
                        .sigma = g.at("sigma").get<double>(),
                        .axis_ratio = g.at("axis_ratio").get<double>(),
                        .mean = g.at("mean").get<std::vector<double>>(),
                        .axes = g.at("axes").get<std::vector<double>>(),
                        .deviations = g.at("deviations").get<std::vector<double>>()});
  return row;
}

std::string to_csv(const std::vector<FrameRow>& rows) {
  std::string csv =
      "frame,time,rows,contacts,joints,norm_b,condition,rank,alpha,log10_kappa,friction_alpha,warm,order,direction,sweeps_before,"
      "sweeps_after,error_before,error_after,least_error_before,least_error_after,fitness_before,fitness_after,residual_before,"
      "residual_after,generations,candidates,solved,stop\n";
  for (const FrameRow& row : rows) {
    const TunedFrame& t = row.tuned;
    const SweepParameters& p = t.parameters;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.frame,
                       row.time, t.rows, t.contacts, t.joints, t.norm_b, t.conditioning.condition, t.conditioning.rank,
                       p.relaxation, t.log_kappa, p.friction_relaxation, p.warm, p.staggered ? "staggered" : "by_blocks",
                       directions[static_cast<int>(p.direction)], t.before.sweeps, t.after.sweeps, t.before.error, t.after.error,
                       t.before.least_error, t.after.least_error, t.fitness_before, t.fitness_after, t.residual_before,
                       t.residual_after, t.generations, t.asked, t.solved, tune::to_string(t.stop));
  }
  return csv;
}

// ---- Journal

Journal::Journal(const std::string& out, const Json& identity, Ranks ranks)
    : out_(out), identity_(Json{{"rotule_tune", 1}, {"of", identity}}.dump()), ranks_(std::move(ranks)) {
  if (out_.empty()) {
    if (ranks_.size > 1) throw Error("under mpirun ranks share their work by files: give --out");
    return;
  }
  // Any number of ranks may have been at work before.
  const std::filesystem::path place(out_);
  const std::filesystem::path folder = place.has_parent_path() ? place.parent_path() : ".";
  const std::string beginning = place.filename().string() + ".part";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    bool ended = false;
    if (entry.path().filename().string().starts_with(beginning)) read(entry.path().string(), ended);
  }
}

namespace {

/// A run that was killed while it wrote leaves part of a line, to which the next one would be glued.
void drop_unfinished_line(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return;
  const std::string text = read_text_file(path);
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is zero
  if (whole < text.size()) std::filesystem::resize_file(path, whole);
}

}  // namespace

/// Made with the first line: a command that fails before leaves nothing.
void Journal::write(const std::string& line) {
  if (out_.empty()) return;
  const std::string own = path(ranks_.rank);
  if (!file_) {
    drop_unfinished_line(own);
    std::error_code none;
    const auto size = std::filesystem::file_size(own, none);
    const bool fresh = none || size == 0;
    file_ = std::fopen(own.c_str(), "a");
    if (!file_) throw Error(own, "cannot be written");
    if (fresh) std::fprintf(file_, "%s\n", identity_.c_str());
  }
  if (std::fprintf(file_, "%s\n", line.c_str()) < 0 || std::fflush(file_) != 0) throw Error(own, "cannot be written");
}

Journal::~Journal() {
  if (file_) std::fclose(file_);
}

std::string Journal::path(int rank) const { return ranks_.size > 1 ? fmt::format("{}.part.{}", out_, rank) : out_ + ".part"; }

void Journal::read(const std::string& path, bool& ended) {
  std::string text;
  try {
    text = read_text_file(path);
  } catch (const Error&) {
    return;  // just begun, or gone
  }
  std::size_t from = 0;
  for (bool first = true; from < text.size(); first = false) {
    const std::size_t end = text.find('\n', from);
    if (end == std::string::npos) break;  // a line that was being written when the run was killed
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    if (first) {
      if (line != identity_)
        throw Error(
            path,
            "is what an unfinished run with other settings, or of another file, left; remove it, or give --out another name");
      continue;
    }
    const Json json = parse_if_json(line);
    if (!json.is_object()) continue;
    if (json.contains("done"))
      ended = ended || json["done"] == ranks_.job;
    else
      try {
        FrameRow row = frame_row(json);
        rows_.insert_or_assign(row.frame, std::move(row));
      } catch (const std::exception&) {
        throw Error(path, "is damaged; remove it");
      }
  }
}

void Journal::add(FrameRow row) {
  write(to_json(row).dump());
  rows_.insert_or_assign(row.frame, std::move(row));
}

std::vector<FrameRow> Journal::finish() {
  if (ranks_.size > 1) {
    write(Json{{"done", ranks_.job}}.dump());
    if (ranks_.rank > 0) return {};
    for (int rank = 1; rank < ranks_.size; ++rank)
      for (bool ended = false; !ended;) {
        read(path(rank), ended);
        Budget::listen();
        if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
  }
  std::vector<FrameRow> all;
  for (const auto& [frame, row] : rows_) all.push_back(row);
  return all;
}

void Journal::remove(const std::string& out, const Ranks& ranks) {
  std::error_code none;
  std::filesystem::remove(out + ".part", none);
  for (int rank = 0; std::filesystem::remove(fmt::format("{}.part.{}", out, rank), none) || rank < ranks.size;) ++rank;
}

void tune_frames(std::vector<FrameProblem>& frames, const tune::TuneSettings& settings, int threads, std::int64_t keep_course_of,
                 Journal& journal) {
  std::mutex writing;
  parallel_for(static_cast<int>(frames.size()), threads, [&](int i) {
    const FrameProblem& frame = frames[static_cast<std::size_t>(i)];
    FrameRow row;
    row.frame = frame.frame;
    row.time = frame.time;
    row.tuned = tune::tune_frame(frame.problem, settings, static_cast<std::uint64_t>(frame.frame), frame.frame == keep_course_of);
    // Whatever ends the rest, this one is done.
    const std::lock_guard alone(writing);
    const WorthKeeping line;
    journal.add(std::move(row));
  });
  frames.clear();
}

// ---- Options

namespace {

template <class T>
T one_of(const char* option, const std::string& given, const std::vector<std::pair<std::string, T>>& known) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == given) return value;
    names.push_back(name);
  }
  throw Error(fmt::format("{}: {} is none of {}", option, in_quotes(given), fmt::join(names, ", ")));
}

}  // namespace

tune::FrictionLaw friction_law(const std::string& name) {
  using tune::FrictionLaw;
  return one_of<FrictionLaw>("--friction", name,
                             {{"box", FrictionLaw::box},
                              {"cone", FrictionLaw::cone},
                              {"recorded", FrictionLaw::as_recorded},
                              {"fixed", FrictionLaw::fixed}});
}

tune::TuneSettings tune_settings(const TuningChoices& choices) {
  tune::TuneSettings out;
  if (!choices.parameters.empty()) out.parameters.clear();
  for (const std::string& name : choices.parameters) {
    const int index = tune::tuned_parameter(name);
    if (std::find(out.parameters.begin(), out.parameters.end(), index) != out.parameters.end())
      throw Error("--parameters: " + name + " is given twice");
    out.parameters.push_back(index);
  }
  out.objective = one_of<tune::Objective>("--objective", choices.objective,
                                          {{"error", tune::Objective::error}, {"time", tune::Objective::time}});
  out.precision =
      one_of<tune::Precision>("--precision", choices.precision,
                              {{"double", tune::Precision::double_precision}, {"float", tune::Precision::single_precision}});
  out.restarts = one_of<tune::RestartRule>(
      "--restarts", choices.restarts,
      {{"none", tune::RestartRule::none}, {"ipop", tune::RestartRule::ipop}, {"bipop", tune::RestartRule::bipop}});
  static_cast<void>(friction_law(choices.friction));
  out.limits = {.max_sweeps = choices.sweeps, .error = choices.error, .change = choices.change};
  out.before.warm = choices.warm;
  out.population = choices.population;
  out.parents = choices.population / 2;
  out.seed = choices.seed;
  out.resolution = choices.resolution;
  return out;
}

Json to_json(const TuningChoices& choices) {
  Json parameters = choices.parameters;
  if (choices.parameters.empty()) parameters = {"alpha", "kappa"};
  return {{"parameters", parameters},         {"objective", choices.objective},
          {"friction", choices.friction},     {"precision", choices.precision},
          {"restarts", choices.restarts},     {"error", choices.error},
          {"change", choices.change},         {"warm", choices.warm},
          {"resolution", choices.resolution}, {"sweeps", choices.sweeps},
          {"population", choices.population}, {"seed", choices.seed}};
}

}  // namespace rotule::app
