#pragma once
// Settings of `articulated_body`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Featherstone's recursion in constraint form: O(n) on trees, bodies with many joints included. Refuses loops.
struct ArticulatedBodySettings {
  static constexpr std::string_view name = "articulated_body";
  static constexpr std::string_view family = "direct";
  static constexpr std::string_view recommended_for = "joints alone in a tree, by the textbook's recursion";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "articulated-body recursion; linear time, trees only";
  int max_refinements = 1;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(refinement_field, s.max_refinements);
  }
};

}  // namespace rotule
