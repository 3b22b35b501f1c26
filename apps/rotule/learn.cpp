// rotule learn: from recorded problems to the runners of relaxation "auto" (src/solve/sweep/pgs.cpp), and an honest account of
// what learning adds. Every candidate, a relaxation with or without mixing, makes the same number of sweeps on every problem from
// its recorded start; the four that together leave least, one of them plain Gauss-Seidel and one at most mixed, are the learned
// ones: a plain runner costs next to nothing, a mixed one half a sweep.
//
// What is said of their worth is said of files that took no part: each file is left out in turn, the others teach, it examines.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "commands.h"
#include "problem/features.h"
#include "problem/judge.h"
#include "progress.h"
#include "record/json_text.h"
#include "record/problem_file.h"
#include "solve/sweep/learned_runners.h"
#include "solve/sweep/race.h"
#include "tournament_page.h"

namespace rotule::app {
namespace {

constexpr double least_residual = 1e-10;  // what lies below counts as this
constexpr int least_rows = 6;             // smaller problems teach nothing
using Logs = std::vector<double>;         // log10 of what is left, per candidate

struct Lesson {
  std::size_t file = 0;
  std::array<double, feature_names.size()> features{};
  Logs left;
};

std::vector<Runner> candidates() {
  std::vector<Runner> out;
  for (const bool mixed : {false, true})
    for (const double relaxation : {1.0, 1.2, 1.3, 1.4, 1.5, 1.6}) out.push_back({relaxation, mixed});
  return out;
}
std::string name_of(const Runner& runner) { return fmt::format("{}{}", runner.relaxation, runner.mixed ? " mixed" : ""); }

/// What each candidate leaves of a problem after so many sweeps.
Logs leave(const ConstraintProblem& problem, const std::vector<Runner>& all, int sweeps) {
  Logs out;
  Judge judge;
  judge.begin(problem);
  RelaxationRace race;
  race.prepare(problem, problem.has_matrix());
  std::vector<double> start(problem.x0.begin(), problem.x0.end()), x(start.size()), change(start.size()), state(race.places());
  for (const RowUnit& unit : race.units()) project(problem, unit, start);
  std::vector<std::int32_t> order(race.units().size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t first = 0; first < all.size(); first += racers) {
    RaceLanes relaxation;
    std::array<AndersonMixing, racers> mixing;
    const auto runner = [&](int lane) { return all[std::min(first + static_cast<std::size_t>(lane), all.size() - 1)]; };
    for (int lane = 0; lane < racers; ++lane) {
      relaxation.lane[lane] = runner(lane).relaxation;
      mixing[lane].begin(race.places(), start.size(), learned_window);
    }
    race.begin(start);
    for (int k = 0; k < sweeps; ++k) {
      race.sweep(order, false, relaxation, 0);
      if (k + 1 == sweeps) break;
      for (int lane = 0; lane < racers; ++lane) {
        if (!runner(lane).mixed) continue;
        race.take(lane, state);
        race.take_change(lane, change);
        if (mixing[lane].mix(judge.diagonal(), change.data(), state)) race.put(lane, state);
      }
    }
    for (int lane = 0; lane < racers && out.size() < all.size(); ++lane) {
      race.take(lane, x);
      const double left = judge.judge(x);
      out.push_back(std::isfinite(left) ? std::log10(std::clamp(left, least_residual, 1.0)) : 0.0);
    }
  }
  return out;
}

using Team = std::array<std::size_t, racers>;

double best_of(const Lesson& lesson, const Team& team) {
  double out = 0;
  for (const std::size_t k : team) out = std::min(out, lesson.left[k]);
  return out;
}

/// The mean over files of the mean over their problems, of those that `counts` admits.
template <class Value, class Counts>
double mean(const std::vector<Lesson>& lessons, std::size_t files, Value&& value, Counts&& counts) {
  std::vector<double> sum(files, 0), number(files, 0);
  for (const Lesson& lesson : lessons)
    if (counts(lesson.file)) {
      sum[lesson.file] += value(lesson);
      number[lesson.file] += 1;
    }
  double out = 0, seen = 0;
  for (std::size_t file = 0; file < files; ++file)
    if (number[file] > 0) {
      out += sum[file] / number[file];
      seen += 1;
    }
  return seen > 0 ? out / seen : 0;
}

/// The best team with at most so many mixed runners, candidate 0 being plain Gauss-Seidel and always in it.
template <class Counts>
Team best_team(const std::vector<Lesson>& lessons, std::size_t files, const std::vector<Runner>& all, Counts&& counts,
               int most_mixed) {
  const std::size_t count = all.size();
  Team best{}, team{};
  double least = infinity;
  for (team[1] = 1; team[1] < count; ++team[1])
    for (team[2] = team[1] + 1; team[2] < count; ++team[2])
      for (team[3] = team[2] + 1; team[3] < count; ++team[3]) {
        if (std::count_if(team.begin(), team.end(), [&](std::size_t k) { return all[k].mixed; }) > most_mixed) continue;
        const double left = mean(
            lessons, files, [&](const Lesson& one) { return best_of(one, team); }, counts);
        if (left < least) least = left, best = team;
      }
  return best;
}

/// One question about one feature, and a candidate for either answer: the smallest predictor that there is.
struct Stump {
  std::size_t feature = 0;
  double threshold = 0;
  std::size_t below = 0, above = 0;
  [[nodiscard]] std::size_t choose(const Lesson& lesson) const { return lesson.features[feature] < threshold ? below : above; }
};

template <class Counts>
Stump best_stump(const std::vector<Lesson>& lessons, std::size_t files, std::size_t count, Counts&& counts) {
  Stump best;
  double least = infinity;
  for (std::size_t feature = 0; feature < feature_names.size(); ++feature) {
    std::vector<double> values;
    for (const Lesson& lesson : lessons)
      if (counts(lesson.file)) values.push_back(lesson.features[feature]);
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    for (int part = 1; part < 6; ++part) {
      Stump stump{.feature = feature, .threshold = values[values.size() * static_cast<std::size_t>(part) / 6]};
      for (const bool above : {false, true}) {
        double lowest = infinity;
        for (std::size_t k = 0; k < count; ++k) {
          double sum = 0;
          for (const Lesson& lesson : lessons)
            if (counts(lesson.file) && (lesson.features[feature] >= stump.threshold) == above) sum += lesson.left[k];
          if (sum < lowest) lowest = sum, (above ? stump.above : stump.below) = k;
        }
      }
      const double left = mean(
          lessons, files, [&](const Lesson& one) { return one.left[stump.choose(one)]; }, counts);
      if (left < least) least = left, best = stump;
    }
  }
  return best;
}

}  // namespace

void learn(const LearnOptions& options) {
  const std::vector<Runner> all = candidates();
  const std::size_t files = options.files.size();
  std::vector<Lesson> lessons;
  FeatureFinder finder;
  {
    ProgressBar bar(static_cast<std::int64_t>(files), !options.json, "file");
    for (std::size_t file = 0; file < files; ++file) {
      bar.at(static_cast<std::int64_t>(file));
      const std::string& path = options.files[file];
      const std::vector<std::int64_t> frames = recorded_frames(path);
      const std::size_t count = std::min(frames.size(), static_cast<std::size_t>(options.frames));
      for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t frame = count == 1 ? frames.back() : frames[k * (frames.size() - 1) / (count - 1)];
        for (int island = 0; island < recorded_islands(path, frame); ++island) {
          const ConstraintProblem problem = read_problem(path, frame, island).problem;
          const ProblemFeatures features = finder.find(problem);
          if (problem.rows() < least_rows || features.contacts == 0) continue;
          lessons.push_back({file, values_of(features), leave(problem, all, options.sweeps)});
        }
      }
    }
  }
  if (lessons.empty())
    throw Error(fmt::format("there is nothing to learn from: no problem with contacts and {} rows or more in {}", least_rows,
                            fmt::join(options.files, ", ")));

