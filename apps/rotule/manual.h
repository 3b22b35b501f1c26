#pragma once
// What the program says of itself: a first page, the manual for `man`, completions for shells. All of it is written from the list
// of commands and options that options/ declares, so that it cannot be another.
#include <string>

namespace CLI {
class App;
}

namespace rotule::app {

/// For those who type the program's name and nothing else.
std::string start_page(const CLI::App& app);
/// In the language of man(7).
std::string manual_page(const CLI::App& app);
/// A script to be sourced. Throws Error for shells other than bash and zsh.
std::string shell_completion(const CLI::App& app, const std::string& shell);

}  // namespace rotule::app
