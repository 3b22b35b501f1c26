#pragma once
// Settings of `lemke`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Complementary pivoting.
struct LemkeSettings {
  static constexpr std::string_view name = "lemke";
  static constexpr std::string_view family = "pivot";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "Lemke's complementary pivoting, lexicographic; friction boxes exactly, as part of the complementarity problem; small "
      "systems";
  double tolerance = 1e-9;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual above which the answer counts as not converged", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most pivots per solve", 1, 1e9}, s.max_iterations);
  }
};

}  // namespace rotule
