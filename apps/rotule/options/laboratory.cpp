// Recorded problems: solved again, compared, tuned, learned from; recipes by measured wish.
#include <fmt/format.h>
#include <rotule/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "../commands.h"
#include "base/text.h"
#include "command_line.h"

namespace rotule::app {
namespace {

/// How frames are tuned, of `tune` and `study`.
void add_tuning(CLI::App& command, TuningChoices& choices) {
  command
      .add_option("--parameters", choices.parameters,
                  "what is tuned, separated by commas: alpha, kappa, friction_alpha, warm, order, direction; else alpha,kappa")
      ->delimiter(',');
  command.add_option("--objective", choices.objective,
                     "error: sweeps, regularisation and error weighed as in D8; time: sweeps to the error asked for");
  command.add_option("--friction", choices.friction,
                     "box, cone, recorded, or fixed: a box of the size that the recorded answer gives it");
  command.add_option("--error", choices.error, "sum of the rows' residuals at which a solve ends")->check(CLI::PositiveNumber);
  command.add_option("--change", choices.change, "length of a sweep's change at which it ends")->check(CLI::NonNegativeNumber);
  command.add_option("--sweeps", choices.sweeps, "at which it ends in any case")->check(CLI::Range(2, 1000000));
  command.add_option("--warm", choices.warm, "part of the recorded warm start from which solves begin; else 0: from zero")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--population", choices.population, "candidates per generation")->check(CLI::Range(4, 10000));
  command.add_option("--restarts", choices.restarts, "none, ipop or bipop");
  command.add_option("--resolution", choices.resolution, "times 0.001 of alpha and 0.01 of log10 kappa; 0: as fine as doubles")
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("--precision", choices.precision, "double or float, of the candidates; the best is solved in double again");
  command.add_option("--seed", choices.seed, "of the search");
  command.add_option("--threads", choices.threads, "frames tuned at once; else as many as there are cores")
      ->check(CLI::PositiveNumber);
}

/// What a wish has besides its error, in `wish` and in `tune` of a scene.
void add_wish_terms(CLI::App& command, WishOptions& options, std::string& budget) {
  command.add_option("--budget", budget, "CPU time per frame of 1/60 s, e.g. 2ms or 500us");
  command.add_option("--duration", options.duration, "seconds of the scene to compare; else its own, at most 2")
      ->check(CLI::PositiveNumber);
  command.add_option("--limit", options.limit, "seconds of CPU for all that is tried")->check(CLI::PositiveNumber);
  command.add_option("--svg", options.svg, "draw error against time of all that was tried");
}

/// Whether `tune` was given recorded problems, and not a scene.
bool is_recording(const std::string& name) { return name.ends_with(".h5") || name.ends_with(".hdf5"); }

/// Options that mean nothing for what `tune` was given are refused: those of recordings for a scene, those of a wish for a
/// recording.
void refuse_others(const CLI::App& command, const std::vector<std::string>& of_wishes, bool recording) {
  constexpr std::array<const char*, 4> of_both{"FILE", "--error", "--out", "--json"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::find(of_both.begin(), of_both.end(), name) != of_both.end()) continue;
    const bool wish = std::find(of_wishes.begin(), of_wishes.end(), name) != of_wishes.end();
    if (wish == recording)
      throw Error(name, recording ? "is for scenes; a recording's frames are tuned without it"
                                  : "is for recordings of problems (.h5); a scene's recipe is looked for without it");
  }
}

/// "2ms", "500us", "0.1s"; a number alone is in milliseconds.
double milliseconds_of(const std::string& text) {
  const auto end = text.find_first_not_of("0123456789.eE+-");
  const std::string unit = end == text.npos ? "ms" : text.substr(end);
  const std::optional<double> number = to_double(text.substr(0, end));
  const double factor = unit == "s" ? 1e3 : unit == "ms" ? 1 : unit == "us" ? 1e-3 : 0;
  if (!number || !(*number > 0) || factor == 0)
    throw Error(fmt::format("--budget: must be a time such as 2ms or 500us, is {}", in_quotes(text)));
  return factor * *number;
}

void add_solve(CommandLine& line) {
  CLI::App& command = line.command("solve", "solve a recorded constraint problem again");
  auto& options = line.keep<SolveOptions>();
  command.add_option("FILE", options.file, "problems recorded by rotule run, or an FCLIB file")->required();
  command.add_option("--frame", options.frame, "which frame, from 0");
  command.add_option("--island", options.island, "which island of the frame, from 0");
  command.add_option("--solver", options.solvers, "solvers, separated by commas; all; else prox_newton")->delimiter(',');
  command.add_option("--set", options.settings, "KEY=VALUE, e.g. solver.max_iterations=100")->allow_extra_args(false);
  command.add_option("--to", options.goals, "residuals to reach, separated by commas")->delimiter(',');
  command.add_option("--limit", options.limit, "seconds per solver")->check(CLI::PositiveNumber);
  command.add_option("--write", options.write,
                     "write the problem with the answer x of the one solver to this HDF5 file (of FCLIB's: with /solution)");
  command.add_option("--svg", options.svg, "draw how each solver's residual falls with iterations and time");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { solve_recorded(options); });
}

