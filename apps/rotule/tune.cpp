// rotule tune FILE.h5 (D8): the best settings of projected Gauss-Seidel for each frame of a recording, by CMA-ES.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/budget.h"
#include "progress.h"
#include "record/fclib_file.h"
#include "record/json_text.h"
#include "record/problem_file.h"
#include "tuning_summary.h"

namespace rotule::app {
namespace {

/// All islands of a frame as one problem; nothing where the frame has no rows.
bool read_frame(const std::string& path, std::int64_t frame, tune::FrictionLaw law, FrameProblem& out) {
  std::vector<ConstraintProblem> islands;
  std::vector<double> answer;
  for (int k = 0; k < recorded_islands(path, frame); ++k) {
    RecordedProblem recorded = read_problem(path, frame, k);
    if (recorded.problem.rows() == 0) continue;
    out.time = recorded.time;
    answer.insert(answer.end(), recorded.x.data(), recorded.x.data() + recorded.x.size());
    islands.push_back(std::move(recorded.problem));
  }
  if (islands.empty()) return false;
  out.frame = frame;
  out.problem = islands.size() == 1 ? std::move(islands.front()) : tune::joined(islands);
  tune::set_friction_law(out.problem, law, answer);
  return true;
}

Json json_of(const Spread& s) { return {{"min", s.least}, {"max", s.most}, {"mean", s.mean}, {"deviation", s.deviation}}; }

Json json_of(const TuningSummary& s) {
  return {{"frames", s.frames},
          {"better", s.better},
          {"contacts", json_of(s.contacts)},
          {"alpha", s.better > 0 ? json_of(s.alpha) : Json(nullptr)},
          {"kappa", s.better > 0 ? json_of(s.kappa) : Json(nullptr)},
          {"frames_without_kappa", s.without_kappa},
          {"error", {{"before", json_of(s.error_before)}, {"after", json_of(s.error_after)}}},
          {"least_error", {{"before", json_of(s.least_before)}, {"after", json_of(s.least_after)}}},
          {"sweeps", {{"before", s.sweeps_before}, {"after", s.sweeps_after}}},
          {"reached", {{"before", s.reached_before}, {"after", s.reached_after}}},
          {"generations", s.generations},
          {"solved", s.solved}};
}

std::string table_of(const std::vector<FrameRow>& rows) {
  std::string text = fmt::format("{:>7} {:>6} {:>8} {:>7} {:>8} {:>8} {:>19} {:>23} {:>12} {:>5}\n", "frame", "rows", "contacts",
                                 "alpha", "log10 k", "cond", "sweeps", "error", "generations", "stop");
  for (const FrameRow& row : rows) {
    const tune::TunedFrame& t = row.tuned;
    text += fmt::format("{:>7} {:>6} {:>8} {:>7.3f} {:>8.2f} {:>8.1e} {:>8} -> {:>7} {:>10.3e} -> {:>9.3e} {:>12} {}\n",
                        row.frame, t.rows, t.contacts, t.parameters.relaxation, t.log_kappa, t.conditioning.condition,
                        t.before.sweeps, t.after.sweeps, t.before.error, t.after.error, t.generations, tune::to_string(t.stop));
  }
  return text;
}

std::string words_of(const TuningSummary& s, double seconds, int tuned_now) {
  std::string text = fmt::format("{} frame{}, ", s.frames, s.frames == 1 ? "" : "s");
  text += s.better > 0 ? fmt::format("{} of them with a better setting: alpha {:.3f} +- {:.3f}, {} without kappa\n", s.better,
                                     s.alpha.mean, s.alpha.deviation, s.without_kappa)
                       : "none of them with a better setting than the one before\n";
  text += fmt::format(
      "  error   {:.4g} -> {:.4g} on average (x {:.3f}), the least of each solve {:.4g} -> {:.4g}\n"
      "  sweeps  {:.0f} -> {:.0f} in all ({:+.1f} %); error asked for reached in {} -> {} frames\n"
      "  search  {:.0f} generations and {:.0f} solves per frame\n",
      s.error_before.mean, s.error_after.mean, s.error_before.mean > 0 ? s.error_after.mean / s.error_before.mean : 1.0,
      s.least_before.mean, s.least_after.mean, s.sweeps_before, s.sweeps_after, 100 * (s.sweeps_after / s.sweeps_before - 1),
      s.reached_before, s.reached_after, s.generations, s.solved);
  if (tuned_now > 0) text += fmt::format("  time    {:.0f} ms per frame\n", 1e3 * seconds / tuned_now);
  if (s.worse > 0)
    text += fmt::format("  {} frames end above the error that they had before: fitness looks at the least error of a solve\n",
                        s.worse);
  return text;
}

}  // namespace

void tune_recording(const TuneOptions& options) {
  if (is_fclib_file(options.file))
    throw Error(options.file, "is an FCLIB file; tuning reads recordings of rotule run --record-problems");
  const tune::TuneSettings settings = tune_settings(options.choices);
  const tune::FrictionLaw law = friction_law(options.choices.friction);
  const bool as_json = options.out.ends_with(".json");
  if (!options.out.empty() && !as_json && !options.out.ends_with(".csv")) throw Error(options.out, "must end in .csv or .json");
  if (!options.out.empty()) require_other_file(options.out, options.file);

  std::vector<std::int64_t> frames = recorded_frames(options.file);
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 0; i < frames.size(); i += static_cast<std::size_t>(options.every)) wanted.push_back(frames[i]);
  if (options.frames > 0 && wanted.size() > static_cast<std::size_t>(options.frames)) {
    std::vector<std::int64_t> some;
    const auto last = wanted.size() - 1;
    for (int k = 0; k < options.frames; ++k)
      some.push_back(
          wanted[options.frames == 1 ? last : last * static_cast<std::size_t>(k) / static_cast<std::size_t>(options.frames - 1)]);
    wanted = std::move(some);
  }
  if (wanted.empty()) throw Error(options.file, "holds no problem");

