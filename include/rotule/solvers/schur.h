#pragma once
// Settings of `schur`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Schur complement of the loop closures over a spanning tree that the articulated-body recursion solves.
struct SchurSettings {
  static constexpr std::string_view name = "schur";
  static constexpr std::string_view family = "direct";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "loop closures over a tree; linear time in the tree, cubic in the closures";
  bool conjugate_gradients = false;
  double pivot_tolerance = 1e-12;
  double tolerance = 1e-13;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"conjugate_gradients", "", "solve the closures' system by conjugate gradients instead of elimination"},
          s.conjugate_gradients);
    visit(pivot_field, s.pivot_tolerance);
    visit(Field{"tolerance", "", "relative residual at which the conjugate gradients stop", 0, 1, true}, s.tolerance);
    visit(refinement_field, s.max_refinements);
  }
};

}  // namespace rotule
