#include "manual.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "commands.h"

namespace rotule::app {
namespace {

std::vector<const CLI::App*> commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

/// "--steps", "--no-open": the long names, each with its dashes; none for words that stand by themselves.
std::vector<std::string> long_names(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

/// What may follow an option, or stand in the place of a word: words, names that the program lists, or files.
struct Values {
  std::vector<std::string> words;
  std::string listed;  // a word of `rotule list`
  bool files = false;
};
Values values_of(const CLI::Option& option) {
  const std::vector<std::string> names = long_names(option);
  const auto is = [&](std::string_view name) {
    for (const std::string& own : names)
      if (own == name) return true;
    return names.empty() && option.get_name() == name;
  };
  const bool takes_scenes = is("FILE") && option.get_description().find("a scene") != std::string::npos;
  if (is("SCENE") || takes_scenes) return {{}, "scenes", true};
  if (is("WHAT")) return {list_categories(), {}, false};
  if (is("SHELL")) return {{"bash", "zsh"}, {}, false};
  if (is("--recipe")) return {{"realtime", "balanced", "exact"}, {}, false};
  if (is("--integrators")) return {{}, "integrators", false};
  if (is("--solver") || is("--solvers")) return {{}, "solvers", false};
  if (is("--quantity") || is("--quantities")) return {{}, "quantities", false};
  if (is("--method")) return {{"automatic", "newton", "damped"}, {}, false};
  if (is("--reference")) return {{"fine", "invariant"}, {}, false};
  for (const char* file : {"FILE", "--record", "--record-problems", "--out", "--svg", "--html", "--csv", "--write", "--motion",
                           "--state-space", "--others"})
    if (is(file)) return {{}, {}, true};
  return {};
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

/// Text in which man sees no commands of its own.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'' && out.empty())
      out += "\\(aq";
    else if (c == '.' && out.empty())
      out += "\\&.";
    else
      out += c;
  }
  return out;
}

/// "rotule run SCENE": the words that a command needs, those that it may do without in brackets.
std::string synopsis(const CLI::App& command) {
  std::string out = "rotule " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (!long_names(*option).empty() || !option->get_positional()) continue;
    out += option->get_required() ? " " + option->get_name() : fmt::format(" [{}]", option->get_name());
  }
  return out;
}

// A word for bash: no expansion takes place inside single quotes.
std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_values(const Values& values) {
  std::string out;
  if (!values.words.empty())
    out += fmt::format("COMPREPLY+=($(compgen -W {} -- \"$cur\")); ", in_single_quotes(joined(values.words, " ")));
  if (!values.listed.empty())
    out += fmt::format("COMPREPLY+=($(compgen -W \"$(\"${{COMP_WORDS[0]}}\" list {} --names 2>/dev/null)\" -- \"$cur\")); ",
                       values.listed);
  if (values.files) out += "compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- \"$cur\")); ";
  return out.empty() ? "COMPREPLY=(); " : out;
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands(app)) names.push_back(command->get_name());
  std::string cases;
  for (const CLI::App* command : commands(app)) {
    std::vector<std::string> flags;
    std::string valued, word = "COMPREPLY=(); ";
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> own = long_names(*option);
      flags.insert(flags.end(), own.begin(), own.end());
      if (own.empty())
        word = bash_values(values_of(*option));
      else if (!is_flag(*option))
        valued += fmt::format("        {}) {}return ;;\n", joined(own, "|"), bash_values(values_of(*option)));
    }
    cases += fmt::format(
        "    {})\n      case \"$prev\" in\n{}      esac\n      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W {} -- "
        "\"$cur\")); "
        "return; fi\n      {};;\n",
        command->get_name(), valued, in_single_quotes(joined(flags, " ")), word);
  }
  return fmt::format(
      "# Completion of rotule for bash, written by `rotule completion bash`.\n"
      "_rotule() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "complete -F _rotule rotule\n",
      in_single_quotes(joined(names, " ") + " --help --version"), cases);
}

/// Inside an _arguments specification of zsh.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_values(const Values& values) {
  if (!values.words.empty()) return fmt::format("({})", joined(values.words, " "));
  if (!values.listed.empty()) return fmt::format("{{_rotule_listed {}{}}}", values.listed, values.files ? "; _files" : "");
  return values.files ? "_files" : " ";
}

