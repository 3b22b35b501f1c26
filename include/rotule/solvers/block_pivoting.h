#pragma once
// Settings of `block_pivoting`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Block principal pivoting.
struct BlockPivotingSettings {
  static constexpr std::string_view name = "block_pivoting";
  static constexpr std::string_view family = "pivot";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "block principal pivoting with Murty's single pivots as a fallback; boxes by bounds that follow the normals";
  double tolerance = 1e-9;
  int max_iterations = 2000;
  int patience = 10;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most changes of the index set per solve", Tolerance::above_zero);
    visit(Field{"patience", "", "block exchanges without fewer wrong rows before single ones", 1, 1000}, s.patience);
  }
};

}  // namespace rotule
