// What can be asked of a scene besides its motion.
#include <CLI/CLI.hpp>

#include "../commands.h"
#include "../resume.h"
#include "command_line.h"

namespace rotule::app {
namespace {

void add_convergence(CommandLine& line) {
  CLI::App& command = line.command("convergence", "error against step count, method by method");
  auto& options = line.keep<ConvergenceOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command.add_option("--integrators", options.integrators, "methods, separated by commas")->required()->delimiter(',');
  command.add_option("--steps", options.steps, "step counts, separated by commas")->required()->delimiter(',');
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  command.add_option("--reference", options.reference,
                     "fine: rk4 at 8 times the finest count (default); invariant: energy alone");
  command.add_option("--svg", options.svg, "draw error against time and evaluations to this file");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { convergence(options); });
}

void add_stability(CommandLine& line) {
  CLI::App& command =
      line.command("stability", "where methods are stable; with a scene: its largest stable step, predicted and observed");
  auto& options = line.keep<StabilityOptions>();
  command.add_option("SCENE", options.scene, "file or name; none: the methods themselves");
  command.add_option("--integrator,--integrators", options.integrators, "methods, separated by commas")->delimiter(',');
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  command.add_option("--svg", options.svg, "draw the regions of stability to this file");
  command.add_option("--steps", options.steps, "steps of every observed run (default 2000)");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { stability(options); });
}

void add_ik(CommandLine& line) {
  CLI::App& command = line.command("ik", "inverse kinematics: the pose in which targets are met");
  auto& options = line.keep<IkOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command
      .add_option("--target", options.targets,
                  "BODY[@x,y,z]=BODY[@x,y,z] or =x,y,z, each with :weight: a point of a body comes to a point")
      ->allow_extra_args(false);
  command.add_option("--look", options.look, "BODY[@x,y,z]=BODY or =x,y,z: that direction of it (else x) points there")
      ->allow_extra_args(false);
  command.add_option("--turn", options.turn, "BODY=w,x,y,z or =BODY: a body turns to an orientation, or as another")
      ->allow_extra_args(false);
  command.add_option("--center", options.center, "x,y,z of the centre of mass; - leaves a coordinate free");
  command.add_option("--hold", options.hold, "bodies that stay, separated by commas")->delimiter(',');
  command.add_option("--method", options.method, "automatic, newton or damped");
  command.add_option("--tolerance", options.tolerance, "m, rad: what counts as reached (default 1e-12)");
  command.add_option("--max-iterations", options.max_iterations, "at most (default 500)");
  command.add_option("--max-rotation", options.max_rotation, "rad that a body turns in an iteration (default 2)");
  command.add_flag("!--no-limits", options.limits, "let joints pass their stops");
  CLI::Option* out = command.add_option("--out", options.out, "write the scene in its new pose to this file");
  command.add_flag("--join", options.join, "in that file, what --target brought together is a ball joint")->needs(out);
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { ik(options); });
}

void add_inverse(CommandLine& line) {
  CLI::App& command = line.command("inverse", "inverse dynamics: what motors must exert for a recorded motion");
  auto& options = line.keep<InverseOptions>();
  command.add_option("SCENE", options.scene, "scene (file or name), or a recording")->required();
  command.add_option("--motion", options.motion, "recording of rotule run --record");
  command
      .add_option("--actuator,--actuators", options.actuators,
                  "JOINT or JOINT.AXIS that has a motor, separated by commas; else those that the scene drives, or all")
      ->delimiter(',');
  command.add_option("--csv", options.csv, "write forces over time to this file");
  command.add_option("--svg", options.svg, "draw them to this file");
  command.add_option("--out", options.out, "write them and the reactions of joints to this HDF5 file");
  command.add_flag("--check", options.check, "feed them forward, and say how well the motion comes back");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] {
    say_if_unfinished(options.scene);
    say_if_unfinished(options.motion);
    inverse(options);
  });
}

void add_compare_formulations(CommandLine& line) {
  CLI::App& command = line.command(
      "compare-formulations", "energy lost, joint error and cost of each way to write the constraints, at equal step and cost");
  auto& options = line.keep<CompareOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command.add_option("--dt", options.dt, "time step, in seconds; else the scene's");
  command.add_option("--duration", options.duration, "how long, in seconds; else the scene's");
  command.add_option("--svg", options.svg, "draw errors against cost to this file");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { compare(options); });
}

void add_modes(CommandLine& line) {
  CLI::App& command = line.command("modes", "frequencies, damping and shapes of small motions; linear state space");
  auto& options = line.keep<ModesOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command.add_flag("--relax", options.relax, "about the equilibrium nearest by, found first");
  command.add_option("--at", options.at, "s: about the pose that the motion has come to then");
  CLI::Option* every =
      command.add_option("--every", options.every, "s: along the motion until --at, or for the recipe's duration, so far apart");
  CLI::Option* contacts = command.add_flag("--contacts", options.contacts,
                                           "what touches and presses stays closed: by its surfaces' springs, or rigidly");
  command.add_option("--contact-stiffness", options.contact_stiffness, "N/m: of each point where rigid surfaces touch")
      ->needs(contacts);
  command
      .add_option("--shear-ratio", options.shear_ratio,
                  "stiffness along the surfaces over that across, where there is friction; else what sticks does not move")
      ->needs(contacts);
  CLI::Option* file = command
                          .add_option("--state-space", options.state_space,
                                      "write A, B, C, D to this file: .json, .csv or .h5; forces on axes in, their motion out")
                          ->excludes(every);
  command.add_option("--axes", options.axes, "JOINT or JOINT.AXIS, separated by commas; else all free axes")
      ->delimiter(',')
      ->needs(file);
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { modes(options); });
}

void add_flutter(CommandLine& line) {
  CLI::App& command = line.command("flutter", "damping of every mode against the speed of the wind; critical speed");
  auto& options = line.keep<FlutterOptions>();
  command.add_option("SCENE", options.scene, "file or name")->required();
  command.add_option("--wind", options.wind, "m/s: 5..60, 5..60:12 (so many speeds) or 10,20,40")->required();
  command.add_option("--flow", options.flow, "the flow that has those speeds; else the only steady one");
  command.add_option("--modes", options.modes, "how many of the slowest are shown")->check(CLI::PositiveNumber);
  command.add_option("--svg", options.svg, "picture of damping and frequencies against the speed");
  command.add_flag("--json", options.json, "one JSON object on stdout");
  line.on(command, [&options] { flutter(options); });
}

}  // namespace

void add_analyses(CommandLine& line) {
  add_convergence(line);
  add_stability(line);
  add_ik(line);
  add_inverse(line);
  add_compare_formulations(line);
  add_modes(line);
  add_flutter(line);
}

}  // namespace rotule::app