std::string zsh_completion(const CLI::App& app) {
  std::string described, cases;
  for (const CLI::App* command : commands(app)) {
    described += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
    cases += fmt::format("    {}) _arguments", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      const std::string about = zsh_text(option->get_description());
      const std::string values = zsh_values(values_of(*option));
      for (const std::string& name : long_names(*option))
        cases += is_flag(*option) ? fmt::format(" \\\n      '{}[{}]'", name, about)
                                  : fmt::format(" \\\n      '*{}[{}]:{}:{}'", name, about, zsh_text(name.substr(2)), values);
      if (long_names(*option).empty() && option->get_positional())
        cases +=
            fmt::format(" \\\n      '{}:{}:{}'", option->get_items_expected_max() > 1 ? "*" : "1", option->get_name(), values);
    }
    cases += " ;;\n";
  }
  return fmt::format(
      "#compdef rotule\n"
      "# Completion of rotule for zsh, written by `rotule completion zsh`.\n"
      "_rotule_listed() {{ compadd -- ${{(f)\"$(rotule list $1 --names 2>/dev/null)\"}} }}\n"
      "_rotule() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n"
      "  shift words; ((CURRENT--))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "_rotule \"$@\"\n",
      described, cases);
}

}  // namespace

std::string start_page(const CLI::App& app) {
  constexpr std::pair<std::string_view, std::string_view> first[] = {
      {"rotule view brick_wall", "a wall, live in the browser: drag its bricks, throw balls at it (B)"},
      {"rotule run mannequin", "simulate, and say how exact it was: energy, momentum, joints"},
      {"rotule list scenes", "what is there to try"},
      {"rotule check four_bar", "what a doctor of mechanisms has to say of a scene"},
      {"rotule recipe tower_50", "how a scene would be run, every setting, and why"}};
  std::string out =
      fmt::format("rotule {}: rigid bodies, joints, contact and springs, simulated with honest errors.\n\nTo begin with:\n",
                  app.version().substr(app.version().find(' ') + 1));
  for (const auto& [example, meaning] : first) out += fmt::format("  {:<26} {}\n", example, meaning);
  std::vector<std::string> names;
  for (const CLI::App* command : commands(app)) names.push_back(command->get_name());
  out += fmt::format(
      "\nAll commands: {}.\nrotule COMMAND --help says what each takes, man rotule all of it; "
      "a scene is a JSON file (rotule export pendulum shows one).\n",
      joined(names, ", "));
  return out;
}

std::string manual_page(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH ROTULE 1 \"\" \"{}\" \"User commands\"\n.SH NAME\nrotule \\- {}\n.SH SYNOPSIS\n.B rotule\n.I COMMAND\n"
      "[\\fIWORD\\fR ...] [\\fB\\-\\-OPTION\\fR ...]\n.SH DESCRIPTION\nA scene goes in: bodies, joints, shapes, springs, as "
      "JSON. It is "
      "simulated, and every step says how wrong it is.\n{}\n.SH COMMANDS\n",
      roff(app.version()), roff("rigid bodies, joints, contact and springs, simulated with honest errors"),
      roff(app.get_footer()));
  for (const CLI::App* command : commands(app)) {
    out += fmt::format(".SS {}\n{}.\n", roff(synopsis(*command)), roff(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> names = long_names(*option);
      const std::string shown = names.empty() ? option->get_name() : joined(names, ", ");
      out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(shown), names.empty() || is_flag(*option) ? "" : " \\fIVALUE\\fR",
                         roff(option->get_description()));
    }
  }
  out +=
      ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 2\nbad input, or a run that blew up; one line on standard error says what\n"
      ".TP\n.B 128 + N\nended by signal N; what was recorded by then is kept\n"
      ".SH ENVIRONMENT\n.TP\n.B ROTULE_SCENES\na folder of scenes that are found by their names, before the shipped ones\n"
      ".SH FILES\n.TP\n.I ../share/rotule/scenes\nthe shipped scenes, as seen from the program\n";
  return out;
}

std::string shell_completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_completion(app);
  if (shell == "zsh") return zsh_completion(app);
  throw Error(fmt::format("completion: unknown shell {}; {}", in_quotes(shell),
                          suggestion(shell, std::vector<std::string>{"bash", "zsh"})));
}

}  // namespace rotule::app
