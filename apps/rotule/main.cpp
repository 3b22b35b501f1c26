// rotule: the command line. Options here, work in the other files. Bad input of any kind: status 2 and one line on stderr; a
// signal: 128 + its number.
#include <fmt/format.h>
#include <rotule/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/text.h"
#include "commands.h"
#include "manual.h"
#include "resume.h"
#include "signals.h"

namespace {

using namespace rotule::app;

constexpr int bad_input = 2;

/// Of the program, once it has said what was wrong.
int refused(const std::string& message) {
  complain(message);
  return bad_input;
}

/// What CLI11 says, with the nearest word where a command or option is not known.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int count, char** words) {
  std::vector<std::string> known;
  const CLI::App* command = &app;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->parsed()) command = sub;
    known.push_back(sub->get_name());
  }
  if (command == &app) {
    for (int i = 1; i < count; ++i)
      if (words[i][0] != '-')
        return fmt::format("unknown command {}; {}", rotule::in_quotes(words[i]), rotule::suggestion(words[i], known));
  }
  known.clear();
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    for (const std::string& extra : command->remaining(true))
      return extra.starts_with("-")
                 ? fmt::format("unknown option {}; {}", rotule::in_quotes(extra), rotule::suggestion(extra, known))
                 : fmt::format("{} is one word too many; rotule {} --help says what is taken", rotule::in_quotes(extra),
                               command->get_name());
  if (const std::string_view said = error.what(), prefix = "Could not convert: "; said.starts_with(prefix))
    return fmt::format("{}: that is no such value; rotule {} --help says what is taken", said.substr(prefix.size()),
                       command->get_name());
  return fmt::format("{}; rotule {}--help says more", error.what(), command == &app ? "" : command->get_name() + " ");
}

/// Ranges let NaN pass, which compares with nothing, and a minus before what has no sign makes it large.
void refuse_what_is_no_number(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results()) {
      const std::string type = option->get_type_name();
      if (type.starts_with("FLOAT") && std::isnan(std::strtod(word.c_str(), nullptr)))
        throw rotule::Error(option->get_name(), "must be a finite number");
      if (type.starts_with("UINT") && word.starts_with("-")) throw rotule::Error(option->get_name(), "must not be negative");
    }
}

/// How frames are tuned, of `tune` and `study`.
void add_tuning(CLI::App* command, TuningChoices& choices) {
  command
      ->add_option("--parameters", choices.parameters,
                   "what is tuned, separated by commas: alpha, kappa, friction_alpha, warm, order, direction; else alpha,kappa")
      ->delimiter(',');
  command->add_option("--objective", choices.objective,
                      "error: sweeps, regularisation and error weighed as in D8; time: sweeps to the error asked for");
  command->add_option("--friction", choices.friction,
                      "box, cone, recorded, or fixed: a box of the size that the recorded answer gives it");
  command->add_option("--error", choices.error, "sum of the rows' residuals at which a solve ends")->check(CLI::PositiveNumber);
  command->add_option("--change", choices.change, "length of a sweep's change at which it ends")->check(CLI::NonNegativeNumber);
  command->add_option("--sweeps", choices.sweeps, "at which it ends in any case")->check(CLI::Range(2, 1000000));
  command->add_option("--warm", choices.warm, "part of the recorded warm start from which solves begin; else 0: from zero")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--population", choices.population, "candidates per generation")->check(CLI::Range(4, 10000));
  command->add_option("--restarts", choices.restarts, "none, ipop or bipop");
  command->add_option("--resolution", choices.resolution, "times 0.001 of alpha and 0.01 of log10 kappa; 0: as fine as doubles")
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--precision", choices.precision, "double or float, of the candidates; the best is solved in double again");
  command->add_option("--seed", choices.seed, "of the search");
  command->add_option("--threads", choices.threads, "frames tuned at once; else as many as there are cores")
      ->check(CLI::PositiveNumber);
}

/// --recipe and --accuracy, of every command that runs a scene.
void add_exactness(CLI::App* command, Exactness& exactness) {
  CLI::Option* dial =
      command->add_option("--recipe", exactness.dial,
                          "realtime, balanced or exact: the recipe of that name that fits the scene; or a file (.json) with one");
  command->add_option("--accuracy", exactness.accuracy, "relative error that is wanted, e.g. 1e-6: the recipe that fits")
      ->excludes(dial);
}

