// Running scenes, and what is known of them before.
#include <CLI/CLI.hpp>

#include "../commands.h"
#include "command_line.h"

namespace rotule::app {
namespace {

void add_run(CommandLine& line) {
  CLI::App& command = line.command("run", "simulate a scene and report");
  auto& options = line.keep<RunOptions>();
  command.add_option("SCENE", options.scene, "file or name; with --resume none is needed");
  CLI::Option* steps = command.add_option("--steps", options.steps, "how many steps");
  command.add_option("--duration", options.duration, "how long, in seconds")->excludes(steps);
  command.add_option("--dt", options.dt, "time step, in seconds");
  command.add_option("--threads", options.threads, "threads; 0 takes all");
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe, e.g. solver.relaxation=1.4")->allow_extra_args(false);
  command.add_flag("--estimate-error", options.estimate_error,
                   "run a second time beside it, with half the step or a tighter tolerance, and say how wrong the result is");
  command.add_option("--record", options.record, "write the motion to this HDF5 file");
  command.add_option("--record-problems", options.record_problems, "write every step's constraint problems to this HDF5 file");
  command.add_option("--slice", options.slice,
                     "AXIS=COORDINATE (m) of the fluid's plane that is recorded, e.g. y=0.2; else through the middle");
  command.add_option("--slice-rate", options.slice_rate, "slices of the fluid per second, at most; else 30")
      ->check(CLI::PositiveNumber);
  command.add_option("--every", options.every, "of so many steps record the problems of one")->check(CLI::PositiveNumber);
  command.add_option("--parareal", options.parareal, "run so many slices of time at once, over --threads threads");
  command.add_option("--coarse", options.coarse, "KEY=VALUE of the recipe of parareal's coarse runs")->allow_extra_args(false);
  CLI::Option* equilibrium =
      command.add_flag("--until-equilibrium", options.until_equilibrium,
                       "stop when the sum of forces on everything vanishes and stays so; --steps or --duration: at most");
  command.add_flag("--relax", options.relax, "begin at rest in equilibrium, found without following the motion there");
  command.add_option("--force-tolerance", options.force_tolerance, "N: what counts as no force")->needs(equilibrium);
  command.add_option("--speed-tolerance", options.speed_tolerance, "m/s: what counts as rest")->needs(equilibrium);
  command.add_option("--hold", options.hold, "s: how long equilibrium must last")->needs(equilibrium);
  command.add_flag("--json", options.json, "one JSON object on stdout");
  command.add_flag("--quiet", options.quiet, "no progress bar, no summary");
  CLI::Option* resume = command.add_option(
      "--resume", options.resume,
      "go on with the run of this recording, killed, interrupted or finished: --steps or --duration then say when it is to end");
  for (const char* name : {"--dt", "--recipe", "--accuracy", "--set", "--estimate-error", "--record", "--slice", "--slice-rate",
                           "--parareal", "--coarse", "--until-equilibrium", "--relax"})
    resume->excludes(command.get_option(name));
  line.on_signals_of_its_own(command, [&options] {
    if (options.scene.empty() && options.resume.empty()) throw CLI::RequiredError("SCENE");
    run(options);
  });
}

void add_list(CommandLine& line) {
  CLI::App& command = line.command("list", "what there is to choose from");
  auto& options = line.keep<ListOptions>();
  command.add_option(
      "WHAT", options.what,
      "scenes, joints, shapes, forces, solids, integrators, formulations, corrections, coordinates or solvers; or the name of "
      "a solver, for its settings");
  CLI::Option* json = command.add_flag("--json", options.json, "one JSON object on stdout");
  command.add_flag("--names", options.names, "names alone, one per line")->excludes(json);
  line.on(command, [&options] { list(options); });
}

void add_check(CommandLine& line) {
  CLI::App& command = line.command("check", "the mechanism doctor: what is wrong with a scene, by name");
  auto& options = line.keep<CheckOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { check(options); });
}

void add_recipe(CommandLine& line) {
  CLI::App& command = line.command("recipe", "how a scene would be run: every field, and why");
  auto& options = line.keep<RecipeOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  command.add_flag("--json", options.json, "one JSON object on stdout, as a scene file takes it");
  line.on(command, [&options] { show_recipe(options); });
}

}  // namespace

void add_scenes(CommandLine& line) {
  add_run(line);
  add_list(line);
  add_check(line);
  add_recipe(line);
}

}  // namespace rotule::app
