// Scenes and recordings to look at.
#include <CLI/CLI.hpp>

#include "../commands.h"
#include "../resume.h"
#include "command_line.h"

namespace rotule::app {
namespace {

void add_view(CommandLine& line) {
  CLI::App& command = line.command("view", "see a scene move, live in a browser, or play a recording");
  auto& options = line.keep<ViewOptions>();
  command.add_option("SCENE", options.what, "scene, or recording (.h5); else mannequin");
  command.add_option("--port", options.port, "where the page is served; 0: any that is free")->check(CLI::Range(0, 65535));
  command.add_option("--host", options.host, "address to listen at; other machines then need the token of the printed one");
  command.add_flag("!--no-open", options.open, "do not open a browser");
  command.add_option("--duration", options.duration, "stop after so many seconds of the scene's time")
      ->check(CLI::PositiveNumber);
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe, e.g. solver.relaxation=1.4")->allow_extra_args(false);
  line.on(command, [&options] {
    say_if_unfinished(options.what);
    view(options);
  });
}

void add_film(CommandLine& line) {
  CLI::App& command = line.command("film", "a film or a picture of a scene or a recording (by chromium and ffmpeg)");
  auto& options = line.keep<FilmOptions>();
  command.add_option("SCENE", options.what, "scene, or recording (.h5)")->required();
  command.add_option("--out", options.out, "file to write: .mp4, .gif, .webp or .png")->required();
  command.add_option("--size", options.size, "WIDTHxHEIGHT in pixels; else 1920x1080");
  command.add_option("--fps", options.fps, "pictures per second; else 60 (.gif 25, .webp 30)")->check(CLI::Range(0.1, 240.0));
  CLI::Option* duration = command.add_option("--duration", options.duration, "how long, in seconds")->check(CLI::PositiveNumber);
  command.add_option("--at", options.at, "one picture, of this moment in seconds (.png, .webp)")
      ->check(CLI::NonNegativeNumber)
      ->excludes(duration);
  command.add_option("--camera", options.camera, "x,y,z,tx,ty,tz: where from and where to; else all in view");
  command.add_option("--show", options.show, "layers of the viewer, e.g. forces,contacts");
  command.add_flag("--dark", options.dark, "before a dark background");
  add_exactness(command, options.exactness);
  command.add_option("--set", options.settings, "KEY=VALUE of the recipe")->allow_extra_args(false);
  command.add_flag("--quiet", options.quiet, "no progress bar, no summary");
  line.on(command, [&options] {
    say_if_unfinished(options.what);
    film(options);
  });
}

}  // namespace

void add_showing(CommandLine& line) {
  add_view(line);
  add_film(line);
}

}  // namespace rotule::app
