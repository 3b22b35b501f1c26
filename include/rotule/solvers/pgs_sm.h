#pragma once
// Settings of `pgs_sm`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Projected Gauss-Seidel with subspace minimisation: sweeps guess the active set, a linear solve finishes it.
struct PgsSmSettings {
  static constexpr std::string_view name = "pgs_sm";
  static constexpr std::string_view family = "newton";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "block Gauss-Seidel guesses the active set, a sparse solve finishes it; repeated";
  double tolerance = 1e-8;
  int max_iterations = 200;
  int sweeps = 5;
  int subspace_steps = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most rounds of sweeps and subspace steps", Tolerance::above_zero);
    visit(Field{"sweeps", "", "sweeps per round", 1, 1e6}, s.sweeps);
    visit(Field{"subspace_steps", "", "most linear solves per round", 1, 1e6}, s.subspace_steps);
  }
};

}  // namespace rotule