  const auto index_of = [&](double relaxation, bool mixed) {
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const Runner& r) { return r.relaxation == relaxation && r.mixed == mixed; }) -
        all.begin());
  };
  Team now{};
  for (int lane = 0; lane < racers; ++lane) {
    now[lane] = index_of(learned_runners[lane].relaxation, learned_runners[lane].mixed);
    if (now[lane] == all.size()) now[lane] = 0;
  }
  const auto everything = [](std::size_t) { return true; };
  const Team learned = best_team(lessons, files, all, everything, 1);

  // Each file examined by what the others taught; with one file there is nobody to examine.
  struct Row {
    std::string name;
    double left = 0;
  };
  std::vector<Row> rows{{"relaxation 1"},
                        {"relaxation 1.4"},
                        {"the best constant, learned"},
                        {"one question about a feature, learned"},
                        {"race of four constants, learned"},
                        {"race with mixing, learned"},
                        {"race with mixing, as it is built in"}};
  const std::size_t plain_14 = index_of(1.4, false);
  for (std::size_t out = 0; out < files; ++out) {
    const auto others = [&](std::size_t file) { return files == 1 || file != out; };
    const auto left_out = [&](std::size_t file) { return file == out; };
    if (mean(
            lessons, files, [](const Lesson&) { return 1.0; }, left_out) == 0)
      continue;
    const auto plain = [&](std::size_t k) { return !all[k].mixed; };
    std::size_t constant = 0;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (plain(k) && mean(
                          lessons, files, [&](const Lesson& one) { return one.left[k]; }, others) <
                          mean(
                              lessons, files, [&](const Lesson& one) { return one.left[constant]; }, others))
        constant = k;
    const Stump stump = best_stump(lessons, files, all.size(), others);
    const Team constants = best_team(lessons, files, all, others, 0);
    const Team team = best_team(lessons, files, all, others, 1);
    const auto examine = [&](auto&& value) { return mean(lessons, files, value, left_out) / static_cast<double>(files); };
    rows[0].left += examine([](const Lesson& one) { return one.left[0]; });
    rows[1].left += examine([&](const Lesson& one) { return one.left[plain_14]; });
    rows[2].left += examine([&](const Lesson& one) { return one.left[constant]; });
    rows[3].left += examine([&](const Lesson& one) { return one.left[stump.choose(one)]; });
    rows[4].left += examine([&](const Lesson& one) { return best_of(one, constants); });
    rows[5].left += examine([&](const Lesson& one) { return best_of(one, team); });
    rows[6].left += examine([&](const Lesson& one) { return best_of(one, now); });
  }

  Json file = {{"about", "runners of relaxation \"auto\" (solver pgs), made by rotule learn"}, {"window", learned_window}};
  file["runners"] = Json::array();
  for (const std::size_t k : learned) file["runners"].push_back({{"relaxation", all[k].relaxation}, {"mixed", all[k].mixed}});
  file["sweeps"] = options.sweeps;
  file["problems"] = lessons.size();
  file["recordings"] = Json::array();
  for (const std::string& path : options.files) file["recordings"].push_back(file_name(path));
  if (!options.out.empty()) write_text_file(options.out, file.dump(2) + "\n");

  if (options.json) {
    Json result = {{"learned", file}, {"left", Json::object()}};
    for (const Row& row : rows) result["left"][row.name] = std::pow(10.0, row.left);
    return print(result.dump(2) + "\n");
  }
  std::string text = fmt::format(
      "{} problems of {} recordings, {} sweeps each; geometric means over recordings{}\n  {:<42} {:>10} {:>16}\n", lessons.size(),
      files, options.sweeps, files > 1 ? ", each examined by what the others taught" : "", "", "residual", "of relaxation 1");
  for (const Row& row : rows)
    text += fmt::format("  {:<42} {:>10.2e} {:>16.3f}\n", row.name, std::pow(10.0, row.left),
                        std::pow(10.0, row.left - rows[0].left));
  text += "  learned from all of them:";
  for (const std::size_t k : learned) text += fmt::format(" [{}]", name_of(all[k]));
  const Stump question = best_stump(lessons, files, all.size(), everything);
  text += fmt::format("\n  the question: {} below {:.4g}: [{}], else [{}]", feature_names[question.feature], question.threshold,
                      name_of(all[question.below]), name_of(all[question.above]));
  print(text + "\n" + (options.out.empty() ? "" : options.out + ": written\n"));
}

}  // namespace rotule::app