/// What a wish has besides its error, in `wish` and in `tune` of a scene.
void add_wish(CLI::App* command, WishOptions& options, std::string& budget) {
  command->add_option("--budget", budget, "CPU time per frame of 1/60 s, e.g. 2ms or 500us");
  command->add_option("--duration", options.duration, "seconds of the scene to compare; else its own, at most 2")
      ->check(CLI::PositiveNumber);
  command->add_option("--limit", options.limit, "seconds of CPU for all that is tried")->check(CLI::PositiveNumber);
  command->add_option("--svg", options.svg, "draw error against time of all that was tried");
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
      throw rotule::Error(name, recording ? "is for scenes; a recording's frames are tuned without it"
                                          : "is for recordings of problems (.h5); a scene's recipe is looked for without it");
  }
}

/// "2ms", "500us", "0.1s"; a number alone is in milliseconds.
double milliseconds_of(const std::string& text) {
  const auto end = text.find_first_not_of("0123456789.eE+-");
  const std::string unit = end == text.npos ? "ms" : text.substr(end);
  const std::optional<double> number = rotule::to_double(text.substr(0, end));
  const double factor = unit == "s" ? 1e3 : unit == "ms" ? 1 : unit == "us" ? 1e-3 : 0;
  if (!number || !(*number > 0) || factor == 0)
    throw rotule::Error(fmt::format("--budget: must be a time such as 2ms or 500us, is {}", rotule::in_quotes(text)));
  return factor * *number;
}

/// What nobody can catch: exceptions in threads of libraries, where the system has no more to give.
[[noreturn]] void end_in_a_line() {
  const char* what = "ended by an error that nobody could catch";
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rotule: %s\n", error.what());
    std::_Exit(bad_input);
  } catch (...) {
  }
  std::fprintf(stderr, "rotule: %s\n", what);
  std::_Exit(bad_input);
}

