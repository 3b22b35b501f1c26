#pragma once
// Settings of `shock_propagation`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Levels from the ground up: lower ones are held while upper ones are solved, then loads are handed down.
struct ShockPropagationSettings {
  static constexpr std::string_view name = "shock_propagation";
  static constexpr std::string_view family = "sweep";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "level by level from the ground up, then loads from the top down; fast on stacks, approximate elsewhere";
  int sweeps = 3;
  int polish = 20;
  double tolerance = 1e-4;
  int max_iterations = 50;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"sweeps", "", "sweeps over a level each time", 1, 1e6}, s.sweeps);
    visit(Field{"polish", "", "sweeps of block Gauss-Seidel over all after each pass", 0, 1e6}, s.polish);
    iteration_fields(s, visit, "most passes up and down per solve");
  }
};

}  // namespace rotule
