#include "command_line.h"

#include <rotule/error.h>

#include <cmath>
#include <cstdlib>

#include "../manual.h"
#include "../signals.h"

namespace rotule::app {
namespace {

/// What the program says of itself.
void add_itself(CommandLine& line) {
  CLI::App& schema = line.command("schema", "the JSON schema of scene files");
  line.on(schema, [] { print(scene_schema()); });

  CLI::App& manual = line.command("manual", "the page for man, of which this program's package has a copy");
  line.on(manual, [&line] { print(manual_page(line.app)); });

  CLI::App& completion = line.command("completion", "a script that completes commands, options and scenes");
  auto& shell = line.keep<std::string>();
  completion.add_option("SHELL", shell, "bash or zsh; in ~/.bashrc: source <(rotule completion bash)")->required();
  line.on(completion, [&line, &shell] { print(shell_completion(line.app, shell)); });
}

/// Ranges let NaN pass, which compares with nothing, and a minus before what has no sign makes it large.
void refuse_what_is_no_number(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results()) {
      const std::string type = option->get_type_name();
      if (type.starts_with("FLOAT") && std::isnan(std::strtod(word.c_str(), nullptr)))
        throw Error(option->get_name(), "must be a finite number");
      if (type.starts_with("UINT") && word.starts_with("-")) throw Error(option->get_name(), "must not be negative");
    }
}

}  // namespace

CommandLine::CommandLine() : app("Rigid bodies and joints, simulated with honest errors.", "rotule") {
  app.set_version_flag("--version", "rotule " ROTULE_VERSION);
  app.require_subcommand(1);
  app.footer("SCENE is a file, or the name of a shipped scene (rotule list scenes).");
  add_scenes(*this);
  add_analyses(*this);
  add_files(*this);
  add_laboratory(*this);
  add_showing(*this);
  add_itself(*this);
}

int CommandLine::act() const {
  for (const Command& command : acts_) {
    if (!command.options->parsed()) continue;
    refuse_what_is_no_number(*command.options);
    answer_signals();
    return command.own_signals ? command.act() : heeding_signals(command.act);
  }
  return 0;
}

void add_exactness(CLI::App& command, Exactness& exactness) {
  CLI::Option* dial =
      command.add_option("--recipe", exactness.dial,
                         "realtime, balanced or exact: the recipe of that name that fits the scene; or a file (.json) with one");
  command.add_option("--accuracy", exactness.accuracy, "relative error that is wanted, e.g. 1e-6: the recipe that fits")
      ->excludes(dial);
}

}  // namespace rotule::app