int command_line(int argc, char** argv) {
  CLI::App app("Rigid bodies and joints, simulated with honest errors.", "rotule");
  app.set_version_flag("--version", "rotule " ROTULE_VERSION);
  app.require_subcommand(1);
  app.footer("SCENE is a file, or the name of a shipped scene (rotule list scenes).");

  RunOptions run_options;
  CLI::App* run_command = app.add_subcommand("run", "simulate a scene and report");
  run_command->add_option("SCENE", run_options.scene, "file or name; with --resume none is needed");
  CLI::Option* steps = run_command->add_option("--steps", run_options.steps, "how many steps");
  run_command->add_option("--duration", run_options.duration, "how long, in seconds")->excludes(steps);
  run_command->add_option("--dt", run_options.dt, "time step, in seconds");
  run_command->add_option("--threads", run_options.threads, "threads; 0 takes all");
  add_exactness(run_command, run_options.exactness);
  run_command->add_option("--set", run_options.settings, "KEY=VALUE of the recipe, e.g. solver.relaxation=1.4")
      ->allow_extra_args(false);
  run_command->add_flag(
      "--estimate-error", run_options.estimate_error,
      "run a second time beside it, with half the step or a tighter tolerance, and say how wrong the result is");
  run_command->add_option("--record", run_options.record, "write the motion to this HDF5 file");
  run_command->add_option("--record-problems", run_options.record_problems,
                          "write every step's constraint problems to this HDF5 file");
  run_command->add_option("--slice", run_options.slice,
                          "AXIS=COORDINATE (m) of the fluid's plane that is recorded, e.g. y=0.2; else through the middle");
  run_command->add_option("--slice-rate", run_options.slice_rate, "slices of the fluid per second, at most; else 30")
      ->check(CLI::PositiveNumber);
  run_command->add_option("--every", run_options.every, "of so many steps record the problems of one")
      ->check(CLI::PositiveNumber);
  run_command->add_option("--parareal", run_options.parareal, "run so many slices of time at once, over --threads threads");
  run_command->add_option("--coarse", run_options.coarse, "KEY=VALUE of the recipe of parareal's coarse runs")
      ->allow_extra_args(false);
  CLI::Option* equilibrium =
      run_command->add_flag("--until-equilibrium", run_options.until_equilibrium,
                            "stop when the sum of forces on everything vanishes and stays so; --steps or --duration: at most");
  run_command->add_flag("--relax", run_options.relax, "begin at rest in equilibrium, found without following the motion there");
  run_command->add_option("--force-tolerance", run_options.force_tolerance, "N: what counts as no force")->needs(equilibrium);
  run_command->add_option("--speed-tolerance", run_options.speed_tolerance, "m/s: what counts as rest")->needs(equilibrium);
  run_command->add_option("--hold", run_options.hold, "s: how long equilibrium must last")->needs(equilibrium);
  run_command->add_flag("--json", run_options.json, "one JSON object on stdout");
  run_command->add_flag("--quiet", run_options.quiet, "no progress bar, no summary");
  CLI::Option* resume = run_command->add_option(
      "--resume", run_options.resume,
      "go on with the run of this recording, killed, interrupted or finished: --steps or --duration then say when it is to end");
  for (const char* name : {"--dt", "--recipe", "--accuracy", "--set", "--estimate-error", "--record", "--slice", "--slice-rate",
                           "--parareal", "--coarse", "--until-equilibrium", "--relax"})
    resume->excludes(run_command->get_option(name));

  ListOptions list_options;
  CLI::App* list_command = app.add_subcommand("list", "what there is to choose from");
  list_command->add_option(
      "WHAT", list_options.what,
      "scenes, joints, shapes, forces, solids, integrators, formulations, corrections, coordinates or solvers; or the name of "
      "a solver, for its settings");
  CLI::Option* list_json = list_command->add_flag("--json", list_options.json, "one JSON object on stdout");
  list_command->add_flag("--names", list_options.names, "names alone, one per line")->excludes(list_json);

  CheckOptions check_options;
  CLI::App* check_command = app.add_subcommand("check", "the mechanism doctor: what is wrong with a scene, by name");
  check_command->add_option("SCENE", check_options.scene, "file or name")->required();
  add_exactness(check_command, check_options.exactness);
  check_command->add_option("--set", check_options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  check_command->add_flag("--json", check_options.json, "one JSON object on stdout");

  RecipeOptions recipe_options;
  CLI::App* recipe_command = app.add_subcommand("recipe", "how a scene would be run: every field, and why");
  recipe_command->add_option("SCENE", recipe_options.scene, "file or name")->required();
  add_exactness(recipe_command, recipe_options.exactness);
  recipe_command->add_option("--set", recipe_options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  recipe_command->add_flag("--json", recipe_options.json, "one JSON object on stdout, as a scene file takes it");

  ConvergenceOptions convergence_options;
  CLI::App* convergence_command = app.add_subcommand("convergence", "error against step count, method by method");
  convergence_command->add_option("SCENE", convergence_options.scene, "file or name")->required();
  convergence_command->add_option("--integrators", convergence_options.integrators, "methods, separated by commas")
      ->required()
      ->delimiter(',');
  convergence_command->add_option("--steps", convergence_options.steps, "step counts, separated by commas")
      ->required()
      ->delimiter(',');
  add_exactness(convergence_command, convergence_options.exactness);
  convergence_command->add_option("--set", convergence_options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  convergence_command->add_option("--reference", convergence_options.reference,
                                  "fine: rk4 at 8 times the finest count (default); invariant: energy alone");
  convergence_command->add_option("--svg", convergence_options.svg, "draw error against time and evaluations to this file");
  convergence_command->add_flag("--json", convergence_options.json, "one JSON object on stdout");

  StabilityOptions stability_options;
  CLI::App* stability_command =
      app.add_subcommand("stability", "where methods are stable; with a scene: its largest stable step, predicted and observed");
  stability_command->add_option("SCENE", stability_options.scene, "file or name; none: the methods themselves");
  stability_command->add_option("--integrator,--integrators", stability_options.integrators, "methods, separated by commas")
      ->delimiter(',');
  add_exactness(stability_command, stability_options.exactness);
  stability_command->add_option("--set", stability_options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  stability_command->add_option("--svg", stability_options.svg, "draw the regions of stability to this file");
  stability_command->add_option("--steps", stability_options.steps, "steps of every observed run (default 2000)");
  stability_command->add_flag("--json", stability_options.json, "one JSON object on stdout");

  IkOptions ik_options;
  CLI::App* ik_command = app.add_subcommand("ik", "inverse kinematics: the pose in which targets are met");
  ik_command->add_option("SCENE", ik_options.scene, "file or name")->required();
  ik_command
      ->add_option("--target", ik_options.targets,
                   "BODY[@x,y,z]=BODY[@x,y,z] or =x,y,z, each with :weight: a point of a body comes to a point")
      ->allow_extra_args(false);
  ik_command->add_option("--look", ik_options.look, "BODY[@x,y,z]=BODY or =x,y,z: that direction of it (else x) points there")
      ->allow_extra_args(false);
  ik_command->add_option("--turn", ik_options.turn, "BODY=w,x,y,z or =BODY: a body turns to an orientation, or as another")
      ->allow_extra_args(false);
  ik_command->add_option("--center", ik_options.center, "x,y,z of the centre of mass; - leaves a coordinate free");
  ik_command->add_option("--hold", ik_options.hold, "bodies that stay, separated by commas")->delimiter(',');
  ik_command->add_option("--method", ik_options.method, "automatic, newton or damped");
  ik_command->add_option("--tolerance", ik_options.tolerance, "m, rad: what counts as reached (default 1e-12)");
  ik_command->add_option("--max-iterations", ik_options.max_iterations, "at most (default 500)");
  ik_command->add_option("--max-rotation", ik_options.max_rotation, "rad that a body turns in an iteration (default 2)");
  ik_command->add_flag("!--no-limits", ik_options.limits, "let joints pass their stops");
  CLI::Option* ik_out = ik_command->add_option("--out", ik_options.out, "write the scene in its new pose to this file");
  ik_command->add_flag("--join", ik_options.join, "in that file, what --target brought together is a ball joint")->needs(ik_out);
  ik_command->add_flag("--json", ik_options.json, "one JSON object on stdout");

  InverseOptions inverse_options;
  CLI::App* inverse_command = app.add_subcommand("inverse", "inverse dynamics: what motors must exert for a recorded motion");
  inverse_command->add_option("SCENE", inverse_options.scene, "scene (file or name), or a recording")->required();
  inverse_command->add_option("--motion", inverse_options.motion, "recording of rotule run --record");
  inverse_command
      ->add_option("--actuator,--actuators", inverse_options.actuators,
                   "JOINT or JOINT.AXIS that has a motor, separated by commas; else those that the scene drives, or all")
      ->delimiter(',');
  inverse_command->add_option("--csv", inverse_options.csv, "write forces over time to this file");
  inverse_command->add_option("--svg", inverse_options.svg, "draw them to this file");
  inverse_command->add_option("--out", inverse_options.out, "write them and the reactions of joints to this HDF5 file");
  inverse_command->add_flag("--check", inverse_options.check, "feed them forward, and say how well the motion comes back");
  inverse_command->add_flag("--json", inverse_options.json, "one JSON object on stdout");

  CompareOptions compare_options;
  CLI::App* compare_command = app.add_subcommand(
      "compare-formulations", "energy lost, joint error and cost of each way to write the constraints, at equal step and cost");
  compare_command->add_option("SCENE", compare_options.scene, "file or name")->required();
  compare_command->add_option("--dt", compare_options.dt, "time step, in seconds; else the scene's");
  compare_command->add_option("--duration", compare_options.duration, "how long, in seconds; else the scene's");
  compare_command->add_option("--svg", compare_options.svg, "draw errors against cost to this file");
  compare_command->add_flag("--json", compare_options.json, "one JSON object on stdout");

  ModesOptions modes_options;
  CLI::App* modes_command = app.add_subcommand("modes", "frequencies, damping and shapes of small motions; linear state space");
  modes_command->add_option("SCENE", modes_options.scene, "file or name")->required();
  modes_command->add_flag("--relax", modes_options.relax, "about the equilibrium nearest by, found first");
  modes_command->add_option("--at", modes_options.at, "s: about the pose that the motion has come to then");
  CLI::Option* modes_every = modes_command->add_option(
      "--every", modes_options.every, "s: along the motion until --at, or for the recipe's duration, so far apart");
  CLI::Option* modes_contacts = modes_command->add_flag(
      "--contacts", modes_options.contacts, "what touches and presses stays closed: by its surfaces' springs, or rigidly");
  modes_command
      ->add_option("--contact-stiffness", modes_options.contact_stiffness, "N/m: of each point where rigid surfaces touch")
      ->needs(modes_contacts);
  modes_command
      ->add_option("--shear-ratio", modes_options.shear_ratio,
                   "stiffness along the surfaces over that across, where there is friction; else what sticks does not move")
      ->needs(modes_contacts);
  CLI::Option* modes_file =
      modes_command
          ->add_option("--state-space", modes_options.state_space,
                       "write A, B, C, D to this file: .json, .csv or .h5; forces on axes in, their motion out")
          ->excludes(modes_every);
  modes_command->add_option("--axes", modes_options.axes, "JOINT or JOINT.AXIS, separated by commas; else all free axes")
      ->delimiter(',')
      ->needs(modes_file);
  modes_command->add_flag("--json", modes_options.json, "one JSON object on stdout");

  FlutterOptions flutter_options;
  CLI::App* flutter_command =
      app.add_subcommand("flutter", "damping of every mode against the speed of the wind; critical speed");
  flutter_command->add_option("SCENE", flutter_options.scene, "file or name")->required();
  flutter_command->add_option("--wind", flutter_options.wind, "m/s: 5..60, 5..60:12 (so many speeds) or 10,20,40")->required();
  flutter_command->add_option("--flow", flutter_options.flow, "the flow that has those speeds; else the only steady one");
  flutter_command->add_option("--modes", flutter_options.modes, "how many of the slowest are shown")->check(CLI::PositiveNumber);
  flutter_command->add_option("--svg", flutter_options.svg, "picture of damping and frequencies against the speed");
  flutter_command->add_flag("--json", flutter_options.json, "one JSON object on stdout");

  ConvertOptions convert_options;
  CLI::App* convert_command = app.add_subcommand("convert", "files of robots (URDF, MJCF) to scenes, and scenes to URDF");
  convert_command->add_option("IN", convert_options.in, "robot (.urdf, .xml, .mjcf), or scene (file or name)")->required();
  convert_command->add_option("OUT", convert_options.out, "file to write: .json (scene) or .urdf")->required();
  std::vector<CLI::Option*> of_robots{
      convert_command->add_option("--base", convert_options.base, "of URDF: automatic, fixed or floating"),
      convert_command->add_option("--at", convert_options.at, "of URDF: x,y,z of the root"),
      convert_command->add_option("--meshes", convert_options.meshes, "hulls, parts (convex ones) or none"),
      convert_command->add_option("--keyframe", convert_options.keyframe, "of MJCF: the start; else home, or the first"),
      convert_command->add_option("--allow", convert_options.folders, "folder outside the file's own that may be read")
          ->allow_extra_args(false),
      convert_command->add_flag("--weld", convert_options.weld, "links that fixed joints tie are bodies of their own, welded"),
      convert_command->add_flag("--hold", convert_options.hold, "of URDF: motors hold the joints, as strong as their effort"),
      convert_command->add_flag("--self-contacts", convert_options.self_contacts, "of URDF: links can touch each other")};
  convert_command->add_flag("--verbose", convert_options.verbose, "all that was not taken over, by name and line");

  ExportOptions export_options;
  CLI::App* export_command = app.add_subcommand("export", "a scene or a recording for other programs");
  export_command->add_option("SCENE", export_options.scene, "scene (file or name), or recording of rotule run --record")
      ->required();
  export_command->add_option(
      "--out", export_options.out,
      "file to write: .json (scene), .gltf or .glb (Blender), .csv, .pvd (ParaView), .hdf5 (a recorded problem, for FCLIB); "
      "else the scene on stdout");
  export_command->add_option("--frame", export_options.frame, "step of a recorded problem")->check(CLI::NonNegativeNumber);
  export_command->add_option("--island", export_options.island, "island of a recorded problem")->check(CLI::NonNegativeNumber);
  export_command->add_option("--fps", export_options.rate,
                             "moments per second, at most; else 60 for glTF, 30 for ParaView, all for CSV");

  FluidOptions fluid_options;
  CLI::App* fluid_command = app.add_subcommand("fluid", "the fluid of a recorded run as a picture");
  fluid_command->add_option("FILE", fluid_options.file, "recording of rotule run --record")->required();
  fluid_command->add_option("--out", fluid_options.out, "picture to write: .png or .svg")->required();
  fluid_command->add_option("--quantity", fluid_options.quantity,
                            "vorticity, pressure, speed, velocity_x, velocity_y or velocity_z; else vorticity");
  fluid_command->add_option("--at", fluid_options.at, "s: the moment; else the end")->check(CLI::NonNegativeNumber);
  fluid_command->add_option("--largest", fluid_options.largest, "value of the last colour; else by the picture itself")
      ->check(CLI::PositiveNumber);

  PlotOptions plot_options;
  CLI::App* plot_command = app.add_subcommand("plot", "quantities of a run over time, as a picture or a page");
  CLI::Option* plotted =
      plot_command->add_option("FILE", plot_options.file, "recording of rotule run --record, or a scene, which is then run");
  plot_command
      ->add_option("--quantity,--quantities", plot_options.quantities,
                   "what to plot, separated by commas, e.g. energy,crank.motor_torque,chest.position.z; else the usual ones")
      ->delimiter(',');
  plot_command->add_option("--svg", plot_options.svg, "picture to write; without --svg, --html or --open: to stdout");
  plot_command->add_option("--html", plot_options.html, "page to write, with the numbers under the pointer");
  plot_command->add_flag("--open", plot_options.open, "show the page in a browser; without --html it lies beside the recording");
  CLI::Option* plot_list =
      plot_command->add_flag("--list", plot_options.list, "say what there is to plot: in FILE, or, without one, at all");

  ReportOptions report_options;
  CLI::App* report_command =
      app.add_subcommand("report", "a page on a recorded run: what, how accurate, where time went, plots, warnings");
  report_command
      ->add_option("FILE", report_options.file, "recording of rotule run --record, or a scene, which is run by its recipe")
      ->required();
  report_command->add_option("--out", report_options.out, "page to write; else beside the recording, or here");
  report_command->add_flag("--open", report_options.open, "show it in a browser");

  SolveOptions solve_options;
  CLI::App* solve_command = app.add_subcommand("solve", "solve a recorded constraint problem again");
  solve_command->add_option("FILE", solve_options.file, "problems recorded by rotule run, or an FCLIB file")->required();
  solve_command->add_option("--frame", solve_options.frame, "which frame, from 0");
  solve_command->add_option("--island", solve_options.island, "which island of the frame, from 0");
  solve_command->add_option("--solver", solve_options.solvers, "solvers, separated by commas; all; else prox_newton")
      ->delimiter(',');
  solve_command->add_option("--set", solve_options.settings, "KEY=VALUE, e.g. solver.max_iterations=100")
      ->allow_extra_args(false);
  solve_command->add_option("--to", solve_options.goals, "residuals to reach, separated by commas")->delimiter(',');
  solve_command->add_option("--limit", solve_options.limit, "seconds per solver")->check(CLI::PositiveNumber);
  solve_command->add_option(
      "--write", solve_options.write,
      "write the problem with the answer x of the one solver to this HDF5 file (of FCLIB's: with /solution)");
  solve_command->add_option("--svg", solve_options.svg, "draw how each solver's residual falls with iterations and time");
  solve_command->add_flag("--json", solve_options.json, "one JSON object on stdout");

  TournamentOptions tournament_options;
  CLI::App* tournament_command = app.add_subcommand("tournament", "iterations and time to each error, by solver and problem");
  tournament_command->add_option("FILE", tournament_options.files, "problems recorded by rotule run, or FCLIB files")->required();
  tournament_command->add_option("--solvers", tournament_options.solvers, "solvers, separated by commas; else all")
      ->delimiter(',');
  tournament_command->add_option("--set", tournament_options.settings, "KEY=VALUE, e.g. solver.max_iterations=100")
      ->allow_extra_args(false);
  tournament_command->add_option("--to", tournament_options.goals, "residuals to reach, separated by commas")->delimiter(',');
  tournament_command->add_option("--frames", tournament_options.frames, "frames taken of each recording, at most")
      ->check(CLI::PositiveNumber);
  tournament_command->add_option("--limit", tournament_options.limit, "seconds per solver and problem")
      ->check(CLI::PositiveNumber);
  tournament_command->add_option("--csv", tournament_options.csv, "write the results to this file too");
  tournament_command->add_option("--svg", tournament_options.svg, "write performance profiles as a picture");
  tournament_command->add_option("--html", tournament_options.html, "write a page with profiles, standings and problems");
  tournament_command->add_flag("--open", tournament_options.open, "show that page in a browser");
  tournament_command->add_option("--others", tournament_options.others,
                                 "a table of contestants measured elsewhere, with the columns of --csv");
  tournament_command->add_flag("--json", tournament_options.json, "one JSON object on stdout");

  TuneOptions tune_options;
  CLI::App* tune_command = app.add_subcommand(
      "tune", "the best settings of projected Gauss-Seidel for every recorded frame, by CMA-ES; of a scene: as wish");
  tune_command->add_option("FILE", tune_options.file, "problems recorded by rotule run --record-problems, .h5; or a scene")
      ->required();
  add_tuning(tune_command, tune_options.choices);
  tune_command->add_option("--frames", tune_options.frames, "frames taken, evenly spread; else all")->check(CLI::PositiveNumber);
  tune_command->add_option("--every", tune_options.every, "every N-th recorded frame")->check(CLI::PositiveNumber);
  tune_command->add_option("--out", tune_options.out,
                           "table to write, .csv or .json; an interrupted run goes on where it was with the same command");
  tune_command->add_flag("--json", tune_options.json, "one JSON object on stdout");
  tune_command->add_flag("--quiet", tune_options.quiet, "no progress bar");

  StudyOptions study_options;
  CLI::App* study_command = app.add_subcommand("study", "tune every frame of four scenes; tables and figures as a page");
  study_command
      ->add_option("--scenes", study_options.scenes, "scenes, separated by commas; else brick_wall,tripods,marble_box,chain_fall")
      ->delimiter(',');
  add_tuning(study_command, study_options.choices);
  study_command->add_option("--frames", study_options.frames, "steps of each scene")->check(CLI::PositiveNumber);
  study_command->add_option("--every", study_options.every, "every N-th of them is tuned")->check(CLI::PositiveNumber);
  study_command->add_option("--out", study_options.out, "folder for the page, tables and pictures; an interrupted study goes on");
  study_command->add_option("--set", study_options.settings, "KEY=VALUE of the recipe by which the scenes are run")
      ->allow_extra_args(false);
  study_command->add_flag("--json", study_options.json, "one JSON object on stdout");
  study_command->add_flag("--quiet", study_options.quiet, "no progress bar");

  LearnOptions learn_options;
  CLI::App* learn_command = app.add_subcommand("learn", "the runners of relaxation auto from recorded problems, and their worth");
  learn_command->add_option("FILE", learn_options.files, "problems recorded by rotule run")->required();
  learn_command->add_option("--sweeps", learn_options.sweeps, "that every candidate makes")->check(CLI::Range(1, 100000));
  learn_command->add_option("--frames", learn_options.frames, "frames taken of each recording, at most")
      ->check(CLI::PositiveNumber);
  learn_command->add_option("--out", learn_options.out, "write what was learned, for data/learned/relaxation.json");
  learn_command->add_flag("--json", learn_options.json, "one JSON object on stdout");

  WishOptions wish_options;
  std::string budget;
  CLI::App* wish_command_line = app.add_subcommand("wish", "the recipe that meets an error within a time, measured");
  wish_command_line->add_option("SCENE", wish_options.scene, "file or name")->required();
  wish_command_line->add_option("--error", wish_options.error, "relative error that is wanted, e.g. 1e-4")
      ->check(CLI::PositiveNumber);
  add_wish(wish_command_line, wish_options, budget);
  add_wish(tune_command, wish_options, budget);
  wish_command_line->add_option("--out", wish_options.out, "write the recipe to this file, for run --recipe");
  wish_command_line->add_flag("--json", wish_options.json, "one JSON object on stdout");

  ViewOptions view_options;
  CLI::App* view_command = app.add_subcommand("view", "see a scene move, live in a browser, or play a recording");
  view_command->add_option("SCENE", view_options.what, "scene, or recording (.h5); else mannequin");
  view_command->add_option("--port", view_options.port, "where the page is served; 0: any that is free")
      ->check(CLI::Range(0, 65535));
  view_command->add_option("--host", view_options.host,
                           "address to listen at; other machines then need the token of the printed one");
  view_command->add_flag("!--no-open", view_options.open, "do not open a browser");
  view_command->add_option("--duration", view_options.duration, "stop after so many seconds of the scene's time")
      ->check(CLI::PositiveNumber);
  add_exactness(view_command, view_options.exactness);
  view_command->add_option("--set", view_options.settings, "KEY=VALUE of the recipe, e.g. solver.relaxation=1.4")
      ->allow_extra_args(false);

  FilmOptions film_options;
  CLI::App* film_command = app.add_subcommand("film", "a film or a picture of a scene or a recording (by chromium and ffmpeg)");
  film_command->add_option("SCENE", film_options.what, "scene, or recording (.h5)")->required();
  film_command->add_option("--out", film_options.out, "file to write: .mp4, .gif, .webp or .png")->required();
  film_command->add_option("--size", film_options.size, "WIDTHxHEIGHT in pixels; else 1920x1080");
  film_command->add_option("--fps", film_options.fps, "pictures per second; else 60 (.gif 25, .webp 30)")
      ->check(CLI::Range(0.1, 240.0));
  CLI::Option* film_duration =
      film_command->add_option("--duration", film_options.duration, "how long, in seconds")->check(CLI::PositiveNumber);
  film_command->add_option("--at", film_options.at, "one picture, of this moment in seconds (.png, .webp)")
      ->check(CLI::NonNegativeNumber)
      ->excludes(film_duration);
  film_command->add_option("--camera", film_options.camera, "x,y,z,tx,ty,tz: where from and where to; else all in view");
  film_command->add_option("--show", film_options.show, "layers of the viewer, e.g. forces,contacts");
  film_command->add_flag("--dark", film_options.dark, "before a dark background");
  add_exactness(film_command, film_options.exactness);
  film_command->add_option("--set", film_options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  film_command->add_flag("--quiet", film_options.quiet, "no progress bar, no summary");

  CLI::App* schema_command = app.add_subcommand("schema", "the JSON schema of scene files");

  CLI::App* manual_command = app.add_subcommand("manual", "the page for man, of which this program's package has a copy");
  CLI::App* completion_command = app.add_subcommand("completion", "a script that completes commands, options and scenes");
  std::string shell;
  completion_command->add_option("SHELL", shell, "bash or zsh; in ~/.bashrc: source <(rotule completion bash)")->required();

  try {
    if (argc < 2) return print(start_page(app)), 0;
    if (std::string_view(argv[1]) == "help") {
      --argc;
      ++argv;
      const auto is_named = [&](const CLI::App* command) { return argc > 1 && command->get_name() == argv[1]; };
      const std::vector<CLI::App*> commands = app.get_subcommands({});
      // What is no command is refused as it would be without "help".
      app.parse(argc < 2                                                  ? "--help"
                : std::any_of(commands.begin(), commands.end(), is_named) ? fmt::format("{} --help", argv[1])
                                                                          : argv[1]);
    } else {
      app.parse(argc, argv);
    }
    for (const CLI::App* command : app.get_subcommands()) refuse_what_is_no_number(*command);
    answer_signals();
    if (run_command->parsed()) {
      if (run_options.scene.empty() && run_options.resume.empty()) throw CLI::RequiredError("SCENE");
      run(run_options);
    }
    const rotule::Budget listening(signal_bell());
    for (const std::string& file : {export_options.scene, fluid_options.file, plot_options.file, report_options.file,
                                    inverse_options.scene, inverse_options.motion, view_options.what, film_options.what})
      say_if_unfinished(file);
    if (list_command->parsed()) list(list_options);
    if (check_command->parsed()) check(check_options);
    if (recipe_command->parsed()) show_recipe(recipe_options);
    if (convergence_command->parsed()) convergence(convergence_options);
    if (stability_command->parsed()) stability(stability_options);
    if (ik_command->parsed()) ik(ik_options);
    if (inverse_command->parsed()) inverse(inverse_options);
    if (compare_command->parsed()) compare(compare_options);
    if (modes_command->parsed()) modes(modes_options);
    if (flutter_command->parsed()) flutter(flutter_options);
    if (convert_command->parsed()) {
      convert_options.for_robots =
          std::any_of(of_robots.begin(), of_robots.end(), [](const CLI::Option* option) { return option->count() > 0; });
      convert(convert_options);
    }
    if (export_command->parsed()) export_scene(export_options);
    if (fluid_command->parsed()) fluid_picture(fluid_options);
    if (plot_command->parsed()) {
      if (plotted->count() + plot_list->count() == 0) throw CLI::RequiredError("FILE");
      plot(plot_options);
    }
    if (report_command->parsed()) report(report_options);
    if (solve_command->parsed()) solve_recorded(solve_options);
    if (tournament_command->parsed() && !tournament(tournament_options)) return bad_input;
    if (tune_command->parsed()) {
      const bool recording = is_recording(tune_options.file);
      refuse_others(*tune_command, {"--budget", "--duration", "--limit", "--svg"}, recording);
      if (recording) {
        tune_recording(tune_options);
      } else {
        wish_options.scene = tune_options.file;
        if (tune_command->get_option("--error")->count() > 0) wish_options.error = tune_options.choices.error;
        wish_options.out = tune_options.out;
        wish_options.json = tune_options.json;
      }
    }
    if (study_command->parsed()) study(study_options);
    if (learn_command->parsed()) learn(learn_options);
    if (wish_command_line->parsed() || !wish_options.scene.empty()) {
      if (!budget.empty()) wish_options.budget = milliseconds_of(budget);
      return wish_command(wish_options);
    }
    if (view_command->parsed()) view(view_options);
    if (film_command->parsed()) film(film_options);
    if (schema_command->parsed()) print(rotule::scene_schema());
    if (manual_command->parsed()) print(manual_page(app));
    if (completion_command->parsed()) print(shell_completion(app, shell));
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return refused(explain(app, error, argc, argv));
  } catch (const rotule::Interrupted&) {
    complain("interrupted");
    return 128 + signal_received();
  } catch (const std::bad_alloc&) {
    return refused("out of memory");
  } catch (const std::exception& error) {
    return refused(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_in_a_line);
  try {
    return command_line(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rotule: %s\n", dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what());
    return bad_input;
  }
}
