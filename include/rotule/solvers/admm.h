#pragma once
// Settings of `admm`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Alternating directions: a linear solve with a kept factor, then a projection on the cones.
struct AdmmSettings {
  static constexpr std::string_view name = "admm";
  static constexpr std::string_view family = "newton";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "alternating directions with a kept factor and a self-adjusting penalty";
  double tolerance = 1e-8;
  int max_iterations = 5000;
  double relaxation = 1.6;
  double penalty = 0.1;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most iterations per solve", Tolerance::above_zero);
    visit(Field{"relaxation", "", "over-relaxation; 1 is none", 0, 2, true}, s.relaxation);
    visit(Field{"penalty", "", "penalty that it starts with, over each row's own entry of A", 0, 1e6, true}, s.penalty);
  }
};

}  // namespace rotule
