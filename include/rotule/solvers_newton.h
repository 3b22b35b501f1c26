#pragma once
// Settings of the Newton-type contact solvers (D5).
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <string_view>

namespace rotule {

/// Nonsmooth Newton on the laws of contact, inside a proximal point iteration: the exact solver.
struct ProxNewtonSettings {
  static constexpr std::string_view name = "prox_newton";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true, .exact = true};
  static constexpr std::string_view summary = "proximal point with nonsmooth Newton (Alart-Curnier), block-sparse LU; exact";
  double tolerance = 1e-10;
  int max_iterations = 1000;
  int first_sweeps = 10;
  double proximal = 1e-8;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most Newton steps per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"first_sweeps", "", "sweeps of block Gauss-Seidel before the first Newton step", 0, 1e6}, s.first_sweeps);
    visit(Field{"proximal", "", "proximal term that it starts with, over each row's own entry of A", 0, 1, true}, s.proximal);
  }
};

}  // namespace rotule
