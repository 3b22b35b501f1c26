#pragma once
// Settings of `split_pivoting`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Joints and normals by pivoting, friction by sweeps, in turn.
struct SplitPivotingSettings {
  static constexpr std::string_view name = "split_pivoting";
  static constexpr std::string_view family = "pivot";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "joints and normals by pivoting, friction by sweeps, in turn (D5); boxes and cones";
  double tolerance = 1e-8;
  int max_iterations = 1000;
  int friction_sweeps = 10;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most turns per solve", Tolerance::above_zero);
    visit(Field{"friction_sweeps", "", "sweeps over the friction rows per turn", 1, 1000}, s.friction_sweeps);
  }
};

}  // namespace rotule
