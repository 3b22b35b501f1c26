#pragma once
// Settings of `interior_point`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Primal-dual interior point on the cones, De Saxce's shift within Newton's equations.
struct InteriorPointSettings {
  static constexpr std::string_view name = "interior_point";
  static constexpr std::string_view family = "newton";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "primal-dual interior point: Nesterov-Todd scaling, predictor and corrector";
  double tolerance = 1e-8;
  int max_iterations = 100;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most Newton steps per solve", Tolerance::above_zero);
  }
};

}  // namespace rotule
