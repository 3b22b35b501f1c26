#pragma once
// Settings of `ldlt`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Block-sparse LDL^T of A = J M^-1 J^T: leaves first on trees, fill-reducing order on loops, symbolic part reused.
struct LdltSettings {
  static constexpr std::string_view name = "ldlt";
  static constexpr std::string_view family = "direct";
  static constexpr std::string_view recommended_for = "joints alone, with or without loops: exact";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary =
      "block-sparse LDL^T, leaves first; linear time on trees, loops and redundancy allowed";
  double pivot_tolerance = 1e-12;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(pivot_field, s.pivot_tolerance);
    visit(refinement_field, s.max_refinements);
  }
};

}  // namespace rotule