  std::error_code none;
  Json identity{{"file", std::filesystem::absolute(options.file, none).lexically_normal().string()},
                {"bytes", std::filesystem::file_size(options.file, none)},
                {"written", std::filesystem::last_write_time(options.file, none).time_since_epoch().count()},
                {"settings", to_json(options.choices)}};
  Journal journal(options.out, identity, ranks_of_environment());
  const Ranks& ranks = journal.ranks();
  const auto start = std::chrono::steady_clock::now();
  int tuned_now = 0;
  {
    ProgressBar bar(static_cast<std::int64_t>(wanted.size()), !options.quiet && ranks.rank == 0, "frame");
    constexpr std::size_t frames_per_batch = 16;
    std::vector<FrameProblem> batch;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Budget::listen();
      const bool own = static_cast<int>(i % static_cast<std::size_t>(ranks.size)) == ranks.rank;
      FrameProblem frame;
      if (own && !journal.has(wanted[i]) && read_frame(options.file, wanted[i], law, frame)) {
        batch.push_back(std::move(frame));
        ++tuned_now;
      }
      if (batch.size() == frames_per_batch || (i + 1 == wanted.size() && !batch.empty())) {
        tune_frames(batch, settings, options.choices.threads, -1, journal);
        bar.at(static_cast<std::int64_t>(i + 1));
      }
    }
  }
  std::vector<FrameRow> rows = journal.finish();
  if (ranks.rank > 0) return;
  // A journal may hold more than was asked for this time.
  std::erase_if(rows, [&](const FrameRow& row) { return std::find(wanted.begin(), wanted.end(), row.frame) == wanted.end(); });
  if (rows.empty()) throw Error(options.file, "holds no rows to solve in these frames");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;

  const TuningSummary summary = summary_of(rows, options.choices.error);
  Json json{
      {"file", options.file}, {"settings", to_json(options.choices)}, {"summary", json_of(summary)}, {"frames", Json::array()}};
  for (const FrameRow& row : rows) json["frames"].push_back(to_json(row));
  if (!options.out.empty()) write_text_file(options.out, as_json ? json.dump(1) + "\n" : to_csv(rows));
  if (!options.out.empty()) Journal::remove(options.out, ranks);
  print(options.json ? json.dump(2) + "\n" : table_of(rows) + words_of(summary, taken.count(), tuned_now));
}

}  // namespace rotule::app
