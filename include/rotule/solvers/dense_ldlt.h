#pragma once
// Settings of `dense_ldlt`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Dense LDL^T of the whole matrix: the plain textbook answer that the others are compared with.
struct DenseLdltSettings {
  static constexpr std::string_view name = "dense_ldlt";
  static constexpr std::string_view family = "direct";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "dense LDL^T; cubic time, for small systems and comparison";
  double pivot_tolerance = 1e-12;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(pivot_field, s.pivot_tolerance);
    visit(refinement_field, s.max_refinements);
  }
};

}  // namespace rotule