void add_tournament(CommandLine& line) {
  CLI::App& command = line.command("tournament", "iterations and time to each error, by solver and problem");
  auto& options = line.keep<TournamentOptions>();
  command.add_option("FILE", options.files, "problems recorded by rotule run, or FCLIB files")->required();
  command.add_option("--solvers", options.solvers, "solvers, separated by commas; else all")->delimiter(',');
  command.add_option("--set", options.settings, "KEY=VALUE, e.g. solver.max_iterations=100")->allow_extra_args(false);
  command.add_option("--to", options.goals, "residuals to reach, separated by commas")->delimiter(',');
  command.add_option("--frames", options.frames, "frames taken of each recording, at most")->check(CLI::PositiveNumber);
  command.add_option("--limit", options.limit, "seconds per solver and problem")->check(CLI::PositiveNumber);
  command.add_option("--csv", options.csv, "write the results to this file too");
  command.add_option("--svg", options.svg, "write performance profiles as a picture");
  command.add_option("--html", options.html, "write a page with profiles, standings and problems");
  command.add_flag("--open", options.open, "show that page in a browser");
  command.add_option("--others", options.others, "a table of contestants measured elsewhere, with the columns of --csv");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { return tournament(options) ? 0 : bad_input; });
}

void add_tune(CommandLine& line) {
  CLI::App& command = line.command(
      "tune", "the best settings of projected Gauss-Seidel for every recorded frame, by CMA-ES; of a scene: as wish");
  auto& options = line.keep<TuneOptions>();
  command.add_option("FILE", options.file, "problems recorded by rotule run --record-problems, .h5; or a scene")->required();
  add_tuning(command, options.choices);
  command.add_option("--frames", options.frames, "frames taken, evenly spread; else all")->check(CLI::PositiveNumber);
  command.add_option("--every", options.every, "every N-th recorded frame")->check(CLI::PositiveNumber);
  command.add_option("--out", options.out,
                     "table to write, .csv or .json; an interrupted run goes on where it was with the same command");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  command.add_flag("--quiet", options.quiet, "no progress bar");
  auto& wish = line.keep<WishOptions>();
  auto& budget = line.keep<std::string>();
  add_wish_terms(command, wish, budget);
  line.on(command, [&command, &options, &wish, &budget] {
    const bool recording = is_recording(options.file);
    refuse_others(command, {"--budget", "--duration", "--limit", "--svg"}, recording);
    if (recording) {
      tune_recording(options);
      return 0;
    }
    wish.scene = options.file;
    if (command.get_option("--error")->count() > 0) wish.error = options.choices.error;
    if (!budget.empty()) wish.budget = milliseconds_of(budget);
    wish.out = options.out;
    wish.json = options.json;
    return wish_command(wish);
  });
}

void add_study(CommandLine& line) {
  CLI::App& command = line.command("study", "tune every frame of four scenes; tables and figures as a page");
  auto& options = line.keep<StudyOptions>();
  command.add_option("--scenes", options.scenes, "scenes, separated by commas; else brick_wall,tripods,marble_box,chain_fall")
      ->delimiter(',');
  add_tuning(command, options.choices);
  command.add_option("--frames", options.frames, "steps of each scene")->check(CLI::PositiveNumber);
  command.add_option("--every", options.every, "every N-th of them is tuned")->check(CLI::PositiveNumber);
  command.add_option("--out", options.out, "folder for the page, tables and pictures; an interrupted study goes on");
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe by which the scenes are run")->allow_extra_args(false);
  command.add_flag("--json", options.json, "one JSON object on stdout");
  command.add_flag("--quiet", options.quiet, "no progress bar");
  line.on(command, [&options] { study(options); });
}

void add_learn(CommandLine& line) {
  CLI::App& command = line.command("learn", "the runners of relaxation auto from recorded problems, and their worth");
  auto& options = line.keep<LearnOptions>();
  command.add_option("FILE", options.files, "problems recorded by rotule run")->required();
  command.add_option("--sweeps", options.sweeps, "that every candidate makes")->check(CLI::Range(1, 100000));
  command.add_option("--frames", options.frames, "frames taken of each recording, at most")->check(CLI::PositiveNumber);
  command.add_option("--out", options.out, "write what was learned, for data/learned/relaxation.json");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { learn(options); });
}

void add_wish(CommandLine& line) {
  CLI::App& command = line.command("wish", "the recipe that meets an error within a time, measured");
  auto& options = line.keep<WishOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command.add_option("--error", options.error, "relative error that is wanted, e.g. 1e-4")->check(CLI::PositiveNumber);
  auto& budget = line.keep<std::string>();
  add_wish_terms(command, options, budget);
  command.add_option("--out", options.out, "write the recipe to this file, for run --recipe");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options, &budget] {
    if (!budget.empty()) options.budget = milliseconds_of(budget);
    return wish_command(options);
  });
}

}  // namespace

void add_laboratory(CommandLine& line) {
  add_solve(line);
  add_tournament(line);
  add_tune(line);
  add_study(line);
  add_learn(line);
  add_wish(line);
}

}  // namespace rotule::app
