// rotule: the command line. Options in options/, work in the other files. Bad input of any kind: status 2 and one line on stderr;
// a signal: 128 + its number.
#include <fmt/format.h>
#include <rotule/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "commands.h"
#include "manual.h"
#include "options/command_line.h"
#include "signals.h"

namespace {

using namespace rotule::app;

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

/// "help WORD" is "WORD --help"; what is no command is refused as it would be without "help".
void parse_help(CLI::App& app, int argc, char** argv) {
  const auto is_named = [&](const CLI::App* command) { return argc > 1 && command->get_name() == argv[1]; };
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  app.parse(argc < 2                                                  ? "--help"
            : std::any_of(commands.begin(), commands.end(), is_named) ? fmt::format("{} --help", argv[1])
                                                                      : argv[1]);
}

int command_line(int argc, char** argv) {
  CommandLine line;
  try {
    if (argc < 2) return print(start_page(line.app)), 0;
    if (std::string_view(argv[1]) == "help")
      parse_help(line.app, --argc, ++argv);
    else
      line.app.parse(argc, argv);
    return line.act();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);  // --help, --version
    return refused(explain(line.app, error, argc, argv));
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
