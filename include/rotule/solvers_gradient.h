#pragma once
// Settings of the accelerated solvers (D5): gradients and conjugate directions over sweeps or projections.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>
#include <rotule/solvers_sweep.h>

#include <string_view>

namespace rotule {

/// Nonsmooth nonlinear conjugate gradients over block Gauss-Seidel.
struct NncgSettings {
  static constexpr std::string_view name = "nncg";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "nonlinear conjugate gradients whose gradient is a sweep of block Gauss-Seidel";
  bool symmetric = false;
  BlockStorage storage;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"symmetric", "", "whether a sweep goes to and fro"}, s.symmetric);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

}  // namespace rotule
