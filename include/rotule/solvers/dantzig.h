#pragma once
// Settings of `dantzig`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Incremental pivoting, row after row.
struct DantzigSettings {
  static constexpr std::string_view name = "dantzig";
  static constexpr std::string_view family = "pivot";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "Cottle and Dantzig's incremental pivoting, row after row (Baraff 1994); boxes by passes with the last normals";
  double tolerance = 1e-9;
  int max_iterations = 50;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most passes over all rows per solve", Tolerance::above_zero);
  }
};

}  // namespace rotule
