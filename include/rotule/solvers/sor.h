#pragma once
// Settings of `sor`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Successive over-relaxation by blocks; with relaxation 1 it is Gauss-Seidel.
struct SorSettings {
  static constexpr std::string_view name = "sor";
  static constexpr std::string_view family = "sweep";
  static constexpr SolverTraits traits{};
  static constexpr std::string_view summary = "block successive over-relaxation, matrix-free; relaxation 1 is Gauss-Seidel";
  double relaxation = 1.3;
  double tolerance = 1e-10;
  int max_iterations = 100000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(relaxation_field, s.relaxation);
    iteration_fields(s, visit, "most sweeps per solve", Tolerance::above_zero);
  }
};

/// Gauss-Seidel by blocks, under the name `gauss_seidel` in files.
inline constexpr SorSettings gauss_seidel{.relaxation = 1};

}  // namespace rotule
