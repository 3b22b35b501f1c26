#pragma once
// What the program understands: its commands, the options of each, and what is done once they are read. The files of this folder
// declare them, a function for each command; the work stands in commands.h.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../commands.h"

namespace rotule::app {

constexpr int bad_input = 2;

class CommandLine {
 public:
  CommandLine();

  CLI::App app;

  /// A new command, without options yet.
  CLI::App& command(const std::string& name, const std::string& help) { return *app.add_subcommand(name, help); }
  /// A place for options that lives as long as this.
  template <class Options>
  Options& keep() {
    auto options = std::make_shared<Options>();
    kept_.push_back(options);
    return *options;
  }
  /// What to do where the command was given: `act()` returns the program's status, or nothing for 0.
  template <class Act>
  void on(const CLI::App& command, Act act) {
    acts_.push_back({&command, false, status_of(std::move(act))});
  }
  /// The same for a command that says itself what signals break off.
  template <class Act>
  void on_signals_of_its_own(const CLI::App& command, Act act) {
    acts_.push_back({&command, true, status_of(std::move(act))});
  }
  /// Does what the command that was given asks for, once all was read; its status.
  [[nodiscard]] int act() const;

 private:
  struct Command {
    const CLI::App* options;
    bool own_signals;
    std::function<int()> act;
  };
  template <class Act>
  static std::function<int()> status_of(Act act) {
    if constexpr (std::is_void_v<std::invoke_result_t<Act&>>)
      return [act = std::move(act)] { return act(), 0; };
    else
      return act;
  }
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Command> acts_;
};

/// --recipe and --accuracy, of every command that runs a scene.
void add_exactness(CLI::App& command, Exactness& exactness);

// In the order of the program's help.
void add_scenes(CommandLine& line);
void add_analyses(CommandLine& line);
void add_files(CommandLine& line);
void add_laboratory(CommandLine& line);
void add_showing(CommandLine& line);

}  // namespace rotule::app
