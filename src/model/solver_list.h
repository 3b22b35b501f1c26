#pragma once
// All solvers by name, as files, the command line and the program's lists know them: each under its own name with its defaults,
// and presets, which are another solver with some other number and an old name of its own.
#include <rotule/solver_choice.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"

namespace rotule {

struct NamedSolver {
  std::string_view name;
  std::string_view summary;
  SolverChoice settings;
  /// Whether it is some solver with a number of its own, and not that solver itself.
  [[nodiscard]] bool preset() const { return name != settings.name(); }
  /// Another name for the same; empty where there is none.
  [[nodiscard]] std::string_view alias() const { return preset() ? std::string_view() : settings.alias(); }
};

/// Solvers in the order in which lists show them, each followed by its presets.
std::span<const NamedSolver> solver_list();

/// All names, aliases included.
std::vector<std::string> solver_names();

/// By name or alias; throws Error with the nearest name.
const NamedSolver& named_solver(std::string_view name, const Place& place);

/// `auto` to this tolerance; 0 leaves the most work that it may do at its default. This and `solver_named`
/// (rotule/solver_choice.h) are for who takes a solver as it is: including its header would have him compiled anew with every
/// changed default.
SolverChoice automatic_solver(double tolerance, int max_iterations = 0, int step_rows = 0);

}  // namespace rotule
