#pragma once
// Settings of `jacobi`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Projected Jacobi by blocks, damped.
struct JacobiSettings {
  static constexpr std::string_view name = "jacobi";
  static constexpr std::string_view family = "sweep";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "all blocks solved at once from the same x, damped; damps more where the residual grows";
  double relaxation = 0.5;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "part of each block's step that is taken, at first", 0, 1, true}, s.relaxation);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
