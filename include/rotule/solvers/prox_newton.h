#pragma once
// Settings of `prox_newton`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Nonsmooth Newton on the laws of contact, inside a proximal point iteration: the exact solver.
struct ProxNewtonSettings {
  static constexpr std::string_view name = "prox_newton";
  static constexpr std::string_view family = "newton";
  static constexpr std::string_view recommended_for = "contact, certain to the last digit";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true, .exact = true};
  static constexpr std::string_view summary = "proximal point with nonsmooth Newton (Alart-Curnier), block-sparse LU; exact";
  double tolerance = 1e-10;
  int max_iterations = 1000;
  int first_sweeps = 10;
  double proximal = 1e-8;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most Newton steps per solve", Tolerance::above_zero);
    visit(Field{"first_sweeps", "", "sweeps of block Gauss-Seidel before the first Newton step", 0, 1e6}, s.first_sweeps);
    visit(Field{"proximal", "", "proximal term that it starts with, over each row's own entry of A", 0, 1, true}, s.proximal);
  }
};

}  // namespace rotule
