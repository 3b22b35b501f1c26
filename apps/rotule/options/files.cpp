// Files of other programs, and pictures and pages of runs.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "../commands.h"
#include "../resume.h"
#include "command_line.h"

namespace rotule::app {
namespace {

void add_convert(CommandLine& line) {
  CLI::App& command = line.command("convert", "files of robots (URDF, MJCF) to scenes, and scenes to URDF");
  auto& options = line.keep<ConvertOptions>();
  command.add_option("IN", options.in, "robot (.urdf, .xml, .mjcf), or scene (file or name)")->required();
  command.add_option("OUT", options.out, "file to write: .json (scene) or .urdf")->required();
  std::vector<CLI::Option*> of_robots{
      command.add_option("--base", options.base, "of URDF: automatic, fixed or floating"),
      command.add_option("--at", options.at, "of URDF: x,y,z of the root"),
      command.add_option("--meshes", options.meshes, "hulls, parts (convex ones) or none"),
      command.add_option("--keyframe", options.keyframe, "of MJCF: the start; else home, or the first"),
      command.add_option("--allow", options.folders, "folder outside the file's own that may be read")->allow_extra_args(false),
      command.add_flag("--weld", options.weld, "links that fixed joints tie are bodies of their own, welded"),
      command.add_flag("--hold", options.hold, "of URDF: motors hold the joints, as strong as their effort"),
      command.add_flag("--self-contacts", options.self_contacts, "of URDF: links can touch each other")};
  command.add_flag("--verbose", options.verbose, "all that was not taken over, by name and line");
  line.on(command, [&options, of_robots] {
    options.for_robots =
        std::any_of(of_robots.begin(), of_robots.end(), [](const CLI::Option* option) { return option->count() > 0; });
    convert(options);
  });
}

void add_export(CommandLine& line) {
  CLI::App& command = line.command("export", "a scene or a recording for other programs");
  auto& options = line.keep<ExportOptions>();
  command.add_option("SCENE", options.scene, "scene (file or name), or recording of rotule run --record")->required();
  command.add_option(
      "--out", options.out,
      "file to write: .json (scene), .gltf or .glb (Blender), .csv, .pvd (ParaView), .hdf5 (a recorded problem, for FCLIB); "
      "else the scene on stdout");
  command.add_option("--frame", options.frame, "step of a recorded problem")->check(CLI::NonNegativeNumber);
  command.add_option("--island", options.island, "island of a recorded problem")->check(CLI::NonNegativeNumber);
  command.add_option("--fps", options.rate, "moments per second, at most; else 60 for glTF, 30 for ParaView, all for CSV");
  line.on(command, [&options] {
    say_if_unfinished(options.scene);
    export_scene(options);
  });
}

void add_fluid(CommandLine& line) {
  CLI::App& command = line.command("fluid", "the fluid of a recorded run as a picture");
  auto& options = line.keep<FluidOptions>();
  command.add_option("FILE", options.file, "recording of rotule run --record")->required();
  command.add_option("--out", options.out, "picture to write: .png or .svg")->required();
  command.add_option("--quantity", options.quantity,
                     "vorticity, pressure, speed, velocity_x, velocity_y or velocity_z; else vorticity");
  command.add_option("--at", options.at, "s: the moment; else the end")->check(CLI::NonNegativeNumber);
  command.add_option("--largest", options.largest, "value of the last colour; else by the picture itself")
      ->check(CLI::PositiveNumber);
  line.on(command, [&options] {
    say_if_unfinished(options.file);
    fluid_picture(options);
  });
}

void add_plot(CommandLine& line) {
  CLI::App& command = line.command("plot", "quantities of a run over time, as a picture or a page");
  auto& options = line.keep<PlotOptions>();
  CLI::Option* plotted =
      command.add_option("FILE", options.file, "recording of rotule run --record, or a scene, which is then run");
  command
      .add_option("--quantity,--quantities", options.quantities,
                  "what to plot, separated by commas, e.g. energy,crank.motor_torque,chest.position.z; else the usual ones")
      ->delimiter(',');
  command.add_option("--svg", options.svg, "picture to write; without --svg, --html or --open: to stdout");
  command.add_option("--html", options.html, "page to write, with the numbers under the pointer");
  command.add_flag("--open", options.open, "show the page in a browser; without --html it lies beside the recording");
  CLI::Option* listing = command.add_flag("--list", options.list, "say what there is to plot: in FILE, or, without one, at all");
  line.on(command, [&options, plotted, listing] {
    say_if_unfinished(options.file);
    if (plotted->count() + listing->count() == 0) throw CLI::RequiredError("FILE");
    plot(options);
  });
}

void add_report(CommandLine& line) {
  CLI::App& command = line.command("report", "a page on a recorded run: what, how accurate, where time went, plots, warnings");
  auto& options = line.keep<ReportOptions>();
  command.add_option("FILE", options.file, "recording of rotule run --record, or a scene, which is run by its recipe")
      ->required();
  command.add_option("--out", options.out, "page to write; else beside the recording, or here");
  command.add_flag("--open", options.open, "show it in a browser");
  line.on(command, [&options] {
    say_if_unfinished(options.file);
    report(options);
  });
}

}  // namespace

void add_files(CommandLine& line) {
  add_convert(line);
  add_export(line);
  add_fluid(line);
  add_plot(line);
  add_report(line);
}

}  // namespace rotule::app
