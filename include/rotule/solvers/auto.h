#pragma once
// Settings of `auto`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Chooses by what the problem looks like, and goes on to a stronger solver where the first does not get there, or not soon.
/// With `rest`, where the start is nearly right already, as in a stack at rest, and where bodies lie on faces, it goes beyond its
/// tolerance: the next step's start is right then, and things come to rest. A problem by itself needs none of that.
struct AutoSettings {
  static constexpr std::string_view name = "auto";
  static constexpr std::string_view family = "hybrid";
  static constexpr std::string_view recommended_for = "contact, or not known what there is: let it choose for each island";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "picks a solver per island by joints, contacts, height, mass ratio and size, and a stronger one where that fails";
  bool rest = true;
  double tolerance = 1e-8;
  int max_iterations = 3000;
  int step_rows = 0;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"rest", "", "whether answers go beyond the tolerance where bodies rest, so that the next step begins right"},
          s.rest);
    iteration_fields(s, visit, "most work per solve, in sweeps over all rows: the best answer within it is taken",
                     Tolerance::above_zero);
    visit(
        Field{
            "step_rows", "",
            "most work of all solves of one step together, in rows that sweeps go over, some 20 ns each: the best answers within "
            "it are taken; 0: no limit",
            0, 2e9},
        s.step_rows);
  }
};

}  // namespace rotule
