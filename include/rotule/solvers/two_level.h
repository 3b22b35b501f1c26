#pragma once
// Settings of `two_level`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Sweeps, and a coarse problem of one block per pair of touching bodies.
struct TwoLevelSettings {
  static constexpr std::string_view name = "two_level";
  static constexpr std::string_view family = "hybrid";
  static constexpr std::string_view recommended_for = "tall stacks, heavy bodies on light ones";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "block Gauss-Seidel with a factored coarse problem, one wrench per pair of touching bodies: tall stacks, heavy on light";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  int smoothing = 2;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most sweeps per solve", Tolerance::above_zero);
    visit(Field{"smoothing", "", "sweeps, each to and fro, between coarse corrections", 1, 100}, s.smoothing);
  }
};

}  // namespace rotule
