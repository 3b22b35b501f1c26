#pragma once
// Settings of `cg`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Conjugate gradients with block-Jacobi preconditioning, matrix-free.
struct CgSettings {
  static constexpr std::string_view name = "cg";
  static constexpr std::string_view family = "krylov";
  static constexpr SolverTraits traits{};
  static constexpr std::string_view summary = "conjugate gradients, block-Jacobi preconditioned, matrix-free";
  double tolerance = 1e-12;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most iterations per solve", Tolerance::above_zero);
  }
};

}  // namespace rotule
